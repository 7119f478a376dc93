/** Twins: programs over made-up rows, as `toolsrv build --twin` prints them and `toolsrv serve --twin` makes them. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Program } from "../abi/call.js";
import { projectName, type Project } from "../abi/projects.js";
import type { Env } from "../abi/references.js";
import { StartError } from "../config/exit.js";
import { TWIN_FLAGS } from "../config/serve-flags.js";
import type { FlagValues } from "../config/serve-options.js";
import type { TwinData } from "../twin/rows.js";
import { endProcess, processIo } from "./io.js";
import { run, type Preparation } from "./main.js";

/** A printed catalog, and the file with the rows that a build made for it. */
export interface PrintedTwin extends Project {
  readonly rows: URL;
}

/** A catalog, and its rows as they were read. */
export interface Twin extends Project {
  readonly data: TwinData;
}

/** Serves a printed program over the rows of a file, and ends the process when the server has ended. */
export async function serveTwin(program: Program, rows: URL, argv: readonly string[]): Promise<void> {
  await serveTwins([{ name: projectName(program.catalog.file), program, rows }], argv);
}

/** `serveTwin` for several catalogs in one server. */
export async function serveTwins(twins: readonly PrintedTwin[], argv: readonly string[]): Promise<void> {
  const preparation: Preparation = {
    flags: TWIN_FLAGS,
    async prepare(flags, env) {
      const { readTwin } = await import("../twin/rows.js");
      const read = await Promise.all(twins.map(async (twin) => {
        const path = fileURLToPath(twin.rows);
        return { ...twin, data: readTwin(await readFile(path, "utf8"), path) };
      }));
      return twinProjects(read, flags, env);
    },
  };
  endProcess(await run(twins, argv, processIo(), preparation));
}

/**
 * The programs of twins, with the values of their references.
 * @throws StartError for faults that are not understood, or that name a tool of none of the catalogs
 */
export async function twinProjects(twins: readonly Twin[], flags: FlagValues, env: Env): Promise<{ readonly projects: readonly Project[]; readonly env: Env }> {
  const [{ twinEnv, twinProgram }, { readFaults }] = await Promise.all([import("../twin/program.js"), import("../twin/faults.js")]);
  const faults = readFaults(flags["fault"], twins.flatMap(({ program }) => Object.keys(program.plans)));
  if ("problem" in faults) throw new StartError(`--fault: ${faults.problem}`);
  return {
    projects: twins.map(({ name, program, data }) => ({ name, program: twinProgram(program, data, faults) })),
    env: twins.reduce<Env>((values, { data }) => twinEnv(data, values), env),
  };
}
