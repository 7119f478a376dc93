/**
 * The indexes of a collection, as the writer makes them and the reader finds them. Two kinds:
 *   of fields  an index of SQLite over columns of NAME/fields; it ends with the record id, the order of lists
 *   of a list  a table NAME/fields:PATH[] of the values in a path's lists; triggers of NAME/fields keep it complete,
 *              so that it is right whichever version of toolsrv writes the file
 * An index changes the time of a query, never its rows. Pure, save for reading the file's own schema.
 */
import { columnName, escapeCase, escapeName, isListPath, NULL, pathOfColumn, quoteName, tableName, TRUE, FALSE } from "./layout.js";

/** Columns of an index by path, in order; a single path that ends in `[]` is an index of a list. Without the record id. */
export type IndexSpec = readonly string[];

/** What reads the schema: the reader's cached statements, or the writer's connection. */
export type ReadSchema = (sql: string, params: readonly string[]) => unknown[];

/** An index that the file has. */
export interface FoundIndex {
  readonly spec: IndexSpec;
  /** Names of SQLite's own: of the index, or of the table of a list. */
  readonly name: string;
  /** Made as this version makes it. */
  readonly isCurrent: boolean;
}

/** The last column of every index of fields: rows of one value are in the order of lists. */
const ID = "@id";

/** Key of a spec; equal specs have equal keys. */
export function indexKey(spec: IndexSpec): string {
  return spec.join(",");
}

/** The name that a new index has, before it is made unique. */
export function indexName(collection: string, spec: IndexSpec): string {
  return `${escapeName(collection, "fields")}:${[...spec, ID].map(escapeCase).join(",")}`;
}

/** The table with the values of a path's lists, without quotes. */
export function listTable(collection: string, path: string): string {
  return `${escapeName(collection, "fields")}:${escapeCase(path)}`;
}

/** The same, quoted. */
export function listTableName(collection: string, path: string): string {
  return quoteName(listTable(collection, path));
}

/** The indexes of a collection in the order of their keys. */
export function readIndexes(read: ReadSchema, collection: string): readonly FoundIndex[] {
  const fields = escapeName(collection, "fields");
  const rows = read(`SELECT l.name AS "index", i.name AS "column" FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i WHERE l.origin = 'c' ORDER BY l.name, i.seqno`, [fields]) as { index: string; column: string }[];
  const columns = new Map<string, string[]>();
  for (const { index, column } of rows) columns.set(index, [...(columns.get(index) ?? []), pathOfColumn(column)]);
  const ofFields = [...columns].map(([name, paths]): FoundIndex => ({ name, spec: paths.filter((path) => path !== ID), isCurrent: paths.at(-1) === ID }));
  return [...ofFields, ...listsOf(read, collection)].sort((a, b) => (indexKey(a.spec) < indexKey(b.spec) ? -1 : 1));
}

/** A table of a list counts while the triggers that fill it are on the collection. */
function listsOf(read: ReadSchema, collection: string): readonly FoundIndex[] {
  const fields = escapeName(collection, "fields");
  const rows = read(`SELECT type, name FROM sqlite_schema WHERE (type = 'trigger' AND tbl_name = ?) OR (type = 'table' AND substr(name, 1, length(?)) = ?)`, [fields, `${fields}:`, `${fields}:`]) as { type: string; name: string }[];
  const triggers = new Set(rows.filter(({ type }) => type === "trigger").map(({ name }) => name));
  return rows.filter(({ type }) => type === "table").map(({ name }): FoundIndex => ({
    name, spec: [pathOfColumn(name.slice(fields.length + 1))], isCurrent: triggerNames(name).every((trigger) => triggers.has(trigger)),
  }));
}

function triggerNames(table: string): readonly [added: string, removed: string] {
  return [`${table}+`, `${table}-`];
}

/** Statements that make an index under `name`. */
export function createIndexSql(collection: string, spec: IndexSpec, name: string): readonly string[] {
  const [path] = spec;
  if (path !== undefined && isListPath(path)) return createListSql(collection, path);
  return [`CREATE INDEX ${quoteName(name)} ON ${tableName(collection, "fields")}(${[...spec, ID].map(columnName).join(", ")})`];
}

function createListSql(collection: string, path: string): readonly string[] {
  const table = listTableName(collection, path);
  const fields = tableName(collection, "fields");
  const column = columnName(path);
  return [
    `CREATE TABLE ${table}("value" NOT NULL, "@row" INTEGER NOT NULL, PRIMARY KEY ("value", "@row")) WITHOUT ROWID`,
    `INSERT OR IGNORE INTO ${table} SELECT ${listValue("e")} AS "value", f."@row" AS "row" FROM ${fields} f, json_each(f.${column}) e WHERE f.${column} IS NOT NULL AND ${isValue("e")} ORDER BY "value", "row"`,
    ...createTriggersSql(collection, path),
  ];
}

/** The triggers that keep the table of a list complete. */
function createTriggersSql(collection: string, path: string): readonly string[] {
  const [table, column] = [listTableName(collection, path), columnName(path)];
  const [added, removed] = triggerNames(listTable(collection, path)).map(quoteName) as [string, string];
  const values = (row: "NEW" | "OLD"): string => `SELECT ${listValue("e")}, ${row}."@row" FROM json_each(${row}.${column}) e WHERE ${isValue("e")}`;
  const on = (event: "INSERT" | "DELETE", row: "NEW" | "OLD"): string => `AFTER ${event} ON ${tableName(collection, "fields")} WHEN ${row}.${column} IS NOT NULL`;
  return [
    `CREATE TRIGGER ${added} ${on("INSERT", "NEW")} BEGIN INSERT OR IGNORE INTO ${table} ${values("NEW")}; END`,
    `CREATE TRIGGER ${removed} ${on("DELETE", "OLD")} BEGIN DELETE FROM ${table} WHERE ("value", "@row") IN (${values("OLD")}); END`,
  ];
}

/** Statements that remove an index, of whatever version made it. */
export function dropIndexSql({ spec, name }: FoundIndex): readonly string[] {
  const [path] = spec;
  if (path === undefined || !isListPath(path)) return [`DROP INDEX IF EXISTS ${quoteName(name)}`];
  return [...triggerNames(name).map((trigger) => `DROP TRIGGER IF EXISTS ${quoteName(trigger)}`), `DROP TABLE IF EXISTS ${quoteName(name)}`];
}

/** Statements that move the tables of lists with a collection that was renamed; its indexes of fields move by themselves. */
export function renameListSql(from: string, to: string, { spec, name }: FoundIndex): readonly string[] {
  const [path] = spec;
  if (path === undefined || !isListPath(path)) return [];
  return [...triggerNames(name).map((trigger) => `DROP TRIGGER IF EXISTS ${quoteName(trigger)}`), `ALTER TABLE ${listTableName(from, path)} RENAME TO ${listTableName(to, path)}`, ...createTriggersSql(to, path)];
}

/** A member of a list, as columns keep values: types that SQLite lacks are blobs. */
export function listValue(element: string): string {
  return `CASE ${element}.type WHEN 'true' THEN ${TRUE} WHEN 'false' THEN ${FALSE} WHEN 'null' THEN ${NULL} ELSE ${element}.value END`;
}

/** Lists and objects within a list equal nothing. */
function isValue(element: string): string {
  return `${element}.type NOT IN ('array', 'object')`;
}
