/** Reads what a twin is made of: the schema exports and scenarios that the command line names. */
import { resolve } from "node:path";
import { readTwin, twinText, type TwinData } from "../../runtime/twin/rows.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import type { Compiled } from "../compile.js";
import { openScenarios } from "../eval/open-scenarios.js";
import { readExport, type SchemaExport } from "../schema/export.js";
import { madeUpValues, twinStore } from "./rows.js";
import type { Env } from "../../runtime/abi/references.js";

/** Read when --schema names none and it is there. */
const DEFAULT_SCHEMA = "schema.json";

export interface TwinParts {
  readonly schemas: ReadonlyMap<string, SchemaExport>;
  readonly seed: number;
}

/** @throws UsageError for a file or a number that cannot be used */
export async function readTwinParts({ options }: Pick<Invocation, "options">, io: Io): Promise<TwinParts> {
  const seed = Number(options["seed"] ?? 1);
  if (!Number.isSafeInteger(seed)) throw new UsageError(`--seed is a whole number, not '${String(options["seed"])}'`);
  const named = typeof options["schema"] === "string" ? options["schema"].split(",").map((file) => file.trim()).filter((file) => file !== "") : null;
  const schemas = new Map<string, SchemaExport>();
  for (const file of named ?? [DEFAULT_SCHEMA]) {
    const bytes = await io.host.read(resolve(io.cwd, file));
    if (bytes === null && named === null) continue;
    if (bytes === null) throw new UsageError(`cannot read '${file}': there is no such file; toolsrv introspect writes one`);
    const read = readExport(Buffer.from(bytes).toString("utf8"));
    if ("problem" in read) throw new UsageError(`'${file}' is no schema export: ${read.problem}`);
    schemas.set(read.connection, read);
  }
  return { schemas, seed };
}

/** What the twin of a catalog is made from. */
export interface TwinInput {
  readonly compiled: Compiled;
  /** Values that the user gave. */
  readonly env: Env;
  /** The catalog as the user wrote it. */
  readonly shown: string;
  readonly parts: TwinParts;
}

/** The text of a twin's rows; null after the problems of its scenarios were printed. */
export async function twinRowsText({ compiled: { plans, checked }, env, shown, parts: { schemas, seed } }: TwinInput, scenariosFile: unknown, io: Io): Promise<string | null> {
  const scenarios = typeof scenariosFile === "string" ? await openScenarios(scenariosFile, Object.keys(plans.tools), shown, io) : [];
  if (scenarios === null) return null;
  const values = madeUpValues(plans, env);
  return twinText({ seed, values, store: twinStore({ plans, catalog: checked, env: new Map([...env, ...values]), schemas, scenarios, seed }) });
}

/** The rows of a twin that is served from memory, read as those of one that was built. */
export async function openTwin(input: TwinInput, scenariosFile: unknown, io: Io): Promise<TwinData | null> {
  const text = await twinRowsText(input, scenariosFile, io);
  return text === null ? null : readTwin(text, input.shown);
}
