/** Two tenants' rows in one collection, read through compiled tools: random calls, and no row crosses. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { connect, type Connection } from "../../generator/connect.js";
import { isToolError } from "../../runtime/abi/errors.js";
import type { Row } from "../../runtime/abi/filter.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import type { LiveStore, StoredRecord } from "./live-store.js";
import { connectionTo } from "./store-catalog.js";

const TENANTS = ["acme", "globex"] as const;
const WORDS = ["red", "blue", "green", "fox", "whale", "frog"];
const COLLECTION = "shared";
const DIMS = 256;

const nameOf = (n: number): string => `${WORDS[n % 6] ?? ""} ${WORDS[(n * 5 + 1) % 6] ?? ""}`;
const tenantOf = (n: number): (typeof TENANTS)[number] => (n % 2 === 0 ? "acme" : "globex");

/** Rows of the tenants in turn; the same words, sizes and groups on both sides. */
export const SHARED: readonly StoredRecord[] = Array.from({ length: 120 }, (_, n) => ({
  n, vector: [...hashText(nameOf(n), DIMS)], payload: { tenant_id: tenantOf(n), title: nameOf(n), size: n >> 1, group: WORDS[n % 3] ?? "" },
}));

const OUTPUT = { fields: ["tenant_id", "title", "size", "group"] };
const PARAMETERS = [
  { name: "group", path: "group", dtype: "keyword", op: "in", description: "Keep rows of any of these groups." },
  { name: "min_size", path: "size", dtype: "integer", op: "gte", description: "Smallest size of a row to keep." },
];
const tools = (target: { readonly connection: string; readonly collection: string }): readonly object[] => [
  { name: "search_things", kind: "search", description: "Find things by words of their title, best match first.", target, query: { param: "query", required: true }, parameters: PARAMETERS, output: OUTPUT },
  { name: "list_things", kind: "scroll", description: "List things in the order of their ids, with filters.", target, parameters: PARAMETERS, output: OUTPUT },
  { name: "count_things", kind: "count", description: "Count the things that pass the filters given.", target, parameters: PARAMETERS },
  { name: "get_thing", kind: "lookup", description: "Read one thing by its id, as other tools return it.", target, parameters: [{ name: "id", path: "id", dtype: "keyword", op: "eq", required: true, description: "The id of the thing to read." }], output: { ...OUTPUT, limit_default: 1 } },
];

/** A catalog over the store whose values of settings all come from the environment. */
async function connectTo(store: LiveStore): Promise<Connection> {
  const { connection, env } = connectionTo(store);
  return connect({
    tds_version: "2", connections: { main: connection }, defaults: { embedding: "local/hashing-256" },
    security: { tenancy: { mode: "claim", claim: "tenant", path: "tenant_id" } }, tools: tools({ connection: "main", collection: store.name(COLLECTION) }),
  }, { env });
}

const groups = fc.option(fc.subarray(["red", "blue", "green", "' OR '1'='1"], { minLength: 1 }), { nil: undefined });
const sizes = fc.option(fc.integer({ min: -1, max: 70 }), { nil: undefined });
const tenants = fc.constantFrom(...TENANTS);

interface Call {
  readonly tenant: (typeof TENANTS)[number];
  readonly tool: string;
  readonly args: { readonly [arg: string]: unknown };
}

const calls = (store: LiveStore): fc.Arbitrary<Call> => fc.oneof(
  fc.record({ tenant: tenants, tool: fc.constant("search_things"), args: fc.record({ query: fc.constantFrom(...WORDS, "red fox", "tenant globex"), group: groups, min_size: sizes, limit: fc.integer({ min: 1, max: 50 }) }) }),
  fc.record({ tenant: tenants, tool: fc.constant("list_things"), args: fc.record({ group: groups, min_size: sizes, limit: fc.integer({ min: 1, max: 50 }) }) }),
  fc.record({ tenant: tenants, tool: fc.constant("count_things"), args: fc.record({ group: groups, min_size: sizes }) }),
  fc.record({ tenant: tenants, tool: fc.constant("get_thing"), args: fc.record({ id: fc.integer({ min: 0, max: SHARED.length - 1 }).map((n) => String(store.id(n))) }) }),
);

/** Sends `count` random calls, ten at a time; each answer has exactly rows of its caller's tenant. */
export async function callAsTwoTenants(store: LiveStore, count: number): Promise<void> {
  await store.fill(COLLECTION, SHARED);
  const catalog = await connectTo(store);
  try {
    const sample = fc.sample(calls(store), count);
    for (let from = 0; from < sample.length; from += 10) await Promise.all(sample.slice(from, from + 10).map((call) => check(catalog, store, call)));
    for (const tool of ["list_things", "count_things"]) {
      const refusal: unknown = await catalog.call(tool, {}).catch((error: unknown) => error);
      assert.ok(isToolError(refusal) && refusal.code === "auth_error", "a caller without a tenant is refused");
    }
  } finally {
    await catalog.close();
  }
}

async function check(catalog: Connection, store: LiveStore, { tenant, tool, args }: Call): Promise<void> {
  const shown = `${tenant} ${tool} ${JSON.stringify(args)}`;
  const { rows } = await catalog.call(tool, args, { tenant });
  const { group, min_size: least, id, limit } = args as { readonly group?: readonly string[]; readonly min_size?: number; readonly id?: string; readonly limit?: number };
  const own = SHARED.filter(({ n, payload }) => payload["tenant_id"] === tenant && (group === undefined || group.includes(String(payload["group"]))) && (least === undefined || Number(payload["size"]) >= least) && (id === undefined || String(store.id(n)) === id));
  if (tool === "count_things") assert.deepEqual(rows, [{ count: own.length }], shown);
  else {
    const ids = own.map(({ n }) => store.id(n));
    for (const row of rows as readonly Row[]) {
      assert.equal(row["tenant_id"], tenant, shown);
      assert.ok(ids.includes(row["_id"] as string | number), shown);
    }
    assert.equal(rows.length, Math.min(own.length, limit ?? 1), shown);
  }
}
