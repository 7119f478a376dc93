/** The lock between processes, and what two of them do to one file. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDrafts } from "../../generator/drafts/drafts-file.js";
import { withLock } from "../../generator/drafts/lock.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { suite } from "../lib/suite.js";
import { CATALOG, DRAFTS_FILE, goodSpec, inProject } from "./catalog.js";

const test = suite("the lock of a file");

async function inFolder(use: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-lock-"));
  try {
    await use(join(folder, "file.yaml"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Another process of this machine. */
const hostOf = (pid: number, more: Partial<Host> = {}): Host => ({ ...nodeHost(), process: { ...nodeHost().process, pid }, isRunning: () => true, ...more });

test("one at a time, however many ask", () =>
  inFolder(async (path) => {
    let inside = 0;
    let most = 0;
    const use = (host: Host): Promise<void> =>
      withLock(host, path, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await host.sleep(2);
        inside -= 1;
      });
    await Promise.all([1, 2, 3, 1, 2, 3].map((pid) => use(hostOf(pid))));
    assert.equal(most, 1);
    assert.equal(existsSync(`${path}.lock`), false);
  }));

test("the lock is gone after a failure", () =>
  inFolder(async (path) => {
    await assert.rejects(withLock(nodeHost(), path, () => Promise.reject(new Error("no"))), /no/);
    assert.equal(existsSync(`${path}.lock`), false);
  }));

test("a process that runs keeps its lock, and the error of one that waits in vain names it", () =>
  inFolder(async (path) => {
    const { machine } = nodeHost().process;
    const owner = JSON.stringify({ pid: 77, machine, startedMs: 1 });
    writeFileSync(`${path}.lock`, owner);
    await assert.rejects(withLock(hostOf(1), path, () => Promise.resolve(), 60), new RegExp(`process 77 on ${machine} is changing the file: .*file\\.yaml\\.lock exists`));
    await assert.rejects(withLock(hostOf(1, { isRunning: () => false, process: { pid: 1, machine: "elsewhere", startedMs: 5 } }), path, () => Promise.resolve(), 60), /process 77/);
    assert.equal(readFileSync(`${path}.lock`, "utf8"), owner);
  }));

test("the lock of a process that is gone is taken away by exactly one of those who wait", () =>
  inFolder(async (path) => {
    const { machine } = nodeHost().process;
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: 77, machine, startedMs: 1 }));
    let inside = 0;
    const use = (pid: number): Promise<void> => {
      const host = hostOf(pid, { isRunning: (other) => other !== 77 });
      return withLock(host, path, async () => {
        assert.equal((inside += 1), 1);
        await host.sleep(2);
        inside -= 1;
      });
    };
    await Promise.all([1, 2, 3, 4].map(use));
  }));

test("a lock of an earlier process with the same id is taken away", () =>
  inFolder(async (path) => {
    const { pid, machine } = nodeHost().process;
    writeFileSync(`${path}.lock`, JSON.stringify({ pid, machine, startedMs: 1 }));
    await withLock(nodeHost(), path, () => Promise.resolve());
  }));

test("a lock that a killed process had not written yet is taken away", () =>
  inFolder(async (path) => {
    writeFileSync(`${path}.lock`, '{"pid": 1');
    await withLock(nodeHost(), path, () => Promise.resolve());
  }));

test("two approvals at once add two tools, and two of one draft add one", () =>
  inProject(async (project) => {
    await project.define();
    await project.define({ name: "movies_by_year", spec: goodSpec({ parameters: [{ name: "year", path: "year", dtype: "integer", op: "eq", required: true }] }) });
    const ended = await Promise.all(["movies_by_genre", "movies_by_year", "movies_by_genre"].map((name) => project.toolsrv("approve", name)));
    assert.deepEqual(ended.map(({ code }) => code).sort(), [0, 0, 2], ended.map(({ err }) => err.slice(-200)).join("\n"));
    // Parameters have names too.
    assert.deepEqual(project.read("tools.yaml").match(/^ {2}- name: \w+/gm)?.sort(), ["  - name: movies_by_genre", "  - name: movies_by_year", "  - name: search_movies"]);
    assert.match(project.read("tools.yaml"), /tool_catalog_version: '2'/);
    assert.deepEqual(readDrafts(project.read(DRAFTS_FILE), DRAFTS_FILE).records.map(({ status }) => status), ["approved", "approved"]);
    assert.ok(CATALOG.split("\n").every((line) => project.read("tools.yaml").includes(line)));
  }));

test("ten proposals at once are ten drafts, and an eleventh is none", () =>
  inProject(async (project) => {
    const results = await Promise.all(Array.from({ length: 11 }, (_, index) => project.define({ name: `movies_by_genre_${index}` })));
    const full = results.filter(({ message }) => message.includes("cap"));
    assert.equal(full.length, 1);
    assert.deepEqual(full[0], { rows: [], count: 0, warnings: [full[0]?.message], message: full[0]?.message });
    assert.equal(readDrafts(project.read(DRAFTS_FILE), DRAFTS_FILE).records.length, 10);
  }));

test.run();
