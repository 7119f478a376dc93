/** Vault's HTTP API, in the shapes that its documentation records: https://developer.hashicorp.com/vault/api-docs/secret/kv */
import assert from "node:assert/strict";
import { isBackendError, isToolError } from "../../runtime/abi/errors.js";
import { source } from "../../runtime/secrets/vault/index.js";
import { suite } from "../lib/suite.js";
import { json, secretServer, world, type SecretServer } from "./world.js";

const test = suite("secrets/vault");

const TOKEN = "canary-vault-token";
const VERSION_2 = { request_id: "r", lease_id: "", renewable: false, lease_duration: 0, data: { data: { url: "http://db:6333", api_key: "canary-key" }, metadata: { created_time: "2026-01-01T00:00:00Z", custom_metadata: null, deletion_time: "", destroyed: false, version: 3 } }, wrap_info: null, warnings: null, auth: null };
const VERSION_1 = { request_id: "r", lease_id: "", renewable: false, lease_duration: 2764800, data: { api_key: "canary-key", port: 6333 }, wrap_info: null, warnings: null, auth: null };
const signal = new AbortController().signal;

let server: SecretServer;
test.before(async () => {
  server = await secretServer(json(VERSION_2));
});
test.after(() => server.close());

const open = (settings: object = {}, variables: { readonly [name: string]: string } = {}) =>
  source.open({ path: "secret/data/search", ...settings }, world({ VAULT_ADDR: server.url, VAULT_TOKEN: TOKEN, ...variables }));

test("versions 1 and 2 of the engine give the fields of the secret", async () => {
  server.answer = json(VERSION_2);
  assert.deepEqual(await open().fetch(signal), { url: "http://db:6333", api_key: "canary-key" });
  server.answer = json(VERSION_1);
  assert.deepEqual(await open({ path: "kv/search" }).fetch(signal), { api_key: "canary-key", port: "6333" });
});

test("the request is a GET below /v1/ with the token, and the role and namespace where there are any", async () => {
  server.answer = json(VERSION_2);
  server.asked.length = 0;
  await open({ role: "reader", path: "/secret/data/team a/search/" }, { VAULT_NAMESPACE: "ns1" }).fetch(signal);
  const [asked] = server.asked;
  assert.deepEqual([asked?.method, asked?.path], ["GET", "/v1/secret/data/team%20a/search"]);
  assert.deepEqual(["x-vault-token", "x-vault-role", "x-vault-namespace"].map((name) => asked?.headers[name]), [TOKEN, "reader", "ns1"]);
});

test("the address of the catalog wins over VAULT_ADDR, and may have a path", async () => {
  server.answer = json(VERSION_2);
  server.asked.length = 0;
  await open({ addr: `${server.url}/proxy/` }, { VAULT_ADDR: "https://elsewhere.example" }).fetch(signal);
  assert.equal(server.asked[0]?.path, "/proxy/v1/secret/data/search");
});

test("a path cannot reach another endpoint", () => {
  for (const path of ["../sys/seal", "secret/../../sys", "", "/", ".", "a/./b"]) assert.throws(() => open({ path }), isToolError, path);
});

test("a token is sent over https, or to this machine alone; never to an address with credentials", () => {
  for (const addr of ["http://vault.example:8200", "http://127.0.0.1.evil.example", "http://localhost.evil.example", "ftp://127.0.0.1", "vault:8200", "https://u:canary@vault.example", "http://10.0.0.1"]) {
    assert.throws(() => open({ addr }), (error) => isToolError(error) && error.code === "missing_env" && !error.message.includes("canary"), addr);
  }
  for (const addr of ["https://vault.example", "http://[::1]:8200", "http://localhost:8200"]) assert.ok(open({ addr }), addr);
});

test("each failure names the provider, the secret and what to do, and repeats no value", async () => {
  const table: readonly (readonly [status: number, body: unknown, want: RegExp])[] = [
    [403, { errors: ["permission denied"] }, /^vault 'secret\/data\/search': the token is refused \(403\); check VAULT_TOKEN/],
    [404, { errors: [] }, /no such secret \(404\); check vault\.path/],
    [400, { errors: ["x"] }, /refused \(400\)/],
    [200, { data: null }, /no key-value secret/],
    [200, { data: { data: null, metadata: {} } }, /no key-value secret/],
    [200, "canary-key", /no key-value secret/],
  ];
  for (const [status, body, want] of table) {
    server.answer = json(body, status);
    await assert.rejects(open().fetch(signal), (error) => isToolError(error) && error.code === "missing_env" && want.test(error.message) && !error.message.includes("canary"), String(want));
  }
  for (const status of [500, 503, 429]) {
    server.answer = json({ errors: ["canary"] }, status);
    await assert.rejects(open().fetch(signal), (error) => isBackendError(error) && error.kind === "unreachable" && error.message === `vault 'secret/data/search': the answer is ${status}`);
  }
});

test("without an address or a token it says which variable is missing", async () => {
  assert.throws(() => source.open({ path: "a/b" }, world({ VAULT_TOKEN: TOKEN })), /set VAULT_ADDR/);
  await assert.rejects(source.open({ path: "a/b" }, world({ VAULT_ADDR: server.url })).fetch(signal), /set VAULT_TOKEN/);
  await assert.rejects(open({}, { VAULT_TOKEN: "canary\nx-evil: 1" }).fetch(signal), (error) => isToolError(error) && !error.message.includes("canary"));
});

test("a redirect is not followed: the token stays with the address that was named", async () => {
  const other = await secretServer(json(VERSION_2));
  server.answer = (_, response) => void response.writeHead(307, { location: `${other.url}/v1/secret/data/search` }).end();
  await assert.rejects(open().fetch(signal), (error) => isToolError(error) && /redirect/.test(error.message));
  assert.equal(other.asked.length, 0);
  await other.close();
});

test("an answer without an end is cut off, and one that breaks off is an error", async () => {
  server.answer = (_, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  await assert.rejects(open().fetch(signal), (error) => isToolError(error) && /more than \d+ bytes/.test(error.message));
  server.answer = (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("{");
    setImmediate(() => response.destroy());
  };
  await assert.rejects(open().fetch(signal), (error) => isBackendError(error) && error.kind === "unreachable");
});

test("a server that says nothing is given up with the signal", async () => {
  const controller = new AbortController();
  server.answer = () => controller.abort();
  await assert.rejects(open().fetch(controller.signal), (error) => isBackendError(error) && /no answer in time/.test(error.message));
});

test("a server that is not there is unreachable, and the token is known to the log", async () => {
  const surroundings = world({ VAULT_ADDR: "http://127.0.0.1:1", VAULT_TOKEN: TOKEN });
  await assert.rejects(source.open({ path: "a/b" }, surroundings).fetch(signal), (error) => isBackendError(error) && error.kind === "unreachable" && !error.message.includes(TOKEN));
  assert.deepEqual(surroundings.seen, [TOKEN]);
});

test.run();
