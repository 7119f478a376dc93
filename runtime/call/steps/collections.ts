/** `list_<connection>_collections`: names and how many records of each the caller may see. */
import type { CallContext, CallRows } from "../../abi/call.js";
import type { MetaPlan } from "../../abi/plan.js";
import { isBackendError } from "../../abi/errors.js";
import { bindFilter } from "./bind.js";
import { routeOf } from "./search.js";

/** Warning for a collection whose records could not be counted; its count is null. */
const NOT_COUNTED = "VB4003";

/** The collections a built-in may show, sorted by name, each counted under the guard and the tenant. */
export async function collections(plan: MetaPlan, call: CallContext): Promise<CallRows> {
  const { signal } = call;
  const filter = bindFilter({ ...plan, bind: [] }, {}, call);
  const adapter = await call.services.adapter(plan.connection);
  const { allowed } = plan;
  const route = routeOf(plan, call);
  const names = (await adapter.collections(signal)).filter((name) => allowed === undefined || allowed.includes(name));
  const rows = await Promise.all(
    names.map(async (collection) => {
      try {
        return { collection, approx_count: await adapter.count(collection, filter, signal, route) };
      } catch (error) {
        if (!isBackendError(error)) throw error;
        call.warnings.push(NOT_COUNTED);
        return { collection, approx_count: null };
      }
    }),
  );
  return { rows, exact: true, searchMode: "none", mayBeIncomplete: false, compiledQuery: null };
}
