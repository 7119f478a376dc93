/** The collections of a file; read again when another process has changed the file's tables. */
import { BackendError } from "../../abi/errors.js";
import type { CollectionInfo, FieldInfo } from "../adapter.js";
import { PreparedReads } from "../prepared.js";
import type { Statements } from "./database.js";
import { type FoundIndex, readIndexes } from "./indexes.js";
import { COLLECTIONS_TABLE, columnName, escapeName, instantPath, isListIndexPath, isListPath, isRecordPath, listIndexPath, pathOfColumn, SPACES_TABLE, tableName } from "./layout.js";

/** A collection as searches need it. */
export interface Collection {
  readonly name: string;
  /** `provider/model` of its vectors. */
  readonly embeddedBy: string;
  readonly dims: number;
  readonly paths: ReadonlySet<string>;
  /** What was compiled for its columns. */
  readonly reads: PreparedReads;
  /** Whether the file has a table for codes of its vectors; it may be empty. */
  readonly hasCodes: boolean;
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
    const collection: Collection = { name, ...row, paths: this.#paths(name), reads: new PreparedReads(), hasCodes: this.#hasTable(escapeName(name, "codes")) };
    this.#known.set(name, collection);
    return collection;
  }

  /** As it was read last, without a look at the file; `null` for one that nobody has read. */
  readBefore(name: string): Collection | null {
    return this.#known.get(name) ?? null;
  }

  #space(name: string): { readonly space?: string } {
    if (!this.#hasTable(SPACES_TABLE.slice(1, -1))) return {};
    const space = this.#statements.get(`SELECT "space" FROM ${SPACES_TABLE} WHERE "name" = ?`).pluck().get(name) as string | undefined;
    return space === undefined ? {} : { space };
  }

  #hasTable(name: string): boolean {
    return this.#statements.get("SELECT count(*) FROM sqlite_schema WHERE name = ?").pluck().get(name) !== 0;
  }

  #paths(name: string): ReadonlySet<string> {
    const columns = this.#statements.get("SELECT name FROM pragma_table_info(?)").pluck().all(escapeName(name, "fields")) as string[];
    const lists = this.#indexes(name).flatMap(({ spec: [path = ""], isCurrent }) => (isCurrent && isListPath(path) ? [listIndexPath(path.slice(0, -2))] : []));
    return new Set([...columns.filter((column) => !column.startsWith("@")).map(pathOfColumn), ...lists]);
  }

  /** Typed description: what share of the values has which type, over all records. */
  describe(collection: Collection): CollectionInfo {
    const paths = [...collection.paths].filter(isRecordPath).sort();
    const table = tableName(collection.name, "fields");
    const count = this.#statements.get(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    const indexes = this.#indexes(collection.name).filter(({ isCurrent }) => isCurrent).map(({ spec }) => spec);
    const indexed = new Set(indexes.flat().map((path) => path.replace(/(\[\]|@)+$/, "")));
    const counts = this.#countTypes(table, paths, collection.paths);
    const fields = paths.map((path, index): FieldInfo => {
      const own = counts[index] as TypeCounts;
      return { path, dtype: dtypeOf(own), nullable: own.present < count, indexed: indexed.has(path) };
    });
    return { name: collection.name, dims: collection.dims, count, sparse: true, embeddedBy: collection.embeddedBy, ...this.#space(collection.name), fields, indexing: { columns: [...collection.paths].filter((path) => !isListIndexPath(path)).sort(), indexes } };
  }

  /** What sorts of values each path has, in one pass over the table for all of them: a pass a path would cost more than everything else. */
  #countTypes(table: string, paths: readonly string[], known: ReadonlySet<string>): readonly TypeCounts[] {
    const counts = paths.map(() => new Array<number>(SORTS).fill(0));
    for (let from = 0; from < paths.length; from += PATHS_A_PASS) {
      const group = paths.slice(from, from + PATHS_A_PASS);
      const statement = this.#statements.once(`SELECT ${group.map((path) => sortSql(path, known.has(instantPath(path)))).join(",")} FROM ${table}`).raw();
      for (const row of statement.iterate() as IterableIterator<readonly number[]>) {
        for (let index = 0; index < row.length; index++) {
          const own = counts[from + index] as number[];
          const sort = row[index] as number;
          own[sort] = (own[sort] as number) + 1;
        }
      }
    }
    return counts.map(([, texts = 0, dates = 0, integers = 0, decimals = 0, booleans = 0, lists = 0, others = 0]) => ({
      present: texts + dates + integers + decimals + booleans + lists + others,
      texts: texts + dates, dates, integers, numbers: integers + decimals, booleans, lists,
    }));
  }

  #indexes(name: string): readonly FoundIndex[] {
    return readIndexes((sql, params) => this.#statements.once(sql).all(...params), name);
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

/** Sorts of values: absent or null, text, text that is a point in time, whole number, other number, boolean, list, anything else. */
const SORTS = 8;
/** SQLite allows 2,000 columns. */
const PATHS_A_PASS = 1_000;

/** The sort of a path's value, as a number. */
function sortSql(path: string, hasInstants: boolean): string {
  const column = columnName(path);
  const text = hasInstants ? `CASE WHEN ${columnName(instantPath(path))} IS NULL THEN 1 ELSE 2 END` : "1";
  return `CASE typeof(${column}) WHEN 'null' THEN 0 WHEN 'text' THEN ${text} WHEN 'integer' THEN 3
    WHEN 'real' THEN CASE WHEN ${column} = CAST(${column} AS INTEGER) THEN 3 ELSE 4 END
    ELSE CASE CAST(${column} AS TEXT) WHEN 'null' THEN 0 WHEN 'true' THEN 5 WHEN 'false' THEN 5 WHEN '[]' THEN 6 ELSE 7 END END`;
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
