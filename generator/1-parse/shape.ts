/**
 * Checks a plain value against specs/tds.schema.json and reports at the key or at the value. It interprets the part of
 * draft-07 that the schema uses: type, enum, const, pattern, lengths, ranges, items, properties, required,
 * additionalProperties, $ref, anyOf (by type), oneOf (by a const key) and if/then. It is as lenient as the readers of
 * existing catalogs were: "yes" and 1 are booleans, "7" is an integer; what it returns is the value after that.
 * An unknown key is ignored with a warning, as there; `additionalProperties: false` in the schema refuses it.
 */
import { nearestName } from "../../runtime/base/nearest.js";
import { keepsDigits } from "../../runtime/base/numbers.js";
import { formatPath, show, type Reporter } from "../diagnostics.js";
import type { At, Path } from "../ir.js";
import { isProtecting, misplacedHelp } from "./protecting.js";

type JsonType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

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

/** What the walker asks of the file that a value came from. */
export interface Origin {
  /** The scalar at a path as it is written, without quotes; null where there is none. */
  sourceText(path: Path): string | null;
  /** Whether the value at a path has an anchor, or contains one: then other places may use it by an alias or a merge. */
  isTemplate(path: Path): boolean;
}

const NO_ORIGIN: Origin = { sourceText: () => null, isTemplate: () => false };

/** The value with lenient spellings made exact, and the paths that have no usable value. */
export interface Shaped {
  readonly value: unknown;
  readonly broken: readonly Path[];
}

/**
 * Checks `value`; problems go to the reporter. Keys that have no usable value are left out of the result, entries of
 * lists become null, so that what is left is as the schema says and keeps its paths.
 */
export function checkShape(schema: SchemaNode & { readonly definitions: { readonly [name: string]: SchemaNode } }, value: unknown, reporter: Reporter, origin = NO_ORIGIN): Shaped {
  const walker = new Walker(schema.definitions, reporter, origin);
  const result = walker.value(schema, value);
  return { value: result === BROKEN ? null : result, broken: walker.broken };
}

const BROKEN = Symbol("broken");
/** As many as reports of one code are kept. */
const MAX_QUESTIONS = 1_000;
const ARTICLES: { readonly [type: string]: string } = {
  object: "a mapping", array: "a list", string: "text", integer: "a whole number", number: "a number", boolean: "true or false", null: "empty",
};
const TRUE = new Set<unknown>(["true", "yes", "on", "1", "t", "y", 1]);
const FALSE = new Set<unknown>(["false", "no", "off", "0", "f", "n", 0]);

class Walker {
  readonly broken: Path[] = [];
  /** Where the walk is; copied only for reports. */
  private readonly path: (string | number)[] = [];
  private readonly patterns = new Map<string, RegExp>();
  private readonly types = new Map<SchemaNode, readonly JsonType[]>();
  private questions = 0;

  constructor(
    private readonly definitions: { readonly [name: string]: SchemaNode },
    private readonly reporter: Reporter,
    private readonly origin: Origin,
  ) {}

  /** The usable form of `value`, or BROKEN after a report. */
  value(schema: SchemaNode, value: unknown): unknown {
    const node = this.deref(schema);
    if (node.oneOf !== undefined) return this.discriminated(node.oneOf, value);
    if (node.anyOf !== undefined) return this.alternatives(node.anyOf, value);
    if (node.enum !== undefined && !node.enum.includes(value)) return this.notListed(node.enum, value);
    const types = this.typesOf(node);
    const fitted = fit(types, value);
    if (fitted === BROKEN) return this.wrongType(types, value);
    if (typeof fitted === "string") return this.text(node, fitted);
    if (typeof fitted === "number") return this.number(node, fitted);
    if (Array.isArray(fitted)) return this.list(node, fitted);
    return isMapping(fitted) ? this.mapping(node, fitted) : fitted;
  }

  private below(key: string | number, schema: SchemaNode, value: unknown): unknown {
    this.path.push(key);
    const usable = this.value(schema, value);
    this.path.pop();
    return usable;
  }

  private here(): At & { readonly path: Path } {
    return { path: [...this.path] };
  }

  private atKey(key: string): At & { readonly path: Path } {
    return { path: [...this.path, key], on: "key" };
  }

  private break(): typeof BROKEN {
    this.broken.push([...this.path]);
    return BROKEN;
  }

  /** The key a message names: the last word of the path, with its index. */
  private name(): string {
    const start = this.path.findLastIndex((key) => typeof key === "string");
    return this.path.length === 0 ? "the catalog" : formatPath(this.path.slice(Math.max(start, 0)));
  }

  private deref(schema: SchemaNode): SchemaNode {
    return schema.$ref === undefined ? schema : this.definitions[schema.$ref.slice("#/definitions/".length)] ?? schema;
  }

  private typesOf(node: SchemaNode): readonly JsonType[] {
    const types = this.types.get(node) ?? typesOf(node);
    this.types.set(node, types);
    return types;
  }

  private wrongType(types: readonly JsonType[], value: unknown): typeof BROKEN {
    if (typeof value === "string" && isLostNumber(types, value)) {
      this.reporter.report("TS0010", { value }, this.here(), { help: "stay within ±9007199254740991" });
      return this.break();
    }
    const want = types.filter((type) => type !== "null").map((type) => ARTICLES[type]).join(" or ");
    const help = this.helpFor(types, value);
    this.reporter.report("TS0102", { key: this.name(), want, got: show(value) }, this.here(), help === null ? {} : { help });
    return this.break();
  }

  private notListed(allowed: readonly unknown[], value: unknown): typeof BROKEN {
    const words = allowed.filter((word) => word !== null).map(String);
    const isVersion = this.path.length === 1 && this.path[0] === "tds_version";
    if (isVersion && words.includes(String(value))) {
      this.reporter.report("TS0109", { value: String(value) }, this.here());
      return this.break();
    }
    const guess = typeof value === "string" ? nearestName(value, words) : null;
    const help = isVersion ? `this toolsrv reads formats ${words.join(" and ")}; a later format needs a later toolsrv` : guess !== null ? `did you mean '${guess}'?` : this.helpFor([], value);
    this.reporter.report("TS0103", { key: this.name(), allowed: words.join(", "), got: show(value) }, this.here(), help === null ? {} : { help });
    return this.break();
  }

  private discriminated(options: readonly SchemaNode[], value: unknown): unknown {
    const branches = options.map((option) => this.deref(option));
    if (!isMapping(value)) return this.wrongType(["object"], value);
    const key = Object.keys(branches[0]?.properties ?? {}).find((name) => branches.every((branch) => branch.properties?.[name]?.const !== undefined)) ?? "";
    const consts = branches.map((branch) => branch.properties?.[key]?.const);
    const branch = branches[consts.indexOf(value[key])];
    if (branch !== undefined) return this.value(branch, value);
    if (value[key] === undefined) {
      this.missing(key, `${key} is one of ${consts.join(", ")}`);
    } else {
      this.path.push(key);
      this.notListed(consts, value[key]);
      this.path.pop();
    }
    return this.break();
  }

  private alternatives(options: readonly SchemaNode[], value: unknown): unknown {
    const branches = options.map((option) => this.deref(option));
    const type = typeOf(value);
    const accepts = (branch: SchemaNode): boolean => this.typesOf(branch).includes(type) || (type === "integer" && this.typesOf(branch).includes("number"));
    const chosen = branches.find(accepts) ?? branches.find((branch) => fit(this.typesOf(branch), value) !== BROKEN);
    return chosen === undefined ? this.wrongType(branches.flatMap((branch) => this.typesOf(branch)), value) : this.value(chosen, value);
  }

  private text(node: SchemaNode, value: string): unknown {
    if (node.pattern !== undefined && !this.pattern(node.pattern).test(value)) {
      const want = node.patternErrorMessage ?? `it must match ${node.pattern}`;
      this.reporter.report("TS0104", { key: this.name(), got: show(value), want }, this.here());
      this.break();
      // Still a text: what depends on its being one can go on.
      return value;
    }
    if (node.minLength === undefined && node.maxLength === undefined) return value;
    const length = codePoints(value);
    if (length >= (node.minLength ?? 0) && length <= (node.maxLength ?? Infinity)) return value;
    this.reporter.report("TS0105", { key: this.name(), want: range(node.minLength, node.maxLength), got: length }, this.here());
    this.break();
    return value;
  }

  private pattern(source: string): RegExp {
    const known = this.patterns.get(source) ?? new RegExp(source, "u");
    this.patterns.set(source, known);
    return known;
  }

  private number({ minimum, maximum, exclusiveMinimum }: SchemaNode, value: number): unknown {
    if (value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity) && value > (exclusiveMinimum ?? -Infinity)) return value;
    const above = exclusiveMinimum === undefined ? null : maximum === undefined ? `above ${exclusiveMinimum}` : `above ${exclusiveMinimum} and at most ${maximum}`;
    this.reporter.report("TS0106", { key: this.name(), want: above ?? range(minimum, maximum, "between", "and"), got: value }, this.here());
    return this.break();
  }

  private list({ items, minItems, maxItems }: SchemaNode, value: readonly unknown[]): unknown {
    if (value.length < (minItems ?? 0) || value.length > (maxItems ?? Infinity)) {
      this.reporter.report("TS0107", { key: this.name(), want: range(minItems, maxItems), got: value.length }, this.here());
      this.break();
    }
    if (items === undefined) return value;
    // A broken entry keeps its place, so that the paths of later entries stay true.
    return value.map((item, index) => {
      const kept = this.below(index, items, item);
      return kept === BROKEN ? null : kept;
    });
  }

  private mapping(node: SchemaNode, value: { readonly [key: string]: unknown }): unknown {
    if (node.properties === undefined && node.additionalProperties === undefined) return value;
    const { properties = {}, additionalProperties, required = [] } = node;
    const kept: [string, unknown][] = [];
    const blocked = this.conditions(node, value);
    this.countKeys(node, value);
    for (const [key, member] of Object.entries(value)) {
      if (blocked.has(key)) continue;
      const schema = Object.hasOwn(properties, key) ? properties[key] : typeof additionalProperties === "object" ? additionalProperties : undefined;
      if (schema === undefined) {
        if (additionalProperties !== true) this.unknownKey(key, member, node);
        kept.push([key, member]);
        continue;
      }
      const usable = this.below(key, schema, member);
      if (usable !== BROKEN) kept.push([key, usable]);
    }
    for (const key of required) if (value[key] === undefined) this.missing(key);
    const usable = new Map(kept);
    const isWhole = required.every((key) => usable.has(key));
    if (!isWhole) this.break();
    // The root stays: what it has can still be checked.
    return isWhole || this.path.length === 0 ? Object.fromEntries(usable) : BROKEN;
  }

  private countKeys({ minProperties = 0, maxProperties = Infinity, title, properties = {} }: SchemaNode, value: object): void {
    const keys = Object.keys(value);
    if (keys.length >= minProperties && keys.length <= maxProperties) return;
    const what = title === "DocumentAclRule" ? "a rule" : "a step";
    this.reporter.report("TS0110", { what, got: keys.length === 0 ? "none" : keys.join(", "), known: Object.keys(properties).join(", ") }, this.here());
    this.break();
  }

  /** Applies if/then pairs: reports missing keys, and returns the keys that have no place here. */
  private conditions(node: SchemaNode, value: { readonly [key: string]: unknown }): ReadonlySet<string> {
    const blocked = new Set<string>();
    for (const { if: when, then } of node.allOf ?? []) {
      if (!matches(when, value)) continue;
      for (const key of then.required ?? []) {
        if (value[key] !== undefined && value[key] !== null) continue;
        this.missing(key);
        this.break();
      }
      for (const [key, only] of Object.entries(then.properties ?? {})) {
        if (only.type !== "null" || value[key] === undefined || value[key] === null) continue;
        const at = this.atKey(key);
        this.reporter.report("TS0108", { key, kind: String(value["kind"] ?? "search") }, at);
        this.broken.push(at.path);
        blocked.add(key);
      }
    }
    return blocked;
  }

  private missing(key: string, help?: string): void {
    const where = this.path.length === 0 ? "the catalog" : `'${formatPath(this.path)}'`;
    this.reporter.report("TS0101", { where, key }, { ...this.here(), on: "key" }, help === undefined ? {} : { help });
  }

  /** Reports an unknown key: refused where it was probably meant to protect something, ignored with a warning elsewhere. */
  private unknownKey(key: string, member: unknown, { title, properties = {}, additionalProperties }: SchemaNode): void {
    const at = this.atKey(key);
    const known = Object.keys(properties);
    const guess = nearestName(key, known);
    const misplaced = misplacedHelp(key);
    const nearby = guess === null ? null : `did you mean '${guess}'?`;
    if (title === "StaticFilterObject") {
      this.reporter.report("VB2021", { key }, at, nearby === null ? {} : { help: `${nearby} A misspelt guard would protect nothing, so the catalog is refused` });
      this.broken.push(at.path);
    } else if (additionalProperties === false) {
      this.refuseKey(key, at, nearby ?? misplaced ?? `known here: ${known.join(", ")}`);
      return;
    } else if (guess !== null && isProtecting(guess)) {
      this.refuseKey(key, at, nearby ?? "");
      return;
    } else if (guess === null && misplaced !== null) {
      this.refuseKey(key, at, misplaced);
      return;
    }
    this.reporter.report("VB0001", { key }, at, { help: nearby ?? `it is ignored; known here: ${known.join(", ")}` });
    // Keys of the author's own are left alone.
    if (key.startsWith("x-") || key.startsWith(".")) return;
    this.path.push(key);
    this.searchIgnored(member, { path: at.path, isTemplate: null });
    this.path.pop();
  }

  /** Looks for protecting keys below a key that is ignored: what they say is not in force. */
  private searchIgnored(value: unknown, top: { readonly path: Path; isTemplate: boolean | null }): void {
    if (typeof value !== "object" || value === null) return;
    const entries: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, member] of entries) {
      const help = typeof key === "string" ? misplacedHelp(key) : null;
      // What is written for aliases is in force where they are.
      if (help !== null) top.isTemplate ??= this.mayAsk() && this.origin.isTemplate(top.path);
      if (help !== null && top.isTemplate === false) this.refuseKey(String(key), this.atKey(String(key)), help);
      this.path.push(key);
      this.searchIgnored(member, top);
      this.path.pop();
    }
  }

  private refuseKey(key: string, at: At, help: string): void {
    const where = this.path.length === 0 ? "the catalog" : `'${formatPath(this.path)}'`;
    this.reporter.report("TS0112", { where, key }, at, { help: `${help}${help.endsWith("?") ? " An" : "; an"} unknown key here is refused, because what it was meant to restrict would stay open` });
  }

  /** Finding a node takes as long as its mapping has keys, so the file is asked only so often; later reports are not shown anyway. */
  private mayAsk(): boolean {
    this.questions += 1;
    return this.questions <= MAX_QUESTIONS;
  }

  private helpFor(types: readonly JsonType[], value: unknown): string | null {
    if (value === null) return "leave the key out to get its default";
    if (typeof value === "string" && value.includes("${")) return "this setting decides what is compiled, so it cannot come from an environment reference";
    if (!types.includes("string") || (typeof value !== "number" && typeof value !== "boolean")) return null;
    const text = (this.mayAsk() ? this.origin.sourceText(this.path) : null) ?? String(value);
    return typeof value === "boolean" ? `YAML reads ${text} as ${String(value)}; put it in quotes: "${text}"` : `put it in quotes: "${text}"`;
  }
}

function matches(when: SchemaNode, value: { readonly [key: string]: unknown }): boolean {
  if ((when.required ?? []).some((key) => value[key] === undefined)) return false;
  return Object.entries(when.properties ?? {}).every(([key, schema]) => value[key] === undefined || (schema.enum ?? []).includes(value[key]));
}

function typesOf(node: SchemaNode): readonly JsonType[] {
  if (node.type !== undefined) return (typeof node.type === "string" ? [node.type] : node.type) as readonly JsonType[];
  const samples = node.const !== undefined ? [node.const] : node.enum;
  return samples === undefined ? ["object", "array", "string", "integer", "number", "boolean", "null"] : [...new Set(samples.map(typeOf))];
}

function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : "object";
}

/** The value as one of the types, with the lenient spellings of existing catalogs; BROKEN when it is none of them. */
function fit(types: readonly JsonType[], value: unknown): unknown {
  const type = typeOf(value);
  if (types.includes(type) || (type === "integer" && types.includes("number"))) return value;
  if (types.includes("boolean")) {
    const word = typeof value === "string" ? value.toLowerCase() : value;
    if (TRUE.has(word)) return true;
    if (FALSE.has(word)) return false;
  }
  if (typeof value === "string" && takesNumbers(types) && NUMBER.test(value)) {
    const number = Number(value);
    if (keepsDigits(value.trim(), number) && (types.includes("number") || Number.isInteger(number))) return number;
  }
  return BROKEN;
}

const NUMBER = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/;

function takesNumbers(types: readonly JsonType[]): boolean {
  return types.includes("integer") || types.includes("number");
}

/** A text of digits that would be another number as a double. */
function isLostNumber(types: readonly JsonType[], value: string): boolean {
  return takesNumbers(types) && NUMBER.test(value) && !keepsDigits(value.trim(), Number(value));
}

function isMapping(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** `20 to 1024`, `at least 1`, `at most 12`. */
function range(min: number | undefined, max: number | undefined, before = "", between = "to"): string {
  if (min === undefined) return max === undefined ? "any number of" : `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${before} ${min} ${between} ${max}`.trimStart();
}

