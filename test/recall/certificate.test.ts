/** `quality.min_recall`: what a certificate must show before a catalog is built. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { compile, type Compiled } from "../../generator/compile.js";
import { CERTIFICATE_VERSION, certificateText, judgeCertificate, judgeGrowth, readCertificate, withMeasured, type CertifiedRecall } from "../../generator/recall/certificate.js";
import { searchDigest, searchOf } from "../../generator/recall/search-of.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("recall certificate");

/** Parts of a catalog that a case replaces. */
type Parts = { readonly [key: string]: unknown };

const TOOL = {
  name: "search_docs", description: "Search the documents by meaning. Use it for questions about their content.", target: { connection: "main", collection: "docs" },
  query: { required: true, ef: 64 }, static_filters: { must: [{ path: "state", value: "open" }] }, output: { limit_default: 10, limit_max: 20 }, quality: { min_recall: 0.9 },
};
const CATALOG = {
  tds_version: "2", connections: { main: { backend: "qdrant", url: "http://qdrant:6333" } }, defaults: { embedding: { provider: "http", model: "m1", dims: 8, config: { base_url: "http://embed" } } },
  security: { tenancy: { mode: "claim", claim: "org", path: "org_id" } },
};

function compilationOf(tool: Parts = {}, catalog: Parts = {}): ReturnType<typeof compile> {
  return compile({ path: "tools.yaml", text: JSON.stringify({ ...CATALOG, ...catalog, tools: [{ ...TOOL, ...tool }] }) }, { target: "describe" });
}

function compiledOf(tool: Parts = {}, catalog: Parts = {}): Compiled {
  const { value, diagnostics } = compilationOf(tool, catalog);
  assert.ok(value, JSON.stringify(diagnostics));
  return value;
}

function measurementOf({ plans }: Compiled, more: Partial<CertifiedRecall> = {}): CertifiedRecall {
  const plan = plans.tools["search_docs"];
  const search = plan === undefined ? null : searchOf(plan);
  assert.ok(search !== null);
  return { tool: "search_docs", k: 10, recall: 0.97, worst: 0.8, lowest: 0.95, queries: 100, tenants: 5, selectivity: 0.01, rows: 10_000, exact: false, problem: null, samples: 20, search: searchDigest(search, plans), ...more };
}

const textOf = (...tools: readonly CertifiedRecall[]): string => certificateText({ version: CERTIFICATE_VERSION, tools });

/** Messages about a compiled catalog with this certificate. */
function judged(compiled: Compiled, text: string | null): readonly string[] {
  return judgeCertificate(compiled, text, "tools.recall.json", "error").map(({ code, message, severity }) => `${severity} ${code} ${message}`);
}

test("a certificate whose lowest tenant reaches the floor is enough, also where it is just met", () => {
  const compiled = compiledOf();
  for (const lowest of [0.9, 0.95, 1]) assert.deepEqual(judged(compiled, textOf(measurementOf(compiled, { lowest }))), []);
});

test("a tenant below the floor fails although the mean is above it", () => {
  const compiled = compiledOf();
  assert.deepEqual(judged(compiled, textOf(measurementOf(compiled, { lowest: 0.8999 }))), ["error TS0291 quality.min_recall is 0.9, and the certificate shows 0.8999 for one tenant"]);
});

test("what is no certificate of the tool fails: none, no JSON, another version, another form, another tool, two of one tool, not measured, too few queries", () => {
  const compiled = compiledOf();
  const own = measurementOf(compiled);
  const table: readonly (readonly [text: string | null, want: string])[] = [
    [null, "there is no certificate tools.recall.json"],
    ["", "it is not JSON"],
    ["null", "its version is missing"],
    [certificateText({ version: 1, tools: [own] }), "its version is 1, not 2"],
    ['{"version":2,"tools":{}}', "it has not the form"],
    [textOf({ ...own, lowest: 2 }), "it has not the form"],
    [textOf({ ...own, lowest: "1" } as unknown as CertifiedRecall), "it has not the form"],
    [textOf({ ...own, tool: "other" }), "has no measurement of 'search_docs'"],
    [textOf(own, own), "two measurements of one tool"],
    [textOf({ ...own, recall: null, lowest: null, problem: "the store is away" }), "could not be measured: the store is away"],
    [textOf({ ...own, samples: 19 }), "measured with 19 queries for each tenant, where at least 20 are needed"],
  ];
  for (const [text, want] of table) {
    const [message = ""] = judged(compiled, text);
    assert.ok(message.startsWith("error TS0291") && message.includes(want), `${want}: ${message}`);
  }
});

test("a certificate of another search is stale: store, collection, guard, tenancy, embedding, locked space, ef, number of rows", () => {
  const text = textOf(measurementOf(compiledOf()));
  const embedding = CATALOG.defaults.embedding;
  const others: readonly (readonly [what: string, tool: Parts, catalog?: Parts])[] = [
    ["store", {}, { connections: { main: { backend: "qdrant", url: "http://other:6333" } } }],
    ["backend", {}, { connections: { main: { backend: "chroma", url: "http://qdrant:6333" } } }],
    ["collection", { target: { connection: "main", collection: "drafts" } }],
    ["guard", { static_filters: { must: [{ path: "state", value: "done" }] } }],
    ["no guard", { static_filters: {} }],
    ["tenancy", {}, { security: { tenancy: { mode: "claim", claim: "org", path: "owner_id" } } }],
    ["no tenancy", {}, { security: {} }],
    ["model", {}, { defaults: { embedding: { ...embedding, model: "m2" } } }],
    ["space", {}, { defaults: { embedding: { ...embedding, space: `1.8.${"A".repeat(128)}` } } }],
    ["ef", { query: { required: true, ef: 16 } }],
    ["k", { output: { limit_default: 20, limit_max: 20 } }],
  ];
  for (const [what, tool, catalog] of others) {
    const compiled = compiledOf({ ...tool, ...(what === "backend" ? { query: { required: true } } : {}) }, catalog);
    assert.match(judged(compiled, text)[0] ?? "", /is of another search/, what);
  }
});

test("a certificate stays valid when only words, thresholds, parameters or the floor change", () => {
  const text = textOf(measurementOf(compiledOf()));
  for (const tool of [
    { description: "Another description of the same search, in other words." }, { query: { required: true, ef: 64, min_score: 0.2 } }, { parameters: [{ name: "kind", path: "kind", description: "Keep this kind." }] },
    { output: { limit_default: 10, limit_max: 15, fields: ["title"] } }, { quality: { min_recall: 0.95 } },
  ]) assert.deepEqual(judged(compiledOf(tool), text), []);
});

test("a catalog that asks for no recall is not judged, whatever the file holds", () => {
  for (const text of [null, "no JSON"]) assert.deepEqual(judged(compiledOf({ quality: undefined }), text), []);
});

test("a collection that more than doubled or halved needs another measurement", () => {
  const compiled = compiledOf();
  const text = textOf(measurementOf(compiled));
  const codesAt = (rows: number | null): readonly string[] => judgeGrowth(compiled, text, (connection, collection) => (connection === "main" && collection === "docs" ? rows : null)).map(({ code }) => code);
  assert.deepEqual([null, 5000, 10_000, 20_000].map(codesAt), [[], [], [], []]);
  assert.deepEqual([0, 4999, 20_001].map(codesAt), [["TS0292"], ["TS0292"], ["TS0292"]]);
});

test("a measurement of one tool replaces its own, keeps the others and drops those of tools that are gone", () => {
  const own = measurementOf(compiledOf());
  const before = { version: CERTIFICATE_VERSION, tools: [own, { ...own, tool: "other" }, { ...own, tool: "gone" }] };
  assert.deepEqual(withMeasured(before, [{ ...own, lowest: 0.5 }], ["other", "search_docs"]).tools.map(({ tool, lowest }) => [tool, lowest]), [["other", 0.95], ["search_docs", 0.5]]);
});

test("a file of any content is a certificate or a reason", () => {
  for (const text of ["[]", "1", '"x"', '{"version":2}', '{"version":2,"tools":[null]}', '{"version":2,"tools":[{"__proto__":{"tool":"a"}}]}']) assert.equal(typeof readCertificate(text), "string", text);
});

test("min_recall is refused where no recall can be measured, and where its value or its place is wrong", () => {
  const table: readonly (readonly [tool: Parts, code: string, catalog?: Parts])[] = [
    [{ kind: "count", query: undefined, output: undefined }, "TS0290"],
    [{ kind: "scroll", query: undefined }, "TS0290"],
    [{ query: { required: true, mode: "hybrid" } }, "TS0290"],
    [{}, "TS0290", { security: { document_acl: { rules: [{ equals: { claim: "sub", field: "owner" } }] } } }],
    [{ quality: { min_recall: 0 } }, "TS0106"], [{ quality: { min_recall: 1.1 } }, "TS0106"], [{ quality: { min_recall: "high" } }, "TS0102"], [{ quality: {} }, "TS0101"],
    [{ quality: undefined, qualty: { min_recall: 0.9 } }, "TS0112"],
  ];
  for (const [tool, code, catalog] of table) {
    const { value, diagnostics } = compilationOf(tool, catalog);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    assert.equal(value, null, JSON.stringify(tool));
    assert.ok(errors.some((error) => error.code === code), `${JSON.stringify(tool)}: ${errors.map((error) => `${error.code} ${error.message}`).join("; ")}`);
  }
});

const EMBEDDED = `tds_version: "2"
connections: { main: { backend: sqlite, path: ./main.db } }
defaults: { embedding: local/hashing-256 }
tools:
  - name: search_docs
    description: Search the help articles by meaning. Use it for questions about the product.
    target: { connection: main, collection: articles }
    query: { required: true }
    quality: { min_recall: 0.9 }
`;

test("build, build --check and validate demand the certificate, on the command line, and a build is never repeated from the cache without it", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "toolsrv-certificate-"));
  const home = mkdtempSync(join(tmpdir(), "toolsrv-home-"));
  const certificate = join(cwd, "tools.recall.json");
  const toolsrv = async (...args: readonly string[]): Promise<{ readonly code: number; readonly err: string }> => {
    const io = memoryIo({ cwd, env: { HOME: home } });
    return { code: await run(args, io), err: io.err() };
  };
  const rows = (count: number): void => writeFileSync(join(cwd, "rows.jsonl"), Array.from({ length: count }, (_, i) => JSON.stringify({ id: String(i), title: `article ${i}`, state: "open" })).join("\n"));
  const load = () => toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "articles", "--id", "id");
  try {
    writeFileSync(join(cwd, "tools.yaml"), EMBEDDED);
    rows(30);
    assert.equal((await load()).code, EXIT.OK);
    const without = await toolsrv("build");
    assert.deepEqual([without.code, readdirSync(cwd).includes("out")], [EXIT.USAGE, false]);
    assert.match(without.err, /TS0291.*quality\.min_recall is 0\.9, and there is no certificate tools\.recall\.json[^]*measure it: toolsrv recall tools\.yaml --tool search_docs/);
    const warned = await toolsrv("validate", "tools.yaml");
    assert.deepEqual([warned.code, (await toolsrv("validate", "tools.yaml", "--strict")).code], [EXIT.OK, EXIT.FINDINGS]);
    assert.match(warned.err, /WARNING TS0291/);

    assert.equal((await toolsrv("recall", "tools.yaml")).code, EXIT.OK);
    assert.deepEqual([(await toolsrv("build")).code, (await toolsrv("build")).code, (await toolsrv("build", "--check")).code], [EXIT.OK, EXIT.OK, EXIT.OK]);
    const text = readFileSync(certificate, "utf8");
    rmSync(certificate);
    assert.deepEqual([(await toolsrv("build")).code, (await toolsrv("build", "--check")).code], [EXIT.USAGE, EXIT.USAGE], "the certificate is gone");
    writeFileSync(certificate, text.replace('"lowest": 1', '"lowest": 0.5'));
    assert.match((await toolsrv("build")).err, /the certificate shows 0\.5/);
    writeFileSync(certificate, text);
    assert.equal((await toolsrv("build")).code, EXIT.OK);

    writeFileSync(join(cwd, "tools.yaml"), `${EMBEDDED}    static_filters: { must: [{ path: state, value: open }] }\n`);
    assert.match((await toolsrv("build", "--check")).err, /is of another search/);
    writeFileSync(join(cwd, "tools.yaml"), EMBEDDED);
    assert.equal((await toolsrv("validate", "tools.yaml", "--live")).code, EXIT.OK);
    rows(61);
    assert.equal((await load()).code, EXIT.OK);
    const grown = await toolsrv("validate", "tools.yaml", "--live");
    assert.equal(grown.code, EXIT.USAGE);
    assert.match(grown.err, /TS0292.*measured on 30 rows, and collection 'articles' has 61/);
  } finally {
    for (const folder of [cwd, home]) rmSync(folder, { recursive: true });
  }
}, { timeoutMs: 120_000 });

test.run();
