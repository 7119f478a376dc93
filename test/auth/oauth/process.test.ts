/** `--auth builtin` as a process: its flags, its files in the home folder, its log, and a restart. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { start, type Served } from "../../lib/served.js";
import { suite } from "../../lib/suite.js";
import { NO_REDIS, startRedis } from "../../lib/redis-server.js";
import { authorizeAddress, call, CALLBACK, logIn, mapped, pkce, postForm, PUBLIC, refresh, registered, type Tokens } from "./served-oauth.js";

const test = suite("oauth: the server as a process");
const here = fileURLToPath(import.meta.url);
const fixture = join(here, `../../../mcp/fixture-server${extname(here)}`);
const folders: string[] = [];
test.after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "oauth-process-"));
  folders.push(home);
  return home;
}

interface Running extends Served {
  readonly fetch: typeof fetch;
}

async function serve(home: string, ...more: string[]): Promise<Running> {
  const served = start(fixture, ["--http", "127.0.0.1:0", "--auth", "builtin", "--public-url", PUBLIC, ...more], { env: { HOME: home } });
  const [, port = ""] = await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
  return { ...served, fetch: mapped(Number(port)) };
}

const MCP = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "hello" } } };
const echo = (served: Running, token: string): Promise<Response> => served.fetch(`${PUBLIC}/mcp`, { method: "POST", headers: { "content-type": "application/json", accept: "application/json", "mcp-protocol-version": "2025-11-25", authorization: `Bearer ${token}` }, body: JSON.stringify(MCP) });

test("a login survives a restart, and nothing that was printed or logged has a secret in it", async () => {
  const home = newHome();
  const first = await serve(home);
  const state = join(home, ".toolsrv");
  const secret = readFileSync(join(state, "access-secret.once"), "utf8").trim();
  assert.is(statSync(state).mode & 0o777, 0o700);
  for (const file of readdirSync(state)) assert.is(statSync(join(state, file)).mode & 0o777, 0o600, file);
  const { client_id: id } = await registered(first);
  const { verifier, challenge } = pkce();
  const code = (await logIn({ ...first, secret }, authorizeAddress(id, challenge))).searchParams.get("code") ?? "";
  const tokens = (await (await postForm(first, "/oauth/token", { grant_type: "authorization_code", client_id: id, code, code_verifier: verifier, redirect_uri: CALLBACK })).json()) as Tokens;
  assert.match(await (await echo(first, tokens.access_token)).text(), /hello/);
  assert.is((await call(first, null)).status, 401);
  const ready = (await (await first.fetch(`${PUBLIC}/readyz`)).json()) as { auth: unknown };
  assert.equal(ready.auth, { ok: true, provider: "builtin" });
  await first.kill();
  const second = await serve(home);
  assert.match(await (await echo(second, tokens.access_token)).text(), /hello/);
  const next = await refresh(second, id, tokens.refresh_token);
  assert.is(next.status, 200);
  const { access_token: access } = (await next.json()) as Tokens;
  assert.is(readFileSync(join(state, "access-secret.once"), "utf8").trim(), secret);
  await second.kill();
  const said = first.stderr() + second.stderr();
  assert.match(said, /the access secret for the login page was written file=\S+access-secret\.once/);
  assert.match(said, /oauth login login=tslg_/);
  for (const kept of [secret, code, verifier, tokens.access_token, tokens.refresh_token, access]) assert.not(said.includes(kept), kept.slice(0, 5));
}, { timeoutMs: 90_000 });

test("a token for another address of the server is refused", async () => {
  const home = newHome();
  const first = await serve(home);
  const secret = readFileSync(join(home, ".toolsrv/access-secret.once"), "utf8").trim();
  const { client_id: id } = await registered(first);
  const { verifier, challenge } = pkce();
  const code = (await logIn({ ...first, secret }, authorizeAddress(id, challenge))).searchParams.get("code") ?? "";
  const tokens = (await (await postForm(first, "/oauth/token", { grant_type: "authorization_code", client_id: id, code, code_verifier: verifier })).json()) as Tokens;
  await first.kill();
  const moved = start(fixture, ["--http", "127.0.0.1:0", "--auth", "builtin", "--public-url", "https://other.example.test"], { env: { HOME: home } });
  const [, port = ""] = await moved.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
  assert.is((await echo({ ...moved, fetch: mapped(Number(port)) }, tokens.access_token)).status, 401);
  await moved.kill();
}, { timeoutMs: 90_000 });

test("a secret file that others can read, or that is none, ends the first start with exit 2", async () => {
  for (const [text, mode] of [["x".repeat(32), 0o644], ["short", 0o600]] as const) {
    const home = newHome();
    const state = join(home, ".toolsrv");
    await (await serve(home)).kill();
    for (const file of readdirSync(state)) rmSync(join(state, file));
    writeFileSync(join(state, "access-secret.once"), text, { mode });
    const served = start(fixture, ["--http", "127.0.0.1:0", "--auth", "builtin", "--public-url", PUBLIC], { env: { HOME: home } });
    assert.is(await served.ended, 2);
    assert.match(served.stderr(), /access-secret\.once is there already and is not an access secret that only you can read/);
  }
}, { timeoutMs: 90_000 });

test("the other modes make no login store and have none of its routes", async () => {
  const home = newHome();
  const served = start(fixture, ["--http", "127.0.0.1:0", "--auth", "none"], { env: { HOME: home } });
  const [, port = ""] = await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
  for (const path of ["/oauth/authorize", "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"]) {
    assert.is((await fetch(`http://127.0.0.1:${port}${path}`)).status, 404, path);
  }
  await served.kill();
  assert.not(existsSync(join(home, ".toolsrv")));
}, { timeoutMs: 90_000 });

if (NO_REDIS !== null) test.skip("with --auth-store redis nothing but the secret is in the home folder", NO_REDIS);
else test("with --auth-store redis nothing but the secret is in the home folder", async () => {
  const redis = await startRedis();
  const home = newHome();
  const served = await serve(home, "--auth-store", "redis", "--redis-url", redis.url);
  assert.equal(readdirSync(join(home, ".toolsrv")), ["access-secret.once"]);
  await served.kill();
  await redis.kill();
}, { timeoutMs: 90_000 });

test.run();
