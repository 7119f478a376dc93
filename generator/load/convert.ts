/** A value of the source as a record of the store: names, types, id, and the text that is embedded. Pure. */
import { isRecord, readPath } from "../../runtime/base/paths.js";
import { INSTANT_FORM } from "../../runtime/base/instant.js";
import { parseDate } from "./dates.js";
import { isCarried } from "./json-numbers.js";

export const LOAD_TYPES = ["datetime", "integer", "float", "boolean", "keyword", "keyword[]"] as const;
export type LoadType = (typeof LOAD_TYPES)[number];

export interface ConvertOptions {
  /** Path of the record id; without one the record's number is its id. */
  readonly idPath: string | null;
  /** Paths whose texts are embedded; `null` means every text of the record. */
  readonly textPaths: readonly string[] | null;
  readonly snakeCase: boolean;
  /** Types by path, as `--types` requires them. */
  readonly types: ReadonlyMap<string, LoadType>;
  /** Types that the catalog's parameters compare paths as; a path of `types` is left to it. */
  readonly declared: ReadonlyMap<string, LoadType>;
}

export interface LoadRecord {
  readonly id: string;
  readonly record: { readonly [key: string]: unknown };
  readonly text: string;
}

/** Keys that rows use for other things than payload. */
const RESERVED = new Set(["_id", "_score"]);

/** @throws RangeError whose message says what is wrong with the record. */
export function convertRecord(value: unknown, number: number, options: ConvertOptions): LoadRecord {
  if (!isRecord(value)) throw new RangeError(`expected an object, found ${value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`}`);
  const named = options.snakeCase ? snakeKeys(value) : value;
  const fitted = applyTypes(named, options.declared, fitType, options.types);
  const typed = applyTypes(fitted, options.types, toType);
  const id = options.idPath === null ? String(number) : recordId(typed, options.idPath);
  const record = withoutReserved(typed);
  checkTexts(record);
  return { id, record, text: recordText(record, options) };
}

function withoutReserved(record: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  for (const key of RESERVED) if (Object.hasOwn(record, key)) return Object.fromEntries(Object.entries(record).filter(([name]) => !RESERVED.has(name)));
  return record;
}

function recordId(record: unknown, path: string): string {
  const id = readPath(record, path);
  if (Number.isSafeInteger(id)) return String(id);
  if (typeof id !== "string" || id === "") throw new RangeError(id === undefined || id === null ? `no id: '${path}' is missing` : `the id '${path}' must be a text or a whole number within ±9007199254740991`);
  if (Buffer.byteLength(id) > 512) throw new RangeError(`the id '${path}' is longer than 512 bytes`);
  return id;
}

/** `US Gross` → `us_gross`, `imdbRating` → `imdb_rating`; nested keys too. */
export function snakeCase(name: string): string {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1_$2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1_$2")
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .toLowerCase();
}

function snakeKeys(value: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  const out = new Map<string, unknown>();
  for (const [key, item] of Object.entries(value)) {
    // Keys without any letter keep their name: no other name is better.
    const name = RESERVED.has(key) ? key : snakeCase(key) || key;
    if (out.has(name)) throw new RangeError(`two keys become '${name}'`);
    out.set(name, mapRecords(item, snakeKeys));
  }
  return Object.fromEntries(out);
}

function mapRecords(value: unknown, change: (record: { readonly [key: string]: unknown }) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapRecords(item, change));
  return isRecord(value) ? change(value) : value;
}

type Change = (value: unknown, type: LoadType, path: string) => unknown;

/** @param except paths that stay as they are */
function applyTypes(record: { readonly [key: string]: unknown }, types: ReadonlyMap<string, LoadType>, change: Change, except?: ReadonlyMap<string, LoadType>): { readonly [key: string]: unknown } {
  let typed = record;
  for (const [path, type] of types) if (except?.has(path) !== true) typed = changeAt(typed, path, 0, change, type) as typeof typed;
  return typed;
}

/** The value with what is at `path` (from the character `from` on) changed; a copy is made only of what changes. */
function changeAt(value: unknown, path: string, from: number, change: Change, type: LoadType): unknown {
  if (from > path.length) return change(value, type, path);
  const dot = path.indexOf(".", from);
  const end = dot < 0 ? path.length : dot;
  const key = path.slice(from, end);
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value;
  const before = value[key];
  const after = changeAt(before, path, end + 1, change, type);
  if (Object.is(before, after)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, name === key ? after : item]));
}

function toType(value: unknown, type: LoadType, path: string): unknown {
  if (value === null || value === undefined) return value;
  const converted = convertValue(value, type);
  if (converted === undefined) throw new RangeError(`${path}: ${JSON.stringify(value).slice(0, 60)} is not ${type === "integer" ? "an" : "a"} ${type}${type === "datetime" ? `; it must be ${INSTANT_FORM}` : ""}`);
  return converted;
}

/**
 * The value as a parameter of `type` compares it. A parameter does not fix what the field is: a number that is no
 * integer stays as it is, a list is compared by its members, and an empty text is no value.
 */
function fitType(value: unknown, type: LoadType, path: string): unknown {
  if (Array.isArray(value)) return value.map((item) => fitType(item, type === "keyword[]" ? "keyword" : type, path));
  if (typeof value === "object" || (typeof value === "string" && type === "keyword")) return value;
  if (typeof value === "number" && (type === "integer" || type === "float")) return value;
  const isNoValue = typeof value === "string" && value.trim() === "" && type !== "keyword[]";
  if (isNoValue) return null;
  // The number of a CSV file is a text, and stays what it is too.
  return (type === "integer" && typeof value === "string" ? convertValue(value, "float") : undefined) ?? toType(value, type, path);
}

/** `undefined` where the value can't have the type. */
function convertValue(value: unknown, type: LoadType): unknown {
  switch (type) {
    case "datetime":
      return typeof value === "string" ? parseDate(value) : undefined;
    case "integer":
    case "float": {
      const number = typeof value === "string" && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : value;
      if (typeof number !== "number" || (typeof value === "string" && !isCarried(value.trim()))) return undefined;
      return type === "float" || Number.isSafeInteger(number) ? number : undefined;
    }
    case "boolean": {
      if (typeof value === "boolean") return value;
      const word = String(value).trim().toLowerCase();
      return ["true", "yes", "1"].includes(word) ? true : ["false", "no", "0"].includes(word) ? false : undefined;
    }
    case "keyword":
      return typeof value === "object" ? undefined : String(value);
    case "keyword[]":
      if (Array.isArray(value)) return value.every((item) => typeof item !== "object") ? value.map(String) : undefined;
      return typeof value === "string" ? value.split(/[,;|]/).map((item) => item.trim()).filter((item) => item !== "") : undefined;
    default:
      return type satisfies never;
  }
}

/** The texts to embed, one a line: those of the named paths, or all, in the record's order. Dates are no text. */
function recordText(record: { readonly [key: string]: unknown }, { textPaths, types: demanded, declared }: ConvertOptions): string {
  const parts: string[] = [];
  const isDate = (path: string): boolean => (demanded.get(path) ?? declared.get(path)) === "datetime";
  if (textPaths !== null) for (const path of textPaths) collectTexts(readPath(record, path), path, neverADate, parts);
  else for (const [key, value] of Object.entries(record)) collectTexts(value, key, isDate, parts);
  return parts.join("\n");
}

/** Whether the record has a text at a path of `--text`. */
export function hasText(record: unknown, path: string): boolean {
  const parts: string[] = [];
  collectTexts(readPath(record, path), path, neverADate, parts);
  return parts.length > 0;
}

/** A path that `--text` names is embedded whatever its type is. */
const neverADate = (): boolean => false;

function collectTexts(value: unknown, path: string, isDate: (path: string) => boolean, into: string[]): void {
  if (typeof value === "string") {
    if (value !== "" && !isDate(path)) into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collectTexts(item, path, isDate, into);
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) collectTexts(item, `${path}.${key}`, isDate, into);
  }
}

/** SQLite ends text at U+0000 and has no lone surrogates. */
function checkTexts(value: unknown): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw new RangeError("a text contains the character U+0000");
    if (/\p{Surrogate}/u.test(value)) throw new RangeError("a text contains half of a surrogate pair");
  } else if (Array.isArray(value)) {
    for (const item of value) checkTexts(item);
  } else if (isRecord(value)) {
    for (const item of Object.values(value)) checkTexts(item);
  }
}
