/** Reranking in calls: what is sent, what an answer does to the rows, and that a failure is only a warning. */
import assert from "node:assert/strict";
import type { Envelope } from "../../runtime/abi/call.js";
import type { Row } from "../../runtime/abi/filter.js";
import type { Json, PlanTable, RedactPlan, RerankPlan } from "../../runtime/abi/plan.js";
import { createEngine } from "../../runtime/call/engine.js";
import { documentOf } from "../../runtime/call/steps/rerank.js";
import { type Answer, reset, type Service, silent, startService, status } from "../embed/service.js";
import { suite } from "../lib/suite.js";
import { caller, memoryAdapter, program } from "./program.js";

const test = suite("reranking");

let service: Service;
test.before(async () => void (service = await startService()));
test.after(() => service.close());

const KEY = "sk-canary-44aa";
const ROWS: readonly Row[] = ["a", "b", "c", "d", "e"].map((name) => ({ _id: name, text: `text of ${name}`, mail: `${name}@example.com`, state: "open" }));

interface Options {
  readonly rerank?: Partial<RerankPlan>;
  readonly config?: { readonly [key: string]: Json };
  readonly rows?: readonly Row[];
  readonly redact?: readonly RedactPlan[];
  readonly fields?: readonly string[];
  readonly query?: string;
  readonly limit?: number;
  readonly deadlineMs?: number;
  readonly pipeline?: boolean;
}

async function called({ rerank = {}, config = {}, rows = ROWS, redact, fields, query = "words", limit = 2, deadlineMs, pipeline = false }: Options = {}): Promise<{ readonly result: Envelope; readonly asked: readonly { readonly limit: number; readonly fields: readonly string[] | null }[]; readonly failures: readonly string[] }> {
  const asked: { readonly limit: number; readonly fields: readonly string[] | null }[] = [];
  const failures: string[] = [];
  const read = { connection: "main", collection: "things", bind: [], query: { arg: "query", required: false, embedding: "default", mode: "dense" } } as const;
  const rest = {
    rerank: { provider: "http", model: "m", retrieve_k: 4, config: { base_url: service.url, api_key: KEY, ...config }, ...rerank } as RerankPlan,
    limit: { arg: "limit", default: limit, max: 5 }, output: { id: true, score: false, ...(redact === undefined ? {} : { redact }), ...(fields === undefined ? {} : { fields }) },
  };
  const plans: PlanTable = {
    find: pipeline ? { kind: "pipeline", retrieve: { ...read, overfetch_factor: 1, max_candidates: 20 }, steps: [{ kind: "project", fields: ["text", "_id"] }], ...rest } : { kind: "search", ...read, ...rest },
  };
  const adapter = memoryAdapter(rows, { search: async (request) => (asked.push({ limit: request.limit, fields: request.fields }), { rows: rows.slice(0, request.limit), exact: true }) });
  const engine = createEngine(program({ plans, adapter }), { env: new Map(), degraded: (code, error) => failures.push(`${code}: ${String(error)}`) });
  const result = await engine.call("find", { query }, caller({}, deadlineMs === undefined ? {} : { deadlineMs }));
  await engine.close();
  assert.ok(!failures.join().includes(KEY));
  return { result, asked, failures };
}

const ids = ({ rows }: Envelope): unknown => rows.map(({ _id }) => _id).join("");

test("http gets query, documents and model of retrieve_k rows, and its order is the order of the rows", async () => {
  service.answer({ results: [{ index: 3, relevance_score: 0.9 }, { index: 0, relevance_score: 0.2 }, { index: 1, relevance_score: 0.1 }] });
  const { result, asked } = await called();
  assert.deepEqual([ids(result), asked], ["da", [{ limit: 4, fields: null }]]);
  assert.deepEqual([service.asked[0]?.body, service.asked[0]?.headers.authorization], [{ query: "words", documents: ["text of a", "text of b", "text of c", "text of d"], model: "m" }, `Bearer ${KEY}`]);
  assert.deepEqual(result.warnings, []);
});

test("hosted_alt asks /v2/rerank with its key", async () => {
  service.answer({ id: "1", results: [{ index: 1, relevance_score: 0.99 }, { index: 0, relevance_score: 0.3 }], meta: {} });
  const { result } = await called({ rerank: { provider: "hosted_alt", model: "rerank-v3.5" }, limit: 1 });
  const [{ path, headers, body } = assert.fail("not asked")] = service.asked;
  assert.deepEqual([ids(result), path, headers.authorization, body["model"]], ["b", "/v2/rerank", `Bearer ${KEY}`, "rerank-v3.5"]);
});

test("answers name indexes in either form; what is no index counts for nothing, and rows not named are dropped", async () => {
  const table: readonly (readonly [string, Answer, string, readonly string[]])[] = [
    ["numbers", { indexes: [2, 0] }, "ca", []],
    ["objects", { indexes: [{ index: 1 }] }, "b", []],
    ["out of range, twice, fractions, texts", { results: [9, -1, 1.5, "2", null, { index: 3 }, 3, { index: 0 }] }, "da", []],
    ["an empty list changes nothing", { results: [] }, "abcd", []],
    ["no list", { scores: [1, 2] }, "abcd", ["VB4031"]],
    ["a list", [1, 0], "abcd", ["VB4031"]],
    ["no index of a document", { results: [77] }, "abcd", ["VB4031"]],
  ];
  for (const [what, answer, want, warnings] of table) {
    service.answer(answer);
    const { result } = await called({ limit: 4 });
    assert.deepEqual([ids(result), result.warnings], [want, warnings], what);
  }
});

test("whatever goes wrong, rows keep the order of the search and VB4031 is a warning of the result", async () => {
  for (const [what, answer] of [["500", status(500)], ["429", status(429)], ["401", status(401)], ["no JSON", status(200, "nothing")], ["a broken connection", reset]] as const) {
    service.answer(answer);
    const { result, failures } = await called();
    assert.deepEqual([ids(result), result.warnings, failures.length, service.asked.length], ["ab", ["VB4031"], 1, 1], what);
  }
  assert.deepEqual((await called({ config: { base_url: "no address" } })).result.warnings, ["VB4031"]);
});

test("a reranker that hangs leaves the call time to answer", async () => {
  service.answer(silent);
  const { result } = await called({ deadlineMs: 900 });
  assert.deepEqual([ids(result), result.warnings], ["ab", ["VB4031"]]);
});

test("a redacted value never reaches the reranker, and is redacted once in the result", async () => {
  service.answer({ results: [1, 0] });
  const rows = [{ _id: "a", mail: "ann@example.com", note: "one" }, { _id: "b", mail: "bob@example.com", note: "two" }];
  const { result } = await called({ rows, redact: [{ path: "mail", mode: "hash" }, { path: "note", mode: "omit" }] });
  const sent = JSON.stringify(service.asked[0]?.body);
  for (const secret of ["ann@", "bob@", "one", "two"]) assert.ok(!sent.includes(secret), sent);
  assert.deepEqual(result.rows, [{ mail: "5ff860bf", _id: "b" }, { mail: result.rows[1]?.["mail"], _id: "a" }]);
  assert.ok(sent.includes("5ff860bf"));
});

test("a field that is not returned still tells the reranker what a row is about", async () => {
  service.answer({ results: [1, 0] });
  const { result, asked } = await called({ fields: ["state"] });
  assert.deepEqual([(service.asked[0]?.body["documents"] as readonly string[])[0], asked[0]?.fields], ["text of a", null]);
  assert.deepEqual(result.rows, [{ state: "open", _id: "b" }, { state: "open", _id: "a" }]);
});

test("without a text, and without rows, nobody is asked", async () => {
  service.answer({ results: [1, 0] });
  assert.equal(ids((await called({ query: "" })).result), "ab");
  assert.equal(ids((await called({ rows: [] })).result), "");
  assert.equal(service.asked.length, 0);
});

test("a pipeline reranks its candidates before its steps, and the rest follows as it was", async () => {
  service.answer({ results: [3, 1] });
  const { result, asked } = await called({ pipeline: true, limit: 5 });
  assert.deepEqual([ids(result), asked.map(({ limit }) => limit)], ["dbe", [5, 15]]);
});

test("the text of a row is the first usual field that has one, else all of its values", () => {
  const table: readonly (readonly [Row, string])[] = [
    [{ title: "t", body: "b", text: "" }, "b"], [{ text: "x", _document: "y" }, "x"], [{ _document: "y", title: "z" }, "y"],
    [{ _id: 5, a: "x", b: null, _score: 0.5, n: 3, list: ["p"] }, 'x 3 ["p"]'], [{ text: 7, title: "t" }, "t"], [{ _id: 1 }, ""],
    [{ text: `${"x".repeat(9999)}\u{1f600}` }, `${"x".repeat(9999)}\ufffd`],
  ];
  for (const [row, want] of table) assert.equal(documentOf(row), want);
});

test.run();
