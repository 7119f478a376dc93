/**
 * The common case of validation: arguments that are what the schema asks for. zod is the judge of arguments, and this
 * only knows when it would say yes: it reads what zod says of its own schema (https://zod.dev/library-authors), once,
 * and vouches for arguments that it understands whole. Of anything else it says nothing, and zod decides. A call pays
 * a fifth of what it would otherwise; test/call/accept.test.ts holds both against each other.
 */
import type { CallArgs } from "../abi/call.js";
import type { Validator } from "../abi/params.js";

/** The arguments as the validator would return them, or `null` where only the validator can tell. */
export type Acceptor = (args: unknown) => CallArgs | null;

type Kind = "string" | "number" | "integer" | "boolean" | "member";

interface Rule {
  readonly name: string;
  readonly kind: Kind;
  readonly list: boolean;
  readonly required: boolean;
  /** What an absent argument becomes; `null` when it stays absent. */
  readonly fallback: Def | null;
  /** Of a number, or of a text's length. */
  readonly least: number;
  readonly most: number;
  readonly members: readonly unknown[];
}

/** What zod says of a schema or of one of its checks: `_zod.def`. */
interface Def {
  readonly type?: string;
  readonly shape?: { readonly [name: string]: Described };
  readonly catchall?: unknown;
  readonly innerType?: Described;
  readonly element?: Described;
  readonly entries?: { readonly [name: string]: unknown };
  readonly values?: readonly unknown[];
  readonly checks?: readonly Described[];
  readonly check?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly value?: number;
  readonly inclusive?: boolean;
  readonly defaultValue?: unknown;
  readonly coerce?: boolean;
}

interface Described {
  readonly _zod?: { readonly def: Def };
}

const NEVER: Acceptor = () => null;

/** @returns one that accepts nothing where the validator is no zod object, or holds what is not known here. */
export function acceptorOf(validator: Validator): Acceptor {
  const def = defOf(validator as Described);
  if (def?.type !== "object" || def.shape === undefined || def.catchall !== undefined || (def.checks ?? []).length > 0) return NEVER;
  const rules: Rule[] = [];
  for (const [name, schema] of Object.entries(def.shape)) {
    const rule = ruleOf(name, schema);
    // A name that every object knows would be found in arguments that do not have it.
    if (rule === null || name in Object.prototype) return NEVER;
    rules.push(rule);
  }
  return (args) => accept(rules, args);
}

/** Copies only where a default is filled in: arguments are as the transport parsed them, and nobody else's. */
function accept(rules: readonly Rule[], value: unknown): CallArgs | null {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return null;
  const args = value as CallArgs;
  let known = 0;
  let filled: { [name: string]: unknown } | null = null;
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i] as Rule;
    const given = args[rule.name];
    if (given !== undefined) {
      if (!(rule.list ? holdsAll(rule, given) : holds(rule, given))) return null;
      known += 1;
    } else if (rule.required) {
      return null;
    } else if (rule.fallback !== null) {
      filled ??= { ...args };
      filled[rule.name] = rule.fallback.defaultValue;
    }
  }
  // An argument that is not declared is zod's to drop.
  for (const _ in args) known -= 1;
  return known === 0 ? (filled ?? args) : null;
}

function holdsAll(rule: Rule, value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  for (let i = 0; i < value.length; i++) if (!holds(rule, value[i])) return false;
  return true;
}

function holds({ kind, least, most, members }: Rule, value: unknown): boolean {
  switch (kind) {
    case "string":
      return typeof value === "string" && value.length >= least;
    case "number":
      return typeof value === "number" && value >= least && value <= most && Number.isFinite(value);
    case "integer":
      return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
    case "boolean":
      return typeof value === "boolean";
    case "member":
      return members.includes(value);
    default:
      return kind satisfies never;
  }
}

function ruleOf(name: string, schema: Described): Rule | null {
  const outer = defOf(schema);
  const wrapped = outer?.type === "optional" || outer?.type === "default";
  const whole = wrapped ? defOf(outer.innerType) : outer;
  const list = whole?.type === "array";
  if (whole === null || (list && (whole.checks ?? []).length > 0)) return null;
  const item = itemOf(list ? defOf(whole.element) : whole);
  return item === null ? null : { name, list, required: !wrapped, fallback: outer?.type === "default" ? outer : null, ...item };
}

type Item = Pick<Rule, "kind" | "least" | "most" | "members">;

const ANY = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY, members: [] } as const;

function itemOf(def: Def | null): Item | null {
  if (def === null || def.coerce === true) return null;
  switch (def.type) {
    case "string":
      return def.format === undefined ? bounded({ ...ANY, kind: "string" }, def.checks) : null;
    case "number":
      if (def.check === undefined) return bounded({ ...ANY, kind: "number" }, def.checks);
      return def.format === "safeint" ? bounded({ ...ANY, kind: "integer" }, def.checks) : null;
    case "boolean":
      return bounded({ ...ANY, kind: "boolean" }, def.checks);
    case "enum":
      return bounded({ ...ANY, kind: "member", members: Object.values(def.entries ?? {}).filter((member) => typeof member === "string") }, def.checks);
    case "literal":
      return bounded({ ...ANY, kind: "member", members: def.values ?? [] }, def.checks);
    default:
      return null;
  }
}

/** An item within the checks of its schema; `null` when one of them is not known here. */
function bounded(item: Item, checks: readonly Described[] = []): Item | null {
  let { least, most } = item;
  for (const each of checks) {
    const check = defOf(each);
    // z.int() counts itself among its checks.
    if (check?.check === "number_format" && check.format === "safeint" && item.kind === "integer") continue;
    if (check?.check === "min_length" && item.kind === "string" && check.minimum !== undefined) least = Math.max(least, check.minimum);
    else if (check?.check === "greater_than" && check.inclusive === true && typeof check.value === "number") least = Math.max(least, check.value);
    else if (check?.check === "less_than" && check.inclusive === true && typeof check.value === "number") most = Math.min(most, check.value);
    else return null;
  }
  return { ...item, least, most };
}

function defOf(schema: Described | undefined): Def | null {
  return schema?._zod?.def ?? null;
}
