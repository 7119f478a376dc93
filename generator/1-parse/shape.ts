/**
 * Checks a plain value against specs/tds.schema.json and blames the key or the value. It interprets the part of
 * draft-07 that the schema uses: type, enum, const, pattern, lengths, ranges, items, properties, required,
 * additionalProperties, $ref, anyOf (by type), oneOf (by a const key) and if/then. It is as lenient as the readers of
 * existing catalogs were: "yes" and 1 are booleans, "7" is an integer; what it returns is the value after that.
 */
import { formatPath, nearest, show, type Reporter } from "../diagnostics.js";
import type { Path } from "../ir.js";

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

/** The value with lenient spellings made exact, and the paths that have no usable value. */
export interface Shaped {
  readonly value: unknown;
  readonly broken: readonly Path[];
}

/**
 * Checks `value`; problems go to the reporter. Keys that have no usable value are left out of the result, entries of
 * lists become null, so that what is left is as the schema says and keeps its paths.
 */
export function checkShape(schema: SchemaNode & { readonly definitions: { readonly [name: string]: SchemaNode } }, value: unknown, reporter: Reporter): Shaped {
  const walker = new Walker(schema.definitions, reporter);
  const result = walker.value(schema, value, []);
  return { value: result === BROKEN ? null : result, broken: walker.broken };
}

const BROKEN = Symbol("broken");
const ARTICLES: { readonly [type: string]: string } = {
  object: "a mapping", array: "a list", string: "text", integer: "a whole number", number: "a number", boolean: "true or false", null: "empty",
};
const TRUE = new Set<unknown>(["true", "yes", "on", "1", "t", "y", 1]);
const FALSE = new Set<unknown>(["false", "no", "off", "0", "f", "n", 0]);

class Walker {
  readonly broken: Path[] = [];
  private readonly patterns = new Map<string, RegExp>();

  constructor(
    private readonly definitions: { readonly [name: string]: SchemaNode },
    private readonly reporter: Reporter,
  ) {}

  /** The usable form of `value`, or BROKEN after a report. */
  value(schema: SchemaNode, value: unknown, path: Path): unknown {
    const node = this.deref(schema);
    if (node.oneOf !== undefined) return this.discriminated(node.oneOf, value, path);
    if (node.anyOf !== undefined) return this.alternatives(node, value, path);
    if (node.enum !== undefined && !node.enum.includes(value)) return this.notListed(node.enum, value, path);
    const fitted = fit(typesOf(node), value);
    if (fitted === BROKEN) return this.fail(path, () => this.wrongType(typesOf(node), value, path));
    if (typeof fitted === "string") return this.text(node, fitted, path);
    if (typeof fitted === "number") return this.number(node, fitted, path);
    if (Array.isArray(fitted)) return this.list(node, fitted, path);
    return isMapping(fitted) ? this.mapping(node, fitted, path) : fitted;
  }

  private deref(schema: SchemaNode): SchemaNode {
    const name = schema.$ref?.replace("#/definitions/", "");
    return name === undefined ? schema : this.definitions[name] ?? schema;
  }

  private fail(path: Path, report: () => void): typeof BROKEN {
    report();
    this.broken.push(path);
    return BROKEN;
  }

  private wrongType(types: readonly JsonType[], value: unknown, path: Path): void {
    const want = types.filter((type) => type !== "null").map((type) => ARTICLES[type] ?? type).join(" or ");
    const help = helpFor(types, value);
    const key = nameOf(path);
    this.reporter.report("TS0102", { key, want, got: show(value) }, { path }, { tool: null, ...(help === null ? {} : { help }) });
  }

  private notListed(allowed: readonly unknown[], value: unknown, path: Path): typeof BROKEN {
    return this.fail(path, () => {
      const words = allowed.filter((word) => word !== null).map(String);
      if (path.length === 1 && path[0] === "tds_version" && words.includes(String(value))) {
        this.reporter.report("TS0109", { value: String(value) }, { path });
        return;
      }
      const guess = typeof value === "string" ? nearest(value, words) : null;
      const help = guess !== null ? `did you mean '${guess}'?` : helpFor([], value);
      this.reporter.report("TS0103", { key: nameOf(path), allowed: words.join(", "), got: show(value) }, { path }, help === null ? {} : { help });
    });
  }

  private discriminated(options: readonly SchemaNode[], value: unknown, path: Path): unknown {
    const branches = options.map((option) => this.deref(option));
    if (!isMapping(value)) return this.fail(path, () => this.wrongType(["object"], value, path));
    const key = Object.keys(branches[0]?.properties ?? {}).find((name) => branches.every((branch) => branch.properties?.[name]?.const !== undefined)) ?? "";
    const consts = branches.map((branch) => branch.properties?.[key]?.const);
    const branch = branches[consts.indexOf(value[key])];
    if (branch !== undefined) return this.value(branch, value, path);
    if (value[key] !== undefined) return this.notListed(consts, value[key], [...path, key]);
    return this.fail(path, () => this.missing(key, path, `${key} is one of ${consts.join(", ")}`));
  }

  private alternatives(node: SchemaNode, value: unknown, path: Path): unknown {
    const branches = (node.anyOf ?? []).map((branch) => this.deref(branch));
    const exact = branches.find((branch) => typesOf(branch).includes(typeOf(value)) || (typeOf(value) === "integer" && typesOf(branch).includes("number")));
    const chosen = exact ?? branches.find((branch) => fit(typesOf(branch), value) !== BROKEN);
    if (chosen !== undefined) return this.value(chosen, value, path);
    return this.fail(path, () => this.wrongType(branches.flatMap(typesOf), value, path));
  }

  private text(node: SchemaNode, value: string, path: Path): unknown {
    const length = codePoints(value);
    if (node.pattern !== undefined && !this.pattern(node.pattern).test(value)) {
      return this.fail(path, () => this.reporter.report("TS0104", { key: nameOf(path), got: show(value), want: node.patternErrorMessage ?? `it must match ${node.pattern}` }, { path }));
    }
    if (length < (node.minLength ?? 0) || length > (node.maxLength ?? Number.POSITIVE_INFINITY)) {
      return this.fail(path, () => this.reporter.report("TS0105", { key: nameOf(path), want: range(node.minLength, node.maxLength), got: length }, { path }));
    }
    return value;
  }

  private pattern(source: string): RegExp {
    const known = this.patterns.get(source) ?? new RegExp(source, "u");
    this.patterns.set(source, known);
    return known;
  }

  private number(node: SchemaNode, value: number, path: Path): unknown {
    const { minimum, maximum, exclusiveMinimum } = node;
    const inside = value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity) && value > (exclusiveMinimum ?? -Infinity);
    if (inside) return value;
    const want = exclusiveMinimum !== undefined ? `above ${exclusiveMinimum}${maximum === undefined ? "" : ` and at most ${maximum}`}` : `${minimum === undefined ? "at most" : maximum === undefined ? "at least" : "between"} ${range(minimum, maximum, " and ")}`;
    return this.fail(path, () => this.reporter.report("TS0106", { key: nameOf(path), want, got: value }, { path }));
  }

  private list(node: SchemaNode, value: readonly unknown[], path: Path): unknown {
    const { items, minItems, maxItems } = node;
    if (value.length < (minItems ?? 0) || value.length > (maxItems ?? Infinity)) {
      this.reporter.report("TS0107", { key: nameOf(path), want: range(minItems, maxItems), got: value.length }, { path });
      this.broken.push(path);
    }
    if (items === undefined) return value;
    // A broken entry keeps its place, so that the paths of later entries stay true.
    return value.map((item, index) => {
      const kept = this.value(items, item, [...path, index]);
      return kept === BROKEN ? null : kept;
    });
  }

  private mapping(node: SchemaNode, value: { readonly [key: string]: unknown }, path: Path): unknown {
    const { properties = {}, additionalProperties } = node;
    const kept: [string, unknown][] = [];
    const blocked = this.conditions(node, value, path);
    this.countKeys(node, value, path);
    for (const [key, member] of Object.entries(value)) {
      if (blocked.has(key)) continue;
      const schema = Object.hasOwn(properties, key) ? properties[key] : typeof additionalProperties === "object" ? additionalProperties : undefined;
      if (schema === undefined) {
        if (additionalProperties !== true) this.unknownKey(key, Object.keys(properties), path);
        kept.push([key, member]);
        continue;
      }
      const usable = this.value(schema, member, [...path, key]);
      if (usable !== BROKEN) kept.push([key, usable]);
    }
    const missing = (node.required ?? []).filter((key) => value[key] === undefined);
    for (const key of missing) this.missing(key, path);
    if (missing.length > 0) this.broken.push(path);
    // The root stays: what it has can still be checked.
    return missing.length > 0 && path.length > 0 ? BROKEN : Object.fromEntries(kept);
  }

  private countKeys(node: SchemaNode, value: object, path: Path): void {
    const count = Object.keys(value).length;
    if (count >= (node.minProperties ?? 0) && count <= (node.maxProperties ?? Infinity)) return;
    this.reporter.report("TS0110", { got: count === 0 ? "none" : Object.keys(value).join(", ") }, { path });
    this.broken.push(path);
  }

  /** Applies if/then pairs: reports missing keys, and returns the keys that have no place here. */
  private conditions(node: SchemaNode, value: { readonly [key: string]: unknown }, path: Path): ReadonlySet<string> {
    const blocked = new Set<string>();
    for (const { if: when, then } of node.allOf ?? []) {
      if (!matches(when, value)) continue;
      for (const key of then.required ?? []) {
        if (value[key] !== undefined && value[key] !== null) continue;
        this.missing(key, path);
        this.broken.push(path);
      }
      for (const [key, only] of Object.entries(then.properties ?? {})) {
        if (only.type !== "null" || value[key] === undefined || value[key] === null) continue;
        this.reporter.report("TS0108", { key, kind: String(value["kind"] ?? "search") }, { path: [...path, key], on: "key" });
        this.broken.push([...path, key]);
        blocked.add(key);
      }
    }
    return blocked;
  }

  private missing(key: string, path: Path, help?: string): void {
    const where = path.length === 0 ? "the catalog" : `'${formatPath(path)}'`;
    this.reporter.report("TS0101", { where, key }, { path, on: "key" }, help === undefined ? {} : { help });
  }

  private unknownKey(key: string, known: readonly string[], path: Path): void {
    const at = { path: [...path, key], on: "key" } as const;
    if (path.at(-1) === "static_filters") {
      this.reporter.report("VB2021", { key }, at);
      this.broken.push(at.path);
    }
    const guess = nearest(key, known);
    this.reporter.report("VB0001", { key }, at, guess === null ? { help: `it is ignored; known here: ${known.join(", ")}` } : { help: `did you mean '${guess}'?` });
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
  if (typeof value === "string" && (types.includes("integer") || types.includes("number"))) {
    const number = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isFinite(number) && (types.includes("number") || Number.isInteger(number))) return number;
  }
  return BROKEN;
}

function isMapping(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function range(min: number | undefined, max: number | undefined, between = " to "): string {
  if (min === undefined) return max === undefined ? "any number of" : between === " and " ? String(max) : `at most ${max}`;
  return max === undefined ? (between === " and " ? String(min) : `at least ${min}`) : `${min}${between}${max}`;
}

/** The key a message names: the last word of the path, with its index. */
function nameOf(path: Path): string {
  const start = path.findLastIndex((key) => typeof key === "string");
  return path.length === 0 ? "the catalog" : formatPath(path.slice(Math.max(start, 0)));
}

function helpFor(types: readonly JsonType[], value: unknown): string | null {
  if (value === null) return "leave the key out to get its default";
  if (typeof value === "string" && value.includes("${")) return "this setting decides what is compiled, so it cannot come from an environment reference";
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean")) return `put it in quotes: "${String(value)}"`;
  return null;
}
