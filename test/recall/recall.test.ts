/** `toolsrv recall`: searches compared with an exact scan of the rows that the guard leaves, for each tenant. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { measureRecall, recallOf, type ToolRecall } from "../../generator/recall/measure.js";
import { evaluate, type Row } from "../../runtime/abi/filter.js";
import type { PlanTable } from "../../runtime/abi/plan.js";
import { BackendError } from "../../runtime/abi/errors.js";
import type { SearchRequest } from "../../runtime/adapters/adapter.js";
import { memoryAdapter, program } from "../call/program.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("recall");

const ROWS: readonly Row[] = Array.from({ length: 40 }, (_, i) => ({ _id: `r${String(i).padStart(2, "0")}`, text: `row ${i}`, org: i % 4 === 0 ? "small" : "large", state: i % 2 === 0 ? "open" : "closed" }));
const query = { arg: "query", required: false, embedding: "default", mode: "dense" } as const;
const base = { kind: "search", connection: "main", collection: "things", bind: [], query, limit: { arg: "limit", default: 4, max: 5 }, output: { id: true, score: true } } as const;
const guard = { path: "state", op: "eq", value: "open" } as const;
const tenant = { from: "claim", name: "org_id", path: "org", enforce: "strict" } as const;

/** A store whose index misses every row of `missed`; a scan sees all. */
function store(missed: (row: Row) => boolean, scans = true) {
  const asked: SearchRequest[] = [];
  const adapter = memoryAdapter(ROWS, {
    async search(request) {
      asked.push(request);
      const isScan = request.exact === true && scans;
      const rows = ROWS.map((row, i) => ({ ...row, _score: 1 - i / 100 })).filter((row) => evaluate(request.filter, row) && (isScan || !missed(row)));
      return { rows: rows.slice(0, request.limit), exact: isScan };
    },
  });
  return { adapter, asked };
}

async function measured(plans: PlanTable, adapter: ReturnType<typeof memoryAdapter>, samples = 5): Promise<readonly ToolRecall[]> {
  return measureRecall(program({ plans, adapter }), { env: new Map(), samples, now: () => 0, variable: () => undefined, signal: new AbortController().signal });
}

test("recall is the share of the right rows that were found, and equal scores at the end are all right", () => {
  const rows = (...scored: readonly (readonly [string, number])[]) => ({ rows: scored.map(([_id, _score]) => ({ _id, _score })) });
  const right = rows(["a", 0.9], ["b", 0.8], ["c", 0.7], ["d", 0.7]);
  const table: readonly (readonly [number, ReturnType<typeof rows>])[] = [
    [1, right], [0.5, rows(["a", 0.9], ["d", 0.7])], [1, rows(["a", 0.9], ["b", 0.8], ["c", 0.7], ["e", 0.7])], [0.25, rows(["a", 0.9], ["x", 0.5], ["y", 0.4])], [0, rows()],
  ];
  for (const [want, found] of table) assert.equal(recallOf(found, right), want);
  assert.equal(recallOf(rows(), rows()), 1);
});

test("each query is asked twice under the guard, and what the index misses lowers the recall", async () => {
  const { adapter, asked } = store((row) => row["_id"] === "r00" || row["_id"] === "r02");
  const [result] = await measured({ find: { ...base, guard } }, adapter);
  assert.deepEqual(result, { tool: "find", k: 4, recall: 0.5, worst: 0.5, lowest: 0.5, queries: 5, tenants: 0, selectivity: 0.5, rows: 40, exact: false, problem: null });
  assert.equal(asked.length, 10);
  assert.ok(asked.every(({ filter, limit }) => JSON.stringify(filter) === JSON.stringify({ ...guard, fixed: true }) && limit === 4));
  assert.deepEqual(new Set(asked.map(({ text }) => text)), new Set(["row 0", "row 8", "row 16", "row 24", "row 32"]));
});

test("every tenant that the collection has is searched, each under its own filter", async () => {
  const { adapter, asked } = store((row) => row["org"] === "small");
  const [result] = await measured({ find: { ...base, tenant } }, adapter);
  assert.deepEqual([result?.tenants, result?.queries, result?.recall, result?.worst, result?.lowest, result?.selectivity], [2, 10, 0.5, 0, 0, 0.25]);
  assert.deepEqual(new Set(asked.map(({ filter }) => JSON.stringify(filter))).size, 2);
});

test("a tenant with few rows behind a thousand of another's is found and searched", async () => {
  const many: readonly Row[] = Array.from({ length: 1010 }, (_, i) => ({ _id: `r${String(i).padStart(4, "0")}`, text: `row ${i}`, org: i < 1000 ? "large" : "rare" }));
  const adapter = memoryAdapter(many, {
    async search({ filter, limit, exact }) {
      const rows = many.filter((row) => evaluate(filter, row) && (exact === true || row["org"] !== "rare")).map((row, i) => ({ ...row, _score: 1 - i / 2000 }));
      return { rows: rows.slice(0, limit), exact: exact === true };
    },
  });
  const [result] = await measured({ find: { ...base, tenant } }, adapter);
  assert.deepEqual([result?.tenants, result?.recall, result?.lowest, result?.selectivity, result?.rows], [2, 0.5, 0, 0.0099, 1010]);
});

test("of many tenants the smallest, the largest and some between are searched", async () => {
  const sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const many: readonly Row[] = sizes.flatMap((size) => Array.from({ length: size }, (_, i) => ({ _id: `${size}-${i}`, text: `row ${i}`, org: `org ${size}` })));
  const seen = new Set<string>();
  const adapter = memoryAdapter(many, { search: async ({ filter }) => (seen.add(JSON.stringify(filter)), { rows: [], exact: true }) });
  const [result] = await measured({ find: { ...base, tenant } }, adapter);
  assert.equal(result?.tenants, 5);
  assert.deepEqual([...seen].map((filter) => /org \d/.exec(filter)?.[0]).sort(), ["org 1", "org 3", "org 5", "org 7", "org 9"]);
});

test("a pipeline is measured with as many rows as a call retrieves, a reranked tool with retrieve_k", async () => {
  const { adapter, asked } = store(() => false);
  const { limit: _limit, output, kind: _kind, ...read } = base;
  const rerank = { provider: "http", model: "m", retrieve_k: 12, config: {} } as const;
  await measured({
    pipe: { kind: "pipeline", retrieve: { ...read, overfetch_factor: 5, max_candidates: 18 }, steps: [], limit: base.limit, output }, ranked: { ...base, rerank },
  }, adapter, 1);
  assert.deepEqual([...new Set(asked.map(({ limit }) => limit))], [18, 12]);
});

test("a store that compares every row by itself is exact, and is not asked twice", async () => {
  const asked: SearchRequest[] = [];
  const adapter = memoryAdapter(ROWS, { search: async (request) => (asked.push(request), { rows: [], exact: true }) });
  const [result] = await measured({ find: { ...base } }, adapter);
  assert.deepEqual([result?.recall, result?.exact, asked.length], [1, true, 5]);
});

test("what cannot be measured says why: no scan, hybrid, document access, an argument that names the collection, no rows, a store that fails", async () => {
  const plans: PlanTable = {
    hybrid: { ...base, query: { ...query, mode: "hybrid" } },
    documents: { ...base, document_acl: { combine: "all", rules: [{ match: "any_of", claim: "groups", field: "groups" }] } },
    anywhere: { ...base, collection: { arg: "collection" } },
    empty: { ...base, guard: { ...guard, value: "nothing" } },
    find: { ...base },
    count: { kind: "count", connection: "main", collection: "things", bind: [] },
    list: { kind: "scroll", connection: "main", collection: "things", bind: [], limit: base.limit, output: base.output },
  };
  const results = await measured(plans, store(() => false, false).adapter);
  assert.deepEqual(results.map(({ tool, recall, problem }) => [tool, recall, problem?.slice(0, 34)]), [
    ["hybrid", null, "hybrid search has no one right ord"], ["documents", null, "document access needs the claims o"], ["anywhere", null, "the collection is an argument"],
    ["empty", null, "the collection has no rows for it"], ["find", null, "the store cannot search by an exac"],
  ]);
  const down = memoryAdapter(ROWS, { count: () => Promise.reject(new BackendError("unreachable", "sqlite", "the store is away")) });
  assert.equal((await measured({ find: { ...base } }, down))[0]?.problem, "the store is away");
});

test("the command measures the embedded store, writes the certificate beside the catalog, and keeps to --min", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "toolsrv-recall-"));
  try {
    writeFileSync(join(cwd, "rows.jsonl"), Array.from({ length: 30 }, (_, i) => JSON.stringify({ id: String(i), title: `article ${i}`, state: i % 3 === 0 ? "open" : "closed" })).join("\n"));
    writeFileSync(join(cwd, "tools.yaml"), `tds_version: "2"
connections: { main: { backend: sqlite, path: ./main.db } }
defaults: { embedding: local/hashing-256 }
tools:
  - name: search_articles
    description: Search the help articles by meaning. Use it for questions about the product.
    target: { connection: main, collection: articles }
    query: { required: true }
    static_filters: { must: [{ path: state, value: open }] }
`);
    const toolsrv = async (...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
      const io = memoryIo({ cwd });
      return { code: await run(args, io), out: io.out(), err: io.err() };
    };
    assert.equal((await toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "articles", "--id", "id")).code, EXIT.OK);
    const one = await toolsrv("recall", "tools.yaml", "--tool", "search_articles", "--samples", "3", "--min", "1");
    assert.deepEqual([one.code, one.out, one.err], [EXIT.OK, "search_articles: recall@10 1 (worst 1), 3 queries, 33.3 % of the rows, exact\nwritten to tools.recall.json\n", ""]);
    const all = await toolsrv("recall", "tools.yaml");
    assert.match(all.out, /written to tools\.recall\.json/);
    const certificate = JSON.parse(readFileSync(join(cwd, "tools.recall.json"), "utf8"));
    assert.deepEqual([certificate.version, certificate.tools[0].samples, certificate.tools[0].recall, certificate.tools[0].rows], [2, 20, 1, 30]);
    assert.match(certificate.tools[0].search, /^sha256:/);
    assert.ok(!JSON.stringify(certificate).includes("article "));
    for (const wrong of [["--samples", "0"], ["--min", "2"], ["--tool", "nothing"]]) assert.equal((await toolsrv("recall", "tools.yaml", ...wrong)).code, EXIT.USAGE, wrong.join(" "));
  } finally {
    rmSync(cwd, { recursive: true });
  }
}, { timeoutMs: 60_000 });

test.run();
