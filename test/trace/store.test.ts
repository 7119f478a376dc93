/** The embedded store: the contract of every store, and what is left of what was deleted in its files. */
import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createWriteLock } from "../../runtime/trace/store/sqlite/lock.js";
import { layoutOf, openForWriting } from "../../runtime/trace/store/sqlite/schema.js";
import { suite } from "../lib/suite.js";
import { storeContract } from "./contract.js";
import { incoming, type Json, type LocalStore, openLocalStore, sampleRun, temporaryDirectory } from "./lib.js";
import { sqliteStores } from "./stores.js";

const test = suite("trace store");

storeContract(test, sqliteStores());

async function withStore(work: (store: LocalStore) => void, options: Parameters<typeof openLocalStore>[1] = {}): Promise<void> {
  const directory = await temporaryDirectory();
  const store = openLocalStore(directory, options);
  try {
    work(store);
  } finally {
    store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const runs = (store: LocalStore) => store.reader.runs({ status: "all", limit: 200, offset: 0, extended: false });
const record = (store: LocalStore, events: readonly Json[]) => store.writer.write(events.map(incoming));

test("nobody but their owner can read the files of a data directory, those of an earlier release included", async () => {
  const directory = join(await temporaryDirectory(), "new", "data");
  const mode = (path: string): number => statSync(path).mode & 0o777;
  const modes = (): unknown => Object.fromEntries([directory, ...readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => join(directory, name))].map((path) => [path.slice(directory.length), mode(path).toString(8)]));
  const wanted = { "": "700", "/blobs": "700" };
  for (const round of [1, 2]) {
    const store = openLocalStore(directory);
    const lock = createWriteLock(store.layout);
    record(store, sampleRun(`r${round}`));
    const found = modes() as { readonly [path: string]: string };
    assert.ok(Object.keys(found).length >= 10, Object.keys(found).join(" "));
    for (const [path, bits] of Object.entries(found)) assert.equal(bits, (wanted as { readonly [path: string]: string })[path] ?? "600", `${round} ${path}`);
    lock.release();
    store.close();
    for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) if (name !== "blobs") chmodSync(join(directory, name), 0o644);
  }
  await rm(join(directory, "..", ".."), { recursive: true, force: true });
});

// mkdir with `recursive` never returns for such a folder.
test("a data directory that the file system refuses is an error at once, and is named", async () => {
  const blocked = join(await temporaryDirectory(), "file");
  writeFileSync(blocked, "");
  for (const directory of ["/proc/nope", "/proc/nope/deep", join(blocked, "data")]) {
    for (const open of [() => createWriteLock(layoutOf(directory)), () => openForWriting(layoutOf(directory), "traces"), () => openForWriting(layoutOf(directory), "payloads")]) {
      assert.throws(open, (error) => error instanceof Error && error.name === "StoreOpenError" && error.message.startsWith(directory) && /can't be (?:locked|opened): EN(?:OENT|OTDIR)/.test(error.message));
    }
  }
  await rm(join(blocked, ".."), { recursive: true, force: true });
});

test("no byte of a deleted run stays in any file after a graceful stop", async () => {
  const directory = await temporaryDirectory();
  const store = openLocalStore(directory);
  record(store, sampleRun("gone", { secret: "XYZZYPLUGH the secret word" }));
  record(store, sampleRun("kept", { secret: "FROBNICATE another word" }));
  store.settle();
  assert.equal(store.reader.search({ q: "xyzzyplugh", scope: "all", limit: 10, offset: 0 }).total, 1);
  assert.ok(store.writer.deleteRun("gone"));
  store.settle();
  assert.equal(store.reader.search({ q: "xyzzyplugh", scope: "all", limit: 10, offset: 0 }).total, 0);
  assert.equal(store.reader.search({ q: "frobnicate", scope: "all", limit: 10, offset: 0 }).total, 1);
  const payloadMagic = Buffer.from([0x1f, 0x8b, 0x08]);
  store.close();
  const files = (readdirSync(directory, { recursive: true, encoding: "utf8" })).filter((name) => name.includes(".db")).map((name) => join(directory, name));
  const bytes = Buffer.concat(files.map((file) => readFileSync(file)));
  const holds = (text: string): boolean => bytes.includes(text) || bytes.includes(text.toLowerCase());
  assert.deepEqual([holds("XYZZYPLUGH"), holds("gone-t"), holds("FROBNICATE"), holds("kept-t")], [false, false, true, true]);
  const payloads = bytes.toString("latin1").split(payloadMagic.toString("latin1")).length - 1;
  assert.equal(payloads, 6, "only the payloads of the run that is left");
  await rm(directory, { recursive: true, force: true });
});

test("a payload that can't be erased holds up neither the deletion nor later batches", () =>
  withStore((store) => {
    record(store, sampleRun("gone"));
    record(store, sampleRun("kept"));
    const payloads = new Database(store.layout.payloads);
    payloads.exec("CREATE TRIGGER stuck BEFORE DELETE ON payloads BEGIN SELECT RAISE(ABORT, 'stuck'); END");
    assert.ok(store.writer.deleteRun("gone"));
    assert.throws(() => store.settle(), /stuck/);
    assert.deepEqual(runs(store).runs.map((run) => run.run_id), ["kept"]);
    assert.equal(record(store, sampleRun("after")).stored, 7);
    payloads.exec("DROP TRIGGER stuck");
    payloads.close();
    store.settle();
    assert.deepEqual(store.writer.doomed(), []);
  }));

test("a full disk refuses the batch whole, and the store goes on when there is room", () =>
  withStore(
    (store) => {
      const big = (id: string): Json[] => Array.from({ length: 200 }, (_, index) => ({ run_id: id, event_type: "retry", summary: `${index} ${"x".repeat(400)}` }));
      record(store, sampleRun("before"));
      assert.throws(() => {
        for (let index = 0; index < 50; index++) record(store, big(`r${index}`));
      }, { name: "StorageFullError" });
      const { total } = runs(store);
      const events = store.reader.stats().total_events;
      assert.equal(events, 7 + (total - 1) * 200, "every run that is there is there in full");
      for (const run of runs(store).runs) if (run.run_id !== "before") store.writer.deleteRun(run.run_id);
      store.settle();
      assert.equal(record(store, sampleRun("after")).stored, 7);
    },
    { maxPages: 120 },
  ));

test.run();
