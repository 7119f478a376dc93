/** Fields of a collection as a sample of its rows shows them, for stores that keep no types of their own. Pure. */
import { instantKey } from "../base/instant.js";
import { isRecord } from "../base/paths.js";
import type { Row } from "../abi/filter.js";
import type { FieldInfo } from "./adapter.js";

const MAX_SEGMENTS = 3;
/** Share of the values that must agree before a path has their type. */
const AGREED = 0.99;
/** Share of the texts that must be dates before they count as dates. */
const DATES = 0.95;

/**
 * One entry a path, sorted; record ids and scores are no fields.
 * @param also Paths that exist although no row of the sample may have them.
 */
export function inferFields(rows: readonly Row[], isIndexed: (path: string) => boolean, also: Iterable<string> = []): readonly FieldInfo[] {
  return [...valuesByPath(rows, also)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, found]): FieldInfo => {
    const present = found.filter((value) => value !== null && value !== undefined);
    return { path, dtype: dtypeOf(present), nullable: present.length < rows.length, indexed: isIndexed(path), sampled: true };
  });
}

/** The values of each path of up to three segments, null ones too; of `also` even when no row has it. */
export function valuesByPath(rows: readonly Row[], also: Iterable<string> = []): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>([...also].map((path) => [path, []]));
  const walk = (record: Row, prefix: string, depth: number): void => {
    for (const [key, value] of Object.entries(record)) {
      if (depth === 1 && (key === "_id" || key === "_score")) continue;
      const path = prefix + key;
      const known = values.get(path);
      if (known === undefined) values.set(path, [value]);
      else known.push(value);
      if (isRecord(value) && depth < MAX_SEGMENTS) walk(value, `${path}.`, depth + 1);
    }
  };
  for (const row of rows) walk(row, "", 1);
  return values;
}

/** The type that nearly all values have; `values` without null. */
export function dtypeOf(values: readonly unknown[]): FieldInfo["dtype"] {
  const most = (test: (value: unknown) => boolean): boolean => values.length > 0 && values.filter(test).length / values.length >= AGREED;
  if (most((value) => typeof value === "string")) {
    const texts = values.filter((value) => typeof value === "string");
    return texts.filter((text) => instantKey(text) !== null).length / texts.length >= DATES ? "datetime" : "keyword";
  }
  if (most(Number.isInteger)) return "integer";
  if (most((value) => typeof value === "number")) return "float";
  if (most((value) => typeof value === "boolean")) return "boolean";
  return most(Array.isArray) ? "keyword[]" : "unknown";
}
