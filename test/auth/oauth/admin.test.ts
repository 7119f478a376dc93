/** `toolsrv auth`: rotate-secret, revoke and doctor, on the store of a server that runs. */
import { existsSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { run } from "../../../generator/cli/main.js";
import { diagnose } from "../../../runtime/auth/oauth/doctor.js";
import { memoryIo } from "../../lib/io.js";
import { suite } from "../../lib/suite.js";
import { NO_REDIS, startRedis } from "../../lib/redis-server.js";
import { authorizeAddress, call, errorOf, fullLogin, logIn, pkce, PUBLIC, refresh, registered, serveOauth, submit, openLogin, type ServedOauth } from "./served-oauth.js";

const all = suite("oauth: the auth commands");
/** Each makes a hash that is slow on purpose, some several. */
const test = (name: string, body: () => Promise<void>): void => all(name, body, { timeoutMs: 60_000 });

async function auth(home: string, ...words: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = memoryIo({ env: { HOME: home } });
  const code = await run(["auth", ...words], io);
  return { code, out: io.out(), err: io.err() };
}

const home = (): string => mkdtempSync(join(tmpdir(), "oauth-home-"));

async function withServer(body: (served: ServedOauth, home: string) => Promise<void>): Promise<void> {
  const folder = home();
  const served = await serveOauth({ stateFolder: join(folder, ".toolsrv") });
  try {
    await body(served, folder);
  } finally {
    await served.stop();
  }
}

test("rotate-secret writes a new secret, prints only its path, and ends every login of the running server", () => withServer(async (served, folder) => {
  const { clientId, tokens } = await fullLogin(served);
  const { code, out } = await auth(folder, "rotate-secret");
  const file = join(served.stateFolder, "access-secret.once");
  const secret = readFileSync(file, "utf8").trim();
  assert.is(code, 0);
  assert.is(out, `a new access secret is in ${file}; every login has ended\n`);
  assert.match(secret, /^[A-Za-z0-9_-]{32}$/);
  assert.is.not(secret, served.secret);
  assert.is(statSync(file).mode & 0o777, 0o600);
  served.advance(6000);
  assert.is((await call(served, tokens.access_token)).status, 401);
  assert.is(await errorOf(await refresh(served, clientId, tokens.refresh_token)), "400 invalid_grant");
  const { client_id: id } = await registered(served);
  const address = authorizeAddress(id, pkce().challenge);
  assert.is((await submit(served, address, await openLogin(served, address), { secret: served.secret })).status, 401);
  assert.ok((await logIn({ fetch: served.fetch, secret }, address)).searchParams.has("code"));
}));

test("rotate-secret before the first start makes the secret that the server then uses", async () => {
  const folder = home();
  assert.is((await auth(folder, "rotate-secret")).code, 0);
  const served = await serveOauth({ stateFolder: join(folder, ".toolsrv") });
  assert.is((await fullLogin(served)).tokens.expires_in, 3600);
  await served.stop();
});

test("without a home folder nothing is written: a secret in the working directory would be committed with it", async () => {
  for (const folder of ["", "relative/home"]) {
    const { code, err } = await auth(folder, "rotate-secret");
    assert.is(code, 2);
    assert.match(err, /there is no place for the login store: HOME is empty or no absolute path; set it to a folder/);
  }
  assert.is(existsSync(".toolsrv"), false);
});

test("revoke ends every login and keeps secret and clients", () => withServer(async (served, folder) => {
  const { clientId, tokens } = await fullLogin(served);
  const { code, out } = await auth(folder, "revoke");
  assert.equal([code, out], [0, "every login has ended; clients have to log in again\n"]);
  served.advance(6000);
  assert.is((await call(served, tokens.access_token)).status, 401);
  assert.is((await fullLogin(served, clientId)).tokens.expires_in, 3600);
}));

test("revoke and doctor without a store say so and make none", async () => {
  const folder = home();
  assert.equal(await auth(folder, "revoke"), { code: 0, out: "there is no login store yet; nothing to revoke\n", err: "" });
  assert.equal(await auth(folder, "doctor"), { code: 0, out: "No logins yet\n", err: "" });
  assert.not(existsSync(join(folder, ".toolsrv")));
});

test("doctor shows the last logins with the step at which each stopped", () => withServer(async (served, folder) => {
  const { client_id: id } = await registered(served, { client_name: "Stops after the redirect \u001b[31m" });
  await logIn(served, authorizeAddress(id, pkce().challenge));
  await fullLogin(served);
  const { tokens } = await fullLogin(served);
  assert.is((await call(served, tokens.access_token)).status, 200);
  const { code, out } = await auth(folder, "doctor");
  assert.is(code, 0);
  assert.match(out, /Stops after the redirect \?\[31m \(tscl_[\w-]+\)\n +registered 2\d{3}-\S+ \S+ · authorized 2\S+ \S+ · token – · first call –\n +the host never exchanged its code/);
  assert.match(out, /token 2\S+ \S+ · first call –\n +the host has a token and never called/);
  assert.match(out, /token 2\S+ \S+ · first call 2\S+ \S+\n/);
  assert.not(out.includes("\u001b"));
  for (const kept of [tokens.access_token, tokens.refresh_token, served.secret]) assert.not(out.includes(kept));
  const json = JSON.parse((await auth(folder, "doctor", "--json")).out) as { logins: readonly unknown[] };
  assert.is(json.logins.length, 3);
}));

test("every host can log in to a server as it is", () => withServer(async (served) => {
  for (const address of [`${PUBLIC}/mcp`, PUBLIC, `${PUBLIC}/mcp/`]) {
    const { checks, hosts } = await diagnose(address, served.fetch);
    assert.equal(checks.filter(({ ok }) => !ok), []);
    assert.equal(hosts.filter(({ missing }) => missing.length > 0), []);
    assert.ok(hosts.length >= 8);
  }
}));

test("what a proxy swallows is found, with the hosts that need it", () => withServer(async (served) => {
  const swallow = (path: string): typeof fetch => (input, init) => (String(input) === PUBLIC + path ? Promise.resolve(new Response("no", { status: 404 })) : served.fetch(input, init));
  const suffixed = await diagnose(PUBLIC, swallow("/.well-known/oauth-protected-resource/mcp"));
  assert.equal(suffixed.checks.filter(({ ok }) => !ok).map(({ need }) => need), ["suffixed-protected-resource"]);
  assert.ok(suffixed.hosts.find(({ host }) => host === "VS Code")?.missing.includes("suffixed-protected-resource"));
  assert.equal(suffixed.hosts.find(({ host }) => host === "Cursor")?.missing, []);
  const all = await diagnose(PUBLIC, swallow("/.well-known/oauth-authorization-server"));
  assert.ok(all.hosts.every(({ missing }) => missing.includes("server-metadata")));
}));

test("doctor on another kind of server lists what is missing, exit 1; without an answer exit 3", async () => {
  const server: Server = createServer((_, answer) => answer.writeHead(404).end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const found = await auth(home(), "doctor", address);
  assert.is(found.code, 1);
  assert.match(found.out, /FAIL https +the address is not https/);
  assert.match(found.out, /FAIL challenge +POST \/mcp without a token answers 404/);
  assert.match(found.out, /FAIL Cursor +needs https, protected-resource/);
  server.closeAllConnections();
  server.close();
  const gone = await auth(home(), "doctor", address);
  assert.is(gone.code, 3);
  assert.match(gone.err, /does not answer: \S/);
});

test("words that are none of the command are usage errors", async () => {
  for (const words of [[], ["login"], ["revoke", "x"], ["rotate-secret", "x"], ["doctor", "x"], ["revoke", "--auth-store", "files"], ["revoke", "--redis-url", "redis://x"], ["revoke", "--auth-store", "redis"], ["toString"]]) {
    assert.is((await auth(home(), ...words)).code, 2, words.join(" "));
  }
});

const redisTest = (name: string, body: (url: string) => Promise<void>): void => {
  if (NO_REDIS !== null) all.skip(name, NO_REDIS);
  else test(name, async () => {
    const redis = await startRedis();
    try {
      await body(redis.url);
    } finally {
      await redis.kill();
    }
  });
};

redisTest("rotate-secret and revoke work on the Redis store too", async (url) => {
  const folder = home();
  const served = await serveOauth({ stateFolder: join(folder, ".toolsrv"), store: { kind: "redis", url } });
  const { tokens } = await fullLogin(served);
  assert.is((await auth(folder, "revoke", "--auth-store", "redis", "--redis-url", url)).code, 0);
  served.advance(6000);
  assert.is((await call(served, tokens.access_token)).status, 401);
  assert.is((await auth(folder, "rotate-secret", "--auth-store", "redis", "--redis-url", url)).code, 0);
  const secret = readFileSync(join(served.stateFolder, "access-secret.once"), "utf8").trim();
  const { client_id: id } = await registered(served);
  assert.ok((await logIn({ fetch: served.fetch, secret }, authorizeAddress(id, pkce().challenge))).searchParams.has("code"));
  assert.match((await auth(folder, "doctor", "--auth-store", "redis", "--redis-url", url)).out, /Last logins/);
  await served.stop();
});

test("a Redis that does not answer is exit 3, without its password", async () => {
  const { code, err } = await auth(home(), "revoke", "--auth-store", "redis", "--redis-url", "redis://user:hunter2@127.0.0.1:1");
  assert.is(code, 3);
  assert.match(err, /Redis cannot be used/);
  assert.not(err.includes("hunter2"));
});

all.run();
