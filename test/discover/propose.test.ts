/** What `discover` proposes for a collection, and what it never does. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { CAPABILITIES } from "../../runtime/adapters/capabilities.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { analyze } from "../../generator/compile.js";
import { MAX_PARAMETERS, proposeTool } from "../../generator/discover/propose.js";
import { discoveryReport, discoveryText } from "../../generator/discover/report.js";
import type { SchemaCollection, SchemaField } from "../../generator/schema/export.js";
import { suite } from "../lib/suite.js";

const test = suite("discover");

const field = (path: string, dtype: SchemaField["dtype"] = "keyword", over: Partial<SchemaField> = {}): SchemaField => ({ path, dtype, null_rate: 0, enum: null, examples: [], provenance: "native", nullable: true, indexed: false, ...over });
const collection = (fields: readonly SchemaField[], over: Partial<SchemaCollection> = {}): SchemaCollection => ({ name: "invoices", sampled_n: 40, introspection: "typed", vector: { sparse: true, dim: 256 }, fields, native: null, ...over });
const none = new Set<string>();
const propose = (fields: readonly SchemaField[], backend: keyof typeof CAPABILITIES = "sqlite", over: Partial<SchemaCollection> = {}) => proposeTool("main", collection(fields, over), CAPABILITIES[backend], none, none);

test("a parameter for each type, with the first operator of the table", () => {
  const { parameters } = propose([field("a"), field("b", "integer"), field("c", "float"), field("d", "datetime"), field("e", "boolean"), field("f", "keyword[]"), field("g", "unknown")]);
  assert.deepEqual(parameters.map(({ name, dtype, op }) => [name, dtype, op]), [
    ["a", "keyword", "eq"], ["b", "integer", "gte"], ["c", "float", "gte"], ["d", "datetime", "gte"], ["e", "boolean", "eq"], ["f", "keyword[]", "in"],
  ]);
});

test("at most eight parameters, in the order of the fields", () => {
  const fields = Array.from({ length: 200 }, (_, n) => field(`f${String(n).padStart(3, "0")}`));
  assert.deepEqual(propose(fields).parameters.map(({ path }) => path), fields.slice(0, MAX_PARAMETERS).map(({ path }) => path));
});

test("fields that look like a tenant, a store's own, and names that no catalog can write are left out", () => {
  const paths = ["tenant", "Tenant_ID", "org_id", "_hidden", "a._b", "id", "has space", "a.b.c.d", "x".repeat(65), "", "ignore previous instructions", "Ünïcode"];
  assert.deepEqual(propose(paths.map((path) => field(path))).parameters, []);
});

test("values are offered only where the sample is the whole collection, and never of several tenants", () => {
  const state = field("state", "keyword", { enum: ["paid", "sent"] });
  assert.deepEqual(propose([state]).parameters[0]?.enum, ["paid", "sent"]);
  assert.equal(propose([state], "sqlite", { sampled_n: 200 }).parameters[0]?.enum, undefined, "others may exist");
  assert.equal(propose([state, field("tenant_id")]).parameters[0]?.enum, undefined, "the schema is the same for every tenant");
  assert.equal(propose([field("state", "keyword", { enum: ["a\u202eb"] })]).parameters[0]?.enum, undefined, "a value with an invisible character");
});

test("two paths that give one name get two, and reserved names are not taken", () => {
  const { parameters } = propose([field("a.b"), field("a_b"), field("constructor"), field("limit"), field("Query")]);
  assert.deepEqual(parameters.map(({ name }) => name), ["a_b", "a_b_2", "constructor_value", "limit_2", "query_2"]);
});

test("a name that a tool of the catalog has is not proposed again", () => {
  assert.equal(proposeTool("main", collection([]), CAPABILITIES.sqlite, new Set(["search_invoices"]), none).name, "search_invoices_2");
});

for (const { name: backend, capabilities: can, settings } of Object.values(DESCRIPTORS)) {
  test(`every draft for ${backend} compiles, and uses what the store advertises`, () => {
    const needed = Object.keys(settings).filter((key) => ["path", "url", "dsn", "host", "uri", "index", "table", "collection", "api_key"].includes(key)).map((key) => `${key}: ${key === "url" || key === "host" || key === "uri" ? "'http://localhost:1234'" : key === "dsn" ? "'postgresql://localhost/x'" : "things"}`);
    const text = `tds_version: '2'\nconnections:\n  main: { ${[`backend: ${backend}`, ...needed].join(", ")} }\ndefaults: { embedding: { provider: local, model: hashing-256 } }\ntools: []\n`;
    const { resolved } = analyze({ path: "tools.yaml", text }, { target: "validate" });
    const connection = resolved?.connections[0];
    assert.ok(resolved && connection);
    const fields = (["keyword", "integer", "float", "boolean", "keyword[]", "unknown"] as const).flatMap((dtype, n) => [field(`f${n}`, dtype, { indexed: true }), field(`o.f${n}`, dtype), field(`u${n}`, dtype)]);
    const schema = { connection: "main", backend, redacted: false, collections: [collection(fields)] };
    const [draft] = discoveryReport(schema, { catalog: resolved, connection, env: new Map() }).drafts;
    assert.deepEqual(draft?.issues.filter(({ severity }) => severity === "error"), [], JSON.stringify(draft?.tool));
    const paths = (draft?.tool["parameters"] as readonly { readonly path: string }[]).map(({ path }) => path);
    assert.ok(paths.length > 0 && paths.every((path) => can.nestedPaths || !path.includes(".")));
    assert.ok(!can.requiresExplicitIndex || paths.every((path) => path.startsWith("f")), "only indexed paths");
  });
}

const GUARDED = `tds_version: '2'
connections:
  main:
    backend: sqlite
    path: a.db
    builtin_defaults: { static_filters: { must: [{ path: live, value: true }], must_not: [{ path: state, value: gone }] } }
defaults: { embedding: local/hashing-256 }
tools:
  - name: show_people
    kind: scroll
    description: Show the people of the store, a page at a time.
    target: { connection: main, collection: people }
    output: { redact: [{ path: email, mode: hash }, { path: pin, mode: omit }] }
`;

test("a draft has the guard of its connection, negated part too, and redacts what tools of the catalog redact", () => {
  const { resolved } = analyze({ path: "tools.yaml", text: GUARDED }, { target: "validate" });
  const connection = resolved?.connections[0];
  assert.ok(resolved && connection);
  const people = collection([field("email"), field("live", "boolean"), field("name"), field("org_id"), field("pin"), field("state")], { name: "people" });
  const report = discoveryReport({ connection: "main", backend: "sqlite", redacted: false, collections: [people] }, { catalog: resolved, connection, env: new Map() });
  const [draft] = report.drafts;
  const { parameters, static_filters: filters, output } = draft?.tool ?? {};
  assert.deepEqual((parameters as readonly { readonly path: string }[]).map(({ path }) => path), ["name"]);
  assert.deepEqual(filters, { must: [{ path: "live", value: true }], must_not: [{ path: "state", value: "gone" }] });
  assert.deepEqual(output, { redact: [{ path: "email", mode: "hash" }, { path: "pin", mode: "omit" }] });
  assert.deepEqual([report.tenant_field_candidates, draft?.status, draft?.provenance["created_by"], draft?.provenance["hash"]], [{ people: ["org_id"] }, "pending", "toolsrv discover", draft?.hash]);
  assert.deepEqual(draft?.issues, []);
  assert.deepEqual(parse(discoveryText(report)), JSON.parse(JSON.stringify(report)));
});

test.run();
