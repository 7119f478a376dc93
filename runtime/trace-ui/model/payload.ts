/** A payload as rows of an outline: only what is unfolded becomes rows, so that a large payload costs what is seen of it. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

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

/** Rows of everything unfolded. `opened` holds paths that differ from the default, which opens the first levels. */
export function jsonRows(value: Json, toggled: ReadonlySet<string>, wide: ReadonlySet<string>): readonly (JsonRow | JsonMore)[] {
  const rows: (JsonRow | JsonMore)[] = [];
  const waiting: (Omit<JsonRow, "open" | "size"> | JsonMore)[] = [{ path: "", depth: 0, key: null, value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if ("more" in next) {
      rows.push(next);
      continue;
    }
    const entries = entriesOf(next.value);
    const open = entries !== null && entries.length > 0 && isOpen(next.path, next.depth, entries.length, toggled);
    rows.push({ ...next, size: entries?.length ?? null, open });
    if (!open || entries === null) continue;
    const shown = wide.has(next.path) ? entries.length : Math.min(entries.length, LEVEL_LIMIT);
    if (shown < entries.length) waiting.push({ more: entries.length - shown, path: next.path, depth: next.depth + 1 });
    for (let index = shown - 1; index >= 0; index--) {
      const entry = entries[index];
      if (entry !== undefined) waiting.push({ path: `${next.path}\u0000${entry[0]}`, depth: next.depth + 1, key: entry[0], value: entry[1] });
    }
  }
  return rows;
}

/** A row that stands for entries not shown yet. */
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
