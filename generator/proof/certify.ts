/**
 * The proof: a plan table against the catalog as the stock YAML library reads it. For every tool and every place that
 * reads a store it decides that each static filter, the caller's tenant and document access are ANDed in, that the store's address is
 * the written one, and that no more leaves than the catalog allows. It shares no code with the planner, so one mistake
 * cannot hide in both. What it cannot place is a problem, never "nothing is demanded".
 */
import { CAPABILITIES } from "../../runtime/adapters/capabilities.js";
import { isRecord } from "../../runtime/base/paths.js";
import type { GuardCertificate, Path } from "../ir.js";
import { reportConnections } from "./connections.js";
import { withExactValues } from "./lenient.js";
import { reportOutput } from "./output.js";
import { partsOf, type Branch } from "./planned.js";
import { certifyRoles } from "./roles.js";
import { same, sameAsWritten } from "./same.js";
import { demandsOf, misplaced, type Json, type ReadDemand, type ToolDemand, type WrittenCondition } from "./written.js";

/** The tables of a program that decide what is reachable; as printed, or in memory. */
export interface Tables {
  readonly settings: unknown;
  readonly connections: unknown;
  readonly plans: unknown;
}

/** Something that was not shown. */
export interface Problem {
  readonly tool: string | null;
  /** Where the catalog demands it. */
  readonly at: Path | null;
  readonly branch: string;
  readonly guard: string;
}

/** Certificates of all tools in catalog order; `null` when there is a problem. */
export interface Proof {
  readonly certificates: readonly GuardCertificate[] | null;
  readonly problems: readonly Problem[];
}

/** `stock` is the catalog as the stock YAML library reads it. */
export function certify(tables: Tables, stock: unknown): Proof {
  const catalog = withExactValues(stock);
  const problems: Problem[] = [];
  const lost = (problem: Problem): void => void problems.push(problem);
  if (!isRecord(catalog) || !isRecord(tables.plans) || !isRecord(tables.connections) || !isRecord(tables.settings)) {
    return { certificates: null, problems: [{ tool: null, at: null, branch: "plans", guard: "the catalog, plans, connections and settings are tables" }] };
  }
  for (const path of misplaced(catalog)) lost({ tool: null, at: path, branch: "catalog", guard: `'${String(path.at(-1))}', which has no effect here,` });

  reportConnections(tables.connections, catalog, lost);
  const demands = demandsOf(catalog);
  const callers = certifyRoles(tables.settings, catalog, demands.map(({ name }) => name), lost);
  const { plans } = tables;
  const certificates = demands.map((demand) => {
    const plan = Object.hasOwn(plans, demand.name) ? plans[demand.name] : undefined;
    const certificate = certifyTool(demand, plan, catalog, lost);
    const roles = callers?.get(demand.name);
    return roles === undefined ? certificate : { ...certificate, callers: roles };
  });
  const names = new Set(demands.map(({ name }) => name));
  for (const tool of Object.keys(plans)) if (!names.has(tool)) lost({ tool, at: null, branch: "plans", guard: `tool '${tool}' is in the catalog` });
  return { certificates: problems.length > 0 ? null : certificates, problems };
}

function certifyTool(demand: ToolDemand, plan: unknown, catalog: Json, lost: (problem: Problem) => void): GuardCertificate {
  const { name: tool, at } = demand;
  const missing = (branch: string, guard: string): void => lost({ tool, at, branch, guard });
  const parts = partsOf(plan);
  if (parts === null || (plan as Json)["kind"] !== demand.kind) {
    missing("plans", `tool '${tool}' has a plan of kind ${demand.kind}`);
    return { tool, branches: [] };
  }
  for (const what of parts.unknown) missing("plans", `${what}, which the proof does not know,`);
  const found = new Set(parts.branches.map(({ directory }) => directory));
  for (const arg of demand.directories.keys()) if (!found.has(arg)) missing("plans", `the directory of '${arg}'`);
  reportOutput(demand, plan as Json, parts, missing);
  const branches = parts.branches.flatMap((branch) => {
    const read = branch.directory === null ? demand.read : demand.directories.get(branch.directory);
    if (read !== undefined) {
      if (branch.directory !== null && branch.place["field"] !== demand.directories.get(branch.directory)?.field) missing(branch.name, "the written field");
      return [showBranch(branch, read, catalog, missing)];
    }
    missing(branch.name, "that the catalog has this directory");
    return [];
  });
  return { tool, branches };
}

function showBranch({ name, place }: Branch, demand: ReadDemand, catalog: Json, missing: (branch: string, guard: string) => void): GuardCertificate["branches"][number] {
  if (place["connection"] !== demand.connection) missing(name, `connection '${demand.connection}'`);
  if (!sameCollection(name, place, demand)) missing(name, `collection ${JSON.stringify(demand.collection)}`);
  const conjuncts = conjunctsOf(place["guard"]);
  if (conjuncts === null) missing(name, "a guard that the proof can read");
  for (const condition of demand.conditions) {
    if (conjuncts?.some((conjunct) => isCondition(conjunct, condition)) !== true) missing(name, textOf(condition));
  }
  if (demand.tenant === null ? place["tenant"] !== undefined : !same(place["tenant"], demand.tenant)) {
    missing(name, demand.tenant === null ? "that no tenant is asked for" : `the tenant of ${String(demand.tenant["from"])} '${String(demand.tenant["name"])}'`);
  }
  const access = accessOf(demand);
  if (!same(place["document_acl"], demand.access ?? undefined)) missing(name, access === null ? "that there is no document access" : `document access by ${access.combine} of ${access.rules.join(", ")}`);
  const routes = routesOf(name, place, demand.connection, catalog, missing);
  return { branch: name, guards: [...demand.conditions.map(textOf), ...routes.map((key) => `${key} of the connection`)], tenancy: demand.tenant === null ? "none" : "filter", ...(access === null ? {} : { access }) };
}

const MATCH_TEXTS: { readonly [match: string]: string } = { any_of: "has one of claim", equals: "equals claim", at_most: "is at most claim" };

/** Document access as a certificate shows it. */
function accessOf({ access }: ReadDemand): { readonly combine: string; readonly rules: readonly string[] } | null {
  if (access === null) return null;
  return { combine: access.combine, rules: access.rules.map(({ match, claim, field }) => `${field} ${MATCH_TEXTS[match] ?? match} '${claim}'`) };
}

/** Settings of the connection that isolate by address. One counts only if the backend says that its requests carry it. */
function routesOf(branch: string, place: Json, connection: string, catalog: Json, missing: (branch: string, guard: string) => void): readonly string[] {
  const written = (catalog["connections"] as Json)[connection];
  if (!isRecord(written)) return [];
  const { backend } = written;
  const carried: readonly string[] = Object.entries(CAPABILITIES).find(([name]) => name === backend)?.[1].routes ?? [];
  const keys = carried.filter((key) => typeof written[key] === "string");
  const route = isRecord(place["route"]) ? place["route"] : {};
  for (const key of keys) if (!sameAsWritten(route[key], written[key])) missing(branch, `the ${key} of the connection`);
  for (const key of Object.keys(route)) if (!keys.includes(key)) missing(branch, `the route '${key}', which no request of this backend carries out,`);
  return keys;
}

/** A tool that lists collections and has no list of its own may count any. */
function sameCollection(branch: string, place: Json, { collection }: ReadDemand): boolean {
  if (branch !== "count-each") return typeof collection === "string" ? place["collection"] === collection : same(place["collection"], collection);
  const allowed = typeof collection === "string" ? [collection] : collection.allowed;
  return same(place["allowed"], allowed);
}

/**
 * Conditions that hold for every row the filter lets through; of an `or` only what all its branches share. Null for a
 * filter with a part that this room cannot read.
 */
function conjunctsOf(filter: unknown): readonly Json[] | null {
  if (filter === undefined) return [];
  if (!isRecord(filter)) return null;
  const keys = Object.keys(filter).sort().join();
  if (keys === "op,path,value" || keys === "dtype,op,path,value") return [filter];
  const children = keys === "and" ? filter["and"] : keys === "or" ? filter["or"] : null;
  if (!Array.isArray(children)) return null;
  const parts = (children as readonly unknown[]).map((child) => conjunctsOf(child));
  if (parts.includes(null)) return null;
  const [first = [], ...others] = parts as readonly (readonly Json[])[];
  return keys === "and" ? [...first, ...others.flat()] : first.filter((condition) => others.every((branch) => branch.some((other) => same(other, condition))));
}

function isCondition(conjunct: Json, { path, op, value, mayRefer, dtype }: WrittenCondition): boolean {
  return conjunct["path"] === path && conjunct["op"] === op && conjunct["dtype"] === dtype && (mayRefer ? sameAsWritten(conjunct["value"], value) : same(conjunct["value"], value));
}

function textOf({ path, op, value, dtype }: WrittenCondition): string {
  return `${path} ${op} ${JSON.stringify(value)}${dtype === undefined ? "" : " as a date"}`;
}
