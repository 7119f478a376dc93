/** `toolsrv trace …` over a data directory. */
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { run } from "../../generator/cli/main.js";
import { TRACE_COMMANDS, TRACE_OPTIONS } from "../../generator/cli/trace-options.js";
import { duration, fitEnd } from "../../generator/trace-cli/format.js";
import { SETTINGS } from "../../runtime/trace/settings.js";
import { LinePacker } from "../../runtime/trace/block.js";
import { decodeBatch, encodeBatch } from "../../runtime/trace/ingest/batch.js";
import { layoutOf } from "../../runtime/trace/store/sqlite/schema.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { incoming, type Json, openLocalStore, sampleRun, startTrace, temporaryDirectory } from "./lib.js";

const test = suite("toolsrv trace");

async function inDirectory(work: (directory: string, trace: (...words: string[]) => Promise<{ code: number; out: string; err: string }>) => Promise<void>): Promise<void> {
  const directory = await temporaryDirectory();
  const store = openLocalStore(join(directory, "data"));
  store.writer.write([...sampleRun("r1"), ...sampleRun("r2", { failed: true, at: Date.UTC(2026, 10, 21), tags: ["other"] })].map(incoming));
  store.writer.registerTools("tavily", ["web_search", "extract"]);
  store.settle();
  store.close();
  try {
    await work(directory, async (...words) => {
      const io = memoryIo({ cwd: directory, env: { TRACE_SERVICE_HOST: "0.0.0.0" } });
      const named = words.includes("--data-dir") || words.includes("-d") ? words : [...words, "--data-dir", "data"];
      return { code: await run(["trace", ...named], io), out: io.out(), err: io.err() };
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test("without a home folder a command asks for a data directory, and makes none where it runs", async () => {
  const cwd = await temporaryDirectory();
  for (const command of ["runs", "demo", "gc", "doctor"]) {
    const io = memoryIo({ cwd, env: { HOME: "" } });
    assert.equal(await run(["trace", command], io), 2, command);
    assert.match(io.err(), /there is no place for the traces: HOME is empty or no absolute path; .* or name a folder with --data-dir/, command);
  }
  assert.deepEqual(await readdir(cwd), []);
  await rm(cwd, { recursive: true });
});

test("every setting of the service is an option of serve", () => {
  const names = new Set(TRACE_OPTIONS.map((option) => option.name));
  for (const [name, row] of Object.entries(SETTINGS)) {
    const option = TRACE_OPTIONS.find((entry) => entry.name === name.replaceAll("_", "-"));
    assert.ok(option !== undefined, name);
    assert.equal(option.value === undefined, row.kind === "switch", name);
  }
  assert.equal(names.size, TRACE_OPTIONS.length);
});

test("runs lists them newest first, filtered, as text or as NDJSON with a summary beside it", () =>
  inDirectory(async (_, trace) => {
    const text = await trace("runs");
    assert.deepEqual([text.code, text.out.split("\n").slice(0, 2).map((line) => line.slice(0, 2)), /2 of 2 runs/.test(text.out)], [0, ["r2", "r1"], true]);
    const json = await trace("runs", "--json", "--status", "failed");
    assert.deepEqual([(JSON.parse(json.out) as Json)["run_id"], json.err], ["r2", "# 1 of 1 runs, offset 0\n"]);
    assert.match((await trace("runs", "--tag", "nothing")).out, /^no runs\n$/);
    assert.deepEqual([(await trace("runs", "--status", "done")).code, (await trace("runs", "--limit", "201")).code], [2, 2]);
  }));

test("on a terminal no line is wider than it, and recorded text can't steer it", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(join(directory, "data"));
  const evil = "\u009b31mname\u202egnp ".repeat(12);
  const long = sampleRun("terminal-run-with-a-rather-long-identifier", { failed: true, tags: [evil] }).map((event) => ({ ...event, ...(event["error_message"] === undefined ? {} : { error_message: `\u001b]0;title\u0007${"bad ".repeat(60)}` }) }));
  store.writer.write([...long, { run_id: "n", event_type: "tool_start", tool_name: evil }].map(incoming));
  store.settle();
  store.close();
  try {
    for (const words of [["runs"], ["show", "terminal-run-with-a-rather-long-identifier"]]) {
      const io = memoryIo({ cwd: directory, tty: true });
      assert.equal(await run(["trace", ...words, "--data-dir", "data"], io), 0, io.err());
      const text = io.out().replace(/\u001b\[\d+m/g, "");
      assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(text), JSON.stringify(text));
      const wide = text.split("\n").filter((line) => [...line].length > 80);
      assert.deepEqual(wide, []);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("show draws the calls as a tree with durations, tokens, servers and errors", () =>
  inDirectory(async (_, trace) => {
    assert.equal((await trace("show", "r2")).out, "r2  failed  3 calls  ↑42 ↓58  [other]\n└─ ⬡ research_agent  620 ms  ✗ no answer\n   ├─ ◯ ChatModel  210 ms  ↑42 ↓58\n   └─ ▭ web_search  350 ms  mcp:tavily\n");
    assert.match((await trace("show", "r2", "--reverse")).out, /├─ ▭ web_search[\s\S]*└─ ◯ ChatModel/);
    assert.deepEqual([(await trace("show", "nope")).code, (await trace("show", "nope")).err], [1, "toolsrv trace: no run nope\n"]);
  }));

test("watch prints the steps and ends with the run; an unknown run does not wait", () =>
  inDirectory(async (_, trace) => {
    const watched = await trace("watch", "r1");
    assert.deepEqual([watched.code, watched.out.trimEnd().split("\n").length], [0, 7]);
    assert.match(watched.out, /^\[11:54:40\] • run_start research_agent\n/);
    assert.equal((await trace("watch", "nope")).code, 1);
  }));

test("diff marks what differs", () =>
  inDirectory(async (_, trace) => {
    const { out } = await trace("diff", "r1", "r2");
    assert.match(out, /^≠ status {6}/m);
    assert.match(out, /^ {2}events/m);
    assert.match(out, /\d+ calls alike, \d+ changed \(≠\), 0 only in the first \(-\), 0 only in the second \(\+\)\n$/);
    assert.equal((await trace("diff", "r1", "nope")).code, 1);
    assert.equal((await trace("diff", "r1")).code, 2);
  }));

test("diff prints the calls of both runs aligned, with what only one of them did", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(join(directory, "data"));
  const at = (ms: number): number => Date.UTC(2026, 10, 20) + ms;
  const events = (id: string, tools: readonly string[], lastMs: number): Json[] => [
    { run_id: id, event_type: "chain_start", agent_name: "helper", timestamp: at(0) },
    ...tools.flatMap((tool, index) => [
      { run_id: `${id}-${tool}`, parent_run_id: id, event_type: "tool_start", tool_name: tool, timestamp: at(index * 10 + 1) },
      { run_id: `${id}-${tool}`, parent_run_id: id, event_type: tool === "breaks" ? "tool_error" : "tool_end", tool_name: tool, timestamp: at(index * 10 + 6), ...(tool === "breaks" ? { error_message: "no\u001b[31m answer" } : {}) },
    ]),
    { run_id: id, event_type: "chain_end", agent_name: "helper", timestamp: at(lastMs) },
  ];
  store.writer.write([...events("a", ["find", "old", "read"], 1800), ...events("b", ["find", "breaks", "read"], 125_000)].map(incoming));
  store.close();
  try {
    const io = memoryIo({ cwd: directory });
    assert.equal(await run(["trace", "diff", "a", "b", "-d", "data"], io), 0, io.err());
    const lines = io.out().split("\n").map((line) => line.replace(/ {2,}/g, "  "));
    for (const wanted of [
      "≠ duration  1.8 s  2 m 5 s", "≠ errors  0  1", "≠ tools only in the first: old", "≠ tools only in the second: breaks",
      "  agent:helper  1.8 s  2 m 5 s", "  tool:find  5 ms  5 ms", "-  tool:old  5 ms", "+  tool:breaks  ✗ 5 ms", "  b: ✗ no [31m answer", "  tool:read  5 ms  5 ms",
    ]) assert.ok(lines.includes(wanted), `${wanted}\n${lines.join("\n")}`);
    assert.ok(!io.out().includes("\u001b"));
    // Ids of one time begin alike.
    assert.deepEqual(["2026-11-23-run-1", "2026-11-23-run-2", "r1"].map((id) => fitEnd(id, 12)), ["…11-23-run-1", "…11-23-run-2", "r1"]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("durations are those that people say, in lists, trees and while a run is watched", () =>
  inDirectory(async (_, trace) => {
    assert.deepEqual([0, 620, 999.4, 1840, 59_960, 125_000, 3_599_600, 3_780_000].map(duration), ["0 ms", "620 ms", "999 ms", "1.8 s", "1 m 0 s", "2 m 5 s", "1 h 0 m", "1 h 3 m"]);
    for (const words of [["runs"], ["show", "r1"], ["watch", "r1"]]) {
      const { out } = await trace(...words);
      assert.match(out, / {2}\d+(?:\.\d)? m?s/, words.join(" "));
      assert.doesNotMatch(out, /\d{4,} ms/);
    }
    assert.match((await trace("watch", "r1")).out, /tool_end \S+ {2}\d/);
  }));

test("every command has a help text of its own, with its options and no others", async () => {
  const help = async (...words: string[]): Promise<string> => {
    const io = memoryIo();
    assert.equal(await run(words, io), 0);
    return io.out();
  };
  const all = await help("trace", "--help");
  for (const { name, summary } of TRACE_COMMANDS) {
    assert.ok(all.includes(`  ${name}`), name);
    const own = await help("trace", name, "--help");
    assert.ok(own.replace(/\s+/g, " ").startsWith(`${summary}. Usage: toolsrv trace ${name}`), own);
    assert.equal(await help("help", "trace", name), own);
  }
  assert.ok(all.split("\n").length < 30, all);
  const show = await help("trace", "show", "--help");
  assert.match(show, /--reverse/);
  assert.match(show, /-d, --data-dir DIR/);
  assert.doesNotMatch(show, /--port|--all|--redact/);
  assert.match(await help("trace", "demo", "--help"), /--check[^]*--port/);
  assert.match(await help("trace", "export", "--help"), /-o, --output FILE/);
});

test("a typo is the first line of what is printed, and no more than two follow", () =>
  inDirectory(async (_, trace) => {
    const table: readonly (readonly [readonly string[], string])[] = [
      [["shwo", "r1"], "toolsrv trace: unknown command 'shwo'; did you mean show?"],
      [["show", "r1", "--revers"], "toolsrv trace show: unknown option --revers; did you mean --reverse?"],
      [["show"], "toolsrv trace show: missing RUN_ID"],
      [["runs", "--limit", "many"], "toolsrv trace runs: --limit takes a whole number from 1 to 200, not 'many'"],
      [["runs", "extra"], "toolsrv trace runs: unexpected argument 'extra'"],
    ];
    for (const [words, message] of table) {
      const { code, err } = await trace(...words);
      const lines = err.trimEnd().split("\n");
      assert.deepEqual([code, lines[0], lines.length], [2, message, 3], err);
    }
  }));

test("an import of what is no export is an error that says so; what was there before is none", () =>
  inDirectory(async (directory, trace) => {
    await writeFile(join(directory, "garbage.bin"), Buffer.from(Array.from({ length: 4000 }, (_, index) => (index * 37) % 251)));
    await writeFile(join(directory, "prose.jsonl"), "hello\n".repeat(500) + '{"a":1}\n');
    for (const file of ["garbage.bin", "prose.jsonl"]) {
      const { code, err } = await trace("import", file);
      assert.equal(code, 1, file);
      const lines = err.trimEnd().split("\n");
      assert.equal(lines.at(-1), `toolsrv trace: ${file} is no export: nothing in it is a run or an event that can be read`);
      assert.ok(lines.length <= 21, String(lines.length));
    }
    assert.equal((await trace("export", "--all", "-o", "again.jsonl")).code, 0);
    assert.equal((await trace("import", "again.jsonl")).code, 0);
    await writeFile(join(directory, "empty.jsonl"), "");
    assert.equal((await trace("import", "empty.jsonl")).code, 0);
    const viewed = await trace("view", "prose.jsonl");
    assert.deepEqual([viewed.code, viewed.err.trimEnd().split("\n").at(-1)], [1, "toolsrv trace: prose.jsonl is no export: nothing in it is a run or an event that can be read"]);
    const folder = await trace("import", ".", "--data-dir", "data");
    assert.deepEqual([folder.code, folder.err.split("\n")[0]], [2, `toolsrv trace import: ${directory} is no data directory of the existing system: it has no traces.db`]);
  }));

test("an export reads back into the same runs, steps, payloads and tags", () =>
  inDirectory(async (directory, trace) => {
    const exported = await trace("export", "--all");
    await writeFile(join(directory, "all.jsonl"), exported.out);
    const imported = await trace("import", "all.jsonl", "--data-dir", "copy");
    assert.deepEqual([imported.code, imported.out], [0, `imported 2 runs, 14 events (0 skipped) into ${join(directory, "copy")}\n`]);
    const again = await trace("export", "--all", "--data-dir", "copy");
    assert.equal(again.out, exported.out);
    assert.ok(exported.out.includes('"full_payload":{"output":"18 degrees"}'));
    assert.match((await trace("import", "all.jsonl", "--data-dir", "copy")).out, /imported 2 runs, 0 events \(14 skipped\)/);
    assert.deepEqual([(await trace("export")).code, (await trace("export", "nope")).code, (await trace("export", "r1", "--format", "csv")).code], [2, 1, 2]);
  }));

test("a file downloaded over HTTP is read back, too; bad lines are reported by number and counted", () =>
  inDirectory(async (directory, trace) => {
    const service = await startTrace();
    await service.ingest(sampleRun("web"));
    const { text } = await service.get("/api/runs/web/export?include=payloads");
    const before = (await service.get("/api/runs/web")).json;
    await service.dispose();
    await writeFile(join(directory, "web.jsonl"), `${text}not json\n{"neither":1}\n{"_kind":"error","detail":"export truncated"}\n`);
    const { out, err, code } = await trace("import", "web.jsonl", "--data-dir", "copy");
    assert.deepEqual([code, out], [0, `imported 1 runs, 7 events (3 skipped) into ${join(directory, "copy")}\n`]);
    assert.match(err, /^skipped line 9: it is no JSON object\nskipped line 10: it is neither a run nor an event\nskipped line 11: the export was cut short: export truncated\n$/);
    const copied = openLocalStore(join(directory, "copy"));
    assert.deepEqual(copied.reader.run("web", false), before);
    copied.close();
  }));

test("the existing system's data directory is imported with payloads and tools; a payload outside its folder is not", () =>
  inDirectory(async (directory, trace) => {
    const old = join(directory, "old");
    await mkdir(join(old, "blobs", "t1"), { recursive: true });
    await writeFile(join(old, "blobs", "t1", "e2.json.gz"), gzipSync('{"output":"old payload"}'));
    await writeFile(join(old, "secret.json.gz"), gzipSync('{"secret":1}'));
    const db = new Database(join(old, "traces.db"));
    db.exec(`CREATE TABLE runs (run_id TEXT, root_run_id TEXT, tags TEXT, status TEXT, started_at TEXT, completed_at TEXT, total_steps INTEGER, total_tokens_input INTEGER, total_tokens_output INTEGER, graph_definition TEXT, error_message TEXT);
      CREATE TABLE events (event_id TEXT, run_id TEXT, parent_run_id TEXT, root_run_id TEXT, event_type TEXT, timestamp TEXT, agent_name TEXT, tool_name TEXT, mcp_server TEXT, summary TEXT, blob_path TEXT, duration_ms INTEGER, token_input INTEGER, token_output INTEGER, error_message TEXT);
      CREATE TABLE mcp_tools (server TEXT, tool_name TEXT); INSERT INTO mcp_tools VALUES ('tavily', 'extract');
      INSERT INTO runs VALUES ('o1', 'o1', '["t"]', 'failed', '2026-01-01T00:00:00.000000+00:00', '2026-01-01T00:00:02.000000+00:00', 3, 0, 0, NULL, 'gone'), ('t1', 'o1', '[]', 'running', '2026-01-01T00:00:01.000000+00:00', NULL, 0, 0, 0, NULL, NULL);
      INSERT INTO events VALUES ('e1', 'o1', NULL, 'o1', 'chain_start', '2026-01-01T00:00:00.000000+00:00', 'a', NULL, NULL, 's', NULL, NULL, NULL, NULL, NULL),
        ('e2', 't1', 'o1', 'o1', 'tool_end', '2026-01-01T00:00:01.500000+00:00', NULL, 'web_search', 'tavily', 's', 't1/e2.json.gz', 1234, NULL, NULL, NULL),
        ('e3', 't1', 'o1', 'o1', 'tool_end', '2026-01-01T00:00:01.600000+00:00', NULL, 'web_search', 'tavily', 's', '../secret.json.gz', NULL, NULL, NULL, NULL)`);
    db.close();
    const { out, err } = await trace("import", "old", "--data-dir", "new");
    assert.match(out, /imported 1 runs, 3 events \(1 skipped\)/);
    assert.match(err, /payload \.\.\/secret\.json\.gz: it leads out of the folder/);
    const store = openLocalStore(join(directory, "new"));
    assert.deepEqual([store.reader.run("o1", false)?.status, store.reader.run("o1", false)?.error_message, store.reader.run("o1", false)?.tags], ["failed", "gone", ["t"]]);
    assert.deepEqual(store.reader.payload("o1", "e2"), { found: { event_id: "e2", run_id: "t1", event_type: "tool_end", full_payload: { output: "old payload" } } });
    assert.equal((JSON.parse(store.reader.steps({ runId: "t1", cursor: null, limit: 1, extended: false, payloads: false, separator: ",", sinceSeq: 0, untilSeq: 99 })?.text ?? "{}") as Json)["duration_ms"], 1234);
    assert.deepEqual(store.reader.tools({ scope: "all" }).sources[0]?.tools.map((tool) => tool.name), ["extract", "web_search"]);
    store.close();
  }));

test("an import redacts as ingestion does: payloads, names, tags and errors, by detectors and by the patterns of variables and file", () =>
  inDirectory(async (directory, trace) => {
    const secret = "sk-live-abcdefghij0123456789";
    const run = { _kind: "run", run_id: "s", root_run_id: "s", status: "failed", started_at: "2026-01-01T00:00:00Z", completed_at: "2026-01-01T00:00:01Z", tags: [`t ${secret}`], error_message: `e ${secret}`, graph_definition: `g ${secret}` };
    const event = { _kind: "event", run_id: "s", event_id: "e", event_type: "tool_end", tool_name: `n ${secret}`, summary: secret, error_message: secret, full_payload: { [secret]: [secret, "PROJECT-X", "PROJECT-Y"] }, attributes: { a: secret } };
    await writeFile(join(directory, "s.jsonl"), `${JSON.stringify(run)}\n${JSON.stringify(event)}\n`);
    await writeFile(join(directory, "trace.toml"), 'redact_patterns = ["PROJECT-X"]\n');
    assert.equal((await trace("import", "s.jsonl", "--data-dir", "a", "--config", join(directory, "trace.toml"))).code, 0);
    assert.equal((await trace("import", "s.jsonl", "--data-dir", "b", "--redact-patterns", '["PROJECT-Y"]', "--redact-detectors", "[]")).code, 0);
    const a = (await trace("export", "--all", "--data-dir", "a")).out;
    assert.deepEqual([a.includes(secret), a.includes("PROJECT-X"), a.includes("PROJECT-Y"), a.includes("[REDACTED]")], [false, false, true, true]);
    for (const text of ["t [REDACTED]", "e [REDACTED]", "g [REDACTED]", "n [REDACTED]"]) assert.ok(a.includes(text), text);
    const b = (await trace("export", "--all", "--data-dir", "b")).out;
    assert.deepEqual([b.includes(secret), b.includes("PROJECT-Y")], [true, false]);
    const bad = await trace("import", "s.jsonl", "--data-dir", "c", "--redact-patterns", '["("]');
    assert.deepEqual([bad.code, bad.err.includes("redact-patterns")], [2, true]);
  }));

test("export --output takes absolute paths, makes their folders, and leaves what was there when it fails", () =>
  inDirectory(async (directory, trace) => {
    const target = join(directory, "out", "all.jsonl");
    assert.equal((await trace("export", "--all", "--output", target)).code, 0);
    assert.equal((await readFile(target, "utf8")).split("\n").length, 17);
    assert.equal((await trace("export", "nope", "--output", target)).code, 1);
    assert.equal((await readFile(target, "utf8")).split("\n").length, 17, "an export that fails leaves what was there");
    assert.deepEqual(await readdir(join(directory, "out")), ["all.jsonl"]);
    const refused = await trace("export", "r1", "--output", directory);
    assert.deepEqual([refused.code, refused.err], [1, `toolsrv trace: ${directory} can't be written: it is a directory\n`]);
    const relative = await trace("export", "r1", "--output", "out/one.jsonl");
    assert.deepEqual([relative.code, (await readFile(join(directory, "out", "one.jsonl"), "utf8")).split("\n").length], [0, 9]);
  }));

test("gc deletes beyond its limits, and only says so with --dry-run", () =>
  inDirectory(async (_, trace) => {
    assert.equal((await trace("gc", "--max-runs", "1", "--dry-run")).out, "r1\nwould delete 1 of 2 runs\n");
    assert.match((await trace("runs")).out, /2 of 2 runs/);
    assert.equal((await trace("gc", "--max-runs", "1")).out, "deleted 1 run\n");
    assert.match((await trace("runs")).out, /^r2/);
    assert.equal((await trace("gc", "--max-blob-size-gb", "0")).code, 2);
  }));

test("doctor finds nested traces in order, and names a damaged file, a lost payload and what to do", () =>
  inDirectory(async (directory, trace) => {
    const fine = await trace("doctor");
    assert.deepEqual([fine.code, fine.out.endsWith("everything is in order\n")], [0, true]);
    const layout = layoutOf(join(directory, "data"));
    const payloads = new Database(layout.payloads);
    payloads.exec("DELETE FROM payloads WHERE seq = (SELECT min(seq) FROM payloads)");
    payloads.close();
    assert.match((await trace("doctor")).out, /problem {2}1 events whose payload is missing/);
    await writeFile(layout.index, "this is no database at all, but it is long enough to be read as one".repeat(20));
    const damaged = await trace("doctor");
    assert.equal(damaged.code, 1);
    assert.match(damaged.out, /problem {2}.*index\.db: file is not a database\n {9}delete the file: it is made again/);
    await rm(layout.index);
    assert.match((await trace("gc")).out, /deleted 0 runs/);
    const store = openLocalStore(join(directory, "data"));
    assert.equal(store.reader.search({ q: "degrees", scope: "all", limit: 5, offset: 0 }).total, 3);
    store.close();
  }));

test("doctor names texts whose block is missing, and a block that no step refers to", () =>
  inDirectory(async (directory, trace) => {
    const layout = layoutOf(join(directory, "data"));
    const store = openLocalStore(join(directory, "data"));
    const events = Array.from({ length: 30 }, (_, index) => incoming({ run_id: `b${index}`, root_run_id: "b", parent_run_id: "b", event_type: "tool_end", summary: "x".repeat(200), payload: { index } }));
    store.writer.write(decodeBatch(encodeBatch(events, new LinePacker())));
    store.close();
    assert.equal((await trace("doctor")).code, 0);
    const payloads = new Database(layout.payloads);
    payloads.exec("UPDATE blocks SET block = block + 1000");
    payloads.close();
    const traces = new Database(layout.traces);
    traces.exec("DELETE FROM details");
    traces.close();
    const { code, out } = await trace("doctor");
    assert.equal(code, 1);
    for (const problem of ["30 events whose summary is missing", "30 events whose payload is missing", "1 payloads without an event"]) assert.match(out, new RegExp(`problem {2}${problem}`));
  }));

test("stats prints the counters, also with settings in the environment that would keep a service from starting", () =>
  inDirectory(async (_, trace) => {
    const { code, out } = await trace("stats", "--json");
    assert.deepEqual([code, (JSON.parse(out) as Json)["total_runs"]], [0, 2]);
  }));

test("commands that write name the service that uses the directory; those that read work beside it", () =>
  inDirectory(async (directory, trace) => {
    const service = await startTrace({}, join(directory, "data"));
    const refused = await trace("gc");
    assert.equal(refused.code, 1);
    assert.match(refused.err, new RegExp(`is in use by the service at ${service.url} \\(process ${process.pid}\\); stop it first`));
    assert.equal((await trace("runs")).code, 0);
    await service.stop();
    assert.equal((await trace("gc")).code, 0);
  }));

test("demo records five runs, two of them failed and one that hangs; the directory need not exist", () =>
  inDirectory(async (directory, trace) => {
    const { code, out } = await trace("demo", "--check", "--data-dir", "demo");
    assert.deepEqual([code, /^seeded demo runs demo-([0-9a-f]{8})-1 to demo-\1-5 into /.test(out)], [0, true]);
    const runs = (await trace("runs", "--data-dir", "demo")).out;
    assert.deepEqual([...runs.matchAll(/^demo-[0-9a-f]{8}-(\d) {2}(\w+)/gm)].map(([, number, status]) => [number, status]), [["5", "running"], ["4", "failed"], ["3", "failed"], ["2", "completed"], ["1", "completed"]]);
    assert.equal((await readFile(layoutOf(join(directory, "demo")).traces)).subarray(0, 15).toString(), "SQLite format 3");
  }));

test("a directory without traces, an unknown command and wrong words are distinct errors", () =>
  inDirectory(async (_, trace) => {
    const none = await trace("runs", "--data-dir", "empty");
    assert.deepEqual([none.code, /holds no traces; name another one with --data-dir/.test(none.err)], [1, true]);
    const table: readonly (readonly string[])[] = [["bogus"], ["show"], ["runs", "extra"], ["constructor"]];
    for (const words of table) assert.equal((await trace(...words)).code, 2, words.join(" "));
  }));

test.run();
