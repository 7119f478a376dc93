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

/** What is asked of a node of the schema again and again: a large catalog has hundreds of thousands of values. */
interface Facts {
  /** The definition, where the node refers to one. */
  readonly node: Node;
  readonly types: readonly string[];
  /** The definitions of `anyOf` or `oneOf`. */
  readonly options: readonly Node[] | null;
}

type Known = Map<Node, Facts>;

/** The catalog with every lenient spelling made exact; what fits no type stays as it is. */
export function withExactValues(catalog: unknown): unknown {
  return exact(tdsSchema, catalog, new Map());
}

function exact(schema: Node, value: unknown, known: Known): unknown {
  const { node, types, options } = factsOf(schema, known);
  const branch = options === null ? null : branchOf(node.oneOf !== undefined, options, value, known);
  if (branch !== null) return exact(branch, value, known);
  if (Array.isArray(value)) return node.items === undefined ? value : exactItems(node.items, value, known);
  return isRecord(value) ? exactMembers(node, value, known) : scalar(types, value);
}

function factsOf(schema: Node, known: Known): Facts {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const node = referred(schema);
  const options = node.oneOf ?? node.anyOf;
  const facts = { node, types: typesOf(node), options: options === undefined ? null : options.map(referred) };
  known.set(schema, facts);
  return facts;
}

/** The list itself where nothing in it changes: most of a catalog is exact already. */
function exactItems(schema: Node, list: readonly unknown[], known: Known): readonly unknown[] {
  let items: unknown[] | null = null;
  for (const [index, item] of list.entries()) {
    const made = exact(schema, item, known);
    if (Object.is(made, item)) continue;
    items ??= [...list];
    items[index] = made;
  }
  return items ?? list;
}

function exactMembers(node: Node, value: { readonly [key: string]: unknown }, known: Known): unknown {
  let changed: Map<string, unknown> | null = null;
  for (const key of Object.keys(value)) {
    const member = below(node, key, value[key], known);
    if (!Object.is(member, value[key])) changed = (changed ?? new Map<string, unknown>()).set(key, member);
  }
  if (changed === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, changed.has(key) ? changed.get(key) : member]));
}

/** The definition that a node refers to. */
function referred(node: Node): Node {
  return node.$ref === undefined ? node : tdsSchema.definitions[node.$ref.slice(node.$ref.lastIndexOf("/") + 1)] ?? node;
}

function below({ properties, additionalProperties }: Node, key: string, member: unknown, known: Known): unknown {
  const schema = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : typeof additionalProperties === "object" ? additionalProperties : undefined;
  return schema === undefined ? member : exact(schema, member, known);
}

/** The alternative that a value is meant for: that of its type, else one whose types it can be read as; of connections, that of its backend. */
function branchOf(isOneOf: boolean, options: readonly Node[], value: unknown, known: Known): Node | null {
  if (isOneOf) return options.find(({ properties = {} }) => isRecord(value) && Object.entries(properties).some(([key, { const: only }]) => only !== undefined && value[key] === only)) ?? null;
  const type = typeOf(value);
  const types = (option: Node): readonly string[] => factsOf(option, known).types;
  return options.find((option) => types(option).includes(type)) ?? options.find((option) => scalar(types(option), value) !== value) ?? null;
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
