/** Phase 3 as a whole: what a target refuses, and what every diagnostic has. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { CODES, type CodeEntry } from "../../runtime/abi/codes.js";
import type { LocatedDiagnostic } from "../../generator/ir.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { analyze } from "../../generator/compile.js";
import { codesOf, compiled, diagnosed, HEAD, searchTool } from "./source.js";

const test = suite("check");

const TOOL = `${HEAD}tools:\n${searchTool("find_it")}`;
const MILVUS = TOOL.replace("{ backend: sqlite, path: ./main.db }", "{ backend: milvus, uri: u }");

test("an experimental store is noted where it is built and where it is served", () => {
  const connections = ["qdrant, url: u", "pgvector, dsn: d", "chroma, url: u", "pinecone, api_key: '${K:-}', host: h", "weaviate, url: u", "milvus, uri: u"];
  for (const connection of connections) {
    const catalog = TOOL.replace("{ backend: sqlite, path: ./main.db }", `{ backend: ${connection} }`);
    for (const target of ["serve", "build"] as const) {
      assert.ok(codesOf(catalog, { target }).includes("VB2024"), connection);
      assert.ok(compiled(catalog, { target }).value, connection);
    }
  }
});

test("a store needs the package of its client, and PGlite needs its own instead", () => {
  const dsn = (text: string): string => TOOL.replace("{ backend: sqlite, path: ./main.db }", `{ backend: pgvector, dsn: '${text}' }`);
  const embedded = ["@electric-sql/pglite", "@electric-sql/pglite-pgvector"];
  const table: readonly (readonly [catalog: string, installed: readonly string[], missing: string | null])[] = [
    [MILVUS, [], "@zilliz/milvus2-sdk-node"],
    [MILVUS, ["@zilliz/milvus2-sdk-node"], null],
    [dsn("${DSN}"), embedded, "pg"],
    [dsn("${DSN:-pglite://data}"), ["pg"], embedded.join(" ")],
    [dsn("pglite://data"), embedded, null],
  ];
  for (const [catalog, installed, missing] of table) {
    const { diagnostics } = analyze({ path: "tools.yaml", text: catalog }, { env: new Map(), target: "build", isInstalled: (name) => installed.includes(name) });
    const found = diagnostics.filter(({ code }) => code === "VB2019");
    assert.deepEqual(found.map((one) => missing !== null && JSON.stringify(one).includes(missing)), missing === null ? [] : [true], JSON.stringify(found));
  }
});

test("the mode that the catalog has in mind for --auth is no demand; settings of a mode are", () => {
  const withAuth = (auth: string): string => `${TOOL}security: { auth: { ${auth} } }\n`;
  for (const mode of ["jwt", "builtin", "api_key", "none", "null"]) assert.deepEqual(codesOf(withAuth(`mode: ${mode}`), { target: "serve" }), [], mode);
  assert.deepEqual(codesOf(withAuth("mode: api_key, api_key: { keys_file: keys.json }"), { target: "serve" }), []);
});

test("one thing that is written once is refused once, however many tools use it", () => {
  const text = `${HEAD.replace("local/hashing-256", "local/acme-model")}tools:\n${searchTool("find_it")}${searchTool("find_that")}`;
  const rows = diagnosed(text, { target: "build" }).filter(({ code }) => code === "TS0252");
  assert.deepEqual(rows.map(({ tool, path }) => [tool, path]), [[null, "defaults.embedding"]]);
});

test("a provider without a setting that it needs is an error where it would run, and a warning where it is only validated", () => {
  const embedding = (written: string): string => TOOL.replace("required: true", `embedding: ${written}`);
  const table: readonly (readonly [string, string | null])[] = [
    [embedding("openai/text-embedding-3-small"), "tools[0].query.embedding"],
    [embedding("local/acme-model"), "tools[0].query.embedding"],
    [embedding("{ model: acme-model, config: { model_dir: models/acme } }"), null],
    [`${TOOL}    rerank: { enabled: true, provider: cross_encoder }\n`, "tools[0].rerank"],
    [embedding("{ provider: hosted, model: m, config: { base_url: 'http://localhost:1' } }"), null],
    [embedding("{ provider: hosted_cloud, model: m, config: { api_key: '${KEY}' } }"), "tools[0].query.embedding"],
    [embedding("{ provider: http, config: { base_url: '' } }"), "tools[0].query.embedding"],
    [embedding("{ provider: hosted_alt, config: { api_key: '${KEY}' } }"), null],
    [`${TOOL}    rerank: { enabled: true, provider: http }\n`, "tools[0].rerank"],
    [`${TOOL}    rerank: { enabled: true, provider: http, config: { url: 'https://rank.example.com' } }\n`, null],
    [TOOL.replace("required: true", "expand: { enabled: true, provider: http }"), "tools[0].query.expand"],
  ];
  for (const [text, path] of table) {
    for (const [target, severity] of [["serve", "error"], ["build", "error"], ["validate", "warning"]] as const) {
      const found = diagnosed(text, { target }).filter(({ code }) => code === "TS0252").map((row) => [row.severity, row.path]);
      assert.deepEqual(found, path === null ? [] : [[severity, path]], `${target}: ${text}`);
    }
  }
});

test("a switch that is off needs no support", () => {
  const off = `${TOOL}    rerank: { enabled: false }\nauthoring: { define_tool: off }\nsecurity: { rbac: { enabled: no }, rate_limit: {} }\nobservability: { audit: { enabled: false } }\n`;
  assert.deepEqual(codesOf(off, { target: "serve" }), []);
});

test("help texts name the catalog that was given", () => {
  const options = { interpolation: { mode: "fill", env: new Map() }, target: "describe", isInstalled: () => false } as const;
  const text = MILVUS.replace('"2"', '"1"').replace("local/hashing-256", "local/all-MiniLM-L6-v2");
  const helps = new Map(analyze({ path: "shop/catalog.yaml", text }, options).diagnostics.map(({ code, at, help }) => [`${code} ${at?.path.at(-1) ?? ""}`, help]));
  assert.equal(helps.get("VB0002 tds_version"), "`toolsrv migrate shop/catalog.yaml --from 1 --to 2 --write` converts it");
  assert.equal(helps.get("VB2019 backend"), "run `npm i @zilliz/milvus2-sdk-node` in the folder of shop/catalog.yaml, or where toolsrv is installed");
  assert.match(helps.get("VB2019 embedding") ?? "", /^run `npm i @huggingface\/transformers` in the folder of shop\/catalog\.yaml/);
  const fixed = Object.entries(CODES as { readonly [code: string]: CodeEntry }).filter(([, { help = "" }]) => help.includes("tools.yaml"));
  assert.deepEqual(fixed.map(([code]) => code), []);
});

test("a protecting block that is switched off, or empty, is no mistake", () => {
  const text = (security: string): string => `${TOOL}security: { ${security} }\n`;
  for (const off of ["tenancy: { mode: none, claim: org }", "rbac: { enabled: false, deny_tools: [find_it] }", "rate_limit: { enabled: off, store: memory }", "tenancy: {}, rbac: {}"]) {
    assert.deepEqual(codesOf(text(off)), [], off);
  }
});

test("every code of a catalog says what to do", () => {
  const silent = Object.entries(CODES as { readonly [code: string]: CodeEntry }).filter(([code, { help }]) => /^(?:TS|VB|VE|POL|missing_env)/.test(code) && help === undefined);
  assert.deepEqual(silent.map(([code]) => code), []);
});

test("every diagnostic of the golden cases has its severity, a help text, and no unfilled hole", () => {
  const home = repo("test/golden/diagnostics");
  for (const folder of readdirSync(home)) {
    for (const { code, severity, message, help } of JSON.parse(readFileSync(`${home}/${folder}/expected.json`, "utf8")) as readonly LocatedDiagnostic[]) {
      const entry = (CODES as { readonly [code: string]: CodeEntry })[code];
      assert.ok(entry !== undefined && (entry.severity === severity || entry.severity.includes(severity as never)), `${folder}: ${code} ${severity}`);
      assert.ok(help !== null && help !== "", `${folder}: ${code} has no help`);
      assert.ok(!/(?<![$\\p])\{[a-z]+\}/.test(`${message} ${help}`), `${folder}: ${message} / ${help}`);
    }
  }
});

test.run();
