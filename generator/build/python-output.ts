/** The Python package of a build: a second output folder, guarded, compared and swapped in as the first one is. */
import { join, relative, sep } from "node:path";
import { projectName } from "../../runtime/abi/projects.js";
import type { FileReport, Refusal } from "../5-emit/write.js";
import { UsageError, type Io } from "../cli/command.js";
import type { Host } from "../host.js";
import { isWithin, outputFolder, type Built, type Catalog, type PythonOrder } from "./order.js";

/** The package in memory, and the folder it belongs to. */
export interface PythonPackage {
  /** As the user wrote it. */
  readonly shown: string;
  /** Absolute. */
  readonly folder: string;
  /** What it is imported as: the name of the folder with the modules. */
  readonly name: string;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Makes the package.
 * @throws UsageError for a folder that is not its own, or that shares files with the build's other output.
 */
export async function makePython({ folder: shown, name }: PythonOrder, out: string, built: readonly Built[], catalogs: readonly Catalog[], io: Io): Promise<PythonPackage> {
  const folder = await outputFolder({ out: shown }, catalogs, io, "--python");
  if (isWithin(out, folder) || isWithin(folder, out)) throw new UsageError(`--python needs a folder outside of --out, and '${shown}' shares its files`);
  const [{ emitPython }, { isPackageName }] = await Promise.all([import("../5-emit/python.js"), import("../5-emit/python-text.js")]);
  if (!isPackageName(name)) throw new UsageError(`--python-name takes a name that Python can import, such as movie_tools, not '${name}'`);
  const server = relative(join(folder, name), join(out, "server.js")).split(sep).join("/");
  const projects = built.map(({ shown: path, plans }) => ({ plans, project: built.length === 1 ? null : projectName(path) }));
  return { shown, folder, name, files: await emitPython({ catalogs: projects, name, server }, io.host) };
}

/** Writes the package as `out/` is written: nothing of anybody else's is touched, and it arrives whole or not at all. */
export async function writePython({ folder, files }: PythonPackage, host: Host, signal: AbortSignal): Promise<readonly FileReport[] | Refusal> {
  const { writeToDisk } = await import("../5-emit/write.js");
  const written = await writeToDisk(host, folder, files, "all", signal);
  return "refused" in written ? written : written.map(({ path, action }) => ({ path, action }));
}

/** The folder against the package: diffs of files that differ, and modules in it that Python would find and no build wrote. */
export async function checkPython({ folder, files, name }: PythonPackage, host: Pick<Host, "read" | "exists" | "entries">): Promise<{ readonly drift: ReadonlyMap<string, string>; readonly foreign: readonly string[] }> {
  const [{ checkOutput }, { PYTHON_RESOLVED }] = await Promise.all([import("../5-emit/check-output.js"), import("../5-emit/foreign.js")]);
  const { drift, foreign } = await checkOutput(host, folder, files, PYTHON_RESOLVED);
  // Beside the package a project may have modules of its own.
  return { drift, foreign: foreign.filter((path) => path.startsWith(`${name}/`)) };
}
