/** Two servers on one Redis: what one does the other knows, and what both do when Redis is away. */
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { suite } from "../../lib/suite.js";
import { NO_REDIS, startRedis, type RedisServer } from "../../lib/redis-server.js";
import { authorizeAddress, call, CALLBACK, errorOf, fullLogin, openLogin, pkce, postForm, refresh, registered, serveOauth, submit, type ServedOauth, type Tokens } from "./served-oauth.js";

const all = suite("oauth: two replicas");

const test = (name: string, body: (a: ServedOauth, b: ServedOauth, redis: RedisServer) => Promise<void>): void => {
  if (NO_REDIS !== null) {
    all.skip(name, NO_REDIS);
    return;
  }
  all(name, async () => {
    const redis = await startRedis();
    const store = { kind: "redis", url: redis.url } as const;
    const [a, b] = await Promise.all([serveOauth({ store }), serveOauth({ store })]);
    try {
      await body(a, b, redis);
    } finally {
      await Promise.all([a.stop(), b.stop()]);
      await redis.kill();
    }
    for (const one of [a, b]) assert.not.match(await one.log(), /request failed/);
  }, { timeoutMs: 60_000 });
};

/** The replica that wrote the secret. */
const owner = (a: ServedOauth, b: ServedOauth): readonly [ServedOauth, ServedOauth] => (a.secret === "" ? [b, a] : [a, b]);

test("one of two replicas that start at once writes the secret", async (a, b) => {
  assert.equal([a, b].filter(({ secret }) => secret !== "").length, 1);
  assert.equal([a, b].filter(({ stateFolder }) => existsSync(join(stateFolder, "access-secret.once"))).length, 1);
});

test("a login on one is a login on the other: page, form, code and token may each meet another replica", async (one, two) => {
  const [a, b] = owner(one, two);
  const { client_id: id } = await registered(a);
  const { verifier, challenge } = pkce();
  const address = authorizeAddress(id, challenge);
  const page = await openLogin(b, address);
  const back = new URL((await submit(a, address, page, { secret: a.secret })).headers.get("location") ?? "");
  const answer = await postForm(b, "/oauth/token", { grant_type: "authorization_code", client_id: id, code: back.searchParams.get("code") ?? "", code_verifier: verifier, redirect_uri: CALLBACK });
  const tokens = (await answer.json()) as Tokens;
  for (const replica of [a, b]) assert.is((await call(replica, tokens.access_token)).status, 200);
});

test("a login, a refresh on both at once, and a revocation: both serve, then both refuse", async (one, two) => {
  const [a, b] = owner(one, two);
  const { clientId, tokens } = await fullLogin(a);
  assert.is((await call(b, tokens.access_token)).status, 200);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => refresh(at % 2 === 0 ? a : b, clientId, tokens.refresh_token)));
  const all = await Promise.all(answers.map(async (answer) => (await answer.json()) as Tokens));
  assert.is(new Set(all.map(({ refresh_token: token }) => token)).size, 1);
  for (const { access_token: token } of all) for (const replica of [a, b]) assert.is((await call(replica, token)).status, 200);
  const last = all[0] as Tokens;
  assert.is((await postForm(a, "/oauth/revoke", { client_id: clientId, token: last.refresh_token })).status, 200);
  for (const replica of [a, b]) {
    replica.advance(5001);
    assert.is((await call(replica, last.access_token)).status, 401);
    assert.is(await errorOf(await refresh(replica, clientId, last.refresh_token)), "400 invalid_grant");
  }
});

test("a code that is used on both at once gives tokens once, and they end", async (one, two) => {
  const [a, b] = owner(one, two);
  const { client_id: id } = await registered(a);
  const { verifier, challenge } = pkce();
  const back = new URL((await submit(a, authorizeAddress(id, challenge), await openLogin(a, authorizeAddress(id, challenge)), { secret: a.secret })).headers.get("location") ?? "");
  const exchange = (replica: ServedOauth): Promise<Response> => postForm(replica, "/oauth/token", { grant_type: "authorization_code", client_id: id, code: back.searchParams.get("code") ?? "", code_verifier: verifier });
  const answers = await Promise.all([exchange(a), exchange(b)]);
  assert.equal(answers.map(({ status }) => status).sort(), [200, 400]);
  const tokens = (await answers.find(({ status }) => status === 200)?.json()) as Tokens;
  for (const replica of [a, b]) assert.is((await call(replica, tokens.access_token)).status, 401);
});

test("wrong secrets count on both", async (one, two) => {
  const [a, b] = owner(one, two);
  const { client_id: id } = await registered(a);
  const address = authorizeAddress(id, pkce().challenge);
  const page = await openLogin(a, address);
  const statuses: number[] = [];
  for (let at = 0; at < 6; at++) statuses.push((await submit(at % 2 === 0 ? a : b, address, page, { secret: "wrong" })).status);
  assert.equal(statuses, [401, 401, 401, 401, 401, 429]);
});

test("everything is stored as hashes", async (one, two, redis) => {
  const [a] = owner(one, two);
  const { clientId, tokens, code } = await fullLogin(a);
  await refresh(a, clientId, tokens.refresh_token);
  const stored = await redis.dump();
  assert.match(stored, /toolsrv:auth:login:tslg_/);
  for (const kept of [a.secret, code, tokens.access_token, tokens.refresh_token]) assert.not(stored.includes(kept));
});

test("while Redis is away every answer is 503, and after it is back logins work again", async (one, two, redis) => {
  const [a] = owner(one, two);
  const { clientId, tokens } = await fullLogin(a);
  await redis.kill();
  a.advance(6000);
  const refused = await call(a, tokens.access_token);
  assert.equal([refused.status, refused.headers.get("retry-after")], [503, "5"]);
  assert.is(await errorOf(await refresh(a, clientId, tokens.refresh_token)), "503 temporarily_unavailable");
  assert.is((await a.fetch(authorizeAddress(clientId, pkce().challenge))).status, 503);
  assert.equal(await a.service.health?.(), { ok: false, provider: "builtin" });
  await redis.start();
  while ((await a.service.health?.())?.ok !== true) await new Promise((resolve) => setImmediate(resolve));
  // It came back empty: the client is forgotten, and told so.
  assert.is(await errorOf(await refresh(a, clientId, tokens.refresh_token)), "401 invalid_client");
  assert.is((await call(a, tokens.access_token)).status, 401);
  assert.match(await a.log(), /the login store does not work; requests are answered 503/);
});

test("a Redis that hangs in the middle of a refresh is 503, and the refresh can be repeated", async (one, two, redis) => {
  const [a, b] = owner(one, two);
  const { clientId, tokens } = await fullLogin(a);
  redis.freeze();
  const hanging = refresh(a, clientId, tokens.refresh_token);
  assert.is(await errorOf(await hanging), "503 temporarily_unavailable");
  redis.thaw();
  while ((await b.service.health?.())?.ok !== true) await new Promise((resolve) => setImmediate(resolve));
  const answer = await refresh(b, clientId, tokens.refresh_token);
  assert.is(answer.status, 200);
  assert.is((await refresh(a, clientId, ((await answer.json()) as Tokens).refresh_token)).status, 200);
});

all("a Redis that is not there ends the start with exit 3, without its password", async () => {
  const stateFolder = mkdtempSync(join(tmpdir(), "oauth-none-"));
  const error = await serveOauth({ stateFolder, store: { kind: "redis", url: "redis://user:hunter2@127.0.0.1:1" } }).then(() => null, (reason: unknown) => reason as Error & { exitCode: number });
  assert.is(error?.exitCode, 3);
  assert.match(error?.message ?? "", /^Redis cannot be used: .*ECONNREFUSED/);
  assert.not.match(error?.message ?? "", /hunter2/);
});

all.run();
