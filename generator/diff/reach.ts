/**
 * What a caller can reach: stores by their address, collections, and the conditions that every row passes. Names of
 * tools and connections play no part in it, so a tool under a new name, or the same store under a second one, is
 * compared by what it returns.
 */
import type { Condition, Filter } from "../../runtime/abi/filter.js";
import { writtenText, type ConnectionPlan, type DocumentAclPlan, type TenantPlan, type ToolPlan } from "../../runtime/abi/plan.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { boundConditions } from "./bounds.js";
import { same } from "./change.js";
import { isWithin } from "./document-acl.js";
import { conjunctsOf, impliedBy } from "./implication.js";
import { outputOf, readOf } from "./read.js";

/** What is needed of a catalog. */
export interface ReachSurface {
  readonly settings: { readonly security?: { readonly rbac?: unknown } };
  readonly connections: { readonly [name: string]: ConnectionPlan };
  readonly plans: { readonly [tool: string]: ToolPlan };
  readonly definitions: readonly ToolDefinition[];
}

/** What one tool returns. */
export interface Access {
  readonly tool: string;
  readonly store: ConnectionPlan | undefined;
  /** `null` for any. */
  readonly collections: readonly string[] | null;
  readonly conditions: readonly Condition[];
  readonly tenant: TenantPlan | undefined;
  readonly documentAcl: DocumentAclPlan | undefined;
  readonly route: unknown;
  /** Whether rows leave, or only numbers. */
  readonly hasRows: boolean;
}

export function accessOf(surface: ReachSurface, tool: string): Access {
  const plan = surface.plans[tool] as ToolPlan;
  const read = readOf(plan);
  return {
    tool, store: Object.hasOwn(surface.connections, read.connection) ? surface.connections[read.connection] : undefined,
    collections: read.allowed, tenant: read.tenant, documentAcl: read.documentAcl, route: read.route, hasRows: outputOf(plan) !== undefined,
    conditions: [...conjunctsOf(read.guard as Filter | undefined), ...boundConditions(plan, surface.definitions.find(({ name }) => name === tool))],
  };
}

const ADDRESSES: readonly string[] = ["path", "endpoint", "place"];

/** Whether a setting says where records are; one that the backend's descriptor does not know might. */
function isAddress(backend: string, key: string): boolean {
  const known: { readonly [backend: string]: (typeof DESCRIPTORS)[keyof typeof DESCRIPTORS] } = DESCRIPTORS;
  const settings = Object.hasOwn(known, backend) ? known[backend]?.settings ?? {} : {};
  const use = Object.hasOwn(settings, key) ? settings[key]?.use : undefined;
  return use === undefined || ADDRESSES.includes(use);
}

/** Parts of an address that can be compared; null for a part that only the environment knows. */
function addressOf({ backend, settings, credentials }: ConnectionPlan): ReadonlyMap<string, string | null> {
  return new Map(Object.entries(settings).filter(([key]) => isAddress(backend, key)).map(([key, value]) => [key, credentials !== undefined && isFetched(backend, key) ? null : typeof value === "string" ? normal(value) : value === null || typeof value !== "object" ? String(value) : null]));
}

/** A secret that is fetched may hold the address, which then wins over the written one. */
function isFetched(backend: string, key: string): boolean {
  const use = Object.values(DESCRIPTORS).find(({ name }) => name === backend)?.settings[key]?.use;
  return use === "path" || use === "endpoint";
}

/** `./a.db` is `a.db`, and a URL is the same with another case of its host or a slash at its end. */
function normal(text: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/i.exec(text);
  if (url === null) return text.split("/").filter((part, index) => part !== "." && (part !== "" || index === 0)).join("/");
  const port = url[1]?.toLowerCase() === "https://" ? /:443$/ : /:80$/;
  return `${url[1]?.toLowerCase()}${url[2]?.toLowerCase().replace(/^.*@/, "").replace(port, "")}${url[3]?.replace(/\/+$/, "")}`;
}

/** Shown to be the same store. */
export function isSameStore(a: ConnectionPlan | undefined, b: ConnectionPlan | undefined): boolean {
  if (a === undefined || b === undefined || a.backend !== b.backend || !same(a.credentials, b.credentials)) return false;
  const [left, right] = [addressOf(a), addressOf(b)];
  const written = ({ settings }: ConnectionPlan, key: string): string | null => writtenText(settings[key]);
  return [...new Set([...left.keys(), ...right.keys()])].every((key) => (left.get(key) ?? null) !== null ? left.get(key) === right.get(key) : written(a, key) !== null && written(a, key) === written(b, key));
}

/** Not shown to be another store: an address that only the environment knows may be any address. */
export function mayBeSameStore(a: ConnectionPlan | undefined, b: ConnectionPlan | undefined): boolean {
  if (a === undefined || b === undefined) return true;
  if (a.backend !== b.backend) return false;
  const [left, right] = [addressOf(a), addressOf(b)];
  return [...left].every(([key, value]) => value === null || !right.has(key) || right.get(key) === null || right.get(key) === value);
}

function overlaps(a: Access, b: Access): boolean {
  return mayBeSameStore(a.store, b.store) && (a.collections === null || b.collections === null || a.collections.some((name) => b.collections?.includes(name) === true));
}

/** Whether a caller who may use `old` gains nothing from `next`. */
export function covers(old: Access, next: Access): boolean {
  return isSameStore(old.store, next.store) && same(old.route, next.route) && (old.hasRows || !next.hasRows)
    && (old.collections === null || (next.collections !== null && next.collections.every((name) => old.collections?.includes(name) === true)))
    && old.conditions.every((condition) => impliedBy(next.conditions, condition))
    && isWithin(next.documentAcl, old.documentAcl)
    && (old.tenant === undefined || (next.tenant !== undefined && same({ ...old.tenant, enforce: "" }, { ...next.tenant, enforce: "" })));
}

interface Rbac {
  readonly default_role: string;
  readonly roles: { readonly [role: string]: { readonly allow: readonly string[] } };
  readonly deny_tools: readonly string[];
}

/** A caller of one role; `null` is any caller of a catalog that checks no roles. */
export type Role = string | null;

/** Kinds of callers that a catalog distinguishes. */
export function rolesOf({ settings }: ReachSurface): readonly Role[] {
  const rbac = settings.security?.rbac as Rbac | undefined;
  return rbac === undefined ? [null] : [...new Set([rbac.default_role, ...Object.keys(rbac.roles)])];
}

export function mayCall({ settings }: ReachSurface, role: Role, tool: string): boolean {
  const rbac = settings.security?.rbac as Rbac | undefined;
  if (rbac === undefined) return true;
  if (rbac.deny_tools.includes(tool)) return false;
  const name = role ?? rbac.default_role;
  const allow = Object.hasOwn(rbac.roles, name) ? rbac.roles[name]?.allow ?? [] : [];
  return allow.includes("*") || allow.includes(tool);
}

/** Everything that a caller of this role reaches. */
export function reachOf(surface: ReachSurface, role: Role): readonly Access[] {
  return Object.keys(surface.plans).filter((tool) => mayCall(surface, role, tool)).map((tool) => accessOf(surface, tool));
}

/**
 * What an access adds to a reach: nothing; something that no tool of these catalogs read before, under any name
 * (`new`); or more of what this caller could not reach (`more`).
 */
export function gainOf(next: Access, reach: readonly Access[], all: readonly Access[]): "none" | "new" | "more" {
  if (reach.some((old) => covers(old, next))) return "none";
  return all.some((old) => overlaps(old, next)) ? "more" : "new";
}

/** Conditions that all accesses to the same place have and this one lacks. */
export function lostConditions(next: Access, reach: readonly Access[]): readonly Condition[] {
  const [first, ...others] = reach.filter((old) => overlaps(old, next)).map(({ conditions }) => conditions);
  if (first === undefined) return [];
  return first.filter((condition) => others.every((conditions) => impliedBy(conditions, condition)) && !impliedBy(next.conditions, condition));
}
