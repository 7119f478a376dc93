/** Plans without what asks a service: for programs that run where there is none. */
import type { PipelineRetrieve, QueryPlan, ToolPlan } from "../abi/plan.js";

/** A plan that asks no other service and reads no part of a store by its address. */
export function alone(plan: ToolPlan): ToolPlan {
  switch (plan.kind) {
    case "search":
    case "scroll": {
      const { rerank: _, route: __, query, ...rest } = plan;
      return { ...rest, bind: withoutRoutes(rest.bind), ...(query === undefined ? {} : { query: unexpanded(query) }) };
    }
    case "pipeline": {
      const { rerank: _, retrieve, ...rest } = plan;
      const { route: __, query, ...read } = retrieve;
      const made: PipelineRetrieve = { ...read, bind: withoutRoutes(read.bind), ...(query === undefined ? {} : { query: unexpanded(query) }) };
      return { ...rest, retrieve: made };
    }
    case "lookup":
    case "count": {
      const { route: _, ...rest } = plan;
      return { ...rest, bind: withoutRoutes(rest.bind) };
    }
    case "meta": {
      const { route: _, ...rest } = plan;
      return rest;
    }
    default:
      return plan satisfies never;
  }
}

function unexpanded({ expand: _, ...query }: QueryPlan): QueryPlan {
  return query;
}

function withoutRoutes(bind: PipelineRetrieve["bind"]): PipelineRetrieve["bind"] {
  return bind.map(({ resolve, ...binding }) => {
    if (resolve === undefined) return binding;
    const { route: _, ...rest } = resolve;
    return { ...binding, resolve: rest };
  });
}
