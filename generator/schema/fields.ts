/** The fields of a collection: what its store says, with what a sample of its rows adds. Pure. */
import type { CollectionInfo, FieldInfo } from "../../runtime/adapters/adapter.js";
import { dtypeOf, valuesByPath } from "../../runtime/adapters/infer.js";
import { compareText, type Row } from "../../runtime/abi/filter.js";
import type { SchemaField } from "./export.js";

/** Values that a keyword must have before its distinct ones count as all there are. */
const MIN_ENUM_VALUES = 30;
const MAX_ENUM_MEMBERS = 25;
const EXAMPLES = 3;
/** Longer texts are content, not examples of a value. */
const MAX_EXAMPLE_LENGTH = 200;

export interface FieldOptions {
  /** Leave out every value. */
  readonly redacted: boolean;
  /** Paths whose values are left out in any case. */
  readonly secret: ReadonlySet<string>;
}

/** Sorted by path. A store's own type wins over a sampled one, unless the store has none. */
export function fieldsOf({ fields }: CollectionInfo, rows: readonly Row[], options: FieldOptions): readonly SchemaField[] {
  const known = new Map(fields.map((field) => [field.path, field]));
  const values = valuesByPath(rows);
  const sampled = [...values.keys()].filter((path) => known.has(path) || !isPrivate(path));
  return [...new Set([...known.keys(), ...sampled])].sort(compareText).map((path): SchemaField => {
    const own = known.get(path);
    const present = (values.get(path) ?? []).filter((value) => value !== null && value !== undefined);
    const dtype = own === undefined || own.dtype === "unknown" ? dtypeOf(present) : own.dtype;
    const isHidden = options.redacted || isSecret(path, options.secret);
    return {
      path, dtype,
      null_rate: rows.length === 0 ? 0 : Math.round((1 - present.length / rows.length) * 10_000) / 10_000,
      enum: isHidden ? null : enumOf(dtype, present),
      examples: isHidden ? [] : present.filter(isExample).slice(0, EXAMPLES),
      provenance: isSampled(own) ? "sample" : "native",
      nullable: own?.nullable ?? present.length < rows.length,
      indexed: own?.indexed ?? false,
    };
  });
}

/** Segments that start with an underscore are a store's own. */
function isPrivate(path: string): boolean {
  return path.split(".").some((segment) => segment.startsWith("_"));
}

/** A secret path hides what lies below it, too. */
function isSecret(path: string, secret: ReadonlySet<string>): boolean {
  const segments = path.split(".");
  return segments.some((segment, index) => secret.has(segments.slice(0, index + 1).join(".")) || ALWAYS_SECRET.has(segment.toLowerCase()));
}

/** Names that are redacted wherever nothing else is said. */
const ALWAYS_SECRET: ReadonlySet<string> = new Set(["password", "token", "secret"]);

function isSampled(field: FieldInfo | undefined): boolean {
  return field === undefined || field.sampled === true;
}

function isExample(value: unknown): value is string | number | boolean {
  return typeof value === "string" ? value.length <= MAX_EXAMPLE_LENGTH : typeof value === "number" || typeof value === "boolean";
}

function enumOf(dtype: FieldInfo["dtype"], present: readonly unknown[]): readonly string[] | null {
  if (dtype !== "keyword" || present.length < MIN_ENUM_VALUES) return null;
  const members = new Set(present.filter((value) => typeof value === "string"));
  const isShort = [...members].every((member) => member.length <= MAX_EXAMPLE_LENGTH);
  return members.size <= MAX_ENUM_MEMBERS && isShort ? [...members].sort(compareText) : null;
}
