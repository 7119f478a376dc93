/**
 * Rows of a twin: made from schema exports and scenarios, the same for the same seed. Every tool finds some, because
 * part of them pass its guard; what a scenario calls for is among them. Pure.
 */
import type { Row } from "../../runtime/abi/filter.js";
import type { Binding, ToolPlan } from "../../runtime/abi/plan.js";
import { fill, missingNames, type Env } from "../../runtime/abi/references.js";
import { createRandom, type Random } from "../../runtime/twin/random.js";
import type { TwinCollection, TwinRow, TwinStore } from "../../runtime/twin/rows.js";
import { conjunctsOf } from "../diff/implication.js";
import type { Scenario } from "../eval/scenarios.js";
import type { Plans, Resolved } from "../ir.js";
import { filterValues, withPath } from "../isolation/values.js";
import type { SchemaExport, SchemaField } from "../schema/export.js";
import { usesOf } from "../schema/uses.js";
import { fieldValue } from "./values.js";

export interface TwinSource {
  readonly plans: Plans;
  readonly catalog: Resolved;
  /** Values of references in guards. */
  readonly env: Env;
  /** By connection. */
  readonly schemas: ReadonlyMap<string, SchemaExport>;
  readonly scenarios: readonly Scenario[];
  readonly seed: number;
}

/** Rows for each tool and tenant, and rows that no guard was asked about. */
const ROWS_EACH = 12;
const MAX_SCENARIO_ROWS = 200;
const TENANTS: readonly string[] = ["tenant-a", "tenant-b"];

/** Values that a row has in any case, by path. */
interface Overlay {
  readonly values: ReadonlyMap<string, unknown>;
  readonly count: number;
  readonly ids: readonly (string | number)[];
  readonly text: string;
}

/** Values for the references of guards that nobody gave a value: a twin needs none of its user. */
export function madeUpValues({ tools }: Plans, env: Env): ReadonlyMap<string, string> {
  return new Map(Object.values(tools).flatMap((plan) => missingNames(plan, env)).map((name) => [name, `twin-value-of-${name}`]));
}

export function twinStore(source: TwinSource): TwinStore {
  const uses = usesOf(source.catalog);
  return new Map(Object.keys(source.plans.connections).map((connection) => {
    const exported = source.schemas.get(connection)?.collections ?? [];
    const used = uses.filter((use) => use.connection === connection).flatMap(({ collections }) => collections ?? []);
    const names = [...new Set([...exported.map(({ name }) => name), ...used])].sort();
    return [connection, new Map(names.map((name): [string, TwinCollection] => {
      const fields = exported.find((one) => one.name === name)?.fields ?? fieldsFromUses(uses, connection, name);
      return [name, { fields, rows: rowsOf(source, connection, name, fields) }];
    }))];
  }));
}

/** Without an export: the fields that tools of the catalog use. */
function fieldsFromUses(uses: ReturnType<typeof usesOf>, connection: string, collection: string): readonly SchemaField[] {
  const types = new Map<string, SchemaField["dtype"]>();
  for (const use of uses.filter((one) => one.connection === connection && (one.collections?.includes(collection) ?? true))) {
    for (const { path, dtype } of use.fields) if (!types.has(path) || dtype !== undefined) types.set(path, dtype ?? types.get(path) ?? "keyword");
  }
  return [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, dtype]) => ({ path, dtype, null_rate: 0, enum: null, examples: [], provenance: "sample", nullable: true, indexed: false }));
}

function rowsOf(source: TwinSource, connection: string, collection: string, fields: readonly SchemaField[]): readonly TwinRow[] {
  const random = createRandom(`${source.seed}/${connection}/${collection}`);
  const tools = Object.entries(source.plans.tools).filter(([, plan]) => readsHere(plan, connection, collection));
  const tenants = tenantsOf(source);
  const guards = tools.map(([, plan]) => guardValues(plan, source.env));
  const overlays: Overlay[] = [
    ...scenarioOverlays(source, new Map(tools)),
    ...[new Map<string, unknown>(), ...guards].flatMap((values) => tenants.map((tenant): Overlay => ({ values: new Map([...values, ...tenant]), count: ROWS_EACH, ids: [], text: "" }))),
  ];
  const rows: TwinRow[] = [];
  const taken = new Set(overlays.flatMap(({ ids }) => ids.map(String)));
  let serial = 0;
  const nextId = (): string => {
    let id = `${collection}-${++serial}`;
    while (taken.has(id)) id = `${collection}-${++serial}`;
    return id;
  };
  for (const { values, count, ids, text } of overlays) {
    for (let n = 0; n < count; n += 1) rows.push(makeRow(fields, values, ids[n] ?? nextId(), text, rows.length, random));
  }
  return rows;
}

function makeRow(fields: readonly SchemaField[], values: ReadonlyMap<string, unknown>, id: string | number, text: string, serial: number, random: Random): TwinRow {
  let row: Row = {};
  for (const field of fields) {
    const hasParts = fields.some(({ path }) => path.startsWith(`${field.path}.`));
    // Each field takes its share of the sequence, whatever is laid over it: a new scenario changes no other value.
    const value = fieldValue(field, serial, random);
    if (!hasParts && !isBelow(field.path, values)) row = withPath(row, field.path, value);
  }
  for (const [path, value] of values) row = withPath(row, path, value);
  row["_id"] = id;
  return { row, text: `${text} ${Object.values(row).filter((value) => typeof value === "string").join(" ")}`.trim() };
}

/** Whether a value that is laid over a row stands at the path or above it. */
function isBelow(path: string, values: ReadonlyMap<string, unknown>): boolean {
  return [...values.keys()].some((other) => path === other || path.startsWith(`${other}.`));
}

function readsHere(plan: ToolPlan, connection: string, collection: string): boolean {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  if (read.connection !== connection || !("collection" in read)) return false;
  return typeof read.collection === "string" ? read.collection === collection : read.collection.allowed?.includes(collection) ?? true;
}

/** Values that pass the tool's guard. */
function guardValues(plan: ToolPlan, env: Env): ReadonlyMap<string, unknown> {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const guard = "guard" in read ? read.guard : undefined;
  const conditions = conjunctsOf(guard === undefined ? undefined : fill(guard, env, new Set()));
  return filterValues(conditions.map(({ path, op, value, dtype }) => ({ path, op, value, dtype, mayRefer: false }))).passing;
}

/** One assignment for each tenant; one without any where callers have none. Those of scenarios come first. */
function tenantsOf({ catalog: { tenancy }, scenarios }: TwinSource): readonly ReadonlyMap<string, unknown>[] {
  if (tenancy.mode !== "claim" && tenancy.mode !== "header") return [new Map()];
  const named = scenarios.flatMap(({ call }) => tenantOf(call?.context ?? {}, tenancy.claim) ?? []);
  const tenants = [...new Set([...named, ...TENANTS])].slice(0, Math.max(new Set(named).size, TENANTS.length));
  return tenants.map((tenant) => new Map([[tenancy.path, tenant]]));
}

function tenantOf(context: NonNullable<Scenario["call"]>["context"], claim: string | null): string | undefined {
  const own = context.tenant ?? (claim === null ? undefined : context.claims?.[claim]);
  return typeof own === "string" ? own : undefined;
}

/** Rows that a scenario's call finds: they pass the guard, fit the arguments and have the fields that it expects. */
function scenarioOverlays({ catalog, scenarios, env }: TwinSource, tools: ReadonlyMap<string, ToolPlan>): readonly Overlay[] {
  return scenarios.flatMap(({ call, expect }): readonly Overlay[] => {
    const plan = call === null ? undefined : tools.get(call.tool);
    if (call === null || plan === undefined) return [];
    const read = plan.kind === "pipeline" ? plan.retrieve : plan;
    const binds: readonly Binding[] = "bind" in read ? read.bind : [];
    const arguments_ = binds.flatMap(({ arg, path, op }) => {
      const value = fitting(call.arguments[arg], op);
      return value === undefined ? [] : [[path, value] as const];
    });
    const tenant = tenantOf(call.context, catalog.tenancy.claim);
    const access = (catalog.documentAcl?.rules ?? []).flatMap(({ claim, field }) => {
      const own = call.context.claims?.[claim];
      return own === undefined ? [] : [[field, own] as const];
    });
    const equals = plan.kind === "count" ? [] : Object.entries(expect.row_field_equals ?? {});
    const values = new Map<string, unknown>([...guardValues(plan, env), ...arguments_.filter(([path]) => path !== "id" && path !== "_id"), ...access, ...equals, ...(tenant === undefined ? [] : [[catalog.tenancy.path, tenant] as const])]);
    const ids = [...(expect.ids ?? []), ...arguments_.filter(([path]) => path === "id" || path === "_id").map(([, id]) => String(id))];
    const count = Math.min(MAX_SCENARIO_ROWS, expect.exact_rows ?? Math.max(expect.min_rows ?? 0, ids.length, expect.error === undefined ? 1 : 0));
    const query = "query" in read ? read.query : undefined;
    const words = query === undefined ? "" : call.arguments[query.arg];
    return [{ values, count, ids, text: typeof words === "string" ? words : "" }];
  });
}

/** A stored value that meets an argument. */
function fitting(value: unknown, op: Binding["op"]): unknown {
  const one: unknown = Array.isArray(value) ? (value as readonly unknown[])[0] : value;
  if (one === undefined || one === null) return undefined;
  switch (op) {
    case "ne":
    case "nin":
    case "exists":
    case "is_null":
      return undefined;
    case "gt":
      return typeof one === "number" ? one + 1 : undefined;
    case "lt":
      return typeof one === "number" ? one - 1 : undefined;
    case "contains_any":
    case "contains_all":
      return Array.isArray(value) ? value : [one];
    case "like":
      return typeof one === "string" ? one.replaceAll("%", "").replaceAll("_", "x") : one;
    default:
      return one;
  }
}
