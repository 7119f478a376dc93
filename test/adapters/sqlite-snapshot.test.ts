/** Searches while another process replaces the collection they read. */
import * as assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RowSet } from "../../runtime/adapters/adapter.js";
import type { Filter, Row } from "../../runtime/abi/filter.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";
import { never, scratch } from "./store.js";

const test = suite("adapters/sqlite snapshot");
/** More than the event loop searches. */
const ROWS = 40_000;
const GUARD: Filter = { path: "tenant", op: "eq", value: "acme" };

/** Runs the replacer until `work` is done; it has swapped the collection at least once before. */
async function whileReplaced(file: string, work: (swaps: () => number) => Promise<void>): Promise<void> {
  const script = fileURLToPath(new URL(`replacer.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, script, file, String(ROWS)], { stdio: ["pipe", "pipe", "inherit"] });
  let swaps = 0;
  child.stdout?.on("data", (chunk: Buffer) => (swaps += String(chunk).split("\n").length - 1));
  try {
    await once(child.stdout!, "data");
    await work(() => swaps);
  } finally {
    child.stdin?.end();
    await once(child, "exit");
  }
}

test("no record of another tenant leaves a search while load --replace swaps the collection", async () => {
  const { folder, remove } = scratch();
  const vector = hashText("red fox", 64);
  await whileReplaced(join(folder, "store.db"), async (swaps) => {
    const store = await sqlite.open({ path: "store.db" }, { base: folder });
    const search = (mode: "dense" | "hybrid"): Promise<RowSet> => store.search({ collection: "things", vector, text: "red 3", mode, alpha: 0.5, filter: GUARD, limit: 50, fields: null, embeddedBy: "local/test" }, never);
    const byId: Filter = { and: [GUARD, { path: "id", op: "in", value: ["r1", "r2"] }] };
    const first = swaps();
    const end = Date.now() + 60_000;
    for (let n = 0; (n < 8 || swaps() < first + 5) && Date.now() < end; n++) {
      const sets: readonly (RowSet | number)[] = await Promise.all([
        search("dense"), search("hybrid"), search("dense"),
        store.fetch({ collection: "things", filter: byId, limit: 5, offset: 0, fields: null }, never),
        store.count("things", GUARD, never),
      ]);
      const rows = sets.flatMap((set): readonly Row[] => (typeof set === "number" ? [] : set.rows));
      assert.deepEqual(rows.filter((row) => row["tenant"] !== "acme"), []);
      assert.deepEqual(rows.filter((row) => row["_id"] !== `r${String(row["n"])}`), [], "each record has its own id");
      assert.deepEqual(sets.map((set) => (typeof set === "number" ? set : set.rows.length)), [50, 50, 50, 1, ROWS / 2]);
    }
    assert.ok(swaps() >= first + 3, "the collection was swapped while it was read");
    await store.close();
  });
  remove();
}, { timeoutMs: 120_000 });

test.run();
