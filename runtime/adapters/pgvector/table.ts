/**
 * What the adapter knows of a table: read from PostgreSQL's own catalog, or assumed from the settings where nothing is
 * asked (`explain`). Pure; `introspectSql` is what the store is asked.
 */
import type { Settings } from "../adapter.js";
import { textSetting } from "../settings.js";

/** How a column is compared; `json`: by its JSON value, whatever its type. */
export type ColumnKind = "text" | "integer" | "float" | "boolean" | "instant" | "uuid" | "json" | "naive";

export interface VectorColumn {
  readonly column: string;
  /** The type as SQL writes it, with its schema where the search path lacks it. */
  readonly type: string;
  /** The cosine distance operator of that type. */
  readonly operator: string;
  readonly dims: number | null;
  /** An approximate index may answer searches. */
  readonly approximate: boolean;
}

export interface Table {
  /** As SQL writes it. */
  readonly name: string;
  readonly idColumn: string;
  readonly idKind: ColumnKind;
  /** Columns that are rows' own fields, in the order of the table. */
  readonly columns: ReadonlyMap<string, ColumnKind>;
  /** Where other fields are: within the jsonb column `payload`, in columns of their name (an assumption), or nowhere. */
  readonly others: "payload" | "columns" | "none";
  /** The payload has a GIN index, which only containment can use. */
  readonly payloadIndex: boolean;
  readonly vector: VectorColumn | null;
  /** Columns and first names within the payload that an index starts with. */
  readonly indexed: ReadonlySet<string>;
}

/** The settings that say where rows are. */
export interface Place {
  /** The table of a collection. */
  readonly tableOf: (collection: string) => string;
  /** The one table, where the connection names it. */
  readonly table: string | null;
  readonly idColumn: string;
  /** `null`: a plain table, without vectors. */
  readonly vectorColumn: string | null;
}

export const PAYLOAD = "payload";

/** `schema.table` is two names; each is quoted. */
export function placeOf(settings: Settings): Place {
  const table = textSetting(settings, "table");
  const isPlain = settings["mode"] === "table" || settings["vector_column"] === null;
  return {
    tableOf: (collection) => (table ?? collection).split(".").map(quoted).join("."),
    table,
    idColumn: textSetting(settings, "id_column") ?? "id",
    vectorColumn: isPlain ? null : textSetting(settings, "vector_column") ?? "embedding",
  };
}

/** A table as the settings describe it. */
export function assumedTable(place: Place, collection: string): Table {
  return {
    name: place.tableOf(collection),
    idColumn: place.idColumn,
    idKind: "json",
    columns: new Map(),
    others: place.vectorColumn === null ? "columns" : "payload",
    payloadIndex: false,
    vector: place.vectorColumn === null ? null : { column: place.vectorColumn, type: "vector", operator: "<=>", dims: null, approximate: true },
    indexed: new Set(),
  };
}

/** An identifier in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** One row with the columns `columns` and `indexes`; both null where there is no such table. `$1` is the table's name in SQL. */
export const INTROSPECT_SQL = `SELECT
  (SELECT json_agg(json_build_object('name', a.attname, 'type', t.typname, 'schema', n.nspname, 'visible', pg_type_is_visible(t.oid), 'typmod', a.atttypmod,
      'exactText', coalesce(o.collisdeterministic, true)) ORDER BY a.attnum)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_collation o ON o.oid = a.attcollation
    WHERE a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
  (SELECT json_agg(json_build_object('method', m.amname, 'opclass', oc.opcname, 'column', a.attname, 'expression', pg_get_indexdef(i.indexrelid, 1, true)))
    FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam JOIN pg_opclass oc ON oc.oid = i.indclass[0]
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND a.attnum > 0
    WHERE i.indrelid = r.oid AND i.indisvalid) AS indexes
FROM (SELECT to_regclass($1)::oid AS oid) r`;

/** Tables that the connection could read: those with the vector column `$1`; all where that is empty. */
export const TABLES_SQL = `SELECT DISTINCT c.relname AS name FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = $1::text AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid) AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND ($1 = '' OR a.attnum IS NOT NULL)`;

export interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly schema: string;
  readonly visible: boolean;
  readonly typmod: number;
  readonly exactText: boolean;
}

export interface IndexRow {
  readonly method: string;
  readonly opclass: string;
  readonly column: string | null;
  readonly expression: string;
}

const VECTOR_TYPES = /^(?:vector|halfvec|sparsevec|bit)$/;
const HIDDEN_TYPES = /^(?:vector|halfvec|sparsevec|tsvector|bytea)$/;
const KINDS: { readonly [type: string]: ColumnKind } = {
  text: "text", varchar: "text", int2: "integer", int4: "integer", int8: "integer", float8: "float", bool: "boolean",
  timestamptz: "instant", timestamp: "naive", uuid: "uuid",
};

/** A table as PostgreSQL describes it. */
export function knownTable(place: Place, collection: string, columns: readonly ColumnRow[], indexes: readonly IndexRow[]): Table {
  const id = columns.find(({ name }) => name === place.idColumn);
  const payload = columns.find(({ name, type }) => name === PAYLOAD && type === "jsonb");
  const fields = columns.filter((column) => column !== payload && !HIDDEN_TYPES.test(column.type));
  const own = indexes.map(({ column }) => column).filter((column) => column !== null);
  const payloadIndex = indexes.some(({ method, column }) => method === "gin" && column === PAYLOAD);
  return {
    name: place.tableOf(collection),
    idColumn: place.idColumn,
    idKind: id === undefined ? "json" : kindOf(id),
    columns: new Map(fields.map((column) => [column.name, kindOf(column)])),
    others: payload === undefined ? "none" : "payload",
    payloadIndex,
    vector: vectorOf(place, columns, indexes),
    indexed: new Set([...own, ...indexes.flatMap(({ column, expression }) => (column === null ? payloadPath(expression) : []))]),
  };
}

function kindOf({ type, schema, exactText }: ColumnRow): ColumnKind {
  const kind = schema === "pg_catalog" ? KINDS[type] : undefined;
  return kind === undefined || !exactText ? "json" : kind;
}

function vectorOf({ vectorColumn }: Place, columns: readonly ColumnRow[], indexes: readonly IndexRow[]): VectorColumn | null {
  const found = columns.find(({ name, type }) => name === vectorColumn && VECTOR_TYPES.test(type));
  if (found === undefined) return null;
  const { name, type, schema, visible, typmod } = found;
  return {
    column: name,
    type: visible ? type : `${quoted(schema)}.${quoted(type)}`,
    operator: visible ? "<=>" : `OPERATOR(${quoted(schema)}.<=>)`,
    dims: typmod > 0 ? typmod : null,
    approximate: indexes.some(({ method, column, opclass }) => (method === "hnsw" || method === "ivfflat") && column === name && opclass.endsWith("_cosine_ops")),
  };
}

/** `(payload ->> 'a'::text)` or `(payload #>> '{a,b}'::text[])` as a dotted path. */
function payloadPath(expression: string): readonly string[] {
  const [, key, keys] = /^\(?payload\s*(?:->>?\s*'([^']+)'::text|#>>?\s*'\{([^}']+)\}'::text\[\])\)?$/.exec(expression) ?? [];
  return key !== undefined ? [key] : keys !== undefined ? [keys.split(",").join(".")] : [];
}
