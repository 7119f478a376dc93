/**
 * The schema of a connection's collections: what `introspect` writes, `discover` proposes from, `drift` compares and
 * describe_collection shows. This room asks a store through its adapter and knows no command; nothing in it branches
 * on a backend.
 */
import { z } from "zod";
import type { FieldInfo } from "../../runtime/adapters/adapter.js";

/** Rows that types are inferred from; fewer in a sample mean that it has all rows of the collection. */
export const SAMPLE_ROWS = 200;

/** A field as a schema export has it; keys in this order. */
export interface SchemaField {
  readonly path: string;
  readonly dtype: FieldInfo["dtype"];
  /** Share of the sampled rows in which it is missing or null, four decimals. */
  readonly null_rate: number;
  /** All values, sorted, of a keyword that has few; null otherwise and where values are left out. */
  readonly enum: readonly string[] | null;
  /** The first three values; empty where values are left out. */
  readonly examples: readonly (string | number | boolean)[];
  /** Whether the store says the type, or a sample of its rows. */
  readonly provenance: "native" | "sample";
  readonly nullable: boolean;
  readonly indexed: boolean;
}

/** What the store itself says of a collection; null from stores that keep no types. */
export interface NativeSchema {
  readonly dim: number | null;
  readonly sparse: boolean;
  /** `provider/model` of the vectors; null where the store does not keep it. */
  readonly embedded_by: string | null;
  /** Types of the indexed paths. */
  readonly indexed_paths: { readonly [path: string]: string };
}

export interface SchemaCollection {
  readonly name: string;
  readonly sampled_n: number;
  readonly introspection: "typed" | "none";
  readonly vector: { readonly sparse: boolean; readonly dim: number | null };
  /** Sorted by path. */
  readonly fields: readonly SchemaField[];
  readonly native: NativeSchema | null;
}

/** The file that `introspect` writes. */
export interface SchemaExport {
  readonly connection: string;
  readonly backend: string;
  /** Whether values were left out. */
  readonly redacted: boolean;
  /** Only some of the collections were asked for; then the others are no drift. */
  readonly partial?: true;
  /** Sorted by name. */
  readonly collections: readonly SchemaCollection[];
}

const DTYPES = ["keyword", "integer", "float", "boolean", "datetime", "keyword[]", "unknown"] as const;

/** Older exports lack the keys with defaults. */
const FIELD = z.object({
  path: z.string().min(1),
  dtype: z.enum(DTYPES),
  null_rate: z.number().default(0),
  enum: z.array(z.string()).nullable().default(null),
  examples: z.array(z.union([z.string(), z.number(), z.boolean()])).default([]),
  provenance: z.enum(["native", "sample"]).default("sample"),
  nullable: z.boolean().default(true),
  indexed: z.boolean().default(false),
});

const NATIVE = z.object({
  dim: z.number().nullable().default(null),
  sparse: z.boolean().default(false),
  embedded_by: z.string().nullable().default(null),
  indexed_paths: z.record(z.string(), z.string()).default({}),
});

const COLLECTION = z.object({
  name: z.string(),
  sampled_n: z.number().default(0),
  introspection: z.enum(["typed", "none"]).default("none"),
  vector: z.object({ sparse: z.boolean().default(false), dim: z.number().nullable().default(null) }).default({ sparse: false, dim: null }),
  fields: z.array(FIELD).default([]),
  native: NATIVE.nullable().default(null).catch(null),
});

const EXPORT = z.object({
  connection: z.string(),
  backend: z.string(),
  redacted: z.boolean().default(false),
  partial: z.literal(true).optional(),
  collections: z.array(COLLECTION),
});

/** An export, or what is wrong with the text; the words name the place. */
export function readExport(text: string): SchemaExport | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `it is not JSON: ${(error as SyntaxError).message}` };
  }
  const read = EXPORT.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return { problem: `${issue === undefined || issue.path.length === 0 ? "the top level" : issue.path.join(".")}: ${issue?.message ?? "not readable"}` };
  }
  const { partial, ...rest } = read.data;
  return duplicateOf(rest.collections.map(({ name }) => name)) ?? { ...rest, ...(partial === undefined ? {} : { partial }) };
}

function duplicateOf(names: readonly string[]): { readonly problem: string } | null {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : { problem: `the collection '${twice}' occurs twice` };
}

/** The bytes of the file: indented by two, no newline at the end. */
export function exportText(schema: SchemaExport): string {
  return JSON.stringify(schema, null, 2);
}
