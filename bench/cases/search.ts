/** A filtered search of the films through the whole call path, against the same sqlite-vec query run by hand. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import { compile } from "../../generator/compile.js";
import { run } from "../../generator/cli/main.js";
import { programOf } from "../../generator/program.js";
import { createEngine } from "../../runtime/call/engine.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { memoryIo } from "../../test/lib/io.js";
import { repo } from "../../test/lib/repo.js";
import { inTurn, versus, type BenchCase } from "../lib/case.js";

const ROUNDS = 15;
const CALLS_PER_ROUND = 40;
const QUERIES = ["a shark terrorises a beach town", "space opera", "courtroom drama", "the godfather", "romantic comedy in new york", "heist", "zombies", "western revenge"];

export const search: BenchCase = {
  name: "search",
  summary: "a filtered search of 3,201 films through engine.call, against the same SQL run directly",
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "toolsrv-bench-"));
    try {
      return [await compareSearch(folder)];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

async function compareSearch(folder: string) {
  const catalog = repo("specs/examples/quickstart/tools.yaml");
  const file = join(folder, "movies.db");
  const env = new Map([["MOVIES_DB", file]]);
  const { value } = compile({ path: "tools.yaml", text: readFileSync(catalog, "utf8") }, { env });
  if (value === null) throw new Error("the quickstart does not compile");
  await load(catalog, folder, file);
  const engine = createEngine(programOf(value.plans, { base: pathToFileURL(`${folder}/`) }), { env });
  const caller = { requestId: "bench", principal: { id: null, claims: {}, headers: {} } };
  const direct = openDirect(file);

  const ours = async (query: string): Promise<number> => (await engine.call("search_movies", { query, genre: ["Drama", "Comedy"], min_rating: 6, limit: 10 }, caller)).count;
  const peer = (query: string): number => direct(query).length;
  if ((await ours("heist")) !== peer("heist")) throw new Error("the two searches do not find the same");

  const times = await inTurn(ROUNDS, {
    ours: (round) => timed(ours, round),
    peer: (round) => timed((query) => Promise.resolve(peer(query)), round),
  });
  await engine.close();
  return versus("filtered search of 3,201 films", "direct SQL", "ms", times, { atMost: 1.25 });
}

async function load(catalog: string, folder: string, file: string): Promise<void> {
  const io = memoryIo({ cwd: folder });
  await io.host.write(join(folder, ".env"), `MOVIES_DB=${file}\n`);
  const words = [
    "load", catalog, repo("node_modules/vega-datasets/data/movies.json"), "--connection", "movies", "--collection", "movies", "--snake-case",
    "--types", "release_date:datetime,title:keyword", "--text", "title,major_genre,creative_type,source,director,distributor", "--env-file", ".env",
  ];
  if ((await run(words, io)) !== 0) throw new Error(io.err());
}

/** What someone would write by hand over the same tables: one statement, texts embedded, records read and parsed. */
function openDirect(file: string): (query: string) => readonly unknown[] {
  const db = new Database(file, { readonly: true });
  sqliteVec.load(db);
  db.pragma("cache_size = -65536");
  db.pragma("mmap_size = 1073741824");
  const statement = db.prepare(`SELECT n.score, r.record FROM (
      SELECT v."@row" AS "row", v."@id" AS "id", 1 - vec_distance_cosine(v."vector", ?) AS score
      FROM "movies/fields" f CROSS JOIN "movies/vectors" v ON v."@row" = f."@row"
      WHERE f.major_genre IN (?, ?) AND f.imdb_rating >= ? AND f.imdb_rating < ''
      ORDER BY score DESC, "id" LIMIT ?
    ) n JOIN "movies/records" r ON r."@row" = n."row" ORDER BY n.score DESC, n."id"`);
  return (query) => {
    const vector = hashText(query, 512);
    const rows = statement.all(Buffer.from(vector.buffer), "Drama", "Comedy", 6, 10) as { record: string }[];
    return rows.map(({ record }) => JSON.parse(record) as unknown);
  };
}

/** Milliseconds a call. The queries differ by round, so that neither side only uses its caches. */
async function timed(call: (query: string) => Promise<number>, round: number): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < CALLS_PER_ROUND; i++) await call(`${QUERIES[i % QUERIES.length]} ${round * CALLS_PER_ROUND + i}`);
  return (performance.now() - started) / CALLS_PER_ROUND;
}
