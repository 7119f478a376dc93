/** `--embedded`: the program that started the server states who calls; nobody else is believed. */
import assert from "node:assert/strict";
import type { CallContext, Program, ToolHandler } from "../../runtime/abi/call.js";
import type { TenantPlan } from "../../runtime/abi/plan.js";
import { createEngine } from "../../runtime/call/engine.js";
import { bodyText, dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type McpServer } from "../../runtime/mcp/server.js";
import { createLog } from "../../runtime/observe/log.js";
import { answered } from "../lib/answered.js";
import { suite } from "../lib/suite.js";
import { TestPeer } from "./peer.js";
import { fixtureProgram, rowsEnvelope } from "./program.js";

const test = suite("callers that a program states");

const HEADER: TenantPlan = { from: "header", name: "X-Org", path: "org", enforce: "strict" };
const CLAIM: TenantPlan = { from: "claim", name: "org", path: "org", enforce: "strict" };

/** Returns what the server knows of the caller. */
const whoami: ToolHandler = async (_: never, { principal, requestId, deadlineMs }: CallContext) =>
  rowsEnvelope([{ ...principal, request_id: requestId, deadline_ms: deadlineMs }], { warnings: [] } as unknown as CallContext);

function server(embedded: boolean, tenant?: TenantPlan, settings: Program["settings"] = {}): McpServer {
  const program = fixtureProgram(settings, { whoami });
  const plans = tenant === undefined ? program.plans : { ...program.plans, whoami: { kind: "count" as const, connection: "none", collection: "none", bind: [], tenant } };
  const engine = createEngine({ ...program, plans }, { env: new Map(), metaTools: true });
  return createMcpServer({ engine, info: { name: "fixture", title: "toolsrv", version: "0.0.0" }, log: createLog({ format: "text", level: "silent", write: () => undefined }), embedded });
}

type Json = ReturnType<typeof JSON.parse>;

async function ask(mcp: McpServer, method: string, params: object): Promise<Json> {
  const said = await answered((reply) => dispatch(mcp, { jsonrpc: "2.0", id: 1, method, params }, new TestPeer(), reply));
  assert.ok(said !== null);
  return JSON.parse(bodyText(said));
}

const call = (mcp: McpServer, caller: unknown, name = "whoami", args: object = {}): Promise<Json> => ask(mcp, "tools/call", { name, arguments: args, _meta: { "toolsrv/caller": caller } });
const rowOf = async (answer: Promise<Json>): Promise<Json> => {
  const { result } = await answer;
  assert.equal(result?.isError, false, JSON.stringify(result));
  return result.structuredContent.rows[0];
};

test("the stated principal, claims, request id and deadline are those of the call", async () => {
  const row = await rowOf(call(server(true), { principal: "ada", claims: { team: "red" }, request_id: "r-1", deadline_s: 2.5 }));
  assert.deepEqual([row.id, row.claims, row.headers, row.request_id], ["ada", { team: "red" }, {}, "r-1"]);
  assert.equal(row.deadline_ms, 2500);
});

test("a stated tenant is the claim or the header that the tool's tenancy names, and nothing without tenancy", async () => {
  assert.deepEqual((await rowOf(call(server(true, CLAIM), { tenant: "acme", claims: { org: "other" } }))).claims, { org: "acme" });
  assert.deepEqual((await rowOf(call(server(true, HEADER), { tenant: "acme" }))).headers, { "x-org": "acme" });
  const row = await rowOf(call(server(true), { tenant: "acme" }));
  assert.deepEqual([row.claims, row.headers], [{}, {}]);
});

test("stated roles decide what may be called, under the claim that the catalog names", async () => {
  const settings: Program["settings"] = { security: { rbac: { default_role: "none", role_claim: "groups", deny_tools: [], roles: { none: { allow: [] }, reader: { allow: ["whoami"] } } } } };
  const mcp = server(true, undefined, settings);
  assert.deepEqual((await rowOf(call(mcp, { roles: ["reader"] }))).claims, { groups: ["reader"] });
  for (const caller of [{ roles: ["stranger"] }, { roles: [] }, {}]) assert.match(JSON.stringify(await call(mcp, caller)), /not permitted/);
  assert.match(JSON.stringify(await call(mcp, { roles: ["reader"] }, "run_tool", { name: "echo", arguments: { text: "x" } })), /not permitted/);
});

test("a tool named through run_tool has the stated caller too", async () => {
  const row = await rowOf(call(server(true, CLAIM), { principal: "ada", tenant: "acme" }, "run_tool", { name: "whoami", arguments: {} }));
  assert.deepEqual([row.id, row.claims], ["ada", { org: "acme" }]);
});

test("one call's caller is not the next one's", async () => {
  const mcp = server(true, CLAIM);
  await rowOf(call(mcp, { principal: "ada", tenant: "acme" }));
  const row = await rowOf(ask(mcp, "tools/call", { name: "whoami", arguments: {} }));
  assert.deepEqual([row.id, row.claims], [null, {}]);
});

test("without --embedded nothing that a request says of its caller is believed, and the server does not offer it", async () => {
  const mcp = server(false, CLAIM);
  const row = await rowOf(call(mcp, { principal: "ada", tenant: "acme", claims: { org: "acme" }, roles: ["admin"], request_id: "r-1" }));
  assert.deepEqual([row.id, row.claims, row.headers], [null, {}, {}]);
  assert.notEqual(row.request_id, "r-1");
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  assert.equal((await ask(mcp, "initialize", hello)).result.capabilities.experimental, undefined);
  assert.deepEqual((await ask(server(true), "initialize", hello)).result.capabilities.experimental, { "toolsrv/caller": {} });
});

test("arguments named like a caller are arguments: a model cannot state who calls", async () => {
  const mcp = server(true, CLAIM);
  const answer = await call(mcp, { tenant: "acme" }, "whoami", { _meta: { "toolsrv/caller": { tenant: "evil" } }, "toolsrv/caller": { tenant: "evil" } });
  assert.doesNotMatch(JSON.stringify(answer), /"org":"evil"/);
});

const WRONG: readonly (readonly [what: string, caller: unknown, message: RegExp])[] = [
  ["a caller that is no object", "ada", /is an object/],
  ["null", null, /is an object/],
  ["a list", [], /is an object/],
  ["a misspelt member", { tenat: "acme" }, /no member 'tenat'; it has principal/],
  ["a member that objects inherit", { constructor: "x" }, /no member 'constructor'/],
  ["a tenant that is no text", { tenant: 7 }, /tenant is a text/],
  ["a list of tenants", { tenant: ["a", "b"] }, /tenant is a text/],
  ["a principal that is no text", { principal: {} }, /principal is a text/],
  ["claims that are a list", { claims: [] }, /claims is an object/],
  ["roles as one text", { roles: "admin" }, /roles is a list of texts/],
  ["roles that are no texts", { roles: [1] }, /roles is a list of texts/],
  ["no time at all", { deadline_s: 0 }, /deadline_s is a number/],
  ["a deadline of a year", { deadline_s: 31_536_000 }, /deadline_s is a number/],
  ["a deadline as a text", { deadline_s: "5" }, /deadline_s is a number/],
  ["a request id with a line end", { request_id: "a\nb" }, /request_id is 1 to 128/],
  ["a request id of 129 characters", { request_id: "x".repeat(129) }, /request_id is 1 to 128/],
];

for (const [what, caller, message] of WRONG) {
  test(`${what} is refused, and the tool does not run`, async () => {
    const { error, result } = await call(server(true), caller);
    assert.equal(result, undefined);
    assert.equal(error.code, -32602);
    assert.match(error.message, message);
    assert.ok(error.message.length < 300, error.message);
  });
}

test.run();
