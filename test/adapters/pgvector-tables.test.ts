/** What is PostgreSQL's own: tables of any shape, sessions that cannot write, queries that end with their call. */
import assert from "node:assert/strict";
import fc from "fast-check";
import pg from "pg";
import { isBackendError } from "../../runtime/abi/errors.js";
import { evaluate, type Condition, type Filter, type Row } from "../../runtime/abi/filter.js";
import type { Adapter, Settings } from "../../runtime/adapters/adapter.js";
import { Server } from "../../runtime/adapters/pgvector/database.js";
import { addressOf } from "../../runtime/adapters/pgvector/dsn.js";
import { adapter as pgvector } from "../../runtime/adapters/pgvector/index.js";
import { newSchema } from "../trace/postgres/database.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/pgvector tables");
const url = process.env["TOOLSRV_TEST_PGVECTOR"];
const never = (): AbortSignal => new AbortController().signal;
const UUIDS = ["6f9619ff-8b86-d011-b42d-00cf4fc964ff", "00000000-0000-0000-0000-000000000001"];

async function inSchema(run: (client: pg.Client, open: (settings: Settings) => Promise<Adapter>, dsn: string) => Promise<void>): Promise<void> {
  const schema = newSchema();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE EXTENSION IF NOT EXISTS vector; CREATE SCHEMA ${schema}; SET search_path TO ${schema}, public; SET TimeZone = 'Asia/Tokyo'`);
  const own = new URL(url ?? "");
  own.searchParams.set("options", `-c search_path=${schema},public -c TimeZone=America/New_York`);
  const opened: Adapter[] = [];
  try {
    await run(client, async (settings) => {
      const adapter = await pgvector.open({ dsn: own.href, ...settings }, { base: process.cwd() });
      opened.push(adapter);
      return adapter;
    }, own.href);
  } finally {
    for (const adapter of opened) await adapter.close();
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    await client.end();
  }
}

const values = {
  name: fc.constantFrom("a", "A", "it's", "é", "1", "true", null),
  small: fc.constantFrom(0, 1, -5, 2147483647, null),
  large: fc.constantFrom(0, 9007199254740991, -9007199254740991, null),
  ratio: fc.constantFrom(0.1, 0, -1.5, 1e300, null),
  amount: fc.constantFrom(0.1, 12, 1e20, null),
  open: fc.constantFrom(true, false, null),
  due: fc.constantFrom("2024-01-02", "2024-02-29", null),
  at: fc.constantFrom("2024-01-02T00:00:00+00:00", "2024-01-02T00:00:00.5+00:00", null),
  local: fc.constantFrom("2024-01-02T00:00:00+00:00", null),
  key: fc.constantFrom(...UUIDS, null),
  tags: fc.constantFrom(["a", "b"], [], ["A"], null),
  extra: fc.constantFrom({ a: { b: 1 } }, { a: "x" }, [], null),
};
const operands = (fc.oneof(...Object.values(values)) as fc.Arbitrary<unknown>).filter((value) => value === null || typeof value !== "object") as fc.Arbitrary<string | number | boolean | null>;
const paths = fc.constantFrom(...Object.keys(values), "extra.a", "extra.a.b", "absent");
const conditions: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ path: paths, op: fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "like"), value: operands }),
  fc.record({ path: paths, op: fc.constantFrom("in", "nin", "contains_any", "contains_all"), value: fc.array(operands, { maxLength: 3 }) }),
  fc.record({ path: paths, op: fc.constantFrom("exists", "is_null"), value: fc.boolean() }),
  fc.record({ path: fc.constantFrom("due", "at", "local", "name", "absent"), op: fc.constantFrom("eq", "ne", "gt", "lte"), value: fc.constantFrom("2024-01-02", "2024-01-02T00:00:00Z", "2024-01-02T00:00:00.5Z", "no date"), dtype: fc.constant("datetime") }),
) as fc.Arbitrary<Condition>;

const CASES: { readonly [name: string]: () => Promise<void> } = {
  "columns of every type are compared as evaluate compares the rows that come back": () => inSchema(async (client, open) => {
    await client.query(`CREATE TABLE items (no bigint PRIMARY KEY, name text, small integer, large bigint, ratio float8, amount numeric, open boolean, due date, at timestamptz, local timestamp, key uuid, tags text[], extra jsonb, words tsvector)`);
    const rows = fc.sample(fc.record(values), { numRuns: 40, seed: 7 }).map((row, no) => ({ no, ...row }));
    await client.query("SET TimeZone = 'UTC'");
    await client.query("INSERT INTO items SELECT * FROM jsonb_populate_recordset(null::items, $1::jsonb)", [JSON.stringify(rows)]);
    const adapter = await open({ table: "items", mode: "table", id_column: "no" });
    const stored: readonly Row[] = rows.map((row) => ({ ...row, _id: row.no }));
    const { rows: all } = await adapter.fetch({ collection: "any", filter: null, limit: 100, offset: 0, fields: null }, never());
    assert.deepEqual(all, stored);
    for (const filter of fc.sample(fc.oneof(conditions, fc.record({ or: fc.array(conditions, { minLength: 2, maxLength: 3 }) })), { numRuns: 1500, seed: 8 }) as Filter[]) {
      const found = await adapter.fetch({ collection: "any", filter, limit: 100, offset: 0, fields: ["no"] }, never());
      assert.deepEqual(found.rows.map((row) => row["_id"]), stored.filter((row) => evaluate(filter, row)).map((row) => row["_id"]), JSON.stringify(filter));
    }
  }),

  "ids of type integer, uuid and text are texts to a filter": () => inSchema(async (client, open) => {
    for (const [type, ids] of [["integer", ["1", "2", "30"]], ["uuid", UUIDS], ["text", ["1", "a'b", "Ä"]], ["numeric", ["1", "2.5"]]] as const) {
      const table = `t_${type}`;
      await client.query(`CREATE TABLE ${table} (id ${type} PRIMARY KEY, payload jsonb)`);
      for (const id of ids) await client.query(`INSERT INTO ${table} VALUES ($1, '{}')`, [id]);
      const adapter = await open({ table, vector_column: null });
      for (const filter of [...ids, "01", "1.0", "+1", "no", "", "A'B"].flatMap((id): Filter[] => [{ path: "id", op: "eq", value: id }, { path: "id", op: "ne", value: id }, { path: "id", op: "in", value: [id, "x"] }, { path: "id", op: "gte", value: id }])) {
        const { rows } = await adapter.fetch({ collection: table, filter, limit: 10, offset: 0, fields: null }, never());
        const want = ids.filter((id) => evaluate(filter, { _id: id }));
        assert.deepEqual(new Set(rows.map((row) => String(row["_id"]))), new Set(want), `${type} ${JSON.stringify(filter)}`);
      }
    }
  }),

  "a table, columns and a schema with quotes and dots in their names are read, and nothing else is": () => inSchema(async (client, open) => {
    await client.query(`CREATE TABLE "we""ird" ("i""d" text PRIMARY KEY, "e'mb" vector(2), "col""umn" text); INSERT INTO "we""ird" VALUES ('a', '[1,0]', 'x'), ('b', '[0,1]', 'y')`);
    const adapter = await open({ table: 'we"ird', id_column: 'i"d', vector_column: "e'mb" });
    const { rows } = await adapter.search({ collection: "c", vector: Float32Array.of(1, 0), text: null, mode: "dense", alpha: 0, filter: { path: 'col"umn', op: "eq", value: "x" }, limit: 5, fields: null }, never());
    assert.deepEqual(rows, [{ 'i"d': "a", 'col"umn': "x", _id: "a", _score: 1 }]);
  }),

  "halfvec columns and a payload beside columns: the column counts more": () => inSchema(async (client, open) => {
    await client.query(`CREATE TABLE mixed (id integer PRIMARY KEY, embedding halfvec(2), tenant text, payload jsonb); INSERT INTO mixed VALUES (1, '[1,0]', 'acme', '{"tenant": "globex", "a": 1}'), (2, '[1,0]', null, '{"tenant": "acme"}'), (3, null, 'acme', null)`);
    const adapter = await open({ table: "mixed" });
    const filter: Filter = { path: "tenant", op: "eq", value: "acme" };
    const { rows } = await adapter.fetch({ collection: "mixed", filter, limit: 5, offset: 0, fields: null }, never());
    assert.deepEqual(rows, [{ id: 1, tenant: "acme", a: 1, _id: 1 }, { id: 3, tenant: "acme", _id: 3 }]);
    const found = await adapter.search({ collection: "mixed", vector: Float32Array.of(1, 0), text: null, mode: "dense", alpha: 0, filter, limit: 5, fields: null }, never());
    assert.deepEqual(found.rows.map((row) => row["_id"]), [1]);
    assert.equal(found.exact, true);
  }),

  "a column that is added, changed or dropped while the server runs is seen": () => inSchema(async (client, open) => {
    await client.query(`CREATE TABLE moving (id text PRIMARY KEY, payload jsonb, a integer); INSERT INTO moving VALUES ('1', '{"b": 1}', 1)`);
    const adapter = await open({ table: "moving", mode: "table" });
    const read = async (): Promise<readonly Row[]> => (await adapter.fetch({ collection: "moving", filter: null, limit: 5, offset: 0, fields: null }, never())).rows;
    assert.deepEqual(await read(), [{ id: "1", a: 1, b: 1, _id: "1" }]);
    await client.query("ALTER TABLE moving ALTER a TYPE text");
    assert.equal((await read()).length, 1);
    await client.query("ALTER TABLE moving DROP COLUMN a");
    assert.deepEqual(await read(), [{ id: "1", b: 1, _id: "1" }]);
  }),

  "a session of the adapter cannot write": () => inSchema(async (client, _open, dsn) => {
    await client.query("CREATE TABLE things (id text)");
    const server = new Server(pg, addressOf(dsn));
    await assert.rejects(server.run({ sql: "INSERT INTO things VALUES ('x')", params: [] }, never()), { name: "BackendError" });
    assert.equal((await client.query("SELECT 1 FROM things")).rowCount, 0);
    await server.close();
  }),

  "the query of a call that ended is cancelled in the server": () => inSchema(async (client, _open, dsn) => {
    const server = new Server(pg, addressOf(dsn));
    const controller = new AbortController();
    const sleeping = server.run({ sql: "SELECT pg_sleep(600), 'toolsrv-cancelled'", params: [] }, controller.signal).catch((error: unknown) => error);
    const running = async (): Promise<number> => (await client.query("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'")).rowCount ?? 0;
    while ((await running()) === 0);
    const reason = new Error("gone");
    controller.abort(reason);
    assert.equal(await sleeping, reason);
    while ((await running()) > 0);
    await server.close();
  }),

  "an equality on an indexed payload is found by the index": () => inSchema(async (client, open) => {
    await client.query(`CREATE TABLE big (id integer PRIMARY KEY, payload jsonb); INSERT INTO big SELECT g, jsonb_build_object('tenant', 't' || g) FROM generate_series(1, 5000) g; CREATE INDEX ON big USING gin (payload jsonb_path_ops); ANALYZE big`);
    const adapter = await open({ table: "big", mode: "table" });
    const filter: Filter = { path: "tenant", op: "eq", value: "t77" };
    assert.equal(await adapter.count("big", filter, never()), 1);
    const { sql, params } = adapter.explain?.({ count: { collection: "big", filter } }) as { sql: string; params: unknown[] };
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN ${sql}`, params);
    assert.match(rows.map((row) => row["QUERY PLAN"]).join("\n"), /Bitmap Index Scan on big_payload_idx/);
  }),

  "a connection string of key=value words connects as a URL does": () => inSchema(async (_client, open) => {
    const { hostname, port, username, password, pathname } = new URL(url ?? "");
    const adapter = await open({ dsn: `host=${hostname} port='${port}' user=${username} password='${password}' dbname = '${pathname.slice(1)}'` });
    await adapter.health(never());
  }),
};

for (const [name, run] of Object.entries(CASES)) {
  if (url === undefined) test.skip(name, "needs PostgreSQL with pgvector; make live starts one");
  else test(name, run, { timeoutMs: 60_000 });
}

test("a dsn that is no address is refused without its text", async () => {
  for (const dsn of ["postgresql://user:s3cret@[bad", "s3cret", "host='unclosed s3cret"]) {
    const error: unknown = await pgvector.open({ dsn }, { base: process.cwd() }).catch((reason: unknown) => reason);
    assert.ok(isBackendError(error), dsn);
    assert.doesNotMatch(error.message, /s3cret/);
  }
});

test.run();
