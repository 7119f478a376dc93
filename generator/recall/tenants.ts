/**
 * The tenants whose searches are measured. An index loses most under the filter that leaves least, so a sample of records
 * is not enough: it has the large tenants only.
 */
import type { Principal } from "../../runtime/abi/call.js";
import type { Filter } from "../../runtime/abi/filter.js";
import type { TenantPlan } from "../../runtime/abi/plan.js";
import type { Adapter, Route } from "../../runtime/adapters/adapter.js";
import { readPath } from "../../runtime/base/paths.js";

/** Tenants of one tool that are searched. */
const MAX_TENANTS = 5;
/** Tenants that are looked for and counted. */
const MAX_KNOWN = 40;
/** Reads that look for them, each past those already known, and records of one read. */
const MAX_READS = 10;
const READ_ROWS = 500;

const NOBODY: Principal = { id: null, claims: {}, headers: {} };

/** Where tenants are looked for. */
interface Where {
  readonly adapter: Adapter;
  readonly collection: string;
  readonly route: Route | undefined;
  readonly signal: AbortSignal;
}

/**
 * Nobody, or one caller for each of some tenants that the collection has: the one with the fewest rows, the one with the
 * most, and some between.
 * @param countOf Rows that a caller's searches choose from; a tenant without any is left out.
 */
export async function callersOf(tenant: TenantPlan | undefined, { adapter, collection, route, signal }: Where, countOf: (caller: Principal) => Promise<number>): Promise<readonly Principal[]> {
  if (tenant === undefined) return [NOBODY];
  const counted: { readonly caller: Principal; readonly rows: number }[] = [];
  for (const value of await valuesOf(tenant.path, { adapter, collection, route, signal })) {
    const caller = callerOf(tenant, value);
    const rows = await countOf(caller);
    if (rows > 0) counted.push({ caller, rows });
  }
  const bySize = counted.sort((a, b) => a.rows - b.rows).map(({ caller }) => caller);
  const picked = Math.min(MAX_TENANTS, bySize.length);
  return Array.from({ length: picked }, (_, index) => bySize[picked === 1 ? 0 : Math.round((index * (bySize.length - 1)) / (picked - 1))] as Principal);
}

type TenantValue = string | number;

/** Values of the tenant's field: those of the first records, then of the first records that have none of them, and so on. */
async function valuesOf(path: string, { adapter, collection, route, signal }: Where): Promise<readonly TenantValue[]> {
  const known = new Set<TenantValue>();
  let filter: Filter | null = null;
  for (let read = 0; read < MAX_READS && known.size < MAX_KNOWN; read++) {
    const { rows } = await adapter.fetch({ collection, filter, limit: READ_ROWS, offset: 0, fields: null, ...(route === undefined ? {} : { route }) }, signal);
    const found = rows.map((row) => readPath(row, path)).filter((value): value is TenantValue => (typeof value === "string" && value !== "") || typeof value === "number");
    const before = known.size;
    for (const value of found) known.add(value);
    // Records without a tenant pass every such filter.
    if (known.size === before) break;
    filter = { path, op: "nin", value: [...known] };
  }
  return [...known].slice(0, MAX_KNOWN);
}

function callerOf(tenant: TenantPlan, value: TenantValue): Principal {
  if (tenant.from === "claim") return { ...NOBODY, claims: { [tenant.name]: value } };
  const text = String(value);
  const written = tenant.encoding === "percent" ? encodeURIComponent(text) : tenant.encoding === "base64url" ? Buffer.from(text).toString("base64url") : text;
  return { ...NOBODY, headers: { [tenant.name.toLowerCase()]: written } };
}
