/** Query expansion in calls: which phrases are searched, how results are merged, and that a failure is only a warning. */
import assert from "node:assert/strict";
import type { Envelope } from "../../runtime/abi/call.js";
import type { Row } from "../../runtime/abi/filter.js";
import type { Json, PlanTable } from "../../runtime/abi/plan.js";
import type { SearchRequest } from "../../runtime/adapters/adapter.js";
import { createEngine, type EngineOptions } from "../../runtime/call/engine.js";
import { mergeRows } from "../../runtime/call/steps/expand.js";
import { parseFenced, readPhrases } from "../../runtime/expand/phrases.js";
import { type Answer, reset, type Service, silent, startService, status } from "../embed/service.js";
import { suite } from "../lib/suite.js";
import { caller, memoryAdapter, program } from "./program.js";

const test = suite("query expansion");

let service: Service;
test.before(async () => void (service = await startService()));
test.after(() => service.close());

const KEY = "sk-canary-e0e0";

interface Called {
  readonly result: Envelope;
  readonly searched: readonly SearchRequest[];
  readonly failures: readonly string[];
}

/** Calls `find` once for each text, on one engine; `rows` are what the store finds for a text. */
async function calls(expand: { readonly provider: "http" | "hosted"; readonly variants?: number; readonly config?: { readonly [key: string]: Json } }, texts: readonly string[], options: { readonly rows?: (text: string) => readonly Row[]; readonly deadlineMs?: number; readonly debug?: boolean; readonly engine?: Partial<EngineOptions>; readonly minScore?: number } = {}): Promise<readonly Called[]> {
  const searched: SearchRequest[] = [];
  const failures: string[] = [];
  const plans: PlanTable = {
    find: {
      kind: "search", connection: "main", collection: "things", bind: [], guard: { path: "state", op: "eq", value: "open" },
      query: { arg: "query", required: false, embedding: "default", mode: "dense", ...(options.minScore === undefined ? {} : { min_score: options.minScore }), expand: { variants: 3, ...expand, config: { base_url: service.url, api_key: KEY, ...expand.config } } },
      limit: { arg: "limit", default: 3, max: 5 }, output: { id: true, score: true },
    },
  };
  const adapter = memoryAdapter([], { search: async (request) => (searched.push(request), { rows: options.rows?.(request.text ?? "") ?? [], exact: true }) });
  const engine = createEngine(program({ plans, adapter }), { env: new Map(), degraded: (code, error) => failures.push(`${code}: ${String(error)}`), ...options.engine });
  const results: Called[] = [];
  for (const text of texts) {
    searched.length = 0;
    const result = await engine.call("find", { query: text }, caller({}, { debug: options.debug === true, ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }) }));
    results.push({ result, searched: [...searched], failures: [...failures] });
  }
  await engine.close();
  assert.ok(!failures.join().includes(KEY));
  return results;
}

const only = async (...args: Parameters<typeof calls>): Promise<Called> => (await calls(...args))[0] ?? assert.fail("no call");

test("http posts the query and how many variants; each phrase is searched under the same guard", async () => {
  service.answer(["a helmet", " lost property ", "", "a helmet", "query", 7]);
  const { result, searched } = await only({ provider: "http", config: { url: "unused" } }, ["query"]);
  assert.deepEqual([service.asked[0]?.body, service.asked[0]?.headers.authorization], [{ query: "query", variants: 3 }, `Bearer ${KEY}`]);
  assert.deepEqual(searched.map(({ text }) => text), ["query", "a helmet", "lost property"]);
  assert.ok(searched.every(({ filter, limit }) => JSON.stringify(filter) === '{"path":"state","op":"eq","value":"open","fixed":true}' && limit === 3));
  assert.equal(new Set(searched.map(({ vector }) => String(vector))).size, 3);
  assert.deepEqual(result.warnings, []);
});

test("hosted asks a chat model once, with the prompt of the catalog, and reads JSON with or without a fence", async () => {
  const content = '```json\n{"queries": ["two", "three"]}\n```';
  service.answer({ choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] });
  const { searched } = await only({ provider: "hosted", variants: 2, config: { base_url: `${service.url}/v1/`, prompt: "{variants}x {query} {other}" } }, ["$& {query}"]);
  const [{ path, body, headers } = assert.fail("not asked")] = service.asked;
  assert.deepEqual([path, body, headers.authorization], ["/v1/chat/completions", { model: "gpt-4o-mini", messages: [{ role: "user", content: "2x $& {query} {other}" }] }, `Bearer ${KEY}`]);
  assert.deepEqual(searched.map(({ text }) => text), ["$& {query}", "two", "three"]);
});

test("phrases are read from a list, or from an object with phrases, variants or queries; from anything else none are", () => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    ['["a","b"]', ["a", "b"]], ['```\n["a"]\n```', ["a"]], ['```json\n["a"]\n```', ["a"]], ['{"queries":["q"]}', ["q"]], ['{"phrases":["p"]}', ["p"]], ['{"variants":["v"]}', ["v"]],
    ['{"x":1}', []], ["3", []], ["null", []], ['[["a"],{"b":1},null,"c"]', ["c"]], ['["1","2","3","4"]', ["1", "2", "3"]],
  ];
  for (const [text, want] of table) assert.deepEqual(readPhrases(parseFenced(text), 3), want, text);
  assert.equal(readPhrases(["x".repeat(100_000)], 3)[0]?.length, 1024);
});

test("results are merged by id with the best score, best first, and cut to the limit", async () => {
  const found: { readonly [text: string]: readonly Row[] } = {
    query: [{ _id: "1", _score: 0.5 }, { _id: "2", _score: 0.4 }],
    other: [{ _id: "2", _score: 0.9 }, { _id: "3", _score: 0.45 }, { _id: "4", _score: 0.1 }],
  };
  service.answer(["other"]);
  const { result } = await only({ provider: "http" }, ["query"], { rows: (text) => found[text] ?? [] });
  assert.deepEqual(result.rows, [{ _score: 0.9, _id: "2" }, { _score: 0.5, _id: "1" }, { _score: 0.45, _id: "3" }]);
  service.answer(["other"]);
  const strict = await only({ provider: "http" }, ["query"], { rows: (text) => found[text] ?? [], minScore: 0.5 });
  assert.deepEqual(strict.result.rows.map(({ _id }) => _id), ["2", "1"]);
});

test("rows without an id are never taken for one another, and those without a score come last", () => {
  const a = { text: "a" };
  const b = { text: "b" };
  assert.deepEqual(mergeRows([[a, { _id: 1, _score: 0.2 }], [b, { _id: "1", _score: 0.3 }]], 9), [{ _id: "1", _score: 0.3 }, { _id: 1, _score: 0.2 }, a, b]);
});

test("whatever goes wrong, the query itself is searched and VB4030 is a warning of the result", async () => {
  const chat = (content: unknown): Answer => ({ choices: [{ message: { content } }] });
  const table: readonly (readonly [string, "http" | "hosted", Answer])[] = [
    ["500", "http", status(500)], ["429", "hosted", status(429)], ["401", "http", status(401)], ["a redirect", "http", status(302, "", { location: "/" })], ["no JSON", "http", status(200, "<html>")],
    ["a broken connection", "http", reset], ["a message that is not JSON", "hosted", chat("Sure! Here are some")], ["no message", "hosted", { choices: [] }], ["a message of another type", "hosted", chat({ a: 1 })],
  ];
  for (const [what, provider, answer] of table) {
    service.answer(answer);
    const { result, searched, failures } = await only({ provider }, ["query"], { rows: () => [{ _id: "1", _score: 1 }] });
    assert.deepEqual([result.warnings, result.count, searched.map(({ text }) => text)], [["VB4030"], 1, ["query"]], what);
    assert.deepEqual([failures.length, service.asked.length], [1, 1], what);
  }
  const unusable = await only({ provider: "http", config: { base_url: "no address" } }, ["query"]);
  assert.deepEqual(unusable.result.warnings, ["VB4030"]);
});

test("an answer without phrases is no failure", async () => {
  service.answer({ x: 1 });
  const { result, searched } = await only({ provider: "http" }, ["query"]);
  assert.deepEqual([result.warnings, searched.length], [[], 1]);
});

test("a provider that hangs takes a third of the call's time and no more", async () => {
  service.answer(silent);
  const { result } = await only({ provider: "http" }, ["query"], { rows: () => [{ _id: "1", _score: 1 }], deadlineMs: 1500 });
  assert.deepEqual([result.warnings, result.count], [["VB4030"], 1]);
});

test("a provider that stays down is reported once, and again after it has worked", async () => {
  service.answer(status(500), status(500), ["x"], status(500));
  const seen = await calls({ provider: "http" }, ["a", "b", "c", "d"]);
  assert.deepEqual(seen.map(({ failures }) => failures.length), [1, 1, 1, 2]);
});

test("a call without a text expands nothing", async () => {
  service.answer(["x"]);
  const { searched } = await only({ provider: "http" }, [""]);
  assert.deepEqual([searched, service.asked], [[], []]);
});

test("--show-plan has the query of each variant", async () => {
  service.answer(["other"]);
  const { result } = await only({ provider: "http" }, ["query"], { debug: true });
  assert.deepEqual((result.compiled_query as readonly { readonly search: { readonly text: string } }[]).map(({ search }) => search.text), ["query", "other"]);
});

test.run();
