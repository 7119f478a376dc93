/** `toolsrv copy`, from its words to what a catalog finds in the copy. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { copyCollection, type CopySource } from "../../generator/copy/copy.js";
import { readWhere } from "../../generator/copy/where.js";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { nodeHost } from "../../generator/host.js";
import type { Json } from "../../runtime/abi/plan.js";
import type { Page } from "../../runtime/adapters/adapter.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import { unusedPort } from "../adapters/proxy.js";
import { memoryIo, type MemoryIo, type MemoryIoOptions } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv copy");
const signal = new AbortController().signal;
const ROWS = 700;

const CATALOG = {
  tds_version: "2",
  defaults: { embedding: "local/hashing-256" },
  connections: {
    store: { backend: "sqlite", path: "./data/store.db" },
    fenced: { backend: "sqlite", path: "./data/store.db", builtin_tools: { count: true }, builtin_defaults: { collections: ["things"], static_filters: { must: [{ path: "owner", value: "${OWNER}" }], must_not: [{ path: "size", value: 3 }] } } },
    far: { backend: "qdrant", url: "${FAR:-http://127.0.0.1:1}", api_key: "SECRETCANARY" },
  },
  tools: [
    { name: "search_things", description: "Search the things of the store by their texts.", query: { param: "query", required: true }, target: { connection: "store", collection: "things" }, output: { fields: ["title", "size"] } },
    { name: "count_far", kind: "count", description: "Count what is in the store far away.", target: { connection: "far", collection: "things" } },
  ],
};

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Project {
  readonly folder: string;
  catalog(change: { readonly [key: string]: unknown }): void;
  copy(...words: readonly string[]): Promise<Ended>;
  copyWith(options: MemoryIoOptions, act: (io: MemoryIo) => void, ...words: readonly string[]): Promise<Ended>;
  /** Files of the folder. */
  files(): readonly string[];
}

const SOURCE = Array.from({ length: ROWS }, (_, n) => ({ id: `n${n}`, title: `thing ${n} of the sea`, size: n, price: n / 4, open: n % 2 === 0, tags: ["a", `t${n % 3}`], owner: n % 2 === 0 ? "me" : "you", nested: { deep: { level: n } }, none: null, made: "2024-01-02T03:04:05Z" }));

async function inProject(use: (project: Project) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-copy-"));
  try {
    const catalog: Project["catalog"] = (change) => writeFileSync(join(folder, "tools.yaml"), JSON.stringify({ ...CATALOG, ...change }));
    catalog({});
    writeFileSync(join(folder, "env"), "OWNER=me\n");
    writeFileSync(join(folder, "rows.jsonl"), SOURCE.map((row) => JSON.stringify(row)).join("\n"));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "things", "--id", "id", "--text", "title", "--env-file", "env"], io), EXIT.OK, io.err());
    const copyWith: Project["copyWith"] = async (options, act, ...words) => {
      const own = memoryIo({ cwd: folder, ...options });
      act(own);
      return { code: await run(["copy", "tools.yaml", "--env-file", "env", ...words], own), out: own.out(), err: own.err() };
    };
    await use({ folder, catalog, copyWith, copy: (...words) => copyWith({}, () => undefined, ...words), files: () => readdirSync(folder).sort() });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FILES = ["data", "env", "rows.jsonl", "tools.yaml"];
const FROM = ["--from", "store", "--to", "sample.db"];

/** All of a collection, as the adapter gives it. */
async function stored(folder: string, path: string): Promise<{ readonly info: unknown; readonly rows: ReadonlyMap<unknown, unknown> }> {
  const store = await sqlite.open({ path }, { base: folder });
  try {
    const rows = new Map<unknown, unknown>();
    for (let after: Json = null, first = true; first || after !== null; first = false) {
      const page: Page = (await store.page?.({ collection: "things", filter: null, limit: 100, after }, signal)) ?? assert.fail();
      for (const { row, vector } of page.rows) rows.set(row["_id"], [row, [...(vector ?? [])]]);
      after = page.next;
    }
    return { info: await store.describe("things", signal), rows };
  } finally {
    await store.close();
  }
}

test("a copy has the rows, ids, vectors and types of the collection, and who embedded it in which space", () =>
  inProject(async ({ folder, copy, files }) => {
    const { code, out, err } = await copy(...FROM);
    assert.equal(code, EXIT.OK, err);
    const [from, to] = [await stored(folder, "data/store.db"), await stored(folder, "sample.db")];
    assert.equal(to.rows.size, ROWS);
    assert.deepEqual(to, from);
    assert.match(JSON.stringify(to.info), /"embeddedBy":"local\/hashing-256".*"space":"1\./);
    assert.match(out, /^things: 700 of 700 rows \(local\/hashing-256, 256 dimensions\)$/m);
    assert.deepEqual(files(), ["data", "env", "rows.jsonl", "sample.db", "tools.yaml"]);
    assert.equal(statSync(join(folder, "sample.db")).mode & 0o777, 0o600);
  }));

test("the lines that are printed make a catalog read the copy, and its tools find the same", () =>
  inProject(async ({ folder, catalog, copy }) => {
    const search = async (): Promise<string> => {
      const io = memoryIo({ cwd: folder });
      assert.equal(await run(["test", "tools.yaml", "search_things", "--args", '{"query":"thing 42 sea","limit":3}', "--env-file", "env"], io), EXIT.OK, io.err());
      return io.out().replace(/"latency_ms": ?\d+/, "").replace(/\d+ ms/g, "");
    };
    const before = await search();
    const { out } = await copy(...FROM);
    const { connections } = parse(out.slice(out.indexOf("connections:"))) as { readonly connections: { readonly [name: string]: unknown } };
    assert.deepEqual(connections, { store: { backend: "sqlite", path: "./sample.db" } });
    catalog({ connections: { ...CATALOG.connections, ...connections } });
    rmSync(join(folder, "data"), { recursive: true });
    assert.equal(await search(), before);
  }));

test("--limit bounds the rows, and --where and the connection's static filters choose them", () =>
  inProject(async ({ folder, copy }) => {
    const table: readonly (readonly [string, readonly string[], (row: (typeof SOURCE)[number]) => boolean])[] = [
      ["store", ["--where", "owner=me"], ({ owner }) => owner === "me"],
      ["store", ["--where", "size=7"], ({ size }) => size === 7],
      ["store", ["--where", "open=true"], ({ open }) => open],
      ["store", ["--where", '[{"path":"size","op":"gte","value":100},{"path":"size","op":"lt","value":150},{"path":"tags","op":"contains_any","value":["t1"]}]'], ({ size }) => size >= 100 && size < 150 && size % 3 === 1],
      ["store", ["--where", "nested.deep.level=5"], ({ size }) => size === 5],
      ["fenced", [], ({ owner, size }) => owner === "me" && size !== 3],
      ["fenced", ["--where", '{"path":"size","op":"lt","value":20}'], ({ owner, size }) => owner === "me" && size !== 3 && size < 20],
    ];
    for (const [connection, words, passes] of table) {
      const { code, err } = await copy("--from", connection, "--to", "sample.db", "--replace", "--collection", "things", ...words);
      assert.equal(code, EXIT.OK, err);
      assert.deepEqual([...(await stored(folder, "sample.db")).rows.keys()].sort(), SOURCE.filter(passes).map(({ id }) => id).sort(), words.join(" "));
    }
    await copy(...FROM, "--replace", "--limit", "300");
    assert.equal((await stored(folder, "sample.db")).rows.size, 300);
    assert.match((await copy(...FROM, "--replace", "--collection", "things,things", "--limit", "3")).out, /^things: 3 of 700 rows .*\nwrote/);
    const nothing = await copy("--from", "fenced", "--to", "other.db", "--collection", "things", "--where", "owner=you");
    assert.deepEqual([nothing.code, existsSync(join(folder, "other.db"))], [EXIT.FINDINGS, false]);
  }));

test("copying rows of all tenants is warned of, unless a filter takes those of one", () =>
  inProject(async ({ catalog, copy }) => {
    catalog({ security: { tenancy: { mode: "claim", claim: "org", path: "owner", enforce: "strict" } } });
    const warned = async (...words: readonly string[]): Promise<boolean> => {
      const { code, err } = await copy("--to", "sample.db", "--replace", "--collection", "things", ...words);
      assert.equal(code, EXIT.OK, err);
      return err.includes("rows of all tenants are copied, because nothing filters 'owner'");
    };
    assert.equal(await warned("--from", "store"), true);
    assert.equal(await warned("--from", "store", "--where", '{"path":"owner","op":"in","value":["me","you"]}'), true);
    assert.equal(await warned("--from", "store", "--where", '{"path":"owner","op":"ne","value":"you"}'), true);
    assert.equal(await warned("--from", "store", "--where", "owner=me"), false);
    assert.equal(await warned("--from", "fenced"), false);
  }));

test("a sample never takes the place of the store it comes from, also where the environment says which file that is", () =>
  inProject(async ({ folder, catalog, copy, copyWith }) => {
    const before = readFileSync(join(folder, "data", "store.db"));
    for (const path of ["${DATA_FILE:-./data/store.db}", "${DATA_DIR}/store.db"]) {
      catalog({ connections: { ...CATALOG.connections, store: { backend: "sqlite", path } } });
      writeFileSync(join(folder, "env"), "OWNER=me\nDATA_DIR=./data\n");
      const { code, err } = await copy("--from", "store", "--to", "data/store.db", "--replace", "--limit", "2");
      assert.deepEqual([code, /is the file that connection 'store' reads/.test(err)], [EXIT.USAGE, true], `${path}: ${err}`);
    }
    catalog({ connections: { ...CATALOG.connections, store: { backend: "sqlite", path: "${DATA_FILE}" } } });
    const { code, err } = await copyWith({ env: { DATA_FILE: join(folder, "data", "store.db") } }, () => undefined, "--from", "store", "--to", "data/store.db", "--replace");
    assert.equal(code, EXIT.USAGE, err);
    assert.deepEqual(readFileSync(join(folder, "data", "store.db")), before);
  }));

test("a file that exists is replaced only where asked, and only if toolsrv wrote it and nobody is writing it", () =>
  inProject(async ({ folder, copy, files }) => {
    await copy(...FROM, "--limit", "5");
    const before = readFileSync(join(folder, "sample.db"));
    writeFileSync(join(folder, "notes.txt"), "mine");
    symlinkSync("data/store.db", join(folder, "link.db"));
    writeFileSync(join(folder, "sample.db-journal"), "");
    const table: readonly (readonly [readonly string[], RegExp])[] = [
      [["--to", "sample.db"], /'sample\.db' exists; give another --to, or --replace/],
      [["--to", "sample.db", "--replace"], /'sample\.db' is being written: there is 'sample\.db-journal'/],
      [["--to", "notes.txt", "--replace"], /'notes\.txt' was not written by toolsrv/],
      [["--to", "data", "--replace"], /'data' is no file/],
      [["--to", "data/store.db", "--replace"], /is the file that connection 'store' reads/],
      [["--to", "link.db", "--replace"], /is the file that connection 'store' reads/],
      [["--to", "nowhere/sample.db"], /no folder for 'nowhere\/sample\.db'/],
    ];
    for (const [words, message] of table) {
      const { code, err } = await copy("--from", "store", ...words);
      assert.deepEqual([code, message.test(err)], [EXIT.USAGE, true], `${words.join(" ")}: ${err}`);
    }
    assert.deepEqual(readFileSync(join(folder, "sample.db")), before);
    assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "mine");
    rmSync(join(folder, "sample.db-journal"));
    assert.equal((await copy(...FROM, "--replace", "--limit", "6")).code, EXIT.OK);
    assert.deepEqual(files(), ["data", "env", "link.db", "notes.txt", "rows.jsonl", "sample.db", "tools.yaml"]);
  }));

test("an interrupted copy leaves nothing, and leaves the file that it would have replaced", () =>
  inProject(async ({ folder, copy, copyWith, files }) => {
    const host = nodeHost();
    const interrupted = (...words: readonly string[]): Promise<Ended> => {
      let [io, calls]: [MemoryIo | null, number] = [null, 0];
      // The progress bar asks for the time once before the first page and once after each.
      const monotonic = (): number => {
        calls++;
        if (calls === 2) io?.interrupt();
        return host.monotonic();
      };
      return copyWith({ tty: true, host: { ...host, monotonic } }, (own) => (io = own), ...FROM, ...words);
    };
    const first = await interrupted();
    assert.deepEqual([first.code, files()], [130, FILES], first.err);
    assert.match(first.err, /interrupted; nothing is written/);
    await copy(...FROM, "--limit", "5");
    const before = readFileSync(join(folder, "sample.db"));
    assert.equal((await interrupted("--replace")).code, 130);
    assert.deepEqual(readFileSync(join(folder, "sample.db")), before);
    assert.deepEqual(files(), ["data", "env", "rows.jsonl", "sample.db", "tools.yaml"]);
  }));

test("a store that is down, a collection that is not there and words that do not fit each have an error of their own, and nothing is written", () =>
  inProject(async ({ folder, copy, files }) => {
    writeFileSync(join(folder, "env"), `OWNER=me\nFAR=http://127.0.0.1:${await unusedPort()}\n`);
    const table: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["--from", "far", "--to", "a.db"], EXIT.LIVE, /toolsrv copy: .*; nothing is written/],
      [["--from", "store", "--to", "a.db", "--collection", "other"], EXIT.USAGE, /has no collection 'other'/],
      [["--from", "store", "--to", "a.db", "--collection", "x".repeat(100_000)], EXIT.USAGE, /cannot be the name of a collection/],
      [["--from", "stroe", "--to", "a.db"], EXIT.USAGE, /no connection 'stroe'; it has store, fenced, far/],
      [["--from", "store", "--to", "a.db", "--limit", "0"], EXIT.USAGE, /--limit takes a number from 1/],
      [["--from", "store", "--to", "a.db", "--limit", "1e3"], EXIT.USAGE, /--limit takes a number from 1/],
      [["--from", "store", "--to", "a.db", "--collection", "things,"], EXIT.USAGE, /--collection takes names/],
      [["--from", "store", "--to", "a.db", "--where", "owner"], EXIT.USAGE, /--where takes FIELD=VALUE/],
    ];
    for (const [words, code, message] of table) {
      const ended = await copy(...words);
      assert.deepEqual([ended.code, message.test(ended.err)], [code, true], `${words.join(" ")}: ${ended.err}`);
      assert.ok(!`${ended.out}${ended.err}`.includes("SECRETCANARY"));
      assert.deepEqual(files(), FILES);
    }
  }), { timeoutMs: 60_000 });

test("a condition is FIELD=VALUE or JSON; anything else is refused", () => {
  const dates = new Set(["made"]);
  const good: readonly (readonly [string, unknown])[] = [
    ["tenant_id=acme", { path: "tenant_id", op: "eq", value: "acme" }],
    ["a.b=x=y", { path: "a.b", op: "eq", value: "x=y" }],
    ["n=-1.5", { path: "n", op: "eq", value: -1.5 }],
    ['n="15"', { path: "n", op: "eq", value: "15" }],
    ["t=", { path: "t", op: "eq", value: "" }],
    ["t=' OR 1=1 --", { path: "t", op: "eq", value: "' OR 1=1 --" }],
    ["made=2024-01-02", { path: "made", op: "eq", value: "2024-01-02", dtype: "datetime" }],
    ['[{"path":"a","value":1},{"path":"b","op":"in","value":[1,2]}]', { and: [{ path: "a", op: "eq", value: 1 }, { path: "b", op: "in", value: [1, 2] }] }],
  ];
  for (const [text, want] of good) assert.deepEqual(readWhere(text, dates), want, text);
  const bad = ["", "=x", "a-b=1", "a.b.c.d=1", "a;drop=1", "{", "[]", "5", '{"path":"a","op":"matches","value":1}', '{"path":"a","value":[1]}', '{"path":"a","op":"in","value":1}', '{"path":"a","op":"in","value":[]}', '{"path":"a","value":{"b":1}}', '{"path":"a","value":null}', '{"or":[]}', '{"path":"a","value":1,"param":"x"}', '{"path":"__proto__.x","value":1,"constructor":2}', "made=yesterday"];
  for (const text of bad) assert.throws(() => readWhere(text, dates), RangeError, text);
});

/** A copy of given pages; what is written is counted. */
async function copied(pages: readonly Page[]): Promise<{ readonly ids: readonly string[]; readonly bad: readonly string[] }> {
  const [ids, bad]: [string[], string[]] = [[], []];
  const source: CopySource = { backend: "sqlite", limit: 10, textPaths: null, page: async (after) => pages[Number(after ?? 0)] ?? assert.fail() };
  const writer = { write: (records: readonly { readonly id: string }[]) => records.map(({ id }) => (ids.push(id), "added" as const)), finish: () => undefined, close: () => undefined };
  await copyCollection(source, { open: async () => writer as never, onBad: (id, problem) => bad.push(`${id}: ${problem}`), onPage: () => undefined }, signal);
  return { ids, bad };
}

test("a row without a vector, with another length, or with a text that cannot be stored is left out and named", async () => {
  const vector = Float32Array.of(1, 2);
  const { ids, bad } = await copied([
    { rows: [{ row: { _id: 1 }, vector: null }, { row: { _id: 2 }, vector }], next: 1 },
    { rows: [], next: 2 },
    { rows: [{ row: { _id: "3" }, vector: Float32Array.of(1) }, { row: { _id: "4", text: "a\0b" }, vector }, { row: { _id: "", text: "x" }, vector }, { row: { _id: "5", _score: 1 }, vector }], next: null },
  ]);
  assert.deepEqual(ids, ["2", "5"]);
  assert.deepEqual(bad.map((line) => line.split(":")[0]), ["1", "3", "4", ""]);
});

test("a store that gives the same page for ever ends the copy with an error", () =>
  assert.rejects(copied([{ rows: [], next: 1 }, { rows: [], next: 1 }]), /same page again/));

test.run();
