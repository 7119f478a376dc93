/** A value of the source as a record of the store: names, types, id, and the text that is embedded. Pure. */
import { isRecord, readPath } from "../../runtime/base/paths.js";
import { INSTANT_FORM } from "../../runtime/base/instant.js";
import { parseDate } from "./dates.js";

export const LOAD_TYPES = ["datetime", "integer", "float", "boolean", "keyword", "keyword[]"] as const;
export type LoadType = (typeof LOAD_TYPES)[number];

export interface ConvertOptions {
  /** Path of the record id; without one the record's number is its id. */
  readonly idPath: string | null;
  /** Paths whose texts are embedded; `null` means every text of the record. */
  readonly textPaths: readonly string[] | null;
  readonly snakeCase: boolean;
  /** Types by path, applied to values that have another one. */
  readonly types: ReadonlyMap<string, LoadType>;
}

export interface LoadRecord {
  readonly id: string;
  readonly record: { readonly [key: string]: unknown };
  readonly text: string;
}

/** Keys that rows use for what is no payload. */
const RESERVED = new Set(["_id", "_score"]);

/** @throws RangeError whose message says what is wrong with the record. */
export function convertRecord(value: unknown, number: number, options: ConvertOptions): LoadRecord {
  if (!isRecord(value)) throw new RangeError(`expected an object, found ${value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`}`);
  const named = options.snakeCase ? snakeKeys(value) : value;
  const typed = applyTypes(named, options.types);
  const id = options.idPath === null ? String(number) : recordId(typed, options.idPath);
  const record = Object.fromEntries(Object.entries(typed).filter(([key]) => !RESERVED.has(key)));
  checkTexts(record);
  return { id, record, text: recordText(record, options) };
}

function recordId(record: unknown, path: string): string {
  const id = readPath(record, path);
  if (typeof id === "number" && Number.isFinite(id)) return String(id);
  if (typeof id !== "string" || id === "") throw new RangeError(id === undefined || id === null ? `no id: '${path}' is missing` : `the id '${path}' must be a text or a number`);
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
    // Keys without any letter keep their name: there is no better one.
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

function applyTypes(record: { readonly [key: string]: unknown }, types: ReadonlyMap<string, LoadType>): { readonly [key: string]: unknown } {
  let typed = record;
  for (const [path, type] of types) typed = changeAt(typed, path.split("."), (value) => toType(value, type, path)) as typeof typed;
  return typed;
}

function changeAt(value: unknown, keys: readonly string[], change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return change(value);
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, name === key ? changeAt(item, rest, change) : item]));
}

function toType(value: unknown, type: LoadType, path: string): unknown {
  if (value === null || value === undefined) return value;
  const converted = convertValue(value, type);
  if (converted === undefined) throw new RangeError(`${path}: ${JSON.stringify(value).slice(0, 60)} is not ${type === "integer" ? "an" : "a"} ${type}${type === "datetime" ? `; write ${INSTANT_FORM}` : ""}`);
  return converted;
}

/** `undefined` where the value can't have the type. */
function convertValue(value: unknown, type: LoadType): unknown {
  switch (type) {
    case "datetime":
      return typeof value === "string" ? parseDate(value) : undefined;
    case "integer":
    case "float": {
      const number = typeof value === "string" && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : value;
      return typeof number === "number" && Number.isFinite(number) && (type === "float" || Number.isInteger(number)) ? number : undefined;
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
function recordText(record: { readonly [key: string]: unknown }, { textPaths, types }: ConvertOptions): string {
  const parts: string[] = [];
  if (textPaths !== null) for (const path of textPaths) collectTexts(readPath(record, path), path, new Map(), parts);
  else for (const [key, value] of Object.entries(record)) collectTexts(value, key, types, parts);
  return parts.join("\n");
}

function collectTexts(value: unknown, path: string, types: ReadonlyMap<string, LoadType>, into: string[]): void {
  if (typeof value === "string") {
    if (value !== "" && types.get(path) !== "datetime") into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collectTexts(item, path, types, into);
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) collectTexts(item, `${path}.${key}`, types, into);
  }
}

/** SQLite ends texts at U+0000 and has no half characters. */
function checkTexts(value: unknown): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw new RangeError("a text holds the character U+0000");
    if (/\p{Surrogate}/u.test(value)) throw new RangeError("a text holds half of a surrogate pair");
  } else if (Array.isArray(value)) {
    for (const item of value) checkTexts(item);
  } else if (isRecord(value)) {
    for (const item of Object.values(value)) checkTexts(item);
  }
}
