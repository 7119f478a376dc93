/**
 * The authorization server beside oidc-provider: both get the same requests and must end alike in what a client can see
 * (status, error code, where the browser goes, shape of the tokens). Where ours differs on purpose, the row says why, and
 * the test fails when the difference is gone.
 */
import assert from "node:assert/strict";
import { suite } from "../../lib/suite.js";
import { authorizeOutcome, CALLBACK, endpointOutcome, FORM, METADATA, newClient, ours, pkce, query, register, RESOURCE, SCOPE, theirs, tokenRequest, type AuthorizationServer, type Client } from "./oracle.js";
import type { Params } from "./served-oauth.js";

const test = suite("oauth: beside oidc-provider");

interface Side {
  readonly server: AuthorizationServer;
  readonly client: Client;
  readonly other: Client;
  readonly confidential: Client;
}

let sides: readonly Side[] = [];

test.before(async () => {
  sides = await Promise.all([ours, theirs].map(async (start) => {
    const server = await start();
    const client = await newClient(server);
    const other = await newClient(server);
    return { server, client, other, confidential: await newClient(server, { token_endpoint_auth_method: "client_secret_basic" }) };
  }));
});
test.after(async () => {
  for (const { server } of sides) await server.stop();
});

const { verifier, challenge } = pkce();
const authorization = ({ client_id }: Client, params: Params = {}): string =>
  query({ response_type: "code", client_id, redirect_uri: CALLBACK, code_challenge: challenge, code_challenge_method: "S256", state: "s1", scope: SCOPE, resource: RESOURCE, ...params });

async function codeOf({ server, client }: Pick<Side, "server" | "client">): Promise<string> {
  return (await server.logIn(authorization(client))).searchParams.get("code") ?? assert.fail("no code");
}

const exchange = (code: string, params: Params = {}): Params => ({ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: CALLBACK, ...params });

async function tokensOf(side: Pick<Side, "server" | "client">): Promise<{ readonly access_token: string; readonly refresh_token: string }> {
  const answer = await tokenRequest(side.server, exchange(await codeOf(side), { client_id: side.client.client_id }));
  assert.equal(answer.status, 200, `${side.server.issuer}: ${answer.status}`);
  return (await answer.json()) as { access_token: string; refresh_token: string };
}

const basic = ({ client_id, client_secret = "" }: Client, secret = client_secret): { readonly [name: string]: string } => ({ authorization: `Basic ${Buffer.from(`${client_id}:${secret}`).toString("base64")}` });
const refresh = (token: string, { client_id }: Client, params: Params = {}): Params => ({ grant_type: "refresh_token", refresh_token: token, client_id, ...params });

interface Difference {
  readonly ours: string;
  readonly theirs: string;
  readonly because: string;
}

type Row = readonly [what: string, ask: (side: Side) => Promise<string>, differs?: Difference];

const asked = (change: (side: Side) => string): Row[1] => async (side) => authorizeOutcome(side.server, await side.server.authorize(change(side)));
const authorizing = (params: Params): Row[1] => asked(({ client }) => authorization(client, params));
/** A code of the client, exchanged with changed parameters. */
const exchanging = (change: (side: Side) => Params): Row[1] => async (side) => endpointOutcome(await tokenRequest(side.server, exchange(await codeOf(side), { client_id: side.client.client_id, ...change(side) })));
const token = (params: (side: Side) => Params, headers: (side: Side) => { readonly [name: string]: string } = () => ({})): Row[1] => async (side) => endpointOutcome(await tokenRequest(side.server, params(side), headers(side)));
const registering = (change: unknown): Row[1] => async ({ server }) => endpointOutcome(await register(server, typeof change === "object" ? { ...METADATA, ...change } : change));

const ROWS: readonly Row[] = [
  ["a request that is right", authorizing({})],
  ["a client nobody registered", authorizing({ client_id: "nobody" })],
  ["no client", authorizing({ client_id: undefined })],
  ["a redirect address that is not registered", authorizing({ redirect_uri: "https://evil.example/cb" })],
  ["the redirect address on another port of the loopback", authorizing({ redirect_uri: "http://127.0.0.1:5555/callback" })],
  ["the redirect address with another path", authorizing({ redirect_uri: "http://127.0.0.1:33418/other" })],
  ["the redirect address with a query", authorizing({ redirect_uri: `${CALLBACK}?x=1` })],
  ["no redirect address, where one is registered", authorizing({ redirect_uri: undefined })],
  ["no PKCE", authorizing({ code_challenge: undefined, code_challenge_method: undefined })],
  ["PKCE plain", authorizing({ code_challenge_method: "plain" })],
  ["PKCE without a method", authorizing({ code_challenge_method: undefined })],
  ["a challenge that is none", authorizing({ code_challenge: "x" })],
  ["a response type that gives tokens", authorizing({ response_type: "token" }),
    { ours: "back to the client: unsupported_response_type, state s1, iss right", theirs: "back to the client: no error, state none, iss wrong", because: "there is one response mode, and the provider answers this type in the fragment" }],
  ["no response type", authorizing({ response_type: undefined })],
  ["a response mode nobody knows", authorizing({ response_mode: "smoke" }),
    { ours: "back to the client: invalid_request, state s1, iss right", theirs: "back to the client: unsupported_response_mode, state s1, iss right", because: "the code is not of OAuth itself" }],
  ["a login without a page", authorizing({ prompt: "none" })],
  ["a request object", authorizing({ request: "x" })],
  ["a request object by its address", authorizing({ request_uri: "https://app.example/request" })],
  ["another resource", authorizing({ resource: "https://other.example/mcp" })],
  ["a parameter twice", asked(({ client }) => `${authorization(client)}&client_id=${client.client_id}`)],
  ["the state twice", asked(({ client }) => `${authorization(client)}&state=s2`),
    { ours: "not sent on: 400", theirs: "back to the client: invalid_request, state none, iss right", because: "nothing of a request that can be read in two ways is used" }],
  ["a login", async (side) => {
    const back = await side.server.logIn(authorization(side.client));
    return `${back.origin}${back.pathname}, ${[...back.searchParams.keys()].sort().join(" ")}, state ${back.searchParams.get("state")}, iss ${back.searchParams.get("iss") === side.server.issuer ? "right" : "wrong"}`;
  }],

  ["a code", exchanging(() => ({}))],
  ["a code with another verifier", exchanging(() => ({ code_verifier: pkce().verifier }))],
  ["a code without a verifier", exchanging(() => ({ code_verifier: undefined })),
    { ours: "400 invalid_request", theirs: "400 invalid_grant", because: "a parameter that is missing is named" }],
  ["a code for another redirect address", exchanging(() => ({ redirect_uri: "https://evil.example/cb" }))],
  ["a code of another client", exchanging(({ other }) => ({ client_id: other.client_id }))],
  ["a code for another resource", exchanging(() => ({ resource: "https://other.example/mcp" }))],
  ["a code twice", async (side) => {
    const code = await codeOf(side);
    const request = exchange(code, { client_id: side.client.client_id });
    const first = await tokenRequest(side.server, request);
    const { refresh_token } = (await first.json()) as { refresh_token: string };
    const second = await endpointOutcome(await tokenRequest(side.server, request));
    return `${first.status}, then ${second}, and the first token: ${await endpointOutcome(await tokenRequest(side.server, refresh(refresh_token, side.client)))}`;
  }],
  ["a code nobody gave", token(({ client }) => exchange("nothing", { client_id: client.client_id }))],
  ["no code", token(({ client }) => exchange("", { code: undefined, client_id: client.client_id }))],
  ["no grant type", token(({ client }) => exchange("x", { grant_type: undefined, client_id: client.client_id }))],
  ["a grant type nobody knows", token(({ client }) => ({ grant_type: "wish", client_id: client.client_id }))],
  ["a password", token(({ client }) => ({ grant_type: "password", username: "a", password: "b", client_id: client.client_id }))],
  ["a token for a client nobody registered", token(() => exchange("x", { client_id: "nobody" }))],
  ["a token for no client", token(() => exchange("x")),
    { ours: "401 invalid_client", theirs: "400 invalid_request", because: "RFC 6749 section 5.2 names it so: no client authentication included" }],
  ["a client with another secret", token(() => exchange("x"), ({ confidential }) => basic(confidential, "wrong"))],
  ["a client without its secret", token(({ confidential }) => exchange("x", { client_id: confidential.client_id }))],
  ["a client that authenticates twice", token(({ confidential }) => exchange("x", { client_id: confidential.client_id, client_secret: confidential.client_secret }), ({ confidential }) => basic(confidential))],
  ["a client with its secret, and a code nobody gave", token(() => exchange("x"), ({ confidential }) => basic(confidential))],
  ["a token request in JSON", async ({ server, client }) => endpointOutcome(await server.post("token", JSON.stringify(exchange("x", { client_id: client.client_id })), { "content-type": "application/json" }))],
  ["a parameter of the token request twice", async ({ server, client }) => endpointOutcome(await server.post("token", `${query(exchange("x", { client_id: client.client_id }))}&grant_type=refresh_token`, FORM))],

  ["a refresh", async (side) => endpointOutcome(await tokenRequest(side.server, refresh((await tokensOf(side)).refresh_token, side.client)))],
  ["a refresh token of another client", async (side) => endpointOutcome(await tokenRequest(side.server, refresh((await tokensOf(side)).refresh_token, side.other)))],
  ["a refresh token nobody gave", token(({ client }) => refresh("nothing", client))],
  ["no refresh token", token(({ client }) => refresh("", client, { refresh_token: undefined }))],
  ["a refresh for more than was granted", async (side) => endpointOutcome(await tokenRequest(side.server, refresh((await tokensOf(side)).refresh_token, side.client, { scope: `${SCOPE} everything` }))),
    { ours: "200 access_token: string, expires_in: number, refresh_token: string, scope: string, token_type: Bearer", theirs: "400 invalid_scope", because: "hosts send scopes of other servers; there is one scope here, and the answer says what is granted" }],
  ["a refresh for another resource", async (side) => endpointOutcome(await tokenRequest(side.server, refresh((await tokensOf(side)).refresh_token, side.client, { resource: "https://other.example/mcp" })))],

  ["a refresh token that is revoked", async (side) => {
    const { refresh_token } = await tokensOf(side);
    const revoked = await side.server.post("revoke", query({ token: refresh_token, client_id: side.client.client_id }), FORM);
    return `${revoked.status}, then ${await endpointOutcome(await tokenRequest(side.server, refresh(refresh_token, side.client)))}`;
  }],
  ["a token nobody gave is revoked", async ({ server, client }) => endpointOutcome(await server.post("revoke", query({ token: "nothing", client_id: client.client_id }), FORM))],
  ["nothing is revoked", async ({ server, client }) => endpointOutcome(await server.post("revoke", query({ client_id: client.client_id }), FORM))],
  ["a client nobody registered revokes", async ({ server }) => endpointOutcome(await server.post("revoke", query({ token: "x", client_id: "nobody" }), FORM))],
  ["another client revokes", async (side) => {
    const { refresh_token } = await tokensOf(side);
    await side.server.post("revoke", query({ token: refresh_token, client_id: side.other.client_id }), FORM);
    return endpointOutcome(await tokenRequest(side.server, refresh(refresh_token, side.client)));
  }],

  ["a registration", registering({})],
  ["a registration of a client with a secret", registering({ token_endpoint_auth_method: "client_secret_post" })],
  ["a registration without a redirect address", registering({ redirect_uris: [] })],
  ["a redirect address with a fragment", registering({ redirect_uris: ["https://app.example/cb#x"] })],
  ["a redirect address that is a script", registering({ redirect_uris: ["javascript:alert(1)"] })],
  ["a redirect address by plain http elsewhere", registering({ redirect_uris: ["http://app.example/cb"] })],
  ["redirect addresses that are no list", registering({ redirect_uris: "https://app.example/cb" })],
  ["a way to authenticate nobody knows", registering({ token_endpoint_auth_method: "smoke" })],
  ["a registration that is no JSON", registering("{"),
    { ours: "400 invalid_client_metadata", theirs: "400 invalid_request", because: "RFC 7591 section 3.2.2 has no other code for it" }],
];

for (const [what, ask, differs] of ROWS) {
  test(`${what}: ${differs === undefined ? "both end alike" : `ours differs, because ${differs.because}`}`, async () => {
    const [mine = "", other = ""] = await Promise.all(sides.map(ask));
    if (differs === undefined) assert.equal(mine, other);
    else assert.deepEqual({ ours: mine, theirs: other }, { ours: differs.ours, theirs: differs.theirs });
  }, { timeoutMs: 60_000 });
}

test("the table has more than twenty-five requests, and few differences", () => {
  assert.ok(ROWS.length >= 25);
  assert.ok(ROWS.filter(([, , differs]) => differs !== undefined).length <= ROWS.length / 3);
});

test.run();
