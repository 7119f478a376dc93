/** What the embedded store says a read costs, and `explain --live`, which asks it. */
import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import type { Filter } from "../../runtime/abi/filter.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { DIMS, fill, never, record, scratch } from "./store.js";

const test = suite("adapters/sqlite cost");

test("a cost names the index, the rows that ANALYZE expects and the rows that pass; what is not counted is unknown", async () => {
  const { folder, remove } = scratch();
  const rows = Array.from({ length: 1_000 }, (_, n) => record(String(n), { owner: `o${n % 10}`, kind: `k${n % 20}`, size: n, even: n % 2 === 0, tags: [`t${n % 50}`] }));
  await fill(folder, rows, "things", [["owner"], ["owner", "kind"], ["owner", "size"], ["tags[]"]]);
  const store = await sqlite.open({ path: "store.db" }, { base: folder });
  const owner: Filter = { path: "owner", op: "eq", value: "o1" };
  const table: readonly (readonly [filter: Filter | null, index: string | null, examined: number | null, matching: number])[] = [
    [null, null, 1_000, 1_000],
    [owner, "owner", 100, 100],
    [{ and: [owner, { path: "kind", op: "eq", value: "k1" }] }, "owner, kind", 50, 50],
    [{ and: [owner, { path: "size", op: "gte", value: 990 }] }, "owner, size", 100, 1],
    [{ path: "kind", op: "eq", value: "k1" }, "owner, kind", null, 50],
    [{ path: "even", op: "eq", value: true }, null, 1_000, 500],
    [{ path: "tags", op: "contains_any", value: ["t1"] }, "tags[]", null, 20],
    [{ path: "id", op: "eq", value: "7" }, "the record id", 1, 1],
    [{ or: [owner, { path: "id", op: "eq", value: "7" }] }, "owner or the record id", 101, 101],
    [{ or: [owner, { path: "even", op: "eq", value: true }] }, null, 1_000, 600],
  ];
  for (const [filter, index, examined, matching] of table) {
    const { plan: _, ...cost } = (await store.cost?.({ count: { collection: "things", filter } }, never)) ?? { plan: [] };
    assert.deepEqual(cost, { rows: 1_000, matching, examined, index }, JSON.stringify(filter));
  }
  const search = { collection: "things", vector: hashText("x", DIMS), text: null, mode: "dense", alpha: 0.5, filter: owner, limit: 3, fields: null } as const;
  assert.equal((await store.cost?.({ search }, never))?.matching, 100);
  assert.match((await store.cost?.({ fetch: { collection: "things", filter: owner, limit: 3, offset: 0, fields: null } }, never))?.plan.join("\n") ?? "", /SEARCH f USING COVERING INDEX things\/fields:owner,/);
  await store.close();
  remove();
});

test("a value that more rows have than others costs no less than its rows", async () => {
  const { folder, remove } = scratch();
  await fill(folder, Array.from({ length: 1_000 }, (_, n) => record(String(n), { owner: n < 900 ? "big" : `o${n % 9}` })), "things", [["owner"]]);
  const store = await sqlite.open({ path: "store.db" }, { base: folder });
  const costs = async (owner: string): Promise<unknown> => {
    const cost = await store.cost?.({ count: { collection: "things", filter: { path: "owner", op: "eq", value: owner } } }, never);
    return [cost?.examined, cost?.matching];
  };
  assert.deepEqual([await costs("big"), await costs("nobody")], [[900, 900], [100, 0]]);
  await store.close();
  remove();
});

const CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: ./store.db }
defaults: { embedding: local/hashing-256 }
tools:
  - name: find_things
    kind: scroll
    description: Lists the things of one owner, in the order of their ids.
    target: { connection: store, collection: things }
    parameters: [{ name: owner, path: owner }, { name: kind, path: kind, op: ne }]
`;

test("explain --live says what the call costs, and why where the store cannot be asked", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "toolsrv-cost-"));
  const toolsrv = async (...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
    const io = memoryIo({ cwd });
    return { code: await run(args, io), out: io.out(), err: io.err() };
  };
  writeFileSync(join(cwd, "tools.yaml"), CATALOG);
  writeFileSync(join(cwd, "rows.jsonl"), Array.from({ length: 40 }, (_, n) => JSON.stringify({ id: String(n), owner: `o${n % 4}`, kind: `k${n % 2}` })).join("\n"));
  const explain = (args: object, ...more: readonly string[]): ReturnType<typeof toolsrv> => toolsrv("explain", "tools.yaml", "find_things", "--args", JSON.stringify(args), ...more);
  assert.match((await explain({ owner: "o1" }, "--live")).out, /Cost in the store as it is now\n\s+on connection store: the database does not exist/);
  assert.equal((await toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "things", "--id", "id")).code, EXIT.OK);
  assert.match((await explain({ owner: "o1" }, "--live")).out, /on connection store: index owner: about 10 of 40 rows are compared, 10 pass\n/);
  assert.match((await explain({ kind: "k1" }, "--live")).out, /on connection store: no index: all 40 rows are compared, 20 pass\n/);
  assert.doesNotMatch((await explain({ owner: "o1" })).out, /Cost in the store/);
  const json = JSON.parse((await explain({ owner: "o1" }, "--live", "--json")).out) as { calls: readonly { costs: readonly { cost: { index: string } }[] }[] };
  assert.equal(json.calls[0]?.costs[0]?.cost.index, "owner");
  writeFileSync(join(cwd, "tools.yaml"), CATALOG.replace("tools:\n", "security: { tenancy: { mode: claim, claim: org, path: owner, enforce: strict } }\ntools:\n").replace("{ name: owner, path: owner }, ", ""));
  const tenant = await explain({}, "--live");
  assert.equal(tenant.code, EXIT.OK, tenant.err);
  assert.match(tenant.out, /how many pass depends on the caller/);
  rmSync(cwd, { recursive: true });
});

test.run();
