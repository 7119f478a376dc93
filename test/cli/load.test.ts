/** `toolsrv load`, from its words to what the store answers. */
import * as assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import Database from "better-sqlite3";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { nodeHost } from "../../generator/host.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import type { Row } from "../../runtime/abi/filter.js";
import { memoryIo, type MemoryIo, type MemoryIoOptions } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv load");
const signal = new AbortController().signal;

const catalog = (model = "hashing-256") => `tds_version: '2'
connections:
  store: { backend: sqlite, path: "\${DB:-./data/store.db}" }
defaults: { embedding: local/${model} }
tools:
  - name: search_things
    kind: search
    description: Search the things of the store by their texts. Use for anything.
    target: { connection: store, collection: things }
    query: { param: query }
    static_filters: [{ path: owner, value: me }]
    parameters:
      - { name: min_size, path: size, dtype: integer, op: gte }
      - { name: since, path: made, dtype: datetime, op: gte }
`;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Project {
  readonly folder: string;
  write(name: string, text: string): void;
  load(...words: readonly string[]): Promise<Ended>;
  loadWith(options: MemoryIoOptions, act: (io: MemoryIo) => void, ...words: readonly string[]): Promise<Ended>;
  /** Records of a collection by id. */
  rows(collection?: string): Promise<readonly Row[]>;
}

async function inProject(use: (project: Project) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-load-"));
  const loadWith: Project["loadWith"] = async (options, act, ...words) => {
    const io = memoryIo({ cwd: folder, ...options });
    act(io);
    return { code: await run(["load", "tools.yaml", ...words, "--connection", "store"], io), out: io.out(), err: io.err() };
  };
  const project: Project = {
    folder,
    write: (name, text) => writeFileSync(join(folder, name), text),
    loadWith,
    load: (...words) => loadWith({}, () => undefined, ...words, ...(words.includes("--collection") ? [] : ["--collection", "things"])),
    async rows(collection = "things") {
      const store = await sqlite.open({ path: "./data/store.db" }, { base: folder });
      const { rows } = await store.fetch({ collection, filter: null, limit: 10_000, offset: 0, fields: null }, signal);
      await store.close();
      return rows;
    },
  };
  project.write("tools.yaml", catalog());
  try {
    await use(project);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the real movies load, and count as the raw file says", () =>
  inProject(async ({ load, rows }) => {
    const file = repo("node_modules/vega-datasets/data/movies.json");
    const { code, out, err } = await load(file, "--snake-case", "--types", "release_date:datetime,title:keyword", "--text", "title,major_genre,director");
    assert.equal(code, EXIT.OK, err);
    assert.match(out, /^3201 added in collection things of \.\/data\/store\.db \(local\/hashing-256, 256 dimensions, \d+\.\d s\)\n$/);
    const raw = JSON.parse(readFileSync(file, "utf8")) as readonly { readonly [key: string]: unknown }[];
    const stored = new Map((await rows()).map((row) => [row["_id"], row]));
    assert.equal(stored.size, raw.length);
    for (const [index, movie] of raw.entries()) {
      const row = stored.get(String(index + 1));
      assert.equal(row?.["imdb_rating"], movie["IMDB Rating"]);
      assert.equal(row?.["title"], movie["Title"] === null ? null : String(movie["Title"]));
      assert.match(String(row?.["release_date"] ?? "1900-01-01"), /^\d{4}-\d{2}-\d{2}$/);
    }
  }), { timeoutMs: 30_000 });

test("loading again changes nothing, changes what changed, and adds what is new", () =>
  inProject(async ({ write, load, rows }) => {
    write("a.jsonl", '{"key":"a","text":"one"}\n{"key":"b","text":"two"}\n');
    assert.match((await load("a.jsonl", "--id", "key")).out, /^2 added in/);
    write("b.jsonl", '{"key":"b","text":"TWO"}\n{"key":"a","text":"one"}\n{"key":"c","text":"three","more":1}\n');
    assert.match((await load("b.jsonl", "--id", "key")).out, /^1 added, 1 updated, 1 unchanged in/);
    assert.deepEqual(await rows(), [{ key: "a", text: "one", _id: "a" }, { key: "b", text: "TWO", _id: "b" }, { key: "c", text: "three", more: 1, _id: "c" }]);
  }));

test("of two records with one id the later stays", () =>
  inProject(async ({ write, load, rows }) => {
    write("a.jsonl", '{"key":"a","n":1}\n{"key":"a","n":2}\n');
    assert.match((await load("a.jsonl", "--id", "key")).out, /^1 added, 1 updated in/);
    assert.deepEqual(await rows(), [{ key: "a", n: 2, _id: "a" }]);
  }));

test("bad records are reported by number, the rest loads, and the exit is 1", () =>
  inProject(async ({ write, load, rows }) => {
    write("a.jsonl", '{"n":1}\nnot json\n[1]\n{"n":4,"made":"soon"}\n{"n":5}\n');
    const { code, out, err } = await load("a.jsonl", "--types", "made:datetime");
    assert.equal(code, EXIT.FINDINGS);
    assert.match(out, /^2 added, 3 left out in/);
    assert.match(err, /^a\.jsonl: line 2: not JSON: .*\na\.jsonl: line 3: expected an object, found a list\na\.jsonl: line 4: made: "soon" is not a datetime; it must be a date .*\n$/);
    assert.deepEqual((await rows()).map((row) => [row["_id"], row["n"]]), [["1", 1], ["5", 5]]);
  }));

test("twenty bad records are reported one by one, the rest are counted", () =>
  inProject(async ({ write, load }) => {
    write("a.jsonl", "x\n".repeat(25));
    const { err } = await load("a.jsonl");
    assert.equal(err.split("\n").length, 22);
    assert.match(err, /\nand 5 more that could not be loaded\n$/);
  }));

test("--replace builds the collection anew and leaves no row of the old one", () =>
  inProject(async ({ folder, write, load, rows }) => {
    write("a.jsonl", '{"key":"a"}\n{"key":"b"}\n');
    write("b.jsonl", '{"key":"c"}\n');
    await load("a.jsonl", "--id", "key");
    await load("a.jsonl", "--id", "key", "--collection", "others");
    write("tools.yaml", catalog("hashing-512"));
    const refused = await load("b.jsonl", "--id", "key");
    assert.equal(refused.code, EXIT.USAGE);
    assert.match(refused.err, /^toolsrv load: collection 'things' was embedded by local\/hashing-256 \(256 dimensions\), the catalog says local\/hashing-512 \(512\); load it anew with --replace\n$/);
    assert.equal((await load("b.jsonl", "--id", "key", "--replace")).code, EXIT.OK);
    assert.deepEqual(await rows(), [{ key: "c", _id: "c" }]);
    assert.equal((await rows("others")).length, 2);
    const db = new Database(join(folder, "data/store.db"));
    assert.deepEqual(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%replace%'").all(), []);
    assert.equal(db.pragma("integrity_check", { simple: true }), "ok");
    db.close();
  }));

test("another choice of texts is refused as well: half the vectors would be of another kind", () =>
  inProject(async ({ write, load }) => {
    write("a.jsonl", '{"a":"x","b":"y"}\n');
    await load("a.jsonl");
    assert.match((await load("a.jsonl", "--text", "a")).err, /was loaded with --text \(all\), not a; load it anew with --replace/);
  }));

test("CSV texts are read as the types of the catalog's parameters and of --types", () =>
  inProject(async ({ write, load, rows }) => {
    write("a.csv", "name,size,made,price\nx,12,Jun 12 1998,1.50\ny,big,,2\n");
    const { code, err } = await load("a.csv", "--types", "price:float");
    assert.equal(code, EXIT.FINDINGS);
    assert.match(err, /^a\.csv: line 3: size: "big" is not an integer\n$/);
    assert.deepEqual(await rows(), [{ name: "x", size: 12, made: "1998-06-12", price: 1.5, _id: "1" }]);
  }));

test("values are read as the types that dtypes of a tool writes", () =>
  inProject(async ({ write, load, rows }) => {
    write("tools.yaml", `${catalog()}    dtypes: { price: float, sold: datetime, size: keyword }\n`);
    write("a.csv", "name,size,sold,price\nx,12,Jun 12 1998,1.50\n");
    assert.equal((await load("a.csv")).code, EXIT.OK);
    assert.deepEqual(await rows(), [{ name: "x", size: "12", sold: "1998-06-12", price: 1.5, _id: "1" }]);
  }));

test("standard input is read by what it holds", () =>
  inProject(async ({ loadWith, rows }) => {
    const ended = await loadWith({ stdin: '[{"a":1},\n{"a":2}]' }, () => undefined, "-", "--collection", "things");
    assert.equal(ended.code, EXIT.OK, ended.err);
    assert.equal((await rows()).length, 2);
    const broken = await loadWith({ stdin: "{" }, () => undefined, "-", "--collection", "things");
    assert.match(broken.err, /^standard input: line 1: not JSON/);
  }));

test("an interrupted load keeps whole batches, says so, and the same command goes on", () =>
  inProject(async ({ write, load, loadWith, rows }) => {
    write("a.jsonl", Array.from({ length: 1500 }, (_, n) => `{"n":${n}}`).join("\n"));
    const host = nodeHost();
    const ended = await loadWith({ host: { ...host, stream: (path) => interruptAfter(host.stream(path)) } }, (io) => (interrupt = () => io.interrupt()), "a.jsonl", "--collection", "things");
    assert.equal(ended.code, EXIT.INTERRUPTED);
    assert.match(ended.err, /^interrupted after \d+ records; run the same command again to go on\n$/);
    const before = (await rows()).length;
    assert.ok(before < 1500 && before % 512 === 0, String(before));
    assert.match((await load("a.jsonl")).out, new RegExp(`^${1500 - before} added${before > 0 ? `, ${before} unchanged` : ""} in`));
  }));

let interrupt = (): void => undefined;

/** The stream's bytes in small pieces; the interrupt comes in the middle. */
function interruptAfter(stream: NodeJS.ReadableStream): NodeJS.ReadableStream {
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      for (let at = 0; at < bytes.length; at += 1000) {
        if (at > bytes.length / 2) interrupt();
        yield bytes.subarray(at, at + 1000);
      }
    }
  }
  return pieces() as unknown as NodeJS.ReadableStream;
}

test("a terminal sees a progress bar that is gone at the end; a file sees none", () =>
  inProject(async ({ write, loadWith }) => {
    write("a.jsonl", Array.from({ length: 1500 }, (_, n) => `{"n":${n}}`).join("\n"));
    let now = 0;
    const host = { ...nodeHost(), monotonic: () => (now += 1000) };
    const seen = await loadWith({ host, tty: true }, () => undefined, "a.jsonl", "--collection", "things");
    assert.match(seen.err, /^\r\u001b\[Kloading things █+░* +\d+ % {2}512 records\r/);
    assert.ok(seen.err.endsWith("\r\u001b[K"));
    assert.equal((await loadWith({ host }, () => undefined, "a.jsonl", "--collection", "things")).err, "");
  }));

test("words that do not fit are usage errors, and nothing is written", () =>
  inProject(async ({ folder, write, load, loadWith }) => {
    write("a.jsonl", "{}");
    const table: readonly (readonly [words: readonly string[], message: RegExp])[] = [
      [["none.jsonl"], /there is no file 'none\.jsonl'/],
      [["a.parquet"], /'a\.parquet' is not a \.jsonl, \.json or \.csv file/],
      [["a.jsonl", "--types", "x:date"], /--types takes FIELD:TYPE with a type of datetime, .*, not 'x:date'/],
      [["a.jsonl", "--collection", "sqlite_x"], /'sqlite_x' cannot be the name of a collection/],
    ];
    for (const [words, message] of table) {
      const { code, err } = await load(...words);
      assert.equal(code, EXIT.USAGE);
      assert.match(err, message);
    }
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "tools.yaml", "a.jsonl", "--connection", "none", "--collection", "x"], io), EXIT.USAGE);
    assert.match(io.err(), /no connection 'none'; it has store/);
    assert.equal((await loadWith({}, () => undefined, "a.jsonl")).code, EXIT.USAGE);
    assert.ok(!existsSync(join(folder, "data")));
  }));

test("a file of another program is left alone", () =>
  inProject(async ({ folder, write, load }) => {
    write("a.jsonl", "{}");
    write("other.env", "DB=./other.db\n");
    new Database(join(folder, "other.db")).exec("CREATE TABLE precious(a)").close();
    const { code, err } = await load("a.jsonl", "--env-file", "other.env");
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /contains another program's tables/);
    write("text.db", "this is no database ".repeat(20));
    write("other.env", "DB=./text.db\n");
    assert.match((await load("a.jsonl", "--env-file", "other.env")).err, /is not a SQLite database/);
  }));

test("only sqlite connections are filled", () =>
  inProject(async ({ folder, write }) => {
    write("a.jsonl", "{}");
    write("tools.yaml", catalog().replace("connections:", 'connections:\n  remote: { backend: chroma, url: "http://localhost:8000" }'));
    const io = memoryIo({ cwd: folder });
    const code = await run(["load", "tools.yaml", "a.jsonl", "--connection", "remote", "--collection", "x"], io);
    assert.equal(code, EXIT.USAGE);
    assert.match(io.err(), /chroma/);
  }));

test("a connection whose settings come from a secret is not filled: the file may be another one", () =>
  inProject(async ({ folder, write }) => {
    write("a.jsonl", "{}");
    write("tools.yaml", catalog().replace("connections:", "connections:\n  fetched: { backend: sqlite, path: ./x.db, credentials: { provider: vault, vault: { path: secret/data/x } } }"));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "tools.yaml", "a.jsonl", "--connection", "fetched", "--collection", "x"], io), EXIT.USAGE);
    assert.match(io.err(), /credentials\.provider vault, which load does not ask/);
  }));

test("ids that JSON.parse would merge, and numbers it would lose, are errors by line; the rest loads", () =>
  inProject(async ({ write, load, rows }) => {
    write("a.jsonl", '{"key":9007199254740993,"n":1}\n{"key":9007199254740992,"n":2}\n{"key":3,"n":1e400}\n{"key":4,"n":4}\n{"key":1.5}\n');
    const { code, out, err } = await load("a.jsonl", "--id", "key");
    assert.equal(code, EXIT.FINDINGS);
    assert.match(out, /^1 added, 4 left out in/);
    assert.match(err, /^a\.jsonl: line 1: 9007199254740993 cannot be kept exactly.*\na\.jsonl: line 2: 9007199254740992 cannot .*\na\.jsonl: line 3: 1e400 cannot .*\na\.jsonl: line 5: the id 'key' must be .*\n$/);
    assert.deepEqual(await rows(), [{ key: 4, n: 4, _id: "4" }]);
  }));

test("--replace without a single record changes nothing, and the exit code says so", () =>
  inProject(async ({ folder, write, load, loadWith, rows }) => {
    write("a.jsonl", '{"key":"a"}\n');
    await load("a.jsonl", "--id", "key");
    write("empty.jsonl", "\n");
    write("empty.json", "[]");
    write("empty.csv", "key\n");
    const left = "toolsrv load: there is no record to load; collection 'things' is left as it was\n";
    const table: readonly (readonly [what: string, ended: Ended, err: string])[] = [
      ["empty stdin", await loadWith({ stdin: "" }, () => undefined, "-", "--collection", "things", "--replace"), left],
      ["no lines", await load("empty.jsonl", "--replace"), left],
      ["no elements", await load("empty.json", "--replace"), left],
      ["no rows", await load("empty.csv", "--replace"), left],
      ["a mistyped id", await load("a.jsonl", "--replace", "--id", "kye"), `a.jsonl: line 1: no id: 'kye' is missing\n${left}`],
    ];
    for (const [what, { code, out, err }, want] of table) {
      assert.equal(code, EXIT.FINDINGS, what);
      assert.equal(out, "", what);
      assert.equal(err, want, what);
      assert.deepEqual(await rows(), [{ key: "a", _id: "a" }], what);
    }
    assert.deepEqual(leftovers(folder), []);
  }));

test("--text with a field that no record has a text at stores nothing", () =>
  inProject(async ({ folder, write, load, rows }) => {
    write("a.jsonl", '{"title":"one","year":1}\n{"title":"two","year":2}\n');
    for (const [fields, absent] of [["titel", "'titel'"], ["title,boddy", "'boddy'"], ["year", "'year'"], ["titel,boddy", "'titel' or 'boddy'"]] as const) {
      const { code, out, err } = await load("a.jsonl", "--text", fields);
      assert.equal(code, EXIT.USAGE);
      assert.equal(out, "");
      assert.equal(err, `toolsrv load: no record has a text at ${absent}, which --text names; nothing is stored\n`);
    }
    // The refused loads left no settings behind that would be in the way of the right one.
    assert.equal((await load("a.jsonl", "--text", "title")).code, EXIT.OK);
    assert.equal((await load("a.jsonl", "--text", "titel", "--replace")).code, EXIT.USAGE);
    assert.equal((await rows()).length, 2);
    assert.deepEqual(leftovers(folder), []);
  }));

test("--text with a wrong name is noticed after many records too, and then replaces nothing", () =>
  inProject(async ({ write, load, rows }) => {
    write("a.jsonl", Array.from({ length: 3000 }, (_, n) => `{"title":"t${n}"}`).join("\n"));
    const added = await load("a.jsonl", "--text", "titel");
    assert.equal(added.code, EXIT.USAGE);
    assert.match(added.err, /^toolsrv load: no record has a text at 'titel', which --text names; 3000 records are stored with vectors that lack it; correct --text and load them again with --replace\n$/);
    assert.equal((await load("a.jsonl", "--text", "title", "--replace")).code, EXIT.OK);
    assert.match((await load("a.jsonl", "--text", "titel", "--replace")).err, /nothing is stored\n$/);
    write("b.jsonl", `${Array.from({ length: 3000 }, (_, n) => `{"title":"t${n}"}`).join("\n")}\n{"note":"late"}`);
    assert.equal((await load("b.jsonl", "--text", "title,note", "--replace")).code, EXIT.OK);
    assert.equal((await rows()).length, 3001);
  }));

test("an option without a value is refused before anything is read", () =>
  inProject(async ({ folder, write, load }) => {
    write("a.jsonl", '{"a":"x"}\n');
    for (const word of ["--id=", "--text=", "--types=", "--env-file="]) {
      const { code, err } = await load("a.jsonl", word);
      assert.equal(code, EXIT.USAGE, word);
      assert.match(err, /^toolsrv load: --[a-z-]+ needs a value/, word);
    }
    assert.match((await load("a.jsonl", "--text", "a,,b")).err, /--text takes fields separated by commas, not 'a,,b'/);
    assert.ok(!existsSync(join(folder, "data")));
  }));

test("a load that waits for standard input ends at the first signal", () =>
  inProject(async ({ folder, loadWith, rows, write, load }) => {
    write("a.jsonl", '{"key":"a"}\n');
    await load("a.jsonl");
    for (const [name, code] of [["SIGINT", EXIT.INTERRUPTED], ["SIGTERM", EXIT.TERMINATED]] as const) {
      const silent = new PassThrough();
      silent.write('{"key":"b"}\n');
      const ended = await loadWith({}, (io) => {
        Object.assign(io, { stdin: silent });
        setTimeout(() => io.interrupt(name), 200);
      }, "-", "--collection", "things", "--replace");
      assert.equal(ended.code, code);
      assert.equal(ended.err, "interrupted before anything changed in collection things; run the same command again to go on\n");
      assert.deepEqual(await rows(), [{ key: "a", _id: "1" }]);
    }
    assert.deepEqual(leftovers(folder), []);
  }));

test("values of JSON lines are stored as the catalog's parameters compare them, as those of CSV are", () =>
  inProject(async ({ write, load, rows }) => {
    write("a.jsonl", '{"name":"x","size":"12","made":"2024-05-06T10:00:00+02:00","seen":"yes"}\n{"name":"y","size":7.5,"made":"Jun 12 1998"}\n{"name":"z","made":"yesterday"}\n');
    write("tools.yaml", `${catalog()}      - { name: was_seen, path: seen, dtype: boolean, op: exists }\n`);
    const { code, err } = await load("a.jsonl");
    assert.equal(code, EXIT.FINDINGS);
    assert.match(err, /^a\.jsonl: line 3: made: "yesterday" is not a datetime; it must be a date \(2026-04-13\) or an RFC 3339 time/);
    assert.deepEqual(await rows(), [{ name: "x", size: 12, made: "2024-05-06T08:00:00Z", seen: "yes", _id: "1" }, { name: "y", size: 7.5, made: "1998-06-12", _id: "2" }]);
  }));

/** Tables of collections that were being built. */
function leftovers(folder: string): readonly unknown[] {
  const db = new Database(join(folder, "data/store.db"));
  try {
    return db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%replace%'").all();
  } finally {
    db.close();
  }
}

test("the fields of guards and parameters get an index", () =>
  inProject(async ({ folder, write, load }) => {
    write("a.jsonl", '{"owner":"me"}\n{"owner":"you"}\n');
    await load("a.jsonl");
    const db = new Database(join(folder, "data/store.db"));
    const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT count(*) FROM "things/fields" f WHERE f."owner" = ?`).all("me") as { detail: string }[];
    assert.match(plan.map(({ detail }) => detail).join(), /INDEX things\/fields:owner,@id/);
    db.close();
  }));

test.run();
