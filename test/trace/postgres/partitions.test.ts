/** Retention drops whole partitions; it deletes steps one by one only when they have waited long enough, and takes nothing else with it. */
import assert from "node:assert/strict";
import type { Driver } from "../../../runtime/trace/store/postgres/driver.js";
import { DROP_WAIT_MS } from "../../../runtime/trace/store/postgres/erasure.js";
import { suite } from "../../lib/suite.js";
import { incoming, type Json, sampleRun } from "../lib.js";
import type { Place, TestStore } from "../stores.js";
import { DATABASE, NO_DATABASE, postgresStores, type PostgresStores, sql, STEPS } from "./database.js";

const test = suite("trace store postgres partitions");

type Store = Awaited<ReturnType<PostgresStores["open"]>>;

interface Opened {
  readonly store: Store;
  readonly place: Place;
  readonly stores: PostgresStores;
  /** Names of tables from which single rows were deleted. */
  readonly deletedFrom: Set<string>;
  readonly clock: { ms: number };
  tables(): Promise<readonly number[]>;
}

const RUN = 7;
const KEEPS_ALL = { maxPayloadBytes: 1e12, before: 0 };

/** A store whose deletions of rows are seen. */
async function withStore(url: string, work: (opened: Opened) => Promise<void>): Promise<void> {
  const deletedFrom = new Set<string>();
  const clock = { ms: Date.UTC(2026, 10, 20) };
  const wrap = (driver: Driver): Driver => ({
    ...driver,
    connect: async (application) => {
      const client = await driver.connect(application);
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      return Object.assign(client, {
        query: (...args: unknown[]) => {
          const deleted = typeof args[0] === "string" ? /^DELETE FROM (words|payloads|events)\b/.exec(args[0])?.[1] : undefined;
          if (deleted !== undefined) deletedFrom.add(deleted);
          return query(...args);
        },
      });
    },
  });
  const stores = postgresStores(url, undefined, wrap);
  const place = await stores.place();
  const store = await stores.open(place, { now: () => clock.ms });
  try {
    const tables = async (): Promise<readonly number[]> => (await stores.partitions(place)).map((name) => Number(name.slice("events_".length)));
    await work({ store, place, stores, deletedFrom, clock, tables });
  } finally {
    await store.close();
    await place.dispose();
  }
}

/** Runs in the order of their starts, which is also the order in which retention takes them. */
async function write(store: Store, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) await store.writer.write(sampleRun(`r${index}`, { at: Date.UTC(2026, 0, 1 + index) }).map(incoming));
}

/** What the service does at the end of every round. */
async function tidy({ writer }: Store): Promise<void> {
  await writer.dropEmpty();
  while (await writer.erase(10));
}

async function retain(store: Store, maxRuns: number): Promise<void> {
  while ((await store.writer.retain({ ...KEEPS_ALL, maxRuns })) > 0) await tidy(store);
  await tidy(store);
}

/** Everything that is known of a run. */
async function contentOf({ reader }: TestStore, runId: string): Promise<unknown> {
  const page = await reader.steps({ runId, cursor: null, limit: 1000, extended: true, payloads: true, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
  return { run: await reader.run(runId, true), steps: page?.text };
}

const rowsOf = async (url: string, place: Place): Promise<Json | undefined> =>
  (await sql<Json>({ url, schema: place.name }, "SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM payloads) AS payloads, (SELECT count(*) FROM words) AS words, (SELECT count(*) FROM doomed) AS doomed"))[0];

if (DATABASE === undefined) test.skip("partitions", NO_DATABASE);
else {
  const url = DATABASE;

  test("retention deletes no step one by one: what it deletes waits for its partition", () => withStore(url, async ({ store, place, deletedFrom, tables }) => {
    for (let written = 0; written < 60; written += 5) {
      await write(store, written, written + 5);
      await retain(store, 8);
    }
    assert.deepEqual([...deletedFrom], []);
    const first = Math.floor(((60 - 8) * RUN + 1) / STEPS);
    assert.deepEqual(await tables(), Array.from({ length: Math.floor((60 * RUN) / STEPS) + 1 - first }, (_, index) => first + index));
    const rows = await rowsOf(url, place);
    assert.ok(Number(rows?.["events"]) < 8 * RUN + STEPS, "no more than a partition waits");
    assert.equal((await store.reader.stats()).total_events, 8 * RUN);
  }), { timeoutMs: 60_000 });

  test("what has waited for its partition long enough is deleted one by one", () => withStore(url, async ({ store, place, deletedFrom, clock }) => {
    await write(store, 0, 3);
    await retain(store, 1);
    assert.deepEqual([[...deletedFrom], await rowsOf(url, place)], [[], { events: 3 * RUN, payloads: 18, words: 0, doomed: 2 }]);
    clock.ms += DROP_WAIT_MS;
    await tidy(store);
    assert.deepEqual([[...deletedFrom], await rowsOf(url, place)], [["words", "payloads", "events"], { events: RUN, payloads: 6, words: 0, doomed: 0 }]);
  }));

  test("the steps of a run that somebody deletes do not wait", () => withStore(url, async ({ store, place }) => {
    await write(store, 0, 2);
    assert.equal(await store.writer.deleteRun("r0"), true);
    await tidy(store);
    assert.deepEqual(await rowsOf(url, place), { events: RUN, payloads: 6, words: 0, doomed: 0 });
  }));

  test("dropping partitions takes nothing of a younger run, also of one that begins before the border", () => withStore(url, async ({ store, tables }) => {
    // Four runs at a time: each begins in one partition and ends in another.
    const runs = 24;
    for (let first = 0; first < runs; first += 4) {
      const events = Array.from({ length: 4 }, (_, index) => sampleRun(`r${first + index}`, { at: Date.UTC(2026, 0, 1 + first + index) }));
      for (let step = 0; step < RUN; step++) for (const run of events) await store.writer.write(run.slice(step, step + 1).map(incoming));
    }
    const ids = Array.from({ length: runs }, (_, index) => `r${index}`);
    const before = new Map<string, unknown>();
    for (const id of ids) before.set(id, await contentOf(store, id));
    let left = await tables();
    for (let kept = runs - 1; kept > 0; kept -= 3) {
      await retain(store, kept);
      for (const id of ids.slice(runs - kept)) assert.deepEqual(await contentOf(store, id), before.get(id), `${id} of the last ${kept}`);
      for (const id of ids.slice(0, runs - kept)) assert.equal(await store.reader.run(id, true), null);
      const now = await tables();
      assert.deepEqual(now, left.slice(left.length - now.length), "the oldest go first");
      left = now;
    }
    assert.ok(left.length < 3, "partitions were dropped");
    await store.settle();
    const found = await store.reader.search({ q: "weather", scope: "all", limit: 50, offset: 0 });
    assert.deepEqual([...new Set(found.hits.map((hit) => hit.run_id))].sort(), ids.slice(-2));
  }), { timeoutMs: 60_000 });

  test("a run that goes on keeps its partition, and no other one", () => withStore(url, async ({ store, tables }) => {
    await store.writer.write([{ run_id: "long", event_type: "chain_start", agent_name: "a" }].map(incoming));
    await write(store, 0, 30);
    const before = await contentOf(store, "long");
    await retain(store, 3);
    // The first step of r28, the older one of the two that are left beside it, and the last step of all.
    const [first, last] = [2 + 28 * RUN, 1 + 30 * RUN].map((seq) => Math.floor(seq / STEPS));
    assert.deepEqual(await tables(), [0, first, last]);
    assert.deepEqual(await contentOf(store, "long"), before);
  }));

  test("steps that come for an old run while its partition is looked at keep it", () => withStore(url, async ({ store, place, stores, tables }) => {
    await write(store, 0, 20);
    const other = await stores.open(place);
    try {
      // One service retains while the other writes to the runs that stay.
      await Promise.all([retain(store, 2), ...Array.from({ length: 10 }, (_, index) => other.writer.write([incoming({ run_id: index % 2 === 0 ? "r18" : "r19", event_type: "retry", timestamp: Date.UTC(2026, 1, 1) })]))]);
      await Promise.all([store, other].map((each) => each.writer.dropEmpty().catch(() => 0)));
      for (const id of ["r18", "r19"]) assert.equal((await store.reader.run(id, false))?.total_steps, RUN + 5);
      for (const id of ["r18", "r19"]) assert.equal((await store.reader.steps({ runId: id, cursor: null, limit: 50, extended: true, payloads: true, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER }))?.count, RUN + 5);
      assert.ok(!(await tables()).includes(0));
    } finally {
      await other.close();
    }
  }), { timeoutMs: 30_000 });

  test("tables of the format before are taken over at the start, with what waits to be deleted", async () => {
    const stores = postgresStores(url);
    const place = await stores.place();
    const database = { url, schema: place.name };
    const old = await stores.open(place);
    await write(old, 0, 20);
    assert.equal(await old.writer.deleteRun("r0"), true);
    await old.close();
    await sql(database, "ALTER TABLE doomed DROP COLUMN erase_ms; UPDATE head SET format = 4");
    const store = await stores.open(place);
    try {
      assert.deepEqual(await sql<Json>(database, "SELECT format FROM head"), [{ format: 5 }]);
      await tidy(store);
      assert.equal((await rowsOf(url, place))?.["events"], 19 * RUN, "what was deleted by the release before does not wait");
      await retain(store, 2);
      await store.settle();
      assert.deepEqual(await rowsOf(url, place), { events: 2 * RUN, payloads: 12, words: 2 * RUN, doomed: 0 });
      assert.equal((await store.reader.run("r19", false))?.total_steps, RUN);
    } finally {
      await store.close();
      await place.dispose();
    }
  }, { timeoutMs: 30_000 });
}

test.run();
