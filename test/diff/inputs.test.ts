/** What arguments restrict, offer and test: changes of these are changes of what callers can read. */
import assert from "node:assert/strict";
import { compile } from "../../generator/compile.js";
import { compareSurfaces } from "../../generator/diff/compare.js";
import { surfaceOf } from "../../generator/diff/surface.js";
import { suite } from "../lib/suite.js";

const test = suite("diff: arguments");

const DOCS = { connection: "main", collection: "docs" };
const BASE = { name: "list_docs", kind: "scroll", description: "List the documents there are. Use when the user wants to browse.", target: DOCS, output: { fields: ["title"], limit_max: 10 } };

type Tool = { readonly [key: string]: unknown };

function surface(tool: Tool, more: object = {}): ReturnType<typeof surfaceOf> {
  const catalog = { tds_version: "2", connections: { main: { backend: "qdrant", url: "http://qdrant:6333" } }, defaults: { embedding: "local/hashing-256" }, ...more, tools: [tool] };
  const { value, diagnostics } = compile({ path: "tools.yaml", text: JSON.stringify(catalog) }, { target: "describe" });
  assert.ok(value, JSON.stringify(diagnostics.filter(({ severity }) => severity === "error")));
  return surfaceOf("tools.yaml", value.plans);
}

/** Subjects of what weakens isolation. */
function weakened(old: Tool, next: Tool, settings: readonly [object, object] = [{}, {}]): readonly string[] {
  return compareSurfaces(surface(old, settings[0]), surface(next, settings[1])).filter((change) => change.class === "isolation-weakening").map(({ subject }) => subject);
}

const withParameter = (...parameters: readonly Tool[]): Tool => ({ ...BASE, parameters });
const pipeline = (retrieve: object, parameter: Tool, ...steps: readonly object[]): Tool => ({ ...BASE, kind: "pipeline", target: undefined, parameters: [parameter], steps: [{ retrieve: { target: DOCS, ...retrieve } }, ...steps, { project: { fields: ["title"] } }] });

type Row = readonly [what: string, old: Tool, next: Tool];

/** Each row weakens isolation, and taken back it does not. */
const BOUNDS: readonly Row[] = [
  ["an argument with a default takes another member", withParameter({ name: "state", path: "state", enum: ["public"], default: "public" }), withParameter({ name: "state", path: "state", enum: ["public", "draft"], default: "public" })],
  ["an argument with members loses its default", withParameter({ name: "state", path: "state", enum: ["public"], default: "public" }), withParameter({ name: "state", path: "state", enum: ["public"] })],
  ["an argument with a default takes any value", withParameter({ name: "state", path: "state", enum: ["public"], default: "public" }), withParameter({ name: "state", path: "state", default: "public" })],
  ["an argument with a default is gone", withParameter({ name: "state", path: "state", enum: ["public"], default: "public" }), withParameter()],
  ["the maximum of a required argument is raised", withParameter({ name: "level", path: "level", dtype: "integer", op: "lte", max: 2, required: true }), withParameter({ name: "level", path: "level", dtype: "integer", op: "lte", max: 5, required: true })],
  ["the maximum of a required argument is gone", withParameter({ name: "level", path: "level", dtype: "integer", op: "eq", max: 2, required: true }), withParameter({ name: "level", path: "level", dtype: "integer", op: "eq", required: true })],
  ["an argument with a maximum may be left out", withParameter({ name: "level", path: "level", dtype: "float", op: "lt", max: 2, required: true }), withParameter({ name: "level", path: "level", dtype: "float", op: "lt", max: 2 })],
  ["a required upper bound has a higher member", withParameter({ name: "level", path: "level", dtype: "integer", op: "lte", enum: [1, 2], required: true }), withParameter({ name: "level", path: "level", dtype: "integer", op: "lte", enum: [1, 2, 3], required: true })],
  ["a required lower bound has a lower member", withParameter({ name: "year", path: "year", dtype: "integer", op: "gte", enum: [2020, 2021], required: true }), withParameter({ name: "year", path: "year", dtype: "integer", op: "gte", enum: [1990, 2020], required: true })],
  ["a required list of groups has another member", withParameter({ name: "groups", path: "groups", dtype: "keyword[]", op: "contains_any", enum: ["staff"], required: true }), withParameter({ name: "groups", path: "groups", dtype: "keyword[]", op: "contains_any", enum: ["staff", "board"], required: true })],
  ["the only value that is left out is another one", withParameter({ name: "not", path: "state", op: "ne", enum: ["draft"], required: true }), withParameter({ name: "not", path: "state", op: "ne", enum: ["final"], required: true })],
  ["a filter's required argument takes another member", pipeline({ filter: { path: "dept", op: "eq", param: "dept" } }, { name: "dept", enum: ["sales"], required: true }), pipeline({ filter: { path: "dept", op: "eq", param: "dept" } }, { name: "dept", enum: ["sales", "hr"], required: true })],
  ["an alternative's required argument takes another member", pipeline({ filter: { or: [{ path: "dept", op: "eq", param: "dept" }, { path: "open", op: "eq", value: true }] } }, { name: "dept", enum: ["sales"], required: true }), pipeline({ filter: { or: [{ path: "dept", op: "eq", param: "dept" }, { path: "open", op: "eq", value: true }] } }, { name: "dept", enum: ["sales", "hr"], required: true })],
  ["an expression's required argument takes another member", pipeline({}, { name: "dept", enum: ["sales"], required: true }, { post_filter: { expr: "dept == params.dept" } }), pipeline({}, { name: "dept", enum: ["sales", "hr"], required: true }, { post_filter: { expr: "dept == params.dept" } })],
  ["an expression's argument has a higher maximum", pipeline({}, { name: "most", dtype: "integer", max: 2, required: true }, { post_filter: { expr: "level <= params.most" } }), pipeline({}, { name: "most", dtype: "integer", max: 9, required: true }, { post_filter: { expr: "level <= params.most" } })],
];

for (const [what, old, next] of BOUNDS) {
  test(`${what}: more rows can be read`, () => {
    assert.deepEqual(weakened(old, next), ["argument"]);
    if (!/only value/.test(what)) assert.deepEqual(weakened(next, old), [], "taken back");
  });
}

test("a new tool keeps to what an argument with a default restricted every tool to, or weakens isolation", () => {
  const old = surface(withParameter({ name: "state", path: "state", enum: ["public"], default: "public" }));
  const next = surface({ ...BASE, name: "all_docs" });
  const both = { ...old, plans: { ...old.plans, ...next.plans }, definitions: [...old.definitions, ...next.definitions] };
  assert.deepEqual(compareSurfaces(old, both).filter((change) => change.class === "isolation-weakening").map(({ tool, subject }) => [tool, subject]), [["all_docs", "guard"]]);
});

const directory = (field: string, more: Tool = {}): Tool => ({ ...BASE, ...more, parameters: [{ name: "who", path: "author", resolve: { kind: "directory", field } }] });

test("a directory of the tool's own collection offers a field that no row carried: isolation is weaker", () => {
  assert.deepEqual(weakened(BASE, directory("salary")), ["directory of who"]);
  assert.deepEqual(weakened({ ...BASE, kind: "count", output: undefined }, { ...directory("title"), kind: "count", output: undefined }), ["directory of who"]);
  assert.deepEqual(weakened(withParameter({ name: "who", path: "author" }), directory("salary")), ["directory of who"]);
  assert.deepEqual(weakened(BASE, directory("title")), [], "rows carried it");
  assert.deepEqual(weakened({ ...BASE, output: { limit_max: 10 } }, directory("salary", { output: { limit_max: 10 } })), [], "rows carried everything");
});

const SECRET = { output: { fields: ["title", "email"], limit_max: 10, redact: [{ path: "email", mode: "mask" }] } };

test("an argument that tests a redacted field lets it be guessed: isolation is weaker", () => {
  const old = { ...BASE, ...SECRET };
  for (const op of ["eq", "text_match", "in"]) assert.deepEqual(weakened(old, { ...old, parameters: [{ name: "mail", path: "email", op }] }), ["argument mail"], op);
  assert.deepEqual(weakened({ ...old, parameters: [{ name: "mail", path: "email" }] }, { ...old, parameters: [{ name: "mail", path: "email", op: "text_match" }] }), ["argument mail"], "another operator");
  assert.deepEqual(weakened({ ...old, parameters: [{ name: "mail", path: "email" }] }, { ...old, parameters: [{ name: "address", path: "email" }] }), [], "another name");
  assert.deepEqual(weakened({ ...BASE, output: { fields: ["title", "email"], limit_max: 10 } }, { ...old, parameters: [{ name: "mail", path: "email" }] }), [], "rows carried it as it is");
  assert.deepEqual(weakened(old, { ...old, parameters: [{ name: "topic", path: "topic" }] }), [], "a field that is not redacted");
});

test("a field that is omitted with the record around it is still omitted", () => {
  const redacts = (...redact: readonly object[]): Tool => ({ ...BASE, output: { limit_max: 10, redact } });
  assert.deepEqual(weakened(redacts({ path: "user.email", mode: "omit" }), redacts({ path: "user", mode: "omit" })), []);
  assert.deepEqual(weakened(redacts({ path: "user.email", mode: "omit" }), redacts({ path: "users", mode: "omit" })), ["redaction"]);
  assert.deepEqual(weakened(redacts({ path: "user", mode: "omit" }), redacts({ path: "user.email", mode: "omit" })), ["redaction"]);
});

test("a tool whose calls the chain leaves out has no access evidence: isolation is weaker", () => {
  const audit = (exclude: readonly string[]): object => ({ observability: { audit: { enabled: true, sink: "file", path: "./audit.jsonl", chain: true, exclude_tools: exclude } } });
  assert.deepEqual(weakened(BASE, BASE, [audit([]), audit(["list_docs"])]), ["observability.audit.chain"]);
  assert.deepEqual(weakened(BASE, BASE, [audit(["list_docs"]), audit([])]), []);
});

test("a field that takes the place of its parts returns parts that nobody listed: isolation is weaker", () => {
  const fields = (...names: readonly string[]): Tool => ({ ...BASE, output: { fields: names, limit_max: 10 } });
  assert.deepEqual(weakened(fields("title", "user.name"), fields("title", "user")), ["output"]);
  assert.deepEqual(weakened(fields("title", "user.name"), fields("title", "user.name", "user")), ["output"]);
  assert.deepEqual(weakened(fields("title", "user"), fields("title", "user.name")), []);
  assert.deepEqual(weakened(fields("title", "user.name"), fields("title", "username")), []);
});

const RERANK = { enabled: true, provider: "http", model: "m", retrieve_k: 20, config: { base_url: "http://rerank" } };

test("rows that are sent to a service that did not get them before: isolation is weaker", () => {
  const search = (rerank?: object): Tool => ({ ...BASE, kind: "search", query: { required: true }, ...(rerank === undefined ? {} : { rerank }) });
  assert.deepEqual(weakened(search(), search(RERANK)), ["rerank"]);
  assert.deepEqual(weakened(search(RERANK), search({ ...RERANK, config: { base_url: "http://elsewhere" } })), ["rerank"]);
  assert.deepEqual(weakened(search(RERANK), search({ ...RERANK, provider: "cohere", config: { api_key: "${KEY}" } })), ["rerank"]);
  assert.deepEqual(weakened(search(RERANK), search({ ...RERANK, retrieve_k: 30, model: "n" })), [], "the same service");
  assert.deepEqual(weakened(search(RERANK), search()), [], "no service");
});

test("a longer text of an argument is an addition, a shorter one breaks who sends more", () => {
  const classes = (old: Tool, next: Tool): readonly string[] => compareSurfaces(surface(old), surface(next)).map((change) => change.class);
  const length = (max_length: number): Tool => withParameter({ name: "a", path: "a", max_length });
  assert.deepEqual([classes(length(10), length(100)), classes(length(100), length(10)), classes(length(10), length(10))], [["additive"], ["breaking"], []]);
});

test.run();
