/** The part of draft-07 that specs/tds.schema.json uses, and what its nodes say of the type of a value. */

export type JsonType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

/** A node of the schema; only these keywords are understood. */
export interface SchemaNode {
  readonly $schema?: string;
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly patternErrorMessage?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: SchemaNode;
  readonly properties?: { readonly [key: string]: SchemaNode };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly { readonly if: SchemaNode; readonly then: SchemaNode }[];
  readonly if?: SchemaNode;
  readonly then?: SchemaNode;
  readonly definitions?: { readonly [name: string]: SchemaNode };
}

/** The types that a node allows; all where it says nothing. */
export function typesOf(node: SchemaNode): readonly JsonType[] {
  if (node.type !== undefined) return (typeof node.type === "string" ? [node.type] : node.type) as readonly JsonType[];
  const samples = node.const !== undefined ? [node.const] : node.enum;
  return samples === undefined ? ["object", "array", "string", "integer", "number", "boolean", "null"] : [...new Set(samples.map(typeOf))];
}

/** The type of a plain value, in the words of the schema. */
export function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : "object";
}

/** Whether an `if` of the schema holds for a mapping. */
export function matches(when: SchemaNode, value: { readonly [key: string]: unknown }): boolean {
  if ((when.required ?? []).some((key) => value[key] === undefined)) return false;
  return Object.entries(when.properties ?? {}).every(([key, schema]) => value[key] === undefined || (schema.enum ?? []).includes(value[key]));
}

export function isMapping(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
