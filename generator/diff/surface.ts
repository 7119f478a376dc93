/** Where a side of a comparison comes from: a catalog file, a version of one in git, or the manifest of a build. */
import { dirname, join, resolve } from "node:path";
import { isRecord } from "../../runtime/base/paths.js";
import { projectName } from "../../runtime/abi/projects.js";
import type { Io } from "../cli/command.js";
import { compile, readCatalog, type Compilation } from "../compile.js";
import { sha256Hex } from "../../runtime/abi/fingerprint.js";
import type { Diagnostic, Plans } from "../ir.js";
import type { Surface } from "./compare.js";
import { readExport, readLines, UnreadableLiteral } from "../literal-reader.js";

/** Why a comparison is impossible: the catalog's own problems, or one line. */
export type Unread =
  | { readonly kind: "diagnostics"; readonly diagnostics: readonly Diagnostic[]; readonly source: Compilation["source"]; readonly text: string | null }
  | { readonly kind: "message"; readonly message: string };

/** The catalogs of a side, in the order of their server. */
export type ReadSide = { readonly surfaces: readonly [Surface, ...Surface[]] } | Unread;

function message(text: string): Unread {
  return { kind: "message", message: text };
}

/** The part of plans that is compared. */
export function surfaceOf(file: string, plans: Plans): Surface {
  const { catalog, settings, connections, embeddings, definitions } = plans;
  const lines = Object.fromEntries(Object.entries(plans.origins).map(([tool, { line }]) => [tool, line]));
  return { project: projectName(catalog.file), file, catalog, settings, connections, embeddings, plans: plans.tools, definitions, lines };
}

/**
 * Reads `tools.yaml`, `out/manifest.json` or `git:REF:PATH` of either. References to the environment stay open, so that
 * two versions compare without anyone's secrets.
 */
export async function readSide(side: string, io: Io): Promise<ReadSide> {
  const read = side.startsWith("git:") ? gitReader(side, io) : { shown: side, read: (path: string) => readFile(path, io) };
  if ("kind" in read) return read;
  const path = side.startsWith("git:") ? side.slice(side.indexOf(":", 4) + 1) : side;
  const text = await read.read(path);
  if (typeof text !== "string") return text;
  if (/(?:^|[\\/])manifest\.json$/.test(path)) return fromBuild(read.shown, text, (name) => read.read(join(dirname(path), name)));
  const { value, diagnostics, source } = compile({ path: read.shown, text }, { target: "describe" });
  return value === null ? { kind: "diagnostics", diagnostics, source, text } : { surfaces: [surfaceOf(read.shown, value.plans)] };
}

type ReadText = (path: string) => Promise<string | Unread>;

async function readFile(path: string, io: Io): Promise<string | Unread> {
  const { value, diagnostics } = await readCatalog(io.host, resolve(io.cwd, path), path);
  return value === null ? { kind: "diagnostics", diagnostics, source: null, text: null } : value.text;
}

/** `git:REF:PATH`, PATH relative to the working directory. */
function gitReader(side: string, io: Io): { readonly shown: string; readonly read: ReadText } | Unread {
  const [, ref = "", path = ""] = /^git:([^:]+):(.+)$/s.exec(side) ?? [];
  if (ref === "" || path === "") return message(`'${side}' is not git:REF:PATH`);
  if (ref.startsWith("-")) return message(`'${ref}' is not a git revision`);
  return {
    shown: side,
    async read(file) {
      const { code, stdout, stderr } = await io.host.run("git", ["show", "--end-of-options", `${ref}:./${file.replace(/^\.\//, "")}`], { cwd: io.cwd, timeoutMs: 30_000 });
      if (code === 0) return stdout;
      const why = code === null ? "git cannot be started" : (stderr.trim().split("\n")[0] ?? "").replace(/^fatal: /, "");
      return message(`${side}: ${why}`);
    },
  };
}

/** A build is read from its own files, and only if they are still those that the manifest lists. */
async function fromBuild(shown: string, manifestText: string, read: ReadText): Promise<ReadSide> {
  const manifest = readBuild(manifestText);
  if (manifest === null) return message(`${shown} is not a manifest that build wrote`);
  const surfaces: Surface[] = [];
  for (const { project, folder } of manifest.catalogs) {
    const texts: string[] = [];
    for (const name of ["plans.ts", "tools.ts"].map((file) => `${folder}${file}`)) {
      const text = await read(name);
      if (typeof text !== "string") return text;
      if (manifest.files[name] !== `sha256:${sha256Hex(text)}`) return message(`${name} beside ${shown} is not the one that was built; run: toolsrv build`);
      texts.push(text);
    }
    try {
      surfaces.push(readSurface(project, shown, texts[0] as string, texts[1] as string));
    } catch (error) {
      if (error instanceof UnreadableLiteral) return message(`the build of ${shown} cannot be read: ${error.message}`);
      throw error;
    }
  }
  const [first, ...others] = surfaces;
  return first === undefined ? message(`${shown} is not a manifest that build wrote`) : { surfaces: [first, ...others] };
}

interface Build {
  readonly files: { readonly [file: string]: unknown };
  /** `folder` is "" or ends in "/". */
  readonly catalogs: readonly { readonly project: string | null; readonly folder: string }[];
}

function readBuild(text: string): Build | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || typeof value["abi"] !== "number" || !isRecord(value["files"])) return null;
  const { files, catalogs } = value;
  if (!isRecord(catalogs)) return { files, catalogs: [{ project: null, folder: "" }] };
  const placed = Object.entries(catalogs).map(([project, entry]) => ({ project, folder: isRecord(entry) && typeof entry["folder"] === "string" ? entry["folder"] : "" }));
  return placed.every(({ folder }) => /^\w+$/.test(folder)) ? { files, catalogs: placed.map(({ project, folder }) => ({ project, folder: `${folder}/` })) } : null;
}

/** The digests match, so the values have the types that were printed. */
function readSurface(project: string | null, file: string, plans: string, tools: string): Surface {
  const read = <K extends keyof Surface>(name: string): Surface[K] => readExport(plans, name) as Surface[K];
  const catalog = read<"catalog">("catalog");
  return {
    project: project ?? projectName(catalog.file),
    file, catalog, settings: read<"settings">("settings"), connections: read<"connections">("connections"),
    embeddings: read<"embeddings">("embeddings"), plans: read<"plans">("plans"), definitions: readExport(tools, "tools") as Surface["definitions"],
    lines: readLines(plans),
  };
}
