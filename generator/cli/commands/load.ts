/** `toolsrv load`: fills a collection of an embedded store. The only command that writes to one. */
import { resolve } from "node:path";
import type { Compiled } from "../../compile.js";
import { LOAD_TYPES, snakeCase, type LoadType } from "../../load/convert.js";
import type { LoadCounts } from "../../load/load.js";
import { createProgress } from "../../load/progress.js";
import { decode, formatOf, readRecords } from "../../load/source.js";
import { loadTarget, type LoadTarget } from "../../load/target.js";
import { openCatalog, type OpenedCatalog } from "../../printers/open-catalog.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";

/** The command line, understood. */
interface Order {
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

/** Bad records told one by one; the rest are counted. */
const MAX_SHOWN = 20;

export const run: CommandModule["run"] = async (invocation, io) => {
  const order = readOrder(invocation);
  const catalog = await openCatalog(invocation, io);
  if (catalog === null) return EXIT.USAGE;
  if (order.source !== "-" && !(await io.host.exists(resolve(io.cwd, order.source)))) throw new UsageError(`there is no file '${order.source}'`);
  try {
    return await load(order, loadTarget(await filled(catalog), order.connection, order.collection, catalog.base), io);
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

function readOrder({ args, options }: Invocation): Order {
  const text = (name: string): string | null => (typeof options[name] === "string" ? options[name] : null);
  const required = (name: string, what: string): string => {
    const value = text(name);
    if (value === null || value === "") throw new UsageError(`--${name} is missing: ${what}`);
    return value;
  };
  const source = args[1] ?? "";
  if (source !== "-" && formatOf(source) === null) throw new UsageError(`'${source}' is not a .jsonl, .json or .csv file; give '-' to read standard input`);
  return {
    connection: required("connection", "the catalog's connection to fill"),
    collection: required("collection", "the collection to fill"),
    source,
    id: text("id"),
    text: text("text")?.split(",").map((path) => path.trim()).filter((path) => path !== "") ?? null,
    snakeCase: options["snake-case"] === true,
    types: readTypes(text("types") ?? ""),
    replace: options["replace"] === true,
  };
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

async function load(order: Order, target: LoadTarget, io: Io): Promise<number> {
  const [{ openEmbedder }, { Writer }, { loadRecords }, { isCollectionName }] = await Promise.all([
    import("../../../runtime/embed/table.js"), import("../../load/writer.js"), import("../../load/load.js"), import("../../../runtime/adapters/sqlite/layout.js"),
  ]);
  if (!isCollectionName(order.collection)) throw new UsageError(`'${order.collection}' cannot be the name of a collection`);
  const startedMs = io.host.monotonic();
  const embedder = await openEmbedder({ ...target.embedding, config: {} });
  const dims = embedder.dims ?? (await embedder.embed(["dimensions"], io.signal))[0]?.length ?? 0;
  const embeddedBy = `${embedder.provider}/${embedder.model}`;
  const writer = await Writer.open({
    file: target.file, collection: order.collection, replace: order.replace, indexPaths: target.indexPaths,
    embedding: { embeddedBy, dims, text: order.text?.join(",") ?? "" },
  });
  try {
    const progress = createProgress(io.stderr, `loading ${order.collection}`, io.host.monotonic);
    const size = order.source === "-" ? null : await io.host.size(resolve(io.cwd, order.source));
    const bytes = countBytes(order.source === "-" ? io.stdin : io.host.stream(resolve(io.cwd, order.source)));
    const problems = problemPrinter(order.source, progress.clear, io);
    const format = formatOf(order.source);
    const counts = await loadRecords(readRecords(decode(bytes.chunks), format), convertOptions(order, target, format === "csv"), embedder, writer, {
      onBad: problems.add,
      onBatch: (sofar) => progress.update(sofar.added + sofar.updated + sofar.unchanged, bytes.read(), size),
    }, io.signal);
    progress.clear();
    problems.end();
    if (io.signal.aborted) {
      io.stderr.write(`interrupted after ${counts.added + counts.updated} records; run the same command again to go on\n`);
      return EXIT.FINDINGS;
    }
    writer.finish();
    io.stdout.write(`${summary(counts)} in collection ${order.collection} of ${target.path} (${embeddedBy}, ${dims} dimensions, ${((io.host.monotonic() - startedMs) / 1000).toFixed(1)} s)\n`);
    return counts.bad > 0 ? EXIT.FINDINGS : EXIT.OK;
  } finally {
    writer.close();
  }
}

function convertOptions(order: Order, target: LoadTarget, isCsv: boolean) {
  const name = (path: string): string => (order.snakeCase ? path.split(".").map((key) => snakeCase(key) || key).join(".") : path);
  const declared = isCsv ? [...target.types] : [];
  return {
    idPath: order.id === null ? null : name(order.id),
    textPaths: order.text?.map(name) ?? null,
    snakeCase: order.snakeCase,
    types: new Map([...declared, ...[...order.types].map(([path, type]): [string, LoadType] => [name(path), type])]),
  };
}

function countBytes(stream: NodeJS.ReadableStream): { readonly chunks: AsyncIterable<unknown>; read(): number } {
  let read = 0;
  async function* chunks(): AsyncGenerator<unknown> {
    for await (const chunk of stream) {
      read += chunk.length;
      yield chunk;
    }
  }
  return { chunks: chunks(), read: () => read };
}

function problemPrinter(source: string, clear: () => void, io: Io): { add(place: string, problem: string): void; end(): void } {
  let seen = 0;
  return {
    add(place, problem) {
      seen++;
      if (seen > MAX_SHOWN) return;
      clear();
      io.stderr.write(`${source === "-" ? "standard input" : source}: ${place}: ${problem}\n`);
    },
    end() {
      if (seen > MAX_SHOWN) io.stderr.write(`and ${seen - MAX_SHOWN} more that could not be loaded\n`);
    },
  };
}

function summary({ added, updated, unchanged, bad }: LoadCounts): string {
  const parts = [`${added} added`, updated > 0 && `${updated} updated`, unchanged > 0 && `${unchanged} unchanged`, bad > 0 && `${bad} left out`];
  return parts.filter((part) => part !== false).join(", ");
}

/** What the user can do something about, in words; `null` for a bug. */
async function problemOf(error: unknown): Promise<string | null> {
  if (error instanceof RangeError) return error.message;
  if (error instanceof Error && "syscall" in error) return null;
  const [{ isBackendError, isToolError }, { sqliteError }] = await Promise.all([import("../../../runtime/abi/errors.js"), import("../../../runtime/adapters/errors.js")]);
  const known = sqliteError(error, "the embedded database");
  return isBackendError(known) || isToolError(known) ? known.message : null;
}
