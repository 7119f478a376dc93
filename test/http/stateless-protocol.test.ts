import * as assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { fixtureServer } from "../mcp/files.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";
import { startHttp, type Json } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("2026-07-28");

const VERSION = "2026-07-28";
const META: Json = { "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {} };

let port = 0;
let stop: () => Promise<void> = () => Promise.resolve();
test.before(async () => {
  const served = await startHttp(fixtureServer);
  port = served.port;
  stop = served.kill;
});
test.after(() => stop());

interface Ask {
  readonly id?: number | string;
  readonly params?: Json;
  readonly meta?: Json;
  /** Replaces or, with "", removes a header. */
  readonly headers?: { readonly [name: string]: string };
}

function bytesOf(method: string, { id = 1, params = {}, meta = META, headers = {} }: Ask = {}): string {
  const name = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {};
  const all = { accept: "application/json, text/event-stream", "mcp-protocol-version": VERSION, "mcp-method": method, ...name, ...headers };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  return rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } }), kept);
}

async function ask(method: string, options: Ask = {}): Promise<RawAnswer & { readonly json: ReturnType<typeof JSON.parse> }> {
  const answer = await rawHttp(port, bytesOf(method, options));
  return { ...answer, json: answer.body === "" ? null : JSON.parse(answer.body) };
}

const echo: Json = { name: "echo", arguments: { text: "x" } };

test("server/discover names versions, capabilities and how long to keep them", async () => {
  const { status, json } = await ask("server/discover");
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json.result), ["resultType", "supportedVersions", "capabilities", "instructions", "ttlMs", "cacheScope", "_meta"]);
  assert.equal(json.result.resultType, "complete");
  assert.ok(json.result.supportedVersions.includes(VERSION));
  assert.deepEqual(json.result.capabilities, { tools: { listChanged: true } });
  assert.equal(json.result.cacheScope, "public");
  assert.equal(json.result._meta["io.modelcontextprotocol/serverInfo"].name, "toolsrv");
});

test("tools/list and tools/call carry resultType, the server's identity, and what a cache may do", async () => {
  const list = (await ask("tools/list")).json.result;
  assert.deepEqual([list.resultType, list.ttlMs, list.cacheScope], ["complete", 300_000, "public"]);
  assert.ok(list.tools.length > 2 && list.tools[0].outputSchema !== undefined);
  const call = (await ask("tools/call", { params: echo })).json.result;
  assert.deepEqual(Object.keys(call), ["resultType", "content", "structuredContent", "isError", "_meta"]);
  assert.deepEqual(call.structuredContent.rows, [{ _id: 1, text: "x" }]);
});

test("a failed call is a complete result with isError; an unknown tool is -32602", async () => {
  const failed = (await ask("tools/call", { params: { name: "store_down", arguments: {} } })).json.result;
  assert.deepEqual([failed.resultType, failed.isError], ["complete", true]);
  assert.equal((await ask("tools/call", { params: { name: "nothing", arguments: {} } })).json.error.code, -32602);
  const inner = (await ask("tools/call", { params: { name: "run_tool", arguments: { name: "nothing" } } })).json.result;
  assert.equal(inner.isError, true, "what run_tool names is an argument, which the model can mend");
});

test("headers that are missing or disagree with the body are 400 with -32020", async () => {
  const table: readonly (readonly [string, Ask])[] = [
    ["tools/list", { headers: { "mcp-protocol-version": "" } }],
    ["tools/list", { headers: { "mcp-protocol-version": "2025-11-25" } }],
    ["tools/list", { headers: { "mcp-method": "" } }],
    ["tools/list", { headers: { "mcp-method": "tools/call" } }],
    ["tools/list", { headers: { "mcp-method": "Tools/List" } }],
    ["tools/call", { params: echo, headers: { "mcp-name": "" } }],
    ["tools/call", { params: echo, headers: { "mcp-name": "wait" } }],
    ["tools/call", { params: echo, headers: { "mcp-name": "=?base64?!!!?=" } }],
    ["tools/call", { params: echo, headers: { "mcp-name": "=?base64?ZWNobw?=" } }],
    ["tools/call", { params: echo, headers: { "mcp-name": "=?base64?d2FpdA==?=" } }],
  ];
  for (const [method, options] of table) {
    const { status, json } = await ask(method, { id: "h", ...options });
    assert.deepEqual([status, json.error.code, json.id], [400, -32020, "h"], JSON.stringify(options.headers));
  }
  assert.equal((await ask("tools/call", { params: echo, headers: { "mcp-name": "=?base64?ZWNobw==?=" } })).status, 200);
});

test("an envelope without version or capabilities is 400 with -32602", async () => {
  for (const meta of [{}, { "io.modelcontextprotocol/clientCapabilities": {} }, { "io.modelcontextprotocol/protocolVersion": VERSION }, { ...META, "io.modelcontextprotocol/clientCapabilities": null }, { ...META, "io.modelcontextprotocol/protocolVersion": 5 }] as const) {
    const { status, json } = await ask("tools/list", { meta });
    assert.deepEqual([status, json.error.code], [400, -32602], JSON.stringify(meta));
  }
});

test("a version that is not served is 400 with -32022 and the list of those that are", async () => {
  const { status, json } = await ask("tools/list", { meta: { ...META, "io.modelcontextprotocol/protocolVersion": "1900-01-01" }, headers: { "mcp-protocol-version": "1900-01-01" } });
  assert.deepEqual([status, json.error.code, json.error.data.requested], [400, -32022, "1900-01-01"]);
  assert.ok(json.error.data.supported.includes(VERSION));
});

test("methods of the handshake era, and unknown ones, are 404 with -32601", async () => {
  for (const method of ["initialize", "ping", "logging/setLevel", "resources/list", "nothing/here"]) {
    const { status, json } = await ask(method);
    assert.deepEqual([status, json.error.code], [404, -32601], method);
  }
});

test("a batch is refused, a notification accepted, a session id ignored", async () => {
  const headers = { "mcp-protocol-version": VERSION, accept: "application/json" };
  assert.equal(JSON.parse((await rawHttp(port, rawPost("/mcp", "[]", headers))).body).error.code, -32600);
  assert.equal((await rawHttp(port, rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" }), headers))).status, 202);
  const ignored = await ask("tools/list", { headers: { "mcp-session-id": "abc", "last-event-id": "7" } });
  assert.deepEqual([ignored.status, ignored.headers["mcp-session-id"]], [200, undefined]);
});

test("a refusal is 403 and a rate limit 429, with codes outside the numbers that the protocol reserves", async () => {
  for (const [name, status] of [["forbidden", 403], ["limited", 429]] as const) {
    const answer = await ask("tools/call", { params: { name, arguments: {} } });
    assert.deepEqual([answer.status, answer.json.error.code], [status, status]);
  }
});

test("requests of both eras are served side by side on one connection", async () => {
  const old = rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id: "old", method: "initialize", params: { protocolVersion: "2025-06-18" } }));
  const { received } = await converse(`${bytesOf("server/discover", { id: "new" })}${old}`, /"id":"old".*\}$/s);
  assert.match(received, /"id":"new","result":\{"resultType"/);
  assert.match(received, /"protocolVersion":"2025-06-18"/);
});

test("a host that was answered to server/discover and then sends initialize with the same version gets -32022 with the versions that have a handshake", async () => {
  const { json } = await ask("server/discover");
  assert.ok(json.result.supportedVersions.includes(VERSION));
  for (const headers of [{}, { "mcp-protocol-version": "2025-11-25" }]) {
    const initialize = { jsonrpc: "2.0", id: 2, method: "initialize", params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: "host", version: "1" } } };
    const { error } = JSON.parse((await rawHttp(port, rawPost("/mcp", JSON.stringify(initialize), headers))).body);
    assert.deepEqual([error.code, error.data.requested, error.data.supported.includes("2025-11-25"), error.data.supported.includes(VERSION)], [-32022, VERSION, true, false]);
  }
});

/** Sends bytes and reads until the pattern is seen; the socket stays open. */
function converse(bytes: string, until: RegExp, to = port): Promise<{ readonly socket: Socket; readonly received: string; readonly more: (pattern: RegExp) => Promise<string> }> {
  const socket = connect(to, "127.0.0.1");
  let received = "";
  let wake: () => void = () => undefined;
  socket.on("data", (chunk) => {
    received += chunk.toString();
    wake();
  });
  socket.on("close", () => wake());
  socket.on("error", () => undefined);
  const more = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(received)) await new Promise<void>((resolve) => (wake = resolve));
    return received;
  };
  socket.write(bytes);
  return more(until).then(() => ({ socket, received, more }));
}

test("subscriptions/listen opens with what will be sent, tagged with its id, and ends with a result at shutdown", async () => {
  const served = await startHttp(fixtureServer);
  try {
    const listen = bytesOf("subscriptions/listen", { id: "sub-1", params: { notifications: { toolsListChanged: true, promptsListChanged: true } } });
    const { received, more } = await converse(listen, /\n\n[0-9a-f]*\r?\n?$/, served.port);
    assert.match(received, /content-type: text\/event-stream/);
    assert.match(received, /x-accel-buffering: no/);
    const first = JSON.parse(/data: (\{.*\})/.exec(received)?.[1] ?? "{}");
    assert.equal(first.method, "notifications/subscriptions/acknowledged");
    assert.deepEqual(first.params.notifications, { toolsListChanged: true });
    assert.equal(first.params._meta["io.modelcontextprotocol/subscriptionId"], "sub-1");
    served.child.kill("SIGTERM");
    const all = await more(/"result"/);
    const last = JSON.parse([...all.matchAll(/data: (\{.*\})/g)].at(-1)?.[1] ?? "{}");
    assert.deepEqual([last.id, last.result.resultType, last.result._meta["io.modelcontextprotocol/subscriptionId"]], ["sub-1", "complete", "sub-1"]);
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
  }
});

test("subscriptions/listen without a filter is -32602, and a listener that leaves is forgotten", async () => {
  assert.equal((await ask("subscriptions/listen")).json.error.code, -32602);
  const single = await ask("subscriptions/listen", { params: { notifications: {} }, headers: { accept: "application/json" } });
  assert.deepEqual([single.status, single.json.error.code], [406, "not_acceptable"], "there is nothing but a stream to answer with");
  const { socket } = await converse(bytesOf("subscriptions/listen", { params: { notifications: {} } }), /acknowledged/);
  socket.destroy();
  assert.equal((await ask("tools/list")).status, 200);
});

test("closing the stream of a call cancels it: a drain finds nothing left to wait for", async () => {
  const served = await startHttp(fixtureServer);
  try {
    const wait = { params: { name: "wait", arguments: { ms: 600_000 } } };
    const streaming = await converse(bytesOf("tools/call", { ...wait, meta: { ...META, progressToken: "t" } }), /notifications\/progress/, served.port);
    streaming.socket.destroy();
    // Without a stream the connection is closed before there is any answer; requests are taken in the order they come.
    const silent = await converse(`${bytesOf("tools/list")}${bytesOf("tools/call", wait)}`, /"tools":/, served.port);
    silent.socket.destroy();
    await rawHttp(served.port, bytesOf("tools/list"));
    served.child.kill("SIGTERM");
    assert.equal(await served.ended, 0);
    assert.match(served.stderr(), /draining/);
    assert.doesNotMatch(served.stderr(), /cut off/);
  } finally {
    await served.kill();
  }
});

test.run();
