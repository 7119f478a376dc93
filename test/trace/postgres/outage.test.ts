/** A database that goes away and comes back, and one that is not fit. */
import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { suite } from "../../lib/suite.js";
import { rawWebSocket } from "../../lib/raw-websocket.js";
import { spanIdOf } from "../../../runtime/trace/export/spans.js";
import { collector, ok, spansOf } from "../collector.js";
import { incoming, type Json, type RunningTrace, sampleRun, startTrace, until } from "../lib.js";
import { loadDriver } from "../../../runtime/trace/store/postgres/driver.js";
import { DATABASE, dropSchema, newSchema, NO_DATABASE, postgresStores, sql, STEPS } from "./database.js";

const test = suite("trace store postgres outage");

/** Between a service and its database: cuts connections when it is told to. */
interface Wire {
  readonly url: string;
  /** What connections over it are called by the server, and no others. */
  readonly name: string;
  /** Cuts every connection and takes no new ones. */
  cut(): void;
  mend(): void;
  /** From now on the answer to a COMMIT is not passed on: the connection is cut instead, once. */
  cutAfterCommit(): void;
  close(): Promise<void>;
}

async function startWire(database: string): Promise<Wire> {
  const folder = new URL(database).searchParams.get("host") ?? "";
  const sockets = new Set<Socket>();
  const state = { open: true, trap: false };
  const server = createServer((client) => {
    if (!state.open) {
      client.destroy();
      return;
    }
    const base = connect(`${folder}/.s.PGSQL.5432`);
    let writes = false;
    let sprung = false;
    for (const socket of [client, base]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        base.destroy();
      });
    }
    client.on("data", (data) => {
      writes ||= data.includes("COPY events");
      if (state.trap && writes && data.includes("COMMIT\0")) {
        sprung = true;
        state.trap = false;
      }
      base.write(data);
    });
    base.on("data", (data) => {
      // The database has answered, so it has committed.
      if (sprung) client.destroy();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const name = `outage ${port}`;
  return {
    name,
    url: `postgresql://trace@127.0.0.1:${port}/postgres?application_name=${encodeURIComponent(name)}`,
    cut() {
      state.open = false;
      cut();
    },
    mend: () => void (state.open = true),
    cutAfterCommit: () => void (state.trap = true),
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      cut();
    }),
  };
}

async function overWire(given: { readonly [name: string]: unknown }, work: (trace: RunningTrace, wire: Wire) => Promise<void>): Promise<void> {
  const wire = await startWire(DATABASE ?? "");
  const schema = newSchema();
  const trace = await startTrace({ store: "postgres", store_url: wire.url, store_schema: schema, ...given }, "unused");
  try {
    await work(trace, wire);
  } finally {
    wire.mend();
    await trace.stop();
    await wire.close();
    await dropSchema(DATABASE ?? "", schema);
  }
}

if (DATABASE === undefined) test.skip("a database that goes away", NO_DATABASE);
else {
  const url = DATABASE;

  test(
    "while the database is away events wait up to the bound, reads are 503, and all of it is there afterwards",
    () => overWire({ queue_maxsize: 50, worker_batch_size: 10 }, async (trace, wire) => {
      await trace.ingest([{ run_id: "r", event_type: "chain_start", agent_name: "a" }]);
      const socket = await rawWebSocket(trace.port, "/ws/trace/r?extended=1");
      const seqs: number[] = [];
      const next = async (): Promise<void> => {
        const frame = await socket.next();
        if (frame === null || frame.opcode !== 1) return;
        const { msg_type: type, payload } = JSON.parse(frame.data.toString()) as { msg_type: string; payload: Json };
        if (type === "catchup") seqs.push(...(payload["steps"] as Json[]).map((step) => Number(step["seq"])));
        if (type === "event") seqs.push(Number(payload["seq"]));
      };
      await next();
      wire.cut();
      const step = (index: number) => ({ run_id: "r", event_type: "retry", summary: `step ${index}` });
      let accepted = 0;
      let refused: { status: number; headers: Headers } | null = null;
      for (let index = 0; refused === null; index++) {
        const answer = await trace.send("POST", "/api/ingest", [step(index)]);
        if (answer.status === 202) accepted += 1;
        else refused = answer;
      }
      assert.deepEqual([refused.status, refused.headers.get("retry-after"), accepted], [429, "1", 50]);
      await until(async () => (await trace.send("POST", "/api/ingest?wait=1", [step(0)])).status === 503);
      const waiting = await trace.send("POST", "/api/ingest?wait=1", [step(0)]);
      assert.deepEqual([waiting.status, waiting.headers.get("retry-after")], [503, "1"]);
      for (const path of ["/api/runs", "/api/runs/r", "/api/stats", "/api/topology", "/api/search?q=x"]) {
        const answer = await trace.get(path);
        assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "1"], path);
        assert.ok(!answer.text.includes("trace@"), "no address in an error");
      }
      assert.equal((await trace.get("/api/health")).status, 200);
      wire.mend();
      await until(async () => Number((await trace.get("/api/runs/r")).json["total_steps"]) === 51);
      while (seqs.length < 51) await next();
      assert.deepEqual(seqs, Array.from({ length: 51 }, (_, index) => index + 1));
      const stats = (await trace.get("/api/stats")).json;
      assert.equal(stats["events_processed"], 51);
      assert.ok(Number(stats["events_dropped"]) >= 3, "refused events are counted");
      assert.deepEqual(trace.logged.filter((line) => line.includes("can't be reached;") || line.includes("reached again")).length, 2);
      assert.ok(!trace.logged.some((line) => line.includes(wire.url)));
      socket.destroy();
    }),
    { timeoutMs: 60_000 },
  );

  test(
    "a batch whose commit was not seen is not stored twice",
    () => overWire({}, async (trace, wire) => {
      await trace.ingest([{ run_id: "r", event_type: "chain_start", agent_name: "a" }]);
      wire.cutAfterCommit();
      const answer = await trace.send("POST", "/api/ingest?wait=1", Array.from({ length: 20 }, () => ({ run_id: "r", event_type: "retry" })));
      assert.equal(answer.status, 202, "it is not known to be committed yet");
      await until(async () => (await trace.send("POST", "/api/ingest?wait=1", [{ run_id: "r", event_type: "chain_end" }])).status === 200);
      const run = (await trace.get("/api/runs/r")).json;
      assert.deepEqual([run["total_steps"], run["status"]], [22, "completed"]);
    }),
    { timeoutMs: 30_000 },
  );

  test("a run whose end was committed and not seen to be is exported, once", async () => {
    const spans = await collector(ok);
    try {
      await overWire({ otlp_endpoint: spans.url }, async (trace, wire) => {
        await trace.ingest(sampleRun("r1").slice(0, 3));
        wire.cutAfterCommit();
        assert.equal((await trace.send("POST", "/api/ingest?wait=1", sampleRun("r1").slice(3))).status, 202);
        await until(() => spansOf(spans).length === 3);
        await until(async () => (await trace.send("POST", "/api/ingest?wait=1", sampleRun("r2"))).status === 200);
        await trace.stop();
        assert.deepEqual(spansOf(spans).map(({ spanId }) => spanId), ["r1", "r1-m", "r1-t", "r2", "r2-m", "r2-t"].map(spanIdOf));
      });
    } finally {
      await spans.close();
    }
  }, { timeoutMs: 30_000 });

  test(
    "connections that the server ends are made again",
    () => overWire({}, async (trace, wire) => {
      await trace.ingest(sampleRun("r1"));
      const { store_schema: schema } = trace.service.context.settings;
      const gone = await sql<Json>({ url, schema }, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${wire.name}'`);
      assert.ok(gone.length >= 2, "the writer's and a reader's");
      const again = sampleRun("r2").map((event, index) => ({ ...event, event_id: `again${index}` }));
      await until(async () => (await trace.send("POST", "/api/ingest?wait=1", again)).status === 200);
      await until(async () => (await trace.get("/api/runs")).status === 200);
      assert.equal((await trace.get("/api/runs/r2")).json["total_steps"], 7);
    }),
    { timeoutMs: 30_000 },
  );

  test("a schema of another format or with other tables is reported at the start", async () => {
    const schema = newSchema();
    const start = () => startTrace({ store: "postgres", store_url: url, store_schema: schema }, "unused");
    await sql({ url, schema }, `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.runs (id int)`);
    await assert.rejects(start(), { name: "StoreOpenError", message: `the schema ${schema} holds other tables; name another one with --store-schema` });
    await sql({ url, schema }, `DROP TABLE ${schema}.runs; CREATE TABLE ${schema}.head (format int); INSERT INTO ${schema}.head VALUES (99)`);
    await assert.rejects(start(), { name: "StoreOpenError", message: `the schema ${schema} has format 99, this release knows 5: use a newer release` });
    await dropSchema(url, schema);
  });

  test("a transaction that the database gives up because of another one is done again, and stored once", async () => {
    const stores = postgresStores(url);
    const place = await stores.place();
    const store = await stores.open(place);
    const other = await (await loadDriver({ url, schema: place.name })).connect("test");
    try {
      // Only the store's transaction looks for a deadlock, so it is the one that is given up.
      await other.query("SET deadlock_timeout = '30s'; BEGIN; LOCK TABLE runs IN SHARE MODE");
      const writing = store.writer.write(sampleRun("r").map(incoming));
      await until(async () => (await sql<Json>({ url, schema: place.name }, "SELECT 1 AS waits FROM pg_locks WHERE NOT granted AND relation = 'runs'::regclass")).length > 0);
      await other.query("SELECT seq FROM head FOR UPDATE");
      await other.query("COMMIT");
      assert.equal((await writing).stored, 7);
      assert.equal((await store.reader.stats()).total_events, 7);
    } finally {
      await other.end();
      await store.close();
      await place.dispose();
    }
  }, { timeoutMs: 30_000 });

  test("partitions are made as steps come, and dropped whole when retention has taken their runs", async () => {
    const stores = postgresStores(url);
    const place = await stores.place();
    const store = await stores.open(place);
    const runs = 30;
    for (let index = 0; index < runs; index++) await store.writer.write(sampleRun(`r${index}`, { at: Date.UTC(2026, 0, 1 + index) }).map(incoming));
    const all = Math.floor((runs * 7) / STEPS) + 1;
    assert.deepEqual(await stores.partitions(place), Array.from({ length: all }, (_, index) => `events_${index}`));
    while ((await store.writer.retain({ maxRuns: 8, maxPayloadBytes: 1e12, before: 0 })) > 0);
    await store.settle();
    const left = await stores.partitions(place);
    assert.deepEqual(left, Array.from({ length: all }, (_, index) => `events_${index}`).slice(Math.floor(((runs - 8) * 7) / STEPS)));
    const database = { url, schema: place.name };
    const [counts] = await sql<Json>(database, "SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM payloads) AS payloads, (SELECT count(*) FROM words) AS words, (SELECT count(*) FROM doomed) AS doomed");
    assert.deepEqual(counts, { events: 56, payloads: 48, words: 56, doomed: 0 });
    assert.equal((await store.reader.stats()).total_events, 56);
    await store.close();
    await place.dispose();
  }, { timeoutMs: 30_000 });
}

test.run();
