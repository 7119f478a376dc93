import * as assert from "node:assert/strict";
import { createEngine } from "../../runtime/call/engine.js";
import type { CallContext, Program } from "../../runtime/abi/call.js";
import { bodyText, dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type McpServer } from "../../runtime/mcp/server.js";
import { HANDSHAKE_VERSIONS } from "../../runtime/mcp/versions.js";
import { createCallLog } from "../../runtime/observe/call-log.js";
import { createLog, type Log } from "../../runtime/observe/log.js";
import { answered } from "../lib/answered.js";
import { suite } from "../lib/suite.js";
import { TestPeer } from "./peer.js";
import { fixtureProgram, rowsEnvelope } from "./program.js";

const test = suite("dispatch");

interface Logged {
  readonly log: Log;
  readonly lines: string[];
}

function logged(): Logged {
  const lines: string[] = [];
  return { lines, log: createLog({ format: "json", level: "debug", write: (line) => void lines.push(line) }) };
}

function server(options: { metaTools?: boolean; log?: Log; program?: Program } = {}): McpServer {
  const log = options.log ?? logged().log;
  const observing = { observer: createCallLog({ log, format: "json", scrub: (text) => text }), wallNow: () => Date.now() };
  const engine = createEngine(options.program ?? fixtureProgram(), { env: new Map(), observing, metaTools: options.metaTools ?? true });
  const info = { name: "fixture", title: "toolsrv", version: "0.0.0" };
  return createMcpServer({ engine, info, log });
}

interface Said {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Parsed; a test reads the shape it expects. */
  readonly body: ReturnType<typeof JSON.parse>;
}

async function say(mcp: McpServer, peer: TestPeer, message: unknown): Promise<Said | null> {
  const outcome = await answered((reply) => dispatch(mcp, message, peer, reply));
  return outcome === null ? null : { status: outcome.status, headers: outcome.headers, body: JSON.parse(bodyText(outcome)) };
}

const request = (method: string, params?: unknown, id: number | string = 1): unknown => ({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
const call = (name: string, args?: unknown, id: number | string = 1): unknown => request("tools/call", { name, ...(args === undefined ? {} : { arguments: args }) }, id);

test("initialize echoes each supported version and says who answers", async () => {
  for (const version of HANDSHAKE_VERSIONS) {
    const peer = new TestPeer(null);
    const said = await say(server(), peer, request("initialize", { protocolVersion: version, capabilities: {}, clientInfo: { name: "c", version: "1" } }));
    assert.equal(said?.body.result.protocolVersion, version);
    assert.deepEqual(said?.body.result.serverInfo, { name: "fixture", title: "toolsrv", version: "0.0.0" });
    assert.deepEqual(said?.body.result.capabilities, { tools: { listChanged: true }, logging: {} });
    assert.equal(peer.version?.name, version);
  }
});

test("a missing or unsupported version is -32022 with both sides named, and nothing is agreed", async () => {
  const table: readonly (readonly [unknown, string | number | boolean | null])[] = [
    [{}, null], [{ protocolVersion: "2026-07-28" }, "2026-07-28"], [{ protocolVersion: "1.0" }, "1.0"],
    [{ protocolVersion: 20250618 }, 20250618], [{ protocolVersion: { deep: 1 } }, '{"deep":1}'], [{ protocolVersion: ["x".repeat(999)] }, `["${"x".repeat(98)}`], [{ protocolVersion: false }, false], [{ protocolVersion: null }, null], [{ protocolVersion: "__proto__" }, "__proto__"], [undefined, null],
  ];
  for (const [params, requested] of table) {
    const peer = new TestPeer(null);
    const said = await say(server(), peer, request("initialize", params));
    assert.equal(said?.status, 200);
    assert.equal(said?.body.error.code, -32022);
    assert.deepEqual(said?.body.error.data, { requested, supported: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] });
    assert.equal(peer.version, null);
  }
});

test("instructions speak of meta tools only where there are some", async () => {
  for (const metaTools of [true, false]) {
    const said = await say(server({ metaTools }), new TestPeer(null), request("initialize", { protocolVersion: "2025-06-18" }));
    assert.equal(/run_tool/.test(said?.body.result.instructions), metaTools);
  }
});

test("before initialize only initialize and ping are answered; a probe for another protocol is not found", async () => {
  const peer = new TestPeer(null);
  assert.deepEqual((await say(server(), peer, request("ping")))?.body.result, {});
  assert.equal((await say(server(), peer, request("server/discover", { _meta: {} })))?.body.error.code, -32601);
  assert.equal((await say(server(), peer, request("tools/list")))?.body.error.code, -32600);
  assert.equal((await say(server(), peer, call("echo", { text: "x" })))?.body.error.code, -32600);
  assert.equal((await say(server(), peer, request("initialize", { protocolVersion: "2025-06-18" })))?.body.result.protocolVersion, "2025-06-18");
});

test("tools/list has exactly the keys that the version knows, in one order", async () => {
  const want: { readonly [version: string]: readonly string[] } = {
    "2024-11-05": ["name", "description", "inputSchema"],
    "2025-03-26": ["name", "description", "inputSchema", "annotations"],
    "2025-06-18": ["name", "title", "description", "inputSchema", "outputSchema", "annotations"],
    "2025-11-25": ["name", "title", "description", "inputSchema", "outputSchema", "annotations"],
  };
  for (const version of HANDSHAKE_VERSIONS) {
    const tools = (await say(server(), new TestPeer(version), request("tools/list")))?.body.result.tools;
    for (const tool of tools) assert.deepEqual(Object.keys(tool), want[version], `${version} ${tool.name}`);
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    assert.deepEqual(tools[2].annotations, version === "2024-11-05" ? undefined : version === "2025-03-26" ? { title: "echo", ...hints } : hints);
  }
});

test("tools/list begins with the meta tools, and --no-meta-tools leaves the compiled ones", async () => {
  const names = async (metaTools: boolean): Promise<string[]> =>
    (await say(server({ metaTools }), new TestPeer(), request("tools/list")))?.body.result.tools.map((tool: { name: string }) => tool.name);
  const compiled = fixtureProgram().tools.map((tool) => tool.name);
  assert.deepEqual(await names(true), ["list_available_tools", "run_tool", ...compiled]);
  assert.deepEqual(await names(false), compiled);
});

test("the meta tools advertise the schemas that clients know", async () => {
  const tools = (await say(server(), new TestPeer("2024-11-05"), request("tools/list")))?.body.result.tools;
  assert.deepEqual(tools[0].inputSchema, { type: "object", properties: {} });
  const { name, arguments: args } = tools[1].inputSchema.properties;
  assert.equal(name.type, "string");
  assert.deepEqual([args.type, args.additionalProperties], ["object", true]);
  assert.ok(name.description.length > 0 && args.description.length > 0);
  assert.deepEqual(tools[1].inputSchema.required, ["name"]);
});

test("a result is the envelope twice: as text, and structured where the version has it", async () => {
  for (const version of HANDSHAKE_VERSIONS) {
    const { result } = (await say(server(), new TestPeer(version), call("echo", { text: "hé" })))?.body ?? {};
    const envelope = JSON.parse(result.content[0].text);
    assert.deepEqual(Object.keys(envelope), ["rows", "count", "truncated", "may_be_incomplete", "exact_search", "search_mode", "warnings", "latency_ms", "compiled_query", "message"]);
    assert.deepEqual(envelope.rows, [{ _id: 1, text: "hé" }]);
    assert.equal(result.isError, false);
    const structured = version >= "2025-06-18";
    assert.deepEqual(result.structuredContent, structured ? envelope : undefined);
  }
});

test("a failed call is an isError result with code, message, retryable and tool, on both transports", async () => {
  const table: readonly (readonly [string, unknown, string, boolean])[] = [
    ["echo", {}, "invalid_arguments", false],
    ["echo", { text: 5 }, "invalid_arguments", false],
    ["nothing_here", {}, "invalid_arguments", false],
    ["store_down", {}, "backend_unreachable", true],
  ];
  for (const transport of ["stdio", "http"] as const) {
    for (const [name, args, code, retryable] of table) {
      const said = await say(server(), new TestPeer("2025-11-25", transport), call(name, args));
      assert.equal(said?.status, 200);
      const { result } = said?.body ?? {};
      assert.equal(result.isError, true);
      assert.deepEqual(Object.keys(result), ["content", "isError"]);
      const { error } = JSON.parse(result.content[0].text);
      assert.deepEqual(Object.keys(error), ["code", "message", "retryable", "tool"]);
      assert.deepEqual([error.code, error.retryable, error.tool], [code, retryable, name]);
    }
  }
});

test("request ids are made on demand, in ascending order", async () => {
  const { log, lines } = logged();
  const mcp = server({ log });
  for (const _ of [1, 2]) await say(mcp, new TestPeer(), call("bug"));
  await log.flush();
  const ids = lines.map((line) => String(JSON.parse(line).request_id));
  assert.equal(ids.length, 2);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.ok((ids[0] ?? "") < (ids[1] ?? ""), ids.join());
});

test("names of the prototype are unknown tools", async () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    for (const message of [call(name, {}), call("run_tool", { name, arguments: {} })]) {
      const { result } = (await say(server(), new TestPeer(), message))?.body ?? {};
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, /unknown tool/);
    }
  }
});

test("a bug is -32603 that says nothing, and the log has the stack and the request id", async () => {
  const { log, lines } = logged();
  const said = await say(server({ log }), new TestPeer(), call("bug"));
  assert.deepEqual(said?.body.error, { code: -32603, message: "internal error" });
  await log.flush();
  const line = JSON.parse(lines[0] ?? "{}");
  assert.deepEqual([line.level, line.msg, line.tool], ["error", "tool call failed", "bug"]);
  assert.match(line.exc, /TypeError: secret of the implementation\n\s+at /);
  assert.match(line.request_id, /^[0-9a-f-]{36}$/);
  assert.match(line.ts, /^\d{4}-\d\d-\d\dT/);
});

test("a refusal is HTTP 403 with -32001, and on stdio a result with code auth_error", async () => {
  const http = await say(server(), new TestPeer("2025-11-25", "http"), call("forbidden"));
  assert.equal(http?.status, 403);
  assert.equal(http?.body.error.code, -32001);
  assert.equal(http?.body.error.data.code, "auth_error");
  const stdio = await say(server(), new TestPeer(), call("forbidden"));
  assert.equal(JSON.parse(stdio?.body.result.content[0].text).error.code, "auth_error");
});

test("a rate limit is HTTP 429 with Retry-After, and on stdio a result with retry_after_s", async () => {
  const http = await say(server(), new TestPeer("2025-11-25", "http"), call("limited"));
  assert.equal(http?.status, 429);
  assert.deepEqual(http?.headers, [["retry-after", "7"]]);
  assert.equal(http?.body.error.data.retry_after_s, 7);
  const stdio = await say(server(), new TestPeer(), call("limited"));
  const { error } = JSON.parse(stdio?.body.result.content[0].text);
  assert.deepEqual([error.code, error.retryable, error.retry_after_s], ["rate_limited", true, 7]);
});

test("tools/call without a usable name or arguments is -32602", async () => {
  for (const params of [{}, { name: 5 }, { name: null }, { name: "echo", arguments: [] }, { name: "echo", arguments: "{}" }]) {
    assert.equal((await say(server(), new TestPeer(), request("tools/call", params)))?.body.error.code, -32602, JSON.stringify(params));
  }
});

// ---- meta tools --------------------------------------------------------------------------------------------------

test("list_available_tools returns what tools/list has without the meta tools, as rows", async () => {
  const { result } = (await say(server(), new TestPeer(), call("list_available_tools")))?.body ?? {};
  const payload = result.structuredContent;
  assert.deepEqual(JSON.parse(result.content[0].text), payload);
  assert.deepEqual(Object.keys(payload), ["rows", "count", "message"]);
  assert.deepEqual(payload.rows, fixtureProgram().tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
  assert.equal(payload.count, payload.rows.length);
});

test("run_tool returns exactly what the inner tool returns, errors included", async () => {
  for (const [name, args] of [["echo", { text: "a" }], ["echo", { wrong: 1 }], ["store_down", {}], ["unknown_inner", {}], ["list_available_tools", {}]] as const) {
    const direct = await say(server(), new TestPeer(), call(name, args));
    const through = await say(server(), new TestPeer(), call("run_tool", { name, arguments: args }));
    assert.deepEqual(through, direct, name);
  }
});

test("run_tool takes arguments as an object, as a text that holds one, blank, or not at all", async () => {
  const rows = async (args: unknown): Promise<unknown> => (await say(server(), new TestPeer(), call("run_tool", { name: "echo", arguments: args })))?.body.result.structuredContent.rows;
  assert.deepEqual(await rows({ text: "a" }), [{ _id: 1, text: "a" }]);
  assert.deepEqual(await rows('{"text":"a"}'), [{ _id: 1, text: "a" }]);
  for (const nothing of [undefined, null, "", "  "]) {
    const { result } = (await say(server(), new TestPeer(), call("run_tool", { name: "echo", ...(nothing === undefined ? {} : { arguments: nothing }) })))?.body ?? {};
    assert.match(result.content[0].text, /text: required/);
  }
});

test("run_tool used wrongly is an ordinary result that says how", async () => {
  const table: readonly (readonly [unknown, RegExp])[] = [
    [{}, /needs the name/], [{ name: "" }, /needs the name/], [{ name: "  " }, /needs the name/], [{ name: 7 }, /needs the name/], [undefined, /needs the name/],
    [{ name: "run_tool", arguments: { name: "echo" } }, /cannot call itself/],
    [{ name: "echo", arguments: [] }, /must be an object/], [{ name: "echo", arguments: "[1]" }, /must be an object/],
    [{ name: "echo", arguments: "{broken" }, /must be an object/], [{ name: "echo", arguments: 5 }, /must be an object/],
  ];
  for (const [args, message] of table) {
    const { result } = (await say(server(), new TestPeer(), call("run_tool", args)))?.body ?? {};
    assert.equal(result.isError, false, JSON.stringify(args));
    assert.deepEqual(Object.keys(result.structuredContent), ["rows", "count", "message"]);
    assert.deepEqual([result.structuredContent.rows, result.structuredContent.count], [[], 0]);
    assert.match(result.structuredContent.message, message);
  }
});

test("with --no-meta-tools the meta names are unknown tools", async () => {
  for (const name of ["list_available_tools", "run_tool"]) {
    const { result } = (await say(server({ metaTools: false }), new TestPeer(), call(name, { name: "echo", arguments: { text: "x" } })))?.body ?? {};
    assert.match(result.content[0].text, /unknown tool/);
  }
});

// ---- batches, notifications, cancellation ---------------------------------------------------------------------------

test("a batch is answered in 2025-03-26 and refused in every other version", async () => {
  for (const version of HANDSHAKE_VERSIONS) {
    const said = await say(server(), new TestPeer(version), [request("ping", undefined, 1), call("echo", { text: "b" }, 2), { jsonrpc: "2.0", method: "notifications/x" }, 5]);
    if (version !== "2025-03-26") {
      assert.equal(said?.body.error.code, -32600, version);
      continue;
    }
    assert.deepEqual(said?.body.map((one: { id: unknown }) => one.id), [1, 2, null]);
    assert.equal(said?.body[2].error.code, -32600);
  }
});

test("in a batch fixed results keep their own ids, initialize and a second call with one id are refused", async () => {
  const peer = new TestPeer("2025-03-26");
  const said = await say(server(), peer, [request("tools/list", undefined, "a"), request("tools/list", undefined, "b"), request("initialize", { protocolVersion: "2025-03-26" }, "c"), call("wait", { ms: 5 }, "d"), call("wait", { ms: 5 }, "d")]);
  assert.deepEqual(said?.body.map((one: { id: unknown; error?: { code: number } }) => [one.id, one.error?.code]), [["a", undefined], ["b", undefined], ["c", -32600], ["d", undefined], [null, -32600]]);
});

test("an empty batch and one of over 100 messages are refused; one of notifications has no answer", async () => {
  const peer = new TestPeer("2025-03-26");
  assert.equal((await say(server(), peer, []))?.body.error.code, -32600);
  assert.equal((await say(server(), peer, Array.from({ length: 101 }, (_, id) => request("ping", undefined, id))))?.body.error.code, -32600);
  assert.equal(await say(server(), peer, [{ jsonrpc: "2.0", method: "notifications/initialized" }]), null);
});

test("notifications and responses have no answer, also when they name a method that is a request", async () => {
  for (const message of [{ jsonrpc: "2.0", method: "notifications/initialized" }, { jsonrpc: "2.0", method: "tools/call", params: { name: "bug" } }, { jsonrpc: "2.0", id: 1, result: {} }]) {
    assert.equal(await say(server(), new TestPeer(), message), null);
  }
});

test("cancelling aborts the call that has the id, which then has no answer, and no other", async () => {
  const mcp = server();
  const peer = new TestPeer();
  const [one, two] = [say(mcp, peer, call("wait", { ms: 60_000 }, 1)), say(mcp, peer, call("wait", { ms: 20 }, "1"))];
  await mcp.engine.load();
  await say(mcp, peer, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "user" } });
  assert.equal(await one, null);
  assert.equal((await two)?.body.id, "1");
  assert.equal(peer.running.size, 0);
});

test("an unknown method is -32601, a foreign cursor -32602", async () => {
  assert.equal((await say(server(), new TestPeer(), request("resources/list")))?.body.error.code, -32601);
  assert.equal((await say(server(), new TestPeer(), request("__proto__")))?.body.error.code, -32601);
  assert.equal((await say(server(), new TestPeer(), request("tools/list", { cursor: "abc" })))?.body.error.code, -32602);
});

test("logging/setLevel takes the eight severities; a call then sends warnings and a message about a store that is down", async () => {
  const warn = { warn: async (_: never, call: CallContext) => (call.warnings.push("VB4030"), rowsEnvelope([], call)) };
  const mcp = server({ program: fixtureProgram({}, warn) });
  const peer = new TestPeer();
  assert.deepEqual((await say(mcp, peer, request("logging/setLevel", { level: "warning" })))?.body.result, {});
  assert.equal((await say(mcp, peer, request("logging/setLevel", { level: "loud" })))?.body.error.code, -32602);
  await say(mcp, peer, call("warn"));
  await say(mcp, peer, call("store_down"));
  await say(mcp, peer, call("echo", { text: "quiet" }));
  assert.deepEqual(peer.told.map(({ params }) => [params["level"], params["data"]]), [
    ["warning", { tool: "warn", warnings: ["VB4030"] }],
    ["error", { tool: "store_down", code: "backend_unreachable", message: "cannot open the file" }],
  ]);
});

test("a catalog of more than a thousand tools is listed in pages, and a cursor is good for its own list only", async () => {
  const many = (hash: string): Program => {
    const program = fixtureProgram();
    const [first] = program.tools;
    assert.ok(first !== undefined);
    const tools = Array.from({ length: 2500 }, (_, index) => ({ ...first, name: `tool_${index}` }));
    return { ...program, tools, catalog: { ...program.catalog, hash } };
  };
  const mcp = server({ program: many("sha256:a") });
  const names: string[] = [];
  const sizes: number[] = [];
  for (let cursor: unknown; ; ) {
    const { result } = (await say(mcp, new TestPeer(), request("tools/list", cursor === undefined ? {} : { cursor })))?.body ?? {};
    sizes.push(result.tools.length);
    names.push(...result.tools.map((tool: { name: string }) => tool.name));
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  assert.deepEqual(sizes, [1002, 1000, 500]);
  assert.equal(new Set(names).size, 2502);
  const { nextCursor } = (await say(server({ program: many("sha256:b") }), new TestPeer(), request("tools/list")))?.body.result ?? {};
  for (const cursor of [nextCursor, "", "MTAwMA", 1000, null, {}, Buffer.from("2500 sha256:a").toString("base64url"), Buffer.from("-1 sha256:a").toString("base64url")]) {
    assert.equal((await say(mcp, new TestPeer(), request("tools/list", { cursor })))?.body.error.code, -32602, JSON.stringify(cursor));
  }
});

test.run();
