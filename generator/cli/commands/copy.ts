/** `toolsrv copy`: a bounded sample of collections of any store, in an embedded file, for evals and work offline. */
import { randomBytes } from "node:crypto";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isBackendError } from "../../../runtime/abi/errors.js";
import { andAll, type Filter } from "../../../runtime/abi/filter.js";
import { fill } from "../../../runtime/abi/references.js";
import type { Adapter, Page, PageRequest, Route } from "../../../runtime/adapters/adapter.js";
import { checkFilter, filledBackend, isOurs } from "../../copy/backends.js";
import type { CopyResult } from "../../copy/copy.js";
import { boundsOf, collectionsOf, datesOf, factsOf } from "../../copy/sources.js";
import { fixes, readWhere } from "../../copy/where.js";
import { visible } from "../../drafts/untrusted.js";
import type { ResolvedConnection } from "../../ir.js";
import { createProgress } from "../../load/progress.js";
import { openCatalog, type OpenedCatalog } from "../../printers/open-catalog.js";
import { ANSWER_MS, answered, openStore, storeProblem } from "../../schema/open-store.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";
import { interruptedCode } from "../io.js";

/** Rows of each collection where --limit says nothing. */
const DEFAULT_ROWS = 1000;
const MAX_ROWS = 1_000_000;
/** Rows that are left out and printed one by one; the rest are counted. */
const MAX_SHOWN = 20;

interface CopyOptions {
  readonly from: string;
  /** As written, and where it is. */
  readonly to: string;
  readonly file: string;
  readonly collections: readonly string[] | null;
  readonly limit: number;
  readonly where: string | null;
  readonly text: readonly string[] | null;
  readonly replace: boolean;
}

export const run: CommandModule["run"] = async (invocation, io) => {
  const wanted = readOptions(invocation, io);
  const catalog = await openCatalog(invocation, io);
  if (catalog === null) return EXIT.USAGE;
  const connection = catalog.compiled.checked.connections.find(({ name }) => name === wanted.from);
  if (connection === undefined) throw new UsageError(`the catalog has no connection '${wanted.from}'; it has ${catalog.compiled.checked.connections.map(({ name }) => name).join(", ") || "none"}`);
  await checkTarget(wanted, connection, catalog, io);
  const temporary = join(dirname(wanted.file), `.${basename(wanted.file)}.${randomBytes(6).toString("hex")}.copy`);
  try {
    return await copy(wanted, { catalog, connection, temporary, shown: invocation.args[0] ?? "" }, io);
  } catch (error) {
    if (io.signal.aborted) {
      io.stderr.write("interrupted; nothing is written\n");
      return interruptedCode(io.signal.reason);
    }
    const problem = storeProblem(error) ?? (error instanceof RangeError ? error.message : await writeProblem(error));
    if (problem === null) throw error;
    io.stderr.write(`toolsrv copy: ${problem}; nothing is written\n`);
    return storeProblem(error) === null ? EXIT.USAGE : EXIT.LIVE;
  } finally {
    for (const path of [temporary, `${temporary}-journal`]) if (await io.host.exists(path)) await io.host.remove(path);
  }
};

/** What keeps the file from being written, such as a full disk; `null` for a bug. */
async function writeProblem(error: unknown): Promise<string | null> {
  const { sqliteError } = await import("../../../runtime/adapters/sqlite/errors.js");
  const known = sqliteError(error, "the copy");
  return isBackendError(known) ? known.message : null;
}

function readOptions({ options }: Invocation, io: Io): CopyOptions {
  const text = (name: string): string | null => (typeof options[name] === "string" ? options[name] : null);
  const list = (name: string): readonly string[] | null => {
    const words = text(name)?.split(",").map((word) => word.trim()) ?? null;
    if (words?.includes("") === true) throw new UsageError(`--${name} takes names separated by commas, not '${text(name)}'`);
    return words;
  };
  const limit = text("limit");
  if (limit !== null && (!/^[1-9]\d{0,6}$/.test(limit) || Number(limit) > MAX_ROWS)) throw new UsageError(`--limit takes a number from 1 to ${MAX_ROWS}, not '${limit}'`);
  const to = text("to") ?? "";
  if (to === "") throw new UsageError("--to names the file to write");
  return { from: text("from") ?? "", to, file: resolve(io.cwd, to), collections: list("collection"), limit: limit === null ? DEFAULT_ROWS : Number(limit), where: text("where"), text: list("text"), replace: options["replace"] === true };
}

/** Refuses a file that another program wrote, that is in use, or that the connection it comes from reads: a sample would take its rows' place. */
async function checkTarget({ to, file, replace }: CopyOptions, { name, settings }: ResolvedConnection, { env, base }: OpenedCatalog, { host }: Io): Promise<void> {
  if (!(await host.exists(dirname(file)))) throw new UsageError(`there is no folder for '${to}'`);
  if (!(await host.exists(file))) return;
  if (!replace) throw new UsageError(`'${to}' exists; give another --to, or --replace`);
  if ((await host.size(file)) === null) throw new UsageError(`'${to}' is no file`);
  // The path may be a reference to the environment.
  const own = fill(settings["path"], env, new Set());
  if (typeof own === "string" && (await host.realPath(resolve(fileURLToPath(base), own))) === (await host.realPath(file))) throw new UsageError(`'${to}' is the file that connection '${name}' reads; give another --to`);
  for (const suffix of ["-journal", "-wal"]) if (await host.exists(`${file}${suffix}`)) throw new UsageError(`'${to}' is being written: there is '${to}${suffix}'`);
  if (!(await isOurs(file))) throw new UsageError(`'${to}' was not written by toolsrv; give another --to`);
}

interface Task {
  readonly catalog: OpenedCatalog;
  readonly connection: ResolvedConnection;
  /** The file while it is written. */
  readonly temporary: string;
  /** The catalog as the command line names it. */
  readonly shown: string;
}

async function copy(wanted: CopyOptions, task: Task, io: Io): Promise<number> {
  const { catalog: { compiled, env, base }, connection } = task;
  const { guard, route } = boundsOf(compiled, connection, env);
  const filter = andAll([guard, wanted.where === null ? null : readWhere(wanted.where, datesOf(compiled, connection))]);
  checkFilter(filter, connection.backend);
  const adapter = await openStore(connection, { base: fileURLToPath(base), from: { catalog: task.shown, connection: connection.name } }, { host: io.host, env, variables: io.env });
  try {
    const names = wanted.collections ?? collectionsOf(compiled, wanted.from) ?? (await ask(connection, io, (signal) => adapter.collections(signal)));
    if (names.length === 0) throw new RangeError(`no tool reads a collection of connection '${wanted.from}'; name one with --collection`);
    const { isCollectionName } = await import("../../../runtime/adapters/sqlite/layout.js");
    const unusable = names.find((name) => !isCollectionName(name));
    if (unusable !== undefined) throw new RangeError(`'${visible(unusable).slice(0, 100)}' cannot be the name of a collection in an embedded file`);
    warn(compiled.checked, filter, io);
    const results: CopyResult[] = [];
    for (const collection of new Set(names)) {
      results.push(await copyOne(wanted, task, { adapter, collection, filter, ...(route === undefined ? {} : { route }) }, io));
    }
    if (results.every(({ copied }) => copied === 0)) {
      io.stderr.write("toolsrv copy: no row to copy; nothing is written\n");
      return EXIT.FINDINGS;
    }
    io.signal.throwIfAborted();
    await finish(wanted, task, io);
    return results.some(({ bad }) => bad > 0) ? EXIT.FINDINGS : EXIT.OK;
  } finally {
    await adapter.close();
  }
}

function ask<T>({ backend }: ResolvedConnection, io: Io, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return answered(work, backend, ANSWER_MS, io.signal);
}

/** Rows are copied as they are stored, and what keeps a tool's caller from some of them is not in the file. */
function warn({ tenancy, documentAcl }: OpenedCatalog["compiled"]["checked"], filter: Filter | null, { stderr }: Io): void {
  if (tenancy.mode !== "none" && !fixes(filter, tenancy.path)) stderr.write(`warning: rows of all tenants are copied, because nothing filters '${tenancy.path}'; give --where ${tenancy.path}=VALUE for those of one\n`);
  if (documentAcl !== null) stderr.write("warning: rows are copied without document access: security.document_acl applies to tools only\n");
  stderr.write("note: whole rows are copied, fields that tools redact or leave out among them; the file can be read by you alone\n");
}

/** One collection: its facts, its rows, and a line about them. */
async function copyOne({ text, limit }: CopyOptions, { catalog, connection, temporary }: Task, { adapter, ...read }: Read, io: Io): Promise<CopyResult> {
  const [{ copyCollection }, { Writer }] = await Promise.all([import("../../copy/copy.js"), import("../../load/writer.js")]);
  const { collection } = read;
  const info = await ask(connection, io, (signal) => adapter.describe(collection, signal));
  if (info === null) throw new RangeError(`connection '${connection.name}' has no collection '${collection}'`);
  const facts = factsOf(catalog.compiled, connection.name, collection);
  const embeddedBy = info.embeddedBy ?? facts.embeddedBy;
  const space = info.space ?? facts.space;
  const total = await matching(adapter, read, connection, io);
  const progress = createProgress(io.stderr, `copying ${collection}`, io.host.monotonic, "rows");
  const problems = problemPrinter(collection, progress.clear, io);
  const result = await copyCollection({ backend: connection.backend, limit, textPaths: text, page: (after, rows) => ask(connection, io, (signal) => pageOf(adapter, { ...read, after, limit: rows }, signal)) }, {
    open: (dims) => Writer.open({ file: temporary, collection, replace: false, indexes: facts.indexes, embedding: { embeddedBy: embeddedBy ?? UNKNOWN_MODEL, dims, text: text?.join(",") ?? "", ...(space === undefined ? {} : { space }) } }),
    onBad: problems.add,
    onPage: (copied) => progress.update(copied, copied, total === null ? null : Math.min(total, limit)),
  }, io.signal);
  progress.clear();
  problems.end();
  const made = embeddedBy === null ? "no tool says which model made its vectors, so a search by text will be refused" : `${embeddedBy}, ${result.dims} dimensions`;
  io.stdout.write(`${collection}: ${result.copied}${total === null ? "" : ` of ${total}`} rows${result.bad > 0 ? `, ${result.bad} left out` : ""}${result.copied === 0 ? "" : ` (${made})`}\n`);
  return result;
}

/** What is read of a collection. */
interface Read {
  readonly adapter: Adapter;
  readonly collection: string;
  readonly filter: Filter | null;
  readonly route?: Route;
}

/** Recorded where nobody says which model made the vectors; no embedding is called so. */
const UNKNOWN_MODEL = "unknown/unknown";

function pageOf(adapter: Adapter, request: PageRequest, signal: AbortSignal): Promise<Page> {
  if (adapter.page === undefined) throw new RangeError("rows of this store cannot be copied");
  return adapter.page(request, signal);
}

/** How many rows there are to copy; `null` in a store that cannot count them. */
async function matching(adapter: Adapter, { collection, filter, route }: Omit<Read, "adapter">, connection: ResolvedConnection, io: Io): Promise<number | null> {
  try {
    return await ask(connection, io, (signal) => adapter.count(collection, filter, signal, route));
  } catch (error) {
    if (isBackendError(error) && error.kind === "unsupported") return null;
    throw error;
  }
}

function problemPrinter(collection: string, clear: () => void, { stderr }: Io): { add(id: string, problem: string): void; end(): void } {
  let seen = 0;
  return {
    add(id, problem) {
      seen++;
      if (seen > MAX_SHOWN) return;
      clear();
      stderr.write(`${collection}: row '${visible(id).slice(0, 100)}' is left out: ${problem}\n`);
    },
    end() {
      if (seen > MAX_SHOWN) stderr.write(`and ${seen - MAX_SHOWN} more of ${collection} that are left out\n`);
    },
  };
}

/** Puts the file in its place, and says how a catalog reads it. */
async function finish({ to, file, from, replace }: CopyOptions, { catalog: { base }, temporary }: Task, io: Io): Promise<void> {
  if (!replace && (await io.host.exists(file))) throw new RangeError(`'${to}' was made in the meantime`);
  await io.host.rename(temporary, file);
  const path = relative(fileURLToPath(base), file).replaceAll("\\", "/");
  const shown = path.startsWith("../") || isAbsolute(path) ? path : `./${path}`;
  io.stdout.write(`wrote ${to}. In a catalog that reads it, the connection is:\n\nconnections:\n  ${from}: { backend: ${filledBackend().name}, path: ${JSON.stringify(shown)} }\n`);
}
