/** `--auth api_key`: the file of keys, how a key is presented, and what the caller may then do. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseApiKeys } from "../../runtime/auth/api-keys-file.js";
import type { ApiKeyOptions } from "../../runtime/auth/service.js";
import { firstDuplicate } from "../../runtime/base/json-duplicates.js";
import { fixtureProgram } from "../mcp/program.js";
import { fixtureServer } from "../mcp/files.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { start } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { authServer, type AuthServer } from "./server.js";

const test = suite("api keys");
const folder = mkdtempSync(join(tmpdir(), "toolsrv-keys-"));
test.after(() => rmSync(folder, { recursive: true }));

const ADMIN = "admin-key-0123456789";
const VIEWER = "viewer-key-0123456789";
const KEYS = { [ADMIN]: { principal: "ada", claims: { roles: ["admin"] } }, [VIEWER]: { principal: "vic" } };
const RBAC = { role_claim: "roles", default_role: "viewer", roles: { admin: { allow: ["*"] }, viewer: { allow: ["echo"] } }, deny_tools: ["bug"] };
const file = join(folder, "keys.json");

async function serving(parts: Partial<ApiKeyOptions>, use: (server: AuthServer) => Promise<void>, keepAliveMs = 15_000): Promise<void> {
  writeFileSync(file, JSON.stringify(KEYS));
  const server = await authServer({ mode: "api_key", keysFile: file, header: "authorization", scheme: "Bearer", publicUrl: null, ...parts }, { programs: { tools: fixtureProgram({ security: { rbac: RBAC } }) }, keepAliveMs });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

test("a key names its caller; no key, an unknown key and a key with something added are 401", () =>
  serving({}, async ({ ask: post, logged }) => {
    const status = async (headers: { readonly [name: string]: string }): Promise<number> => (await post("ping", {}, headers)).status;
    assert.equal(await status({ authorization: `Bearer ${ADMIN}` }), 200);
    for (const authorization of ["", "Bearer", "Bearer ", `Bearer ${ADMIN}x`, `Bearer ${ADMIN.slice(0, -1)}`, `Bearer x${ADMIN}`, `Basic ${ADMIN}`, `Bearer ${ADMIN.toUpperCase()}`, `Bearer Bearer ${ADMIN}`, "Bearer constructor", "Bearer __proto__"]) {
      assert.equal(await status({ authorization }), 401, authorization);
    }
    const text = JSON.stringify(await logged());
    assert.match(text, /"auth":"api_key","reason":"unknown key","remote":"127\.0\.0\.1"/);
    assert.doesNotMatch(text, /admin-key/);
  }));

test("the scheme may be left out or written in any case; with scheme none the header is the key", async () => {
  const served = async (parts: Partial<ApiKeyOptions>, table: readonly (readonly [string, number])[]): Promise<void> =>
    serving(parts, async ({ ask: post }) => {
      for (const [value, status] of table) assert.equal((await post("ping", {}, { [parts.header ?? "authorization"]: value })).status, status, value);
    });
  await served({}, [[ADMIN, 200], [`bearer ${ADMIN}`, 200], [`ApiKey ${ADMIN}`, 401]]);
  await served({ header: "x-key", scheme: "ApiKey" }, [[ADMIN, 200], [`apikey  ${ADMIN}`, 200], [`Bearer ${ADMIN}`, 401]]);
  await served({ header: "x-key", scheme: "none" }, [[ADMIN, 200], [`Bearer ${ADMIN}`, 401]]);
});

test("a page may send the header of the keys: the preflight names it", () =>
  serving({ header: "x-key", scheme: "none" }, async ({ port }) => {
    const preflight = await rawHttp(port, "OPTIONS /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://localhost:5173\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n");
    assert.match(preflight.headers["access-control-allow-headers"] ?? "", /, x-key/);
    const refused = await rawHttp(port, rawPost("/mcp", "{}", { origin: "http://localhost:5173" }));
    assert.deepEqual([refused.status, refused.headers["access-control-allow-origin"], /WWW-Authenticate/.test(refused.headers["access-control-expose-headers"] ?? "")], [401, "http://localhost:5173", true]);
  }));

test("with a header of its own, Authorization is no way in", () =>
  serving({ header: "x-key", scheme: "none" }, async ({ ask: post }) => assert.equal((await post("ping", {}, { authorization: `Bearer ${ADMIN}` })).status, 401)));

test("two Authorization headers are refused, whatever is in them", () =>
  serving({}, async ({ port }) => {
    const twice = rawPost("/mcp", "{}", { "Authorization": `Bearer ${ADMIN}` }).replace("\r\n\r\n", `\r\nauthorization: Bearer ${ADMIN}\r\n\r\n`);
    assert.equal((await rawHttp(port, twice)).status, 400);
  }));

test("a key in the query is no key", () =>
  serving({}, async ({ port }) => {
    for (const query of [`access_token=${ADMIN}`, `api_key=${ADMIN}`, `authorization=Bearer%20${ADMIN}`]) assert.equal((await rawHttp(port, rawPost(`/mcp?${query}`, "{}"))).status, 401);
  }));

test("a key of 100 KB does no harm", () =>
  serving({}, async ({ port }) => {
    // The library refuses the block of headers; one that just fits is an unknown key.
    assert.equal((await rawHttp(port, rawPost("/mcp", "{}", { authorization: `Bearer ${"k".repeat(100_000)}` }))).status, 431);
    assert.equal((await rawHttp(port, rawPost("/mcp", "{}", { authorization: `Bearer ${"k".repeat(30_000)}` }))).status, 401);
  }));

test("claims of a key decide what its caller may do, for a tool, inside run_tool, and in both lists", () =>
  serving({}, async ({ ask: post }) => {
    const as = (key: string) => async (method: string, params: object = {}) => post(method, params, { authorization: `Bearer ${key}` });
    const [admin, viewer] = [as(ADMIN), as(VIEWER)];
    const wait = { name: "wait", arguments: { ms: 0 } };
    assert.deepEqual([(await admin("tools/call", wait)).status, (await viewer("tools/call", wait)).status], [200, 403]);
    assert.equal((await viewer("tools/call", { name: "run_tool", arguments: wait })).status, 403);
    assert.equal((await viewer("tools/call", { name: "run_tool", arguments: { name: "echo", arguments: { text: "x" } } })).status, 200);
    assert.equal((await admin("tools/call", { name: "bug", arguments: {} })).status, 403, "deny_tools wins over *");
    assert.equal((await admin("tools/call", { name: "run_tool", arguments: { name: "bug", arguments: {} } })).status, 403);
    const names = async (of: typeof admin): Promise<string[]> => (await of("tools/list")).json.result.tools.map(({ name }: { name: string }) => name);
    assert.deepEqual((await names(viewer)).filter((name) => !/run_tool|list_available/.test(name)), ["echo"]);
    assert.equal((await names(admin)).includes("bug"), false);
    const listed = (await viewer("tools/call", { name: "list_available_tools", arguments: {} })).json.result.structuredContent.rows.map(({ name }: { name: string }) => name);
    assert.deepEqual(listed, ["echo"]);
  }));

test("SIGHUP reads the file again: a new key is taken and one that is gone is refused at once", () =>
  serving({}, async ({ ask: post, auth }) => {
    const status = async (key: string): Promise<number> => (await post("ping", {}, { authorization: `Bearer ${key}` })).status;
    writeFileSync(file, JSON.stringify({ "another-key-0123456789": { principal: "ann" } }));
    // Twice, so that the digests of both are known before the file is read again.
    for (let round = 0; round < 2; round += 1) assert.deepEqual([await status(ADMIN), await status("another-key-0123456789")], [200, 401], "not before the signal");
    await auth.reload?.();
    assert.deepEqual([await status(ADMIN), await status("another-key-0123456789")], [401, 200]);
  }));

test("a stream that is open ends with the key that opened it", () =>
  serving({}, async ({ port, auth }) => {
    const version = "2026-07-28";
    const params = { notifications: { toolsListChanged: true }, _meta: { "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} } };
    const socket = connect(port, "127.0.0.1");
    let received = "";
    const sees = (pattern: RegExp): Promise<void> =>
      new Promise((resolve) => socket.on("data", () => pattern.test(received) && resolve()));
    socket.on("data", (chunk) => (received += String(chunk)));
    const alive = sees(/:\n\n[^]*:\n\n/);
    const ended = sees(/"resultType":"complete"/);
    socket.write(rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }), { accept: "application/json, text/event-stream", "mcp-protocol-version": version, "mcp-method": "subscriptions/listen", authorization: `Bearer ${ADMIN}` }));
    await alive;
    assert.doesNotMatch(received, /"result"/);
    writeFileSync(file, JSON.stringify({ [VIEWER]: { principal: "vic" } }));
    await auth.reload?.();
    await ended;
    socket.destroy();
  }, 20));

test("a file that cannot be used keeps the keys that were there, and the log says why", () =>
  serving({}, async ({ ask: post, auth, logged }) => {
    for (const text of ["{", "[]", JSON.stringify({ [ADMIN]: "ada" })]) {
      writeFileSync(file, text);
      await auth.reload?.();
    }
    rmSync(file);
    await auth.reload?.();
    assert.equal((await post("ping", {}, { authorization: `Bearer ${ADMIN}` })).status, 200);
    const errors = (await logged()).filter(({ level }) => level === "error").map(({ msg }) => String(msg));
    assert.equal(errors.length, 4);
    for (const message of errors) assert.match(message, /keys\.json cannot be used: .*the keys that were there stay valid/);
  }));

test("what is no regular file is not read again: a pipe would stop the server", () =>
  serving({}, async ({ ask: post, auth, logged }) => {
    rmSync(file);
    mkdirSync(file);
    await auth.reload?.();
    rmSync(file, { recursive: true });
    execFileSync("mkfifo", [file]);
    await auth.reload?.();
    assert.equal((await post("ping", {}, { authorization: `Bearer ${ADMIN}` })).status, 200);
    assert.equal((await logged()).filter(({ msg }) => /it is not a regular file/.test(String(msg))).length, 2);
    rmSync(file);
  }));

test("the whole way: a process takes the flag, a bad file ends its start with exit 2, and SIGHUP reloads", async () => {
  writeFileSync(file, JSON.stringify(KEYS));
  const flags = ["--http", "127.0.0.1:0", "--auth", "api_key", "--api-keys-file"];
  const served = start(fixtureServer, [...flags, file]);
  try {
    const port = Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]);
    const status = async (): Promise<number> => (await rawHttp(port, rawPost("/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}', { authorization: `Bearer ${ADMIN}` }))).status;
    assert.equal(await status(), 200);
    writeFileSync(file, "{}");
    served.child.kill("SIGHUP");
    await served.sees(/API keys were read again/);
    assert.equal(await status(), 401);
  } finally {
    await served.kill();
  }
  writeFileSync(file, '{"some-secret-key-123": 5}');
  const refused = start(fixtureServer, [...flags, file]);
  assert.equal(await refused.ended, 2);
  assert.match(refused.stderr(), /keys\.json cannot be used: entry 1 is not an object/);
  assert.doesNotMatch(refused.stderr(), /some-secret/);
}, { timeoutMs: 20_000 });

test("a file is used whole or not at all; no message holds a key", () => {
  const secret = "hidden-word-0123456789";
  const table: readonly (readonly [string, RegExp])[] = [
    ["", /it is not JSON: it is empty/],
    [`{"${secret}": {"principal": "a"},}`, /it is not JSON/],
    [`["${secret}"]`, /must be a JSON object/],
    ["null", /must be a JSON object/],
    [`{"${secret}": null}`, /entry 1 is not an object/],
    [`{"${secret}": ["a"]}`, /entry 1 is not an object/],
    [`{"${secret}": {}}`, /entry 1 needs a principal/],
    [`{"${secret}": {"principal": ""}}`, /entry 1 needs a principal/],
    [`{"${secret}": {"principal": 5}}`, /entry 1 needs a principal/],
    [`{"${secret}": {"principal": "a", "claims": []}}`, /the claims of entry 1 \('a'\) are not an object/],
    [`{"${secret}": {"principal": "a", "claim": {}}}`, /entry 1 has 'claim'/],
    [`{"": {"principal": "a"}}`, /the key of entry 1 is empty/],
    [`{"${secret} x": {"principal": "a"}}`, /not one that a client can send/],
    [`{"${secret},x": {"principal": "a"}}`, /not one that a client can send/],
    [`{"${secret}\u00e9": {"principal": "a"}}`, /not one that a client can send/],
    [`{"${secret}": {"principal": "a"},\n"${secret}": {"principal": "b"}}`, /the key on line 2 is there twice/],
    [`{"${secret}": {"principal": "a"},\n"hidden\\u002dword-0123456789": {"principal": "b"}}`, /the key on line 2 is there twice/],
    [`{"${secret}": {"principal": "a", "claims": {"org": "x", "org": "y"}}}`, /'org' on line 1 is there twice/],
  ];
  for (const [text, message] of table) {
    assert.throws(() => parseApiKeys(text, "k.json"), (error: Error) => {
      assert.equal(error.name, "ApiKeysError");
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /hidden/);
      return true;
    }, text);
  }
});

test("short keys and a file without keys are warned of, by the caller's name", () => {
  assert.deepEqual(parseApiKeys("{}", "k.json").warnings.map((text) => /has no key/.test(text)), [true]);
  const { warnings } = parseApiKeys('{"short": {"principal": "ada"}, "long-enough-0123": {"principal": "bob"}}', "k.json");
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /shorter than 16 characters.*'ada'$/);
});

test("one name in two objects, in a list, or as a value is no duplicate", () => {
  for (const text of ['{"a":{"b":1},"c":{"b":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":"a"}', '{"a":["b","b"]}', '{"a\\"b":1,"a":1}', '{"x":"{\\"a\\":1,\\"a\\":1}"}']) assert.equal(firstDuplicate(text), null, text);
  assert.deepEqual(firstDuplicate('{"a":[\n{"b":1,\n"b":2}]}'), { name: "b", depth: 3, line: 3 });
});

test("credentials are compared in one function, in constant time, and never by themselves", () => {
  const files = readdirSync(repo("runtime/auth"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const codeOf = (name: string): string => readFileSync(repo("runtime/auth", name), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  assert.deepEqual(files.filter((name) => /timingSafeEqual/.test(codeOf(name))), ["digest.ts"]);
  // No credential is an operand of a comparison or a key of a map; what is cached of one is a digest of it.
  for (const name of files.filter((file) => !/[\\/]/.test(file))) {
    const code = codeOf(name);
    assert.doesNotMatch(code, /\b(?:secret|token|key|sent)\s*[!=]==?\s*(?!null|undefined|"")[A-Za-z]/, name);
    assert.doesNotMatch(code, /\.(?:get|has)\((?:secret|token|key|sent)\)/, name);
    assert.doesNotMatch(code, /memoizeLast/, name);
  }
});

test.run();
