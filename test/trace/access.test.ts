/** Who may ask: tokens, web pages of other origins, names of other hosts, addresses to bind. */
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { suite } from "../lib/suite.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { closeCode, rawWebSocket } from "../lib/raw-websocket.js";
import { bearerToken } from "../../runtime/auth/bearer-token.js";
import { createHostRules } from "../../runtime/http/host-rules.js";
import { type RunningTrace, sampleRun, startTrace } from "./lib.js";

const test = suite("trace access");
const TOKEN = "s3cret~token";

let open: RunningTrace;
let gated: RunningTrace;
test.before(async () => {
  open = await startTrace();
  gated = await startTrace({ auth_token: TOKEN });
});
test.after(async () => {
  await open.dispose();
  await gated.dispose();
});

/** A request whose headers no client library would send. */
async function raw(trace: RunningTrace, path: string, headers: { readonly [name: string]: string }, method = "GET"): Promise<{ status: number; body: string; headers: { readonly [name: string]: string } }> {
  const lines = Object.entries({ host: `127.0.0.1:${trace.port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return rawHttp(trace.port, Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "utf8"));
}

test("with a token every endpoint but the public ones asks for it, unknown paths too", async () => {
  const table: readonly (readonly [string, number])[] = [
    ["/api/health", 200], ["/docs", 200], ["/openapi.json", 200], ["/docs.css", 200], ["/ui/", 404], ["/ui", 307], ["/", 307],
    ["/api/runs", 401], ["/api/runs/x", 401], ["/api/stats", 401], ["/api/runs?limit=0", 401], ["/uix", 401], ["/favicon.ico", 401], ["/api/nope", 401],
  ];
  for (const [path, status] of table) assert.equal((await raw(gated, path, {})).status, status, path);
  for (const path of ["/api/health", "/docs", "/openapi.json"]) assert.equal((await raw(gated, path, {}, "PUT")).status, 405, path);
  assert.equal((await gated.send("POST", "/api/ingest", [])).status, 401);
  assert.equal((await gated.send("DELETE", "/api/runs/x")).status, 401);
  assert.equal((await gated.send("POST", "/v1/traces", "{}", { "content-type": "application/json" })).status, 401);
  const refused = await raw(gated, "/api/runs", {});
  assert.deepEqual(JSON.parse(refused.body), { detail: "Unauthorized" });
  assert.equal(refused.headers["www-authenticate"], "Bearer");
});

test("a body is not read before Host, Origin and token were decided", async () => {
  const head = (headers: string): string => `POST /api/ingest HTTP/1.1\r\n${headers}Content-Type: application/json\r\nContent-Length: 60000000\r\n\r\n[`;
  const table: readonly (readonly [string, string, number])[] = [
    ["no token", "Host: localhost\r\n", 401], ["a wrong token", `Host: localhost\r\nAuthorization: Bearer x\r\n`, 401],
    ["a foreign Host", `Host: evil.example\r\nAuthorization: Bearer ${TOKEN}\r\n`, 403],
    ["a foreign Origin", `Host: localhost\r\nOrigin: https://evil.example\r\nAuthorization: Bearer ${TOKEN}\r\n`, 403],
    ["Expect", "Host: localhost\r\nExpect: 100-continue\r\n", 401],
  ];
  for (const [name, headers, status] of table) {
    const { raw: text } = await rawHttp(gated.port, head(headers), { timeoutMs: 4000, all: true });
    assert.match(text, new RegExp(`HTTP/1\\.1 ${status} `), name);
  }
});

test("all bodies in memory share one budget: an intake beyond it is refused with Retry-After, and taken once there is room", async () => {
  const small = await startTrace({}, undefined, { bodyBudgetBytes: 1_000_000 });
  const half = connect(small.port, "127.0.0.1");
  try {
    half.on("error", () => undefined);
    const events = JSON.stringify([{ ...sampleRun("budget")[0], payload: { text: "x".repeat(700_000) } }]);
    await new Promise<void>((resolve) => half.write(rawPost("/api/ingest", events).slice(0, -10), () => resolve()));
    const ask = (): ReturnType<RunningTrace["send"]> => small.send("POST", "/api/ingest", events, { "content-type": "application/json" });
    let refused = await ask();
    // The first body is written, but its bytes may still be on their way.
    for (let tries = 0; refused.status === 202 && tries < 100; tries++) refused = await ask();
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    half.destroy();
    let taken = await ask();
    for (let tries = 0; taken.status === 503 && tries < 100; tries++) taken = await ask();
    assert.equal(taken.status, 202);
  } finally {
    half.destroy();
    await small.dispose();
  }
});

test("only the exact header is a token: scheme, one space, whole value", async () => {
  const table: readonly (readonly [string, number])[] = [
    [`Bearer ${TOKEN}`, 200], [`bearer ${TOKEN}`, 401], [`Bearer  ${TOKEN}`, 401], [TOKEN, 401], ["Basic eDp5", 401], ["Bearer ", 401], [`Bearer ${TOKEN}x`, 401], [`Bearer ${TOKEN.slice(0, -1)}`, 401],
    ["Bearer \u00e9\u0442", 401],
  ];
  for (const [authorization, status] of table) assert.equal((await raw(gated, "/api/runs", { authorization })).status, status, authorization);
  assert.equal((await raw(gated, `/api/runs?token=${encodeURIComponent(TOKEN)}`, {})).status, 401, "not in the query of REST");
});

test("without a token nothing is asked for", async () => {
  assert.equal((await raw(open, "/api/runs", { authorization: "Bearer anything" })).status, 200);
});

test("a loopback service answers only to loopback names", async () => {
  const table: readonly (readonly [string, number])[] = [
    ["localhost", 200], [`localhost:${open.port}`, 200], ["127.0.0.1", 200], ["127.9.8.7:1", 200], ["[::1]:80", 200], ["app.localhost", 200],
    ["evil.example", 403], ["127.0.0.1.evil.example", 403], ["localhost.evil.example", 403], ["", 403], ["127evil", 403], ["[::2]", 403],
  ];
  for (const [host, status] of table) assert.equal((await raw(open, "/api/runs", { host })).status, status, host);
});

test("a page of a foreign origin may neither read nor change anything", async () => {
  const table: readonly (readonly [string, number])[] = [
    ["http://localhost:5173", 200], [`http://127.0.0.1:${open.port}`, 200], ["http://[::1]:3000", 200], ["https://evil.example", 403], ["http://127.0.0.1.evil.example", 403], ["null", 403],
  ];
  for (const [origin, status] of table) {
    const answer = await raw(open, "/api/runs", { origin });
    assert.equal(answer.status, status, origin);
    assert.equal(answer.headers["access-control-allow-origin"], status === 200 ? origin : undefined, origin);
  }
  await open.ingest(sampleRun("keep"));
  assert.equal((await raw(open, "/api/runs/keep", { origin: "https://evil.example" }, "DELETE")).status, 403);
  assert.equal((await open.get("/api/runs/keep")).status, 200);
});

test("a preflight is answered for allowed origins and refused for others", async () => {
  const ask = (origin: string) => raw(open, "/api/runs", { origin, "access-control-request-method": "DELETE", "access-control-request-headers": "authorization,x-a" }, "OPTIONS");
  const yes = await ask("http://localhost:1");
  assert.deepEqual([yes.status, yes.body, yes.headers["access-control-max-age"], yes.headers["access-control-allow-origin"], yes.headers["access-control-allow-headers"]], [200, "OK", "600", "http://localhost:1", "authorization,x-a"]);
  assert.equal((await ask("https://evil.example")).status, 403);
  assert.equal((await raw(open, "/api/runs", {}, "OPTIONS")).status, 405);
});

test("cors_origins opens the service for the origins it names, * for all", async () => {
  const rules = (allowedOrigins: readonly string[], publicUrl: string | null = null) => createHostRules({ boundToLoopback: true, allowedOrigins, loopbackOrigins: true, publicUrl, setting: "cors_origins" });
  const named = rules(["https://app.example"]);
  assert.deepEqual([named.check("localhost", "https://app.example"), named.allowOrigin("https://app.example"), named.check("localhost", "https://other.example")?.code], [null, "https://app.example", "forbidden_origin"]);
  const any = rules(["*"]);
  assert.deepEqual([any.check("localhost", "https://x.example"), any.allowOrigin("https://x.example"), any.check("evil.example", "")?.code], [null, "*", "forbidden_host"]);
  assert.equal(rules([], "https://traces.example/base").check("traces.example", "https://traces.example"), null);
});

test("a WebSocket without the right token is closed with 4401 after its upgrade", async () => {
  const good = encodeURIComponent(TOKEN);
  const table: readonly (readonly [string, { readonly [name: string]: string }, boolean])[] = [
    ["/ws/runs", {}, false], ["/ws/runs?token=wrong", {}, false], [`/ws/runs?token=${good}`, {}, true], [`/ws/trace/x?token=${good}`, {}, true], ["/ws/trace/x", {}, false],
    ["/ws/runs?token=", { "sec-websocket-protocol": TOKEN }, false], ["/ws/runs", { authorization: `Bearer ${TOKEN}` }, false],
  ];
  for (const [path, headers, fine] of table) {
    const socket = await rawWebSocket(gated.port, path, headers);
    assert.equal(socket.status, 101, path);
    if (!fine) assert.equal(closeCode(await socket.next()), 4401, path);
    else if (path.startsWith("/ws/trace")) assert.equal((await socket.next())?.opcode, 1);
    socket.destroy();
  }
});

test("a WebSocket's token is the query parameter when there is one, and the sub-protocol only without it", () => {
  const access = bearerToken("right");
  const table: readonly (readonly [string | null, string, boolean])[] = [["right", "wrong", true], ["wrong", "right", false], ["", "right", false], [null, "right", true], [null, "a, right", true], [null, "right, a", false], [null, "", false]];
  for (const [query, protocols, fine] of table) assert.equal(access.authorizesSocket(query, protocols), fine, `${query} ${protocols}`);
});

test("the last sub-protocol is the token, the first one is echoed", async () => {
  const ascii = await startTrace({ auth_token: "plain-token" });
  const table: readonly (readonly [string, boolean, string])[] = [["toolsrv, plain-token", true, "toolsrv"], ["plain-token", true, "plain-token"], ["plain-token, toolsrv", false, "plain-token"]];
  for (const [protocols, fine, echoed] of table) {
    const socket = await rawWebSocket(ascii.port, "/ws/trace/x", { "sec-websocket-protocol": protocols });
    assert.deepEqual([socket.status, socket.headers["sec-websocket-protocol"]], [101, echoed]);
    const frame = await socket.next();
    assert.equal(fine ? frame?.opcode : closeCode(frame), fine ? 1 : 4401, protocols);
    socket.destroy();
  }
  await ascii.dispose();
});

test("a WebSocket of a foreign origin or host is refused before its upgrade", async () => {
  assert.equal((await rawWebSocket(open.port, "/ws/runs", { origin: "https://evil.example" })).status, 403);
  assert.equal((await rawWebSocket(open.port, "/ws/runs", { host: "evil.example" })).status, 403);
  const fine = await rawWebSocket(open.port, "/ws/runs", { origin: "http://localhost:5173" });
  assert.equal(fine.status, 101);
  fine.destroy();
});

test("a token that HTTP can't carry is refused at the start", async () => {
  for (const token of ["with space", "caf\u00e9", "\u0442"]) await assert.rejects(startTrace({ auth_token: token }), { name: "SettingError", message: /visible ASCII/ });
});

test("every address but 127.0.0.1, localhost and ::1 needs a token, and the error names its variable", async () => {
  for (const host of ["0.0.0.0", "127.0.0.2", "::ffff:127.0.0.1", "app.localhost"]) await assert.rejects(startTrace({ host }), { name: "SettingError", message: /TRACE_SERVICE_AUTH_TOKEN/ }, host);
  const reachable = await startTrace({ host: "0.0.0.0", auth_token: "t" });
  assert.equal((await raw(reachable, "/api/runs", { authorization: "Bearer t", host: "any.example" })).status, 200);
  await reachable.dispose();
});

/** A port of ::1 that nobody listens on; `null` where there is no ::1. */
function freePort6(): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen(0, "::1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : null));
    });
  });
}

const port = await freePort6();
const ON_LOOPBACK6 = "on ::1 the service needs no token, takes the port that it is given, also again, and its address has brackets";
if (port === null) test.skip(ON_LOOPBACK6, "this machine has no ::1");
else {
  test(ON_LOOPBACK6, async () => {
    const first = await startTrace({ host: "::1", port });
    assert.equal(first.url, `http://[::1]:${port}`);
    await first.ingest(sampleRun("six"));
    assert.deepEqual([(await first.get("/api/runs/six")).status, (await first.get("/api/runs", { origin: first.url })).status, (await first.get("/api/runs", { origin: "http://[2001:db8::1]" })).status], [200, 200, 403]);
    const beside = await startTrace({ host: "::1", port });
    assert.deepEqual([beside.port === port, (await beside.get("/api/health")).status], [false, 200], "a taken port is stepped over");
    await beside.dispose();
    await first.stop();
    const again = await startTrace({ host: "::1", port, port_auto: false }, first.directory);
    assert.equal(again.url, `http://[::1]:${port}`);
    await again.dispose();
  });
}

test.run();
