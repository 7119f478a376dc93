import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLoopback, isLoopbackAddress } from "../../runtime/base/loopback.js";
import { parseAddress } from "../../runtime/config/address.js";
import { createHostRules } from "../../runtime/http/host-rules.js";
import { fixtureServer } from "../mcp/files.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { start, startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("http mcp");

let port = 0;
let stop: () => Promise<void> = () => Promise.resolve();
test.before(async () => {
  const served = await startHttp(fixtureServer);
  port = served.port;
  stop = served.kill;
});
test.after(() => stop());

const text = (message: unknown): string => JSON.stringify(message);
const post = (body: string, headers: { readonly [name: string]: string } = {}): Promise<RawAnswer> =>
  rawHttp(port, rawPost("/mcp", body, { host: `127.0.0.1:${port}`, accept: "application/json, text/event-stream", ...headers }));
const get = (path: string, headers = ""): Promise<RawAnswer> => rawHttp(port, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}\r\n`);
const ping = text({ jsonrpc: "2.0", id: 1, method: "ping" });

test("POST /mcp answers JSON; a notification or a response is 202 without a body", async () => {
  const answer = await post(ping);
  assert.deepEqual([answer.status, answer.headers["content-type"], answer.body], [200, "application/json", '{"jsonrpc":"2.0","id":1,"result":{}}']);
  for (const message of [{ jsonrpc: "2.0", method: "notifications/initialized" }, { jsonrpc: "2.0", id: 1, result: {} }]) {
    const accepted = await post(text(message));
    assert.deepEqual([accepted.status, accepted.body], [202, ""]);
  }
});

test("a port that another server has ends the start with exit 3, the reason and nothing else", async () => {
  const second = start(fixtureServer, ["--http", `127.0.0.1:${port}`, "--auth", "none"]);
  assert.equal(await second.ended, 3);
  assert.equal(second.stderr(), `toolsrv: cannot listen on 127.0.0.1:${port}: another process has the port; end it, or take another port\n`);
});

test("a catalog that is meant for authenticated callers says so when it is served without", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-mode-"));
  const tool = "tools:\n  - { name: count_rows, kind: count, description: Count the rows. Use when the user asks how many., target: { connection: main, collection: rows } }\n";
  const warned = async (auth: string): Promise<boolean> => {
    writeFileSync(join(folder, "tools.yaml"), `tds_version: '2'\nconnections: { main: { backend: sqlite, path: ./d.db } }\n${tool}${auth}`);
    const served = await startHttp(repo("bin/toolsrv"), ["serve", join(folder, "tools.yaml")]);
    await served.kill();
    return /meant for --auth jwt \(security\.auth\.mode\)/.test(served.stderr());
  };
  try {
    assert.deepEqual([await warned("security: { auth: { mode: jwt } }\n"), await warned("security: { auth: { mode: none } }\n"), await warned("")], [true, false, false]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("/readyz says what is wrong with a store, and shows neither a path from --env-file nor where the catalog is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-secret-place-"));
  const tool = "tools:\n  - { name: count_rows, kind: count, description: Count the rows. Use when the user asks how many., target: { connection: main, collection: rows } }\n";
  writeFileSync(join(folder, "tools.yaml"), `tds_version: '2'\nconnections: { main: { backend: sqlite, path: "\${DB_PATH}" } }\n${tool}`);
  writeFileSync(join(folder, "values.env"), `DB_PATH=${join(folder, "hidden-name.db")}\n`);
  const served = await startHttp(repo("bin/toolsrv"), ["serve", join(folder, "tools.yaml"), "--env-file", join(folder, "values.env")]);
  try {
    const { status, body } = await rawHttp(served.port, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert.deepEqual([status, JSON.parse(body).connections.main.ok], [503, false]);
    assert.match(JSON.parse(body).connections.main.detail, /\w/);
    assert.doesNotMatch(body, /hidden-name|toolsrv-secret-place/);
  } finally {
    await served.kill();
    rmSync(folder, { recursive: true });
  }
});

test("pipelined requests are answered in their order; one behind a call that runs closes the connection, and no answer goes astray", async () => {
  const head = { host: `127.0.0.1:${port}`, "mcp-protocol-version": "2025-11-25" };
  const numbered = (id: number): string => rawPost("/mcp", text({ jsonrpc: "2.0", id, method: "ping" }), head);
  const all = await rawHttp(port, [numbered(1) + numbered(2), rawPost("/mcp", text({ jsonrpc: "2.0", id: 3, method: "ping" }), { ...head, connection: "close" })], { timeoutMs: 2000, all: true });
  assert.deepEqual([...all.raw.matchAll(/"id":(\d)/g)].map(([, id]) => id), ["1", "2", "3"]);
  const waiting = rawPost("/mcp", text({ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "wait", arguments: { ms: 200 } } }), head);
  assert.equal((await rawHttp(port, waiting + numbered(5), { all: true })).raw, "");
});

test("a client that accepts only an event stream gets one, one that accepts neither 406", async () => {
  const stream = await post(ping, { accept: "text/event-stream" });
  assert.deepEqual([stream.status, stream.headers["content-type"]], [200, "text/event-stream"]);
  assert.equal(stream.body, 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  for (const accept of ["*/*", "application/*", "text/html, application/json;q=0.5"]) assert.equal((await post(ping, { accept })).headers["content-type"], "application/json");
  assert.equal((await post(ping, { accept: "text/html" })).status, 406);
});

test("415 and 406 are answered on the head, before anything of the body has come", async () => {
  const headOf = (type: string, accept: string): string => `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nAccept: ${accept}\r\nContent-Length: 1000\r\n\r\n`;
  const wrong = await rawHttp(port, headOf("text/plain", "application/json"));
  assert.deepEqual([wrong.status, JSON.parse(wrong.body).error.code], [415, "unsupported_media_type"]);
  const unwanted = await rawHttp(port, headOf("application/json", "text/html"));
  assert.deepEqual([unwanted.status, JSON.parse(unwanted.body).error.code], [406, "not_acceptable"]);
  assert.equal((await rawHttp(port, headOf("application/json", "application/json"), { timeoutMs: 200 })).status, 0, "this one waits for its body");
});

test("a body that is not JSON is 400 with -32700, one of another type 415", async () => {
  for (const body of ["", "garbage", "{", "\u0000"]) {
    const answer = await post(body);
    assert.equal(answer.status, 400, body);
    assert.equal(JSON.parse(answer.body).error.code, -32700);
  }
  const invalid = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.from([0xff]), Buffer.from('"}')]);
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${invalid.length}\r\n\r\n`;
  assert.equal(JSON.parse((await rawHttp(port, [head, invalid])).body).error.code, -32700);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"]) assert.equal((await post(ping, { "content-type": type })).status, 415);
  assert.equal((await post(ping, { "content-type": "application/json; charset=utf-8" })).status, 200);
});

test("a message of a million brackets is 400 with -32600", async () => {
  const answer = await post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}}`);
  assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [400, -32600]);
  assert.match(JSON.parse(answer.body).error.message, /nested more than 200 levels deep/);
});

test("an invalid message is 400 with -32600 and its id", async () => {
  const answer = await post(text({ jsonrpc: "1.0", id: "a", method: "ping" }));
  assert.equal(answer.status, 400);
  assert.deepEqual([JSON.parse(answer.body).error.code, JSON.parse(answer.body).id], [-32600, "a"]);
});

test("without a version header the peer speaks 2025-03-26: batches, and structured content too", async () => {
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "x" } } };
  const batch = JSON.parse((await post(text([JSON.parse(ping), call]))).body);
  assert.deepEqual(batch.map((one: { id: number }) => one.id), [1, 2]);
  assert.deepEqual(batch[1].result.structuredContent.rows, JSON.parse(batch[1].result.content[0].text).rows, "structuredContent also without a version header");
});

test("the version header selects the row, and one that is not supported is 400 with -32022", async () => {
  const call = text({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "x" } } });
  assert.deepEqual(JSON.parse((await post(call, { "mcp-protocol-version": "2025-06-18" })).body).result.structuredContent.rows, [{ _id: 1, text: "x" }]);
  assert.equal(JSON.parse((await post(`[${call}]`, { "mcp-protocol-version": "2025-06-18" })).body).error.code, -32600);
  const refused = await post(call, { "mcp-protocol-version": "1999-01-01" });
  assert.equal(refused.status, 400);
  const { id, error } = JSON.parse(refused.body);
  assert.deepEqual([id, error.code, error.data.requested, error.data.supported.length], [2, -32022, "1999-01-01", 5]);
});

test("initialize needs no session and an unsupported version is HTTP 200 with -32022", async () => {
  const initialize = (protocolVersion: string): string => text({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion } });
  const good = await post(initialize("2024-11-05"));
  assert.equal(JSON.parse(good.body).result.protocolVersion, "2024-11-05");
  assert.equal(good.headers["mcp-session-id"], undefined);
  const bad = await post(initialize("2030-01-01"));
  assert.deepEqual([bad.status, JSON.parse(bad.body).error.code], [200, -32022]);
});

test("GET, PUT and DELETE of /mcp are 405 with Allow; other paths 404; both JSON", async () => {
  for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
    const answer = await rawHttp(port, `${method} /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    assert.deepEqual([answer.status, answer.headers["allow"], JSON.parse(answer.body).error.code], [405, "POST", "method_not_allowed"]);
  }
  for (const path of ["/", "/mcp/", "/mcp/x", "/metrics", "/.well-known/oauth-protected-resource", "/%2e%2e/etc"]) {
    const answer = await get(path);
    assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [404, "not_found"], path);
  }
});

test("/healthz and /readyz answer GET and HEAD, and nothing else", async () => {
  assert.deepEqual(JSON.parse((await get("/healthz")).body), { ok: true });
  assert.deepEqual(JSON.parse((await get("/readyz")).body), { ready: true, draining: false, compiled_tools: 8, connections: {} });
  assert.equal((await rawHttp(port, "HEAD /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", { timeoutMs: 200 })).status, 200);
  assert.equal((await rawHttp(port, rawPost("/healthz", "{}", { host: "127.0.0.1" }))).status, 405);
});

test("a body over 4 MiB is 413, one just under is served", async () => {
  const padded = (bytes: number): string => text({ jsonrpc: "2.0", id: 1, method: "ping", params: { pad: "x".repeat(bytes) } });
  assert.equal((await post(padded(4 * 1024 * 1024))).status, 413);
  assert.equal((await post(padded(4 * 1024 * 1024 - 200))).status, 200);
});

test("a foreign Origin is 403; loopback origins and no Origin are served, with CORS for the origin that asked", async () => {
  for (const origin of ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "file://", "http://user@127.0.0.1.nip.io", "x"]) {
    const answer = await post(ping, { origin });
    assert.deepEqual([answer.status, JSON.parse(answer.body).error.code, answer.headers["access-control-allow-origin"]], [403, "forbidden_origin", undefined], origin);
  }
  for (const origin of ["http://localhost:3000", "http://127.0.0.1:5173", "http://[::1]:1", `http://127.0.0.1:${port}`]) {
    const answer = await post(ping, { origin });
    assert.deepEqual([answer.status, answer.headers["access-control-allow-origin"]], [200, origin]);
  }
});

test("a preflight of a page that may is answered 204, of one that may not 403", async () => {
  const preflight = (origin: string): Promise<RawAnswer> => rawHttp(port, `OPTIONS /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\n\r\n`, { timeoutMs: 300 });
  const good = await preflight("http://localhost:3000");
  assert.equal(good.status, 204);
  assert.equal(good.headers["access-control-allow-methods"], "POST");
  assert.match(good.headers["access-control-allow-headers"] ?? "", /MCP-Protocol-Version/);
  assert.equal((await preflight("https://evil.example")).status, 403);
});

test("on a loopback bind a Host that is not loopback is 403 on every route", async () => {
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "[::2]", "", "127.0.0.1@evil.example"]) {
    assert.equal((await post(ping, { host })).status, 403, host);
  }
  assert.equal((await rawHttp(port, "GET /readyz HTTP/1.1\r\nHost: evil.example\r\n\r\n")).status, 403);
  for (const host of ["localhost", `LOCALHOST:${port}`, "127.0.0.1", "127.1.2.3:80", "[::1]:8080"]) assert.equal((await post(ping, { host })).status, 200, host);
});

test("a client that goes away aborts its call and hurts nobody", async () => {
  const socket = connect(port, "127.0.0.1");
  const call = text({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait", arguments: { ms: 60_000 } } });
  await new Promise<void>((resolve) => socket.write(rawPost("/mcp", call, { host: "127.0.0.1" }), () => resolve()));
  socket.destroy();
  assert.equal((await post(ping)).status, 200);
});

test("a cancellation in another request cancels nothing: ids of different clients never meet", async () => {
  const call = text({ jsonrpc: "2.0", id: 77, method: "tools/call", params: { name: "wait", arguments: { ms: 300 } } });
  const waiting = post(call, { "mcp-protocol-version": "2025-11-25" });
  assert.equal((await post(text({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } }))).status, 202);
  assert.deepEqual(JSON.parse((await waiting).body).result.structuredContent.rows, [{ _id: 1, waited: 300 }]);
});

test("requests on one connection are answered in order, with their own ids", async () => {
  const one = (id: number): string => rawPost("/mcp", text({ jsonrpc: "2.0", id, method: "tools/list" }), { host: "127.0.0.1" });
  const answer = await rawHttp(port, `${one(1)}${one(2)}${one(3)}`, { timeoutMs: 500 });
  assert.equal(answer.status, 200);
  const all = await new Promise<string>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString();
      if ((received.match(/"jsonrpc":"2.0","id":/g) ?? []).length === 3) resolve((socket.destroy(), received));
    });
    socket.write(`${one(1)}${one(2)}${one(3)}`);
  });
  assert.deepEqual([...all.matchAll(/"jsonrpc":"2.0","id":(\d)/g)].map((found) => found[1]), ["1", "2", "3"]);
});

// ---- pure decisions --------------------------------------------------------------------------------------------

test("loopback is decided on the parsed address", () => {
  for (const host of ["127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "0000::0001", "::ffff:127.0.0.1", "::ffff:7f00:1", "localhost", "LocalHost"]) assert.deepEqual([isLoopback(host), isLoopbackAddress(host)], [true, true], host);
  for (const host of ["app.localhost", "localhost."]) assert.deepEqual([isLoopback(host), isLoopbackAddress(host)], [true, false], host);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "127.0.0.1.evil.example", "localhost.evil.example", "127.1", "::ffff:10.0.0.1", "::2", "", "1270.0.0.1"]) assert.deepEqual([isLoopback(host), isLoopbackAddress(host)], [false, false], host);
});

test("an address is HOST:PORT, each half optional", () => {
  const table: readonly (readonly [string, string, number])[] = [
    ["127.0.0.1:8080", "127.0.0.1", 8080], ["8080", "127.0.0.1", 8080], [":8080", "127.0.0.1", 8080], ["localhost", "localhost", 8000],
    ["[::1]:9", "::1", 9], ["[::1]", "::1", 8000], ["0.0.0.0:0", "0.0.0.0", 0], ["srv-1.example.com:80", "srv-1.example.com", 80],
  ];
  for (const [given, host, portWanted] of table) assert.deepEqual(parseAddress(given, { flag: "--http", port: 8000 }), { host, port: portWanted }, given);
  for (const bad of ["", ":", "::1", "[::1", "[x]:1", "host:", "host:port", "host:70000", "http://h:1", "a b:1", "256.1.1.1:1", "h/:1", "-h:1"]) {
    assert.throws(() => parseAddress(bad, { flag: "--http", port: 8000 }), /--http takes HOST:PORT/, bad);
  }
});

test("off loopback an origin must be on the list, loopback, or the very host that was asked", () => {
  const rules = createHostRules({ boundToLoopback: false, allowedOrigins: ["https://app.example.com"], loopbackOrigins: true, publicUrl: null, setting: "--allow-origin" });
  const table: readonly (readonly [origin: string, host: string, fine: boolean])[] = [
    ["", "anything", true], ["https://app.example.com", "srv", true], ["https://app.example.com.evil.example", "srv", false], ["http://localhost:3000", "srv", true],
    ["https://srv.example.com", "srv.example.com", true], ["https://srv.example.com", "other.example.com", false], ["null", "srv", false],
  ];
  for (const [origin, host, fine] of table) assert.equal(rules.check(host, origin) === null, fine, `${origin} ${host}`);
});

test.run();
