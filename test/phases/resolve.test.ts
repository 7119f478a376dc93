/** Phase 2: defaults, environment references, secrets, built-ins. */
import assert from "node:assert/strict";
import { parse } from "../../generator/1-parse/index.js";
import { parseEnvFile } from "../../runtime/config/env-file.js";
import { resolve } from "../../generator/2-resolve/index.js";
import type { Resolved } from "../../generator/ir.js";
import { suite } from "../lib/suite.js";
import { codesOf, diagnosed, HEAD, searchTool, type Options } from "./source.js";
import { optionsOf } from "./source.js";
import type { TextReference } from "../../runtime/abi/plan.js";
import { fill } from "../../runtime/abi/references.js";

const test = suite("resolve");

function resolved(text: string, options: Options = {}): Resolved {
  const parsed = parse({ path: "tools.yaml", text });
  assert.ok(parsed.value);
  return resolve(parsed.value, optionsOf(options)).value;
}

const connection = (fields: string): string => `tds_version: "2"\nconnections:\n  main: { ${fields} }\n`;
const settings = (fields: string, options: Options = {}): unknown => resolved(connection(fields), options).connections[0]?.settings;

test("a tool without optional keys has the documented defaults", () => {
  const text = `${HEAD}tools:\n  - name: find_it\n    description: Search the articles by meaning, for any question.\n    target: { connection: main, collection: articles }\n    query: {}\n    parameters: [{ name: state }]\n`;
  const [tool] = resolved(text).tools;
  assert.ok(tool);
  assert.deepEqual([tool.kind, tool.rerank, tool.steps], ["search", null, []]);
  const { at: _, embedding, ...query } = tool.query ?? assert.fail();
  assert.deepEqual(query, { param: "query", required: false, mode: "dense", alpha: 0.5, minScore: null, ef: null, expand: null });
  assert.deepEqual(embedding, { provider: "local", model: "hashing-256", dims: 256, config: {}, space: null, origin: "default", at: ["defaults", "embedding"] });
  const { at: __, ...output } = tool.output;
  assert.deepEqual(output, { fields: null, limitDefault: 10, limitDefaultOrigin: "default", limitMax: 50, includeScore: true, includeId: true, maxFieldLength: null, truncateSuffix: "…", redact: [] });
  const { at: ___, ...parameter } = tool.parameters[0] ?? assert.fail();
  assert.deepEqual(parameter, { name: "state", path: null, dtype: "keyword", op: null, required: false, description: null, enum: null, default: undefined, max: null, maxLength: null, resolve: null });
});

test("what is stated and what is inherited is carried, not read off a position", () => {
  const origins = (head: string, written: string): unknown => {
    const [tool] = resolved(`${head}tools:\n${searchTool("find_it").replace("required: true", written)}`).tools;
    return [tool?.query?.embedding.origin, tool?.query?.embedding.at.join(".")];
  };
  const bare = HEAD.replace(/^defaults.*\n/m, "");
  assert.deepEqual(origins(HEAD, "required: true"), ["default", "defaults.embedding"]);
  assert.deepEqual(origins(HEAD, "embedding: local/hashing-512"), ["stated", "tools.0.query.embedding"]);
  assert.deepEqual(origins(bare, "required: true"), ["default", "tools.0.query"]);
  assert.deepEqual(origins(bare, "embedding: local/hashing-512"), ["stated", "tools.0.query.embedding"]);
  const lookup = (output: string): unknown => resolved(`${HEAD}tools:\n${searchTool("find_it", output)}`).tools[0]?.output.limitDefaultOrigin;
  assert.deepEqual([lookup(""), lookup("    output: { limit_default: 10 }\n")], ["default", "stated"]);
});

test("backend settings have their defaults; keys of other backends are not taken over", () => {
  assert.deepEqual(settings("backend: sqlite, path: a.db, url: x"), { path: "a.db" });
  assert.deepEqual(settings("backend: pgvector, dsn: d"), { dsn: "d", vector_column: "embedding", id_column: "id" });
  assert.deepEqual(settings("backend: pgvector, dsn: d, vector_column: null"), { dsn: "d", vector_column: null, id_column: "id" });
  assert.deepEqual(settings("backend: weaviate, url: u, api_key: null"), { url: "u", embedding_mode: "auto" });
});

test("embeddings: string and object forms, older names, known lengths", () => {
  const of = (written: string): unknown => {
    const text = `connections:\n  main: { backend: sqlite, path: a.db }\ntools:\n${searchTool("find_it").replace("required: true", `embedding: ${written}`)}`;
    const { provider, model, dims } = resolved(text).tools[0]?.query?.embedding ?? assert.fail();
    return [provider, model, dims];
  };
  const table: readonly (readonly [string, readonly unknown[]])[] = [
    ["local/hashing-1024", ["local", "hashing-1024", 1024]],
    ["hashing-512", ["local", "hashing-512", 512]],
    ["fastembed/BAAI/bge-small-en-v1.5", ["local", "BAAI/bge-small-en-v1.5", 384]],
    ["BAAI/bge-small-en-v1.5", ["local", "BAAI/bge-small-en-v1.5", 384]],
    ["openai/text-embedding-3-large", ["hosted", "text-embedding-3-large", 3072]],
    ["hosted/text-embedding-3-large", ["hosted", "text-embedding-3-large", 3072]],
    ["azure_openai/my-deployment", ["hosted_cloud", "my-deployment", null]],
    ["cohere/embed-english-v3.0", ["hosted_alt", "embed-english-v3.0", 1024]],
    ["http/anything", ["http", "anything", null]],
    ["text-embedding-3-small", ["local", "text-embedding-3-small", 1536]],
    ['""', ["local", "BAAI/bge-small-en-v1.5", 384]],
    ["null", ["local", "BAAI/bge-small-en-v1.5", 384]],
    ["{ provider: openai, model: x, dims: 7 }", ["hosted", "x", 7]],
    ["{ provider: fastembed }", ["local", "BAAI/bge-small-en-v1.5", 384]],
    ["{ model: fastembed/acme/model }", ["local", "acme/model", null]],
  ];
  for (const [written, want] of table) assert.deepEqual(of(written), want, written);
});

test("a reference stays open in every program, whatever the environment holds", () => {
  const text = 'backend: qdrant, url: "https://${HOST}:${PORT:-6333}/", api_key: "${KEY}"';
  const open = { url: { $concat: ["https://", { $env: "HOST" }, ":", { $env: "PORT", default: "6333" }, "/"] }, api_key: { $env: "KEY" } };
  for (const options of [{ unfilled: true }, { env: { KEY: "secret", HOST: "h" } }, { env: {} }]) assert.deepEqual(settings(text, options), open);
});

test("references are filled from the map, with defaults and several in one text", () => {
  const env = new Map([["HOST", "db.example.com"], ["EMPTY", ""], ["PORT", "8080"], ["A", "${HOST}"]]);
  const url = (text: string): unknown => fill((settings(`backend: qdrant, url: "${text}"`) as { url: TextReference }).url, env, new Set());
  const table: readonly (readonly [string, string])[] = [
    ["${HOST}", "db.example.com"], ["http://${HOST}:${PORT}/x", "http://db.example.com:8080/x"], ["${NONE:-fallback}", "fallback"],
    ["${NONE:-}", ""], ["${EMPTY:-fallback}", ""], ["${HOST:-other}", "db.example.com"], ["$HOST and ${A-B}", "$HOST and ${A-B}"],
    ["${X:-${Y:-z}}", "${Y:-z}"], ["${A}", "${HOST}"],
  ];
  for (const [text, want] of table) assert.equal(url(text), want, text);
});

test("a map of the catalog that looks like an open reference is refused, not taken for one", () => {
  for (const key of ["$env", "$concat"]) {
    const text = `${HEAD}tools:\n${searchTool("find_it").replace("required: true", `required: true, embedding: { config: { headers: { a: { ${key}: HOME } } } }`)}`;
    assert.deepEqual(diagnosed(text).filter(({ code }) => code === "VB1003").map(({ message }) => message), [`the key '${key}' of 'tools[0].query.embedding.config.headers.a' is reserved`]);
    const guard = `${HEAD}tools:\n${searchTool("find_it", `    static_filters: [{ path: a, value: { ${key}: HOME } }]\n`)}`;
    assert.ok(diagnosed(guard).some(({ severity }) => severity === "error"), "a tool's own filter");
const builtin = `connections: { main: { backend: sqlite, path: a.db, builtin_defaults: { static_filters: [{ path: t, value: { ${key}: HOME } }] } } }\n`;
    assert.ok(codesOf(builtin).includes("VB1003"), "a filter of built-ins");
  }
});

test("each missing variable is reported once, at its first reference", () => {
  const found = diagnosed(`${connection('backend: qdrant, url: "${A} ${B}", api_key: "${A}"')}`).filter(({ code }) => code === "missing_env");
  assert.deepEqual(found.map(({ message, column }) => [message, column]), [["no value for A", 33], ["no value for B", 33]]);
  assert.deepEqual(codesOf(connection('backend: qdrant, url: "${A}"'), { unfilled: true }), ["VB2024"], "without an environment nothing is missed");
});

test("references are allowed where facts allow them, and VB1003 everywhere else", () => {
  const within = (text: string): readonly string[] => codesOf(text, { env: { X: "x" } }).filter((code) => code === "VB1003");
  const allowed = [
    `${HEAD}security: { auth: { jwt: { issuer: "\${X}" }, api_key: { keys_file: "\${X}" } }, rate_limit: { redis_url: "\${X}" } }\n`,
    `${HEAD}observability: { tracing: { endpoint: "\${X}" }, audit: { url: "\${X}", path: "\${X}" } }\n`,
    `${HEAD}tools:\n${searchTool("find_it").replace("required: true", 'embedding: { config: { a: [{ b: "${X}" }] } }, expand: { config: { api_key: "${X}" } }')}    rerank: { config: { headers: { a: "\${X}" } } }\n`,
    `connections: { main: { backend: sqlite, path: a.db, builtin_defaults: { static_filters: [{ path: t, value: "\${X}" }] } } }\n`,
    `${HEAD}tools:\n${searchTool("find_it", "    static_filters: [{ path: a, value: $X }]\n")}`,
  ];
  for (const text of allowed) assert.deepEqual(within(text), [], text);
  const forbidden = [
    `${HEAD}meta: { tool_catalog_version: "\${X}" }\n`,
    `${HEAD}tools:\n${searchTool("find_it", '    static_filters: [{ path: a, value: "${X}" }]\n')}`,
    `${HEAD}tools:\n${searchTool("find_it").replace("collection: articles", 'collection: "${X}"')}`,
    `${HEAD}security: { tenancy: { header: "\${X}" } }\n`,
    HEAD.replace("local/hashing-256", '"${X}"'),
    `${HEAD}observability: { tracing: { service_name: "\${X}" } }\n`,
  ];
  for (const text of forbidden) assert.deepEqual(within(text), ["VB1003"], text);
});

test("secrets written out are found, long addresses are not taken for secrets", () => {
  const found = (fields: string): boolean => codesOf(connection(fields)).includes("VB1003");
  const secrets = [
    "backend: qdrant, url: u, api_key: sk-abcdefghijklmnop", "backend: qdrant, url: u, api_key: 9f8a7b6c5d4e3f2a1b0c",
    'backend: pgvector, dsn: "postgres://app:hunter2@db/app"', 'backend: pgvector, dsn: "host=db password=hunter2"',
    'backend: qdrant, url: "https://user:pw@qdrant.example.com"', "backend: milvus, uri: u, token: eyJhbGciOiJIUzI1NiJ9.e30.x",
  ];
  for (const fields of secrets) assert.ok(found(fields), fields);
  const ordinary = [
    "backend: qdrant, url: 'https://qdrant.example.com:6333'", "backend: milvus, uri: 'http://localhost:19530'",
    "backend: qdrant, url: 'https://ssl.eu-central-1.a-very-long-name.example.com:6334/path'", 'backend: qdrant, url: u, api_key: "${KEY:-}"',
    "backend: qdrant, url: u, api_key: short", 'backend: pgvector, dsn: "postgres://app:${PASSWORD:-}@db/app"', "backend: pgvector, dsn: 'host=db password=${PW:-}'",
  ];
  for (const fields of ordinary) assert.ok(!found(fields), fields);
});

test("secrets in rerank, expand and header maps are found too", () => {
  const tool = (extra: string, query = ""): string => `${HEAD}tools:\n${searchTool("find_it", extra).replace("required: true", `required: true${query}`)}`;
  assert.ok(codesOf(tool("    rerank: { config: { api_key: 9f8a7b6c5d4e3f2a1b0c } }\n")).includes("VB1003"));
  assert.ok(codesOf(tool("", ", expand: { config: { headers: { X-Auth: 9f8a7b6c5d4e3f2a1b0c } } }")).includes("VB1003"));
  assert.ok(!codesOf(tool("    rerank: { config: { base_url: 'https://rerank.internal.example.com/v1/rerank?model=large' } }\n")).includes("VB1003"));
});

test("messages never show the secret", () => {
  const text = connection("backend: qdrant, url: u, api_key: sk-abcdefghijklmnop");
  assert.ok(!JSON.stringify(diagnosed(text)).includes("abcdefgh"));
});

test("built-ins follow the user's tools, in connection order", () => {
  const all = "builtin_tools: { semantic_search: true, get_by_id: true, count: true, list_collections: true }";
  const text = `connections:\n  b: { backend: sqlite, path: b.db, ${all}, builtin_defaults: { collections: [one] } }\n  a: { backend: sqlite, path: a.db, ${all}, builtin_defaults: { collections: [one, two] } }\n  main: { backend: sqlite, path: a.db }\ntools:\n${searchTool("find_it")}`;
  const { tools } = resolved(text);
  assert.deepEqual(tools.map(({ name, kind }) => `${name} ${kind}`), [
    "find_it search", "search_b search", "get_b_by_id lookup", "count_b count", "list_b_collections meta",
    "search_a search", "get_a_by_id lookup", "count_a count", "list_a_collections meta",
  ]);
  const parameters = (name: string): readonly string[] => tools.find((tool) => tool.name === name)?.parameters.map((parameter) => parameter.name) ?? [];
  assert.deepEqual(parameters("get_b_by_id"), ["id"]);
  assert.deepEqual(parameters("get_a_by_id"), ["collection", "id"]);
  assert.deepEqual(tools.find((tool) => tool.name === "count_a")?.target?.collection, { arg: "collection", allowed: ["one", "two"] });
  assert.deepEqual(tools.find((tool) => tool.name === "get_b_by_id")?.output.limitMax, 1);
  assert.deepEqual(tools[1]?.at, ["connections", "b", "builtin_tools", "semantic_search"]);
});

test("a filter of builtin_defaults is in every built-in, its references open", () => {
  const text = `connections:\n  main: { backend: sqlite, path: a.db, builtin_tools: { semantic_search: true, count: true }, builtin_defaults: { collections: [c], static_filters: { must: [{ path: org, value: "\${ORG}" }] } } }\n`;
  const { tools } = resolved(text, { env: { ORG: "acme" } });
  assert.deepEqual(tools.map(({ staticFilters }) => staticFilters.must.map(({ path, op, value }) => [path, op, value])), [[["org", "eq", { $env: "ORG" }]], [["org", "eq", { $env: "ORG" }]]]);
});

test("a user tool of the same name keeps the built-in out", () => {
  const text = `connections:\n  main: { backend: sqlite, path: a.db, builtin_tools: { count: true } }\ntools:\n${searchTool("count_main")}`;
  assert.deepEqual(resolved(text).tools.map(({ origin }) => origin), ["user"]);
});

test("the env file is split at the first = and nothing is unquoted", () => {
  const file = "\uFEFFA=1\n# B=2\n\n C = c c =d \nnothing\nD='q'\nexport E=5\nA=last\r\n";
  assert.deepEqual([...parseEnvFile(file).values], [["A", "last"], ["C", "c c =d"], ["D", "'q'"], ["export E", "5"]]);
});

test("sections that are off are absent from the settings", () => {
  const off = `${HEAD}security: { rbac: { enabled: false, roles: { a: {} } }, rate_limit: { store: memory } }\nobservability: { audit: { enabled: false }, tracing: {}, metrics: {} }\nauthoring: { define_tool: false }\n`;
  assert.deepEqual(resolved(off).settings, {});
  const on = `${HEAD}deadline_s: 5\nsecurity: { rate_limit: { enabled: true, global_limits: { requests_per_minute: 10 } } }\nobservability: { metrics: { enabled: true } }\nprofiles: { enterprise: }\n`;
  assert.deepEqual(resolved(on).settings, {
    deadline_s: 5,
    security: { rate_limit: { store: "memory", on_store_error: "closed", global: { requests_per_minute: 10 }, per_principal: {}, per_tool: {} } },
    observability: { metrics: { enabled: true } },
    hardening: { disable_authoring: true, disable_meta_tools: true, require_tenancy: true, max_limit_max: 100, allowed_backends: null },
  });
});

test.run();
