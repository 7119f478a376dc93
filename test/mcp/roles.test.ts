/** Roles as clients meet them: what they are shown, and what is refused, whichever way it is asked for. */
import assert from "node:assert/strict";
import type { Principal, Program } from "../../runtime/abi/call.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import { createEngine } from "../../runtime/call/engine.js";
import { bodyText, dispatch } from "../../runtime/mcp/dispatch.js";
import { dispatchStateless } from "../../runtime/mcp/stateless-protocol.js";
import { createMcpServer, type McpServer, type Peer } from "../../runtime/mcp/server.js";
import { versionNamed } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { answered } from "../lib/answered.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "./program.js";

const test = suite("roles over MCP");

const RBAC: NonNullable<NonNullable<Program["settings"]["security"]>["rbac"]> = {
  default_role: "viewer", role_claim: "roles", deny_tools: ["bug"],
  roles: { viewer: { allow: ["echo", "bug"] }, admin: { allow: ["*"] } },
};

/** `null`: a catalog without roles. */
function server(rbac: Partial<typeof RBAC> | null = {}, metaTools = true, extra?: Program["extra"]): McpServer {
  const program = fixtureProgram(rbac === null ? {} : { security: { rbac: { ...RBAC, ...rbac } } });
  const engine = createEngine(extra === undefined ? program : { ...program, extra }, { env: new Map(), metaTools });
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  return createMcpServer({ engine, info: { name: "fixture", title: "toolsrv", version: "0.0.0" }, log });
}

function peer(roles: unknown, transport: Peer["transport"]): Peer {
  const principal: Principal = { id: "someone", claims: roles === undefined ? {} : { roles }, headers: {} };
  const nothing = (): void => undefined;
  return { transport, session: null, principal, version: versionNamed("2025-11-25", "handshake"), agree: nothing, begin: () => true, signal: () => new AbortController().signal, end: nothing, cancel: nothing, logLevel: null, setLogLevel: nothing, notify: nothing };
}

type Said = { readonly status: number; readonly json: ReturnType<typeof JSON.parse> };

async function ask(mcp: McpServer, roles: unknown, method: string, params: object = {}, transport: Peer["transport"] = "http"): Promise<Said> {
  const said = await answered((reply) => dispatch(mcp, { jsonrpc: "2.0", id: 1, method, params }, peer(roles, transport), reply));
  assert.ok(said !== null);
  return { status: said.status, json: JSON.parse(bodyText(said)) };
}

const call = (mcp: McpServer, roles: unknown, name: string, args: object = {}, transport: Peer["transport"] = "http"): Promise<Said> => ask(mcp, roles, "tools/call", { name, arguments: args }, transport);
const inner = (name: string, args: object = {}): object => ({ name, arguments: args });
const shown = async (mcp: McpServer, roles: unknown): Promise<readonly string[]> => (await ask(mcp, roles, "tools/list")).json.result.tools.map((tool: ToolDefinition) => tool.name);
const available = async (mcp: McpServer, roles: unknown): Promise<readonly string[]> => (await call(mcp, roles, "list_available_tools")).json.result.structuredContent.rows.map((tool: ToolDefinition) => tool.name);
const refusalOf = ({ status, json }: Said): unknown => [status, json.error?.code, json.error?.data?.code];

const REFUSED = [403, -32001, "auth_error"];
const ALL = Object.keys(fixtureProgram().plans);

test("tools/list and list_available_tools show a caller what it may call, and nothing else", async () => {
  const mcp = server();
  const meta = ["list_available_tools", "run_tool"];
  const table: readonly (readonly [unknown, readonly string[]])[] = [[undefined, ["echo"]], ["viewer", ["echo"]], ["admin", ALL.filter((name) => name !== "bug")], ["nope", []], [[], []]];
  for (const [roles, want] of table) {
    assert.deepEqual(await shown(mcp, roles), [...meta, ...want], JSON.stringify(roles));
    assert.deepEqual(await available(mcp, roles), want, JSON.stringify(roles));
  }
});

test("a call without permission is 403 with -32001 auth_error, whatever its arguments", async () => {
  const mcp = server();
  assert.equal((await call(mcp, "viewer", "echo", { text: "x" })).json.result.isError, false);
  assert.deepEqual(refusalOf(await call(mcp, "viewer", "wait", { ms: 0 })), REFUSED);
  assert.deepEqual(refusalOf(await call(mcp, "viewer", "wait", { ms: "not a number" })), REFUSED);
  assert.deepEqual(refusalOf(await call(mcp, [], "echo", { text: "x" })), REFUSED);
  assert.match((await call(mcp, "viewer", "wait")).json.error.message, /'wait' is not permitted for role viewer/);
});

test("deny_tools wins over '*' and over a role that names the tool", async () => {
  const mcp = server();
  for (const roles of ["admin", "viewer", ["admin", "viewer"]]) assert.deepEqual(refusalOf(await call(mcp, roles, "bug")), REFUSED);
});

test("run_tool is refused by the name inside it", async () => {
  const mcp = server();
  assert.equal((await call(mcp, "viewer", "run_tool", inner("echo", { text: "x" }))).json.result.isError, false);
  assert.deepEqual(refusalOf(await call(mcp, "viewer", "run_tool", inner("wait", { ms: 0 }))), REFUSED);
  assert.deepEqual(refusalOf(await call(mcp, "viewer", "run_tool", inner(" wait ", { ms: 0 }))), REFUSED);
  assert.deepEqual(refusalOf(await call(mcp, "admin", "run_tool", inner("bug"))), REFUSED);
  assert.deepEqual(refusalOf(await call(mcp, "nope", "run_tool", inner("echo", { text: "x" }))), REFUSED);
  assert.equal((await call(mcp, "nope", "run_tool", inner("run_tool"))).json.result.structuredContent.count, 0);
});

test("instructions name no meta tool that is denied", async () => {
  const said = async (deny: readonly string[]): Promise<readonly boolean[]> => {
    const { instructions } = (await ask(server({ deny_tools: deny }), "admin", "initialize", { protocolVersion: "2025-11-25" })).json.result;
    return [/list_available_tools/.test(instructions), /run_tool/.test(instructions)];
  };
  assert.deepEqual(await said([]), [true, true]);
  assert.deepEqual(await said(["run_tool"]), [false, false]);
  assert.deepEqual(await said(["list_available_tools"]), [false, false]);
});

test("the meta tools need no role, but can be denied to everyone, by either way in", async () => {
  const denied = server({ deny_tools: ["run_tool", "list_available_tools"] });
  assert.deepEqual(await shown(denied, "admin"), ALL);
  assert.deepEqual(refusalOf(await call(denied, "admin", "run_tool", inner("echo", { text: "x" }))), REFUSED);
  assert.deepEqual(refusalOf(await call(denied, "admin", "list_available_tools")), REFUSED);
  const noList = server({ deny_tools: ["list_available_tools"] });
  assert.deepEqual(refusalOf(await call(noList, "admin", "run_tool", inner("list_available_tools"))), REFUSED);
  assert.equal((await call(noList, "admin", "run_tool", inner("echo", { text: "x" }))).json.result.isError, false);
});

test("without meta tools their names are unknown names", async () => {
  const mcp = server({}, false);
  assert.deepEqual(await shown(mcp, "viewer"), ["echo"]);
  const { json } = await call(mcp, "admin", "run_tool", inner("echo", { text: "x" }));
  assert.match(json.result.content[0].text, /unknown tool 'run_tool'/);
});

test("on stdio a refusal is a result with isError that names the code", async () => {
  const { json } = await call(server(), undefined, "wait", { ms: 0 }, "stdio");
  assert.equal(json.result.isError, true);
  assert.deepEqual(JSON.parse(json.result.content[0].text).error, { code: "auth_error", message: "tool 'wait' is not permitted for role viewer", retryable: false, tool: "wait" });
});

test("an unknown tool is unknown to everyone, and the name it is like is shown only to those who may call that", async () => {
  const mcp = server();
  const words = async (roles: unknown): Promise<string> => (await call(mcp, roles, "wail")).json.result.content[0].text;
  assert.match(await words("admin"), /did you mean 'wait'/);
  assert.doesNotMatch(await words("viewer"), /did you mean/);
  assert.match(await words("viewer"), /unknown tool/);
});

test("authoring tools are names like any other", async () => {
  const definition: ToolDefinition = { name: "define_tool", title: "Define a tool", description: "Writes a draft", inputSchema: {} };
  const extra = { definitions: [definition], call: async () => ({ payload: { rows: [], count: 0 } }) };
  const mcp = server({ roles: { ...RBAC.roles, author: { allow: ["define_tool"] } } }, true, extra);
  assert.deepEqual(await available(mcp, "author"), ["define_tool"]);
  assert.deepEqual(await available(mcp, "viewer"), ["echo"]);
  assert.equal((await call(mcp, "author", "define_tool")).json.result.isError, false);
  assert.deepEqual(refusalOf(await call(mcp, "viewer", "define_tool")), REFUSED);
  assert.deepEqual(refusalOf(await call(mcp, "viewer", "run_tool", inner("define_tool"))), REFUSED);
});

test("in 2026-07-28 a list that depends on the caller is private, and a hidden tool is refused rather than unknown", async () => {
  const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } };
  const newest = async (mcp: McpServer, method: string, params: { readonly name?: string; readonly arguments?: object } = {}): Promise<Said> => {
    const headers = new Map([["mcp-protocol-version", "2026-07-28"], ["mcp-method", method], ["mcp-name", params.name ?? ""]]);
    const said = await answered((reply) => void dispatchStateless(mcp, { jsonrpc: "2.0", id: 1, method, params: { ...params, ...meta } }, { header: (name) => headers.get(name) ?? "", has: (name) => headers.has(name) }, peer("viewer", "http"), reply));
    assert.ok(said !== null);
    return { status: said.status, json: JSON.parse(bodyText(said)) };
  };
  assert.equal((await newest(server(), "tools/list")).json.result.cacheScope, "private");
  assert.equal((await newest(server(null), "tools/list")).json.result.cacheScope, "public");
  assert.equal((await newest(server(), "server/discover")).json.result.cacheScope, "public");
  assert.deepEqual(refusalOf(await newest(server(), "tools/call", { name: "wait", arguments: { ms: 0 } })), [403, 403, "auth_error"]);
  assert.equal((await newest(server(), "tools/call", { name: "nope", arguments: {} })).json.error.code, -32602);
});

test("a list is serialized once for an audience, however many callers it has", () => {
  const mcp = server();
  const version = versionNamed("2025-11-25", "handshake");
  assert.ok(version !== null);
  const list = (roles: unknown): unknown => mcp.lists.tools(version, peer(roles, "http").principal);
  assert.equal(list("admin"), list(["admin", "nope"]));
  assert.equal(list(undefined), list("viewer"));
  assert.notEqual(list("viewer"), list("admin"));
});
test("list_available_tools is serialized once for each set of roles and form of the result, and anew when the list changes", async () => {
  let serialized = 0;
  const tool = (name: string): ToolDefinition => ({ name, title: name, description: "An extra tool", inputSchema: { toJSON: () => ((serialized += 1), { type: "object" }) } as never });
  const extra = { definitions: [tool("extra_one")], call: async () => ({ payload: {} }) };
  const mcp = server({ roles: { viewer: { allow: ["echo"] }, reader: { allow: ["extra_one", "extra_two"] }, admin: { allow: ["*"] } } }, true, extra);
  const after = async (roles: unknown, want: readonly string[], times: number): Promise<void> => {
    assert.deepEqual((await available(mcp, roles)).filter((name) => name.startsWith("extra")), want);
    assert.equal(serialized, times);
  };
  await after("reader", ["extra_one"], 1);
  await after("reader", ["extra_one"], 1);
  await after(["reader", "unknown"], ["extra_one"], 1);
  await after("viewer", [], 1);
  await after("admin", ["extra_one"], 2);
  assert.equal((await call(mcp, "reader", "run_tool", inner("list_available_tools"))).json.result.structuredContent.rows.length, 1);
  assert.equal(serialized, 2);
  extra.definitions = [tool("extra_one"), tool("extra_two")];
  await after("reader", ["extra_one", "extra_two"], 4);
  await after("reader", ["extra_one", "extra_two"], 4);
  await after("viewer", [], 4);
});


test.run();
