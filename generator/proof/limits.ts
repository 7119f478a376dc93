/** security.rate_limit as written against the settings as they will be served: a limit that is lost or raised is no limit. */
import { isRecord } from "../../runtime/base/paths.js";
import { same, sameAsWritten } from "./same.js";
import type { Json } from "./written.js";

const rec = (value: unknown): Json => (isRecord(value) ? value : {});
const numbers = (value: unknown): Json => Object.fromEntries(Object.entries(rec(value)).filter(([, limit]) => typeof limit === "number"));

/** Reports each limit that the settings do not have as it is written. */
export function reportLimits(written: Json, planned: unknown, missing: (section: string, guard: string) => void): void {
  const lost = (guard: string): void => missing("security.rate_limit", guard);
  if (written["enabled"] !== true) {
    if (planned !== undefined) lost("that calls are not limited");
    return;
  }
  if (!isRecord(planned)) return lost("the written limits");
  const { store = "memory", on_store_error: onError = "closed", redis_url: url = null, global, global_limits: alias, per_principal: principals, per_tool: tools = {} } = written;
  if (planned["store"] !== store) lost(`that counters are kept in the store '${String(store)}'`);
  if (planned["on_store_error"] !== onError) lost(`on_store_error: ${String(onError)}`);
  if (!sameAsWritten(planned["redis_url"] ?? null, url)) lost("the written redis_url");
  if (!same(planned["global"], numbers(global ?? alias))) lost("the written limits of all callers");
  if (!same(planned["per_principal"], numbers(principals))) lost("the written limits of each caller");
  if (!same(planned["per_tool"], tools)) lost("the written limits of tools");
  const known = ["store", "on_store_error", "redis_url", "global", "per_principal", "per_tool"];
  for (const key of Object.keys(planned)) if (!known.includes(key)) lost(`'${key}', which the proof does not know,`);
}
