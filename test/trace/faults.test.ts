/** What goes wrong around a service: disks that fill, files that rot, bodies and clients that mean no good. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdir, open, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { rawWebSocket } from "../lib/raw-websocket.js";
import { suite } from "../lib/suite.js";
import { layoutOf } from "../../runtime/trace/store/sqlite/schema.js";
import { readContract } from "./openapi/contract.js";
import { type Json, sampleRun, startTrace, temporaryDirectory, until } from "./lib.js";

const test = suite("trace faults");
const fromSource = import.meta.url.endsWith(".ts");
const contract = readContract();
const JSON_BODY = { "content-type": "application/json" };

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<number | null>;
  /** What it wrote to stderr. */
  readonly told: () => string;
}

/** The service as a process of its own, behind `prefix`. */
async function startProcess(directory: string, prefix: readonly string[] = []): Promise<Running> {
  const entry = fileURLToPath(new URL(`./service-process.${fromSource ? "ts" : "js"}`, import.meta.url));
  const [command = process.execPath, ...words] = [...prefix, process.execPath, ...(fromSource ? ["--import", "tsx"] : []), entry, "--port", "0", "--data-dir", directory];
  const child = spawn(command, words, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on("data", (chunk) => {
      text += String(chunk);
      const found = /http:\/\/[\d.]+:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => reject(new Error(`the service ended with ${code}: ${text}`)));
  });
  return { child, url, ended, told: () => text };
}

async function ask(url: string, path: string): Promise<{ status: number; json: Json }> {
  const answer = await fetch(url + path);
  return { status: answer.status, json: (await answer.json()) as Json };
}

interface Disk {
  readonly directory: string;
  readonly prefix: readonly string[];
  /** Makes room again. */
  grow(pid: number): Promise<void>;
  release(): Promise<void>;
}

/** A small file system with a ballast file in it, both in megabytes; `null` where none can be mounted. */
async function smallDisk(size: number, ballast: number): Promise<Disk | null> {
  const home = await temporaryDirectory();
  const at = join(home, "disk");
  await mkdir(at);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}m`, "tmpfs", at], { stdio: "ignore" });
  } catch {
    await rm(home, { recursive: true });
    return null;
  }
  await writeFile(join(at, "ballast"), Buffer.alloc(ballast * 1024 * 1024));
  return {
    directory: join(at, "data"), prefix: [],
    grow: () => rm(join(at, "ballast")),
    async release() {
      execFileSync("umount", ["-l", at], { stdio: "ignore" });
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A process whose files may not grow beyond a few megabytes, until it is told otherwise; `null` without prlimit. */
async function smallFiles(): Promise<Disk | null> {
  try {
    execFileSync("prlimit", ["--version"], { stdio: "ignore" });
  } catch {
    return null;
  }
  const directory = await temporaryDirectory();
  return {
    directory, prefix: ["prlimit", "--fsize=3000000:"],
    // The limit ends with the process.
    grow: async (pid) => void spawnSync("prlimit", ["--pid", String(pid), "--fsize=unlimited:"]),
    release: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Ids of the runs that the list is told of, until the service ends. */
async function listen(url: string): Promise<{ readonly runs: ReadonlySet<string>; readonly ended: Promise<void> }> {
  const socket = await rawWebSocket(Number(new URL(url).port), "/ws/runs?ping=0");
  const runs = new Set<string>();
  const read = async (): Promise<void> => {
    for (let frame = await socket.next(); frame !== null && frame.opcode !== 8; frame = await socket.next()) {
      const { msg_type: type, run_id: id } = JSON.parse(frame.data.toString()) as { readonly msg_type: string; readonly run_id: string };
      if (type === "run_update") runs.add(id);
    }
    socket.destroy();
  };
  return { runs, ended: read() };
}

async function fillAndStop(disk: Disk, when: "full" | "room again"): Promise<void> {
  const { child, url, ended, told: stderr } = await startProcess(disk.directory, disk.prefix);
  try {
    const told = await listen(url);
    const confirmed: string[] = [];
    let refused = 0;
    const send = async (batch: number): Promise<number> => {
      const events = Array.from({ length: 50 }, (_, index) => ({
        run_id: `b${batch}`, event_id: `b${batch}-${index}`, event_type: "tool_end", tool_name: "t", summary: "s".repeat(200), payload: { text: noise(batch * 50 + index) },
      }));
      const answer = await fetch(`${url}/api/ingest?wait=1`, { method: "POST", headers: JSON_BODY, body: JSON.stringify(events) });
      const headers = Object.fromEntries(answer.headers);
      contract.judge(contract.operations.find(({ id }) => id === "ingestEvents") ?? assert.fail(), { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) });
      if (answer.status === 200) confirmed.push(...events.map((event) => event.event_id));
      else refused += events.length;
      return answer.status;
    };
    let batch = 0;
    let status = 200;
    while (status === 200 && batch < 500) status = await send(batch++);
    assert.equal(status, 507, "a full disk is told");
    for (let again = 0; again < 3; again++) assert.equal(await send(batch++), 507, "and stays told");
    assert.equal(child.exitCode, null, "the service lives");
    assert.equal((await ask(url, "/api/health")).status, 200);
    assert.deepEqual([(await ask(url, "/api/runs?limit=1")).status, (await ask(url, "/api/runs/b0/journey")).status, (await ask(url, "/api/topology")).status], [200, 200, 200]);
    const { events_dropped: dropped, events_processed: processed } = (await ask(url, "/api/stats")).json;
    assert.deepEqual([dropped, processed], [refused, confirmed.length], "every refused event is counted, and as refused alone");
    const otlp = await fetch(`${url}/v1/traces`, { method: "POST", headers: JSON_BODY, body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: "ab".repeat(16), spanId: "cd".repeat(8), name: "x", startTimeUnixNano: "1700000000000000000", endTimeUnixNano: "1700000000000000001" }] }] }] }) });
    assert.ok([200, 503].includes(otlp.status), "an exporter is told to come back, or its spans are tried");

    if (when === "room again") {
      await disk.grow(child.pid ?? 0);
      await until(async () => (await send(batch++)) === 200);
    }
    child.kill("SIGTERM");
    assert.equal(await ended, 0, stderr());
    await told.ended;
    assert.deepEqual([...told.runs].filter((id) => /^b\d+$/.test(id)).sort(), [...new Set(confirmed.map((id) => id.split("-")[0] ?? ""))].sort(), "nobody was shown what was not stored");
    if (when === "full") await disk.grow(child.pid ?? 0);
    const layout = layoutOf(disk.directory);
    for (const path of [layout.traces, layout.payloads, layout.index]) {
      const db = new Database(path);
      assert.equal(db.pragma("integrity_check", { simple: true }), "ok", path);
      db.close();
    }
    const after = await startTrace({}, disk.directory);
    const stored = new Set<string>();
    for (let run = 0; run < batch; run++) for (const step of ((await after.get(`/api/runs/b${run}/journey`)).json["steps"] ?? []) as Json[]) stored.add(String(step["event_id"]));
    assert.deepEqual([...stored].sort(), [...confirmed].sort(), "stored is what was confirmed, no more and no less");
    const last = confirmed.at(-1) ?? "";
    assert.equal((await after.get(`/api/runs/${last.split("-")[0] ?? ""}/steps/${last}/full`)).status, 200);
    assert.equal((await after.get("/api/stats")).json["total_runs"], new Set([...stored].map((id) => id.split("-")[0])).size + Number(otlp.status === 200 && (await after.get(`/api/runs/${"ab".repeat(16)}`)).status === 200));
    await after.stop();
  } finally {
    child.kill("SIGKILL");
    await disk.release();
  }
}

/** Text that does not compress away. */
function noise(seed: number): string {
  let state = seed + 1;
  return Array.from({ length: 400 }, () => ((state = (state * 48_271) % 2_147_483_647)).toString(36)).join("");
}

for (const [name, when] of [["a disk that fills up refuses events with 507, counts them, keeps answering, and recovers", "room again"], ["a stop while the disk is full ends with 0, and what was confirmed is there", "full"]] as const) {
  const disk = (await smallDisk(40, 34)) ?? (process.stdout.write("  no tmpfs can be mounted here: a limit on files stands for the full disk\n"), await smallFiles());
  if (disk === null) test.skip(name, "no tmpfs can be mounted here, and there is no prlimit");
  else test(name, () => fillAndStop(disk, when), { timeoutMs: 90_000 });
}

// Once there is room again, it is less than a transaction of the full text takes.
const tiny = await smallDisk(12, 6);
const TINY = "on a disk of 12 MB the search index leaves what room there is to new events";
if (tiny === null) test.skip(TINY, "no tmpfs can be mounted here");
else test(TINY, () => fillAndStop(tiny, "room again"), { timeoutMs: 90_000 });

test("a payload that is damaged, missing, cut or no object is 404, and the rest of the run is there", async () => {
  const first = await startTrace();
  const damage: readonly (readonly [string, Buffer | null])[] = [
    ["noise", Buffer.from("no gzip at all")], ["cut", gzipSync(JSON.stringify({ text: "x".repeat(5000) })).subarray(0, 20)], ["array", gzipSync("[1,2]")], ["text", gzipSync('"x"')], ["no json", gzipSync("{")], ["empty", Buffer.alloc(0)], ["missing", null],
  ];
  await first.ingest([{ run_id: "r", event_type: "chain_start" }, ...damage.map(([id]) => ({ run_id: "r", event_id: id, event_type: "tool_end", tool_name: "t", payload: { ok: id } })), { run_id: "r", event_id: "whole", event_type: "tool_end", payload: { ok: 1 } }]);
  await first.stop();
  const layout = layoutOf(first.directory);
  const traces = new Database(layout.traces, { readonly: true });
  const payloads = new Database(layout.payloads);
  for (const [id, data] of damage) {
    const { seq } = traces.prepare("SELECT seq FROM events WHERE event_id = ?").get(id) as { seq: number };
    if (data === null) payloads.prepare("DELETE FROM payloads WHERE seq = ?").run(seq);
    else payloads.prepare("UPDATE payloads SET data = ? WHERE seq = ?").run(data, seq);
  }
  traces.close();
  payloads.close();
  const again = await startTrace({}, first.directory);
  for (const [id] of damage) {
    const { status, json } = await again.get(`/api/runs/r/steps/${encodeURIComponent(id)}/full`);
    assert.deepEqual([status, json], [404, { detail: "Blob not found for this step" }], id);
  }
  assert.deepEqual((await again.get("/api/runs/r/steps/whole/full")).json["full_payload"], { ok: 1 });
  assert.equal(((await again.get("/api/runs/r/journey")).json["steps"] as Json[]).length, damage.length + 2);
  const exported = await again.get("/api/runs/r/export?include=payloads");
  const lines = exported.text.trimEnd().split("\n").map((line) => JSON.parse(line) as Json);
  assert.deepEqual([lines.length, lines.filter((line) => "full_payload" in line).length], [damage.length + 3, 1]);
  assert.equal((await again.send("DELETE", "/api/runs/r")).status, 200);
  await again.dispose();
});

test("pages of the database that rotted are answered 503, never by an end of the service", async () => {
  const first = await startTrace();
  for (let run = 0; run < 40; run++) await first.ingest(Array.from({ length: 40 }, (_, index) => ({ run_id: `r${run}`, event_type: "retry", summary: `${index} ${"x".repeat(300)}` })));
  await first.stop();
  const layout = layoutOf(first.directory);
  const { size } = await stat(layout.traces);
  const file = await open(layout.traces, "r+");
  // The first pages, which a start reads, stay whole.
  for (let at = Math.floor(size / 4 / 4096) * 4096; at < size; at += 8192) await file.write(Buffer.alloc(2048, 0xa5), 0, 2048, at);
  await file.close();
  let again: Awaited<ReturnType<typeof startTrace>>;
  try {
    again = await startTrace({}, first.directory);
  } catch (error) {
    // Seen at the start already: then with what to do.
    assert.ok(error instanceof Error && error.name === "StoreOpenError" && /toolsrv trace doctor/.test(error.message), String(error));
    await rm(first.directory, { recursive: true, force: true });
    return;
  }
  const statuses = new Set<number>();
  for (let run = 0; run < 40; run++) for (const path of ["", "/journey", "/export"]) statuses.add((await again.get(`/api/runs/r${run}${path}`)).status);
  for (const path of ["/api/runs", "/api/stats", "/api/topology", "/api/tools", "/api/search?q=x", "/api/sessions"]) statuses.add((await again.get(path)).status);
  assert.deepEqual([...statuses].filter((status) => ![200, 404, 503].includes(status)), []);
  const written = await again.send("POST", "/api/ingest?wait=1", [{ run_id: "new", event_type: "chain_start" }]);
  assert.ok([200, 503].includes(written.status));
  assert.equal((await again.get("/api/health")).status, 200);
  assert.deepEqual(again.logged.filter((line) => line.startsWith("died")), []);
  await again.dispose();
}, { timeoutMs: 30_000 });

test("nested as deep as JSON goes: what can't be stored is named by its position, the rest is taken", async () => {
  const trace = await startTrace();
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  const body = `[${[200, 1000, 300_000].map((depth) => `{"run_id":"d","event_id":"d${depth}","event_type":"tool_end","payload":${nested(depth)}}`).join(",")},{"run_id":"d","event_type":"retry","attributes":${nested(300_000)}}]`;
  const { status, json } = await trace.send("POST", "/api/ingest?wait=1", body, JSON_BODY);
  assert.deepEqual([status, json["accepted"], (json["rejected"] as Json[]).map((entry) => entry["index"])], [200, 2, [2, 3]]);
  for (const depth of [200, 1000]) assert.equal((await trace.get(`/api/runs/d/steps/d${depth}/full`)).text.includes(nested(depth)), true, String(depth));
  assert.equal((await trace.send("POST", "/api/ingest", "[".repeat(1_000_000), JSON_BODY)).status, 400);
  const value = `${'{"arrayValue":{"values":['.repeat(100_000)}{"stringValue":"x"}${"]}}".repeat(100_000)}`;
  const span = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${"ab".repeat(16)}","spanId":"${"cd".repeat(8)}","name":"x","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000000001","attributes":[{"key":"k","value":${value}}]}]}]}]}`;
  assert.ok([200, 400].includes((await trace.send("POST", "/v1/traces", span, JSON_BODY)).status));
  assert.deepEqual(trace.logged, []);
  await trace.dispose();
}, { timeoutMs: 30_000 });

test("a body of 64 MiB is taken, and while it is read the service answers others", async () => {
  const trace = await startTrace();
  const head = '[{"run_id":"big","event_id":"big","event_type":"tool_end","payload":{"text":"';
  const tail = '"}}]';
  const body = Buffer.alloc(64 * 1024 * 1024, "y");
  body.write(head, 0);
  body.write(tail, body.length - tail.length);
  const order: string[] = [];
  const sent = trace.send("POST", "/api/ingest?wait=1", new Uint8Array(body), JSON_BODY).then((answer) => (order.push("body"), answer));
  // Asked again and again until the body has its own answer: the first answers come before it.
  while (!order.includes("body")) {
    assert.equal((await trace.get("/api/health")).status, 200);
    order.push("health");
  }
  assert.deepEqual([(await sent).status, (await sent).json["accepted"]], [200, 1]);
  assert.equal(order[0], "health");
  assert.equal((await trace.get("/api/runs/big/steps/big/full")).text.length, body.length - head.length - tail.length + '{"event_id":"big","run_id":"big","event_type":"tool_end","full_payload":{"text":""}}'.length);
  const over = await trace.send("POST", "/api/ingest", new Uint8Array(Buffer.alloc(64 * 1024 * 1024 + 1, " ")), JSON_BODY);
  assert.equal(over.status, 413);
  const bomb = gzipSync(gzipSync(Buffer.alloc(200 * 1024 * 1024)));
  assert.equal((await trace.send("POST", "/api/ingest", new Uint8Array(gzipSync(Buffer.alloc(200 * 1024 * 1024))), { ...JSON_BODY, "content-encoding": "gzip" })).status, 413);
  assert.equal((await trace.send("POST", "/v1/traces", new Uint8Array(gzipSync(Buffer.alloc(200 * 1024 * 1024))), { "content-type": "application/x-protobuf", "content-encoding": "gzip" })).status, 413);
  assert.equal((await trace.send("POST", "/api/ingest", new Uint8Array(bomb), { ...JSON_BODY, "content-encoding": "gzip" })).status, 400, "what is packed twice is unpacked once");
  await trace.dispose();
}, { timeoutMs: 60_000 });

test("connections that say half a request, or nothing, or go silent hold up nobody and no stop", async () => {
  const trace = await startTrace();
  await trace.ingest(sampleRun("r1"));
  const halves = ["", "G", "GET /api/runs HTTP/1.1\r\nhost: 127.0.0.1\r\n", "POST /api/ingest HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n[{",
    "POST /api/ingest HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\n[", `GET /ws/runs HTTP/1.1\r\nhost: 127.0.0.1:${trace.port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81`];
  const sockets = Array.from({ length: 60 }, (_, index) => {
    const socket = connect({ port: trace.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined);
    socket.write(halves[index % halves.length] ?? "");
    // Every third says that it will send no more, and stays.
    if (index % 3 === 0) socket.end();
    return socket;
  });
  await until(() => sockets.every((socket) => !socket.connecting));
  assert.deepEqual([(await trace.get("/api/health")).status, (await trace.get("/api/runs")).json["total"]], [200, 1]);
  await trace.ingest([{ run_id: "r2", event_type: "chain_start" }]);
  await trace.stop();
  for (const socket of sockets) socket.destroy();
  await trace.dispose();
}, { timeoutMs: 30_000 });

test("two processes do not share a directory: the second one's error names who has it, and it is free after a kill", async () => {
  const directory = await temporaryDirectory();
  const first = await startProcess(directory);
  await assert.rejects(startProcess(directory), /in use by another trace service/);
  assert.equal((await ask(first.url, "/api/health")).status, 200);
  first.child.kill("SIGKILL");
  await first.ended;
  const again = await startProcess(directory);
  again.child.kill("SIGTERM");
  assert.equal(await again.ended, 0);
  await rm(directory, { recursive: true, force: true });
}, { timeoutMs: 30_000 });

test.run();
