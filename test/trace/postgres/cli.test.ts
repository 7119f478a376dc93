/** `toolsrv trace …` over a database. */
import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../generator/cli/main.js";
import { memoryIo } from "../../lib/io.js";
import { suite } from "../../lib/suite.js";
import { incoming, type Json, openLocalStore, sampleRun, temporaryDirectory } from "../lib.js";
import { DATABASE, dropSchema, newSchema, NO_DATABASE, sql } from "./database.js";

const test = suite("toolsrv trace postgres");

/** Two runs in a directory; the commands are given a schema of their own. */
async function inSchema(work: (trace: (...words: string[]) => Promise<{ code: number; out: string; err: string }>, directory: string, schema: string) => Promise<void>): Promise<void> {
  const directory = await temporaryDirectory();
  const store = openLocalStore(join(directory, "data"));
  store.writer.write([...sampleRun("r1"), ...sampleRun("r2", { failed: true, at: Date.UTC(2026, 10, 21), tags: ["other"] })].map(incoming));
  store.settle();
  store.close();
  const schema = newSchema();
  try {
    await work(async (...words) => {
      const io = memoryIo({ cwd: directory, env: words.includes("sqlite") ? {} : { TRACE_SERVICE_STORE_URL: DATABASE ?? "" } });
      const named = words.includes("sqlite") ? words : [...words, "--store", "postgres", "--store-schema", schema];
      return { code: await run(["trace", ...named], io), out: io.out(), err: io.err() };
    }, directory, schema);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await dropSchema(DATABASE ?? "", schema);
  }
}

test("a store that can't be one is a usage error", async () => {
  for (const words of [["runs", "--store", "postgres"], ["runs", "--store", "mysql"], ["doctor", "--store-url", "postgresql://u:hunter2@h/db"]]) {
    const io = memoryIo({ cwd: "/", env: {} });
    assert.equal(await run(["trace", ...words], io), 2, words.join(" "));
    assert.ok(!io.err().includes("hunter2"));
  }
});

if (DATABASE === undefined) test.skip("commands over a database", NO_DATABASE);
else {
  const url = DATABASE;

  test("reading what is not there makes nothing", () =>
    inSchema(async (trace, _, schema) => {
      for (const words of [["runs"], ["stats"], ["doctor"], ["gc", "--dry-run"]]) {
        const told = await trace(...words);
        assert.deepEqual([told.code, told.err.includes(`schema ${schema} holds no traces; name another one with --store-schema`)], [1, true], words.join(" "));
      }
      assert.deepEqual(await sql({ url, schema: "public" }, `SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`), []);
    }));

  test(
    "an export of a directory is imported, shown, compared, counted and exported again as it was",
    () => inSchema(async (trace, directory) => {
      assert.equal((await trace("export", "--all", "--output", "all.jsonl", "--store", "sqlite", "--data-dir", "data")).code, 0);
      const imported = await trace("import", "all.jsonl");
      assert.match(imported.out, /^imported 2 runs, 14 events \(0 skipped\) into postgres .*schema t_/);
      assert.match((await trace("runs")).out, /r2 .*\n.*r1 .*\n2 of 2 runs/);
      assert.match((await trace("show", "r1")).out, /web_search/);
      assert.match((await trace("diff", "r1", "r2")).out, /≠ status/);
      assert.match((await trace("watch", "r1", "--once")).out, /tool_end web_search/);
      assert.equal((JSON.parse((await trace("stats", "--json")).out) as Json)["total_events"], 14);
      const lines = (text: string): unknown[] => text.trim().split("\n").map((line) => ({ ...(JSON.parse(line) as Json), seq: 0, last_seq: 0 }));
      assert.deepEqual(lines((await trace("export", "--all")).out), lines(await readFile(join(directory, "all.jsonl"), "utf8")));
      assert.match((await trace("import", "all.jsonl")).out, /imported 2 runs, 0 events \(14 skipped\)/);
    }),
    { timeoutMs: 30_000 },
  );

  test(
    "gc says what would go, and deletes it; doctor finds everything in order, and what is not",
    () => inSchema(async (trace, _, schema) => {
      const database = { url, schema };
      await trace("export", "--all", "--output", "all.jsonl", "--store", "sqlite", "--data-dir", "data");
      await trace("import", "all.jsonl");
      assert.equal((await trace("gc", "--max-runs", "1", "--dry-run")).out, "r1\nwould delete 1 of 2 runs\n");
      assert.equal((await trace("gc", "--max-runs", "1")).out, "deleted 1 run\n");
      const sound = await trace("doctor");
      assert.deepEqual([sound.code, /1 runs, 7 events/.test(sound.out), sound.out.endsWith("everything is in order\n")], [0, true, true]);
      await sql(database, "DELETE FROM payloads WHERE seq = (SELECT max(seq) FROM payloads)");
      await sql(database, "UPDATE runs SET steps = 9");
      const broken = await trace("doctor");
      assert.deepEqual([broken.code, /problem {2}1 events whose payload is missing/.test(broken.out), /problem {2}1 runs whose count of events is wrong/.test(broken.out)], [1, true, true]);
    }),
    { timeoutMs: 30_000 },
  );

  test("demo records its runs there", () =>
    inSchema(async (trace) => {
      assert.match((await trace("demo", "--check")).out, /^seeded demo runs demo-\w+-1 to demo-\w+-5 into postgres /);
      assert.match((await trace("runs", "--json")).out, /"run_id":"demo-/);
    }));
}

test.run();
