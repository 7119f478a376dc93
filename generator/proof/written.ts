/**
 * What the catalog demands of its plans, from the values of the stock YAML library. This room knows the JSON Schema of
 * catalogs for keys and defaults and shares no code with the compiler's phases: inversion, built-in tools, tenancy,
 * document access and defaults are stated a second time, on purpose.
 */
import { isRecord } from "../../runtime/base/paths.js";
import type { Path } from "../ir.js";

export type Json = { readonly [key: string]: unknown };

/** One condition that every row has to pass. */
export interface WrittenCondition {
  readonly path: string;
  readonly op: string;
  readonly value: unknown;
  /** The value may hold references: it is a default of built-in tools. */
  readonly mayRefer: boolean;
  /** The comparison is one of points in time. */
  readonly dtype: "datetime" | undefined;
}

/** What a tool reads that is a point in time. */
export interface Instants {
  readonly fields: ReadonlySet<string>;
  readonly params: ReadonlySet<string>;
}

/** What one place that reads a store has to show. */
export interface ReadDemand {
  readonly connection: string;
  /** A name; or the argument that carries it, with the names it may have (null: any). */
  readonly collection: string | { readonly arg: string; readonly allowed: readonly string[] | null };
  readonly conditions: readonly WrittenCondition[];
  readonly tenant: Json | null;
  readonly access: AccessDemand | null;
}

/** Document access: which claims of the caller meet which fields of a row. */
export interface AccessDemand {
  readonly combine: string;
  readonly rules: readonly { readonly match: string; readonly claim: string; readonly field: string }[];
}

export interface ToolDemand {
  readonly name: string;
  readonly at: Path;
  readonly kind: string;
  readonly read: ReadDemand;
  /** By parameter. */
  readonly directories: ReadonlyMap<string, ReadDemand & { readonly field: string }>;
  readonly instants: Instants;
  /** The catalog's `output` block; defaults of the schema where a key is absent. */
  readonly output: Json;
  readonly limits: { readonly default: number; readonly max: number };
  /** Of a pipeline, in order; the first is `retrieve`. */
  readonly steps: readonly Json[];
}

const rec = (value: unknown): Json => (isRecord(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);
const text = (value: unknown, fallback = ""): string => (typeof value === "string" ? value : fallback);

/** Tools of the catalog: its own, then the built-ins of each connection whose names are not taken. */
export function demandsOf(catalog: Json): readonly ToolDemand[] {
  const dates = indexDates(catalog);
  const own = list(catalog["tools"]).map((tool, index) => ownTool(rec(tool), ["tools", index], catalog, dates));
  const taken = new Set(own.map(({ name }) => name));
  const builtins = Object.entries(rec(catalog["connections"])).flatMap(([name, connection]) => builtinTools(name, rec(connection), catalog, dates));
  return [...own, ...builtins.filter(({ name }) => !taken.has(name))];
}

function ownTool(tool: Json, at: Path, catalog: Json, datesIn: Dates): ToolDemand {
  const kind = text(tool["kind"], "search");
  const steps = kind === "pipeline" ? list(tool["steps"]).map(rec) : [];
  const target = rec(targetOf(tool));
  const [connection, collection] = [text(target["connection"]), text(target["collection"])];
  const fields = datesFor(tool["dtypes"], datesIn(connection, collection));
  const read: ReadDemand = { connection, collection, conditions: conditionsOf(tool["static_filters"], false, fields), tenant: tenantOf(catalog), access: accessOf(catalog) };
  const output = rec(tool["output"]);
  const params = new Set(list(tool["parameters"]).map(rec).filter(({ dtype }) => dtype === "datetime").map(({ name }) => text(name)));
  return { name: text(tool["name"]), at, kind, read, directories: directoriesOf(tool, read, fields, datesIn), instants: { fields, params }, output, limits: limitsOf(output, { default: 10, max: 50 }), steps };
}

/** Paths that `dtypes` calls datetime. */
function datesOf(dtypes: unknown): readonly string[] {
  return Object.entries(rec(dtypes)).flatMap(([path, dtype]) => (dtype === "datetime" ? [path] : []));
}

/** A tool's own `dtypes` before what is said of its collection. */
function datesFor(dtypes: unknown, said: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...[...said].filter((path) => !Object.hasOwn(rec(dtypes), path)), ...datesOf(dtypes)]);
}

/** Fields of a collection that a filtering parameter, or `dtypes`, of any tool calls points in time. */
type Dates = (connection: string, collection: string) => ReadonlySet<string>;

/** One pass over the tools: to go through all of them for each would take seconds for a large catalog. */
function indexDates(catalog: Json): Dates {
  const found = new Map<string, Set<string>>();
  for (const tool of list(catalog["tools"]).map(rec)) {
    const { connection, collection } = rec(targetOf(tool));
    if (typeof connection !== "string" || typeof collection !== "string") continue;
    const key = JSON.stringify([connection, collection]);
    const dates = found.get(key) ?? new Set<string>();
    found.set(key, dates);
    for (const { dtype, path, op, name } of list(tool["parameters"]).map(rec)) if (dtype === "datetime" && (path ?? op ?? null) !== null) dates.add(text(path, text(name)));
    for (const path of datesOf(tool["dtypes"])) dates.add(path);
  }
  return (connection, collection) => found.get(JSON.stringify([connection, collection])) ?? new Set();
}

/** What a tool reads: a pipeline says it in its retrieve step. */
function targetOf(tool: Json): unknown {
  if (text(tool["kind"], "search") !== "pipeline") return tool["target"];
  return rec(list(tool["steps"]).map((step) => rec(step)["retrieve"]).find(isRecord))["target"];
}

function limitsOf(output: Json, fallback: ToolDemand["limits"]): ToolDemand["limits"] {
  const number = (key: string, other: number): number => (typeof output[key] === "number" ? output[key] : other);
  return { default: number("limit_default", fallback.default), max: number("limit_max", fallback.max) };
}

/** Names that a directory offers are rows too: those of the tool's own collection pass its filters. */
function directoriesOf(tool: Json, read: ReadDemand, fields: ReadonlySet<string>, datesIn: Dates): ToolDemand["directories"] {
  return new Map(list(tool["parameters"]).map(rec).filter(({ resolve }) => rec(resolve)["kind"] === "directory").map((parameter) => {
    const resolve = rec(parameter["resolve"]);
    const connection = text(resolve["connection"], read.connection);
    const collection = typeof resolve["collection"] === "string" ? resolve["collection"] : read.collection;
    const isOwn = connection === read.connection && collection === read.collection;
    const dates = isOwn ? fields : datesIn(connection, String(collection));
    const conditions = [...(isOwn ? read.conditions : []), ...conditionsOf(resolve["static_filters"], false, dates)];
    return [text(parameter["name"]), { connection, collection, conditions, tenant: read.tenant, access: read.access, field: text(resolve["field"], "name") }];
  }));
}

const BUILTINS: readonly (readonly [builtin: string, kind: string, name: (connection: string) => string])[] = [
  ["semantic_search", "search", (connection) => `search_${connection}`],
  ["get_by_id", "lookup", (connection) => `get_${connection}_by_id`],
  ["count", "count", (connection) => `count_${connection}`],
  ["list_collections", "meta", (connection) => `list_${connection}_collections`],
];

function builtinTools(connection: string, written: Json, catalog: Json, datesIn: Dates): readonly ToolDemand[] {
  const defaults = rec(written["builtin_defaults"]);
  const allowed = Array.isArray(defaults["collections"]) ? defaults["collections"].map(String) : null;
  const [only] = allowed ?? [];
  const isFixed = allowed?.length === 1 && only !== undefined;
  const fields = datesFor(defaults["dtypes"], isFixed ? datesIn(connection, only) : new Set());
  const read: ReadDemand = {
    connection, collection: isFixed ? only : { arg: "collection", allowed },
    conditions: conditionsOf(defaults["static_filters"], true, fields), tenant: tenantOf(catalog), access: accessOf(catalog),
  };
  const output = rec(defaults["output"]);
  const stated = isRecord(defaults["output"]);
  return BUILTINS.filter(([builtin]) => rec(written["builtin_tools"])[builtin] === true).map(([builtin, kind, name]) => ({
    name: name(connection), at: ["connections", connection, "builtin_tools", builtin], kind, read, directories: new Map(), instants: { fields, params: new Set() }, output,
    limits: limitsOf(output, builtin === "get_by_id" && !stated ? { default: 1, max: 1 } : { default: 10, max: 50 }), steps: [],
  }));
}

const OPPOSITE: { readonly [op: string]: string } = { eq: "ne", ne: "eq", in: "nin", nin: "in", lt: "gte", gte: "lt", gt: "lte", lte: "gt" };

/** Operators that compare no points in time. */
export const NO_INSTANTS: ReadonlySet<string> = new Set(["exists", "is_null", "like", "text_match"]);

/** Whether a comparison of a field with a value is one of points in time; null is none, and record ids are texts. */
export function comparesDates(fields: ReadonlySet<string>, path: unknown, op: unknown, value: unknown): boolean {
  return typeof path === "string" && fields.has(path) && path !== "id" && path !== "_id" && !NO_INSTANTS.has(String(op)) && value !== null;
}

/** A list or `must` as written, each entry of `must_not` turned into its opposite. */
function conditionsOf(written: unknown, mayRefer: boolean, dates: ReadonlySet<string>): readonly WrittenCondition[] {
  const condition = (entry: Json): WrittenCondition => {
    const { value } = entry;
    const [path, op] = [text(entry["path"]), text(entry["op"], "eq")];
    return { path, op, value, mayRefer, dtype: comparesDates(dates, path, op, value) ? "datetime" : undefined };
  };
  const must = Array.isArray(written) ? (written as readonly unknown[]) : list(rec(written)["must"]);
  const mustNot = list(rec(written)["must_not"]);
  return [
    ...must.map(rec).map(condition),
    // An operator without an opposite is refused by the check; no plan can have this path.
    ...mustNot.map(rec).map(condition).map(({ path, op, ...rest }) => (op in OPPOSITE ? { path, op: OPPOSITE[op] as string, ...rest } : { path: `not ${path}`, op, ...rest })),
  ];
}

function tenantOf(catalog: Json): Json | null {
  const tenancy = rec(rec(catalog["security"])["tenancy"]);
  const { mode, claim, header, header_encoding: encoding, path = "tenant_id", enforce = "strict", op, ...known } = tenancy;
  // The only operator there is; any other would have to be in the plan.
  const others = op === undefined || op === "eq" ? known : { op, ...known };
  if (mode === "claim") return { from: mode, name: claim, path, enforce, ...others };
  if (mode === "header") return { from: mode, name: header ?? "X-Tenant-Id", encoding, path, enforce, ...others };
  return null;
}

/** Whatever is written and not understood stays in the demand as a rule that no plan can have. */
function accessOf(catalog: Json): AccessDemand | null {
  const written = rec(catalog["security"])["document_acl"];
  if (written === undefined) return null;
  const { combine = "all", rules, ...others } = rec(written);
  const entries = list(rules).map(rec).map((rule) => {
    const pairs = Object.entries(rule);
    const [match = "", pair] = pairs[0] ?? [];
    const { claim, field, ...more } = rec(pair);
    const isKnown = pairs.length === 1 && Object.keys(more).length === 0 && typeof field === "string" && (typeof claim === "string" || typeof claim === "number");
    return isKnown ? { match, claim: String(claim), field } : { match: "unknown", claim: JSON.stringify(rule), field: "" };
  });
  const isWhole = isRecord(written) && Object.keys(others).length === 0 && entries.length > 0 && typeof combine === "string";
  return { combine: String(combine), rules: isWhole ? entries : [...entries, { match: "unknown", claim: JSON.stringify(written), field: "" }] };
}

/** Keys that protect something, and the only places where this room looks for them. */
const PLACES: { readonly [key: string]: readonly RegExp[] } = {
  static_filters: [/^tools\.\d+$/, /^tools\.\d+\.parameters\.\d+\.resolve$/, /^connections\.[^.]*\.builtin_defaults$/],
  redact: [/^tools\.\d+\.output$/, /^connections\.[^.]*\.builtin_defaults\.output$/, /^observability\.audit$/],
  tenancy: [/^security$/], document_acl: [/^security$/], rbac: [/^security$/],
};
/** Below these a catalog holds values and not settings. */
const FREE = new Set(["config", "default", "enum", "value", "allow", "meta"]);

const SECTIONS = new Set(["tools", "connections", "defaults", "security", "observability", "profiles", "authoring", "skill"]);

/** Protecting keys where this room does not look: their demand would be lost. */
export function misplaced(value: unknown): readonly Path[] {
  const found: Path[] = [];
  collectMisplaced(value, [], found);
  return found;
}

/** `path` leads to the value, and is as it was when this returns. */
function collectMisplaced(value: unknown, path: (string | number)[], found: Path[]): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, inside] of value.entries()) collectBelow(index, inside, path, found);
    return;
  }
  for (const [key, inside] of Object.entries(value)) {
    if (FREE.has(key)) continue;
    const places = Object.hasOwn(PLACES, key) ? PLACES[key] : undefined;
    // A connection, or a role, may have the name of such a key.
    const named = path.length === 1 && path[0] === "connections";
    if (places !== undefined && !named && !places.some((pattern) => pattern.test(placeOf(path)))) found.push([...path, key]);
    // Below a key of the user's own, such as `x-shared`, are anchors: what counts is where their aliases are.
    if (path.length === 0 && !SECTIONS.has(key)) continue;
    collectBelow(key, inside, path, found);
  }
}

function collectBelow(key: string | number, inside: unknown, path: (string | number)[], found: Path[]): void {
  path.push(key);
  collectMisplaced(inside, path, found);
  path.pop();
}

function placeOf(path: Path): string {
  return path.map((part) => String(part).replaceAll(".", "_")).join(".");
}
