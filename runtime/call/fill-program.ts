/** A program with the values of its environment: every reference that the compiler left open is filled here, at start. */
import type { Program, ServePlan } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import type { Filter } from "../abi/filter.js";
import type { ConnectionPlan, EmbeddingPlan, Guard, Json, ToolPlan } from "../abi/plan.js";
import { fill, hasReferences, type Env } from "../abi/references.js";

type Open = Pick<Program, "connections" | "embeddings" | "settings" | "plans">;

export type FilledConnection = ConnectionPlan & { readonly settings: { readonly [key: string]: Json } };

/** The parts of a program that may hold references, without them. */
export interface FilledProgram {
  readonly connections: { readonly [name: string]: FilledConnection };
  readonly embeddings: { readonly [name: string]: EmbeddingPlan & { readonly config?: { readonly [key: string]: Json } } };
  readonly settings: ServePlan;
  /** A guard of any plan of the program. Most programs have none with references: then it is the guard itself. */
  guard(guard: Guard): Filter;
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
  return { connections, embeddings, settings, guard: open.length === 0 ? asWritten : guardFiller(env) };
}

function asWritten(guard: Guard): Filter {
  return guard as Filter;
}

/** Filled by content, once for each guard: a handler may hold another copy of the plan than the program does. */
function guardFiller(env: Env): FilledProgram["guard"] {
  const filled = new WeakMap<Guard, Filter>();
  return (guard) => {
    const before = filled.get(guard);
    if (before !== undefined) return before;
    const missing = new Set<string>();
    const made = fill(guard, env, missing) as Filter;
    // Fails closed: a guard that is not one of the program's may need a value that was not asked for at start.
    if (missing.size > 0) throw new ToolError("missing_env", `no value for ${[...missing].join(", ")}`);
    filled.set(guard, made);
    return made;
  };
}

/** Everything of a tool's plan that may hold references. */
function openPartsOf(plan: ToolPlan): readonly unknown[] {
  if (plan.kind === "meta") return [plan.guard];
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const directories = read.bind.flatMap(({ resolve }) => (resolve?.guard === undefined ? [] : [resolve.guard]));
  const query = "query" in read ? read.query?.expand?.config : undefined;
  const rerank = "rerank" in plan ? plan.rerank?.config : undefined;
  return [read.guard, read.route, query, rerank, ...directories];
}
