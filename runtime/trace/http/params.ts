/** Path and query of a request against the rules of its route: typed values, or the body of a 422. */
import type { z } from "zod";
import type { components } from "../api.types.gen.js";
import { INTEGER, type TraceRoute } from "../../abi/trace.js";

export type Invalid = components["schemas"]["ValidationError"];
export type Values = { readonly [name: string]: string | number | undefined };

/** Query parameters by name; of a repeated one the last counts. */
export function queryValues(query: string): { [name: string]: string } {
  const values: { [name: string]: string } = {};
  if (query === "") return values;
  for (const [name, value] of new URLSearchParams(query)) values[name] = value;
  return values;
}

/** All failures together, in the order of the rules. */
export function validateParams(route: TraceRoute, path: readonly string[], query: string): { readonly values: Values } | { readonly invalid: readonly Invalid[] } {
  const given: { [name: string]: string } = queryValues(query);
  route.pathParams.forEach((name, index) => {
    given[name] = path[index] ?? "";
  });
  const parsed = route.params.safeParse(given);
  if (parsed.success) return { values: parsed.data as Values };
  const seen = new Set<string>();
  const invalid: Invalid[] = [];
  for (const issue of parsed.error.issues) {
    const name = String(issue.path[0] ?? "");
    if (seen.has(name)) continue;
    seen.add(name);
    invalid.push({ ...explain(issue, name, given[name]), loc: [route.pathParams.includes(name) ? "path" : "query", name], input: given[name] ?? null } as Invalid);
  }
  return { invalid: invalid.map(({ type, loc, msg, input, ctx }) => ({ type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) })) };
}

const NOT_WHOLE = { type: "int_parsing", msg: "must be a whole number" } as const;

/** Parameters that are moments; their pattern, with every month and leap year in it, helps nobody. */
const MOMENTS = new Set(["from", "to"]);
export const NO_MOMENT = "must be a moment that exists, such as 2026-11-20 or 2026-11-20T11:54:40Z";

/** The kind of failure, named as clients of such services know it. */
function explain(issue: z.core.$ZodIssue, name: string, given: string | undefined): Pick<Invalid, "type" | "msg" | "ctx"> {
  switch (issue.code) {
    case "too_small": {
      const bound = Number(issue.minimum);
      if (issue.origin === "string") return { type: "string_too_short", msg: `must have at least ${bound} character${bound === 1 ? "" : "s"}`, ctx: { min_length: bound } };
      return { type: "greater_than_equal", msg: `must be at least ${bound}`, ctx: { ge: bound } };
    }
    case "too_big": {
      const bound = Number(issue.maximum);
      if (issue.origin === "string") return { type: "string_too_long", msg: `must have at most ${bound} characters`, ctx: { max_length: bound } };
      return { type: "less_than_equal", msg: `must be at most ${bound}`, ctx: { le: bound } };
    }
    case "invalid_format": {
      const pattern = "pattern" in issue && issue.pattern !== undefined ? String(issue.pattern).slice(1, -1).replaceAll("\\/", "/") : "";
      if (pattern === INTEGER.source) return NOT_WHOLE;
      if (MOMENTS.has(name)) return { type: "string_pattern_mismatch", msg: NO_MOMENT };
      return { type: "string_pattern_mismatch", msg: `must match ${pattern}`, ctx: { pattern } };
    }
    case "invalid_type":
      if (given === undefined) return { type: "missing", msg: "is required" };
      return NOT_WHOLE;
    default:
      return NOT_WHOLE;
  }
}
