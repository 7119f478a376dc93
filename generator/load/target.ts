/** The catalog's information about the collection that is loaded: its file, its embedding, its fields. Pure. */
import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { SMALLEST_EMBEDDING } from "../../runtime/embed/descriptors.js";
import type { EmbeddingPlan, Json, ToolPlan } from "../../runtime/abi/plan.js";
import type { IndexSpec } from "../../runtime/adapters/sqlite/indexes.js";
import type { Compiled } from "../compile.js";
import type { ResolvedParameter } from "../ir.js";
import type { LoadType } from "./convert.js";
import { isAmong, wantedIndexes } from "./indexes.js";

export interface LoadTarget {
  /** As the catalog writes it; relative to the catalog. */
  readonly path: string;
  readonly file: string;
  /** Folder of the catalog. */
  readonly base: string;
  /** Its references filled in. */
  readonly embedding: EmbeddingPlan & { readonly config?: { readonly [key: string]: Json } };
  /** Indexes that its tools need. */
  readonly indexes: readonly IndexSpec[];
  /** What parameters compare paths as; values are stored in that type. */
  readonly types: ReadonlyMap<string, LoadType>;
}

/**
 * `compiled` has its references filled in.
 * @throws RangeError when the connection can't be loaded, or two tools embed the collection differently.
 */
export function loadTarget({ plans, checked }: Compiled, connection: string, collection: string, base: URL): LoadTarget {
  const plan = Object.hasOwn(plans.connections, connection) ? plans.connections[connection] : undefined;
  if (plan === undefined) throw new RangeError(`the catalog has no connection '${connection}'; it has ${Object.keys(plans.connections).join(", ") || "none"}`);
  if (DESCRIPTORS[plan.backend].isFilled !== true) {
    const filled = Object.values(DESCRIPTORS).filter(({ isFilled }) => isFilled === true).map(({ name }) => name).join(", ");
    throw new RangeError(`connection '${connection}' is a ${plan.backend} store; only ${filled} stores are filled by load`);
  }
  // The server would read the file that the secret names, and load fills the one that the catalog names.
  if (plan.credentials !== undefined) throw new RangeError(`connection '${connection}' takes its settings from credentials.provider ${plan.credentials.provider}, which load does not ask; load through a catalog that names the file`);
  const path = plan.settings["path"];
  if (typeof path !== "string") throw new RangeError(`connection '${connection}' has no path`);
  const readers = readersOf(plans.tools, connection, collection);
  const tools = checked.tools.filter(({ name }) => readers.some(([reader]) => reader === name));
  const types = new Map<string, LoadType>([...typesOf(tools.flatMap(({ parameters }) => parameters)), ...tools.flatMap(({ dtypes }) => Object.entries(dtypes))]);
  return {
    path,
    file: resolve(fileURLToPath(base), path),
    base: fileURLToPath(base),
    embedding: embeddingOf(readers, plans.embeddings, collection) as LoadTarget["embedding"],
    indexes: wantedIndexes(plans, connection, collection).map(({ spec }) => spec),
    types,
  };
}

/**
 * What the parameters compare each path as. `exists` and `is_null` compare no value. Where parameters disagree, a type
 * other than keyword counts: none of them can use numbers and dates as text.
 */
function typesOf(parameters: readonly ResolvedParameter[]): ReadonlyMap<string, LoadType> {
  const types = new Map<string, LoadType>();
  for (const { path, name, dtype, op } of parameters) {
    if (dtype === "unknown" || op === "exists" || op === "is_null") continue;
    const known = types.get(path ?? name);
    if (known === undefined || known === "keyword") types.set(path ?? name, dtype);
  }
  return types;
}

/** The tools that read a collection, with their names. */
export function readersOf(tools: { readonly [tool: string]: ToolPlan }, connection: string, collection: string): readonly (readonly [string, ToolPlan])[] {
  return Object.entries(tools).filter(([, tool]) => reads(tool, connection, collection));
}

function reads(tool: ToolPlan, connection: string, collection: string): boolean {
  const read = tool.kind === "pipeline" ? tool.retrieve : tool;
  return read.connection === connection && "collection" in read && isAmong(read.collection, collection);
}

function embeddingOf(readers: readonly (readonly [string, ToolPlan])[], embeddings: { readonly [name: string]: EmbeddingPlan }, collection: string): EmbeddingPlan {
  return statedEmbedding(readers, embeddings, collection) ?? embeddings["default"] ?? SMALLEST_EMBEDDING;
}

/** The embedding of the tools that search a collection; undefined where none does. @throws RangeError where they differ */
export function statedEmbedding(readers: readonly (readonly [string, ToolPlan])[], embeddings: { readonly [name: string]: EmbeddingPlan }, collection: string): EmbeddingPlan | undefined {
  const users = new Map<string, string>();
  for (const [name, tool] of readers) {
    const query = tool.kind === "pipeline" ? tool.retrieve.query : "query" in tool ? tool.query : undefined;
    if (query !== undefined && !users.has(query.embedding)) users.set(query.embedding, name);
  }
  if (users.size > 1) {
    const [[first, a], [second, b]] = [...users] as [[string, string], [string, string]];
    throw new RangeError(`the tools '${a}' and '${b}' embed collection '${collection}' differently (${first} and ${second}); a collection has one embedding`);
  }
  const [name] = users.keys();
  return name === undefined ? undefined : embeddings[name];
}
