/** The lock between processes, and what two of them do to one file. */
import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readDrafts } from "../../generator/drafts/drafts-file.js";
import { withLock } from "../../generator/drafts/lock.js";
import { nodeHost } from "../../generator/host.js";
import { suite } from "../lib/suite.js";
import { CATALOG, DRAFTS_FILE, goodSpec, inProject } from "./catalog.js";

const test = suite("the lock of a file");
const here = fileURLToPath(import.meta.url);
const CHILD = here.replace(`lock.test${extname(here)}`, `lock-holder${extname(here)}`);

async function inFolder(use: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-lock-"));
  try {
    await use(join(folder, "file.yaml"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts lock-holder.ts and waits for its first line. */
async function holder(path: string, does: "keep" | "count"): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...process.execArgv, CHILD, path, does], { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

test("one at a time, however many ask", () =>
  inFolder(async (path) => {
    let inside = 0;
    let most = 0;
    const use = (): Promise<void> =>
      withLock(nodeHost(), path, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await nodeHost().sleep(2);
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 6 }, use));
    assert.equal(most, 1);
  }));

test("the lock is free after a failure", () =>
  inFolder(async (path) => {
    await assert.rejects(withLock(nodeHost(), path, () => Promise.reject(new Error("no"))), /no/);
    await withLock(nodeHost(), path, () => Promise.resolve(), 0);
  }));

test("the lock of a running process is not taken away, and the error of a vain wait names the file", () =>
  inFolder(async (path) => {
    const child = await holder(path, "keep");
    try {
      await assert.rejects(withLock(nodeHost(), path, () => Promise.resolve(), 60), /another process is changing .*file\.yaml and does not end; run this again when it has/);
    } finally {
      await killed(child);
    }
  }));

test("the lock of a process that was killed is free", () =>
  inFolder(async (path) => {
    await killed(await holder(path, "keep"));
    await withLock(nodeHost(), path, () => Promise.resolve(), 0);
  }));

test("processes that wait go in one after another, also after one that was killed", () =>
  inFolder(async (path) => {
    writeFileSync(path, "0");
    const first = await holder(path, "keep");
    const others = await Promise.all([1, 2, 3].map(() => holder(path, "count")));
    const ended = others.map((other) => once(other, "exit"));
    await killed(first);
    assert.deepEqual(await Promise.all(ended), others.map(() => [0, null]));
    assert.equal(readFileSync(path, "utf8"), "150");
  }));

test("a caller in the same process that finds the lock held does not open it for other processes", () =>
  inFolder((path) =>
    withLock(nodeHost(), path, async () => {
      assert.equal(await nodeHost().lock(path), null);
      const ask = 'try { new (require("better-sqlite3"))(process.argv[1], { timeout: 0 }).exec("BEGIN EXCLUSIVE"); console.log("free") } catch (error) { console.log(error.code) }';
      assert.equal(spawnSync(process.execPath, ["-e", ask, join(path, "..", ".file.yaml.lock")], { encoding: "utf8" }).stdout, "SQLITE_BUSY\n");
    }),
  ));

test("no symbolic link is followed to the lock", () =>
  inFolder(async (path) => {
    symlinkSync(join(path, "..", "elsewhere"), join(path, "..", ".file.yaml.lock"));
    await assert.rejects(withLock(nodeHost(), path, () => Promise.resolve()), { code: "ELOOP" });
    assert.equal(existsSync(join(path, "..", "elsewhere")), false);
  }));

test("who may write the file may lock it", () =>
  inFolder(async (path) => {
    writeFileSync(path, "");
    chmodSync(path, 0o660);
    await withLock(nodeHost(), path, () => Promise.resolve());
    assert.equal(statSync(join(path, "..", ".file.yaml.lock")).mode & 0o777, 0o660);
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
