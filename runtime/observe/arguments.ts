/**
 * Which arguments of a call may be kept, and how: what the catalog's audit section says of records, plus what it says
 * of rows. Values under secret names go at any depth, and so does the value of an argument that is compared with a
 * redacted field. What is left is cut to a bounded size.
 */
import { type JsonBytes, jsonBytes, JsonWriter } from "../base/json-writer.js";
import { quoted } from "../base/json-text.js";
import { isRecord } from "../base/paths.js";
import type { FilterTemplate } from "../abi/filter.js";
import type { Binding, Expr, OutputPlan, ToolPlan } from "../abi/plan.js";
import type { ServePlan } from "../abi/call.js";

/** Takes the place of a value that is not kept. */
export const REDACTED = "[REDACTED]";
const REDACTED_JSON = `"${REDACTED}"`;

/** Names whose values are never kept, anywhere in a name: `db_password`, `accessToken`. */
const SECRET_NAMES = ["password", "token", "secret"];

/** Of a name; a longer one is cut and numbered, so that no two are the same. */
const MAX_NAME = 200;
const MAX_TEXT = 2000;
const MAX_ITEMS = 100;
const MAX_DEPTH = 8;
/** Values of all arguments together. */
const MAX_VALUES = 1000;
/** Characters of all texts together. */
const MAX_CHARS = 12_000;

/** Names whose verdict is kept, and how long they may be. */
const MAX_KNOWN = 1000;
const MAX_KNOWN_NAME = 100;

export interface KeptArguments {
  /** The arguments as JSON. */
  readonly json: string;
  /** A text about the call, without the values that were left out of it. */
  clean(text: string): string;
}

export interface ArgumentRules {
  /** `null` when nothing may be kept of calls of this tool at all. */
  keep(tool: string, plan: ToolPlan | null, args: unknown): KeptArguments | null;
  /** Whether anything may be kept of calls of this tool. */
  keeps(tool: string): boolean;
  /** Writes the arguments of a call that may be kept, as `keep` has them. */
  write(plan: ToolPlan | null, args: unknown, into: JsonWriter): void;
}

/** The rules of a catalog; audit's own lists add to those that always hold. */
export function argumentRules(settings: ServePlan): ArgumentRules {
  const audit = settings.observability?.["audit"];
  const { exclude_tools: excluded, include, redact } = isRecord(audit) ? audit : ({} as { readonly [key: string]: unknown });
  const dropped = new Set(textsOf(excluded));
  const withArgs = !(isRecord(include) && include["args"] === false);
  const names = new Set([...SECRET_NAMES, ...textsOf(isRecord(redact) ? redact["arg_fields"] : null)].map((name) => name.toLowerCase()));
  const known = new Map<string, KnownName>();
  // Callers send the same names again and again; a caller who makes up names fills no memory with them.
  const nameOf = (name: string): KnownName => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = { isSecret: names.has(name.toLowerCase()) || wordsOf(name).some((word) => names.has(word)), json: jsonBytes(`${quoted(name)}:`) };
    if (known.size < MAX_KNOWN && name.length <= MAX_KNOWN_NAME) known.set(name, found);
    return found;
  };
  const boundOf = redactedArgumentsTable();
  const writer = new JsonWriter();
  const writeAll = (plan: ToolPlan | null, args: unknown, into: JsonWriter, hidden: string[] | null): void => {
    if (withArgs) new ArgumentWriter(into, nameOf, boundOf(plan), hidden).write(args ?? {}, 1);
    else into.json("{}");
  };
  return {
    keep(tool, plan, args) {
      if (dropped.has(tool)) return null;
      const hidden: string[] = [];
      writer.clear();
      writeAll(plan, args, writer, hidden);
      // Without the arguments no text may quote one either.
      if (!withArgs) collect(args, hidden);
      return { json: writer.text(), clean: (text) => without(text, hidden) };
    },
    keeps: (tool) => !dropped.has(tool),
    write: (plan, args, into) => writeAll(plan, args, into, null),
  };
}

interface KnownName {
  readonly isSecret: boolean;
  /** The name as JSON, with a colon. */
  readonly json: JsonBytes;
}

/** Found once for each plan. */
function redactedArgumentsTable(): (plan: ToolPlan | null) => ReadonlySet<string> {
  const found = new WeakMap<ToolPlan, ReadonlySet<string>>();
  return (plan) => {
    if (plan === null) return NOTHING;
    const before = found.get(plan);
    if (before !== undefined) return before;
    const made = redactedArguments(plan);
    found.set(plan, made);
    return made;
  };
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Names of the arguments that are compared with a field whose values are redacted in results: by a binding, by a
 * directory, by a condition of the retrieve filter or by a post_filter expression.
 */
function redactedArguments(plan: ToolPlan): ReadonlySet<string> {
  const output: OutputPlan | undefined = "output" in plan ? plan.output : undefined;
  const paths = output?.redact?.map(({ path }) => path) ?? [];
  if (paths.length === 0 || plan.kind === "meta") return NOTHING;
  const isRedacted = (path: string): boolean => paths.some((redacted) => overlaps(redacted, path));
  const bindings: readonly Binding[] = plan.kind === "pipeline" ? plan.retrieve.bind : plan.bind;
  const bound = bindings.filter(({ path, resolve }) => isRedacted(path) || (resolve !== undefined && isRedacted(resolve.field))).map(({ arg }) => arg);
  if (plan.kind !== "pipeline") return new Set(bound);
  const filtered = filterParams(plan.retrieve.filter, isRedacted);
  const compared = plan.steps.flatMap((step) => (step.kind === "post_filter" ? comparedParams(step.expr, isRedacted) : []));
  return new Set([...bound, ...filtered, ...compared]);
}

function filterParams(filter: FilterTemplate | undefined, isRedacted: (path: string) => boolean): readonly string[] {
  if (filter === undefined) return [];
  if ("and" in filter) return filter.and.flatMap((part) => filterParams(part, isRedacted));
  if ("or" in filter) return filter.or.flatMap((part) => filterParams(part, isRedacted));
  return "param" in filter && isRedacted(filter.path) ? [filter.param] : [];
}

/** Parameters of an expression's operands beside a redacted field; `and`, `or` and `not` combine results only. */
function comparedParams(expr: Expr, isRedacted: (path: string) => boolean): readonly string[] {
  if ("not" in expr) return comparedParams(expr.not, isRedacted);
  if ("op" in expr && (expr.op === "and" || expr.op === "or")) return [expr.l, expr.r].flatMap((side) => comparedParams(side, isRedacted));
  const { fields, params } = namesIn(expr);
  return fields.some(isRedacted) ? params : [];
}

function namesIn(expr: Expr): { readonly fields: readonly string[]; readonly params: readonly string[] } {
  if ("field" in expr) return { fields: [expr.field], params: [] };
  if ("param" in expr) return { fields: [], params: [expr.param] };
  const inner = "not" in expr ? [expr.not] : "neg" in expr ? [expr.neg] : "op" in expr ? [expr.l, expr.r] : [];
  const names = inner.map(namesIn);
  return { fields: names.flatMap(({ fields }) => fields), params: names.flatMap(({ params }) => params) };
}

function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}

/**
 * Writes what may be kept of arguments, as JSON. Written while it is walked: every audited call comes here, and a copy
 * that is then made JSON of costs several times as much.
 */
class ArgumentWriter {
  private left = MAX_VALUES;
  private chars = MAX_CHARS;

  /** What is left out goes to `hidden`, as texts. `bound` are the names at the top whose values are left out. */
  constructor(
    private readonly into: JsonWriter,
    private readonly nameOf: (name: string) => KnownName,
    private readonly bound: ReadonlySet<string>,
    private readonly hidden: string[] | null,
  ) {}

  write(value: unknown, depth: number): void {
    const { into } = this;
    this.left -= 1;
    if (typeof value === "string") this.text(value);
    else if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) into.json(String(value));
    else if (typeof value !== "object" || value === null) into.json("null");
    else if (depth > MAX_DEPTH || this.left <= 0) into.json('"…"');
    else if (Array.isArray(value)) this.list(value, depth);
    else this.object(value as { readonly [name: string]: unknown }, depth);
  }

  private text(value: string): void {
    const most = Math.min(MAX_TEXT, Math.max(0, this.chars));
    this.chars -= value.length;
    this.into.quoted(value.length <= most ? value : `${value.slice(0, most)}…`);
  }

  private list(value: readonly unknown[], depth: number): void {
    const { into } = this;
    const shown = Math.min(MAX_ITEMS, Math.max(0, this.left), value.length);
    into.json("[");
    for (let at = 0; at < shown; at += 1) {
      if (at > 0) into.json(",");
      this.write(value[at], depth + 1);
    }
    into.json(shown === value.length ? "]" : `${shown === 0 ? "" : ","}"… ${value.length - shown} more"]`);
  }

  private object(value: { readonly [name: string]: unknown }, depth: number): void {
    const { into, hidden } = this;
    let members = 0;
    into.json("{");
    for (const name of Object.keys(value)) {
      if (this.left <= 0) break;
      const inside = value[name];
      const { isSecret, json } = this.nameOf(name);
      const isHidden = isSecret || (depth === 1 && this.bound.has(name));
      if (isHidden && hidden !== null) collect(inside, hidden);
      if (members > 0) into.json(",");
      members += 1;
      if (name.length <= MAX_NAME) into.known(json);
      else into.json(`${quoted(`${name.slice(0, MAX_NAME)}… ${members}`)}:`);
      if (isHidden) into.json(REDACTED_JSON);
      else this.write(inside, depth + 1);
    }
    into.json("}");
  }
}

/** Texts of everything in a value, so that no message quotes them. No recursion: a caller nests as deep as a body is long. */
function collect(value: unknown, into: string[]): void {
  const open: Iterator<unknown>[] = [[value].values()];
  for (let inner = open.at(-1); inner !== undefined && into.length < MAX_VALUES; inner = open.at(-1)) {
    const next = inner.next();
    if (next.done === true) open.pop();
    else if (typeof next.value === "string" || typeof next.value === "number") into.push(String(next.value));
    else if (typeof next.value === "object" && next.value !== null) open.push(Object.values(next.value).values());
  }
}

/** The text without those values, and without addresses, which may hold credentials. */
function without(text: string, hidden: readonly string[]): string {
  let clean = text;
  for (const value of hidden) if (value.length > 1) clean = clean.replaceAll(value, REDACTED);
  return clean.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>]+/gi, "[address]");
}

/** `accessToken` and `access_token` are both access and token. */
function wordsOf(name: string): readonly string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z0-9]+/);
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
