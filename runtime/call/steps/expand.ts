/** Query expansion: other phrases for the caller's query, each searched like the query itself. */
import type { CallContext } from "../../abi/call.js";
import type { Row } from "../../abi/filter.js";
import type { QueryPlan } from "../../abi/plan.js";
import { tryStep } from "./degrade.js";

/** Result warning: only the caller's own query was searched. */
const FAILED = "VB4030";

/** The query, then each phrase that differs from all before it. */
export async function expandText({ expand }: QueryPlan, text: string, call: CallContext): Promise<readonly string[]> {
  if (expand === undefined) return [text];
  const phrases = await tryStep({
    part: expand, code: FAILED, operation: "expand", share: 1 / 3,
    work: async (signal) => (await call.services.expander(expand)).phrases(text, signal),
    count: (found) => found.length,
  }, call);
  return [...new Set([text, ...(phrases ?? [])])].slice(0, expand.variants + 1);
}

/** The rows of several searches as one list, best first: of a row that several found, the one with the best score. */
export function mergeRows(found: readonly (readonly Row[])[], limit: number): readonly Row[] {
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const best = new Map<unknown, Row>();
  for (const row of found.flat()) {
    const key = row["_id"] ?? row;
    const known = best.get(key);
    if (known === undefined || scoreOf(row) > scoreOf(known)) best.set(key, row);
  }
  return [...best.values()].sort((a, b) => scoreOf(b) - scoreOf(a)).slice(0, limit);
}

function scoreOf({ _score }: Row): number {
  return typeof _score === "number" ? _score : 0;
}
