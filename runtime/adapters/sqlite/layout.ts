/**
 * How records are stored in the database file; shared by the reader (this adapter) and the writer (`toolsrv load`).
 * A collection is five tables, joined by "@row":
 *   NAME/fields   one column a filterable path, typed values: what filters read
 *   NAME/vectors  the embedding of each record
 *   NAME/codes    the same in a quarter of the bytes, in blocks of 1,024 rows (codes.ts); only large collections have any
 *   NAME/text     a full-text index of the records' words, without the texts
 *   NAME/records  the record as JSON, read only for rows that are returned
 * Names are quoted everywhere; SQLite compares them without case, so capitals are escaped.
 */
import { isIdPath } from "../../abi/filter.js";
import { instantKey } from "../../base/instant.js";
import { isRecord } from "../../base/paths.js";
import { isPlain, wordsOf } from "../../base/text.js";

/** Of what is written. It changes when an earlier toolsrv could no longer read a file, or would damage it by writing. */
export const FORMAT = 3;

/** What is read. Format 2 has no codes: its searches compare full vectors, until the next load makes them. */
export const FORMATS: readonly unknown[] = [2, FORMAT];

/** Number of the block that has the stamp of a collection's codes instead of codes. */
export const STAMP_BLOCK = -1;

/** Tables that describe the file: who embedded which collection, and how. */
export const COLLECTIONS_TABLE = `"@collections"`;

/** The space of each collection's vectors; files of earlier versions have no such table. */
export const SPACES_TABLE = `"@spaces"`;

/** Longest path a filter can name. */
const MAX_SEGMENTS = 3;
const SEGMENT = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const PARTS = ["fields", "vectors", "codes", "text", "records"] as const;
export type Part = (typeof PARTS)[number];

/** A table of a collection, quoted: `"movies/fields"`. */
export function tableName(collection: string, part: Part): string {
  return quoteName(escapeName(collection, part));
}

/** A table of a collection as SQLite's own tables name it, without quotes. */
export function escapeName(collection: string, part: Part): string {
  return `${escapeCase(collection)}/${part}`;
}

/** The column of a path, quoted: `"profile.region"`. */
export function columnName(path: string): string {
  return quoteName(escapeCase(path));
}

/** A column's name back to its path. */
export function pathOfColumn(column: string): string {
  return column.replace(/\^(.)/gs, (_, char: string) => char.toUpperCase());
}

/** `^` marks a capital, because SQLite's names ignore case where JSON's keys don't. */
export function escapeCase(name: string): string {
  return name.replace(/[A-Z^]/g, (char) => `^${char.toLowerCase()}`);
}

/** A name of SQLite's, quoted. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Whether a path can be a column: one to three plain names. */
export function isColumnPath(path: string): boolean {
  const segments = path.split(".");
  return segments.length <= MAX_SEGMENTS && segments.every((segment) => SEGMENT.test(segment));
}

/** Whether a collection may have this name. */
export function isCollectionName(name: string): boolean {
  return /^[^\0]{1,128}$/su.test(name) && !/^sqlite_/i.test(name) && !name.startsWith("@");
}

/** A value as it is stored in a column. Types that SQLite lacks are blobs, so that no comparison confuses them with text. */
export type ColumnValue = number | string | Buffer;

/** The column with the lists of a path, as JSON; a collection without lists has no such column, and no condition reads it. */
export function listPath(path: string): string {
  return `${path}[]`;
}

/**
 * The column with a path's instants as keys that sort; a collection without instants has none. Lists of instants are
 * in its own list column.
 */
export function instantPath(path: string): string {
  return `${path}@`;
}

/** Stands among a collection's paths for the index of a path's lists (indexes.ts); it is no column. */
export function listIndexPath(path: string): string {
  return `${path}[=]`;
}

export function isListIndexPath(path: string): boolean {
  return path.endsWith("[=]");
}

/** Whether a column's path is one that records have, and not one made for lists or instants. */
export function isRecordPath(path: string): boolean {
  return !path.endsWith("]") && !path.endsWith("@");
}

/** Whether a column's path is that of lists. */
export function isListPath(path: string): boolean {
  return path.endsWith("[]");
}

/**
 * The columns of a record: every path of up to three plain names. Of lists and objects the column of their path says
 * that they are there; the record id, lists and instants have columns of their own.
 */
export function columnsOf(record: { readonly [key: string]: unknown }): ReadonlyMap<string, ColumnValue> {
  const columns = new Map<string, ColumnValue>();
  const walk = (value: { readonly [key: string]: unknown }, prefix: string, depth: number): void => {
    for (const [key, item] of Object.entries(value)) {
      const path = prefix + key;
      if (!SEGMENT.test(key) || isIdPath(path)) continue;
      columns.set(path, columnValue(item));
      if (Array.isArray(item)) columns.set(listPath(path), JSON.stringify(item));
      setInstants(columns, instantPath(path), item);
      if (isRecord(item) && depth < MAX_SEGMENTS) walk(item, `${path}.`, depth + 1);
    }
  };
  walk(record, "", 1);
  return columns;
}

function setInstants(columns: Map<string, ColumnValue>, path: string, value: unknown): void {
  if (typeof value === "string") {
    const key = instantKey(value);
    if (key !== null) columns.set(path, key);
  } else if (Array.isArray(value)) {
    const keys = value.flatMap((item: unknown) => (typeof item === "string" ? instantKey(item) ?? [] : []));
    if (keys.length === 0) return;
    columns.set(path, columnValue(keys));
    columns.set(listPath(path), JSON.stringify(keys));
  }
}

function columnValue(value: unknown): ColumnValue {
  if (typeof value === "string" || typeof value === "number") return value;
  return Buffer.from(Array.isArray(value) ? "[]" : isRecord(value) ? "{}" : JSON.stringify(value));
}

/** The column values of `true`, `false` and `null`; those of lists and objects only have to differ from these. */
export const TRUE = "CAST('true' AS BLOB)";
export const FALSE = "CAST('false' AS BLOB)";
export const NULL = "CAST('null' AS BLOB)";

/**
 * The words of a text as they are stored in the full-text index: folded and in ASCII, so that SQLite's own table of letters,
 * which is of an older Unicode, never splits or drops one.
 */
export function indexWords(text: string): readonly string[] {
  const words = wordsOf(text);
  return isPlain(text) ? words : words.map(encodeWord);
}

/** Words of a query for the index; each is one token. */
export function encodeWord(word: string): string {
  return /^[a-z0-9]+$/.test(word) ? word : Array.from(word, (char) => (/[a-z0-9]/.test(char) ? char : `x${char.codePointAt(0)?.toString(16)}x`)).join("");
}
