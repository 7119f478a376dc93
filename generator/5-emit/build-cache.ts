/**
 * The record of a build: what went into it and what it made, so that a build in which nothing has changed is recognised
 * without compiling. It is believed only where every input and every output is byte for byte what it was; whatever
 * cannot be read, or is of another shape, means that there is no record. Records lie in the user's own folder, never in
 * the project: nothing of them may be reviewed, committed or moved to another machine.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fingerprint, sha256Hex } from "../../runtime/abi/fingerprint.js";
import type { Host } from "../host.js";
import type { LocatedDiagnostic } from "../ir.js";

/** One catalog of a build. */
export interface CatalogInputs {
  /** Its path as the user wrote it: diagnostics show it. */
  readonly catalog: string;
  readonly bytes: Uint8Array;
  /** The recall certificate beside it; null where there is none. */
  readonly certificate: string | null;
  /** Relative URL from the output folder to the catalog's. */
  readonly base: string;
  /** Optional packages that it would find installed. */
  readonly packages: readonly string[];
}

/** Whatever decides what a build writes and says, but for the compiler itself. */
export interface BuildInputs {
  /** In the order they were given. */
  readonly catalogs: readonly CatalogInputs[];
  readonly emission: string;
  readonly trace: boolean;
  /** Versions of the packages that the compiler uses, by name. */
  readonly versions: { readonly [name: string]: string };
  /** Absolute folder of the templates. */
  readonly templates: string;
}

/** What a build ended with. */
export interface Outcome {
  /** Number of tools. */
  readonly tools: number;
  /** SHA-256 in hex of every file it made, by path, in the order of its report. */
  readonly files: { readonly [path: string]: string };
  readonly diagnostics: readonly LocatedDiagnostic[];
}

/** A build that ended well. */
export interface BuildRecord {
  /** The output folder, absolute: a record whose folder is gone is dropped. */
  readonly out: string;
  /** Digest of the inputs. */
  readonly inputs: string;
  readonly outcome: Outcome;
}

/** With more records than this, those whose output is gone are dropped. */
const MANY_RECORDS = 100;

/** Folder that holds generator/ and runtime/: the repository, or dist/ of the package. */
const home = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Where the records of a user are, from the user's home folder. */
export function recordFolder(userHome: string): string {
  return join(userHome, ".toolsrv", "builds");
}

/** Digest of the inputs, of the compiler's own code and templates, and of the Node that runs it. */
export async function digestInputs(host: Pick<Host, "digests" | "tree">, inputs: BuildInputs): Promise<string> {
  const { catalogs, templates, ...rest } = inputs;
  const code = await Promise.all([join(home, "generator"), join(home, "runtime"), templates].map((folder) => digestFolder(host, folder)));
  return fingerprint({ ...rest, catalogs: catalogs.map(({ bytes, ...catalog }) => ({ ...catalog, bytes: sha256Hex(bytes) })), code, node: process.version, platform: process.platform });
}

/** Source maps, declarations and bundled pages run in no build. */
const IDLE = /\.(?:map|d\.ts)$|^trace\/ui\//;

async function digestFolder(host: Pick<Host, "digests" | "tree">, folder: string): Promise<readonly string[]> {
  const paths = (await host.tree(folder)).filter((path) => !IDLE.test(path));
  const digests = host.digests(paths.map((path) => join(folder, path)));
  return paths.map((path, index) => `${path} ${digests[index] ?? ""}`);
}

function recordPath(folder: string, out: string): string {
  return join(folder, `${sha256Hex(out).slice(0, 32)}.json`);
}

/** The outcome of the last build into `out`, where it had the same inputs and each of its files is still what it made. */
export async function sameAsBefore(host: Pick<Host, "read" | "digests">, folder: string, out: string, inputs: string): Promise<Outcome | null> {
  const record = await readRecord(host, recordPath(folder, out));
  if (record === null || record.out !== out || record.inputs !== inputs) return null;
  const { files } = record.outcome;
  const digests = host.digests(Object.keys(files).map((path) => join(out, path)));
  return Object.values(files).every((digest, index) => digest === digests[index]) ? record.outcome : null;
}

/** A record begins with the digest of the rest: a half-written one is none. */
async function readRecord(host: Pick<Host, "read">, path: string): Promise<BuildRecord | null> {
  const bytes = await host.read(path).catch(() => null);
  if (bytes === null) return null;
  const text = new TextDecoder().decode(bytes);
  const end = text.indexOf("\n");
  const body = text.slice(end + 1);
  return text.slice(0, Math.max(end, 0)) === sha256Hex(body) ? (JSON.parse(body) as BuildRecord) : null;
}

/** Remembers a build. A folder that cannot be written to costs the next build its time and nothing else. */
export async function remember(host: Host, folder: string, record: BuildRecord): Promise<void> {
  const body = JSON.stringify(record);
  try {
    await host.write(recordPath(folder, record.out), `${sha256Hex(body)}\n${body}`, 0o600);
    await dropOld(host, folder);
  } catch {
    // A read-only home: there is nothing to say, the build itself has succeeded.
  }
}

async function dropOld(host: Host, folder: string): Promise<void> {
  const names = await host.list(folder);
  if (names.length <= MANY_RECORDS) return;
  await Promise.all(names.map(async (name) => {
    const record = await readRecord(host, join(folder, name));
    if (record === null || !(await host.exists(record.out))) await host.remove(join(folder, name));
  }));
}
