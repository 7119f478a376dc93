/** The generic handler of each kind: what printed handlers spell out, for programs that are made in memory. */
import type { CallArgs, CallContext, Envelope, ToolHandler } from "../abi/call.js";
import type { ToolPlan } from "../abi/plan.js";
import { bind } from "./bind.js";
import { collections } from "./collections.js";
import { pipeline } from "./pipeline.js";
import { count, lookup, scroll, search } from "./search.js";
import { shape } from "./shape.js";

/** A handler that runs the plan: bind → read → shape, as every printed handler does. */
export function handlerOf(plan: ToolPlan): ToolHandler {
  return async (args: CallArgs, call: CallContext): Promise<Envelope> => {
    switch (plan.kind) {
      case "search":
        return shape(plan, await search(bind(plan, args, call), call), call);
      case "scroll":
        return shape(plan, await scroll(bind(plan, args, call), call), call);
      case "lookup":
        return shape(plan, await lookup(bind(plan, args, call), call), call);
      case "count":
        return shape(plan, await count(bind(plan, args, call), call), call);
      case "meta":
        return shape(plan, await collections(plan, call), call);
      case "pipeline":
        return shape(plan, await pipeline(plan, bind(plan.retrieve, args, call), args, call), call);
      default:
        return plan satisfies never;
    }
  };
}
