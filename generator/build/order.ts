/**
 * What a build is asked to do: which catalogs, into which folder, in which form. This room makes the files of a build,
 * writes and compares them, reports what it did, and keeps its record.
 */
import { relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { clashOf } from "../../runtime/abi/projects.js";
import type { Emission } from "../5-emit/write.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import type { Compiled } from "../compile.js";

/** The options of `toolsrv build`, checked. */
export interface Order {
  /** As the user wrote them. */
  readonly catalogs: readonly string[];
  readonly out: string;
  readonly emit: Emission | "ir";
  readonly check: boolean;
  readonly typecheck: boolean;
  readonly trace: boolean;
  readonly json: boolean;
  /** The agent skill, where one is asked for. */
  readonly skill: SkillOrder | null;
  /** The Python package, where one is asked for. */
  readonly python: PythonOrder | null;
  /** The twin, where one is asked for. */
  readonly twin: TwinOrder | null;
}

/** Where the twin goes, and the options that say what its rows are made from. */
export interface TwinOrder {
  readonly folder: string;
  readonly options: Invocation["options"];
}

/** Where the skill goes, and what its examples are taken from. */
export interface SkillOrder {
  readonly folder: string;
  /** A scenarios file of `toolsrv eval`. */
  readonly scenarios: string | null;
}

/** Where the Python package goes, and what it is imported as. */
export interface PythonOrder {
  readonly folder: string;
  readonly name: string;
}

/** A catalog that is to be built. */
export interface Catalog {
  /** As the user wrote it. */
  readonly shown: string;
  readonly path: string;
  /** Optional packages that are found from its folder. */
  readonly isInstalled: (name: string) => boolean;
}

/** One that compiled. */
export interface Built extends Catalog, Compiled {}

/** @throws UsageError for options that do not go together. */
export function readOrder({ args, options }: Invocation): Order {
  const clash = clashOf(args);
  if (clash !== null) throw new UsageError(clash);
  const emit = options["emit"];
  if (emit !== undefined && emit !== "ts" && emit !== "js" && emit !== "ir") throw new UsageError(`--emit takes ts, js or ir, not '${String(emit)}'`);
  const check = options["check"] === true;
  if (check && emit !== undefined) throw new UsageError("--check compares the whole output; it does not go with --emit");
  return {
    catalogs: args.length === 0 ? ["tools.yaml"] : args,
    out: typeof options["out"] === "string" ? options["out"] : "out",
    emit: emit ?? "all",
    check,
    typecheck: options["typecheck"] === true,
    trace: options["trace"] !== false,
    json: options["json"] === true,
    skill: readSkill(args, options, emit),
    python: readPython(options),
    twin: readTwin(options),
  };
}

function readSkill(args: Invocation["args"], options: Invocation["options"], emit: unknown): SkillOrder | null {
  const [folder, scenarios = null] = [options["skill"], options["scenarios"]];
  if (typeof folder !== "string") {
    if (scenarios !== null && options["twin"] === undefined) throw new UsageError("--scenarios gives examples to --skill DIR, or rows to --twin DIR; give one of them");
    return null;
  }
  if (args.length > 1) throw new UsageError("--skill describes one catalog; build each with its own");
  if (emit === "ir") throw new UsageError("--emit ir writes nothing; it does not go with --skill");
  return { folder, scenarios: typeof scenarios === "string" ? scenarios : null };
}

function readPython(options: Invocation["options"]): PythonOrder | null {
  const [folder, name = "toolsrv_catalog"] = [options["python"], options["python-name"]];
  if (typeof folder !== "string") {
    if (options["python-name"] !== undefined) throw new UsageError("--python-name names the package of --python DIR; give both");
    return null;
  }
  if (options["emit"] === "ir") throw new UsageError("--emit ir writes no files; it does not go with --python");
  return { folder, name: String(name) };
}

function readTwin(options: Invocation["options"]): TwinOrder | null {
  const folder = options["twin"];
  if (typeof folder === "string") {
    if (options["emit"] === "ir") throw new UsageError("--emit ir writes no files; it does not go with --twin");
    return { folder, options };
  }
  const needless = ["schema", "seed"].find((name) => options[name] !== undefined);
  if (needless !== undefined) throw new UsageError(`--${needless} goes with --twin DIR`);
  return null;
}

/** Whether a path is a folder or something in it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The output folder is replaced as a whole, so it must be one of its own. */
export async function outputFolder(order: Pick<Order, "out">, catalogs: readonly Catalog[], io: Io, flag = "--out"): Promise<string> {
  const out = await io.host.realPath(resolve(io.cwd, order.out));
  const inside = (await Promise.all([io.cwd, ...catalogs.map(({ path }) => path)].map((path) => io.host.realPath(path)))).find((path) => isWithin(out, path));
  if ((await io.host.size(out)) !== null) throw new UsageError(`${flag} needs a folder, and '${order.out}' is a file`);
  if (inside !== undefined) throw new UsageError(`${flag} needs a folder of its own, and '${order.out}' holds ${inside.endsWith(".yaml") ? "the catalog" : "the current directory"}`);
  return out;
}

/** Relative URL from the output folder to the catalog's, ending in "/". */
export function baseUrl(out: string, catalogFolder: string): string {
  const path = relative(out, catalogFolder);
  if (path === "") return "./";
  if (resolve(path) === path) return `${pathToFileURL(path).href}/`;
  return `${path.split(sep).map(encodeURIComponent).join("/")}/`;
}
