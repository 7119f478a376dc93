/** A program with the values of its environment: every reference that the compiler left open is filled here, at start. */
import type { Program, ServePlan } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import { comparesInstants, toList, type Filter } from "../abi/filter.js";
import { INSTANT_FORM, parseInstant } from "../base/instant.js";
import type { Route } from "../adapters/adapter.js";
import type { ConnectionPlan, EmbeddingPlan, Guard, Json, RerankPlan, RoutePlan, ToolPlan } from "../abi/plan.js";
import { fill, hasReferences, type Env } from "../abi/references.js";

type Open = Pick<Program, "connections" | "embeddings" | "settings" | "plans">;

type ProviderConfig = NonNullable<RerankPlan["config"]>;
type Filled = { readonly [key: string]: Json };

export type FilledConnection = ConnectionPlan & { readonly settings: { readonly [key: string]: Json } };

/** The parts of a program that may hold references, without them. */
export interface FilledProgram {
  readonly connections: { readonly [name: string]: FilledConnection };
  readonly embeddings: { readonly [name: string]: EmbeddingPlan & { readonly config?: { readonly [key: string]: Json } } };
  readonly settings: ServePlan;
  /** A guard of any plan of the program, its conditions marked as fixed. */
  guard(guard: Guard): Filter;
  /** A route of any plan of the program. */
  route(route: RoutePlan): Route;
  /** The `config` of a provider of any plan of the program. */
  config(config: ProviderConfig): Filled;
}

/**
 * Fills a program. The values are in the result and nowhere else: plans stay as they were compiled.
 * @throws ToolError missing_env that names all variables which have neither a value nor a default.
 */
export function fillProgram(program: Open, env: Env): FilledProgram {
  const missing = new Set<string>();
  const connections = fill(program.connections, env, missing) as FilledProgram["connections"];
  const embeddings = fill(program.embeddings, env, missing) as FilledProgram["embeddings"];
  const settings = fill(program.settings, env, missing) as ServePlan;
  const open = Object.values(program.plans).flatMap(openPartsOf).filter(hasReferences);
  for (const part of open) fill(part, env, missing);
  if (missing.size > 0) {
    const names = [...missing].sort();
    throw new ToolError("missing_env", `no value for ${names.join(", ")}: add the line ${names[0]}=value to the file given with --env FILE`, { names });
  }
  const guard = filler<Guard, Filter>(env, checkDates, fixed);
  for (const part of Object.values(program.plans).flatMap(guardsOf)) guard(part);
  return { connections, embeddings, settings, guard, route: filler<RoutePlan, Route>(env), config: filler<ProviderConfig, Filled>(env) };
}

/** Filled by content, once for each part: a handler may hold another copy of the plan than the program does. */
function filler<Part extends object, Filled>(env: Env, check: (filled: Filled) => void = () => {}, finish: (filled: Filled) => Filled = (made) => made): (part: Part) => Filled {
  const filled = new WeakMap<Part, Filled>();
  return (part) => {
    const before = filled.get(part);
    if (before !== undefined) return before;
    const missing = new Set<string>();
    const made = fill(part, env, missing) as Filled;
    // Fails closed: a part that is not one of the program's may need a value that was not asked for at start.
    if (missing.size > 0) throw new ToolError("missing_env", `no value for ${[...missing].join(", ")}`);
    check(made);
    const finished = finish(made);
    filled.set(part, finished);
    return finished;
  };
}

/** A guard that compares points in time needs one: `ne` of anything else would let every row through. */
function checkDates(filter: Filter): void {
  if ("and" in filter) return filter.and.forEach(checkDates);
  if ("or" in filter) return filter.or.forEach(checkDates);
  if (!comparesInstants(filter) || toList(filter.value).every((one) => typeof one === "string" && parseInstant(one) !== null)) return;
  throw new ToolError("tds_invalid", `a static filter compares '${filter.path}' with a value of the environment that is not ${INSTANT_FORM}`);
}

/** A guard is the same in every call, so the native query has it as a constant. */
function fixed(filter: Filter): Filter {
  if ("and" in filter) return { and: filter.and.map(fixed) };
  return "or" in filter ? { or: filter.or.map(fixed) } : { ...filter, fixed: true };
}

/** Every guard of a tool's plan. */
function guardsOf(plan: ToolPlan): readonly Guard[] {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const directories = "bind" in read ? read.bind.map(({ resolve }) => resolve?.guard) : [];
  return [read.guard, ...directories].filter((guard) => guard !== undefined);
}

/** Everything of a tool's plan that may hold references. */
function openPartsOf(plan: ToolPlan): readonly unknown[] {
  if (plan.kind === "meta") return [plan.guard, plan.route];
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const directories = read.bind.map(({ resolve }) => resolve?.route);
  const query = "query" in read ? read.query?.expand?.config : undefined;
  const rerank = "rerank" in plan ? plan.rerank?.config : undefined;
  return [...guardsOf(plan), read.route, query, rerank, ...directories];
}
