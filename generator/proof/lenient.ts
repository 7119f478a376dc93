/**
 * Lenient spellings of existing catalogs: where the catalog's schema wants a boolean, "yes", "on" and 1 are true; where
 * it wants a number, "400" is one. Only keys that the schema types are read so: the values of filters have no type and
 * stay as written. The compiler's reader decides the same in its own way; where the two differ the proof fails.
 */
import { isRecord } from "../../runtime/base/paths.js";
import { tdsSchema } from "../1-parse/schema.gen.js";

type Node = (typeof tdsSchema)["definitions"][string];

const WORDS: { readonly [word: string]: boolean } = { true: true, yes: true, on: true, "1": true, t: true, y: true, false: false, no: false, off: false, "0": false, f: false, n: false };
const DIGITS = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/;

/** The catalog with every lenient spelling made exact; what fits no type stays as it is. */
export function withExactValues(catalog: unknown): unknown {
  return exact(tdsSchema, catalog);
}

function exact(schema: Node, value: unknown): unknown {
  const node = referred(schema);
  const branch = branchOf(node, value);
  if (branch !== null) return exact(branch, value);
  if (Array.isArray(value)) return node.items === undefined ? value : exactItems(node.items, value);
  return isRecord(value) ? exactMembers(node, value) : scalar(typesOf(node), value);
}

/** The list itself where nothing in it changes: most of a catalog is exact already. */
function exactItems(schema: Node, list: readonly unknown[]): readonly unknown[] {
  const items = list.map((item) => exact(schema, item));
  return items.every((item, index) => Object.is(item, list[index])) ? list : items;
}

function exactMembers(node: Node, value: { readonly [key: string]: unknown }): unknown {
  const changed = new Map<string, unknown>();
  for (const key of Object.keys(value)) {
    const member = below(node, key, value[key]);
    if (!Object.is(member, value[key])) changed.set(key, member);
  }
  return changed.size === 0 ? value : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, changed.has(key) ? changed.get(key) : member]));
}

/** The definition that a node refers to. */
function referred(node: Node): Node {
  return node.$ref === undefined ? node : tdsSchema.definitions[node.$ref.slice(node.$ref.lastIndexOf("/") + 1)] ?? node;
}

function below({ properties = {}, additionalProperties }: Node, key: string, member: unknown): unknown {
  const schema = Object.hasOwn(properties, key) ? properties[key] : typeof additionalProperties === "object" ? additionalProperties : undefined;
  return schema === undefined ? member : exact(schema, member);
}

/** The alternative that a value is meant for: that of its type, else one whose types it can be read as; of connections, that of its backend. */
function branchOf({ anyOf, oneOf }: Node, value: unknown): Node | null {
  if (anyOf === undefined && oneOf === undefined) return null;
  const options = (anyOf ?? oneOf ?? []).map(referred);
  if (oneOf !== undefined) return options.find(({ properties = {} }) => isRecord(value) && Object.entries(properties).some(([key, { const: only }]) => only !== undefined && value[key] === only)) ?? null;
  return options.find((option) => typesOf(option).includes(typeOf(value))) ?? options.find((option) => scalar(typesOf(option), value) !== value) ?? null;
}

function typesOf({ type, enum: members, properties }: Node): readonly string[] {
  if (type !== undefined) return typeof type === "string" ? [type] : type;
  return members?.map(typeOf) ?? (properties === undefined ? [] : ["object"]);
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function scalar(types: readonly string[], value: unknown): unknown {
  if (types.includes(typeOf(value))) return value;
  const word = String(value).toLowerCase();
  if (types.includes("boolean") && (typeof value === "string" || typeof value === "number") && Object.hasOwn(WORDS, word)) return WORDS[word];
  const isWhole = types.includes("integer") && !types.includes("number");
  if (typeof value !== "string" || !DIGITS.test(value) || !(isWhole || types.includes("number"))) return value;
  return isWhole && !Number.isInteger(Number(value)) ? value : Number(value);
}
