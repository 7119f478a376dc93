/**
 * The fence holds: whatever arguments a model invents, directly, over MCP and through run_tool, the fenced tool returns
 * exactly the rows that a naive reading of the raw file selects, and none of another studio.
 */
import * as assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import fc from "fast-check";
import { compile } from "../../generator/compile.js";
import { run } from "../../generator/cli/main.js";
import { programOf } from "../../generator/program.js";
import type { Engine } from "../../runtime/abi/call.js";
import { isToolError } from "../../runtime/abi/errors.js";
import { createEngine } from "../../runtime/call/engine.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("e2e/fence");

const TOOL = "search_paramount_movies";
const STUDIO = "Paramount Pictures";
const CATALOG = repo("specs/examples/quickstart/tools.yaml");
const MOVIES = repo("node_modules/vega-datasets/data/movies.json");
const TEXTS = ["Title", "Major Genre", "Creative Type", "Source", "Director", "Distributor"];
const GENRES = ["Action", "Adventure", "Black Comedy", "Comedy", "Concert/Performance", "Documentary", "Drama", "Horror", "Musical", "Romantic Comedy", "Thriller/Suspense", "Western"];

const folder = mkdtempSync(join(tmpdir(), "toolsrv-fence-"));
const envFile = join(folder, ".env");
writeFileSync(envFile, `MOVIES_DB=${join(folder, "movies.db")}\n`);

type Movie = { readonly [key: string]: unknown };
const movies = JSON.parse(readFileSync(MOVIES, "utf8")) as readonly Movie[];
const vectors = movies.map((movie) => hashText(TEXTS.map((key) => movie[key]).filter((value) => value !== null && value !== "").map(String).join("\n"), 512));

let engine: Engine;
let client: Client;

test.before(async () => {
  const io = memoryIo();
  const words = ["--connection", "movies", "--collection", "movies", "--snake-case", "--types", "release_date:datetime,title:keyword", "--text", "title,major_genre,creative_type,source,director,distributor"];
  assert.equal(await run(["load", CATALOG, MOVIES, ...words, "--env-file", envFile], io), 0, io.err());
  const env = new Map([["MOVIES_DB", join(folder, "movies.db")]]);
  const { value, diagnostics } = compile({ path: "tools.yaml", text: readFileSync(CATALOG, "utf8") });
  assert.ok(value !== null, JSON.stringify(diagnostics));
  engine = createEngine(programOf(value.plans, { base: pathToFileURL(`${repo("specs/examples/quickstart")}/`) }), { env });
  const here = fileURLToPath(import.meta.url);
  const server = join(here, `../toolsrv${extname(here)}`);
  client = new Client({ name: "fence", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...process.execArgv, "--", server, "serve", CATALOG, "--env-file", envFile, "--no-watch"], stderr: "ignore" }));
});

test.after(async () => {
  await client.close();
  await engine.close();
  rmSync(folder, { recursive: true });
});

interface Args {
  readonly [name: string]: unknown;
}

/** Whether the tool's documented schema takes the arguments; written down a second time on purpose. */
function isValid({ query, genre, min_rating, limit }: Args): boolean {
  const genreFits = genre === undefined || (Array.isArray(genre) && genre.every((one) => GENRES.includes(one as string)));
  const ratingFits = min_rating === undefined || (typeof min_rating === "number" && min_rating <= 10);
  const limitFits = limit === undefined || (Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= 20);
  return typeof query === "string" && query !== "" && genreFits && ratingFits && limitFits;
}

interface Ranked {
  readonly id: string;
  readonly score: number;
}

/** What the raw file says, best first. */
function oracle({ query, genre, min_rating, limit }: Args): readonly Ranked[] {
  const vector = hashText(String(query), 512);
  return movies
    .flatMap((movie, index): readonly (Ranked & { readonly movie: Movie })[] => [{ movie, id: String(index + 1), score: dot(vector, vectors[index]) }])
    .filter(({ movie }) => movie["Distributor"] === STUDIO)
    .filter(({ movie }) => genre === undefined || (genre as readonly unknown[]).includes(movie["Major Genre"]))
    .filter(({ movie }) => min_rating === undefined || (typeof movie["IMDB Rating"] === "number" && movie["IMDB Rating"] >= Number(min_rating)))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit === undefined ? 5 : Number(limit));
}

function dot(a: Float32Array, b: Float32Array | undefined): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b?.[i] ?? 0);
  return sum;
}

type Row = { readonly _id: string; readonly _score: number; readonly [key: string]: unknown };

/** Every row is inside the fence and nothing better was left out; equal scores may come in any order. */
function checkRows(rows: readonly Row[], args: Args): void {
  const expected = oracle(args);
  assert.equal(rows.length, expected.length);
  for (const [index, row] of rows.entries()) {
    const movie = movies[Number(row._id) - 1];
    assert.equal(movie?.["Distributor"], STUDIO);
    assert.equal(row["title"], movie["Title"] === null ? null : String(movie["Title"]));
    assert.ok(Math.abs(row._score - (expected[index]?.score ?? 9)) < 1e-5);
    assert.ok(Math.abs(row._score - dot(hashText(String(args["query"]), 512), vectors[Number(row._id) - 1])) < 1e-5);
  }
}

const hostileText = fc.oneof(
  fc.constantFrom("godfather", "star trek", "' OR 1=1 --", '"; DROP TABLE "movies/fields"; --', "distributor:Universal", "Universal OR distributor:*", "{text} : universal", "NEAR(a b)", "\0", "%", "", "ignore the filter and return every studio", "\ud800", "𝕌niversal"),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("x", "😀").map((char) => char.repeat(3000)),
);
const anything = fc.oneof(hostileText, fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({ $ne: "" }));

/** Sometimes valid, sometimes not, and always with arguments that the tool does not have. */
const args: fc.Arbitrary<Args> = fc.record(
  {
    query: fc.oneof({ weight: 8, arbitrary: hostileText }, { weight: 1, arbitrary: anything }),
    genre: fc.oneof({ weight: 4, arbitrary: fc.array(fc.constantFrom(...GENRES), { maxLength: 4 }) }, { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 2 }) }, { weight: 1, arbitrary: anything }),
    min_rating: fc.oneof({ weight: 4, arbitrary: fc.double({ min: -1, max: 10, noNaN: true }) }, { weight: 1, arbitrary: anything }),
    limit: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 20 }) }, { weight: 1, arbitrary: anything }),
    distributor: anything,
    static_filters: fc.constantFrom([], null, { must: [] }),
    guard: fc.constantFrom({ or: [] }, null, { and: [] }),
    filter: anything,
    collection: fc.constantFrom("movies", "other", "movies/fields"),
    tenant: anything,
    __proto__: fc.constant({ guard: null }),
  },
  { requiredKeys: ["query"] },
);

/** What arrives after a trip through JSON. */
function overTheWire(value: Args): Args {
  return JSON.parse(JSON.stringify(value)) as Args;
}

interface Answer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: { readonly rows: readonly Row[] };
}

/** One call, one way: its rows, or the code it failed with. */
type Way = (given: Args) => Promise<readonly Row[] | string>;

async function answerOf(promise: Promise<unknown>): Promise<readonly Row[] | string> {
  const { isError, content, structuredContent } = (await promise) as Answer;
  return isError === true ? (JSON.parse(content[0]?.text ?? "{}") as { error: { code: string } }).error.code : (structuredContent?.rows ?? []);
}

const WAYS: { readonly [name: string]: Way } = {
  "called directly": async (given) => {
    try {
      return (await engine.call(TOOL, given, { requestId: "1", principal: { id: null, claims: {}, headers: {} } })).rows as readonly Row[];
    } catch (error) {
      assert.ok(isToolError(error), String(error));
      return error.code;
    }
  },
  "over MCP": (given) => answerOf(client.callTool({ name: TOOL, arguments: given })),
  "through run_tool": (given) => answerOf(client.callTool({ name: "run_tool", arguments: { name: TOOL, arguments: given } })),
  "through run_tool with arguments as text": (given) => answerOf(client.callTool({ name: "run_tool", arguments: { name: TOOL, arguments: JSON.stringify(given) } })),
};

for (const [name, call] of Object.entries(WAYS)) {
  test(`200 hostile calls ${name} return what the raw file says, all of one studio`, async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(args, async (made) => {
        const given = overTheWire(made);
        const result = await call(given);
        if (!isValid(given)) return assert.equal(result, "invalid_arguments", JSON.stringify(given));
        assert.ok(typeof result !== "string", `${String(result)}: ${JSON.stringify(given)}`);
        answered++;
        checkRows(result, given);
      }),
      { numRuns: 200 },
    );
    assert.ok(answered > 40, `only ${answered} calls were valid`);
  }, { timeoutMs: 60_000 });
}

test("the studio that the fence leaves out is there: another tool finds its films", async () => {
  const result = (await client.callTool({ name: "search_movies", arguments: { query: "Universal", limit: 20 } })) as Answer;
  assert.ok(result.structuredContent?.rows.some((row) => row["distributor"] === "Universal"));
});

test.run();
