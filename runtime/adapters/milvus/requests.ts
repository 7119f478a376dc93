/** Requests of this adapter as Milvus takes them. Pure: `search`, `fetch` and `count` send what `explain` shows. */
import { BackendError } from "../../abi/errors.js";
import type { FieldInfo } from "../adapter.js";
import { later } from "../hole.js";
import { numbersOf } from "../numbers.js";
import type { SearchShape } from "../prepared.js";
import { refuse } from "../reduce.js";
import type { Shape } from "../shape.js";
import { ASSUMED, type Declared, type FieldKind, type Fields } from "./fields.js";
import { compileFilter } from "./filter.js";

/** Most rows of one request, offset included. */
export const MAX_ROWS = 16_384;

/** What the adapter knows of a collection. */
export interface Schema {
  readonly fields: Fields;
  /** The field that is searched; null: the collection has no dense vectors. */
  readonly vector: { readonly name: string; readonly dims: number | null } | null;
  /** Names to ask for, so that all but vectors comes back. */
  readonly shown: readonly string[];
  readonly dtypes: ReadonlyMap<string, { readonly dtype: FieldInfo["dtype"]; readonly nullable: boolean }>;
  /** Scores are distances. */
  readonly isDistance: boolean;
  /** Parameters with which a search looks at as much of the index as a server allows; null: it has none. */
  readonly widest: { readonly [parameter: string]: number } | null;
  /** How recent reads must be, as the collection says; null: as the server says. */
  readonly consistency: string | null;
  readonly indexed: ReadonlySet<string>;
}

/** A collection nobody has looked at. */
export const ASSUMED_SCHEMA: Schema = { fields: ASSUMED, vector: null, shown: ["*"], dtypes: new Map(), isDistance: false, widest: null, consistency: null, indexed: new Set() };

export type SearchBody = { readonly collection_name: string; readonly anns_field?: string; readonly filter?: string; readonly limit: number; readonly output_fields: string[]; readonly data: readonly number[]; readonly params?: { readonly [parameter: string]: number } };
export type QueryBody = { readonly collection_name: string; readonly filter: string; readonly output_fields: string[]; readonly limit?: number; readonly consistency_level?: string };

/** The condition of a read; null where nothing can be found. */
export function filterText(filter: Shape | null, fields: Fields): string | null {
  const compiled = filter === null ? "all" : compileFilter(filter, fields);
  return compiled === "none" ? null : compiled === "all" ? "" : compiled;
}

/** A search; null where nothing can be found. */
export function searchBody(request: SearchShape, schema: Schema): SearchBody | null {
  const { mode, vector, collection, filter, limit } = request;
  if (mode === "hybrid") return refuse("milvus", "hybrid search");
  if (vector === null) return refuse("milvus", "a search without a vector");
  if (schema !== ASSUMED_SCHEMA && schema.vector === null) throw new BackendError("unsupported", "milvus", "the collection has no dense vector field to search");
  const text = filterText(filter, schema.fields);
  if (text === null) return null;
  return {
    collection_name: collection, ...(schema.vector === null ? {} : { anns_field: schema.vector.name }), ...(text === "" ? {} : { filter: text }),
    limit: later(limit, (rows) => Math.min(rows, MAX_ROWS)), output_fields: outputFields(request.fields, schema), data: numbersOf(vector),
  };
}

/** By the beginning of an index' type: candidates of a graph, lists of an inverted file; more are refused. */
const WIDEST: readonly (readonly [type: string, parameters: { readonly [parameter: string]: number }])[] = [["HNSW", { ef: 32_768 }], ["IVF", { nprobe: 65_536 }], ["SCANN", { nprobe: 65_536 }]];

/**
 * The search to ask instead when one came back with fewer rows than it may have; null where none can be missing. A server
 * may look at so little of an index that it meets few rows which pass a filter: of 12 in 6,000 milvus-lite found one in a
 * graph, and Milvus 2.3.5 one in an inverted file.
 */
export function widerSearch(body: SearchBody, found: number, { widest }: Schema): SearchBody | null {
  return widest !== null && found < body.limit ? { ...body, params: widest } : null;
}

/**
 * A read by filter; null where nothing can be found. The client gives searches the collection's consistency and reads by
 * filter the strongest, for which a server waits up to 0.2 s.
 */
export function queryBody(collection: string, filter: Shape | null, outputs: readonly string[], schema: Schema, limit?: number): QueryBody | null {
  const text = filterText(filter, schema.fields);
  return text === null ? null : { collection_name: collection, filter: text, output_fields: [...outputs], ...(limit === undefined ? {} : { limit }), ...(schema.consistency === null ? {} : { consistency_level: schema.consistency }) };
}

/** Fields to send: those asked for, the id in any case. */
export function outputFields(asked: readonly string[] | null, { shown, fields }: Schema): string[] {
  if (asked === null) return [...shown];
  const own = asked.filter((name) => fields.declared.has(name));
  const others = asked.some((name) => !fields.declared.has(name) && name !== "_id" && name !== "_score");
  return [...new Set([fields.id, ...own, ...(others ? shown.filter((name) => name === "$meta" || name === "*") : [])])];
}

interface DeclaredField {
  readonly name: string;
  readonly data_type: string;
  readonly element_type?: string;
  readonly is_primary_key?: boolean;
  readonly is_function_output?: boolean;
  readonly nullable?: boolean;
  readonly dim?: string | number;
}

/** A collection as the server describes it, in the part that is read here. */
export interface Described {
  readonly schema: { readonly fields: readonly DeclaredField[]; readonly enable_dynamic_field: boolean } | null;
  readonly consistency_level?: string;
}

export interface DescribedIndex {
  readonly field_name: string;
  readonly params: readonly { readonly key: string; readonly value: string | number }[];
}

const KINDS: { readonly [type: string]: readonly [FieldKind | "json", FieldInfo["dtype"]] } = {
  VarChar: ["text", "keyword"], String: ["text", "keyword"], Text: ["text", "keyword"], Bool: ["boolean", "boolean"], JSON: ["json", "unknown"], Array: ["list", "keyword[]"],
  Int8: ["integer", "integer"], Int16: ["integer", "integer"], Int32: ["integer", "integer"], Int64: ["integer", "integer"], Float: ["float", "float"], Double: ["float", "float"],
};
const DISTANCES: ReadonlySet<string> = new Set(["L2", "EUCLIDEAN", "HAMMING", "JACCARD"]);

/** The schema of a collection. @throws BackendError unsupported without a field of record ids */
export function schemaOf({ schema, consistency_level: consistency }: Described, indexes: readonly DescribedIndex[]): Schema {
  const all = schema?.fields ?? [];
  const id = all.find((field) => field.is_primary_key === true);
  if (id === undefined) throw new BackendError("unsupported", "milvus", "the collection has no field of record ids");
  const known = all.flatMap((field) => { const found = KINDS[field.data_type]; return found === undefined ? [] : [{ field, kind: found[0], dtype: found[1] }]; });
  const vector = all.find(({ data_type: type }) => type === "FloatVector" || type === "Float16Vector" || type === "BFloat16Vector");
  const dynamic = schema?.enable_dynamic_field === true;
  const index = new Map(indexes.find(({ field_name: name }) => name === vector?.name)?.params.map(({ key, value }) => [key, String(value).toUpperCase()]));
  return {
    fields: {
      id: id.name, idKind: KINDS[id.data_type]?.[0] === "integer" ? "integer" : "text", others: dynamic ? "dynamic" : "none",
      declared: new Map(known.map(({ field, kind }): [string, Declared] => [field.name, { kind, nullable: field.nullable === true }])),
    },
    vector: vector === undefined ? null : { name: vector.name, dims: vector.dim === undefined ? null : Number(vector.dim) },
    shown: [...known.map(({ field }) => field.name), ...(dynamic ? ["$meta"] : [])],
    dtypes: new Map(known.filter(({ field }) => field !== id).map(({ field, dtype }) => [field.name, { dtype, nullable: field.nullable === true }])),
    isDistance: DISTANCES.has(index.get("metric_type") ?? ""),
    widest: WIDEST.find(([type]) => index.get("index_type")?.startsWith(type))?.[1] ?? null,
    consistency: consistency ?? null,
    indexed: new Set(indexes.map(({ field_name: name }) => name)),
  };
}
