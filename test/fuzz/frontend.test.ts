/**
 * Hostile input for phases 1 to 4 and the guard: never an exception, always a position, never slow.
 * FUZZ_RUNS multiplies the runs of each property; the default keeps the file under five seconds.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import fc from "fast-check";
import { compile } from "../../generator/compile.js";
import { locateAll } from "../../generator/diagnostics.js";
import { parseExpression } from "../../generator/expression.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { HEAD } from "../phases/source.js";

const test = suite("fuzz: front end");
const RUNS = Number(process.env["FUZZ_RUNS"] ?? "1");
const LIMIT_MS = 2_000;

/** Codes that blame the whole file. */
const WITHOUT_PLACE = new Set(["TS0003", "TS0004"]);

/** Compiles, and holds what must hold for any text. */
function survives(text: string): void {
  const started = performance.now();
  const env = new Map([["A", "x"]]);
  for (const options of [{ target: "describe", env }, { target: "serve" }] as const) {
    const { value, diagnostics, source } = compile({ path: "t.yaml", text }, options);
    const located = locateAll(diagnostics, source);
    const lines = text.split(/\r\n|\n|\r/).length;
    for (const { code, line, column, message, severity } of located) {
      assert.ok(WITHOUT_PLACE.has(code) || (line !== null && column !== null && line >= 1 && line <= lines + 1), `${code} has no place: ${message}`);
      assert.ok(!/undefined|\[object|NaN/.test(message) || text.includes("undefined") || text.includes("NaN"), message);
      assert.ok(severity !== "error" || value === null, "no error compiles");
    }
    if (value === null) assert.ok(located.some(({ severity }) => severity === "error"), "what does not compile has an error");
  }
  const tookMs = performance.now() - started;
  assert.ok(tookMs < LIMIT_MS * 2, `${Math.round(tookMs)} ms for two compilations`);
}

/** Real catalogs: the examples and the golden cases. */
const catalogs = ["specs/examples", "test/golden/diagnostics"]
  .flatMap((home) => readdirSync(repo(home)).map((folder) => repo(home, folder, "tools.yaml")))
  .filter((path) => existsSync(path))
  .map((path) => readFileSync(path, "utf8"))
  .filter((text) => text.length < 10_000);

const bits = fc.oneof(
  fc.constantFrom("\t", "  ", "- ", ": ", "{", "}", "[", "]", "&a ", "*a", "<<: ", "|\n", "> ", "'", '"', "#", "---\n", "!!int ", "${A}", "${B:-x}", "null", "on", "0144", "1:30", ".inf", "\0", "\uFEFF", "\u2028", "\ud800", "\r\n", "% ", "? ", "...\n"),
  fc.string({ maxLength: 5, unit: "binary" }),
);

interface Edit {
  readonly at: number;
  readonly cut: number;
  readonly put: string;
}

const edits = fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat({ max: 40 }), put: bits }), { minLength: 1, maxLength: 4 });

function edited(text: string, changes: readonly Edit[]): string {
  return changes.reduce((before, { at, cut, put }) => {
    const start = Math.floor(at * before.length);
    return before.slice(0, start) + put + before.slice(start + cut);
  }, text);
}

test("random texts", () => {
  fc.assert(fc.property(fc.array(bits, { maxLength: 40 }).map((parts) => parts.join("")), survives), { numRuns: 60 * RUNS });
});

test("real catalogs with random edits", () => {
  fc.assert(fc.property(fc.constantFrom(...catalogs), edits, (text, changes) => survives(edited(text, changes))), { numRuns: 60 * RUNS });
});

test("real catalogs with lines dropped, doubled and swapped", () => {
  const moves = fc.array(fc.tuple(fc.constantFrom("drop", "double", "swap", "indent"), fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(fc.constantFrom(...catalogs), moves, (text, steps) => {
    const lines = text.split("\n");
    for (const [what, where] of steps) {
      const at = Math.floor(where * lines.length);
      const line = lines[at] ?? "";
      if (what === "drop") lines.splice(at, 1);
      else if (what === "double") lines.splice(at, 0, line);
      else if (what === "indent") lines.splice(at, 1, `  ${line}`);
      else lines.splice(at, 2, lines[at + 1] ?? "", line);
    }
    survives(lines.join("\n"));
  }), { numRuns: 60 * RUNS });
});

test("catalogs of the right shape with wrong values", () => {
  const words = fc.constantFrom("main", "other", "articles", "a.b", "a.b.c.d", "", "on", "params.x", "${A}", "x > 1", "\u{1F600}", "__proto__", "constructor");
  const any = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 2 }, words, fc.integer(), fc.boolean(), fc.constant(null), fc.double(), fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(words, tie("value"), { maxKeys: 3 })),
  })).value;
  const some = <T>(model: { [K in keyof T]: fc.Arbitrary<unknown> }): fc.Arbitrary<unknown> => fc.record(model as never, { requiredKeys: [] });
  const or = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: any });
  const conditions = or(fc.array(some({ path: or(words), op: or(fc.constantFrom("eq", "in", "like", "exists")), value: any, param: words }), { maxLength: 3 }));
  const query = or(some({ param: words, required: any, embedding: any, mode: or(fc.constantFrom("dense", "hybrid")), alpha: any, min_score: any, ef: any, expand: any }));
  const target = or(fc.record({ connection: or(fc.constant("main")), collection: or(fc.constant("articles")) }));
  const steps = or(fc.array(some({ retrieve: or(some({ target, query, filter: conditions, fetch: any })), post_filter: or(some({ expr: words })), group_by: or(some({ keys: any, per_group: any })), sort: any, project: any }), { maxLength: 3 }));
  const tool = some({
    name: or(fc.constantFrom("find_it", "count_it")), description: or(fc.constant("Search the articles by meaning, for questions about them.")), kind: or(fc.constantFrom("search", "lookup", "count", "scroll", "pipeline", "meta")),
    target, query, steps, static_filters: or(fc.oneof(conditions, some({ must: conditions, must_not: conditions }))), output: any, rerank: any,
    parameters: or(fc.array(some({ name: or(words), path: or(words), dtype: or(fc.constantFrom("integer", "keyword[]")), op: or(fc.constantFrom("eq", "in", "gte")), enum: any, default: any, max: any, resolve: any }), { maxLength: 3 })),
  });
  const backends = fc.constantFrom<object>({ backend: "sqlite", path: "a" }, { backend: "qdrant", url: "u" }, { backend: "pinecone", api_key: "k", host: "h" }, { backend: "pgvector", dsn: "d" });
  const catalog = some({
    tds_version: or(fc.constantFrom("1", "2")), defaults: any, tools: or(fc.array(tool, { maxLength: 3 })), security: or(some({ tenancy: any, rbac: any, rate_limit: any })), profiles: any, observability: any, meta: any,
    connections: or(fc.record({ main: or(fc.tuple(backends, fc.oneof(fc.constant({}), some({ builtin_tools: any, builtin_defaults: any, credentials: any }))).map(([a, b]) => Object.assign({}, a, b))) })),
  });
  fc.assert(fc.property(catalog, (value) => survives(JSON.stringify(value))), { numRuns: 100 * RUNS });
});

test("expressions of any text parse or say where they do not", () => {
  const parts = fc.array(fc.oneof(fc.constantFrom("(", ")", "and", "or", "not", "-", "+", "*", "/", "==", "<", "params.", "a.b", "'", '"', "\\", "1e9", ".5", "null", " ", "é", "\u2028", "__proto__"), fc.string({ maxLength: 3 })), { maxLength: 30 });
  fc.assert(fc.property(parts.map((some) => some.join(" ")), (text) => {
    const parsed = parseExpression(text);
    if ("error" in parsed) assert.ok(parsed.offset >= 0 && parsed.offset <= text.length && parsed.error !== "");
    survives(`${HEAD}tools:\n  - name: find_it\n    kind: pipeline\n    description: The best articles of each author, for an overview.\n    steps:\n      - retrieve: { target: { connection: main, collection: c } }\n      - post_filter: { expr: ${JSON.stringify(text)} }\n`);
  }), { numRuns: 40 * RUNS });
  for (const text of ["(".repeat(100_000), "not ".repeat(100_000), "-".repeat(100_000), `${"(".repeat(60)}1${")".repeat(60)}`, "1 + ".repeat(50_000) + "1"]) parseExpression(text);
});

test.run();
