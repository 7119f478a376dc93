/**
 * Catalogs as users of the existing system have them: every construct, both versions, and exactly the codes that these
 * had there (TS notes of our own aside, which are named where they occur).
 */
import assert from "node:assert/strict";
import { suite } from "../lib/suite.js";
import { codesOf, compiled, diagnosed, type Options } from "./source.js";

const test = suite("existing catalogs");

const FIRST = `
tds_version: "1"
connections:
  main:
    backend: qdrant
    url: \${QDRANT_URL:-http://localhost:6333}
    api_key: \${QDRANT_API_KEY:-}
    builtin_tools:
      semantic_search: true
      get_by_id: true
      list_collections: true
    builtin_defaults:
      collections: [invoices]
defaults:
  embedding: fastembed/BAAI/bge-small-en-v1.5
# authoring:
#   define_tool: true
tools:
  - name: search_invoices
    description: Search invoices by client and status. Use when the user asks about invoices.
    kind: search
    target: {connection: main, collection: invoices}
    query: {param: query, required: false}
    parameters:
      - {name: client, path: client_name, dtype: keyword, op: eq}
      - {name: status, path: status, dtype: keyword, op: in, enum: [draft, sent, paid, overdue]}
    output:
      fields: [invoice_id, client_name, status, amount]
      limit_default: 10
      limit_max: 50
`;

test("the first file that existing users were given", () => {
  assert.deepEqual([...codesOf(FIRST)].sort(), ["VB0002", "VB2024", "VB3003"]);
  assert.deepEqual(Object.keys(compiled(FIRST).value?.plans.tools ?? {}), ["search_invoices", "search_main", "get_main_by_id", "list_main_collections"]);
});

const EVERYTHING = `
tds_version: "2"
meta: {tool_catalog_version: "2026-08-22", deprecated: [{name: old_tool, since: "3"}]}
connections:
  docs:
    backend: qdrant
    url: \${QDRANT_URL}
    api_key: \${QDRANT_KEY:-}
    credentials: {provider: vault, vault: {addr: "https://vault.internal:8200", path: secret/data/docs, role: reader}}
  rows: {backend: pgvector, dsn: "\${DSN}", table: invoices, vector_column: embedding, mode: vector, id_column: id}
  plain: {backend: pgvector, dsn: "\${DSN}", mode: table, credentials: {provider: aws_sm, aws_sm: {secret_id: prod/pg, region: eu-central-1}}}
  chroma: {backend: chroma, url: "http://localhost:8000", auth_token: "\${CHROMA_TOKEN:-}"}
  pines: {backend: pinecone, api_key: "\${PINECONE_KEY}", host: index-1.svc.pinecone.io, namespace: acme, builtin_tools: {semantic_search: yes}, builtin_defaults: {collections: [acme], output: {fields: [title], limit_max: "20"}, descriptions: {semantic_search: "Search the pinecone index of acme by meaning, when nothing else fits."}}}
  weave: {backend: weaviate, url: "http://localhost:8080", api_key: "\${WEAVIATE_KEY:-}", tenant: acme, embedding_mode: auto}
  milv: {backend: milvus, uri: "http://localhost:19530", token: null, user: root, password: "\${MILVUS_PW:-}", database: default, credentials: {provider: k8s, k8s: {secret: milvus, key: token, namespace: prod}}}
defaults:
  embedding: {provider: openai, model: text-embedding-3-small, dims: 1536, config: {api_key: "\${OPENAI_KEY}", base_url: "https://api.openai.com/v1", timeout_s: 30, batch_size: 32}}
authoring: {define_tool: off}
security:
  tenancy: {mode: claim, claim: org_id, header: X-Org, path: org_id, op: eq, enforce: warn}
  auth:
    mode: jwt
    jwt: {issuer: "https://idp.example.com", audience: tools, jwks_url: "https://idp.example.com/jwks", algorithms: [RS256], principal_claim: sub, claims_prefix: ""}
    api_key: {header: X-Api-Key, scheme: none, keys_file: "\${KEYS_FILE:-keys.json}"}
  rbac: {enabled: true, default_role: viewer, role_claim: roles, roles: {viewer: {allow: [search_docs, run_tool]}, admin: {allow: ["*"]}}, deny_tools: [count_rows]}
  rate_limit: {enabled: true, store: redis, redis_url: "\${REDIS:-redis://localhost}", global: {requests_per_minute: 600}, per_principal: {requests_per_minute: 60, embed_requests_per_minute: 30, llm_requests_per_minute: 10}, per_tool: {search_docs: 30/minute, count_rows: 5/h}}
observability:
  audit: {enabled: true, sink: http, format: jsonl, path: null, url: "\${AUDIT_URL:-http://localhost:9000}", include: {args: true, result_count: true, latency_ms: true, search_mode: true, warnings: true}, exclude_tools: [count_rows], redact: {arg_fields: [password], row_fields: []}}
  tracing: {enabled: true, exporter: otlp, endpoint: "\${OTEL:-http://localhost:4318}", service_name: tools}
  metrics: {enabled: true, port: 9090}
profiles: {enterprise: {security: {hardening: {disable_authoring: true, disable_meta_tools: false, require_tenancy: true, max_limit_max: 500, allowed_backends: null}}}}
tools:
  - name: search_docs
    description: >
      Search the documentation by meaning, with filters for state and year.
      Use when the user asks how something works.
    target: {connection: docs, collection: documentation}
    query: {param: q, required: true, embedding: cohere/embed-english-v3.0, mode: dense, alpha: 0.7, min_score: 0.3, ef: 128, expand: {enabled: true, provider: openai, model: gpt-4o-mini, variants: 2, config: {api_key: "\${OPENAI_KEY}"}}}
    filter_logic: and
    static_filters: {must: [{path: published, op: eq, value: yes}, {path: year, op: gte, value: 2_000}], must_not: [{path: state, op: in, value: [draft, archived]}]}
    parameters:
      - {name: kw, path: kw, dtype: keyword, op: eq, enum: [a, b], description: d, default: a}
      - {name: n, path: n, dtype: integer, op: gte, max: 10}
      - {name: f, path: f, dtype: float, op: in}
      - {name: b, path: b, dtype: boolean, op: eq}
      - {name: dt, path: dt, dtype: datetime, op: gte}
      - {name: dts, path: dt, dtype: datetime, op: in}
      - {name: arr, path: meta.arr, dtype: "keyword[]", op: contains_any}
      - {name: nopath}
      - {name: unk, dtype: unknown}
      - {name: txt, path: body, op: text_match}
      - {name: dir, path: client, resolve: {kind: directory, connection: docs, collection: clients, field: name, min_confidence: 0.8, max_candidates: 100, cache_ttl_s: 60}}
      - {name: req, path: req, required: true, resolve: {kind: enum}}
    output: {fields: [title, meta.author], limit_default: 5, limit_max: 20, include_score: false, include_id: true, max_field_length: 400, truncate_suffix: "...", redact: [{path: card, mode: hash}, {path: mail, mode: mask}, {path: secret}, {path: phone, mode: pattern, patterns: [{regex: "\\\\d{3}-(?P<rest>\\\\d+)", replacement: "***-\\\\1"}]}]}
    rerank: {enabled: true, provider: cohere, model: rerank-english-v3.0, retrieve_k: 40, config: {api_key: "\${COHERE_KEY:-}"}}
  - name: get_row
    kind: lookup
    description: Look up one invoice by its number, when the user names it.
    target: {connection: rows, collection: invoices}
    parameters: [{name: number, path: invoice_id, required: true}]
    output: {limit_default: 1}
  - name: count_rows
    kind: count
    description: Count the invoices, optionally of one client only.
    target: {connection: rows, collection: invoices}
    static_filters: [{path: tenant, value: acme}]
    parameters: [{name: client, path: client_name, op: like}]
  - name: list_plain
    kind: scroll
    description: List the rows of the plain table in the order of their ids.
    target: {connection: plain, collection: anything}
  - name: top_docs
    kind: pipeline
    description: The newest documents of each author, for an overview of all of them.
    parameters: [{name: since, dtype: integer, default: 2020}, {name: each, dtype: integer}]
    query: {param: q}
    steps:
      - retrieve:
          target: {connection: docs, collection: documentation}
          filter: {and: [{path: state, op: eq, value: open}, {or: [{path: year, op: gte, param: since}, {path: pinned, op: exists, value: true}]}, {path: lang, op: in, value: {param: since}}]}
          fetch: {k_param: limit, overfetch_factor: 5, max_candidates: 500}
      - post_filter: {expr: "year >= params.since and not (rating < 3 or title == 'x')"}
      - group_by: {keys: [author], per_group: {sort_by: year, desc: true, take: params.each}}
      - sort: {by: year, desc: true}
      - project: {fields: [title, author, year]}
  - name: search_chroma
    description: Search the chroma collection by meaning, when nothing else fits.
    target: {connection: chroma, collection: notes}
    query: {}
    parameters: [{name: size, path: size, dtype: integer, op: lte}]
  - name: search_weave
    description: Search the weaviate class by meaning and words, when asked for it.
    target: {connection: weave, collection: Article}
    query: {mode: hybrid, alpha: 0.4}
    parameters: [{name: title, path: title, op: like}]
  - name: search_milv
    description: Search the milvus collection by meaning, when nothing else fits.
    target: {connection: milv, collection: items}
    query: {embedding: {provider: http, model: mini, dims: 384, config: {base_url: "http://embed:8080/v1/embeddings", headers: {X-Team: search}, request: {model_field: model, input_field: input}, response: {vectors_path: "data[*].embedding"}}}}
    parameters: [{name: owner, path: meta.owner}]
`;

const ENV: Options = { env: { QDRANT_URL: "http://q", DSN: "postgres://db", PINECONE_KEY: "k", OPENAI_KEY: "k" } };

test("a catalog with every key loads, with the codes it had", () => {
  const found = diagnosed(EVERYTHING, ENV).map(({ code, tool, path }) => `${code} ${tool ?? path ?? ""}`);
  assert.deepEqual(found, [
    "VB2024 connections.docs", "VB2024 connections.rows", "VB2024 connections.plain", "VB2024 connections.chroma",
    "VB2024 connections.pines", "VB3003 search_pines", "VB2024 connections.weave", "VB2024 connections.milv",
    // A note of our own: the directory is in another collection than the filters are for.
    "TS0271 observability.metrics", "TS0226 search_docs", "VB2013 search_weave",
  ]);
  const { value } = compiled(EVERYTHING, ENV);
  assert.equal(Object.keys(value?.plans.tools ?? {}).length, 9);
  assert.equal(value?.certificates.length, 9);
});

test("the same catalog as version 1 says so and nothing else", () => {
  const one = EVERYTHING.replace('tds_version: "2"', 'tds_version: "1"');
  assert.deepEqual(codesOf(one, ENV), ["VB0002", ...codesOf(EVERYTHING, ENV)]);
  assert.deepEqual(codesOf(one.replace('tds_version: "1"', ""), ENV), ["VB0002", ...codesOf(EVERYTHING, ENV)]);
});

test("built for later, no value of the environment is in the plans", () => {
  const { value } = compiled(EVERYTHING, { ...ENV, env: { ...ENV.env, DSN: "postgres://secret" } });
  assert.ok(value);
  const text = JSON.stringify(value.plans);
  assert.ok(!text.includes("postgres://secret"));
  assert.ok(text.includes('{"$env":"DSN"}'));
});

const TOOL = (extra: string, connection = "backend: qdrant, url: u"): string => `tds_version: "2"\nconnections:\n  main: { ${connection} }\ntools:\n  - name: find_it\n    description: Search the articles by meaning, for any question at all.\n    target: { connection: main, collection: articles }\n${extra}`;

test("one change at a time has its code", () => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    ["    parameters: [{ name: a, path: a, dtype: integer, op: contains_any }]\n", ["VB2001"]],
    ["    parameters: [{ name: a, path: a }, { name: a, path: b }]\n", ["VB2002"]],
    ["    parameters: [{ name: a, path: a, op: like }]\n", ["VB2004"]],
    ["    parameters: [{ name: a, path: a, dtype: integer, op: gt, enum: [1] }]\n", ["VB2005", "TS0503"]],
    ["    kind: lookup\n", ["VB2006"]],
    ["    kind: lookup\n    output: { limit_default: 1 }\n", []],
    ["    query: { mode: hybrid }\n", ["VB2013"]],
    ["    query: { min_score: 2 }\n", ["VB2022"]],
    ["    query: { min_score: 0.5, ef: 10 }\n", []],
    ["    static_filters: { must: [], must_not: [], may: [] }\n", ["VB2021", "VB0001"]],
    ["    static_filters:\n", []],
    ["    static_filters: []\n", []],
    ["    static_filters: [{ path: a, value: null }]\n", []],
    ["    unknown: 1\n", ["VB0001"]],
    ["    output: { fields: null, max_field_length: null }\n", []],
    ["    query: null\n    parameters: []\n    rerank: { enabled: no }\n    steps: null\n", []],
  ];
  for (const [extra, want] of table) assert.deepEqual(codesOf(TOOL(extra)).filter((code) => code !== "VB2024"), want, extra);
});

test("each backend refuses what it lacks and nothing else", () => {
  const connections: { readonly [backend: string]: string } = {
    qdrant: "backend: qdrant, url: u", pgvector: "backend: pgvector, dsn: d", chroma: "backend: chroma, url: u", pinecone: "backend: pinecone, api_key: k, host: h",
    weaviate: "backend: weaviate, url: u", milvus: "backend: milvus, uri: u", sqlite: "backend: sqlite, path: a.db",
  };
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["    query: {}\n    parameters: [{ name: a, path: a, op: like }]\n", ["qdrant", "chroma", "pinecone"]],
    ["    query: {}\n    parameters: [{ name: a, path: a, op: text_match }]\n", ["pgvector", "chroma", "pinecone", "milvus"]],
    ["    query: {}\n    parameters: [{ name: a, path: a.b }]\n", ["chroma", "pinecone", "weaviate"]],
    ["    query: {}\n    parameters: [{ name: a, path: a, dtype: 'keyword[]', op: in }]\n", ["chroma"]],
    ["    query: {}\n    parameters: [{ name: a, path: a, dtype: 'keyword[]', op: contains_all }]\n", ["chroma"]],
    ["    query: {}\n    static_filters: [{ path: a.b, value: 1 }]\n", ["chroma", "pinecone", "weaviate"]],
    ["    query: {}\n    static_filters: [{ path: a, op: exists, value: true }]\n", ["chroma", "pinecone", "weaviate", "milvus"]],
    ["    kind: scroll\n", ["pinecone"]],
    ["    kind: count\n", []],
    ["    kind: count\n    static_filters: [{ path: a, value: 1 }]\n", ["pinecone"]],
    ["    query: {}\n    parameters: [{ name: a, path: a, dtype: integer, op: gte }, { name: b, path: b, dtype: boolean }, { name: c, path: c, dtype: float, op: nin }]\n", []],
  ];
  for (const [extra, lacking] of cases) {
    const refusing = Object.entries(connections).filter(([, connection]) => codesOf(TOOL(extra, connection)).includes("VB2004")).map(([backend]) => backend);
    assert.deepEqual([...refusing].sort(), [...lacking].sort(), extra);
  }
});

test.run();
