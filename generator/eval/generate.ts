/**
 * Proposes scenarios from samples of the collections: for each tool a call that finds something, and, where callers have
 * tenants, the same call as another tenant, who must see none of it. What is proposed is for people to read and keep.
 */
import { isToolError } from "../../runtime/abi/errors.js";
import { evaluate, type Condition, type Filter, type Row } from "../../runtime/abi/filter.js";
import { readPath } from "../../runtime/base/paths.js";
import type { Connection } from "../connect.js";
import type { Resolved, ResolvedParameter, ResolvedTarget, ResolvedTool } from "../ir.js";
import type { JsonMap, ScenarioContext } from "./scenarios.js";

/** A scenario as it is written to the file. */
export interface ProposedScenario {
  readonly name: string;
  readonly request?: string;
  readonly call: { readonly tool: string; readonly arguments: JsonMap; readonly context?: ScenarioContext };
  readonly expected_tool?: string;
  readonly expect: JsonMap;
}

export interface Proposals {
  readonly scenarios: readonly ProposedScenario[];
  /** Tools, or probes of them, that could not be proposed, and why. */
  readonly left: readonly { readonly tool: string; readonly why: string }[];
}

export interface GenerateWorld {
  readonly call: Connection["call"];
  /** Rows of a collection, without regard to tenants. */
  readonly sample: (connection: string, collection: string) => Promise<readonly Row[]>;
  readonly signal: AbortSignal;
  readonly onTool?: (done: number, all: number) => void;
}

/** Ids that the probe of another tenant names at most. */
const MAX_IDS = 50;
const MAX_TEXT = 80;

export async function proposeScenarios(catalog: Resolved, world: GenerateWorld): Promise<Proposals> {
  const scenarios: ProposedScenario[] = [];
  const left: { readonly tool: string; readonly why: string }[] = [];
  for (const [index, tool] of catalog.tools.entries()) {
    world.signal.throwIfAborted();
    const proposed = await proposeFor(tool, catalog, world);
    scenarios.push(...proposed.scenarios);
    left.push(...proposed.left.map((why) => ({ tool: tool.name, why })));
    world.onTool?.(index + 1, catalog.tools.length);
  }
  return { scenarios, left };
}

interface Proposed {
  readonly scenarios: readonly ProposedScenario[];
  readonly left: readonly string[];
}

async function proposeFor(tool: ResolvedTool, catalog: Resolved, world: GenerateWorld): Promise<Proposed> {
  const target = targetOf(tool);
  const collection = target === null ? null : typeof target.collection === "string" ? target.collection : target.collection.allowed?.[0] ?? null;
  if (target === null || collection === null) return { scenarios: [], left: ["it reads no collection that the catalog names"] };
  const rows = await world.sample(target.connection, collection);
  const row = rows.find((one) => passes(tool, one) && tenantOf(catalog, one) !== undefined);
  if (row === undefined) return { scenarios: [], left: ["no sampled row passes its filters"] };
  const args = argumentsFor(tool, row, typeof target.collection === "string" ? null : { [target.collection.arg]: collection });
  if (typeof args === "string") return { scenarios: [], left: [args] };
  const tenant = tenantOf(catalog, row);
  const context = contextFor(catalog, tool, row, tenant ?? null);
  return withProbe({ tool, catalog, world, args, collection }, context, { tenant: tenant ?? null, rows });
}

interface Call {
  readonly tool: ResolvedTool;
  readonly catalog: Resolved;
  readonly world: GenerateWorld;
  readonly args: JsonMap;
  readonly collection: string;
}

/** The call as it answers now, and the call of another tenant. */
async function withProbe({ tool, catalog, world, args, collection }: Call, context: ScenarioContext, { tenant, rows }: { readonly tenant: string | null; readonly rows: readonly Row[] }): Promise<Proposed> {
  let found: readonly Row[];
  try {
    found = (await world.call(tool.name, args, { ...(context as object), signal: world.signal })).rows;
  } catch (error) {
    if (!isToolError(error)) throw error;
    return { scenarios: [], left: [`its call fails: ${error.code}: ${error.message}`] };
  }
  const { path } = catalog.tenancy;
  const shows = (key: string): boolean => found.length > 0 && found.every((row) => Object.hasOwn(row, key));
  const call = (who: ScenarioContext): ProposedScenario["call"] => ({ tool: tool.name, arguments: args, ...(Object.keys(who).length === 0 ? {} : { context: who }) });
  const first: ProposedScenario = {
    name: `${tool.name} finds what is there`, request: requestFor(collection, args), call: call(context), expected_tool: tool.name,
    expect: { min_rows: Math.min(1, found.length), ...(tenant !== null && shows(path) ? { row_field_equals: { [path]: tenant } } : {}) },
  };
  if (tenant === null) return { scenarios: [first], left: [] };
  const other = rows.map((row) => tenantOf(catalog, row)).find((one) => one !== undefined && one !== tenant) ?? `${tenant}-other`;
  const hidden = { ...(shows(path) ? { [path]: [tenant] } : {}), ...(shows("_id") ? { _id: found.slice(0, MAX_IDS).map((row) => row["_id"]) } : {}) };
  if (Object.keys(hidden).length === 0) return { scenarios: [first], left: ["no probe of another tenant: its rows show neither a record id nor the tenant"] };
  const probe: ProposedScenario = { name: `${tool.name} shows another tenant none of it`, call: call({ ...context, tenant: other }), expect: { forbidden_field_values: hidden } };
  return { scenarios: [first, probe], left: [] };
}

function targetOf({ target, steps }: ResolvedTool): ResolvedTarget | null {
  const [first] = steps;
  return first?.kind === "retrieve" ? first.target : target;
}

/** Whether a row passes the tool's guard; a reference to the environment in it counts as passed. */
function passes({ staticFilters: { must, mustNot } }: ResolvedTool, row: Row): boolean {
  const holds = ({ path, op, value }: (typeof must)[number]): boolean | null => (isPlain(value) ? evaluate({ path, op, value } as Condition as Filter, row) : null);
  return must.every((condition) => holds(condition) !== false) && mustNot.every((condition) => holds(condition) !== true);
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== "object" || Array.isArray(value);
}

/** The tenant of a row: null where callers have none, undefined for a row without one. */
function tenantOf({ tenancy: { mode, path } }: Resolved, row: Row): string | null | undefined {
  if (mode !== "claim" && mode !== "header") return null;
  const value = readPath(row, path);
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** A caller who may call the tool and see the row. */
function contextFor({ documentAcl, settings }: Resolved, { name }: ResolvedTool, row: Row, tenant: string | null): ScenarioContext {
  const rbac = settings.security?.rbac;
  const role = rbac === undefined ? undefined : Object.entries(rbac.roles).find(([, { allow }]) => allow.includes("*") || allow.includes(name))?.[0];
  const claims = Object.fromEntries((documentAcl?.rules ?? []).flatMap(({ claim, field }) => {
    const value = readPath(row, field);
    return value === undefined || value === null ? [] : [[claim, value]];
  }));
  return { ...(tenant === null ? {} : { tenant }), ...(role === undefined ? {} : { roles: [role] }), ...(Object.keys(claims).length === 0 ? {} : { claims }) };
}

/** What every required argument takes from the row, and one optional one; or why there is none. */
function argumentsFor(tool: ResolvedTool, row: Row, collection: JsonMap | null): JsonMap | string {
  const args: { [name: string]: unknown } = { ...collection };
  const [first] = tool.steps;
  const query = first?.kind === "retrieve" ? first.query ?? tool.query : tool.query;
  if (query !== null) {
    const text = textOf(tool, row);
    if (text !== null) args[query.param] = text;
    else if (query.required) return "no sampled row has a text to search for";
  }
  let optional = 0;
  for (const parameter of tool.parameters) {
    if (!parameter.required && optional > 0) continue;
    const value = valueFor(parameter, row);
    if (value === undefined && parameter.required) return `the required argument '${parameter.name}' takes no value of the sampled row`;
    if (value === undefined) continue;
    args[parameter.name] = value;
    if (!parameter.required) optional += 1;
  }
  return args;
}

function valueFor({ name, path, op, dtype, enum: members, max, default: preset }: ResolvedParameter, row: Row): unknown {
  if (path === null && op === null) return preset ?? undefined;
  const field = path ?? name;
  const stored = field === "id" || field === "_id" ? row["_id"] : readPath(row, field);
  const value: unknown = Array.isArray(stored) ? (stored as readonly unknown[])[0] : stored;
  const isMember = members === null || members.some((member) => member === value);
  const isScalar = typeof value === "string" ? value.length <= MAX_TEXT : typeof value === "number" || typeof value === "boolean";
  if (!isMember || !isScalar || (typeof value === "number" && max !== null && value > max) || (dtype === "keyword" && typeof value === "number" && field !== "id" && field !== "_id")) return undefined;
  const plain = field === "id" || field === "_id" ? String(value) : value;
  switch (op ?? "eq") {
    case "eq":
    case "gte":
    case "lte":
    case "like":
    case "text_match":
      return plain;
    case "in":
    case "contains_any":
    case "contains_all":
      return [plain];
    default:
      return undefined;
  }
}

/** A short text of the row that the tool shows, and does not redact; rather a title than an id or a code of one word. */
function textOf({ output }: ResolvedTool, row: Row): string | null {
  const redacted = new Set(output.redact.map(({ path }) => path));
  const paths = (output.fields ?? Object.keys(row)).filter((path) => !path.startsWith("_") && !redacted.has(path));
  const texts = paths.map((path) => readPath(row, path)).filter((value): value is string => typeof value === "string" && value.trim() !== "" && !/^\d{4}-\d\d-\d\d/.test(value));
  const text = texts.find((value) => /\s/.test(value.trim())) ?? texts[0];
  return text === undefined ? null : text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT).replace(/\s+\S*$/, "");
}

function requestFor(collection: string, args: JsonMap): string {
  const parts = Object.entries(args).map(([name, value]) => `${name.replaceAll("_", " ")} ${Array.isArray(value) ? value.join(", ") : String(value)}`);
  return `Find in ${collection}: ${parts.join("; ") || "everything"}`;
}
