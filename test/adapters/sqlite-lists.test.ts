/** Lists and counts of the embedded store: short ones on the event loop, long ones in a thread. */
import * as assert from "node:assert/strict";
import { join } from "node:path";
import Database from "better-sqlite3";
import { evaluate, type Filter } from "../../runtime/abi/filter.js";
import { turnSql } from "../../runtime/adapters/sqlite/filter.js";
import { type LongReads, Lists } from "../../runtime/adapters/sqlite/lists.js";
import { SearchPool } from "../../runtime/adapters/sqlite/search-pool.js";
import { Session } from "../../runtime/adapters/sqlite/session.js";
import { suite } from "../lib/suite.js";
import { fill, never, record, scratch } from "./store.js";

const test = suite("adapters/sqlite lists");
const COUNT = 3_000;
const records = Array.from({ length: COUNT }, (_, n) => record(`r${n}`, { n, kind: `k${n % 3}`, text: `text ${n % 5}`, tags: [`t${n % 4}`] }));
const filters: readonly Filter[] = [
  { path: "kind", op: "eq", value: "k1" },
  { path: "text", op: "like", value: "%3" },
  { path: "tags", op: "contains_any", value: ["t2"] },
];

/** A clock that is later by `stepMs` whenever it is asked. */
function steppingClock(stepMs: () => number): () => number {
  let nowMs = 0;
  return () => (nowMs += stepMs());
}

async function withStore(use: (place: { readonly file: string; readonly name: string; readonly load: string }, session: Session) => Promise<void>): Promise<void> {
  const { folder, remove } = scratch();
  await fill(folder, records, "things", [["tags[]"]]);
  const place = { file: join(folder, "store.db"), name: "store.db", load: "" };
  const session = await Session.open(place);
  try {
    await use(place, session);
  } finally {
    session.close();
    remove();
  }
}

test("a list or count whose time on the event loop is over is answered by a thread, with the same rows", () =>
  withStore(async (place, session) => {
    const pool = new SearchPool(place);
    const lists = new Lists(session, pool, steppingClock(() => 100));
    for (const filter of filters) {
      const want = records.filter(({ id, record: payload }) => evaluate(filter, { ...payload, _id: id })).map(({ id }) => id).sort();
      const rows = await lists.read({ fetch: { collection: "things", filter, limit: COUNT, offset: 0, fields: null } }, never);
      assert.deepEqual(rows.map((row) => ("id" in row ? row.id : null)), want, JSON.stringify(filter));
      assert.deepEqual(await lists.read({ count: { collection: "things", filter } }, never), [{ n: want.length }]);
    }
    pool.close();
  }), { timeoutMs: 60_000 });

test("a statement that was too long starts in a thread the next time, until it is short again", () =>
  withStore(async (_place, session) => {
    let stepMs = 100;
    let tookMs = 50;
    const inThread: string[] = [];
    const threads: LongReads = {
      list: async (request) => {
        inThread.push("count" in request ? String((request.count.filter as { value: unknown }).value) : "");
        return { answer: [{ n: -1 }], tookMs };
      },
    };
    const lists = new Lists(session, threads, steppingClock(() => stepMs));
    const count = async (value: string): Promise<unknown> => (await lists.read({ count: { collection: "things", filter: { path: "kind", op: "eq", value } } }, never))[0];
    assert.deepEqual(await count("k0"), { n: -1 });
    stepMs = 0;
    assert.deepEqual(await count("k1"), { n: -1 }, "known to be long: not tried on the event loop");
    tookMs = 0;
    assert.deepEqual(await count("k2"), { n: -1 });
    assert.deepEqual(await count("k0"), { n: COUNT / 3 }, "short again");
    assert.deepEqual(inThread, ["k0", "k1", "k2"]);
  }));

test("a filter that no row passes ends too: rows that do not match are counted in", () =>
  withStore(async (_place, session) => {
    let asked = 0;
    const lists = new Lists(session, { list: async () => (asked++, { answer: [{ n: 0 }], tookMs: 50 }) }, steppingClock(() => 100));
    assert.deepEqual(await lists.read({ count: { collection: "things", filter: { path: "kind", op: "eq", value: "none" } } }, never), [{ n: 0 }]);
    assert.equal(asked, 1, "answered by the thread");
  }));

test("a list that ended before its time is answered on the event loop", () =>
  withStore(async (_place, session) => {
    const lists = new Lists(session, { list: () => assert.fail("no thread") }, () => 0);
    assert.deepEqual(await lists.read({ count: { collection: "things", filter: filters[0] as Filter } }, never), [{ n: COUNT / 3 }]);
    assert.deepEqual(await lists.read({ count: { collection: "things", filter: null } }, never), [{ n: COUNT }]);
  }));

test("the time is looked at whatever the numbers of a tenant's rows are", () => {
  const db = new Database(":memory:");
  let asked = 0;
  db.function("toolsrv_turn", (_row: unknown) => (asked++, 1));
  for (const [first, step] of [[1, 1], [0, 2], [3, 10], [7, 64], [0, 256], [5, 256], [255, 256], [11, 1_000], [1, 4_096]] as const) {
    asked = 0;
    const rows = db.prepare(`SELECT count(*) FROM (WITH RECURSIVE n(r) AS (SELECT ? UNION ALL SELECT r + ? FROM n LIMIT 20000) SELECT r FROM n) WHERE ${turnSql("r", false)}`).pluck().get(first, step);
    assert.equal(rows, 20_000, "no row is left out");
    assert.ok(asked >= 20 && asked <= 600, `rows from ${first} by ${step}: asked ${asked} times`);
  }
  db.close();
});

test("a count in a thread ends when its caller goes away, and the thread is used again", () =>
  withStore(async (place) => {
    const pool = new SearchPool(place);
    const request = { count: { collection: "things", filter: filters[1] as Filter } };
    await assert.rejects(pool.list(request, AbortSignal.abort(new Error("too late"))), /too late/);
    const client = new AbortController();
    const cancelled = pool.list(request, client.signal);
    client.abort(new Error("gone"));
    await assert.rejects(cancelled, /gone/);
    assert.deepEqual((await pool.list(request, never)).answer, [{ n: COUNT / 5 }]);
    pool.close();
  }), { timeoutMs: 60_000 });

test("work that is watched ends in the middle of its statement", () =>
  withStore(async (_place, session) => {
    let turns = 0;
    const work = (): unknown[] => session.all({ sql: `SELECT count(*) FROM "things/fields" f WHERE ${turnSql('f."@row"', true)}`, params: [] });
    const stop = new Error("stop");
    const run = session.run(never, () => session.watched(() => {
      if (++turns === 10) throw stop;
    }, work));
    await assert.rejects(run, (error) => error === stop);
    assert.equal(turns, 10);
    assert.equal(work().length, 1, "the session works on");
  }));

test.run();
