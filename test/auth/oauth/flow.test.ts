/** From registration to revocation, as a client sees it; each rule of the token endpoint is a test. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { openSqliteStore } from "../../../runtime/auth/oauth/sqlite-store.js";
import { suite } from "../../lib/suite.js";
import { authorizeAddress, call, CALLBACK, errorOf, fullLogin, logIn, pkce, postForm, PUBLIC, refresh, registered, RESOURCE, serveOauth, type ServedOauth, type Tokens } from "./served-oauth.js";

const all = suite("oauth: from registration to revocation");

const test = (name: string, body: (served: ServedOauth) => Promise<void>): void => all(name, async () => {
  const served = await serveOauth();
  try {
    await body(served);
  } finally {
    await served.stop();
  }
  assert.not.match(await served.log(), /request failed/);
}, { timeoutMs: 60_000 });

/** A login up to its code. */
async function withCode(served: ServedOauth, params = {}): Promise<{ readonly id: string; readonly code: string; readonly verifier: string }> {
  const { client_id: id } = await registered(served);
  const { verifier, challenge } = pkce();
  const back = await logIn(served, authorizeAddress(id, challenge, params));
  return { id, code: back.searchParams.get("code") ?? "", verifier };
}

const exchange = (served: ServedOauth, { id, code, verifier }: { id: string; code: string; verifier: string }, more = {}): Promise<Response> =>
  postForm(served, "/oauth/token", { grant_type: "authorization_code", client_id: id, code, code_verifier: verifier, redirect_uri: CALLBACK, ...more });

test("a client registers, logs in, exchanges the code, calls, refreshes and revokes", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  assert.is(tokens.token_type, "Bearer");
  assert.is(tokens.expires_in, 3600);
  assert.is((await call(served, tokens.access_token)).status, 200);
  const second = (await (await refresh(served, clientId, tokens.refresh_token)).json()) as Tokens;
  assert.is.not(second.access_token, tokens.access_token);
  assert.is.not(second.refresh_token, tokens.refresh_token);
  assert.is((await call(served, second.access_token)).status, 200);
  const revoked = await postForm(served, "/oauth/revoke", { client_id: clientId, token: second.refresh_token });
  assert.is(revoked.status, 200);
  // At once: this server forgets what it has seen of the login.
  for (const token of [tokens.access_token, second.access_token]) assert.is((await call(served, token)).status, 401);
  assert.is(await errorOf(await refresh(served, clientId, second.refresh_token)), "400 invalid_grant");
});

test("without a token, POST /mcp is 401 and names the metadata of the resource", async (served) => {
  const answer = await call(served, null);
  assert.is(answer.status, 401);
  assert.is(answer.headers.get("www-authenticate"), `Bearer resource_metadata="${PUBLIC}/.well-known/oauth-protected-resource"`);
});

test("with an unknown token, the challenge says invalid_token", async (served) => {
  for (const token of ["x", `tsat_${"A".repeat(43)}`, "a b"]) {
    const answer = await call(served, token);
    assert.is(answer.status, 401);
    assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer resource_metadata="https:\/\/mcp\.example\.test\/\.well-known\/oauth-protected-resource", error="invalid_token"/);
  }
});

test("a token in the query is not a credential", async (served) => {
  const { tokens } = await fullLogin(served);
  assert.is((await call(served, null, `/mcp?access_token=${tokens.access_token}`)).status, 401);
});

test("a refresh token is no access token, and the other way round", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  assert.is((await call(served, tokens.refresh_token)).status, 401);
  assert.is(await errorOf(await refresh(served, clientId, tokens.access_token)), "400 invalid_grant");
});

test("each login is a principal of its own", async (served) => {
  const [a, b] = [await fullLogin(served), await fullLogin(served)];
  const ids = await Promise.all([a, b].map(async ({ tokens }) => ((await (await call(served, tokens.access_token)).json()) as { id: string }).id));
  assert.is.not(ids[0], ids[1]);
  const again = (await (await refresh(served, a.clientId, a.tokens.refresh_token)).json()) as Tokens;
  assert.is(((await (await call(served, again.access_token)).json()) as { id: string }).id, ids[0]);
});

test("an access token ends after an hour", async (served) => {
  const { tokens } = await fullLogin(served);
  assert.is((await call(served, tokens.access_token)).status, 200);
  served.advance(3_600_000);
  assert.is((await call(served, tokens.access_token)).status, 401);
});

test("a refresh token ends after 30 days", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  served.advance(30 * 86_400_000);
  assert.is(await errorOf(await refresh(served, clientId, tokens.refresh_token)), "400 invalid_grant");
});

test("a code ends after a minute", async (served) => {
  const login = await withCode(served);
  served.advance(60_000);
  assert.is(await errorOf(await exchange(served, login)), "400 invalid_grant");
});

test("a code that is used twice ends the login", async (served) => {
  const login = await withCode(served);
  const tokens = (await (await exchange(served, login)).json()) as Tokens;
  assert.is(await errorOf(await exchange(served, login)), "400 invalid_grant");
  assert.is((await call(served, tokens.access_token)).status, 401);
  assert.is(await errorOf(await refresh(served, login.id, tokens.refresh_token)), "400 invalid_grant");
  assert.match((await served.log()), /an oauth login was ended .*an authorization code was used twice/);
});

test("a wrong verifier, client or redirect address gets nothing and does not use up the code", async (served) => {
  const login = await withCode(served);
  const { client_id: other } = await registered(served);
  assert.is(await errorOf(await exchange(served, { ...login, verifier: pkce().verifier })), "400 invalid_grant");
  assert.is(await errorOf(await exchange(served, { ...login, verifier: "short" })), "400 invalid_grant");
  assert.is(await errorOf(await exchange(served, { ...login, id: other })), "400 invalid_grant");
  assert.is(await errorOf(await exchange(served, login, { redirect_uri: "http://127.0.0.1:1/callback" })), "400 invalid_grant");
  assert.is(await errorOf(await exchange(served, login, { code_verifier: undefined })), "400 invalid_request");
  assert.is((await exchange(served, login)).status, 200);
});

test("a missing resource means the one there is; a wrong one is refused before a code is used or a token rotated", async (served) => {
  const login = await withCode(served, { resource: undefined });
  for (const resource of ["https://other.example/mcp", `${PUBLIC}/other`, "mcp", `${RESOURCE}?x=1`]) {
    assert.is(await errorOf(await exchange(served, login, { resource })), "400 invalid_target", resource);
  }
  const tokens = (await (await exchange(served, login)).json()) as Tokens;
  assert.is(await errorOf(await refresh(served, login.id, tokens.refresh_token, { resource: "https://other.example/mcp" })), "400 invalid_target");
  for (const resource of [undefined, RESOURCE, PUBLIC, `${PUBLIC}/`, `${RESOURCE}/`, "HTTPS://MCP.example.test:443/mcp"]) {
    assert.is((await refresh(served, login.id, tokens.refresh_token, { resource })).status, 200, resource ?? "none");
  }
});

test("a refresh token comes without offline_access, which is granted when asked for", async (served) => {
  const { tokens } = await fullLogin(served);
  assert.is(tokens.scope, "mcp");
  const login = await withCode(served, { scope: "mcp offline_access other" });
  const asked = (await (await exchange(served, login)).json()) as Tokens;
  assert.is(asked.scope, "mcp offline_access");
  assert.ok(asked.refresh_token !== undefined && tokens.refresh_token !== undefined);
});

test("a refresh whose answer was lost is repeated and gets the same refresh token", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  const lost = (await (await refresh(served, clientId, tokens.refresh_token)).json()) as Tokens;
  served.advance(86_400_000);
  const again = (await (await refresh(served, clientId, tokens.refresh_token)).json()) as Tokens;
  assert.is(again.refresh_token, lost.refresh_token);
  assert.is.not(again.access_token, lost.access_token);
  assert.is((await call(served, again.access_token)).status, 200);
  assert.is((await refresh(served, clientId, again.refresh_token)).status, 200);
});

test("twenty refreshes at once all work and lead to one refresh token", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(served, clientId, tokens.refresh_token)));
  const all = await Promise.all(answers.map(async (answer) => (await answer.json()) as Tokens));
  assert.is(new Set(all.map((one) => one.refresh_token)).size, 1);
  for (const one of all) assert.is((await call(served, one.access_token)).status, 200);
});

test("a refresh token that is used after its successor ends the login", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  const second = (await (await refresh(served, clientId, tokens.refresh_token)).json()) as Tokens;
  const third = (await (await refresh(served, clientId, second.refresh_token)).json()) as Tokens;
  assert.is(await errorOf(await refresh(served, clientId, tokens.refresh_token)), "400 invalid_grant");
  assert.is(await errorOf(await refresh(served, clientId, third.refresh_token)), "400 invalid_grant");
  assert.is((await call(served, third.access_token)).status, 401);
  assert.match((await served.log()), /a refresh token was used after its successor/);
});

test("a refresh token belongs to its client", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  const { client_id: other } = await registered(served);
  assert.is(await errorOf(await refresh(served, other, tokens.refresh_token)), "400 invalid_grant");
  assert.is((await refresh(served, clientId, tokens.refresh_token)).status, 200);
});

test("a revocation ends one login and no other, and only for its client", async (served) => {
  const [a, b] = [await fullLogin(served), await fullLogin(served)];
  const revokeAs = (id: string, token: string): Promise<Response> => postForm(served, "/oauth/revoke", { client_id: id, token });
  assert.is((await revokeAs(b.clientId, a.tokens.refresh_token)).status, 200);
  assert.is((await call(served, a.tokens.access_token)).status, 200);
  assert.is((await revokeAs(a.clientId, a.tokens.access_token)).status, 200);
  served.advance(6000);
  assert.is((await call(served, a.tokens.access_token)).status, 401);
  assert.is((await call(served, b.tokens.access_token)).status, 200);
});

test("a clock that is set back by an hour keeps no token that was revoked elsewhere", async (served) => {
  const { tokens } = await fullLogin(served);
  assert.is((await call(served, tokens.access_token)).status, 200);
  const elsewhere = openSqliteStore(served.storeFile, () => Date.now());
  await elsewhere.dropTokens();
  await elsewhere.close();
  served.advance(-3_600_000);
  assert.is((await call(served, tokens.access_token)).status, 401);
});

test("a revocation needs a client that is known; what it names may be anything", async (served) => {
  const { client_id: id } = await registered(served);
  assert.is(await errorOf(await postForm(served, "/oauth/revoke", { client_id: "tscl_none", token: "x" })), "401 invalid_client");
  assert.is(await errorOf(await postForm(served, "/oauth/revoke", { token: "x" })), "401 invalid_client");
  assert.is((await postForm(served, "/oauth/revoke", { client_id: id, token: "x" })).status, 200);
});

test("the access secret and every token are stored as hashes only", async (served) => {
  const { clientId, tokens, code } = await fullLogin(served);
  const { client_secret: secret = "" } = await registered(served, { token_endpoint_auth_method: "client_secret_post" });
  const second = (await (await refresh(served, clientId, tokens.refresh_token)).json()) as Tokens;
  const stored = [served.storeFile, `${served.storeFile}-wal`].map((file) => readFileSync(file).toString("latin1")).join("");
  for (const kept of [served.secret, code, secret, tokens.access_token, tokens.refresh_token, second.refresh_token]) {
    assert.ok(kept.length >= 32);
    assert.not(stored.includes(kept), `${kept.slice(0, 5)} is in the file`);
  }
});

test("no token, code or secret is ever logged", async (served) => {
  const { clientId, tokens, code, verifier } = await fullLogin(served);
  await exchange(served, { id: clientId, code, verifier });
  await refresh(served, "tscl_none", tokens.refresh_token);
  await call(served, tokens.access_token);
  const logged = await served.log();
  for (const kept of [served.secret, code, verifier, tokens.access_token, tokens.refresh_token]) assert.not(logged.includes(kept));
  assert.ok(logged.length > 0);
});

test("the secret is written once, for its owner alone, and not again at the next start", async () => {
  const first = await serveOauth();
  const file = join(first.stateFolder, "access-secret.once");
  assert.match(first.secret, /^[A-Za-z0-9_-]{32}$/);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.match((await first.log()), /the access secret for the login page was written file=.*access-secret\.once/);
  assert.not((await first.log()).includes(first.secret));
  await first.stop();
  const second = await serveOauth({ stateFolder: first.stateFolder });
  assert.is(second.secret, first.secret);
  assert.is((await fullLogin(second)).tokens.expires_in, 3600);
  await second.stop();
});

all.run();
