/** Enterprise-managed authorization: what an assertion must be, and what each wrong one gets. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from "jose";
import * as assert from "uvu/assert";
import { suite } from "../../lib/suite.js";
import { call, errorOf, postForm, PUBLIC, registered, RESOURCE, serveOauth, type Params, type ServedOauth, type Tokens } from "./served-oauth.js";

const all = suite("oauth: assertions of an identity provider");
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ISSUER = "https://idp.example";

let keys: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey };
let other: CryptoKey;
let provider: Server;
let jwksUrl = "";
let isDown = false;
let fetches = 0;

all.before(async () => {
  keys = await generateKeyPair("ES256", { extractable: true });
  other = (await generateKeyPair("ES256")).privateKey;
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "ES256" };
  provider = createServer((_, answer) => {
    fetches++;
    answer.writeHead(isDown ? 500 : 200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  jwksUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`;
});
all.after(() => void provider.close());

interface Setup {
  readonly served: ServedOauth;
  readonly id: string;
  readonly secret: string;
  readonly ask: (assertion: string, more?: Params) => Promise<Response>;
}

const test = (name: string, body: (setup: Setup) => Promise<void>): void => all(name, async () => {
  const served = await serveOauth({ extra: { idJag: { issuer: ISSUER, jwksUrl, algorithms: ["RS256", "ES256"], principalClaim: "sub", claimsPrefix: "https://co.example/" } } });
  try {
    const { client_id: id, client_secret: secret = "" } = await registered(served, { token_endpoint_auth_method: "client_secret_post", redirect_uris: undefined, grant_types: [GRANT] });
    await body({ served, id, secret, ask: (assertion, more = {}) => postForm(served, "/oauth/token", { grant_type: GRANT, assertion, client_id: id, client_secret: secret, ...more }) });
  } finally {
    await served.stop();
  }
  assert.not.match(await served.log(), /request failed/);
}, { timeoutMs: 60_000 });

const now = (): number => Math.floor(Date.now() / 1000);

/** An assertion with changed claims; `undefined` leaves a claim out. */
function jag(clientId: string, claims: { readonly [name: string]: unknown } = {}, { key = keys.privateKey, typ = "oauth-id-jag+jwt", kid = "k1" }: { readonly key?: CryptoKey; readonly typ?: string | null; readonly kid?: string } = {}): Promise<string> {
  const all = { iss: ISSUER, sub: "ada", aud: PUBLIC, client_id: clientId, jti: crypto.randomUUID(), iat: now(), exp: now() + 300, resource: RESOURCE, "https://co.example/roles": ["analyst"], ...claims };
  return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))).setProtectedHeader({ alg: "ES256", kid, ...(typ === null ? {} : { typ }) }).sign(key);
}

test("an assertion gives a token whose principal is the user, with the claims of the identity provider", async ({ served, id, ask }) => {
  const answer = await ask(await jag(id));
  assert.is(answer.status, 200);
  const tokens = (await answer.json()) as Tokens;
  assert.equal(Object.keys(tokens).sort(), ["access_token", "expires_in", "scope", "token_type"]);
  const principal = (await (await call(served, tokens.access_token)).json()) as { id: string; claims: { [name: string]: unknown } };
  assert.is(principal.id, "ada");
  assert.equal(principal.claims["roles"], ["analyst"]);
});

test("two logins of one user are one principal", async ({ served, id, ask }) => {
  const ids = await Promise.all([1, 2].map(async () => {
    const { access_token: token } = (await (await ask(await jag(id))).json()) as Tokens;
    return ((await (await call(served, token)).json()) as { id: string }).id;
  }));
  assert.equal(ids, ["ada", "ada"]);
});

test("an assertion without resource is for the one there is", async ({ id, ask }) => {
  for (const resource of [undefined, RESOURCE, [RESOURCE], `${PUBLIC}/`]) assert.is((await ask(await jag(id, { resource }))).status, 200, String(resource));
});

const WRONG: readonly (readonly [what: string, claims: { readonly [name: string]: unknown }, problem: RegExp])[] = [
  ["another audience", { aud: "https://other.example" }, /aud/],
  ["more than one audience", { aud: [PUBLIC, "https://other.example"] }, /more than one server/],
  ["the resource as audience", { aud: RESOURCE }, /aud/],
  ["no audience", { aud: undefined }, /aud/],
  ["another issuer", { iss: "https://evil.example" }, /iss/],
  ["another client", { client_id: "tscl_other" }, /another client/],
  ["no client", { client_id: undefined }, /client_id/],
  ["an expiry that has passed", { exp: now() - 120 }, /exp/],
  ["no expiry", { exp: undefined }, /exp/],
  ["an expiry in a day", { exp: now() + 86_400 }, /longer than an hour/],
  ["a time of issue in the future", { iat: now() + 600 }, /future|iat/],
  ["a start in the future", { nbf: now() + 600 }, /nbf/],
  ["no jti", { jti: undefined }, /jti/],
  ["no user", { sub: undefined }, /sub/],
  ["an empty user", { sub: "" }, /no claim sub/],
];
for (const [what, claims, problem] of WRONG) {
  test(`an assertion with ${what} is refused`, async ({ id, ask }) => {
    const answer = await ask(await jag(id, claims));
    const body = (await answer.json()) as { error: string; error_description: string };
    assert.equal([answer.status, body.error], [400, "invalid_grant"]);
    assert.match(body.error_description, problem);
  });
}

test("an assertion for another resource is refused, and so is a request for one", async ({ id, ask }) => {
  assert.is(await errorOf(await ask(await jag(id, { resource: "https://other.example/mcp" }))), "400 invalid_target");
  assert.is(await errorOf(await ask(await jag(id, { resource: [RESOURCE, "https://other.example/mcp"] }))), "400 invalid_target");
  assert.is(await errorOf(await ask(await jag(id, { resource: 5 }))), "400 invalid_grant");
  assert.is(await errorOf(await ask(await jag(id), { resource: "https://other.example/mcp" })), "400 invalid_target");
});

test("an assertion is used once, also by two requests at the same time", async ({ id, ask }) => {
  const assertion = await jag(id);
  const answers = await Promise.all([ask(assertion), ask(assertion), ask(assertion)]);
  assert.equal(answers.map(({ status }) => status).sort(), [200, 400, 400]);
  assert.match(await (await ask(assertion)).text(), /used before/);
});

test("a refused assertion is not used up", async ({ id, secret, ask }) => {
  const assertion = await jag(id);
  assert.is(await errorOf(await ask(assertion, { resource: "https://other.example/mcp" })), "400 invalid_target");
  assert.is(await errorOf(await ask(assertion, { client_secret: `${secret}x` })), "401 invalid_client");
  assert.is((await ask(assertion)).status, 200);
});

test("only an ID-JAG is an assertion: an id token or an access token of the same issuer is none", async ({ id, ask }) => {
  for (const typ of ["JWT", "at+jwt", null]) assert.is(await errorOf(await ask(await jag(id, {}, { typ }))), "400 invalid_grant", String(typ));
});

test("a signature by another key, HS256 with the public key, and none are refused", async ({ id, ask }) => {
  const claims = { iss: ISSUER, sub: "ada", aud: PUBLIC, client_id: id, jti: "x", iat: now(), exp: now() + 300 };
  const publicKey = new TextEncoder().encode(JSON.stringify(await exportJWK(keys.publicKey)));
  const forged = [
    await jag(id, {}, { key: other }),
    await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "k1", typ: "oauth-id-jag+jwt" }).sign(publicKey),
    `${Buffer.from('{"alg":"none","typ":"oauth-id-jag+jwt"}').toString("base64url")}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`,
    "not a token",
    "x".repeat(20_000),
  ];
  for (const assertion of forged) assert.is(await errorOf(await ask(assertion)), "400 invalid_grant");
});

test("a client that does not authenticate may not use it", async ({ served }) => {
  const { client_id: id } = await registered(served);
  assert.is(await errorOf(await postForm(served, "/oauth/token", { grant_type: GRANT, client_id: id, assertion: await jag(id) })), "400 unauthorized_client");
});

test("unknown keys do not make the server fetch again and again; keys that cannot be fetched are 503", async ({ id, ask }) => {
  await ask(await jag(id));
  const before = fetches;
  await Promise.all(Array.from({ length: 20 }, async (_, at) => ask(await jag(id, {}, { kid: `k${at + 2}` }))));
  assert.ok(fetches - before <= 1, String(fetches - before));
});

test("without the identity provider's keys the answer is 503, and the log says why", async () => {
  isDown = true;
  const served = await serveOauth({ extra: { idJag: { issuer: ISSUER, jwksUrl, algorithms: ["ES256"], principalClaim: "sub", claimsPrefix: "" } } });
  const { client_id: id, client_secret: secret } = await registered(served, { token_endpoint_auth_method: "client_secret_post" });
  assert.is(await errorOf(await postForm(served, "/oauth/token", { grant_type: GRANT, client_id: id, client_secret: secret, assertion: await jag(id) })), "503 temporarily_unavailable");
  assert.match(await served.log(), /the keys of the identity provider were not fetched/);
  isDown = false;
  await served.stop();
});

test("the metadata names the grant and its profile", async ({ served }) => {
  const metadata = (await (await served.fetch(`${PUBLIC}/.well-known/oauth-authorization-server`)).json()) as { grant_types_supported: string[]; authorization_grant_profiles_supported: string[] };
  assert.ok(metadata.grant_types_supported.includes(GRANT));
  assert.equal(metadata.authorization_grant_profiles_supported, ["urn:ietf:params:oauth:grant-profile:id-jag"]);
});

all.run();
