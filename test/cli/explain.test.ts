/** `toolsrv explain`: what is shown of a tool, and that nothing is opened to show it. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import type { Explanation } from "../../generator/explain/text.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv explain");
const QUICKSTART = "specs/examples/quickstart/tools.yaml";

async function explain(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = memoryIo({ cwd: repo() });
  return { code: await run(["explain", ...words], io), out: io.out(), err: io.err() };
}

async function explained(tool: string, ...words: readonly string[]): Promise<Explanation> {
  const { code, out, err } = await explain(QUICKSTART, tool, "--json", ...words);
  assert.equal(code, EXIT.OK, err);
  return JSON.parse(out) as Explanation;
}

const TOOLS = ["search_movies", "search_paramount_movies", "get_movie", "count_movies", "list_movies", "search_box_office"];

test("every tool of the quickstart shows schema, plan, guard and native query", async () => {
  for (const tool of TOOLS) {
    const { code, out, err } = await explain(QUICKSTART, tool);
    assert.equal(code, EXIT.OK, err);
    const headings = out.split("\n").filter((line) => /^\S/.test(line));
    assert.match(headings[0] ?? "", new RegExp(`^${tool} · \\w+ · tools\\.yaml:\\d+$`));
    assert.deepEqual(headings.slice(1, 5), ["What the model sees", "Plan", "Who may call it", "Guard, as the checker showed it"]);
    assert.match(out, /\nNative query for \{.*\n {2}(search|fetch|count) on connection movies \(sqlite\)\n {4}SELECT /, tool);
    assert.equal(err, "");
  }
});

test("arguments are bound into the query as parameters, after the guard", async () => {
  const { calls, example } = await explained("search_paramount_movies", "--args", '{"query":"space","genre":["Drama"],"limit":3}');
  assert.equal(example, false);
  const { native } = calls[0] ?? { native: [] };
  const { sql, params } = native[0]?.query as { readonly sql: string; readonly params: readonly unknown[] };
  assert.equal(native.length, 1);
  assert.equal(sql.includes("Paramount"), false);
  assert.deepEqual([params[0], params[1], params.at(-1)], ["<vector of 512>", "Paramount Pictures", 3]);
  assert.ok(params.includes("Drama"));
  assert.ok(sql.indexOf('"distributor"') < sql.indexOf('"major_genre"'));
});

test("a tool whose query is optional is shown with and without it", async () => {
  const { calls, guards } = await explained("search_box_office");
  assert.deepEqual(calls.map(({ native }) => native.map(({ request }) => request)), [["search"], ["fetch"]]);
  assert.deepEqual(guards.map(({ branch }) => branch), ["search", "filter-only"]);
});

test("defaults are filled in and a limit is what the call would use", async () => {
  const { calls } = await explained("list_movies", "--args", '{"director":"Jane Campion"}');
  assert.deepEqual(calls[0]?.arguments, { director: "Jane Campion", limit: 10 });
});

test("who may call a tool is shown by role, with what becomes of callers without one", async () => {
  const words = async (tool: string): Promise<string> => {
    const { code, out, err } = await explain(repo("test/golden/emit/roles/tools.yaml"), tool);
    assert.equal(code, EXIT.OK, err);
    return /^Who may call it\n((?: {2}.*\n)+)/m.exec(out)?.[1] ?? "";
  };
  assert.equal(await words("search_articles"), "  role reader\n  role support\n  role owner\n  so may callers without the claim 'groups', who count as reader\n");
  assert.equal(await words("get_main_by_id"), "  role support\n  role owner\n  callers without the claim 'groups' count as reader and may not\n");
  assert.equal(await words("count_main"), "  nobody: it is among deny_tools, which wins over every allow\n");
  const { callers } = await explained("count_movies");
  assert.equal(callers, null);
});

const EVERY_BRANCH = (mode: string): string => `tds_version: "2"
connections:
  main: { backend: sqlite, path: ./main.db, builtin_tools: { semantic_search: true, get_by_id: true, count: true, list_collections: true }, builtin_defaults: { collections: [articles, notes], static_filters: [{ path: public, value: true }] } }
  pine: { backend: pinecone, api_key: "\${K}", host: "\${H}", namespace: eu }
  weav: { backend: weaviate, url: "http://w", api_key: "\${K}", tenant: acme }
defaults: { embedding: openai/text-embedding-3-small }
security:
  tenancy: { mode: ${mode}, claim: org, header: X-Org, path: org_id }
  rate_limit: { enabled: true, global: { requests_per_minute: 10 } }
tools:
  - name: search_docs
    description: Search the documents by meaning. Use it for questions about content.
    target: { connection: main, collection: docs }
    query: { expand: { enabled: true, provider: hosted } }
    rerank: { enabled: true }
    static_filters: { must: [{ path: state, op: in, value: [a, b] }], must_not: [{ path: hidden, value: true }] }
    parameters: [{ name: client, path: client, resolve: { kind: directory, collection: clients } }]
  - name: find_pine
    description: Search the other documents by meaning. Use it for everything else.
    target: { connection: pine, collection: docs }
    query: { required: true }
  - name: count_docs
    kind: count
    description: Count the documents there are. Use for questions after a number.
    target: { connection: weav, collection: docs }
  - name: list_docs
    kind: scroll
    description: List the documents there are. Use it to look around a little.
    target: { connection: main, collection: docs }
  - name: top_docs
    kind: pipeline
    description: Rank the documents by their votes. Use for questions after the best.
    static_filters: [{ path: hidden, op: ne, value: true }]
    steps: [{ retrieve: { target: { connection: main, collection: docs }, query: {} } }, { sort: { by: votes } }]
`;

test("the guard of every kind and branch can be read, with where the tenant comes from", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-explain-"));
  try {
    for (const [mode, tenant] of [["claim", "the caller's tenant by filter, org_id from claim 'org'"], ["header", "the caller's tenant by filter, org_id from header 'X-Org'"], ["static", null]] as const) {
      const path = join(folder, `${mode}.yaml`);
      writeFileSync(path, EVERY_BRANCH(mode));
      const lines = async (tool: string): Promise<readonly string[]> => {
        const { code, out, err } = await explain(path, tool);
        assert.equal(code, EXIT.OK, err);
        return (/^Guard, as the checker showed it\n((?: {2}.*\n)+)/m.exec(out)?.[1] ?? "").trimEnd().split("\n").map((line) => line.trim());
      };
      const guarded = (branch: string, ...guards: readonly string[]): string => `${branch}: ${[...guards, ...(tenant === null ? [] : [tenant])].join(", ")}`;
      const table: { readonly [tool: string]: readonly string[] } = {
        search_docs: [
          guarded("search", 'always state in ["a","b"]', "always hidden ne true"), guarded("filter-only", 'always state in ["a","b"]', "always hidden ne true"),
          guarded("directory:client", "no static filter"),
        ],
        find_pine: [guarded("search", "always namespace of the connection")],
        count_docs: [guarded("count", "always tenant of the connection")],
        list_docs: [guarded("scroll", "no static filter")],
        top_docs: [guarded("retrieve:search", "always hidden ne true"), guarded("retrieve:filter-only", "always hidden ne true")],
        search_main: [guarded("search", "always public eq true")],
        get_main_by_id: [guarded("lookup", "always public eq true")],
        count_main: [guarded("count", "always public eq true")],
        list_main_collections: [guarded("count-each", "always public eq true")],
      };
      for (const [tool, want] of Object.entries(table)) assert.deepEqual(await lines(tool), want, `${mode} ${tool}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const catalogOf = (connection: string): string => `tds_version: '2'
connections: { store: { ${connection} } }
defaults: { embedding: local/hashing-256 }
tools:
  - name: find_docs
    description: Find documents about a subject. Use for questions after a text.
    target: { connection: store, collection: docs }
    static_filters: { must: [{ path: tenant, op: eq, value: acme }] }
    query: { param: text }
    parameters: [{ name: year, path: year, op: gte, dtype: integer }]
`;

const STORES: readonly (readonly [connection: string, native: unknown])[] = [
  ["backend: pinecone, api_key: '${KEY:-}', host: h", { namespace: "docs", topK: 10, includeMetadata: true, filter: { $and: [{ tenant: { $eq: "acme" } }, { year: { $gte: 1999 } }] }, vector: "<vector of 256>" }],
  ["backend: milvus, uri: 'http://127.0.0.1:1'", { collection_name: "docs", filter: "(tenant == 'acme') and (year >= 1999)", limit: 10, output_fields: ["*"], data: "<vector of 256>" }],
];

test("a store with an adapter is shown as the adapter asks it, with the settings of the connection, and nothing is opened", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-explain-"));
  try {
    const stores: readonly (readonly [connection: string, query: RegExp])[] = [
      ["backend: pgvector, dsn: '${DSN:-}', table: app.docs, id_column: doc_id, vector_column: vec", /FROM \\"app\\"\.\\"docs\\"\\nWHERE \\"vec\\" IS NOT NULL AND .*ORDER BY \\"distance\\", \\"doc_id\\" LIMIT/],
      ["backend: qdrant, url: 'http://127.0.0.1:1'", /"query":"<vector of 256>","filter":\{"must":\[\{"key":"tenant","match":\{"value":"acme"\}\},\{"key":"year","range":\{"gte":1999\}\}\]\}/],
    ];
    for (const [connection, query] of stores) {
      writeFileSync(join(folder, "tools.yaml"), catalogOf(connection));
      const io = memoryIo({ cwd: folder });
      assert.equal(await run(["explain", "tools.yaml", "find_docs", "--json", "--args", '{"text":"law","year":1999}'], io), EXIT.OK, io.err());
      const [native] = (JSON.parse(io.out()) as Explanation).calls[0]?.native ?? [];
      assert.match(JSON.stringify(native?.query), query);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a query is shown as its store gets it, for stores that nothing is known of before they are asked", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-explain-"));
  try {
    for (const [connection, native] of STORES) {
      writeFileSync(join(folder, "tools.yaml"), catalogOf(connection));
      const io = memoryIo({ cwd: folder });
      assert.equal(await run(["explain", "tools.yaml", "find_docs", "--json", "--args", '{"text":"law","year":1999}'], io), EXIT.OK, io.err());
      const [query] = (JSON.parse(io.out()) as Explanation).calls[0]?.native ?? [];
      assert.deepEqual(query?.query, native);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("no store is opened and none is made", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-explain-"));
  try {
    writeFileSync(join(folder, "tools.yaml"), `tds_version: '2'
connections: { store: { backend: sqlite, path: './\${DB}/store.db' } }
tools:
  - name: count_things
    kind: count
    description: Count the things of the store. Use for questions after a number.
    target: { connection: store, collection: things }
`);
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["explain", "tools.yaml", "count_things"], io), EXIT.OK, io.err());
    assert.match(io.out(), /SELECT count\(\*\)/);
    assert.deepEqual(readdirSync(folder), ["tools.yaml"]);
    assert.equal(existsSync("/store.db"), false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("mistakes exit 2 and say what is meant", async () => {
  const table: readonly (readonly [words: readonly string[], want: RegExp])[] = [
    [[QUICKSTART, "search_movie"], /tools\.yaml has no tool 'search_movie'; did you mean 'search_movies'\?/],
    [[QUICKSTART, "constructor"], /tools\.yaml has no tool 'constructor'\n/],
    [[QUICKSTART, "count_movies", "--args", "{"], /--args is not JSON/],
    [[QUICKSTART, "count_movies", "--args", "[]"], /--args takes a JSON object/],
    [[QUICKSTART, "count_movies", "--args", '{"genre":"Drama"}'], /--args: genre: Invalid input: expected array, received string/],
    [["nope.yaml", "x"], /nope\.yaml/],
    [[QUICKSTART], /TOOL/],
  ];
  for (const [words, want] of table) {
    const { code, out, err } = await explain(...words);
    assert.equal(code, EXIT.USAGE, words.join(" "));
    assert.match(err, want);
    assert.equal(out, "");
  }
});

test("document access is shown in words and in the store's own query, with the names of claims for their values", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-explain-"));
  try {
    const file = join(folder, "tools.yaml");
    const stores = ["sqlite, path: a.db", "qdrant, url: 'http://q'", "milvus, uri: 'http://m'", "pgvector, dsn: 'postgres://p'", "weaviate, url: 'http://w'"];
    writeFileSync(file, `tds_version: "2"
connections: { ${stores.map((store, index) => `s${index}: { backend: ${store} }`).join(", ")} }
defaults: { embedding: local/hashing-256 }
security: { document_acl: { combine: any, rules: [{ any_of: { claim: groups, field: allowed } }, { at_most: { claim: clearance, field: level } }, { at_most: { claim: rank, field: grade } }] } }
tools:
${stores.map((_, index) => `  - { name: list_${index}, kind: scroll, description: Lists the documents of one of several stores., target: { connection: s${index}, collection: docs } }`).join("\n")}
`);
    for (const index of stores.keys()) {
      const { code, out, err } = await explain(file, `list_${index}`);
      assert.equal(code, EXIT.OK, err);
      assert.match(out, /scroll: no static filter, only documents where allowed has one of claim 'groups' or level is at most claim 'clearance' or grade is at most claim 'rank'/);
      // A long text is printed in parts, and a store escapes quotes in its own way.
      const query = out.slice(out.indexOf("Native query")).replace(/" \+\s*"/g, "").replaceAll("\\\\'", "'");
      for (const claim of ["groups", "clearance", "rank"]) assert.ok(query.includes(`<the caller's ${claim}>`), `${stores[index] ?? ""}: ${query}`);
      assert.doesNotMatch(query, /\d{10}/);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
