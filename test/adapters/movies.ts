/**
 * The quickstart's catalog on another store: only its connection and the collection's name are changed, the vectors are
 * the same, and every tool must answer as on the embedded store. Equal scores are in the order of ids, but where a limit
 * cuts rows of one score apart, a store may have chosen any of them: its own arithmetic tells them apart in the last bit.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { parse } from "yaml";
import { CatalogError, connect, type Connection } from "../../generator/connect.js";
import { convertRecord } from "../../generator/load/convert.js";
import { compareText, type Row } from "../../runtime/abi/filter.js";
import type { Envelope } from "../../runtime/abi/call.js";
import { canonicalInstant } from "../../runtime/base/instant.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { loadMovies } from "../e2e/quickstart.js";
import { repo } from "../lib/repo.js";
import type { LiveStore, StoredRecord } from "./live-store.js";
import { connectionTo } from "./store-catalog.js";

const QUICKSTART = repo("specs/examples/quickstart/tools.yaml");
const COLLECTION = "movies";
const CALLS_OF_EACH = 40;
/** Stores compute cosines in 32 bits, each in an order of its own. */
const SAME_SCORE = 1e-5;

interface Film extends StoredRecord {
  /** Its id in the embedded store. */
  readonly id: string;
}

interface Tool {
  readonly name: string;
  readonly target: { collection: string };
  parameters?: readonly { readonly name: string }[];
  readonly output?: { readonly limit_max?: number };
}

interface Catalog {
  connections: { readonly [name: string]: unknown };
  readonly tools: readonly Tool[];
}

type Arguments = { readonly [name: string]: unknown };

/** The films as `load` makes them of the file, in the order of their ids. */
function readFilms(): readonly Film[] {
  const types = new Map([["release_date", "datetime"], ["title", "keyword"]] as const);
  const options = { idPath: null, snakeCase: true, types, declared: new Map(), textPaths: ["title", "major_genre", "creative_type", "source", "director", "distributor"] };
  const values = JSON.parse(readFileSync(repo("node_modules/vega-datasets/data/movies.json"), "utf8")) as readonly unknown[];
  return values.map((value, index) => convertRecord(value, index + 1, options)).sort((a, b) => compareText(a.id, b.id))
    .map(({ id, record, text }, n) => ({ n, id, payload: record as Row, vector: [...hashText(text, 512)] }));
}

/** Random arguments of a tool with values that films have. */
function argumentsOf({ name, parameters = [], output }: Tool, films: readonly Film[]): fc.Arbitrary<Arguments> {
  const stored = (path: string): fc.Arbitrary<unknown> => fc.constantFrom(...films.flatMap(({ payload }) => payload[path] ?? []));
  const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 2 });
  const titles = films.map(({ payload }) => String(payload["title"]));
  const queries = fc.oneof(fc.constantFrom(...titles), fc.constantFrom("horror comedy about a haunted house", "a robot from the future", "Steven Spielberg war drama", "romantic comedy", "Walt Disney musical for kids"));
  const known: { readonly [argument: string]: fc.Arbitrary<unknown> } = {
    genre: some(fc.subarray(["Action", "Comedy", "Drama", "Horror", "Western", "Thriller/Suspense"], { minLength: 1 })), min_rating: some(fc.constantFrom(0, 5.5, 7, 8.9)),
    released_from: some(fc.constantFrom("1975-01-01", "1999-06-15", "2005-01-01T00:00:00Z")), released_until: some(fc.constantFrom("1998-12-31", "2008-02-29")), title: fc.constantFrom(...titles),
    director: name === "get_movie" ? fc.constant(undefined) : some(stored("director")), mpaa_rating: some(fc.subarray(["G", "PG-13", "R", "Not Rated"], { minLength: 1 })), distributor: some(stored("distributor")),
    min_votes: some(fc.constantFrom(0, 1000, 100_000)), min_worldwide_gross: some(fc.constantFrom(1, 1_000_000, 300_000_000)), max_budget: some(fc.constantFrom(500_000, 20_000_000)),
  };
  const own = Object.fromEntries(parameters.map((parameter) => [parameter.name, known[parameter.name] ?? assert.fail(`no values for '${parameter.name}'`)]));
  const limit = output?.limit_max === undefined || name === "get_movie" ? {} : { limit: fc.integer({ min: 1, max: output.limit_max }) };
  return fc.record({ ...own, ...limit, ...(name.startsWith("search_") ? { query: queries } : {}) }) as fc.Arbitrary<Arguments>;
}

/** A connection to the same tools on the store, without the arguments that it refuses, and why it does. */
async function connectTo(store: LiveStore, refused: readonly string[] = []): Promise<{ readonly connection: Connection; readonly refused: readonly string[] }> {
  const catalog = parse(readFileSync(QUICKSTART, "utf8")) as Catalog;
  const { connection, env } = connectionTo(store);
  catalog.connections = { movies: connection };
  for (const tool of catalog.tools) {
    tool.target.collection = store.name(COLLECTION);
    if (tool.parameters !== undefined) tool.parameters = tool.parameters.filter(({ name }) => !refused.includes(name));
  }
  try {
    return { connection: await connect({ ...catalog }, { env }), refused };
  } catch (error) {
    if (!(error instanceof CatalogError) || refused.length > 0) throw error;
    // A store that compares no dates refuses the parameters that do; everything else must compile.
    const blamed = error.diagnostics.filter(({ severity }) => severity === "error").map(({ path }) => /^tools\[(\d+)\]\.parameters\[(\d+)\]/.exec(path ?? ""));
    const names = blamed.map((at) => (at === null ? undefined : catalog.tools[Number(at[1])]?.parameters?.[Number(at[2])]?.name));
    if (names.includes(undefined)) throw error;
    return connectTo(store, [...new Set(names as string[])]);
  }
}

interface Known {
  /** Record numbers by the id that the embedded store has. */
  readonly numbers: ReadonlyMap<unknown, number>;
  /** Fields that films have; a store may have columns of its own. */
  readonly columns: ReadonlySet<string>;
}

/** What can be compared of a row: a store may have no nulls, its own spelling of dates, and it has ids, scores and columns of its own. */
function comparable(row: Row, columns: ReadonlySet<string>, idOf: (id: unknown) => unknown): Row {
  const fields = Object.entries(row).filter(([key, value]) => value !== null && columns.has(key)).map(([key, value]): [string, unknown] => [key, typeof value === "string" ? canonicalInstant(value) ?? value : value]);
  return { ...Object.fromEntries(fields.sort(([a], [b]) => compareText(a, b))), ...("_id" in row ? { _id: idOf(row["_id"]) } : {}) };
}

/** The first row of those with the score of the last one; all rows of an answer without scores come before it. */
function lastTie(rows: readonly Row[]): number {
  const last = rows.at(-1)?.["_score"];
  return typeof last !== "number" ? rows.length : rows.findIndex((row) => Math.abs(Number(row["_score"]) - last) <= SAME_SCORE);
}

const texts = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row));

/** @param longest The right answer with as many rows as the tool gives. */
function compare(shown: string, want: Envelope, longest: Envelope, got: Envelope, store: LiveStore, { numbers, columns }: Known): void {
  const shownAs = (rows: readonly Row[]): readonly Row[] => rows.map((row) => comparable(row, columns, (id) => store.id(numbers.get(id) ?? -1)));
  const [expected, actual] = [shownAs(want.rows), got.rows.map((row) => comparable(row, columns, (id) => id))];
  const tie = lastTie(want.rows);
  assert.deepEqual(actual.slice(0, tie), expected.slice(0, tie), shown);
  const [rest, chosen] = [texts(expected.slice(tie)), texts(actual.slice(tie))];
  // Where the store has chosen the same ones, they are in the order of their ids too.
  if (isDeepStrictEqual([...rest].sort(), [...chosen].sort())) assert.deepEqual(chosen, rest, shown);
  const score = Number(want.rows.at(-1)?.["_score"]);
  const alike = texts(shownAs(longest.rows.filter((row) => Math.abs(Number(row["_score"]) - score) <= SAME_SCORE)));
  for (const row of chosen) {
    const at = alike.indexOf(row);
    if (at < 0) assert.deepEqual(actual, expected, shown);
    alike.splice(at, 1);
  }
  assert.equal(chosen.length, rest.length, shown);
  assert.deepEqual([got.count, got.truncated, got.search_mode], [want.count, want.truncated, want.search_mode], shown);
  for (const [index, row] of want.rows.entries()) {
    if (typeof row["_score"] !== "number") continue;
    const [score, own] = [store.score(row["_score"]), Number(got.rows[index]?.["_score"])];
    assert.ok(Math.abs(score - own) <= SAME_SCORE, `${shown}: score ${own} instead of ${score}`);
  }
}

/** What the comparison left out; nothing to say where it was whole. */
function outcomeOf(refused: readonly string[]): string | undefined {
  return refused.length === 0 ? undefined : `ok, without ${refused.join(" and ")}: dates are not compared`;
}

/** Calls every tool of the quickstart on both stores; says which arguments were left out. */
export async function sameAnswersAsEmbedded(store: LiveStore): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-movies-"));
  const open: Connection[] = [];
  try {
    const films = readFilms();
    const embedded = await connect(QUICKSTART, { envFile: await loadMovies(folder) });
    open.push(embedded);
    await store.fill(COLLECTION, films.map(({ n, payload, vector }) => ({ n, vector, payload: store.keep(payload) ?? assert.fail(`record ${n}`) })));
    const { connection, refused } = await connectTo(store);
    open.push(connection);
    const known: Known = { numbers: new Map(films.map(({ id, n }) => [id, n])), columns: new Set(films.flatMap(({ payload }) => Object.keys(payload))) };
    for (const tool of (parse(readFileSync(QUICKSTART, "utf8")) as Catalog).tools) {
      const asked = { ...tool, parameters: tool.parameters?.filter(({ name }) => !refused.includes(name)) ?? [] };
      for (const args of fc.sample(argumentsOf(asked, films), { numRuns: CALLS_OF_EACH, seed: 1977 })) {
        const shown = `${tool.name} ${JSON.stringify(args)}`;
        const want = await embedded.call(tool.name, args);
        const longest = typeof want.rows[0]?.["_score"] === "number" ? await embedded.call(tool.name, { ...args, limit: tool.output?.limit_max }) : want;
        compare(shown, want, longest, await connection.call(tool.name, args), store, known);
      }
    }
    return outcomeOf(refused);
  } finally {
    for (const connection of open) await connection.close();
    rmSync(folder, { recursive: true });
  }
}
