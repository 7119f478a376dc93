/** The collections of a file; read again when another process has changed the file's tables. */
import { BackendError } from "../../abi/errors.js";
import type { CollectionInfo, FieldInfo } from "../adapter.js";
import type { Statements } from "./database.js";
import { COLLECTIONS_TABLE, columnName, escapeName, instantPath, isRecordPath, pathOfColumn, tableName } from "./layout.js";

/** A collection as searches need it. */
export interface Collection {
  readonly name: string;
  /** `provider/model` of its vectors. */
  readonly embeddedBy: string;
  readonly dims: number;
  readonly paths: ReadonlySet<string>;
}

export class Collections {
  readonly #statements: Statements;
  readonly #known = new Map<string, Collection>();
  #schemaVersion: unknown = null;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Names, sorted. */
  names(): readonly string[] {
    return this.#statements.get(`SELECT "name" FROM ${COLLECTIONS_TABLE} ORDER BY "name"`).pluck().all() as string[];
  }

  /** @throws BackendError not_found; its cause names the collections there are, which a caller must not learn. */
  get(name: string): Collection {
    const found = this.find(name);
    if (found !== null) return found;
    const others = this.names().slice(0, 10).map((one) => `'${one}'`).join(", ");
    throw new BackendError("not_found", "sqlite", `there is no collection '${name.slice(0, 128)}'; fill it with toolsrv load`, { cause: new Error(`the database has ${others || "no collections"}`) });
  }

  find(name: string): Collection | null {
    const version = this.#statements.get("PRAGMA schema_version").pluck().get();
    if (version !== this.#schemaVersion) {
      this.#known.clear();
      this.#schemaVersion = version;
    }
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const row = this.#statements.get(`SELECT "embedded_by" AS embeddedBy, "dims" FROM ${COLLECTIONS_TABLE} WHERE "name" = ?`).get(name) as { embeddedBy: string; dims: number } | undefined;
    if (row === undefined) return null;
    const collection: Collection = { name, ...row, paths: this.#paths(name) };
    this.#known.set(name, collection);
    return collection;
  }

  #paths(name: string): ReadonlySet<string> {
    const columns = this.#statements.get("SELECT name FROM pragma_table_info(?)").pluck().all(escapeName(name, "fields")) as string[];
    return new Set(columns.filter((column) => !column.startsWith("@")).map(pathOfColumn));
  }

  /** Typed description: what share of the values has which type, over all records. */
  describe(collection: Collection): CollectionInfo {
    const paths = [...collection.paths].filter(isRecordPath).sort();
    const table = tableName(collection.name, "fields");
    const count = this.#statements.get(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    const indexed = this.#indexed(collection.name);
    const fields = paths.map((path): FieldInfo => {
      const counts = this.#statements.get(countTypesSql(table, path, collection.paths.has(instantPath(path)))).get() as TypeCounts;
      return { path, dtype: dtypeOf(counts), nullable: counts.present < count, indexed: indexed.has(path) };
    });
    return { name: collection.name, dims: collection.dims, count, sparse: true, embeddedBy: collection.embeddedBy, fields };
  }

  #indexed(name: string): ReadonlySet<string> {
    const sql = `SELECT i.name FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i WHERE l.origin = 'c' AND i.seqno = 0`;
    return new Set((this.#statements.get(sql).pluck().all(escapeName(name, "fields")) as string[]).map(pathOfColumn));
  }
}

interface TypeCounts {
  readonly present: number;
  readonly texts: number;
  readonly dates: number;
  readonly integers: number;
  readonly numbers: number;
  readonly booleans: number;
  readonly lists: number;
}

function countTypesSql(table: string, path: string, hasInstants: boolean): string {
  const column = columnName(path);
  const blob = (start: string): string => `typeof(${column}) = 'blob' AND CAST(${column} AS TEXT) ${start}`;
  return `SELECT
    count(CASE WHEN NOT (${blob("= 'null'")}) THEN ${column} END) AS present,
    total(typeof(${column}) = 'text') AS texts,
    ${hasInstants ? `count(CASE WHEN typeof(${column}) = 'text' THEN ${columnName(instantPath(path))} END)` : "0"} AS dates,
    total(typeof(${column}) IN ('integer', 'real') AND ${column} = CAST(${column} AS INTEGER)) AS integers,
    total(typeof(${column}) IN ('integer', 'real')) AS numbers,
    total(${blob("IN ('true', 'false')")}) AS booleans,
    total(${blob("LIKE '[%'")}) AS lists
  FROM ${table}`;
}

/** Share of the values that must agree before a path has their type. */
const AGREED = 0.99;
/** Share of the texts that must be dates before they count as dates. */
const DATES = 0.95;

function dtypeOf({ present, texts, dates, integers, numbers, booleans, lists }: TypeCounts): FieldInfo["dtype"] {
  const most = (n: number): boolean => present > 0 && n / present >= AGREED;
  if (most(texts)) return dates / texts >= DATES ? "datetime" : "keyword";
  if (most(integers)) return "integer";
  if (most(numbers)) return "float";
  if (most(booleans)) return "boolean";
  return most(lists) ? "keyword[]" : "unknown";
}
