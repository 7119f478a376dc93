/**
 * The places of a plan table that read a store, from a table that anybody may have written. Every key of a plan is
 * listed here: one that is not known to this room makes the plan unprovable, because it might undo a guard.
 */
import { isRecord } from "../../runtime/base/paths.js";
import type { Json } from "./written.js";

/** One place that reads a store. */
export interface Branch {
  readonly name: string;
  /** Argument whose directory this is; null for the tool's own reads. */
  readonly directory: string | null;
  readonly place: Json;
}

const READ = ["connection", "collection", "guard", "tenant", "document_acl", "route", "bind"];
const SEARCH = ["kind", ...READ, "query", "rerank", "limit", "output", "deadline_s"];

const KEYS: { readonly [kind: string]: readonly string[] } = {
  search: SEARCH,
  scroll: SEARCH,
  lookup: ["kind", ...READ, "rows", "output", "deadline_s"],
  count: ["kind", ...READ, "deadline_s"],
  pipeline: ["kind", "retrieve", "steps", "rerank", "limit", "output", "deadline_s"],
  meta: ["kind", "connection", "allowed", "guard", "tenant", "document_acl", "route", "deadline_s"],
  retrieve: [...READ, "query", "filter", "overfetch_factor", "max_candidates"],
  binding: ["arg", "path", "op", "dtype", "resolve"],
  directory: ["connection", "collection", "field", "min_confidence", "max_candidates", "cache_ttl_s", "known", "guard", "tenant", "document_acl", "route"],
  output: ["fields", "id", "score", "redact", "max_field_length", "truncate_suffix"],
  post_filter: ["kind", "expr", "text"],
  group_by: ["kind", "keys", "per_group"],
  sort: ["kind", "by", "desc", "nulls", "dtype"],
  project: ["kind", "fields"],
};

/** What a plan is made of; `unknown` lists what this room cannot place. */
export interface PlanParts {
  readonly branches: readonly Branch[];
  /** The part with bindings; null for tools that list collections. */
  readonly read: Json | null;
  readonly output: Json | null;
  readonly steps: readonly Json[];
  readonly unknown: readonly string[];
}

const rec = (value: unknown): Json => (isRecord(value) ? value : {});

/** The parts of a plan of one of the known kinds; null for any other. */
export function partsOf(plan: unknown): PlanParts | null {
  const { kind } = rec(plan);
  if (!isRecord(plan) || typeof kind !== "string" || !["search", "scroll", "lookup", "count", "pipeline", "meta"].includes(kind)) return null;
  const unknown: string[] = [];
  const known = (what: string, value: unknown): Json => {
    if (!isRecord(value)) unknown.push(`${what} that is no object`);
    for (const key of Object.keys(rec(value))) if (KEYS[what]?.includes(key) !== true) unknown.push(`'${key}' of ${what}`);
    return rec(value);
  };
  known(kind, plan);
  if (kind === "meta") return { branches: [{ name: "count-each", directory: null, place: plan }], read: null, output: null, steps: [], unknown };

  const read = kind === "pipeline" ? known("retrieve", plan["retrieve"]) : plan;
  const bind = Array.isArray(read["bind"]) ? (read["bind"] as readonly unknown[]).map((binding) => known("binding", binding)) : [];
  if (!Array.isArray(read["bind"])) unknown.push("'bind' that is no list");
  const directories = bind.filter(({ resolve }) => resolve !== undefined).map(({ arg, resolve }): Branch => ({ name: `directory:${String(arg)}`, directory: String(arg), place: known("directory", resolve) }));
  const steps = (Array.isArray(plan["steps"]) ? (plan["steps"] as readonly unknown[]) : []).map(rec);
  for (const step of steps) {
    const name = String(step["kind"]);
    if (["post_filter", "group_by", "sort", "project"].includes(name)) known(name, step);
    else unknown.push(`a step of kind '${name}'`);
  }
  return { branches: [...ownBranches(kind, read), ...directories], read, output: plan["output"] === undefined ? null : known("output", plan["output"]), steps, unknown };
}

/** A text makes a search; without one the same plan is a read by filter alone. */
function ownBranches(kind: string, place: Json): readonly Branch[] {
  const named = (name: string): Branch => ({ name: kind === "pipeline" ? `retrieve:${name}` : name, directory: null, place });
  if (kind === "lookup" || kind === "count") return [named(kind)];
  const withoutText = named(kind === "scroll" ? "scroll" : "filter-only");
  if (place["query"] === undefined) return [withoutText];
  return rec(place["query"])["required"] === true ? [named("search")] : [named("search"), withoutText];
}
