/** What changed between two schemas of a connection. Pure; what it means for tools is affected.ts. */
import { compareText } from "../../runtime/abi/filter.js";
import type { SchemaCollection, SchemaExport, SchemaField } from "./export.js";

interface FieldChange {
  readonly collection: string;
  readonly path: string;
}

/** A change of the vectors of a collection. */
export interface VectorChange {
  readonly collection: string;
  readonly what: "dim" | "embedded_by" | "sparse";
  readonly before: string | number | boolean | null;
  readonly after: string | number | boolean | null;
}

/** Lists sorted by collection and path; empty means no change of that sort. */
export interface SchemaChanges {
  readonly added: readonly (FieldChange & { readonly dtype: string })[];
  readonly removed: readonly (FieldChange & { readonly dtype: string })[];
  readonly type_changed: readonly (FieldChange & { readonly before: string; readonly after: string })[];
  readonly index_lost: readonly FieldChange[];
  readonly vector_changed: readonly VectorChange[];
  readonly collections_added: readonly string[];
  readonly collections_removed: readonly string[];
}

/** Compares by collection and path. Collections that a partial export did not ask for are left out. */
export function compareSchemas(before: SchemaExport, after: SchemaExport): SchemaChanges {
  const [old, next] = [byName(before.collections), byName(after.collections)];
  const names = [...new Set([...old.keys(), ...(before.partial === true ? [] : next.keys())])].sort(compareText);
  const pairs = names.map((name) => ({ name, old: fieldsOf(old.get(name)), next: fieldsOf(next.get(name)) }));
  const inBoth = pairs.flatMap(({ name, old: left, next: right }) => [...left].flatMap(([path, field]) => {
    const now = right.get(path);
    return now === undefined ? [] : [{ at: { collection: name, path }, field, now }];
  }));
  return {
    added: pairs.flatMap(({ name, old: left, next: right }) => missingIn(left, right, name)),
    removed: pairs.flatMap(({ name, old: left, next: right }) => missingIn(right, left, name)),
    type_changed: inBoth.filter(({ field, now }) => field.dtype !== now.dtype).map(({ at, field, now }) => ({ ...at, before: field.dtype, after: now.dtype })),
    index_lost: inBoth.filter(({ field, now }) => field.indexed && !now.indexed).map(({ at }) => at),
    vector_changed: names.flatMap((name) => vectorChanges(name, old.get(name), next.get(name))),
    collections_added: names.filter((name) => !old.has(name)),
    collections_removed: names.filter((name) => !next.has(name)),
  };
}

/** Whether anything changed at all. */
export function hasDrift(changes: SchemaChanges): boolean {
  return Object.values(changes).some((list: readonly unknown[]) => list.length > 0);
}

function byName(collections: readonly SchemaCollection[]): ReadonlyMap<string, SchemaCollection> {
  return new Map(collections.map((collection) => [collection.name, collection]));
}

function fieldsOf(collection: SchemaCollection | undefined): ReadonlyMap<string, SchemaField> {
  return new Map([...(collection?.fields ?? [])].sort((a, b) => compareText(a.path, b.path)).map((field) => [field.path, field]));
}

/** Fields of `right` that `left` lacks. */
function missingIn(left: ReadonlyMap<string, SchemaField>, right: ReadonlyMap<string, SchemaField>, collection: string): readonly (FieldChange & { readonly dtype: string })[] {
  return [...right].filter(([path]) => !left.has(path)).map(([path, { dtype }]) => ({ collection, path, dtype }));
}

/** A value that either side does not know is no change: older exports and some stores keep less. */
function vectorChanges(collection: string, old: SchemaCollection | undefined, next: SchemaCollection | undefined): readonly VectorChange[] {
  if (old === undefined || next === undefined) return [];
  const facts = [
    ["dim", old.vector.dim, next.vector.dim],
    ["embedded_by", old.native?.embedded_by ?? null, next.native?.embedded_by ?? null],
    ["sparse", old.vector.sparse, next.vector.sparse],
  ] as const;
  return facts.filter(([, before, after]) => before !== null && after !== null && before !== after).map(([what, before, after]) => ({ collection, what, before, after }));
}
