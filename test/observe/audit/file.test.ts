/** The file sink: who can read the file, where it may be, and what happens when it is moved, full or planted. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { readRecord } from "../../../runtime/observe/audit/chain.js";
import { fileSink } from "../../../runtime/observe/audit/file.js";
import type { AuditSink } from "../../../runtime/observe/audit/sink.js";
import { createAuditQueue } from "../../../runtime/observe/audit/queue.js";
import { suite } from "../../lib/suite.js";
import { eventOf, linesOf, memoryLog, temporary } from "./world.js";

const test = suite("observe/audit/file");
const folder = temporary(test);
let files = 0;
const newPath = (): string => join(folder, `audit-${(files += 1)}.jsonl`);

function sinkOf(path: string, chain = false, log = memoryLog().log): AuditSink {
  return fileSink({ path, shown: path, chain, log, now: () => 1_700_000_000_000 });
}

const ids = (path: string): readonly unknown[] => linesOf(readFileSync(path, "utf8")).flatMap((line) => line["request_id"] ?? []);

async function write(sink: AuditSink, ...numbers: readonly number[]): Promise<void> {
  await sink.deliver(numbers.map((n) => eventOf(n)), 0);
}

test("the file is made with mode 0600 and appended to", async () => {
  const path = newPath();
  for (const n of [1, 2]) {
    const sink = sinkOf(path);
    await write(sink, n);
    await sink.close();
  }
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(ids(path), ["r1", "r2"]);
});

test("a file that others could read is theirs no more", async () => {
  const path = newPath();
  writeFileSync(path, "");
  chmodSync(path, 0o666);
  const sink = sinkOf(path);
  await sink.prepare();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await sink.close();
});

test("a symbolic link is never followed, at the start and after a rotation", async () => {
  for (const chain of [false, true]) {
    const [path, target] = [newPath(), newPath()];
    symlinkSync(target, path);
    await assert.rejects(sinkOf(path, chain).prepare(), /audit: cannot open .*too many symbolic links/);
    const other = newPath();
    const sink = sinkOf(other, chain);
    await write(sink, 1);
    renameSync(other, `${other}.1`);
    symlinkSync(target, other);
    await assert.rejects(write(sink, 2), /ELOOP/);
    assert.ok(!existsSync(target));
    await sink.close();
  }
});

test("a pipe or a folder in its place is an error at once", async () => {
  const path = newPath();
  assert.equal(spawnSync("mkfifo", [path]).status, 0);
  await assert.rejects(sinkOf(path).prepare());
  const other = newPath();
  mkdirSync(other);
  await assert.rejects(sinkOf(other).prepare(), /it is a folder/);
  await assert.rejects(sinkOf(join(folder, "no/such/folder.jsonl")).prepare(), /no such file or folder/);
});

test("a file that was rotated away is opened again, and nothing is lost", async () => {
  for (const chain of [false, true]) {
    const path = newPath();
    const sink = sinkOf(path, chain);
    await write(sink, 1);
    renameSync(path, `${path}.1`);
    await write(sink, 2);
    await sink.close();
    assert.deepEqual([ids(`${path}.1`), ids(path)], [["r1"], ["r2"]]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  }
});

test("a line that a crash cut off does not swallow the next record", async () => {
  const path = newPath();
  writeFileSync(path, '{"request_id":"r0"}\n{"request_id":"r');
  const sink = sinkOf(path);
  await write(sink, 1);
  await sink.close();
  const lines = readFileSync(path, "utf8").split("\n");
  assert.deepEqual([lines[1], JSON.parse(lines[2] ?? "").request_id], ['{"request_id":"r', "r1"]);
});

test("on a full disk calls go on: records are counted, and one line of the log says so", async () => {
  const { lines, log } = memoryLog();
  const queue = createAuditQueue({ sink: sinkOf("/dev/full"), log, explain: (error) => (error instanceof Error ? error.message : "") });
  for (let n = 0; n < 5; n += 1) queue.add(eventOf(n));
  await queue.close(400);
  assert.equal(queue.dropped(), 5);
  assert.deepEqual(lines.map(({ level, message }) => [level, message]), [["error", "audit records cannot be written; calls go on"], ["error", "audit records were lost at the end"]]);
  assert.match(String(lines[0]?.fields["error"]), /ENOSPC/);
});

test("what a failed write left of a batch is taken back, so that no record is there twice", async () => {
  const path = newPath();
  // A limit on the file's size fails in the middle of a write, as a disk that fills up does.
  const script = `
    import { fileSink } from ${JSON.stringify(new URL("../../../runtime/observe/audit/file.js", import.meta.url).href)};
    process.on("SIGXFSZ", () => undefined);
    const sink = fileSink({ path: ${JSON.stringify(path)}, shown: "x", chain: process.argv[1] === "chain", log: { warn() {} }, now: () => 0 });
    const event = (n) => ({ body: '{"request_id":"r' + n + '","pad":"' + "x".repeat(700) + '"', tool: "t", requestId: "r", trace: null, rowIds: null });
    await sink.deliver([event(1)], 0);
    try { await sink.deliver([event(2), event(3)], 0); console.log("no error"); } catch (error) { console.log(error.code); }
  `;
  for (const kind of ["plain", "chain"]) {
    writeFileSync(path, "");
    const loader = import.meta.url.endsWith(".ts") ? ["--import", "tsx"] : [];
    const { stdout, stderr } = spawnSync("bash", ["-c", `ulimit -f 2; exec "$0" "$@"`, process.execPath, ...loader, "--input-type=module", "-e", script, "--", kind], { encoding: "utf8", env: { ...process.env, TSX_DISABLE_CACHE: "1" } });
    assert.equal(stdout.trim(), "EFBIG", stderr);
    assert.deepEqual(ids(path), ["r1"], kind);
    assert.ok(readFileSync(path, "utf8").endsWith("\n"));
  }
}, { timeoutMs: 30_000 });

test("a chain goes on after a restart, after a rotation and after the file was emptied", async () => {
  const path = newPath();
  const first = sinkOf(path, true);
  await write(first, 1);
  await first.close();
  const second = sinkOf(path, true);
  await write(second, 2);
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
  await write(second, 3);
  renameSync(path, `${path}.2`);
  await write(second, 4);
  await second.close();
  const records = [`${path}.1`, `${path}.2`, path].flatMap((file) => readFileSync(file, "utf8").trimEnd().split("\n")).map((line) => readRecord(Buffer.from(line)));
  assert.deepEqual(records.map((record) => [record?.seq, record?.event ?? "call"]), [[0, "open"], [1, "call"], [2, "open"], [3, "call"], [4, "open"], [5, "call"], [6, "open"], [7, "call"]]);
  for (const [index, record] of records.entries()) assert.equal(record?.prev, records[index - 1]?.hash ?? "0".repeat(64), `record ${index}`);
});

test("a torn record of a chain is moved aside and kept, and the chain says so", async () => {
  const path = newPath();
  const first = sinkOf(path, true);
  await write(first, 1, 2);
  await first.close();
  const whole = readFileSync(path, "utf8");
  const cut = '{"audit_version":"1","timestamp":"2026-01-31T12:0';
  writeFileSync(path, whole + cut);
  const { lines, log } = memoryLog();
  const second = sinkOf(path, true, log);
  await write(second, 3);
  await second.close();
  assert.equal(readFileSync(`${path}.torn`, "utf8"), `${cut}\n`);
  assert.equal(statSync(`${path}.torn`).mode & 0o777, 0o600);
  assert.ok(readFileSync(path, "utf8").startsWith(whole));
  assert.deepEqual(ids(path), ["r1", "r2", "r3"]);
  assert.deepEqual(linesOf(readFileSync(path, "utf8")).map((line) => line["torn_bytes"]), [undefined, undefined, undefined, cut.length, undefined]);
  assert.deepEqual(lines.map(({ message, fields }) => [message, fields["bytes"]]), [["the last audit record was not written whole; it was moved aside", cut.length]]);
});

test("a chain does not begin behind other lines, nor behind a record that was changed", async () => {
  const path = newPath();
  writeFileSync(path, '{"audit_version":"1"}\n');
  await assert.rejects(sinkOf(path, true).prepare(), /no record of a chain; move the file away/);
  const other = newPath();
  const sink = sinkOf(other, true);
  await write(sink, 1);
  await sink.close();
  writeFileSync(other, readFileSync(other, "utf8").replace('"r1"', '"r9"'));
  await assert.rejects(sinkOf(other, true).prepare(), /was changed; move the file away and run 'toolsrv audit verify'/);
});

test("records that were dropped are a record of the chain", async () => {
  const path = newPath();
  const sink = sinkOf(path, true);
  await sink.deliver([eventOf(1)], 0);
  await sink.deliver([eventOf(2)], 41);
  await sink.close();
  assert.deepEqual(linesOf(readFileSync(path, "utf8")).map((line) => line["event"] ?? line["request_id"]), ["open", "r1", "lost", "r2"]);
  assert.ok(readFileSync(path, "utf8").includes('"event":"lost","count":41,'));
});

const IN_USE = /audit: another server, or another connection of this process, writes the chain in '.*'; give each a file of its own/;

test("a chain has one writer: a second one is refused at its start, also after a rotation, until the first has ended", async () => {
  const path = newPath();
  const first = sinkOf(path, true);
  await first.prepare();
  await assert.rejects(sinkOf(path, true).prepare(), IN_USE);
  await write(first, 1);
  renameSync(path, `${path}.1`);
  await write(first, 2);
  const second = sinkOf(path, true);
  await assert.rejects(second.prepare(), IN_USE);
  await first.close();
  await second.prepare();
  await write(second, 3);
  await second.close();
  assert.deepEqual([ids(`${path}.1`), ids(path)], [["r1"], ["r2", "r3"]]);
  assert.equal(statSync(join(folder, `.${basename(path)}.lock`)).mode & 0o777, 0o600);
});

test("a writer that was killed blocks nobody; while it lives, another process is refused", async () => {
  const path = newPath();
  const script = `const { fileSink } = await import(${JSON.stringify(new URL(`../../../runtime/observe/audit/file${extname(import.meta.url)}`, import.meta.url).href)});
    const sink = fileSink({ path: ${JSON.stringify(path)}, shown: "f", chain: true, log: { warn() {} }, now: () => 0 });
    await sink.prepare();
    process.stdout.write("ready");
    setInterval(() => undefined, 1e9);`;
  const loader = import.meta.url.endsWith(".ts") ? ["--import", "tsx"] : [];
  const child = spawn(process.execPath, [...loader, "--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), ended.then(() => assert.fail("the writer has ended"))]);
  await assert.rejects(sinkOf(path, true).prepare(), IN_USE);
  child.kill("SIGKILL");
  await ended;
  const sink = sinkOf(path, true);
  await sink.prepare();
  await write(sink, 1);
  await sink.close();
  assert.deepEqual(ids(path), ["r1"]);
}, { timeoutMs: 30_000 });

test("a start that fails keeps no lock, and without a chain several processes may write one file", async () => {
  const path = newPath();
  writeFileSync(path, "no record\n");
  const refused = sinkOf(path, true);
  await assert.rejects(refused.prepare(), /no record of a chain/);
  writeFileSync(path, "");
  const next = sinkOf(path, true);
  await next.prepare();
  await next.close();
  const shared = newPath();
  const sinks = [sinkOf(shared), sinkOf(shared)];
  for (const [n, sink] of sinks.entries()) await write(sink, n);
  for (const sink of sinks) await sink.close();
  assert.deepEqual(ids(shared), ["r0", "r1"]);
});

test("a symbolic link in the place of the lock is not followed", async () => {
  const [path, target] = [newPath(), newPath()];
  symlinkSync(target, join(folder, `.${basename(path)}.lock`));
  await assert.rejects(sinkOf(path, true).prepare(), /too many symbolic links/);
  assert.ok(!existsSync(target));
});

test.run();
