/** What a connection demands of a draft: its guard, and the collections that are open. Reads the catalog as the stock YAML library does. */
import { isRecord } from "../../runtime/base/paths.js";
import type { JsonMap } from "./record.js";
import { textsOf } from "./untrusted.js";

export interface Target {
  readonly connection: string;
  readonly collection: string;
}

/** Where a tool reads: its own target, or that of a pipeline's retrieve. */
export function targetOf(tool: JsonMap): Target | null {
  const retrieve = listOf(tool["steps"]).map((step) => (isRecord(step) && isRecord(step["retrieve"]) ? step["retrieve"] : null)).find((step) => step !== null);
  const target = tool["kind"] === "pipeline" ? retrieve?.["target"] : tool["target"];
  if (!isRecord(target)) return null;
  const { connection, collection } = target;
  return typeof connection === "string" && typeof collection === "string" ? { connection, collection } : null;
}

/** The connection as the catalog writes it; null when there is none of this name. */
export function connectionOf(catalog: JsonMap, name: string): JsonMap | null {
  const { connections } = catalog;
  const found = isRecord(connections) && Object.hasOwn(connections, name) ? connections[name] : null;
  return isRecord(found) ? found : null;
}

function defaultsOf(catalog: JsonMap, connection: string): JsonMap {
  const defaults = connectionOf(catalog, connection)?.["builtin_defaults"];
  return isRecord(defaults) ? defaults : {};
}

/**
 * The collections of a connection that authoring may look at and read: those that builtin_defaults.collections lists and
 * those that a tool of the catalog reads. Null: all, because the catalog restricts nothing.
 */
export function openCollections(catalog: JsonMap, connection: string): ReadonlySet<string> | null {
  return (defaultsOf(catalog, connection)["collections"] ?? null) === null ? null : knownCollections(catalog, connection);
}

/** The collections of a connection that the catalog names. */
function knownCollections(catalog: JsonMap, connection: string): ReadonlySet<string> {
  const listed = listOf(defaultsOf(catalog, connection)["collections"]).filter((name) => typeof name === "string");
  const read = listOf(catalog["tools"]).flatMap((tool) => {
    const target = isRecord(tool) ? targetOf(tool) : null;
    return target?.connection === connection ? [target.collection] : [];
  });
  return new Set([...listed, ...read]);
}

/** Whether no part of the catalog names the place that the tool reads. */
export function isNewPlace(tool: JsonMap, catalog: JsonMap): boolean {
  const target = targetOf(tool);
  return target !== null && !knownCollections(catalog, target.connection).has(target.collection);
}

interface Conditions {
  readonly must: readonly unknown[];
  readonly must_not: readonly unknown[];
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);

function conditionsOf(filters: unknown): Conditions {
  if (Array.isArray(filters)) return { must: filters, must_not: [] };
  return isRecord(filters) ? { must: listOf(filters["must"]), must_not: listOf(filters["must_not"]) } : { must: [], must_not: [] };
}

function isFilters(value: unknown): value is readonly unknown[] | JsonMap {
  return Array.isArray(value) || (isRecord(value) && [value["must"], value["must_not"]].every((list) => list === undefined || Array.isArray(list)));
}

/** The same condition, however its operator's default is written. */
function sameCondition(a: unknown, b: unknown): boolean {
  return isRecord(a) && isRecord(b) && a["path"] === b["path"] && (a["op"] ?? "eq") === (b["op"] ?? "eq") && JSON.stringify(a["value"]) === JSON.stringify(b["value"]);
}

function joined(own: readonly unknown[], more: readonly unknown[]): readonly unknown[] {
  return [...own, ...more.filter((condition) => !own.some((other) => sameCondition(other, condition)))];
}

/**
 * The tool with the guard of its connection (builtin_defaults.static_filters, and the types of the fields it compares)
 * written into it, as people who read the catalog later expect a guard: in the tool. Only adds.
 */
export function withGuardrails(tool: JsonMap, catalog: JsonMap): JsonMap {
  const target = targetOf(tool);
  const defaults = target === null ? {} : defaultsOf(catalog, target.connection);
  const guard = conditionsOf(defaults["static_filters"]);
  if (guard.must.length + guard.must_not.length === 0) return tool;
  const written = tool["static_filters"] ?? [];
  // What is no filter is refused by the compiler as it stands; keys that nobody knows are kept for it.
  if (!isFilters(written)) return tool;
  const own = conditionsOf(written);
  const [must, mustNot] = [joined(own.must, guard.must), joined(own.must_not, guard.must_not)];
  const paths = new Set([...guard.must, ...guard.must_not].map((condition) => (isRecord(condition) ? condition["path"] : null)));
  const types = Object.entries(isRecord(defaults["dtypes"]) ? defaults["dtypes"] : {}).filter(([path]) => paths.has(path));
  const isPlain = mustNot.length === 0 && Array.isArray(written) && catalog["tds_version"] !== "2";
  return {
    ...tool,
    static_filters: isPlain ? must : { ...(Array.isArray(written) ? {} : written), must, ...(mustNot.length === 0 ? {} : { must_not: mustNot }) },
    ...(types.length === 0 ? {} : { dtypes: { ...(isRecord(tool["dtypes"]) ? tool["dtypes"] : {}), ...Object.fromEntries(types) } }),
  };
}

/**
 * Paths of the tool where it gives a field of its connection's guard another type than the connection does: a guard that
 * compares texts would compare points in time, or the other way round, and let other rows through.
 */
export function retypedGuards(tool: JsonMap, catalog: JsonMap): readonly (readonly [path: string, field: string])[] {
  const target = targetOf(tool);
  const defaults = target === null ? {} : defaultsOf(catalog, target.connection);
  const { must, must_not: mustNot } = conditionsOf(defaults["static_filters"]);
  const fields = new Set([...must, ...mustNot].map((condition) => (isRecord(condition) ? condition["path"] : null)));
  const stated: JsonMap = isRecord(defaults["dtypes"]) ? defaults["dtypes"] : {};
  const typeOf = (field: string): unknown => (Object.hasOwn(stated, field) ? stated[field] : undefined);
  const written = Object.entries(isRecord(tool["dtypes"]) ? tool["dtypes"] : {}).flatMap(([field, type]) => (fields.has(field) && type !== typeOf(field) ? [[`dtypes.${field}`, field] as const] : []));
  // A parameter that is a point in time makes one of its field, for the guard too.
  const ofParameters = listOf(tool["parameters"]).flatMap((parameter, index) => {
    const field = isRecord(parameter) ? (parameter["path"] ?? parameter["name"]) : null;
    const isDate = isRecord(parameter) && parameter["dtype"] === "datetime";
    return typeof field === "string" && fields.has(field) && isDate && typeOf(field) !== "datetime" ? [[`parameters.${index}.dtype`, field] as const] : [];
  });
  return [...written, ...ofParameters];
}

/** Something that a draft names and may not. */
export interface Overreach {
  readonly code: "TS0602" | "TS0603";
  /** Dotted path in the tool. */
  readonly path: string;
  readonly what: string;
}

/** Other places, other services, and values of the environment. */
export function overreachOf(tool: JsonMap, catalog: JsonMap): readonly Overreach[] {
  const target = targetOf(tool);
  const refers = (path: string): Overreach => ({ code: "TS0602", path, what: "refers to the environment" });
  return [
    ...textsOf(tool).filter(([, text]) => text.includes("${")).map(([path]) => refers(path)),
    ...configsIn(tool, "").map((path): Overreach => ({ code: "TS0602", path, what: "has settings of a service" })),
    ...(target === null ? [] : placesBeyond(tool, catalog, target)),
  ];
}

function placesBeyond(tool: JsonMap, catalog: JsonMap, target: Target): readonly Overreach[] {
  const open = openCollections(catalog, target.connection);
  const path = tool["kind"] === "pipeline" ? "steps.0.retrieve.target" : "target";
  const isElsewhere = (resolve: JsonMap): boolean => (resolve["connection"] ?? target.connection) !== target.connection || (resolve["collection"] ?? target.collection) !== target.collection;
  const guard = textsOf(defaultsOf(catalog, target.connection)["static_filters"]);
  return [
    ...(open !== null && !open.has(target.collection) ? [{ code: "TS0603" as const, path, what: `collection '${target.collection}' of connection '${target.connection}'` }] : []),
    ...directoriesIn(tool).filter(({ resolve }) => isElsewhere(resolve)).map((found) => ({ code: "TS0603" as const, path: found.path, what: "a collection that is not the tool's own" })),
    ...(guard.some(([, text]) => text.includes("${")) ? [{ code: "TS0602" as const, path, what: `needs the static filters of connection '${target.connection}', whose values come from the environment` }] : []),
  ];
}

/** Places where a tool could bring its own address or key of a service. */
function configsIn(value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return key === "config" ? [at] : configsIn(member, at);
  });
}

function directoriesIn(tool: JsonMap): readonly { readonly path: string; readonly resolve: JsonMap }[] {
  return listOf(tool["parameters"]).flatMap((parameter, index) => {
    const resolve = isRecord(parameter) ? parameter["resolve"] : null;
    return isRecord(resolve) ? [{ path: `parameters.${index}.resolve`, resolve }] : [];
  });
}
