/** The generic handler of each kind: what printed handlers spell out, for programs that are made in memory. */
import type { CallArgs, CallContext, CallRows, ToolHandler } from "../abi/call.js";
import type { ToolPlan } from "../abi/plan.js";
import { bind } from "./steps/bind.js";
import { collections } from "./steps/collections.js";
import { hasDirectory, resolve } from "./directory/directory.js";
import { pipeline } from "./pipeline/pipeline.js";
import { count, lookup, scroll, search } from "./steps/search.js";
import { shape } from "./steps/shape.js";

/** A handler that runs the plan: resolve → bind → read → shape, as every printed handler does. */
export function handlerOf(plan: ToolPlan): ToolHandler {
  return async (args: CallArgs, call: CallContext) => shape(plan, await read(plan, args, call), call);
}

async function read(plan: ToolPlan, args: CallArgs, call: CallContext): Promise<CallRows> {
  if (plan.kind === "meta") return collections(plan, call);
  const known = hasDirectory(plan) ? await resolve(plan, args, call) : args;
  switch (plan.kind) {
    case "search":
      return search(bind(plan, known, call), call);
    case "scroll":
      return scroll(bind(plan, known, call), call);
    case "lookup":
      return lookup(bind(plan, known, call), call);
    case "count":
      return count(bind(plan, known, call), call);
    case "pipeline":
      return pipeline(plan, bind(plan.retrieve, known, call), known, call);
    default:
      return plan satisfies never;
  }
}
