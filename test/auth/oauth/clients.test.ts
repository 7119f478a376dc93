/** Who a client is: registration, its credentials at the token endpoint, and metadata documents. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from "jose";
import * as assert from "uvu/assert";
import { FetchBusy, FetchFailed, type FetchPublicJson } from "../../../runtime/auth/oauth/public-fetch.js";
import { suite } from "../../lib/suite.js";
import { authorizeAddress, CALLBACK, errorOf, fullLogin, logIn, openLogin, pkce, postForm, PUBLIC, refresh, registered, serveOauth, type Params, type ServedOauth, type ServedOptions, type Tokens } from "./served-oauth.js";

const all = suite("oauth: clients");

const test = (name: string, body: (served: ServedOauth) => Promise<void>, options: () => ServedOptions = () => ({})): void => all(name, async () => {
  const served = await serveOauth(options());
  try {
    await body(served);
  } finally {
    await served.stop();
  }
  assert.not.match(await served.log(), /request failed/);
}, { timeoutMs: 60_000 });

const register = (served: ServedOauth, body: unknown, headers = {}): Promise<Response> =>
  served.fetch(`${PUBLIC}/oauth/register`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: typeof body === "string" ? body : JSON.stringify(body) });

// ---- registration

test("a public client gets an id and no secret", async (served) => {
  const answer = await register(served, { redirect_uris: [CALLBACK], token_endpoint_auth_method: "none", client_name: "A" });
  assert.is(answer.status, 201);
  const { client_id: id, client_id_issued_at: at, ...rest } = (await answer.json()) as { client_id: string; client_id_issued_at: number };
  assert.match(id, /^tscl_/);
  assert.type(at, "number");
  assert.equal(rest, { client_name: "A", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] });
  assert.is(answer.headers.get("cache-control"), "no-store");
});

test("a client that names no method gets a secret, as RFC 7591 says", async (served) => {
  const answer = (await (await register(served, { redirect_uris: [CALLBACK] })).json()) as { client_secret: string; token_endpoint_auth_method: string; client_secret_expires_at: number };
  assert.match(answer.client_secret, /^tscs_/);
  assert.equal([answer.token_endpoint_auth_method, answer.client_secret_expires_at], ["client_secret_basic", 0]);
});

const REFUSED: readonly (readonly [what: string, body: unknown, error: string])[] = [
  ["no redirect address", {}, "invalid_redirect_uri"],
  ["http off loopback", { redirect_uris: ["http://app.example/cb"] }, "invalid_redirect_uri"],
  ["one bad address among good ones", { redirect_uris: [CALLBACK, "javascript:alert(1)"] }, "invalid_redirect_uri"],
  ["a script", { redirect_uris: ["data:text/html,x"] }, "invalid_redirect_uri"],
  ["an unknown scheme", { redirect_uris: ["whatever://x"] }, "invalid_redirect_uri"],
  ["a fragment", { redirect_uris: ["https://app.example/cb#x"] }, "invalid_redirect_uri"],
  ["a host that would add a directive to the page's policy", { redirect_uris: ["https://app;sandbox.example/cb"] }, "invalid_redirect_uri"],
  ["a host that would begin another policy", { redirect_uris: ["https://app,sandbox.example/cb"] }, "invalid_redirect_uri"],
  ["addresses that are no list", { redirect_uris: CALLBACK }, "invalid_redirect_uri"],
  ["too many addresses", { redirect_uris: Array<string>(21).fill(CALLBACK) }, "invalid_redirect_uri"],
  ["private_key_jwt", { redirect_uris: [CALLBACK], token_endpoint_auth_method: "private_key_jwt" }, "invalid_client_metadata"],
  ["a list instead of an object", [], "invalid_client_metadata"],
  ["no JSON", "{", "invalid_client_metadata"],
  ["a name that is no text", { redirect_uris: [CALLBACK], client_name: 5 }, "invalid_client_metadata"],
];
for (const [what, body, error] of REFUSED) test(`a registration with ${what} is refused: ${error}`, async (served) => assert.is(await errorOf(await register(served, body)), `400 ${error}`));

test("an address may register ten clients in an hour", async (served) => {
  for (let at = 0; at < 10; at++) assert.is((await register(served, { redirect_uris: [CALLBACK] })).status, 201);
  const refused = await register(served, { redirect_uris: [CALLBACK] });
  assert.ok(Number(refused.headers.get("retry-after")) > 3000);
  assert.is(await errorOf(refused), "429 slow_down");
  assert.is((await register(served, { redirect_uris: [CALLBACK] }, { "x-forwarded-for": "203.0.113.5" })).status, 201);
  served.advance(3_600_001);
  assert.is((await register(served, { redirect_uris: [CALLBACK] })).status, 201);
});

test("a registration of more than 64 KiB is refused", async (served) => assert.is((await register(served, { redirect_uris: [CALLBACK], client_name: "x".repeat(70_000) })).status, 413));

// ---- credentials at the token endpoint

const METHODS = ["none", "client_secret_post", "client_secret_basic"] as const;
for (const method of METHODS) {
  test(`a client that registered with ${method} gets tokens with every method it can use`, async (served) => {
    const { client_id: id, client_secret: secret } = await registered(served, { token_endpoint_auth_method: method });
    const ways: { params: Params; headers: Record<string, string> }[] = secret === undefined
      ? [{ params: { client_id: id }, headers: {} }, { params: { client_id: id, client_secret: "never given" }, headers: {} }]
      : [{ params: { client_id: id, client_secret: secret }, headers: {} }, { params: {}, headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` } }, { params: { client_id: id }, headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` } }];
    for (const { params, headers } of ways) {
      const { verifier, challenge } = pkce();
      const code = (await logIn(served, authorizeAddress(id, challenge))).searchParams.get("code") ?? "";
      const answer = await postForm(served, "/oauth/token", { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: CALLBACK, ...params }, headers);
      assert.is(answer.status, 200, JSON.stringify(params));
      const { refresh_token: token } = (await answer.json()) as Tokens;
      assert.is((await postForm(served, "/oauth/token", { grant_type: "refresh_token", refresh_token: token, ...params }, headers)).status, 200);
    }
  });
}

test("a client with a secret that sends none, or a wrong one, is invalid_client", async (served) => {
  const { client_id: id, client_secret: secret = "" } = await registered(served, { token_endpoint_auth_method: "client_secret_post" });
  const ask = (params: Params, headers = {}): Promise<Response> => postForm(served, "/oauth/token", { grant_type: "refresh_token", refresh_token: "x", ...params }, headers);
  assert.is(await errorOf(await ask({ client_id: id })), "401 invalid_client");
  assert.is(await errorOf(await ask({ client_id: id, client_secret: `${secret}x` })), "401 invalid_client");
  const basic = await ask({}, { authorization: `Basic ${btoa(`${id}:wrong`)}` });
  assert.is(basic.headers.get("www-authenticate"), 'Basic realm="oauth"');
  assert.is(await errorOf(basic), "401 invalid_client");
  assert.is(await errorOf(await ask({}, { authorization: "Basic !" })), "401 invalid_client");
  assert.is(await errorOf(await ask({ client_id: "other" }, { authorization: `Basic ${btoa(`${id}:${secret}`)}` })), "400 invalid_request");
  assert.is(await errorOf(await ask({ client_id: id, client_secret: secret }, { authorization: `Basic ${btoa(`${id}:${secret}`)}` })), "400 invalid_request");
});

test("a client that was forgotten is invalid_client, so that it registers anew", async (served) => {
  const { clientId, tokens } = await fullLogin(served);
  served.advance(401 * 86_400_000);
  assert.is(await errorOf(await refresh(served, clientId, tokens.refresh_token)), "401 invalid_client");
  assert.match(await served.log(), /step=token client=tscl_\S+ .*"invalid_client: .*registers anew/);
});

test("a parameter that is there twice is refused, also one that is written in two ways", async (served) => {
  const { client_id: id } = await registered(served);
  for (const body of [`grant_type=refresh_token&grant_type=refresh_token&client_id=${id}`, `grant_type=refresh_token&client_id=${id}&%63lient_id=x`]) {
    const answer = await served.fetch(`${PUBLIC}/oauth/token`, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body });
    assert.is(await errorOf(answer), "400 invalid_request");
  }
});

test("a body that is no form is refused", async (served) => {
  const answer = await served.fetch(`${PUBLIC}/oauth/token`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ grant_type: "refresh_token" }) });
  assert.is(await errorOf(answer), "400 invalid_request");
});

test("other grants are refused: password, client_credentials, jwt-bearer without an identity provider", async (served) => {
  const { client_id: id } = await registered(served);
  for (const grant of ["password", "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer", "implicit"]) {
    assert.is(await errorOf(await postForm(served, "/oauth/token", { grant_type: grant, client_id: id })), "400 unsupported_grant_type", grant);
  }
});

test("a page of any origin may read metadata, register and get tokens", async (served) => {
  const headers = { origin: "https://inspector.example" };
  for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp"]) {
    const answer = await served.fetch(PUBLIC + path, { headers });
    assert.equal([answer.status, answer.headers.get("access-control-allow-origin")], [200, "*"], path);
  }
  for (const path of ["/oauth/register", "/oauth/token", "/oauth/revoke"]) {
    const asked = await served.fetch(PUBLIC + path, { method: "OPTIONS", headers: { ...headers, "access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type,mcp-protocol-version" } });
    assert.equal([asked.status, asked.headers.get("access-control-allow-origin")], [204, "*"], path);
    const answer = await served.fetch(PUBLIC + path, { method: "POST", headers: { ...headers, "content-type": "application/x-www-form-urlencoded" }, body: "" });
    assert.equal([answer.status, answer.headers.get("access-control-allow-origin")], [400, "*"], path);
  }
});

test("the metadata has what hosts look for", async (served) => {
  const resource = (await (await served.fetch(`${PUBLIC}/.well-known/oauth-protected-resource/mcp`)).json()) as object;
  assert.equal(resource, { resource: `${PUBLIC}/mcp`, authorization_servers: [PUBLIC], bearer_methods_supported: ["header"], scopes_supported: ["mcp"], resource_name: "Support search" });
  const metadata = (await (await served.fetch(`${PUBLIC}/.well-known/oauth-authorization-server`)).json()) as { [name: string]: unknown };
  assert.is(metadata["issuer"], PUBLIC);
  assert.is(metadata["client_id_metadata_document_supported"], true);
  assert.ok((metadata["token_endpoint_auth_methods_supported"] as string[]).includes("none"));
  assert.equal(metadata["code_challenge_methods_supported"], ["S256"]);
  assert.is(metadata["authorization_response_iss_parameter_supported"], true);
  for (const name of ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]) assert.match(String(metadata[name]), /^https:\/\/mcp\.example\.test\/oauth\//);
});

// ---- metadata documents

const DOCUMENT = "https://client.example/oauth/client.json";
const KEYS = "https://client.example/oauth/keys.json";

interface Site {
  readonly options: ServedOptions;
  readonly files: { [url: string]: unknown };
  readonly asked: string[];
}

function site(document: object | null): Site {
  const files: { [url: string]: unknown } = document === null ? {} : { [DOCUMENT]: { client_id: DOCUMENT, client_name: "Client", redirect_uris: [CALLBACK], ...document } };
  const asked: string[] = [];
  const fetchJson: FetchPublicJson = (url) => {
    asked.push(url);
    if (files["busy"] === url) return Promise.reject(new FetchBusy("too many documents are being fetched"));
    return url in files ? Promise.resolve({ body: files[url], maxAgeMs: null }) : Promise.reject(new FetchFailed("its server answered 404"));
  };
  return { options: { fetchJson }, files, asked };
}

const documented = (name: string, document: object | null, body: (served: ServedOauth, site: Site) => Promise<void>): void => {
  let own: Site;
  test(name, (served) => body(served, own), () => (own = site(document)).options);
};

documented("a client that a metadata document describes logs in, refreshes and revokes without registering", {}, async (served, { asked }) => {
  const { tokens } = await fullLogin(served, DOCUMENT);
  assert.is((await refresh(served, DOCUMENT, tokens.refresh_token)).status, 200);
  assert.is((await postForm(served, "/oauth/revoke", { client_id: DOCUMENT, token: tokens.access_token })).status, 200);
  assert.equal(asked, [DOCUMENT], "the document is cached");
});

documented("the page names the site that publishes the document", { client_name: "Claims to be another" }, async (served) => {
  assert.match((await openLogin(served, authorizeAddress(DOCUMENT, pkce().challenge))).html, /is published by<\/dt><dd>client\.example</);
});

documented("a document is fetched once for many requests at the same time", {}, async (served, { asked }) => {
  await Promise.all(Array.from({ length: 10 }, () => openLogin(served, authorizeAddress(DOCUMENT, pkce().challenge))));
  assert.equal(asked, [DOCUMENT]);
});

documented("a document that cannot be fetched is a passing failure, not an unknown client", null, async (served) => {
  const page = await served.fetch(authorizeAddress(DOCUMENT, pkce().challenge));
  assert.is(page.status, 503);
  assert.match(await page.text(), /cannot be fetched: its server answered 404/);
  assert.is(await errorOf(await refresh(served, DOCUMENT, "x")), "503 temporarily_unavailable");
  assert.match(await served.log(), /step=authorize client=https:\/\/client\.example\/oauth\/client\.json/);
});

documented("a failed fetch is not repeated at once, and the document is used while it was fetched within a day", {}, async (served, { asked, files }) => {
  const { tokens } = await fullLogin(served, DOCUMENT);
  delete files[DOCUMENT];
  served.advance(2 * 3_600_000);
  const second = (await (await refresh(served, DOCUMENT, tokens.refresh_token)).json()) as Tokens;
  const third = await refresh(served, DOCUMENT, second.refresh_token);
  assert.is(third.status, 200);
  assert.is(asked.length, 2);
  served.advance(86_400_000);
  assert.is(await errorOf(await refresh(served, DOCUMENT, ((await third.json()) as Tokens).refresh_token)), "503 temporarily_unavailable");
});

const BAD_DOCUMENTS: readonly (readonly [what: string, document: object])[] = [
  ["has another client_id", { client_id: "https://client.example/other.json" }],
  ["has no redirect address", { redirect_uris: [] }],
  ["has a redirect address that is a script", { redirect_uris: ["javascript:alert(1)"] }],
  ["has a secret", { client_secret: "x" }],
  ["wants a shared secret", { token_endpoint_auth_method: "client_secret_post" }],
  ["wants private_key_jwt without keys", { token_endpoint_auth_method: "private_key_jwt" }],
];
for (const [what, document] of BAD_DOCUMENTS) {
  documented(`a document that ${what} is refused`, document, async (served) => {
    assert.is((await served.fetch(authorizeAddress(DOCUMENT, pkce().challenge))).status, 400);
    assert.is(await errorOf(await refresh(served, DOCUMENT, "x")), "400 invalid_request");
  });
}

documented("a redirect address that is not in the document is refused", { redirect_uris: ["https://client.example/cb"] }, async (served) => {
  assert.is((await served.fetch(authorizeAddress(DOCUMENT, pkce().challenge))).status, 400);
});

documented("a client id that is an unusual address is refused without a fetch", {}, async (served, { asked }) => {
  for (const id of ["https://client.example", "https://client.example/", "https://user@client.example/a", "https://client.example/a#b", "https://client.example/a/../b", "https://CLIENT.example/a", `https://client.example/${"a".repeat(2000)}`]) {
    assert.is(await errorOf(await refresh(served, id, "x")), "400 invalid_request", id);
  }
  assert.equal(asked, []);
});

documented("an address makes the server fetch at most twenty documents in a minute", null, async (served, { asked }) => {
  await Promise.all(Array.from({ length: 30 }, (_, at) => refresh(served, `https://client${at}.example/a.json`, "x")));
  assert.is(asked.length, 20);
});

documented("an address over its limit, however long it goes on, keeps no other address from a document", {}, async (served, { asked }) => {
  const from = (address: string, id: string): Promise<Response> => postForm(served, "/oauth/token", { grant_type: "refresh_token", client_id: id, refresh_token: "x" }, { "x-forwarded-for": address });
  for (let at = 0; at < 25; at++) await from("203.0.113.1", `https://client${at}.example/a.json`);
  assert.is(await errorOf(await from("203.0.113.1", DOCUMENT)), "503 temporarily_unavailable");
  assert.is(asked.includes(DOCUMENT), false, "not fetched for it");
  assert.is(await errorOf(await from("203.0.113.2", DOCUMENT)), "400 invalid_grant", "the client is known: its token is what is wrong");
});

documented("asking again and again does not put off the next fetch of a document that failed", null, async (served, { asked, files }) => {
  const ask = (): Promise<Response> => refresh(served, DOCUMENT, "x");
  assert.is(await errorOf(await ask()), "503 temporarily_unavailable");
  files[DOCUMENT] = { client_id: DOCUMENT, client_name: "Client", redirect_uris: [CALLBACK] };
  served.advance(20_000);
  assert.is(await errorOf(await ask()), "503 temporarily_unavailable");
  served.advance(11_000);
  assert.is(await errorOf(await ask()), "400 invalid_grant");
  assert.equal(asked, [DOCUMENT, DOCUMENT]);
});

documented("a fetch that did not begin, because too many run, is not a failure of the document", null, async (served, { files }) => {
  files["busy"] = DOCUMENT;
  assert.is(await errorOf(await refresh(served, DOCUMENT, "x")), "503 temporarily_unavailable");
  delete files["busy"];
  files[DOCUMENT] = { client_id: DOCUMENT, client_name: "Client", redirect_uris: [CALLBACK] };
  assert.is(await errorOf(await refresh(served, DOCUMENT, "x")), "400 invalid_grant");
});

// ---- private_key_jwt

const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const both = { token_endpoint_auth_method: "private_key_jwt", token_endpoint_auth_methods_supported: ["none", "private_key_jwt"], jwks_uri: KEYS };

async function key(kid: string): Promise<{ readonly privateKey: CryptoKey; readonly jwk: object }> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256" } };
}

interface Claims {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string;
  readonly exp?: number | string;
  readonly jti?: string;
}

function assertion(privateKey: CryptoKey, kid: string, claims: Claims = {}, alg = "RS256"): Promise<string> {
  const { iss = DOCUMENT, sub = DOCUMENT, aud = PUBLIC, exp = "5m", jti = crypto.randomUUID() } = claims;
  return new SignJWT({ jti }).setProtectedHeader({ alg, kid }).setIssuer(iss).setSubject(sub).setAudience(aud).setIssuedAt().setExpirationTime(exp).sign(privateKey);
}

const refreshWith = (served: ServedOauth, token: string, client_assertion: string, more: Params = {}): Promise<Response> =>
  postForm(served, "/oauth/token", { grant_type: "refresh_token", refresh_token: token, client_assertion, client_assertion_type: TYPE, ...more });

documented("a document that prefers private_key_jwt and offers none works with either", both, async (served, { files }) => {
  const { privateKey, jwk } = await key("k1");
  files[KEYS] = { keys: [jwk] };
  const { tokens } = await fullLogin(served, DOCUMENT);
  for (const aud of [PUBLIC, `${PUBLIC}/oauth/token`]) assert.is((await refreshWith(served, tokens.refresh_token, await assertion(privateKey, "k1", { aud }))).status, 200, aud);
  assert.is((await refreshWith(served, tokens.refresh_token, await assertion(privateKey, "k1"), { client_id: DOCUMENT })).status, 200);
});

documented("a document that offers only private_key_jwt must use it", { ...both, token_endpoint_auth_methods_supported: undefined }, async (served, { files }) => {
  const { privateKey, jwk } = await key("k1");
  files[KEYS] = { keys: [jwk] };
  assert.is(await errorOf(await refresh(served, DOCUMENT, "x")), "401 invalid_client");
  assert.is(await errorOf(await refreshWith(served, "x", await assertion(privateKey, "k1"))), "400 invalid_grant");
});

documented("an assertion is refused when it is replayed, expired, for another audience or client, too long-lived, or signed by another key", both, async (served, { files }) => {
  const { privateKey, jwk } = await key("k1");
  const other = await key("k1");
  files[KEYS] = { keys: [jwk] };
  const once = await assertion(privateKey, "k1");
  assert.is(await errorOf(await refreshWith(served, "x", once)), "400 invalid_grant");
  const now = Math.floor(Date.now() / 1000);
  const refused: [string, string][] = [
    ["replay", once],
    ["expired", await assertion(privateKey, "k1", { exp: now - 100 })],
    ["audience", await assertion(privateKey, "k1", { aud: "https://other.example" })],
    ["issuer", await assertion(privateKey, "k1", { iss: "https://other.example/a.json" })],
    ["long-lived", await assertion(privateKey, "k1", { exp: now + 90_000 })],
    ["key", await assertion(other.privateKey, "k1")],
    ["none", `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ iss: DOCUMENT, sub: DOCUMENT, aud: PUBLIC, exp: now + 60 }))}.`],
    ["HS256 with the public key", await new SignJWT({ jti: "h" }).setProtectedHeader({ alg: "HS256", kid: "k1" }).setIssuer(DOCUMENT).setSubject(DOCUMENT).setAudience(PUBLIC).setExpirationTime("5m").sign(new TextEncoder().encode(JSON.stringify(jwk)))],
  ];
  for (const [what, text] of refused) assert.is(await errorOf(await refreshWith(served, "x", text, { client_id: DOCUMENT })), "401 invalid_client", what);
});

documented("a new key is fetched once, and an unknown one does not make the server fetch again and again", both, async (served, { files, asked }) => {
  const [first, second] = [await key("k1"), await key("k2")];
  files[KEYS] = { keys: [first.jwk] };
  assert.is(await errorOf(await refreshWith(served, "x", await assertion(first.privateKey, "k1"))), "400 invalid_grant");
  files[KEYS] = { keys: [first.jwk, second.jwk] };
  served.advance(61_000);
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => errorOf(await refreshWith(served, "x", await assertion(second.privateKey, "k2")))));
  assert.equal(new Set(statuses), new Set(["400 invalid_grant"]));
  for (let at = 0; at < 20; at++) await refreshWith(served, "x", await assertion(first.privateKey, `unknown${at}`));
  assert.is(asked.filter((url) => url === KEYS).length, 2);
});

all.run();
