/** Progress notifications: only for those who asked, on both transports, in every version. */
import * as assert from "node:assert/strict";
import { createEngine } from "../../runtime/call/engine.js";
import { callTool } from "../../runtime/mcp/call.js";
import { readMessage, type Request } from "../../runtime/mcp/jsonrpc.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { VERSIONS, type ProtocolVersion } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";
import { Lines, start, startHttp, type Json } from "../lib/served.js";
import { answered } from "../lib/answered.js";
import { suite } from "../lib/suite.js";
import { fixtureServer } from "./files.js";
import { TestPeer } from "./peer.js";
import { fixtureProgram, stages } from "./program.js";

const test = suite("progress");

const log = createLog({ format: "text", level: "silent", write: () => undefined });

/** What a peer of a version is told while a tool runs. */
async function toldBy(version: ProtocolVersion, meta: unknown, tool = "stages"): Promise<TestPeer["told"]> {
  const engine = createEngine(fixtureProgram({}, { stages }), { env: new Map(), metaTools: true });
  const mcp = createMcpServer({ engine, info: { name: "t", title: "t", version: "0" }, log });
  const peer = new TestPeer(version.name);
  const request = readMessage({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: tool === "run_tool" ? { name: "stages" } : {}, _meta: meta } }) as Request;
  await answered((reply) => callTool(mcp, request, peer, version, reply));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return peer.told;
}

test("a call with a token reports each stage with a growing number, and nothing after its answer", async () => {
  for (const version of VERSIONS) {
    for (const progressToken of ["t-1", 7, 0, ""]) {
      const words = (message: string): Json => (version.name === "2024-11-05" ? {} : { message });
      assert.deepEqual(await toldBy(version, { progressToken }), [
        { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1, ...words("one done") } },
        { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 2, ...words("two done") } },
      ], version.name);
    }
  }
});

test("through run_tool it is the progress of the tool that is named", async () => {
  const [version] = VERSIONS.slice(-2);
  assert.ok(version !== undefined);
  assert.equal((await toldBy(version, { progressToken: "t" }, "run_tool")).length, 2);
});

test("without a token, or with one that is neither text nor integer, nothing is reported", async () => {
  for (const version of VERSIONS) {
    for (const meta of [undefined, null, {}, "x", [], { progressToken: null }, { progressToken: 1.5 }, { progressToken: {} }, { progressToken: ["t"] }]) {
      assert.deepEqual(await toldBy(version, meta), [], `${version.name} ${JSON.stringify(meta)}`);
    }
  }
});

// ---- HTTP --------------------------------------------------------------------------------------------------------

let port = 0;
let stop: () => Promise<void> = () => Promise.resolve();
test.before(async () => {
  const served = await startHttp(fixtureServer);
  port = served.port;
  stop = served.kill;
});
test.after(() => stop());

function post(version: ProtocolVersion, accept: string, meta: Json, name = "stages"): Promise<RawAnswer> {
  const envelope: Json = version.era === "stateless" ? { "io.modelcontextprotocol/protocolVersion": version.name, "io.modelcontextprotocol/clientCapabilities": {} } : {};
  const body = { jsonrpc: "2.0", id: "p", method: "tools/call", params: { name, arguments: {}, _meta: { ...envelope, ...meta } } };
  return rawHttp(port, rawPost("/mcp", JSON.stringify(body), { accept, "mcp-protocol-version": version.name, "mcp-method": "tools/call", "mcp-name": name }));
}

/** The messages of an event stream. */
function eventsOf({ body }: RawAnswer): readonly ReturnType<typeof JSON.parse>[] {
  return [...body.matchAll(/^data: (.*)$/gm)].map((found) => JSON.parse(found[1] ?? ""));
}

const BOTH = "application/json, text/event-stream";

test("HTTP: progress comes as an event stream that ends with the answer", async () => {
  for (const version of VERSIONS) {
    const answer = await post(version, BOTH, { progressToken: "t" });
    assert.deepEqual([answer.status, answer.headers["content-type"], answer.headers["x-accel-buffering"]], [200, "text/event-stream", "no"]);
    const events = eventsOf(answer);
    assert.deepEqual(events.map((event) => event.method ?? event.id), ["notifications/progress", "notifications/progress", "p"], version.name);
    assert.equal(events.at(-1).result.isError, false);
  }
});

test("HTTP: a client that does not read event streams, or asked for no progress, gets one body", async () => {
  for (const version of VERSIONS) {
    for (const [accept, meta] of [["application/json", { progressToken: "t" }], ["*/*", { progressToken: "t" }], [BOTH, {}]] as const) {
      const answer = await post(version, accept, meta);
      assert.deepEqual([answer.headers["content-type"], JSON.parse(answer.body).id], ["application/json", "p"], `${version.name} ${accept}`);
    }
    const quick = await post(version, BOTH, { progressToken: "t" }, "store_down");
    assert.equal(quick.headers["content-type"], "application/json", "nothing to tell, so nothing but the answer");
  }
});

test("HTTP: the calls of a batch report their progress on one stream, which ends with all answers", async () => {
  const one = (id: number): Json => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "stages", arguments: {}, _meta: { progressToken: `t${id}` } } });
  const events = eventsOf(await rawHttp(port, rawPost("/mcp", JSON.stringify([one(1), one(2)]), { accept: BOTH })));
  const told = events.slice(0, -1).map(({ params }) => `${params.progressToken} ${params.progress}`);
  assert.deepEqual(told.sort(), ["t1 1", "t1 2", "t2 1", "t2 2"]);
  assert.deepEqual(events.at(-1).map(({ id }: { id: number }) => id), [1, 2]);
});

// ---- stdio -------------------------------------------------------------------------------------------------------

test("stdio: progress comes before the answer, and never for a call that did not ask", async () => {
  for (const version of VERSIONS.filter(({ era }) => era === "handshake")) {
    const served = start(fixtureServer);
    const lines = new Lines(served);
    try {
      await lines.initialize(version.name);
      lines.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "stages", arguments: {}, _meta: { progressToken: 5 } } });
      for (const progress of [1, 2]) {
        const told = await lines.next();
        assert.deepEqual([told?.["method"], (told?.["params"] as Json)["progressToken"], (told?.["params"] as Json)["progress"]], ["notifications/progress", 5, progress]);
      }
      assert.equal((await lines.next())?.["id"], 1);
      await lines.ask(2, "tools/call", { name: "stages", arguments: {} });
      await lines.ask(3, "ping");
    } finally {
      await served.kill();
    }
  }
});

test.run();
