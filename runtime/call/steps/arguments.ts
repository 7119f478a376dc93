/**
 * Arguments of a tool, checked against what the tool advertises: the JSON Schema that the compiler made from its
 * parameters, the same list from which the zod schema is made. A fast path accepts ordinary arguments; whatever it does
 * not accept is decided, and refused with a message, by zod (validate.ts). test/call/arguments.test.ts compares both.
 */
import type { CallArgs } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import type { Json } from "../../abi/plan.js";
import { canonicalInstant, INSTANT_FORM, parseInstant } from "../../base/instant.js";
import { isRecord } from "../../base/paths.js";

/** What is known of a tool's arguments. */
export interface ArgumentCheck {
  /** The arguments with their defaults, as zod would return them; `null` where zod has to decide. */
  accept(args: unknown): CallArgs | null;
  /**
   * Arguments that zod has accepted, with points in time in one form: a bare date stays, anything else is UTC.
   * @throws ToolError invalid_arguments for a text that is no point in time.
   */
  withInstants(args: CallArgs): CallArgs;
}

type Kind = "string" | "number" | "integer" | "boolean" | "instant";

interface Rule {
  readonly name: string;
  readonly kind: Kind;
  readonly list: boolean;
  readonly required: boolean;
  /** What an absent argument becomes; `undefined` when it stays absent. */
  readonly fallback: Json | undefined;
  readonly least: number;
  readonly most: number;
  /** Shortest and longest text, in UTF-16 code units. */
  readonly shortest: number;
  readonly longest: number;
  readonly maxItems: number;
  readonly members: readonly unknown[] | null;
}

const NOTHING_KNOWN: ArgumentCheck = { accept: () => null, withInstants: (args) => args };

/** Keys of an argument's schema that the fast path understands; with any other, zod decides alone. */
const KNOWN_KEYS: ReadonlySet<string> = new Set(["type", "format", "enum", "description", "minimum", "maximum", "default", "maxLength", "items", "maxItems"]);
const ITEM_KEYS: ReadonlySet<string> = new Set(["type", "format", "enum", "maxLength"]);

/** The check of one tool. @param inputSchema as tools/list advertises it; absent for tools that are not advertised. */
export function argumentCheck(inputSchema: Json | undefined): ArgumentCheck {
  if (!isRecord(inputSchema) || inputSchema["type"] !== "object" || !isRecord(inputSchema["properties"])) return NOTHING_KNOWN;
  if (Object.keys(inputSchema).some((key) => key !== "type" && key !== "properties" && key !== "required")) return NOTHING_KNOWN;
  const required = Array.isArray(inputSchema["required"]) ? (inputSchema["required"] as readonly unknown[]) : [];
  const rules: Rule[] = [];
  const instants: Rule[] = [];
  let whole = true;
  for (const [name, schema] of Object.entries(inputSchema["properties"])) {
    const rule = ruleOf(name, schema, required.includes(name));
    if (rule?.kind === "instant") instants.push(rule);
    // A name that every object knows would be found in arguments that do not have it.
    if (rule === null || name in Object.prototype) whole = false;
    else rules.push(rule);
  }
  return {
    accept: whole ? (args) => accept(rules, args) : () => null,
    withInstants: instants.length === 0 ? (args) => args : (args) => withInstants(instants, args),
  };
}

/** Copies only where a value changes: arguments are as the transport parsed them, and nobody else's. */
function accept(rules: readonly Rule[], value: unknown): CallArgs | null {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return null;
  const args = value as CallArgs;
  let known = 0;
  let changed: { [name: string]: unknown } | null = null;
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i] as Rule;
    const given = args[rule.name];
    if (given !== undefined) {
      if (!(rule.list ? fitsAll(rule, given) : fits(rule, given))) return null;
      known += 1;
      if (rule.kind === "instant") {
        const canonical = canonicalOf(given);
        if (canonical !== given) (changed ??= { ...args })[rule.name] = canonical;
      }
    } else if (rule.required) {
      return null;
    } else if (rule.fallback !== undefined) {
      (changed ??= { ...args })[rule.name] = Array.isArray(rule.fallback) ? [...(rule.fallback as readonly Json[])] : rule.fallback;
    }
  }
  // An argument that is not declared is zod's to drop.
  for (const _ in args) known -= 1;
  return known === 0 ? (changed ?? args) : null;
}

function fitsAll(rule: Rule, value: unknown): boolean {
  if (!Array.isArray(value) || value.length > rule.maxItems) return false;
  for (let i = 0; i < value.length; i++) if (!fits(rule, value[i])) return false;
  return true;
}

function fits({ kind, least, most, shortest, longest, members }: Rule, value: unknown): boolean {
  if (members !== null) return members.includes(value);
  switch (kind) {
    case "string":
      return typeof value === "string" && value.length >= shortest && value.length <= longest;
    case "instant":
      return typeof value === "string" && value.length <= longest && parseInstant(value) !== null;
    case "number":
      return typeof value === "number" && value >= least && value <= most && Number.isFinite(value);
    case "integer":
      return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
    case "boolean":
      return typeof value === "boolean";
    default:
      return kind satisfies never;
  }
}

/** `null` for a schema that is not understood whole. */
function ruleOf(name: string, schema: Json | undefined, required: boolean): Rule | null {
  if (!isRecord(schema) || Object.keys(schema).some((key) => !KNOWN_KEYS.has(key))) return null;
  const list = schema["type"] === "array";
  const item = list ? schema["items"] : schema;
  if (!isRecord(item) || (list && Object.keys(item).some((key) => !ITEM_KEYS.has(key)))) return null;
  const kind = kindOf(item);
  if (kind === null) return null;
  const fallback = required ? undefined : (schema["default"] as Json | undefined);
  // Bounds of numbers hold for single values; beside a list they are only advertised.
  const bound = (key: string, none: number): number => (list ? none : numberOf(schema[key], none));
  return {
    name, kind, list, required, fallback: fallback === undefined ? undefined : instantOf(kind, fallback),
    least: bound("minimum", Number.NEGATIVE_INFINITY), most: bound("maximum", Number.POSITIVE_INFINITY),
    // A required text may have to hold something: that is not advertised, so zod decides about the empty one.
    shortest: required && !list ? 1 : 0, longest: numberOf(item["maxLength"], Number.POSITIVE_INFINITY), maxItems: numberOf(schema["maxItems"], Number.POSITIVE_INFINITY),
    members: membersOf(item, kind),
  };
}

function kindOf({ type, format }: { readonly [key: string]: unknown }): Kind | null {
  if (type === "string") return format === undefined ? "string" : format === "date-time" ? "instant" : null;
  return format === undefined && (type === "number" || type === "integer" || type === "boolean") ? type : null;
}

/** Members that a value of the type can equal, as zod sees them. */
function membersOf({ enum: members, type }: { readonly [key: string]: unknown }, kind: Kind): readonly unknown[] | null {
  if (!Array.isArray(members) || kind === "instant") return null;
  return members.filter((member: unknown) => (type === "integer" ? Number.isSafeInteger(member) : typeof member === type));
}

function numberOf(value: unknown, none: number): number {
  return typeof value === "number" ? value : none;
}

function instantOf(kind: Kind, value: Json): Json {
  return kind === "instant" ? (canonicalOf(value) as Json) : value;
}

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A point in time in UTC; a bare date, and what is no point in time, as it is. */
function canonicalOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.some((one) => canonicalOf(one) !== one) ? value.map(canonicalOf) : value;
  return typeof value !== "string" || BARE_DATE.test(value) ? value : (canonicalInstant(value) ?? value);
}

function withInstants(rules: readonly Rule[], args: CallArgs): CallArgs {
  let changed: { [name: string]: unknown } | null = null;
  for (const { name } of rules) {
    const given = args[name];
    if (given === undefined || given === null) continue;
    for (const one of Array.isArray(given) ? (given as readonly unknown[]) : [given]) {
      if (typeof one !== "string" || parseInstant(one) === null) throw new ToolError("invalid_arguments", `${name}: expected ${INSTANT_FORM}`);
    }
    const canonical = canonicalOf(given);
    if (canonical !== given) (changed ??= { ...args })[name] = canonical;
  }
  return changed ?? args;
}
