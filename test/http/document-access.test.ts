/** Document access over a real server: claims of an API key decide, in every kind of tool; there is no other way to have them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { start, type Served } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("document access over HTTP");
const folder = mkdtempSync(join(tmpdir(), "toolsrv-access-http-"));
const file = (name: string): string => join(folder, name);
const here = fileURLToPath(import.meta.url);
const toolsrv = join(here, `../../e2e/toolsrv${extname(here)}`);
const HOME = repo("specs/examples/document-access");

const staff = { org: "acme", groups: ["staff"], clearance: 1 };
const KEYS: { readonly [key: string]: { readonly [claim: string]: unknown } } = {
  "key-of-staff": staff,
  "key-of-finance": { org: "acme", groups: ["staff", "finance"], clearance: 3 },
  "key-of-globex": { ...staff, org: "globex" },
  "key-without-clearance": { org: "acme", groups: ["staff"] },
  "key-with-text-clearance": { ...staff, clearance: "9" },
  "key-with-object-groups": { ...staff, groups: { staff: true } },
  "key-with-many-groups": { ...staff, groups: Array.from({ length: 10_000 }, (_, index) => `staff${index}`) },
  "key-without-tenant": { groups: ["staff"], clearance: 9 },
};

let served: Served;
let port = 0;

test.before(async () => {
  writeFileSync(file(".env"), `DOCUMENTS_DB=${file("documents.db")}\n`);
  writeFileSync(file("keys.json"), JSON.stringify(Object.fromEntries(Object.entries(KEYS).map(([key, claims]) => [key, { principal: key, claims }]))), { mode: 0o600 });
  const io = memoryIo({ cwd: folder });
  const words = [join(HOME, "tools.yaml"), join(HOME, "data/documents.jsonl"), "--connection", "files", "--collection", "documents", "--id", "id", "--text", "title,body", "--env-file", file(".env")];
  assert.equal(await run(["load", ...words], io), EXIT.OK, io.err());
  served = start(toolsrv, ["serve", join(HOME, "tools.yaml"), "--http", "127.0.0.1:0", "--auth", "api_key", "--api-keys-file", file("keys.json"), "--env-file", file(".env")]);
  port = Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]);
});
test.after(async () => {
  await served.kill();
  rmSync(folder, { recursive: true });
});

async function call(key: string, tool: string, args: object): Promise<{ readonly status: number; readonly json: ReturnType<typeof JSON.parse> }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } });
  const { status, body: text } = await rawHttp(port, rawPost("/mcp", body, { "mcp-protocol-version": "2025-11-25", authorization: `Bearer ${key}` }));
  return { status, json: JSON.parse(text) };
}

async function idsOf(key: string, tool: string, args: object): Promise<readonly unknown[]> {
  const { json } = await call(key, tool, args);
  return json.result.structuredContent.rows.map((row: { readonly [key: string]: unknown }) => row["_id"] ?? row["count"]).sort();
}

const READS: readonly (readonly [tool: string, args: object])[] = [
  ["list_documents", {}], ["search_documents", { query: "travel policy budget" }], ["newest_documents", { per_author: 5 }], ["count_files", {}], ["get_files_by_id", { id: "acme-1" }],
];

test("each key sees the rows that its claims admit, directly and through run_tool", async () => {
  const wanted: { readonly [key: string]: readonly string[] } = { "key-of-staff": ["acme-1", "acme-4"], "key-of-finance": ["acme-1", "acme-2", "acme-4"], "key-of-globex": ["globex-1"] };
  for (const [key, ids] of Object.entries(wanted)) {
    for (const [tool, args] of READS.slice(0, 3)) {
      assert.deepEqual(await idsOf(key, tool, args), ids, `${key} ${tool}`);
      assert.deepEqual(await idsOf(key, "run_tool", { name: tool, arguments: args }), ids, `${key} ${tool} through run_tool`);
    }
    assert.deepEqual(await idsOf(key, "get_files_by_id", { id: "acme-2" }), ids.filter((id) => id === "acme-2"), key);
  }
}, { timeoutMs: 20_000 });

test("a key whose claims are missing or malformed is 403 in every tool, directly and through run_tool", async () => {
  for (const key of Object.keys(KEYS).filter((name) => name.includes("-with"))) {
    for (const [tool, args] of READS) {
      for (const [name, given] of [[tool, args], ["run_tool", { name: tool, arguments: args }]] as const) {
        const { status, json } = await call(key, name, given);
        assert.deepEqual([status, json.error?.code, json.error?.data?.code], [403, -32001, "auth_error"], `${key} ${name} ${tool}`);
      }
    }
  }
}, { timeoutMs: 20_000 });

test("claims in the arguments or in _meta are nobody's claims", async () => {
  const forged = { claims: { org: "acme", groups: ["board"], clearance: 9 }, groups: ["board"], clearance: 9, allowed_groups: ["board"], level: 9 };
  for (const [tool, args] of READS.slice(0, 3)) assert.deepEqual(await idsOf("key-of-staff", tool, { ...args, ...forged, _meta: forged }), ["acme-1", "acme-4"], tool);
});

test.run();
