/** Tenancy over a real server and a real store: the header decides, for every way a tool can read. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { start } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("tenancy over HTTP");

const catalog = (tenancy: string): string => `tds_version: "2"
connections:
  main:
    backend: sqlite
    path: ./notes.db
    builtin_tools: { semantic_search: true, get_by_id: true, count: true, list_collections: true }
    builtin_defaults: { collections: [notes] }
defaults: { embedding: local/hashing-256 }
security: { tenancy: { ${tenancy}, path: org } }
tools:
  - name: search_notes
    description: Search notes by their words. Use when the user looks for a note.
    target: { connection: main, collection: notes }
    query: { required: true }
    parameters: [{ name: org, path: org }]
  - name: list_notes
    kind: scroll
    description: List notes in the order of their ids. Use when the user wants to browse.
    target: { connection: main, collection: notes }
`;

const folder = mkdtempSync(join(tmpdir(), "toolsrv-tenancy-"));
const file = (name: string): string => join(folder, name);
const here = fileURLToPath(import.meta.url);
const toolsrv = join(here, `../../e2e/toolsrv${extname(here)}`);

test.before(async () => {
  writeFileSync(file("header.yaml"), catalog("mode: header, header: X-Org"));
  writeFileSync(file("percent.yaml"), catalog("mode: header, header: X-Org, header_encoding: percent"));
  writeFileSync(file("base64url.yaml"), catalog("mode: header, header: X-Org, header_encoding: base64url"));
  writeFileSync(file("claim.yaml"), catalog("mode: claim, claim: org"));
  writeFileSync(file("rows.jsonl"), '{"id":"a","text":"red apples","org":"acme"}\n{"id":"b","text":"green apples","org":"acme"}\n{"id":"c","text":"apples","org":"other"}\n{"id":"d","text":"apples","org":"acm\u00e9"}\n');
  const io = memoryIo({ cwd: folder });
  assert.equal(await run(["load", "header.yaml", "rows.jsonl", "--connection", "main", "--collection", "notes", "--id", "id"], io), EXIT.OK, io.err());
});
test.after(() => rmSync(folder, { recursive: true }));

type Said = { readonly status: number; readonly json: ReturnType<typeof JSON.parse> };
type Call = (tool: string, args: object, headers?: { readonly [name: string]: string }) => Promise<Said>;

async function listening(name: string, use: (port: number) => Promise<void>): Promise<void> {
  const served = start(toolsrv, ["serve", file(name), "--http", "127.0.0.1:0", "--auth", "none"]);
  try {
    await use(Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]));
  } finally {
    await served.kill();
  }
}

function serving(name: string, use: (call: Call) => Promise<void>): Promise<void> {
  return listening(name, (port) =>
    use(async (tool, args, headers = {}) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } });
      const { status, body: text } = await rawHttp(port, rawPost("/mcp", body, { "mcp-protocol-version": "2025-11-25", ...headers }));
      return { status, json: JSON.parse(text) };
    }));
}

const rowsOf = ({ json }: Said): readonly { readonly [key: string]: unknown }[] => json.result.structuredContent.rows;
const refusalOf = ({ status, json }: Said): unknown => [status, json.error?.code, json.error?.data?.code];
const READS: readonly (readonly [tool: string, args: object])[] = [
  ["search_notes", { query: "apples" }], ["list_notes", {}], ["search_main", { query: "apples" }], ["get_main_by_id", { id: "a" }], ["count_main", {}], ["list_main_collections", {}],
];

test("with --auth none a header names the tenant, and every kind of tool keeps to it", () =>
  serving("header.yaml", async (call) => {
    const acme = { "x-ORG": "acme" };
    assert.deepEqual(rowsOf(await call("search_notes", { query: "apples" }, acme)).map((row) => row["_id"]).sort(), ["a", "b"]);
    assert.deepEqual(rowsOf(await call("list_notes", {}, acme)).map((row) => row["_id"]), ["a", "b"]);
    assert.deepEqual(rowsOf(await call("search_main", { query: "apples" }, { "x-org": "other" })).map((row) => row["_id"]), ["c"]);
    assert.deepEqual(rowsOf(await call("get_main_by_id", { id: "c" }, acme)), []);
    assert.deepEqual(rowsOf(await call("count_main", {}, acme)), [{ count: 2 }]);
    assert.deepEqual(rowsOf(await call("list_main_collections", {}, acme)), [{ collection: "notes", approx_count: 2 }]);
    assert.deepEqual(rowsOf(await call("run_tool", { name: "count_main" }, acme)), [{ count: 2 }]);
  }), { timeoutMs: 20_000 });

test("without the header, or with an empty one, every call is 403", () =>
  serving("header.yaml", async (call) => {
    for (const [tool, args] of READS) {
      assert.deepEqual(refusalOf(await call(tool, args)), [403, -32001, "auth_error"], tool);
      assert.deepEqual(refusalOf(await call("run_tool", { name: tool, arguments: args }, { "x-org": "" })), [403, -32001, "auth_error"], tool);
    }
    const conflict = await call("search_notes", { query: "apples", org: "acme" }, { "x-org": "other" });
    assert.equal(JSON.parse(conflict.json.result.content[0].text).error.code, "VB4010");
  }), { timeoutMs: 20_000 });

test("a tenant by claim is never taken from a header, so without authentication every call is 403", () =>
  serving("claim.yaml", async (call) => {
    for (const [tool, args] of READS) assert.deepEqual(refusalOf(await call(tool, args, { org: "acme", "x-tenant-id": "acme" })), [403, -32001, "auth_error"], tool);
  }), { timeoutMs: 20_000 });

const TENANTS: readonly (readonly [tenant: string, percent: string, base64url: string])[] = [["acme", "acme", "YWNtZQ"], ["acm\u00e9", "acm%C3%A9", "YWNtw6k"]];

/** The head of a request whose tenant header is exactly these bytes. */
const listNotes = (tenant: string): Buffer => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_notes", arguments: {} } });
  return Buffer.from(rawPost("/mcp", body, { "mcp-protocol-version": "2025-11-25", "x-org": tenant }), "latin1");
};

test("a plain tenant header is ASCII: other bytes in it are 400, before any tool", () =>
  listening("header.yaml", async (port) => {
    for (const value of ["ac\xffme", "acm\xc3\xa9x", "a\xc3\xa9c", "a\tb"]) {
      const { status, body } = await rawHttp(port, listNotes(value));
      assert.deepEqual([status, JSON.parse(body).error.code], [400, "bad_header"], JSON.stringify(value));
      assert.match(JSON.parse(body).error.message, /x-org.*plain ASCII.*header_encoding/);
    }
  }), { timeoutMs: 20_000 });

const BODY = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_notes", arguments: {} } });

test("two tenant headers are 400 in every encoding, whichever comes first, and so is a comma", async () => {
  const twice = (first: string, second: string): string => rawPost("/mcp", BODY, { "mcp-protocol-version": "2025-11-25", "X-Org": first }).replace("\r\n\r\n", `\r\nx-org: ${second}\r\n\r\n`);
  for (const name of ["header.yaml", "percent.yaml", "base64url.yaml"]) {
    await listening(name, async (port) => {
      for (const [first, second] of [["acme", "other"], ["acme", "acme"], ["", "acme"], ["acme", ""]] as const) {
        assert.equal((await rawHttp(port, twice(first, second))).status, 400, `${name} ${first}, ${second}`);
      }
      for (const value of ["acme,other", "acme, other", ",acme"]) assert.equal((await rawHttp(port, rawPost("/mcp", BODY, { "X-Org": value }))).status, 400, `${name} ${value}`);
    });
  }
});

test("no body runs as a request with another tenant: behind a header without a name the library shows no length", () =>
  listening("header.yaml", async (port) => {
    const inner = rawPost("/mcp", BODY, { "mcp-protocol-version": "2025-11-25", "X-Org": "other" });
    for (const start of ["POST /mcp", "GET /healthz", "GET /mcp", "DELETE /mcp", "OPTIONS /mcp", "GET /nothing", "HEAD /readyz"]) {
      const head = `${start} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Org: acme\r\n: x\r\nContent-Length: ${inner.length}\r\n\r\n`;
      const { raw } = await rawHttp(port, head + inner, { all: true });
      assert.equal(raw.includes('"rows"'), false, start);
      assert.ok(raw.split("HTTP/1.1 ").length <= 2, `${start}: one answer, then the end`);
    }
  }), { timeoutMs: 60_000 });

test("with header_encoding a tenant outside ASCII has its own rows, and a raw byte never makes it another tenant", async () => {
  for (const [index, name] of ["percent", "base64url"].entries()) {
    await listening(`${name}.yaml`, async (port) => {
      const ids = async (value: string): Promise<unknown> => {
        const { status, body } = await rawHttp(port, listNotes(value));
        return status === 200 ? JSON.parse(body).result.structuredContent.rows.map((row: { _id: string }) => row._id) : status;
      };
      for (const [tenant, ...encoded] of TENANTS) assert.deepEqual(await ids(encoded[index] ?? ""), tenant === "acme" ? ["a", "b"] : ["d"], tenant);
      const bad = index === 0 ? ["acm%", "acm%C3", "acm%ff", "ac\xffme", "a b"] : ["YWNtZQ==", "YWNtZR", "acme!", "YW\xffNtZQ", "_w"];
      for (const value of bad) assert.equal(await ids(value), 400, JSON.stringify(value));
      assert.equal(await ids(""), 403);
    });
  }
}, { timeoutMs: 30_000 });

test.run();
