/** Tools that are handed in beside the compiled ones: those of the conformance build, which make test serves too. */
import * as assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSIONS } from "../../runtime/mcp/versions.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";
import { Lines, start, startHttp, type Json } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("extra tools");

const server = fileURLToPath(new URL(`../conformance/server${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
const VERSION = "2026-07-28";
const BOTH = "application/json, text/event-stream";

let port = 0;
let stop: () => Promise<void> = () => Promise.resolve();
test.before(async () => {
  const served = await startHttp(server);
  port = served.port;
  stop = served.kill;
});
test.after(() => stop());

type Any = ReturnType<typeof JSON.parse>;

interface Ask {
  readonly version?: string;
  readonly accept?: string;
  readonly capabilities?: Json;
}

function ask(method: string, params: Json, { version = VERSION, accept = "application/json", capabilities = {} }: Ask = {}): Promise<RawAnswer> {
  const envelope = { "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": capabilities };
  const body = { jsonrpc: "2.0", id: "x", method, params: version === VERSION ? { ...params, _meta: envelope } : params };
  return rawHttp(port, rawPost("/mcp", JSON.stringify(body), { accept, "mcp-protocol-version": version, "mcp-method": method, "mcp-name": String(params["name"] ?? "") }));
}

const call = (name: string, options?: Ask): Promise<RawAnswer> => ask("tools/call", { name, arguments: {} }, options);
const eventsOf = ({ body }: RawAnswer): readonly Any[] => [...body.matchAll(/^data: (.*)$/gm)].map((found) => JSON.parse(found[1] ?? ""));

test("content is sent as the tool gives it, and its schema as it was declared, in every version", async () => {
  for (const { name: version } of VERSIONS) {
    const { result } = JSON.parse((await call("test_multiple_content_types", { version })).body);
    assert.deepEqual(result.content.map(({ type }: Any) => type), ["text", "image", "resource"]);
    assert.deepEqual([result.structuredContent, result.isError], [undefined, false]);
    const { tools } = JSON.parse((await ask("tools/list", {}, { version })).body).result;
    const tool = tools.find(({ name }: Any) => name === "json_schema_2020_12_tool");
    assert.deepEqual([tool.outputSchema, tool.inputSchema.$defs.address.$anchor, tool.inputSchema.else.required], [undefined, "addressDef", ["email"]]);
    assert.equal(tool.annotations?.readOnlyHint, undefined, "nothing is claimed for a tool that claims nothing");
  }
});

test("run_tool and list_available_tools know them like any other tool", async () => {
  const { result } = JSON.parse((await ask("tools/call", { name: "run_tool", arguments: { name: "test_simple_text" } })).body);
  assert.equal(result.content[0].text, "This is a simple text response for testing.");
  const listed = JSON.parse((await call("list_available_tools")).body).result.structuredContent.rows.map(({ name }: Any) => name);
  assert.ok(listed.includes("test_simple_text"));
});

test("a tool that needs what the client did not declare is 400 with -32021 and the capabilities it needs", async () => {
  const refused = await call("test_missing_capability");
  const { error } = JSON.parse(refused.body);
  assert.deepEqual([refused.status, error.code, error.data], [400, -32021, { requiredCapabilities: { sampling: {} } }]);
  assert.equal((await call("test_missing_capability", { capabilities: { sampling: {} } })).status, 200);
  assert.equal((await call("test_missing_capability", { version: "2025-11-25" })).status, 200, "older protocols declare nothing with a request");
});

test("HTTP: log messages of a tool go to handshake clients that read streams, and never to the newest protocol", async () => {
  const told = eventsOf(await call("test_tool_with_logging", { version: "2025-11-25", accept: BOTH }));
  assert.deepEqual(told.map(({ method, params }) => method && [method, params.level, params.data]).slice(0, 3), [
    ["notifications/message", "info", "Tool execution started"],
    ["notifications/message", "info", "Tool processing data"],
    ["notifications/message", "info", "Tool execution completed"],
  ]);
  assert.equal(told.at(-1).id, "x");
  assert.equal((await call("test_tool_with_logging", { version: "2025-11-25" })).headers["content-type"], "application/json");
  assert.equal((await call("test_logging_tool", { accept: BOTH })).headers["content-type"], "application/json");
});

test("HTTP: a changed list is announced to those who listen for it, tagged with their subscription, and to nobody else", async () => {
  const listen = async (notifications: Json, id: string): Promise<{ readonly seen: () => string; readonly until: (pattern: RegExp) => Promise<void>; readonly socket: Socket }> => {
    const params = { notifications, _meta: { "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {} } };
    const socket = connect(port, "127.0.0.1");
    let received = "";
    let wake = (): void => undefined;
    socket.on("data", (chunk) => {
      received += chunk.toString();
      wake();
    });
    socket.write(rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id, method: "subscriptions/listen", params }), { accept: BOTH, "mcp-protocol-version": VERSION, "mcp-method": "subscriptions/listen" }));
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(received)) await new Promise<void>((resolve) => (wake = resolve));
    };
    await until(/acknowledged/);
    return { seen: () => received, until, socket };
  };
  const [told, other] = [await listen({ toolsListChanged: true }, "a"), await listen({ promptsListChanged: true }, "b")];
  try {
    const before = JSON.parse((await ask("tools/list", {})).body).result.tools.length;
    await call("test_trigger_tool_change");
    await told.until(/list_changed/);
    const [, changed] = [...told.seen().matchAll(/^data: (.*)$/gm)].map((found) => JSON.parse(found[1] ?? ""));
    assert.deepEqual(changed, { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta: { "io.modelcontextprotocol/subscriptionId": "a" } } });
    assert.notEqual(JSON.parse((await ask("tools/list", {})).body).result.tools.length, before);
    assert.doesNotMatch(other.seen(), /list_changed/);
  } finally {
    told.socket.destroy();
    other.socket.destroy();
  }
});

test("stdio: a level that was set holds for log messages of tools, and a changed list is announced and served", async () => {
  const served = start(server);
  const lines = new Lines(served);
  try {
    await lines.initialize();
    lines.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "test_logging_tool" } });
    assert.equal((await lines.next())?.["method"], "notifications/message");
    assert.equal((await lines.next())?.["id"], 1);
    await lines.ask(2, "logging/setLevel", { level: "warning" });
    await lines.ask(3, "tools/call", { name: "test_logging_tool" });

    const names = async (id: number): Promise<readonly string[]> => ((await lines.ask(id, "tools/list"))["result"] as Any).tools.map(({ name }: Any) => name);
    assert.ok(!(await names(4)).includes("test_added_tool"));
    lines.send({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "test_trigger_tool_change" } });
    assert.deepEqual([(await lines.next())?.["method"], (await lines.next())?.["id"]], ["notifications/tools/list_changed", 5]);
    assert.ok((await names(6)).includes("test_added_tool"));
    const added = (await lines.ask(7, "tools/call", { name: "test_added_tool" }))["result"] as Any;
    assert.equal(added.content[0].text, "I am here.");
  } finally {
    await served.kill();
  }
});

test("stdio: an extra tool that is cancelled has no answer", async () => {
  const served = start(server);
  const lines = new Lines(served);
  try {
    await lines.initialize();
    lines.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "test_tool_with_logging" } });
    assert.equal((await lines.next())?.["method"], "notifications/message", "it runs");
    lines.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await lines.ask(2, "ping");
    lines.end();
    assert.equal(await lines.next(), null, "neither an answer nor another message, though the tool runs to its end");
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
  }
});

test.run();
