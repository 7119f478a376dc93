/**
 * The statements of this adapter. Pure; `queries.ts` keeps one for each shape of a read.
 */
import { BackendError } from "../../abi/errors.js";
import { place } from "../hole.js";
import type { FetchShape, SearchShape } from "../prepared.js";
import type { Shape } from "../shape.js";
import { compileFilter, jsonColumn, type PgParam } from "./filter.js";
import { PAYLOAD, quoted, type Table } from "./table.js";

export interface Statement {
  readonly sql: string;
  readonly params: readonly (PgParam | Float32Array)[];
}

/**
 * The nearest records by cosine distance, best first, equal ones by id. `exact` writes the distance so that no
 * approximate index can answer it.
 */
export function searchSql({ vector, filter, limit, fields }: SearchShape, table: Table, exact: boolean): Statement {
  if (table.vector === null) throw new BackendError("unsupported", "pgvector", "the table has no vector column to search; see vector_column of the connection");
  if (vector === null) throw new BackendError("unsupported", "pgvector", "pgvector does not support a search without a vector");
  const { column, type, operator } = table.vector;
  const where = whereSql(filter, table, 2);
  const distance = `${quoted(column)} ${operator} $1::${type}`;
  const params = [place(vector), ...where.params];
  return {
    sql: lines(
      `SELECT ${[...columnsSql(table, fields), `${exact ? `(${distance}) + 0` : distance} AS "distance"`].join(", ")}`,
      `FROM ${table.name}`,
      `WHERE ${quoted(column)} IS NOT NULL${where.sql === null ? "" : ` AND (${where.sql})`}`,
      `ORDER BY "distance", ${idOrder(table)} LIMIT $${params.length + 1}`,
    ),
    params: [...params, place(limit)],
  };
}

/** The matching records in id order. */
export function fetchSql({ filter, limit, offset, fields }: Omit<FetchShape, "collection">, table: Table): Statement {
  const where = whereSql(filter, table, 1);
  const next = where.params.length + 1;
  return {
    sql: lines(
      `SELECT ${columnsSql(table, fields).join(", ")}`,
      `FROM ${table.name}`,
      where.sql !== null && `WHERE ${where.sql}`,
      `ORDER BY ${idOrder(table)} LIMIT $${next} OFFSET $${next + 1}`,
    ),
    params: [...where.params, place(limit), place(offset)],
  };
}

/** The matching records in id order with their vectors as texts, for a copy. */
export function pageSql(request: Omit<FetchShape, "collection" | "fields">, table: Table): Statement {
  const { sql, params } = fetchSql({ ...request, fields: null }, table);
  return table.vector === null ? { sql, params } : { sql: sql.replace("SELECT ", () => `SELECT ${quoted(table.vector?.column ?? "")}::text AS "vector", `), params };
}

/** How many records match. */
export function countSql(filter: Shape | null, table: Table): Statement {
  const where = whereSql(filter, table, 1);
  return { sql: lines(`SELECT count(*) AS "n" FROM ${table.name}`, where.sql !== null && `WHERE ${where.sql}`), params: where.params };
}

function whereSql(filter: Shape | null, table: Table, first: number): { readonly sql: string | null; readonly params: readonly PgParam[] } {
  const compiled = filter === null ? "all" : compileFilter(filter, { ...table, first });
  if (compiled === "all") return { sql: null, params: [] };
  return compiled === "none" ? { sql: "false", params: [] } : compiled;
}

/** Texts by code point, as every store orders ids, whatever the database's locale. */
function idOrder({ idColumn, idKind }: Table): string {
  return `${quoted(idColumn)}${idKind === "text" ? ` COLLATE "C"` : ""}`;
}

/** The id, the payload, and the columns that are asked for, each as JSON. Vectors are read for copies alone. */
function columnsSql(table: Table, fields: readonly string[] | null): readonly string[] {
  const columns = shownColumns(table, fields).map((name, index) => `${jsonColumn(name, table.columns.get(name) ?? "json")} AS "c${index}"`);
  const payload = table.others === "payload" && (fields === null || fields.some((field) => !table.columns.has(field)));
  return [`${quoted(table.idColumn)}::text AS "_id"`, ...(payload ? [PAYLOAD] : []), ...columns];
}

/** Columns of a result, `c0` onwards. */
export function shownColumns({ columns }: Table, fields: readonly string[] | null): readonly string[] {
  return [...columns.keys()].filter((name) => fields === null || fields.includes(name));
}

function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join("\n");
}
