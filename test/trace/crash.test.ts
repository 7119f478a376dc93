/** A service that is killed: the file stays whole, what was committed is there, and runs it left open are ended. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import Database from "better-sqlite3";
import { suite } from "../lib/suite.js";
import { layoutOf } from "../../runtime/trace/store/sqlite/schema.js";
import { type Json, startTrace, temporaryDirectory } from "./lib.js";
import { ended, startProcess } from "./processes.js";

const test = suite("trace crash");

test("kill -9 during ingest loses nothing that was committed and leaves every file whole", async () => {
  const directory = await temporaryDirectory();
  const { child, url } = await startProcess(["--data-dir", directory]);
  const confirmed: string[] = [];
  const exit = ended(child);
  const send = async (worker: number): Promise<void> => {
    for (let batch = 0; ; batch++) {
      const events = Array.from({ length: 20 }, (_, index) => ({ run_id: `w${worker}`, event_id: `w${worker}-${batch}-${index}`, event_type: "tool_end", tool_name: "t", payload: { text: "x".repeat(200) } }));
      const answer = await fetch(`${url}/api/ingest?wait=1`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(events) });
      if (answer.status !== 200) return;
      confirmed.push(...events.map((event) => event.event_id));
      if (confirmed.length > 2_000) child.kill("SIGKILL");
    }
  };
  await Promise.allSettled([send(0), send(1), send(2)]);
  await exit;
  const layout = layoutOf(directory);
  for (const path of [layout.traces, layout.payloads, layout.index]) {
    const db = new Database(path);
    assert.equal(db.pragma("integrity_check", { simple: true }), "ok", path);
    db.close();
  }
  const again = await startTrace({ settle_run_timeout_s: 0.001, stale_run_timeout_s: 0.001 }, directory);
  const stored = new Set<string>();
  for (const run of ["w0", "w1", "w2"]) for (const step of (await again.get(`/api/runs/${run}/journey`)).json["steps"] as Json[]) stored.add(String(step["event_id"]));
  assert.deepEqual(confirmed.filter((id) => !stored.has(id)), []);
  const last = confirmed.at(-1) ?? "";
  assert.deepEqual((await again.get(`/api/runs/${last.split("-")[0]}/steps/${last}/full`)).json["full_payload"], { text: "x".repeat(200) });
  await again.ingest([{ run_id: "after", event_type: "chain_start" }, { run_id: "after", event_type: "chain_end" }]);
  assert.equal((await again.get("/api/runs/after")).json["status"], "completed");
  await again.dispose();
}, { timeoutMs: 60_000 });

test("SIGTERM writes what is queued, then ends with 0", async () => {
  const directory = await temporaryDirectory();
  const { child, url } = await startProcess(["--data-dir", directory]);
  const exit = ended(child);
  const events = Array.from({ length: 500 }, (_, index) => ({ run_id: "t", event_type: index === 0 ? "chain_start" : "retry" }));
  await fetch(`${url}/api/ingest`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(events) });
  child.kill("SIGTERM");
  assert.equal(await exit, 0);
  const again = await startTrace({}, directory);
  assert.equal((await again.get("/api/runs/t")).json["total_steps"], 500);
  await again.dispose();
}, { timeoutMs: 30_000 });

test("a damaged database is reported at the start", async () => {
  const directory = await temporaryDirectory();
  const first = await startTrace({}, directory);
  await first.stop();
  const { writeFile } = await import("node:fs/promises");
  await writeFile(layoutOf(directory).traces, "this is no database, and it is long enough to look like one ".repeat(100));
  await assert.rejects(startTrace({}, directory), { name: "StoreOpenError", message: /is damaged; see: toolsrv trace doctor/ });
  await rm(directory, { recursive: true, force: true });
});

test.run();
