/** `toolsrv load`: fills a collection of an embedded store. The only command that writes to one. */
import { resolve } from "node:path";
import type { OpenOptions } from "../../../runtime/adapters/adapter.js";
import type { Embedder } from "../../../runtime/embed/embedder.js";
import type { Compiled } from "../../compile.js";
import { type ConvertOptions, LOAD_TYPES, snakeCase, type LoadType } from "../../load/convert.js";
import type { LoadResult } from "../../load/load.js";
import { createProgress } from "../../load/progress.js";
import { decode, formatOf, readRecords } from "../../load/source.js";
import { loadTarget, type LoadTarget } from "../../load/target.js";
import type { Writer } from "../../load/writer.js";
import { openCatalog, type OpenedCatalog } from "../../printers/open-catalog.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";
import { interruptedCode } from "../io.js";

/** The options, checked. */
interface LoadOptions {
  readonly connection: string;
  readonly collection: string;
  /** As written; "-" is standard input. */
  readonly source: string;
  readonly id: string | null;
  readonly text: readonly string[] | null;
  readonly snakeCase: boolean;
  readonly types: ReadonlyMap<string, LoadType>;
  readonly replace: boolean;
}

/** Bad records that are printed one by one; the rest are counted. */
const MAX_SHOWN = 20;

export const run: CommandModule["run"] = async (invocation, io) => {
  const isReindex = readReindex(invocation);
  const wanted = isReindex ? null : readOptions(invocation);
  const catalog = await openCatalog(invocation, io);
  if (catalog === null) return EXIT.USAGE;
  if (wanted !== null && wanted.source !== "-" && !(await io.host.exists(resolve(io.cwd, wanted.source)))) throw new UsageError(`there is no file '${wanted.source}'`);
  try {
    const { connection, collection } = namesOf(invocation);
    const target = loadTarget(await filled(catalog), connection, collection, catalog.base);
    return await (wanted === null ? reindex(collection, target, { catalog: invocation.args[0] ?? "", connection }, io) : load(wanted, target, io));
  } catch (error) {
    const problem = await problemOf(error);
    if (problem === null) throw error;
    io.stderr.write(`toolsrv load: ${problem}\n`);
    return EXIT.USAGE;
  }
};

/** The catalog with the values of its references: loading needs the real path and the real embedding. */
async function filled({ compiled, env }: OpenedCatalog): Promise<Compiled> {
  const { fillProgram } = await import("../../../runtime/call/fill-program.js");
  const { plans } = compiled;
  const { connections, embeddings } = fillProgram({ ...plans, plans: plans.tools }, env);
  return { ...compiled, plans: { ...plans, connections, embeddings } };
}

function namesOf({ options }: Invocation): Pick<LoadOptions, "connection" | "collection"> {
  const text = (name: string): string => (typeof options[name] === "string" ? options[name] : "");
  return { connection: text("connection"), collection: text("collection") };
}

/** Options that say how records are read, which --reindex does not. */
const OF_RECORDS = ["id", "text", "snake-case", "types", "replace"];

/** Whether only indexes are made. @throws UsageError for words that say both. */
function readReindex({ args, options }: Invocation): boolean {
  const isReindex = options["reindex"] === true;
  if (!isReindex && args[1] === undefined) throw new UsageError("give the FILE to load, or --reindex");
  if (isReindex && args[1] !== undefined) throw new UsageError("--reindex takes no FILE: a load makes the indexes by itself");
  const other = isReindex ? OF_RECORDS.find((name) => options[name] !== undefined && options[name] !== false) : undefined;
  if (other !== undefined) throw new UsageError(`--reindex loads no records, so --${other} has no meaning`);
  return isReindex;
}

function readOptions(invocation: Invocation): LoadOptions {
  const { args, options } = invocation;
  const text = (name: string): string | null => (typeof options[name] === "string" ? options[name] : null);
  const source = args[1] ?? "";
  if (source !== "-" && formatOf(source) === null) throw new UsageError(`'${source}' is not a .jsonl, .json or .csv file; give '-' to read standard input`);
  return {
    ...namesOf(invocation),
    source,
    id: text("id"),
    text: readPaths("text", text("text")),
    snakeCase: options["snake-case"] === true,
    types: readTypes(text("types") ?? ""),
    replace: options["replace"] === true,
  };
}

function readPaths(name: string, list: string | null): readonly string[] | null {
  const paths = list?.split(",").map((path) => path.trim()) ?? null;
  if (paths?.includes("") === true) throw new UsageError(`--${name} takes fields separated by commas, not '${list}'`);
  return paths;
}

function readTypes(text: string): ReadonlyMap<string, LoadType> {
  const types = new Map<string, LoadType>();
  for (const entry of text.split(",").filter((part) => part.trim() !== "")) {
    const [path = "", name = ""] = entry.split(":").map((part) => part.trim());
    const type = LOAD_TYPES.find((known) => known === name);
    if (path === "" || type === undefined) throw new UsageError(`--types takes FIELD:TYPE with a type of ${LOAD_TYPES.join(", ")}, not '${entry.trim()}'`);
    types.set(path, type);
  }
  return types;
}

/** Indexes without records: after the catalog has changed. */
async function reindex(collection: string, { file, path, indexes }: LoadTarget, from: NonNullable<OpenOptions["from"]>, io: Io): Promise<number> {
  const [{ reindexFile }, { lockCollection }, { loadCommand }] = await Promise.all([import("../../load/indexer.js"), import("../../load/lock.js"), import("../../../runtime/adapters/sqlite/database.js")]);
  const startedMs = io.host.monotonic();
  const lock = (await io.host.exists(file)) ? lockCollection(file, collection) : null;
  const { made, dropped, kept } = await reindexFile({ file, name: path, load: loadCommand(from) }, collection, indexes).finally(() => lock?.release());
  const shown = (keys: readonly string[], what: string): string => `${keys.length} ${what}${keys.length === 0 ? "" : ` (${keys.join("; ")})`}`;
  io.stdout.write(`indexes of collection ${collection} in ${path}: ${shown(made, "made")}, ${shown(dropped, "dropped")}, ${shown(kept, "kept")}, ${((io.host.monotonic() - startedMs) / 1000).toFixed(1)} s\n`);
  return EXIT.OK;
}

async function load(wanted: LoadOptions, target: LoadTarget, io: Io): Promise<number> {
  const [{ openEmbedder }, { measureSpace, movedSpace }, { Writer }, { lockCollection }, { isCollectionName }] = await Promise.all([
    import("../../../runtime/embed/table.js"), import("../../../runtime/embed/space.js"), import("../../load/writer.js"), import("../../load/lock.js"), import("../../../runtime/adapters/sqlite/layout.js"),
  ]);
  if (!isCollectionName(wanted.collection)) throw new UsageError(`'${wanted.collection}' cannot be the name of a collection`);
  const startedMs = io.host.monotonic();
  const open = (use: "query" | "document"): Promise<Embedder> => openEmbedder({ ...target.embedding, config: target.embedding.config ?? {} }, { use, base: target.base });
  const space = await measureSpace(open, io.signal);
  const moved = target.embedding.space === undefined ? null : movedSpace(target.embedding.space, space);
  if (moved !== null) throw new RangeError(`the embedding is not in the space that the catalog has locked: ${moved}`);
  const embedder = await open("document");
  const dims = embedder.dims ?? (await embedder.embed(["dimensions"], io.signal))[0]?.length ?? 0;
  const embeddedBy = `${embedder.provider}/${embedder.model}`;
  const lock = lockCollection(target.file, wanted.collection);
  try {
    const writer = await Writer.open({
      file: target.file, collection: wanted.collection, replace: wanted.replace, indexes: target.indexes,
      embedding: { embeddedBy, dims, text: wanted.text?.join(",") ?? "", space },
    });
    return await fill(writer, embedder, wanted, target, io, `${embeddedBy}, ${dims} dimensions`, startedMs);
  } finally {
    lock.release();
  }
}

/** The records of the source into the open collection. */
async function fill(writer: Writer, embedder: Embedder, wanted: LoadOptions, target: LoadTarget, io: Io, made: string, startedMs: number): Promise<number> {
  const { loadRecords } = await import("../../load/load.js");
  let finished = false;
  try {
    const progress = createProgress(io.stderr, `loading ${wanted.collection}`, io.host.monotonic);
    const size = wanted.source === "-" ? null : await io.host.size(resolve(io.cwd, wanted.source));
    const bytes = countBytes(wanted.source === "-" ? io.stdin : io.host.stream(resolve(io.cwd, wanted.source)), shownSource(wanted), io.signal);
    const problems = problemPrinter(shownSource(wanted), progress.clear, io);
    const result = await loadRecords(readRecords(decode(bytes.chunks), formatOf(wanted.source)), convertOptions(wanted, target), embedder, writer, {
      onBad: problems.add,
      nowMs: () => io.host.monotonic(),
      onWritten: (sofar) => progress.update(sofar.added + sofar.updated + sofar.unchanged, bytes.read(), size),
    }, io.signal);
    progress.clear();
    problems.end();
    if (io.signal.aborted) {
      io.stderr.write(`interrupted ${wanted.replace ? `before anything changed in collection ${wanted.collection}` : `after ${result.added + result.updated} records`}; run the same command again to go on\n`);
      return interruptedCode(io.signal.reason);
    }
    const problem = whyUnfinished(result, wanted);
    if (problem !== null) {
      io.stderr.write(`toolsrv load: ${problem.text}\n`);
      return problem.code;
    }
    writer.finish();
    finished = true;
    io.stdout.write(`${summary(result)} in collection ${wanted.collection} of ${target.path} (${made}, ${((io.host.monotonic() - startedMs) / 1000).toFixed(1)} s)\n`);
    return result.bad > 0 ? EXIT.FINDINGS : EXIT.OK;
  } finally {
    if (!finished) writer.abandon();
    writer.close();
  }
}

/** Why a load that read its whole input is no success; then no collection is replaced. */
function whyUnfinished({ added, updated, unchanged, absent }: LoadResult, { replace, collection }: LoadOptions): { readonly text: string; readonly code: number } | null {
  const stored = added + updated;
  if (absent.length > 0) {
    const kept = replace || stored === 0 ? "nothing is stored" : `${stored} records are stored with vectors that lack it; correct --text and load them again with --replace`;
    return { text: `no record has a text at ${absent.map((path) => `'${path}'`).join(" or ")}, which --text names; ${kept}`, code: EXIT.USAGE };
  }
  if (replace && stored + unchanged === 0) return { text: `there is no record to load; collection '${collection}' is left as it was`, code: EXIT.FINDINGS };
  return null;
}

function convertOptions(wanted: LoadOptions, target: LoadTarget): ConvertOptions {
  const name = (path: string): string => (wanted.snakeCase ? path.split(".").map((key) => snakeCase(key) || key).join(".") : path);
  return {
    idPath: wanted.id === null ? null : name(wanted.id),
    textPaths: wanted.text?.map(name) ?? null,
    snakeCase: wanted.snakeCase,
    types: new Map([...wanted.types].map(([path, type]) => [name(path), type])),
    declared: target.types,
  };
}

/** The bytes of a stream, counted; they end when `signal` aborts, also while the stream waits for input. */
function countBytes(stream: NodeJS.ReadableStream, shown: string, signal: AbortSignal): { readonly chunks: AsyncIterable<unknown>; read(): number } {
  let read = 0;
  async function* chunks(): AsyncGenerator<unknown> {
    const input = stream[Symbol.asyncIterator]();
    let stop = (): void => undefined;
    const onAbort = (): void => stop();
    signal.addEventListener("abort", onAbort);
    try {
      while (!signal.aborted) {
        const stopped = new Promise<null>((resolve) => (stop = () => resolve(null)));
        const next = await Promise.race([input.next(), stopped]);
        if (next === null || next.done === true) return;
        read += next.value.length;
        yield next.value;
      }
    } catch (error) {
      // Reading has no path in its error.
      if (error instanceof Error && "syscall" in error && !("path" in error)) Object.assign(error, { path: shown });
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
  return { chunks: chunks(), read: () => read };
}

function shownSource({ source }: LoadOptions): string {
  return source === "-" ? "standard input" : source;
}

function problemPrinter(shown: string, clear: () => void, io: Io): { add(place: string, problem: string): void; end(): void } {
  let seen = 0;
  return {
    add(place, problem) {
      seen++;
      if (seen > MAX_SHOWN) return;
      clear();
      io.stderr.write(`${shown}: ${place}: ${problem}\n`);
    },
    end() {
      if (seen > MAX_SHOWN) io.stderr.write(`and ${seen - MAX_SHOWN} more that could not be loaded\n`);
    },
  };
}

function summary({ added, updated, unchanged, bad }: LoadResult): string {
  const parts = [`${added} added`, updated > 0 && `${updated} updated`, unchanged > 0 && `${unchanged} unchanged`, bad > 0 && `${bad} left out`];
  return parts.filter((part) => part !== false).join(", ");
}

/** What the user can do something about, in words; `null` for a bug. */
async function problemOf(error: unknown): Promise<string | null> {
  if (error instanceof RangeError) return error.message;
  if (error instanceof Error && "syscall" in error) return null;
  const [{ isBackendError, isToolError }, { sqliteError }] = await Promise.all([import("../../../runtime/abi/errors.js"), import("../../../runtime/adapters/sqlite/errors.js")]);
  const known = sqliteError(error, "the embedded database");
  return isBackendError(known) || isToolError(known) ? known.message : null;
}
