/** Batches that are recorded before the head is locked: whatever others commit meanwhile, the result is that of one after the other. */
import assert from "node:assert/strict";
import { newRun } from "../../../runtime/trace/record/run-state.js";
import { RunCalls } from "../../../runtime/trace/record/calls.js";
import type { Changes } from "../../../runtime/trace/record/recorder.js";
import { Tally } from "../../../runtime/trace/record/tally.js";
import { batchRows } from "../../../runtime/trace/store/postgres/batch-rows.js";
import type { Packed } from "../../../runtime/trace/store/postgres/commit-news.js";
import type { Client, Driver } from "../../../runtime/trace/store/postgres/driver.js";
import { PROVISIONAL_KEY, renumber } from "../../../runtime/trace/store/postgres/prepared.js";
import { suite } from "../../lib/suite.js";
import { incoming, type Json, sampleRun } from "../lib.js";
import type { TestStore } from "../stores.js";
import { DATABASE, NO_DATABASE, postgresStores, sql } from "./database.js";

const test = suite("trace prepared batches");

test("numbers of a prepared batch follow those of the head, and known runs keep their keys", () => {
  const known = { ...newRun(7, "known", 0, new RunCalls()), lastSeq: 102 };
  const fresh = { ...newRun(PROVISIONAL_KEY + 1, "fresh", 0, new RunCalls()), lastSeq: 101 };
  const untouched = { ...newRun(8, "early", 0, new RunCalls()), lastSeq: 50 };
  const row = (seq: number, run: typeof known): Changes["rows"][number] => ({ seq, run, event: incoming({ run_id: "x", event_type: "retry" }), parentId: null, durationMs: null, costNano: null, agent: null, tool: null, server: null, model: null });
  const changes: Changes = { rows: [row(101, fresh), row(102, known)], runs: new Set([known, fresh]), started: new Set(), ended: new Set(), merged: [{ from: untouched, into: known }], tally: new Tally(), duplicates: 0, sampledOut: 0, throttled: 0, throttledRuns: 0 };
  const payloads = new Map([[changes.rows[1]?.event, Buffer.from("zipped")]]) as Packed;
  const rows = batchRows(changes, payloads);
  renumber({ changes, rows, from: { seq: 100, key: PROVISIONAL_KEY } }, { seq: 600, key: 40 });
  assert.deepEqual(changes.rows.map(({ seq }) => seq), [601, 602]);
  const made = batchRows(changes, payloads);
  assert.deepEqual([rows.events.end(), rows.payloads.end()], [made.events.end(), made.payloads.end()], "the rows are those that would have been made with these numbers");
  assert.deepEqual([known.key, known.lastSeq, fresh.key, fresh.lastSeq, untouched.key, untouched.lastSeq], [7, 602, 41, 601, 8, 50]);
});

/** Does something when the writer of a store is about to lock the head, once. */
class Gate {
  #work: (() => Promise<unknown>) | null = null;
  /** How often the writer asked which events are stored: once each time that it records the batch. */
  asked = 0;

  before(work: () => Promise<unknown>): void {
    this.#work = work;
    this.asked = 0;
  }

  readonly wrap = (driver: Driver): Driver => ({ ...driver, connect: async (application) => this.#watched(await driver.connect(application)) });

  #watched(client: Client): Client {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const watched = (...args: unknown[]): unknown => {
      const { name } = args[0] as { readonly name?: string };
      if (name === "known") this.asked += 1;
      const work = name === "head" ? this.#work : null;
      if (work === null) return query(...args);
      this.#work = null;
      return work().then(() => query(...args));
    };
    return Object.assign(client, { query: watched });
  }
}

const at = (ms: number): string => new Date(Date.UTC(2026, 10, 20) + ms).toISOString();
const call = (fields: Json, type: string, ms: number): Json => ({ event_id: `${String(fields["run_id"])}-${type}`, event_type: type, timestamp: at(ms), ...fields });
const start = (id: string, ms: number, more: Json = {}): Json => call({ run_id: id, agent_name: id, ...more }, "chain_start", ms);
const end = (id: string, ms: number, more: Json = {}): Json => call({ run_id: id, agent_name: id, ...more }, "chain_end", ms);

const numbered = (events: readonly Json[]): Json[] => events.map((event, index) => ({ ...event, event_id: `e${index}` }));

interface Case {
  readonly name: string;
  /** Stored before, by the service whose batch is prepared. */
  readonly stored: readonly Json[];
  /** What another service stores while the batch waits, and the batch. */
  readonly other: readonly Json[];
  readonly batch: readonly Json[];
  /** The batch is recorded again. */
  readonly again: boolean;
  readonly deletes?: string;
}

const CASES: readonly Case[] = [
  { name: "runs of its own", stored: [], other: [start("b", 1), end("b", 5)], batch: [start("a", 1), end("a", 4)], again: false },
  { name: "a run that both write to", stored: [start("r", 1)], other: [start("r-b", 2, { parent_run_id: "r", root_run_id: "r" })], batch: [start("r-a", 3, { parent_run_id: "r", root_run_id: "r" }), end("r", 9)], again: true },
  { name: "the same events", stored: [], other: numbered(sampleRun("r")), batch: numbered(sampleRun("r")), again: true },
  { name: "the start of a call whose end does not name its run", stored: [], other: [start("r", 1), start("c", 2, { parent_run_id: "r" })], batch: [end("c", 6)], again: true },
  { name: "a run that turns out to be part of another one", stored: [], other: [call({ run_id: "x", parent_run_id: "c" }, "tool_start", 3)], batch: [start("r", 1), start("c", 2, { parent_run_id: "r" })], again: true },
  { name: "the end of the run, after which nothing changes it", stored: [start("r", 1)], other: [end("r", 5)], batch: [call({ run_id: "r", error_message: "late" }, "chain_error", 9)], again: true },
  { name: "a run that is deleted meanwhile", stored: [start("r", 1)], other: [], deletes: "r", batch: [start("r-a", 3, { parent_run_id: "r", root_run_id: "r" })], again: true },
];

/** What another service does after a deletion has read the runs r0 and r1, and before it has the head. */
const REMOVALS: readonly (readonly [string, (other: TestStore) => Promise<unknown>])[] = [
  ["a late step comes for one of them", (other) => other.writer.write([call({ run_id: "r0-late", parent_run_id: "r0", tool_name: "late", token_input: 5 }, "tool_end", 9)].map(incoming))],
  ["a nested run of one is deleted", (other) => other.writer.deleteRun("r1-t")],
  ["one of them is deleted", (other) => other.writer.deleteRun("r0")],
  ["both are deleted", (other) => other.writer.retain({ maxRuns: 1, maxPayloadBytes: 1e12, before: 0 })],
];

async function runsOf(store: TestStore): Promise<unknown> {
  const { runs } = await store.reader.runs({ status: "all", limit: 50, offset: 0, extended: true } as Parameters<TestStore["reader"]["runs"]>[0]);
  return (runs as unknown as Json[]).map((run) => ({ ...run, last_seq: null })).sort((a, b) => String((a as Json)["run_id"]).localeCompare(String((b as Json)["run_id"])));
}

/** What there is after the other's work and the batch; at once, or one after the other. */
async function outcome(url: string, { stored, other, batch, deletes }: Case, atOnce: boolean): Promise<{ readonly runs: unknown; readonly duplicates: number; readonly asked: number }> {
  const gate = new Gate();
  const place = await postgresStores(url).place();
  const mine = await postgresStores(url, undefined, gate.wrap).open(place);
  const theirs = await postgresStores(url).open(place);
  try {
    if (stored.length > 0) await mine.writer.write(stored.map(incoming));
    const meanwhile = async (): Promise<void> => {
      if (other.length > 0) await theirs.writer.write(other.map(incoming));
      if (deletes !== undefined) await theirs.writer.deleteRun(deletes);
    };
    if (atOnce) gate.before(meanwhile);
    else await meanwhile();
    const { duplicates } = await mine.writer.write(batch.map(incoming));
    const [numbers] = await sql<{ held: number; events: number; last: number; head: number }>({ url, schema: place.name }, "SELECT (SELECT count(DISTINCT seq) FROM events)::int AS held, (SELECT events FROM head)::int AS events, (SELECT max(seq) FROM events)::int AS last, (SELECT seq FROM head)::int AS head");
    assert.equal(numbers?.last, numbers?.head);
    if (deletes === undefined) assert.equal(numbers?.held, numbers?.events);
    return { runs: await runsOf(mine), duplicates, asked: gate.asked };
  } finally {
    await mine.close();
    await theirs.close();
    await place.dispose();
  }
}

if (DATABASE === undefined) test.skip("what others commit meanwhile", NO_DATABASE);
else {
  const url = DATABASE;
  for (const each of CASES) {
    test(`a batch waits while another service commits ${each.name}`, async () => {
      const [waiting, sequential] = [await outcome(url, each, true), await outcome(url, each, false)];
      assert.deepEqual({ ...waiting, asked: 0 }, { ...sequential, asked: 0 });
      assert.equal(waiting.asked, each.again ? 2 : 1);
    });
  }

  for (const [what, meanwhile] of REMOVALS) {
    test(`sums are those of the runs that are left when ${what} while a deletion waits`, async () => {
      const gate = new Gate();
      const place = await postgresStores(url).place();
      const mine = await postgresStores(url, undefined, gate.wrap).open(place);
      const theirs = await postgresStores(url).open(place);
      try {
        for (const [index, id] of ["r0", "r1", "r2"].entries()) await mine.writer.write(sampleRun(id, { at: Date.UTC(2026, 0, 1 + index) }).map(incoming));
        gate.before(() => meanwhile(theirs));
        await mine.writer.retain({ maxRuns: 1, maxPayloadBytes: 1e12, before: 0 });
        assert.deepEqual((await runsOf(mine) as Json[]).map((run) => run["run_id"]), ["r2"]);
        assert.deepEqual(await mine.reader.topology("all"), await mine.reader.topology("run:r2"));
        const [sums] = await sql<Json>({ url, schema: place.name }, "SELECT h.events AS counted, h.payloads, h.tokens_in, (SELECT count(*) FROM events e JOIN runs r ON r.key = e.root) AS held FROM head h");
        assert.deepEqual(sums, { counted: 7, payloads: 6, tokens_in: 42, held: 7 });
      } finally {
        await mine.close();
        await theirs.close();
        await place.dispose();
      }
    });
  }
}

test.run();
