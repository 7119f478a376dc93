/** Searches by codes find exactly what the comparison of all full vectors finds, in whatever state the codes are. */
import assert from "node:assert/strict";
import { join } from "node:path";
import Database from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import { reindexFile } from "../../generator/load/indexer.js";
import { Writer, type EmbeddedRecord } from "../../generator/load/writer.js";
import { isBackendError } from "../../runtime/abi/errors.js";
import type { Filter } from "../../runtime/abi/filter.js";
import type { SearchRequest, Settings } from "../../runtime/adapters/adapter.js";
import { compileFilter } from "../../runtime/adapters/sqlite/filter.js";
import { STAMP_BLOCK } from "../../runtime/adapters/sqlite/layout.js";
import type { Hit } from "../../runtime/adapters/sqlite/search.js";
import { streamedBlocks } from "../../runtime/adapters/sqlite/code-set.js";
import { codesMemory } from "../../runtime/adapters/sqlite/code-sets.js";
import { encodeQuery } from "../../runtime/adapters/sqlite/codes.js";
import type { Place } from "../../runtime/adapters/sqlite/database.js";
import { scanCodes } from "../../runtime/adapters/sqlite/nearest.js";
import { Session } from "../../runtime/adapters/sqlite/session.js";
import type { Turns } from "../../runtime/base/turns.js";
import { SearchPool } from "../../runtime/adapters/sqlite/search-pool.js";
import { suite } from "../lib/suite.js";
import { never, scratch } from "./store.js";

const test = suite("adapters/sqlite codes");
const { folder, remove } = scratch();
test.after(remove);

const DIMS = 200;
/** More than the event loop searches, and not a whole number of blocks. */
const ROWS = 12_345;

/** The same numbers in every run, between -1 and 1. */
function createNoise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}
const noise = createNoise(11);
const randomVector = (): Float32Array => Float32Array.from({ length: DIMS }, noise);

/** Vectors that are hard to code: many equal ones, none, very long and short ones, one component, no numbers. */
function hardVector(n: number): Float32Array {
  const vector = randomVector();
  if (n % 100 < 6) return Float32Array.from({ length: DIMS }, (_, index) => (index % 7 === n % 3 ? 1 : -0.5));
  if (n % 100 === 6) return new Float32Array(DIMS);
  if (n % 100 === 7) return vector.map((value) => value * 1e18);
  if (n % 100 === 8) return vector.map((value) => value * 1e-22);
  if (n % 100 === 9) return vector.map((_, index) => (index === n % DIMS ? 3 : 0));
  if (n % 1000 === 10) return vector.map((value, index) => (index === 5 ? Number.NaN : value));
  if (n % 1000 === 11) return vector.map((value, index) => (index === 5 ? Number.POSITIVE_INFINITY : value));
  if (n % 100 < 20) return vector.map((value) => value * 1000);
  return vector;
}

function recordOf(n: number, round = 0): EmbeddedRecord {
  // Ids whose order is not that of the rows.
  const id = `r${(n * 7919) % ROWS}`;
  return { id, record: { n, round, tenant: `t${n % 100}`, half: n % 2 === 0, name: `name ${n % 50}` }, text: `word${n % 20}`, vector: hardVector(n + round) };
}

async function openWriter(file: string, replace = false): Promise<Writer> {
  return Writer.open({ file, collection: "things", embedding: { embeddedBy: "m/m", dims: DIMS, text: "" }, replace, indexes: [["tenant"]] });
}

async function fillFile(name: string, round = 0): Promise<string> {
  const file = join(folder, name);
  const writer = await openWriter(file);
  writer.write(Array.from({ length: ROWS }, (_, n) => recordOf(n, round)));
  writer.finish();
  writer.close();
  return file;
}

/** The definition of a search: all full vectors, by sqlite-vec, in SQL. */
function searchFully(file: string, { vector, filter, limit }: SearchRequest): readonly { id: string; score: number }[] {
  const db = new Database(file, { readonly: true });
  sqliteVec.load(db);
  try {
    const where = filter === null ? { sql: "1", params: [] } : compileFilter(filter, { name: "things", paths: null });
    const sql = `SELECT v."@id" AS id, ifnull(1 - vec_distance_cosine(v."vector", ?), 0) AS score FROM "things/fields" f JOIN "things/vectors" v ON v."@row" = f."@row" WHERE ${where.sql.replaceAll(/f\."\w+\[\]" IS NOT NULL AND/g, "0 AND").replaceAll(/f\."\w+\[\]"/g, "NULL")} ORDER BY score DESC, id LIMIT ?`;
    const rows = db.prepare(sql).all(Buffer.from(Float32Array.from(vector ?? []).buffer), ...where.params, limit) as { id: string; score: number }[];
    return rows.map(({ id, score }) => ({ id, score: Math.round(score * 1e6) / 1e6 }));
  } finally {
    db.close();
  }
}

const short = (hits: readonly Hit[]): readonly { id: string; score: number }[] => hits.map(({ id, score }) => ({ id, score }));
const searchOf = (rest: Partial<SearchRequest> = {}): SearchRequest => ({ collection: "things", vector: randomVector(), text: null, mode: "dense", alpha: 0.5, filter: null, limit: 10, fields: null, ...rest });
const placeOf = (file: string): Place => ({ file, name: "store.db", load: "toolsrv load" });
const openPool = (file: string, codesMemoryBytes = 2 ** 30): SearchPool => new SearchPool(placeOf(file), { codesMemoryBytes });

const FILTERS: readonly (Filter | null)[] = [
  null,
  { path: "tenant", op: "eq", value: "t7" },
  { path: "half", op: "eq", value: true },
  { path: "n", op: "gte", value: 0 },
  { and: [{ path: "tenant", op: "in", value: ["t1", "t6", "t7", "t8"] }, { path: "n", op: "lt", value: 9_000 }] },
  { path: "name", op: "eq", value: "nobody" },
];

/** Random queries, those that equal a stored vector, and those that no code can describe. */
function* queries(): Generator<Float32Array> {
  yield randomVector();
  yield hardVector(3);
  yield randomVector().map((value) => value * 1e-9);
  yield new Float32Array(DIMS);
  yield randomVector().map((value) => value * 1e25);
  yield randomVector().map((value, index) => (index === 0 ? Number.NaN : value));
}

async function compareWithDefinition(pool: SearchPool, file: string, limits: readonly number[] = [1, 10, 700]): Promise<void> {
  for (const vector of queries()) {
    for (const filter of FILTERS) {
      for (const limit of limits) {
        const request = searchOf({ vector, filter, limit });
        assert.deepEqual(short(await pool.search(request, never)), searchFully(file, request), JSON.stringify({ filter, limit, first: [...vector.slice(0, 3)] }));
      }
    }
  }
}

test("the memory for codes is what the connection says, else at most 1 GB and a quarter of what the machine or container has", () => {
  const gb = 2 ** 30;
  const table: readonly (readonly [settings: Settings, machine: Parameters<typeof codesMemory>[1], bytes: number])[] = [
    [{ codes_memory_mb: 0 }, { total: 8 * gb, constrained: undefined }, 0],
    [{ codes_memory_mb: 512 }, { total: 8 * gb, constrained: undefined }, gb / 2],
    [{}, { total: 64 * gb, constrained: undefined }, gb],
    [{}, { total: 2 * gb, constrained: 0 }, gb / 2],
    [{}, { total: 64 * gb, constrained: gb }, gb / 4],
    [{}, { total: 2 * gb, constrained: 2 ** 64 }, gb / 2],
  ];
  for (const [settings, machine, bytes] of table) assert.equal(codesMemory(settings, machine), bytes, JSON.stringify([settings, machine]));
});

test("codes in memory find what the comparison of all full vectors finds, with its scores and its order", async () => {
  const file = await fillFile("memory.db");
  const pool = openPool(file);
  await pool.search(searchOf(), never);
  await pool.settled();
  await compareWithDefinition(pool, file);
  assert.equal((await pool.search(searchOf({ limit: 20_000 }), never)).length, ROWS, "more than there are");
  pool.close();
}, { timeoutMs: 120_000 });

test("codes that are read from the file find the same", async () => {
  const file = await fillFile("file.db");
  const pool = openPool(file, 1000);
  await compareWithDefinition(pool, file, [10]);
  pool.close();
}, { timeoutMs: 120_000 });

test("rows that a load wrote and did not finish are found, also where codes are in memory", async () => {
  const file = await fillFile("unfinished.db");
  const pool = openPool(file);
  await pool.search(searchOf(), never);
  await pool.settled();
  const writer = await openWriter(file);
  const vector = randomVector();
  writer.write([{ ...recordOf(40, 1), vector }, { id: "new", record: { n: ROWS, tenant: "t7", half: true }, text: "new", vector: vector.map((value, index) => (index === 0 ? value + 0.01 : value)) }]);
  const changed = searchOf({ vector, limit: 2 });
  assert.deepEqual((await pool.search(changed, never)).map(({ id }) => id), [recordOf(40).id, "new"]);
  await compareWithDefinition(pool, file, [10]);
  await pool.settled();
  await compareWithDefinition(pool, file, [10]);
  writer.finish();
  writer.close();
  await compareWithDefinition(pool, file, [10]);
  pool.close();
}, { timeoutMs: 120_000 });

test("codes in memory of a collection that was replaced are not used: no row of another tenant, no old vector", async () => {
  const file = await fillFile("replaced.db");
  const pool = openPool(file);
  await pool.search(searchOf(), never);
  await pool.settled();
  const writer = await openWriter(file, true);
  // The same row numbers for other tenants.
  writer.write(Array.from({ length: ROWS }, (_, n) => recordOf(n + 1, 5)));
  writer.finish();
  writer.close();
  // The first search after it: what a search has seen would be dropped before the second one.
  const half = searchOf({ filter: { path: "half", op: "eq", value: false }, limit: 50 });
  assert.deepEqual(short(await pool.search(half, never)), searchFully(file, half));
  const hits = await pool.search(searchOf({ filter: { path: "tenant", op: "eq", value: "t7" }, limit: 500 }), never);
  assert.ok(hits.length > 100);
  assert.deepEqual(hits.filter(({ record }) => (JSON.parse(record) as { tenant: string; round: number }).tenant !== "t7" || !record.includes('"round":5')), []);
  await compareWithDefinition(pool, file, [10]);
  pool.close();
}, { timeoutMs: 120_000 });

test("a file of format 2, without codes, is searched; the next load or --reindex makes codes and format 3", async () => {
  const load = async (file: string): Promise<void> => {
    const writer = await openWriter(file);
    writer.write([recordOf(0)]);
    writer.finish();
    writer.close();
  };
  const reindex = async (file: string): Promise<void> => void (await reindexFile({ file, name: "store.db" }, "things", [["tenant"]]));
  for (const [name, renew] of [["load", load], ["reindex", reindex]] as const) {
    const file = await fillFile(`old-${name}.db`);
    const db = new Database(file);
    db.exec(`DROP TABLE "things/codes"`);
    db.pragma("user_version = 2");
    const request = searchOf({ filter: { path: "tenant", op: "eq", value: "t7" } });
    const before = openPool(file);
    assert.deepEqual(short(await before.search(request, never)), searchFully(file, request));
    before.close();
    await renew(file);
    assert.equal(db.pragma("user_version", { simple: true }), 3);
    assert.equal(db.prepare(`SELECT count(*) FROM "things/codes"`).pluck().get(), Math.ceil(ROWS / 1024) + 1, "blocks and the stamp");
    db.close();
    const after = openPool(file);
    assert.deepEqual(short(await after.search(request, never)), searchFully(file, request));
    after.close();
  }
}, { timeoutMs: 120_000 });

test("hybrid searches and filters over texts are the same with and without codes", async () => {
  const file = await fillFile("hybrid.db");
  const plain = await fillFile("plain.db");
  const db = new Database(plain);
  db.exec(`DELETE FROM "things/codes"`);
  // The vectors are random: they are copied, so that the files are the same but for the codes.
  db.exec(`ATTACH '${file}' AS other; DELETE FROM "things/vectors"; INSERT INTO "things/vectors" SELECT * FROM other."things/vectors"`);
  db.close();
  const [coded, full] = [openPool(file), openPool(plain)];
  for (const filter of [null, { path: "name", op: "like", value: "%name 1%" }, { path: "tenant", op: "eq", value: "t3" }] satisfies (Filter | null)[]) {
    for (const mode of ["dense", "hybrid"] as const) {
      const request = searchOf({ mode, filter, text: "word3 word7", limit: 30 });
      assert.deepEqual(await coded.search(request, never), await full.search(request, never), JSON.stringify({ mode, filter }));
    }
  }
  coded.close();
  full.close();
}, { timeoutMs: 120_000 });

test("damaged codes are an error that says what to do, never another answer", async () => {
  const file = await fillFile("damaged.db");
  const db = new Database(file);
  db.exec(`UPDATE "things/codes" SET "codes" = substr("codes", 1, 100) WHERE "block" = 3`);
  db.close();
  const pool = openPool(file);
  const error: unknown = await pool.search(searchOf(), never).catch((reason: unknown) => reason);
  assert.ok(isBackendError(error) && error.kind === "internal", String(error));
  assert.match(error.message, /the codes of its vectors are damaged; load it again: toolsrv load --replace$/);
  await pool.settled();
  pool.close();
}, { timeoutMs: 60_000 });

test("each transaction that writes rows removes their blocks and changes the stamp; small collections have no blocks", async () => {
  const file = join(folder, "writer.db");
  const writer = await openWriter(file);
  const db = new Database(file, { readonly: true });
  const blocks = (): unknown => db.prepare(`SELECT "block" FROM "things/codes" WHERE "block" <> ${STAMP_BLOCK} ORDER BY 1`).pluck().all();
  const stamp = (): unknown => db.prepare(`SELECT hex("codes") FROM "things/codes" WHERE "block" = ${STAMP_BLOCK}`).pluck().get();
  const write = (from: number, to: number): void => void writer.write(Array.from({ length: to - from }, (_, n) => ({ ...recordOf(from + n), id: `r${from + n}` })));
  write(0, 3000);
  writer.finish();
  assert.deepEqual(blocks(), []);
  write(3000, 11_000);
  writer.finish();
  const all = Array.from({ length: 11 }, (_, block) => block);
  assert.deepEqual(blocks(), all);
  const before = stamp();
  write(1024, 1025);
  assert.deepEqual(blocks(), all.filter((block) => block !== 1));
  assert.notEqual(stamp(), before);
  write(11_000, 11_001);
  assert.deepEqual(blocks(), all.filter((block) => block !== 1 && block !== 10));
  writer.finish();
  assert.deepEqual(blocks(), all);
  writer.close();
  db.close();
}, { timeoutMs: 60_000 });

test("a comparison of codes ends between two blocks when its call does", async () => {
  const file = await fillFile("cancelled.db");
  const session = await Session.open(placeOf(file));
  const client = new AbortController();
  let turns = 0;
  const stopping: Turns = { nowMs: () => 0, yield: async () => void (++turns === 2 && client.abort(new Error("the client is gone"))) };
  const loaded: number[] = [];
  const scan = session.begin(never, () => streamedBlocks(session, session.collections.get("things"))).then((blocks) => {
    const query = encodeQuery(randomVector());
    assert.ok(query !== null);
    const watched = { ...blocks, load: (block: number) => (loaded.push(block), blocks.load(block)) };
    // Rows up to the twentieth block, of which the first thirteen have codes.
    return scanCodes(watched, query, null, 20 * 1024, 10, stopping, client.signal);
  });
  await assert.rejects(scan, /the client is gone/);
  assert.deepEqual(loaded, Array.from({ length: 13 }, (_, block) => block));
  session.end();
  session.close();
}, { timeoutMs: 60_000 });

test.run();
