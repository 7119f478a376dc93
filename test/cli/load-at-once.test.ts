/** Two runs of `toolsrv load` at the same time. */
import * as assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { nodeHost } from "../../generator/host.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv load at the same time");
const signal = new AbortController().signal;

const CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: ./store.db }
defaults: { embedding: local/hashing-256 }
tools:
  - name: list_things
    kind: scroll
    description: List the things of the store. Use for anything that is asked about them.
    target: { connection: store, collection: things }
`;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Loads a file; `meanwhile` runs when the load has opened the collection and reads its first bytes. */
async function load(folder: string, words: readonly string[], meanwhile: () => Promise<unknown> = async () => undefined): Promise<Ended> {
  const host = nodeHost();
  async function* stream(path: string): AsyncGenerator<unknown> {
    await meanwhile();
    yield* host.stream(path);
  }
  const io = memoryIo({ cwd: folder, host: { ...host, stream: (path) => stream(path) as unknown as NodeJS.ReadableStream } });
  return { code: await run(["load", "tools.yaml", ...words, "--connection", "store"], io), out: io.out(), err: io.err() };
}

async function rows(folder: string, collection: string): Promise<readonly unknown[]> {
  const store = await sqlite.open({ path: "./store.db" }, { base: folder });
  const found = await store.fetch({ collection, filter: null, limit: 99, offset: 0, fields: null }, signal);
  await store.close();
  return found.rows;
}

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-load-"));
  writeFileSync(join(folder, "tools.yaml"), CATALOG);
  writeFileSync(join(folder, "a.jsonl"), '{"k":"a1","a":1}\n{"k":"a2","a":2}\n');
  writeFileSync(join(folder, "b.jsonl"), '{"k":"b1","b":1}\n{"k":"b2","b":2}\n');
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const A = [{ k: "a1", a: 1, _id: "a1" }, { k: "a2", a: 2, _id: "a2" }];

for (const how of [[], ["--replace"]]) {
  test(`a collection that another load${how.length > 0 ? " replaces" : " fills"} is refused, and gets the rows of the first alone`, () =>
    inFolder(async (folder) => {
      const words = ["--collection", "things", "--id", "k", ...how];
      const second: Ended[] = [];
      const first = await load(folder, ["a.jsonl", ...words], async () => second.push(await load(folder, ["b.jsonl", ...words]), await load(folder, ["--collection", "things", "--reindex"])));
      const refused = { code: EXIT.USAGE, out: "", err: "toolsrv load: another load is writing collection 'things' of this file; run this one again when it has ended\n" };
      assert.deepEqual(second, [refused, refused]);
      assert.deepEqual([first.code, first.err], [EXIT.OK, ""]);
      assert.deepEqual(await rows(folder, "things"), A);
      assert.equal((await load(folder, ["b.jsonl", ...words])).code, EXIT.OK, "the lock ends with its load");
    }));
}

test("the lock may be used by those who may write the database", () =>
  inFolder(async (folder) => {
    const words = ["a.jsonl", "--collection", "things", "--id", "k"];
    const modes = (): readonly string[] => readdirSync(folder).filter((name) => name.startsWith(".store.db.")).map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8));
    await load(folder, words);
    assert.deepEqual(modes(), ["600"]);
    chmodSync(join(folder, "store.db"), 0o660);
    await load(folder, words);
    assert.deepEqual(modes(), ["660"]);
  }));

test("another collection of the file is loaded meanwhile", () =>
  inFolder(async (folder) => {
    const second: Ended[] = [];
    const first = await load(folder, ["a.jsonl", "--collection", "things", "--id", "k"], async () => second.push(await load(folder, ["b.jsonl", "--collection", "others", "--id", "k"])));
    assert.deepEqual([first, ...second].map(({ code }) => code), [EXIT.OK, EXIT.OK]);
    assert.deepEqual([await rows(folder, "things"), (await rows(folder, "others")).length], [A, 2]);
  }));

test.run();
