/** Catalogs as the existing system takes them, each with the codes it gives there: every VB code a file alone can cause. */
import assert from "node:assert/strict";
import { CODES } from "../../runtime/abi/codes.js";
import { suite } from "../lib/suite.js";
import { codesOf } from "./source.js";

const test = suite("codes of existing catalogs");

const ENV = { env: { KEY: "k", DSN: "postgres://db", TENANT: "acme" } };

/** Connections as they are written for each backend. */
const QDRANT = "backend: qdrant, url: http://localhost:6333";
const PGVECTOR = 'backend: pgvector, dsn: "${DSN}", table: invoices';
const CHROMA = "backend: chroma, url: http://localhost:8000";
const PINECONE = 'backend: pinecone, api_key: "${KEY}", host: index-1.svc.pinecone.io';
const WEAVIATE = "backend: weaviate, url: http://localhost:8080";
const MILVUS = "backend: milvus, uri: http://localhost:19530";

const TOOL = { name: "search_invoices", description: "Search invoices by meaning, client and state of payment.", target: "{ connection: main, collection: invoices }" };

/** A tool in flow lines; `undefined` leaves a key out. */
function tool(keys: { readonly [key: string]: string | undefined } = {}): string {
  const lines = Object.entries({ ...TOOL, ...keys }).filter(([, value]) => value !== undefined);
  return `  - ${lines.map(([key, value]) => `${key}: ${value}`).join("\n    ")}\n`;
}

interface Catalog {
  /** Settings of the connection `main`. */
  readonly main?: string;
  readonly tools?: string;
  /** Other top-level keys. */
  readonly more?: string;
}

const written = (version: string, { main = QDRANT, tools = tool({ query: "{}" }), more = "" }: Catalog): string =>
  `tds_version: "${version}"\nconnections:\n  main: { ${main} }\n${more}tools:\n${tools === "" ? "  []\n" : tools}`;

const BUILTIN = (keys: string, defaults = ""): string => `, builtin_tools: { ${keys} }${defaults === "" ? "" : `, builtin_defaults: { ${defaults} }`}`;
const PARAMETER = (text: string): string => tool({ query: "{}", parameters: `[{ ${text} }]` });
const PIPELINE = (steps: string): string => tool({ kind: "pipeline", target: undefined, steps });
const RETRIEVE = "{ retrieve: { target: { connection: main, collection: invoices }, query: {} } }";

/** What is written, and the codes apart from VB2024, which every connection has, and VB0002, which version 1 has. */
const TABLE: readonly (readonly [what: string, catalog: Catalog, codes: readonly string[]])[] = [
  ["a plain qdrant catalog", {}, []],
  ["a plain pgvector catalog", { main: PGVECTOR }, []],
  ["a plain chroma catalog", { main: CHROMA }, []],
  ["a plain pinecone catalog", { main: PINECONE }, []],
  ["a plain weaviate catalog", { main: WEAVIATE }, []],
  ["a plain milvus catalog", { main: MILVUS }, []],
  ["no tools at all", { tools: "" }, []],
  ["a key that does not exist, at the top", { more: "tool_defaults: {}\n" }, ["VB0001"]],
  ["keys that do not exist, further down", { main: `${QDRANT}, timeout: 3`, tools: tool({ query: "{ top_k: 3 }" }) }, ["VB0001", "VB0001"]],
  ["a variable where none may be", { tools: tool({ query: "{}", static_filters: '[{ path: tenant, value: "${TENANT}" }]' }) }, ["VB1003"]],
  ["a variable in the built-ins' filters", { main: `${QDRANT}${BUILTIN("get_by_id: true", 'collections: [invoices], static_filters: [{ path: tenant, value: "${TENANT}" }]')}` }, []],
  ["a key written into the file", { main: "backend: qdrant, url: http://localhost:6333, api_key: sk-1234567890abcdefghij" }, ["VB1003"]],
  ["a password in a dsn", { main: "backend: pgvector, dsn: postgres://app:hunter2hunter2@db/app, table: invoices" }, ["VB1003"]],
  ["an operator its type has not", { tools: PARAMETER("name: total, path: total, dtype: float, op: contains_any") }, ["VB2001"]],
  ["two parameters of one name", { tools: tool({ query: "{}", parameters: "[{ name: client, path: client }, { name: client, path: client_name }]" }) }, ["VB2002"]],
  ["like on qdrant", { tools: PARAMETER("name: client, path: client, op: like") }, ["VB2004"]],
  ["text_match on milvus", { main: MILVUS, tools: PARAMETER("name: body, path: body, op: text_match") }, ["VB2004"]],
  ["a nested path on chroma", { main: CHROMA, tools: PARAMETER("name: city, path: address.city") }, ["VB2004"]],
  ["a nested static filter on weaviate", { main: WEAVIATE, tools: tool({ query: "{}", static_filters: "{ must: [{ path: a.b, value: 1 }] }" }) }, ["VB2004"]],
  ["lists on chroma", { main: CHROMA, tools: PARAMETER('name: tags, path: tags, dtype: "keyword[]", op: contains_any') }, ["VB2004"]],
  ["scroll on pinecone", { main: PINECONE, tools: tool({ kind: "scroll" }) }, ["VB2004"]],
  ["a filtered count on pinecone", { main: PINECONE, tools: tool({ kind: "count", static_filters: "[{ path: tenant, value: acme }]" }) }, ["VB2004"]],
  ["a lookup with a list's limit", { tools: tool({ kind: "lookup" }) }, ["VB2006"]],
  ["a tool named like a reserved one", { tools: tool({ name: "get_started", query: "{}" }) }, ["VB2010"]],
  ["a tool named like a built-in", { main: `${QDRANT}${BUILTIN("count: true", "collections: [invoices]")}`, tools: tool({ name: "count_main", query: "{}" }) }, ["VB2010"]],
  ["hybrid on chroma", { main: CHROMA, tools: tool({ query: "{ mode: hybrid }" }) }, ["VB2012"]],
  ["hybrid on weaviate", { main: WEAVIATE, tools: tool({ query: "{ mode: hybrid, alpha: 0.3 }" }) }, ["VB2013"]],
  ["a meta tool of one's own", { tools: tool({ kind: "meta", target: undefined }) }, ["VB2014"]],
  ["several collections in one tool", { tools: tool({ query: "{}", target: "{ connection: main, collection: [a, b] }" }) }, ["VB2015"]],
  ["a vector search over a plain table", { main: 'backend: pgvector, dsn: "${DSN}", mode: table', tools: tool({ query: "{}" }) }, ["VB2016"]],
  ["a lookup in a plain table", { main: 'backend: pgvector, dsn: "${DSN}", vector_column: null', tools: tool({ kind: "lookup", output: "{ limit_default: 1 }" }) }, []],
  ["static filters with a third branch", { tools: tool({ query: "{}", static_filters: "{ must: [], should: [] }" }) }, ["VB0001", "VB2021"]],
  ["a min_score above 1", { tools: tool({ query: "{ min_score: 1.5 }" }) }, ["VB2022"]],
  ["ef where there is none", { main: PINECONE, tools: tool({ query: "{ ef: 64 }" }) }, ["VB2023"]],
  ["built-ins that would lose their filter", { main: `${PINECONE}${BUILTIN("get_by_id: true, count: true", "static_filters: [{ path: tenant, value: acme }]")}` }, ["VB2025", "VB2025"]],
  ["a pipeline that filters nothing", { tools: PIPELINE(`[${RETRIEVE}, { post_filter: { expr: "  " } }]`) }, ["VB2102"]],
  ["a short description", { tools: tool({ query: "{}", description: "Search all the invoices." }) }, ["VB3001"]],
  ["a description that is the name", { tools: tool({ name: "search_invoices_of_all_clients", query: "{}", description: "Search invoices of all clients" }) }, ["VB3001", "VB3002"]],
  ["a built-in search beside a tool's", { main: `${QDRANT}${BUILTIN("semantic_search: true", "collections: [invoices]")}` }, ["VB3003"]],
  ["a built-in search over everything", { main: `${QDRANT}${BUILTIN("semantic_search: true")}`, tools: "" }, ["VB3004"]],
  ["a built-in described in two words", { main: `${QDRANT}${BUILTIN("semantic_search: true", "collections: [invoices], descriptions: { count: Count them. }")}`, tools: "" }, ["VB3005"]],
  ["tenants by a claim without its name", { more: "security: { tenancy: { mode: claim } }\n" }, ["VB4011"]],
  ["a parameter on the tenant's field", { more: "security: { tenancy: { mode: header, path: org } }\n", tools: PARAMETER("name: org, path: org") }, ["VB4012"]],
  ["roles without a role", { more: "security: { rbac: { enabled: true } }\n" }, ["VB4013"]],
  ["a role for a tool that is not there", { more: "security: { rbac: { enabled: true, roles: { viewer: { allow: [search_invoice, run_tool] } } } }\n" }, ["VB4014"]],
  ["a directory on pinecone", { main: PINECONE, tools: PARAMETER("name: client, path: client, resolve: { kind: directory }") }, ["VB4021"]],
  ["vault without a path", { main: `${QDRANT}, credentials: { provider: vault }` }, ["VB4040"]],
  ["a secrets manager without an id", { main: `${QDRANT}, credentials: { provider: aws_sm }` }, ["VB4041"]],
  ["a cluster secret without a name", { main: `${QDRANT}, credentials: { provider: k8s, k8s: { key: token } }` }, ["VB4042"]],
];

for (const [what, catalog, codes] of TABLE) {
  test(what, () => {
    assert.deepEqual([...codesOf(written("2", catalog), ENV)].sort(), ["VB2024", ...codes].sort());
    assert.deepEqual([...codesOf(written("1", catalog), ENV)].sort(), ["VB0002", "VB2024", ...codes].sort());
  });
}

/** Codes that no row above can have, and why. */
const ELSEWHERE: { readonly [code: string]: string } = {
  VB2005: "compat.test.ts, beside a note of our own", VB2011: "refused as VB2014 before", VB2019: "golden/diagnostics: depends on what is installed",
  VB2020: "golden/diagnostics: was a structural error there", VB2101: "golden/diagnostics: was a structural error there", VB4032: "golden/diagnostics: depends on what is installed",
  VB2017: "only a store can tell", VB2018: "only a store can tell", VB2026: "only a store can tell", VB4003: "only a store can tell", VB4004: "only a store can tell",
  VB4001: "of a call", VB4002: "of a call", VB4010: "of a call", VB4020: "of a call", VB4030: "of a call", VB4031: "of a call",
};

test("every VB code is in the table or has a reason not to be", () => {
  const seen = new Set(["VB0002", "VB2024", ...TABLE.flatMap(([, , codes]) => codes)]);
  assert.deepEqual(Object.keys(CODES).filter((code) => code.startsWith("VB") && !seen.has(code) && !(code in ELSEWHERE)), []);
  assert.deepEqual(Object.keys(ELSEWHERE).filter((code) => seen.has(code) || !(code in CODES)), []);
});

test.run();
