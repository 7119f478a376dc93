/** What a catalog says of collections that are copied: which, under which filter and route, and who made their vectors. */
import type { Filter } from "../../runtime/abi/filter.js";
import { fill, type Env } from "../../runtime/abi/references.js";
import type { Route } from "../../runtime/adapters/adapter.js";
import { guardOf, routeOf, type Compiled } from "../compile.js";
import type { ResolvedConnection } from "../ir.js";
import { wantedIndexes, type WantedIndex } from "../load/indexes.js";
import { readersOf, statedEmbedding } from "../load/target.js";

export interface CollectionFacts {
  /** `provider/model` of the tools that search it; `null` where none does. */
  readonly embeddedBy: string | null;
  /** Its space as the catalog has locked it. */
  readonly space: string | undefined;
  /** Indexes that the tools need. */
  readonly indexes: readonly WantedIndex["spec"][];
}

/** @throws RangeError where two tools embed the collection differently */
export function factsOf({ plans }: Compiled, connection: string, collection: string): CollectionFacts {
  const readers = readersOf(plans.tools, connection, collection);
  const embedding = statedEmbedding(readers, plans.embeddings, collection);
  return { embeddedBy: embedding === undefined ? null : `${embedding.provider}/${embedding.model}`, space: embedding?.space, indexes: wantedIndexes(plans, connection, collection).map(({ spec }) => spec) };
}

/** Collections that tools read by name; `null` where a tool takes any collection of the connection. */
export function collectionsOf({ plans }: Compiled, connection: string): readonly string[] | null {
  const names = new Set<string>();
  for (const plan of Object.values(plans.tools)) {
    const read = plan.kind === "pipeline" ? plan.retrieve : plan;
    if (read.connection !== connection) continue;
    if (!("collection" in read)) continue;
    if (typeof read.collection === "string") names.add(read.collection);
    else if (read.collection.allowed === undefined) return null;
    else for (const name of read.collection.allowed) names.add(name);
  }
  return [...names].sort();
}

/** Fields that are points in time by what the catalog says of the connection's built-in tools and of its own tools. */
export function datesOf({ checked }: Compiled, connection: ResolvedConnection): ReadonlySet<string> {
  const own = Object.entries(connection.builtinDefaults.dtypes).filter(([, dtype]) => dtype === "datetime").map(([path]) => path);
  return new Set([...own, ...checked.tools.filter(({ target }) => target?.connection === connection.name).flatMap(({ dates }) => dates)]);
}

/** The static filters of the connection, and its namespace or tenant, with their references filled. */
export function boundsOf(compiled: Compiled, connection: ResolvedConnection, env: Env): { readonly guard: Filter | null; readonly route: Route | undefined } {
  const missing = new Set<string>();
  const guard = guardOf(connection.builtinDefaults.staticFilters, [...datesOf(compiled, connection)]);
  const plan = compiled.plans.connections[connection.name];
  const route = plan === undefined ? undefined : routeOf(plan);
  const filled = { guard: guard === undefined ? null : (fill(guard, env, missing) as Filter), route: route === undefined ? undefined : (fill(route, env, missing) as Route) };
  if (missing.size > 0) throw new RangeError(`no value for ${[...missing].join(", ")}: write it to the file of --env-file`);
  return filled;
}
