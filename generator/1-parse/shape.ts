/**
 * Checks a plain value against specs/tds.schema.json and reports at the key or at the value. It interprets the part of
 * draft-07 that the schema uses: type, enum, const, pattern, lengths, ranges, items, properties, required,
 * additionalProperties, $ref, anyOf (by type), oneOf (by a const key) and if/then. It is as lenient as the readers of
 * existing catalogs were: "yes" and 1 are booleans, "7" is an integer; what it returns is the value after that.
 * An unknown key is ignored with a warning, as there; `additionalProperties: false` in the schema refuses it.
 */
import { nearestName } from "../../runtime/base/nearest.js";
import { show, type Reporter } from "../diagnostics.js";
import type { Path } from "../ir.js";
import { BROKEN, fit, isLostNumber } from "./fit.js";
import { Place, type Origin } from "./place.js";
import { isMapping, matches, typeOf, typesOf, type JsonType, type SchemaNode } from "./schema-node.js";
import { reportUnknownKey } from "./unknown-keys.js";

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
export function checkShape(schema: SchemaNode & { readonly definitions: { readonly [name: string]: SchemaNode } }, value: unknown, reporter: Reporter, origin = NO_ORIGIN, root = "the catalog"): Shaped {
  const walker = new Walker(schema.definitions, new Place(reporter, origin, root));
  const result = walker.value(schema, value);
  return { value: result === BROKEN ? null : result, broken: walker.broken };
}

const ARTICLES: { readonly [type: string]: string } = {
  object: "a mapping", array: "a list", string: "text", integer: "a whole number", number: "a number", boolean: "true or false", null: "empty",
};

class Walker {
  readonly broken: Path[] = [];
  private readonly patterns = new Map<string, RegExp>();
  private readonly types = new Map<SchemaNode, readonly JsonType[]>();

  constructor(
    private readonly definitions: { readonly [name: string]: SchemaNode },
    private readonly place: Place,
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
    return this.place.below(key, () => this.value(schema, value));
  }

  private break(): typeof BROKEN {
    this.broken.push(this.place.here().path);
    return BROKEN;
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
      this.place.reporter.report("TS0010", { value }, this.place.here(), { help: "stay within ±9007199254740991" });
      return this.break();
    }
    const want = types.filter((type) => type !== "null").map((type) => ARTICLES[type]).join(" or ");
    const help = this.helpFor(types, value);
    this.place.reporter.report("TS0102", { key: this.place.name(), want, got: show(value) }, this.place.here(), help === null ? {} : { help });
    return this.break();
  }

  private notListed(allowed: readonly unknown[], value: unknown): typeof BROKEN {
    const words = allowed.filter((word) => word !== null).map(String);
    const isVersion = this.place.depth === 1 && this.place.name() === "tds_version";
    if (isVersion && words.includes(String(value))) {
      this.place.reporter.report("TS0109", { value: String(value) }, this.place.here());
      return this.break();
    }
    const guess = typeof value === "string" ? nearestName(value, words) : null;
    const help = isVersion ? `this toolsrv reads formats ${words.join(" and ")}; a later format needs a later toolsrv` : guess !== null ? `did you mean '${guess}'?` : this.helpFor([], value);
    this.place.reporter.report("TS0103", { key: this.place.name(), allowed: words.join(", "), got: show(value) }, this.place.here(), help === null ? {} : { help });
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
      this.place.below(key, () => this.notListed(consts, value[key]));
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
      this.place.reporter.report("TS0104", { key: this.place.name(), got: show(value), want }, this.place.here());
      this.break();
      // Still a text: what depends on its being one can go on.
      return value;
    }
    if (node.minLength === undefined && node.maxLength === undefined) return value;
    const length = codePoints(value);
    if (length >= (node.minLength ?? 0) && length <= (node.maxLength ?? Infinity)) return value;
    this.place.reporter.report("TS0105", { key: this.place.name(), want: range(node.minLength, node.maxLength), got: length }, this.place.here());
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
    this.place.reporter.report("TS0106", { key: this.place.name(), want: above ?? range(minimum, maximum, "between", "and"), got: value }, this.place.here());
    return this.break();
  }

  private list({ items, minItems, maxItems }: SchemaNode, value: readonly unknown[]): unknown {
    if (value.length < (minItems ?? 0) || value.length > (maxItems ?? Infinity)) {
      this.place.reporter.report("TS0107", { key: this.place.name(), want: range(minItems, maxItems), got: value.length }, this.place.here());
      this.break();
    }
    if (items === undefined) return value;
    let changed: unknown[] | null = null;
    for (const [index, item] of value.entries()) {
      const usable = this.below(index, items, item);
      if (Object.is(usable, item)) continue;
      changed ??= [...value];
      // A broken entry keeps its place, so that the paths of later entries stay true.
      changed[index] = usable === BROKEN ? null : usable;
    }
    return changed ?? value;
  }

  private mapping(node: SchemaNode, value: { readonly [key: string]: unknown }): unknown {
    if (node.properties === undefined && node.additionalProperties === undefined) return value;
    const { required = [] } = node;
    const blocked = this.conditions(node, value);
    this.countKeys(node, value);
    // Most mappings stay as they are.
    let changed: Map<string, unknown> | null = null;
    for (const [key, member] of Object.entries(value)) {
      const usable = blocked?.has(key) === true ? BROKEN : this.member(node, key, member);
      if (!Object.is(usable, member)) changed = (changed ?? new Map<string, unknown>()).set(key, usable);
    }
    for (const key of required) if (value[key] === undefined) this.missing(key);
    const isWhole = required.every((key) => Object.hasOwn(value, key) && changed?.get(key) !== BROKEN);
    if (!isWhole) this.break();
    // The root stays: what it has can still be checked.
    return isWhole || this.place.depth === 0 ? withChanges(value, changed) : BROKEN;
  }

  /** The usable form of a member; an unknown one stays, as it is ignored. */
  private member(node: SchemaNode, key: string, member: unknown): unknown {
    const { properties, additionalProperties } = node;
    const schema = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : typeof additionalProperties === "object" ? additionalProperties : undefined;
    if (schema !== undefined) return this.below(key, schema, member);
    if (additionalProperties !== true && reportUnknownKey(this.place, key, member, node)) this.broken.push(this.place.atKey(key).path);
    return member;
  }

  private countKeys({ minProperties = 0, maxProperties = Infinity, title, properties = {} }: SchemaNode, value: object): void {
    const keys = Object.keys(value);
    if (keys.length >= minProperties && keys.length <= maxProperties) return;
    const what = title === "DocumentAclRule" ? "a rule" : "a step";
    this.place.reporter.report("TS0110", { what, got: keys.length === 0 ? "none" : keys.join(", "), known: Object.keys(properties).join(", ") }, this.place.here());
    this.break();
  }

  /** Applies if/then pairs: reports missing keys, and returns the keys that have no place here; null without pairs. */
  private conditions({ allOf }: SchemaNode, value: { readonly [key: string]: unknown }): ReadonlySet<string> | null {
    if (allOf === undefined) return null;
    const blocked = new Set<string>();
    for (const { if: when, then } of allOf) {
      if (!matches(when, value)) continue;
      for (const key of then.required ?? []) {
        if (value[key] !== undefined && value[key] !== null) continue;
        this.missing(key);
        this.break();
      }
      for (const [key, only] of Object.entries(then.properties ?? {})) {
        if (only.type !== "null" || value[key] === undefined || value[key] === null) continue;
        const at = this.place.atKey(key);
        this.place.reporter.report("TS0108", { key, kind: String(value["kind"] ?? "search") }, at);
        this.broken.push(at.path);
        blocked.add(key);
      }
    }
    return blocked;
  }

  private missing(key: string, help?: string): void {
    this.place.reporter.report("TS0101", { where: this.place.where(), key }, { ...this.place.here(), on: "key" }, help === undefined ? {} : { help });
  }

  private helpFor(types: readonly JsonType[], value: unknown): string | null {
    if (value === null) return "leave the key out to get its default";
    if (typeof value === "string" && value.includes("${")) return "this setting decides what is compiled, so it cannot come from an environment reference";
    if (!types.includes("string") || (typeof value !== "number" && typeof value !== "boolean")) return null;
    const text = this.place.sourceText() ?? String(value);
    return typeof value === "boolean" ? `YAML reads ${text} as ${String(value)}; put it in quotes: "${text}"` : `put it in quotes: "${text}"`;
  }
}

/** The mapping with other members, without those that are broken; itself where nothing changes. */
function withChanges(value: { readonly [key: string]: unknown }, changed: ReadonlyMap<string, unknown> | null): unknown {
  if (changed === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => {
    const usable = changed.has(key) ? changed.get(key) : member;
    return usable === BROKEN ? [] : [[key, usable]];
  }));
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

