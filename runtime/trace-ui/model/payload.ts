/** A payload as rows of an outline: only what is unfolded becomes rows, so that a large payload costs what is seen of it. */

import { type Json, parsed } from "../../trace/messages/message.js";

export type { Json };

export interface JsonRow {
  /** Unique in the tree: keys joined by U+0000. */
  readonly path: string;
  readonly depth: number;
  /** `null` for the top. */
  readonly key: string | null;
  readonly value: Json;
  /** Entries, when it can be unfolded. */
  readonly size: number | null;
  readonly open: boolean;
}

/** Entries of one level that are shown before asking for more. */
export const LEVEL_LIMIT = 200;
/** Characters of a text that are shown before asking for more. */
export const TEXT_LIMIT = 2000;

export interface RowOptions {
  /** Paths that differ from the default, which opens the first levels. */
  readonly toggled: ReadonlySet<string>;
  /** Paths whose entries are all shown. */
  readonly wide: ReadonlySet<string>;
  /** Only these paths are shown, and all of them open; what a search found and what leads there. */
  readonly only?: ReadonlySet<string> | null;
}

/** Rows of everything unfolded. */
export function jsonRows(value: Json, { toggled, wide, only = null }: RowOptions): readonly (JsonRow | JsonMore)[] {
  const rows: (JsonRow | JsonMore)[] = [];
  const waiting: (Omit<JsonRow, "open" | "size"> | JsonMore)[] = [{ path: "", depth: 0, key: null, value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if ("more" in next) {
      rows.push(next);
      continue;
    }
    const entries = entriesOf(next.value);
    const open = entries !== null && entries.length > 0 && (only !== null ? leadsOn(next.path, only) : isOpen(next.path, next.depth, entries.length, toggled));
    if (only !== null && next.depth > 0 && !only.has(next.path)) continue;
    rows.push({ ...next, size: entries?.length ?? null, open });
    if (!open || entries === null) continue;
    const shown = wide.has(next.path) || only !== null ? entries.length : Math.min(entries.length, LEVEL_LIMIT);
    if (shown < entries.length) waiting.push({ more: entries.length - shown, path: next.path, depth: next.depth + 1 });
    for (let index = shown - 1; index >= 0; index--) {
      const entry = entries[index];
      if (entry !== undefined) waiting.push({ path: `${next.path}\u0000${entry[0]}`, depth: next.depth + 1, key: entry[0], value: entry[1] });
    }
  }
  return rows;
}

/** Whether something below the path was found too. */
function leadsOn(path: string, only: ReadonlySet<string>): boolean {
  return path === "" || only.has(`${path}${BELOW}`);
}

/** Marks a path below which something was found. */
const BELOW = "\u0000\u0000";
const MAX_SEARCHED = 200_000;
const MAX_FOUND = 500;

/** Paths whose key or text contains a lower-case text, and those that lead there; the number found, up to a bound. */
export function searchJson(value: Json, needle: string): { readonly paths: ReadonlySet<string>; readonly found: number } {
  const paths = new Set<string>();
  let found = 0;
  let searched = 0;
  const waiting: { readonly path: string; readonly key: string; readonly value: Json }[] = [{ path: "", key: "", value }];
  for (let next = waiting.pop(); next !== undefined && searched < MAX_SEARCHED && found < MAX_FOUND; next = waiting.pop()) {
    searched += 1;
    const entries = entriesOf(next.value);
    const hit = next.key.toLowerCase().includes(needle) || (entries === null && String(next.value).toLowerCase().includes(needle));
    if (hit && next.path !== "") {
      found += 1;
      paths.add(next.path);
      for (let at = next.path.lastIndexOf("\u0000"); at > 0; at = next.path.lastIndexOf("\u0000", at - 1)) {
        const above = next.path.slice(0, at);
        paths.add(above);
        paths.add(`${above}${BELOW}`);
      }
    }
    for (const [key, inner] of entries ?? []) waiting.push({ path: `${next.path}\u0000${key}`, key, value: inner });
  }
  return { paths, found };
}

const MAX_TEXTS = 2000;
const MAX_TEXT_DEPTH = 60;

/** The value with JSON texts inside it as what they say, and the paths where a text was. */
export function withParsedTexts(value: Json): { readonly value: Json; readonly texts: ReadonlySet<string> } {
  const texts = new Set<string>();
  const convert = (given: Json, path: string, depth: number): Json => {
    let inner = given;
    if (typeof given === "string" && texts.size < MAX_TEXTS) {
      inner = parsed(given);
      if (typeof inner === "object" && inner !== null) texts.add(path);
      else inner = given;
    }
    if (depth > MAX_TEXT_DEPTH || typeof inner !== "object" || inner === null) return inner;
    if (isList(inner)) return inner.map((item, index) => convert(item, `${path}\u0000${index}`, depth + 1));
    // Not by assignment: a payload may name a key __proto__.
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, convert(item, `${path}\u0000${key}`, depth + 1)]));
  };
  return { value: convert(value, "", 0), texts };
}

/** A row in the place of entries that are not shown yet. */
export interface JsonMore {
  readonly more: number;
  readonly path: string;
  readonly depth: number;
}

/** The first three levels are open, but for long ones. */
function isOpen(path: string, depth: number, size: number, toggled: ReadonlySet<string>): boolean {
  const byDefault = depth < 1 || (depth < 4 && size <= 20);
  return toggled.has(path) ? !byDefault : byDefault;
}

/** `null` for what has no entries. Own keys only: a payload may name anything. */
export function entriesOf(value: Json): readonly (readonly [string, Json])[] | null {
  if (typeof value !== "object" || value === null) return null;
  return isList(value) ? value.map((item, index) => [String(index), item] as const) : Object.entries(value);
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** What a folded value holds: `{3}`, `[12]`. */
export function foldedText(value: Json): string {
  const entries = entriesOf(value);
  if (entries === null) return "";
  return isList(value) ? `[${entries.length}]` : `{${entries.length}}`;
}

/** The value as text to copy: texts bare, all else as JSON. */
export function copyText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
