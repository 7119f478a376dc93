/** The plan of a step that a tool server recorded: what is shown of it, and what must never be. */
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hidePlan, withoutDifferences } from "../../generator/explain/hidden.js";
import { explainedTools } from "../../generator/explain/traced.js";
import { queryProgramOf } from "../../generator/program.js";
import type { ExplainedTools } from "../../runtime/abi/explained.js";
import { fingerprint } from "../../runtime/abi/fingerprint.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import { planOf, givenArguments } from "../../runtime/trace-ui/model/plan.js";
import { loadMovies } from "../e2e/quickstart.js";
import { repo } from "../lib/repo.js";
import { Lines, start } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { compiled } from "../phases/source.js";
import { type Json, temporaryDirectory, until } from "./lib.js";

const test = suite("trace/plans");

const CONNECTIONS: { readonly [backend: string]: string } = {
  sqlite: "path: ./a.db", qdrant: 'url: "http://canary-host:6333", api_key: "${KEY}"', pgvector: 'dsn: "${DSN}"', chroma: 'url: "http://canary-host:8000"',
  pinecone: 'api_key: "${KEY}", host: canary-host.example.com, namespace: Docs', weaviate: 'url: "http://canary-host:8080"', milvus: 'uri: "http://canary-host:19530"',
};
const CANARY = /canary|4711|1999-12-31|946[56]\d{5}/i;

function catalogOf(backend: string): string {
  return `tds_version: "2"
connections:
  main: { backend: ${backend}, ${CONNECTIONS[backend] ?? ""} }
defaults: { embedding: local/hashing-256 }
security:
  tenancy: { mode: claim, claim: org_id, path: org }
tools:
  - name: search_docs
    description: Search the documents by meaning. Use it for questions about the product.
    target: { connection: main, collection: Docs }
    query: { param: topic }
    static_filters:
      - { path: kind, value: canary-text }
      - { path: state, op: in, value: [canary-one, canary-two] }
      - { path: votes, op: gt, value: 4711 }
      - { path: public, value: true }
    parameters:
      - { name: author, path: author }
      - { name: votes_from, path: votes, dtype: integer, op: gte }
    output: { fields: [title] }
`;
}

async function explained(text: string): Promise<{ readonly tools: ExplainedTools; readonly certificates: ReadonlyMap<string, string> }> {
  const { value, diagnostics } = compiled(text, { unfilled: true });
  assert.ok(value, JSON.stringify(diagnostics));
  const tools = await explainedTools(value.plans, value.certificates, queryProgramOf);
  return { tools, certificates: new Map(value.certificates.map((certificate) => [certificate.tool, fingerprint(certificate)])) };
}

for (const backend of Object.keys(CONNECTIONS)) {
  test(`the query of a ${backend} tool is shown without a value of its guard, an address or a credential`, async () => {
    const { tools, certificates } = await explained(catalogOf(backend));
    const tool = tools["search_docs"];
    assert.ok(tool !== undefined);
    const text = JSON.stringify(tools);
    assert.doesNotMatch(text, CANARY);
    assert.doesNotMatch(text, /62001700|0002-01-01/, "no stand-in is left");
    assert.equal(tool.source, "tools.yaml:8");
    assert.equal(tool.certificate, certificates.get("search_docs"));
    assert.deepEqual(tool.calls.map(({ when, queries }) => [when, queries.length]), [["With topic", 1], ["Without topic", 1]]);
    for (const { when, queries } of tool.calls) {
      const shown = (queries[0]?.lines ?? []).join("\n");
      if (backend === "pinecone" && when === "Without topic") {
        assert.match(shown, /does not support reads without a query text/);
        continue;
      }
      for (const wanted of ["<fixed kind>", "<fixed state>", "<fixed votes>", "<fixed>", "<author>", "<votes_from>", "<the caller"]) assert.ok(shown.includes(wanted), `${wanted}\n${shown}`);
    }
    assert.deepEqual(tool.guard.slice(0, 5), ["kind eq …", "state in …", "votes gt …", "public eq …", "org is the caller's tenant, from the claim org_id"]);
  });
}

test("fixed instants, patterns, directories and filters of a pipeline are hidden too", async () => {
  const { tools } = await explained(`tds_version: "2"
connections:
  main: { backend: sqlite, path: ./a.db }
defaults: { embedding: local/hashing-256 }
tools:
  - name: list_docs
    kind: scroll
    description: List the documents as they are stored. Use it to look around.
    target: { connection: main, collection: docs }
    static_filters:
      - { path: day, op: gte, value: "1999-12-31T00:00:00Z" }
      - { path: title, op: like, value: "canary%" }
      - { path: gone, op: is_null, value: true }
    dtypes: { day: datetime }
    parameters:
      - { name: author, path: author, resolve: { kind: directory, field: author } }
  - name: rank_docs
    kind: pipeline
    description: Rank the documents by their votes. Use it to find popular ones.
    steps:
      - retrieve: { target: { connection: main, collection: docs }, query: { param: query, required: true }, filter: { and: [{ path: lang, op: eq, value: canary-lang }] } }
      - sort: { by: votes, desc: true }
`);
  const text = JSON.stringify(tools);
  assert.doesNotMatch(text, CANARY);
  const queries = (tool: string): string => JSON.stringify(tools[tool]?.calls);
  for (const wanted of ["<fixed day>", "<fixed pattern>%"]) assert.ok(queries("list_docs").includes(wanted), `${wanted} ${queries("list_docs")}`);
  assert.ok(queries("rank_docs").includes("<fixed lang>"), queries("rank_docs"));
  assert.ok(tools["list_docs"]?.guard.includes("gone is_null true"), "whether a field is there is no value");
  assert.equal(tools["list_docs"]?.calls.some(({ when }) => when === "Names for author"), true);
});

test("a value of a truth is left out of a text, and a text that depends on it altogether is not shown", () => {
  assert.equal(withoutDifferences("a = true AND b = 1", "a = false AND b = 1"), "a = <fixed> AND b = 1");
  assert.equal(withoutDifferences("a IS TRUE", "a IS NOT TRUE"), null);
  assert.equal(withoutDifferences("same", "same"), "same");
});

test("a guard anywhere in a plan is hidden, also where this release knows of none", () => {
  const plan = { kind: "count", connection: "c", collection: "x", bind: [], later: [{ deep: { guard: { or: [{ path: "a", op: "eq", value: "canary" }, { and: [{ path: "b", op: "in", value: [1, { $env: "X", default: "canary" }] }] }] } } }] } as unknown as ToolPlan;
  assert.doesNotMatch(JSON.stringify(hidePlan(plan)?.plan), /canary/);
  assert.equal(hidePlan({ kind: "count", connection: "c", collection: "x", bind: [] }), null);
  const routed = hidePlan({ kind: "count", connection: "c", collection: "x", bind: [], route: { namespace: "canary", tenant: "x" } });
  assert.deepEqual(routed?.plan, { kind: "count", connection: "c", collection: "x", bind: [], route: { namespace: "<fixed namespace>", tenant: "x" } });
});

test("the lines of the committed build are those of the catalog and of its plans.ts", async () => {
  const { value } = compiled(readFileSync(repo("specs/examples/quickstart/tools.yaml"), "utf8"), { unfilled: true });
  const text = readFileSync(repo("out/trace.plans.ts"), "utf8");
  const printed = [...text.matchAll(/^ {2}(\w+): \{\n {4}source: "tools\.yaml:(\d+)",\n {4}printed: "plans\.ts:(\d+)",$/gm)].map(([, tool, line, at]) => [tool, Number(line), Number(at)] as const);
  assert.deepEqual(printed.map(([tool]) => tool), Object.keys(value?.plans.tools ?? {}));
  const catalog = readFileSync(repo("specs/examples/quickstart/tools.yaml"), "utf8").split("\n");
  const plans = readFileSync(repo("out/plans.ts"), "utf8").split("\n");
  for (const [tool, line, at] of printed) {
    assert.match(catalog[line - 1] ?? "", new RegExp(`name: ${tool}\\b`));
    assert.equal(plans[at - 1], `  ${tool}: {`);
  }
});

/** Calls a server on stdio and returns the first step of each run, oldest run first. */
async function recorded(words: readonly string[], file: string, calls: readonly (readonly [tool: string, args: Json])[]): Promise<{ readonly starts: readonly Json[]; readonly everything: string }> {
  const directory = await temporaryDirectory();
  const server = start(file, [...words, "--trace", "127.0.0.1:0"], { env: { TRACE_SERVICE_DATA_DIR: directory, TRACE_SERVICE_STARTUP_HEALTH_TIMEOUT_S: "60" } });
  try {
    const [url = ""] = await server.sees(/http:\/\/127\.0\.0\.1:\d+(?=\/ui)/);
    const lines = new Lines(server);
    await lines.initialize();
    // One after the other, so that the runs have an order.
    for (const [index, [name, args]] of calls.entries()) await lines.ask(index + 1, "tools/call", { name, arguments: args });
    let runs: readonly Json[] = [];
    await until(async () => {
      runs = ((await (await fetch(`${url}/api/runs?extended=1`)).json()) as { runs: Json[] }).runs;
      return runs.length === calls.length && runs.every((run) => run["status"] !== "running");
    });
    const read = async (path: string): Promise<Json> => (await fetch(url + path)).json() as Promise<Json>;
    const journeys = await Promise.all([...runs].reverse().map(async (run) => (await read(`/api/runs/${String(run["run_id"])}/journey?extended=1`))["steps"] as Json[]));
    const starts = journeys.map((steps) => steps.find((step) => step["event_type"] === "tool_start") ?? assert.fail(JSON.stringify(steps)));
    const payloads = await Promise.all(journeys.flat().filter((step) => step["blob_path"] !== null).map((step) => read(`/api/runs/${String(step["run_id"])}/steps/${String(step["event_id"])}/full`)));
    return { starts, everything: JSON.stringify([runs, journeys, payloads, server.stderr()]) };
  } finally {
    await server.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

test("a call of a built server is recorded with the lines, guard, certificate and query of its tool", async () => {
  const folder = await temporaryDirectory();
  try {
    const env = await loadMovies(folder);
    const { starts: [search, box], everything } = await recorded(["--env", env], repo("out/server.js"), [["search_paramount_movies", { query: "star trek", min_rating: 7 }], ["search_box_office", { query: "titanic" }]]);
    const plan = planOf(search?.["attributes"] as Json);
    assert.ok(plan !== null, JSON.stringify(search));
    const manifest = JSON.parse(readFileSync(repo("out/manifest.json"), "utf8")) as { guards: { [tool: string]: Json[] }; catalog: Json };
    assert.deepEqual([plan.source, plan.printed, plan.guard, plan.catalogVersion, plan.catalogHash], ["tools.yaml:69", "plans.ts:52", ["distributor eq …"], "1", manifest.catalog["hash"]]);
    assert.match(plan.certificate ?? "", /^sha256:[0-9a-f]{64}$/);
    assert.match(plan.queries[0]?.text ?? "", /f\."distributor" = \?[^]*"<fixed distributor>"/);
    assert.deepEqual(givenArguments(plan.names, { input: { query: "star trek", min_rating: 7 } }), [["genre", null], ["min_rating", "7"]]);
    assert.deepEqual(planOf(box?.["attributes"] as Json)?.guard, ["worldwide_gross gt …", "distributor nin …"]);
    assert.doesNotMatch(everything, /Paramount Pictures|Indican/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 90_000 });

const TENANT = "canary-tenant-5150";
const SECRET = "canary-secret-6161";

test("a call of a served catalog shows its plan without the tenant, a reference, a fixed value or a redacted argument", async () => {
  const folder = await temporaryDirectory();
  try {
    const catalog = join(folder, "tools.yaml");
    writeFileSync(catalog, `tds_version: "2"
connections:
  main: { backend: sqlite, path: ./main.db, builtin_tools: { count: true }, builtin_defaults: { collections: [docs], static_filters: [{ path: org, value: "\${TENANT}" }] } }
defaults: { embedding: local/hashing-256 }
tools:
  - name: list_docs
    kind: scroll
    description: List the documents as they are stored. Use it to look around.
    target: { connection: main, collection: docs }
    static_filters: [{ path: key, value: ${SECRET} }]
    parameters: [{ name: mail, path: mail }]
    output: { fields: [title], redact: [{ path: mail, mode: hash }] }
`);
    const env = join(folder, ".env");
    writeFileSync(env, `TENANT=${TENANT}\n`);
    const toolsrv = repo("dist/test/e2e/toolsrv.js");
    const { starts: [listed], everything } = await recorded(["serve", catalog, "--env-file", env], toolsrv, [["list_docs", { mail: "canary-mail@example.com" }], ["count_main", { collection: "docs" }]]);
    const plan = planOf(listed?.["attributes"] as Json);
    assert.ok(plan !== null, everything);
    assert.deepEqual([plan.source, plan.printed, plan.guard, plan.names], ["tools.yaml:6", null, ["key eq …"], ["mail"]]);
    assert.doesNotMatch(everything, /canary-(?:tenant|secret|mail)/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 90_000 });

test("an attribute of this name that holds anything else is no plan, and breaks nothing", () => {
  for (const value of [null, 5, "x", [], {}, { source: 5 }]) assert.equal(planOf({ "toolsrv.plan": value }), null);
  const odd = planOf({ "toolsrv.plan": { source: "a:1", guard: [1, "b"], calls: [null, { queries: "x" }, { when: 5, queries: [{ lines: [{}, "<__proto__>"] }] }] } });
  assert.deepEqual([odd?.guard, odd?.queries, odd?.certificate], [["b"], [{ title: "", text: "<__proto__>" }], null]);
  assert.deepEqual(givenArguments(["__proto__", "a"], { input: { a: 1 } }), [["__proto__", null], ["a", "1"]]);
});

test.run();
