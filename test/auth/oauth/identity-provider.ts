/** A certified OpenID provider as the company's identity provider: people log in there, and it issues assertions (ID-JAG). */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, CrossAppAccessProvider, requestJwtAuthorizationGrant, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import type { IdJagOptions } from "../../../runtime/auth/service.js";
import type { Flow } from "./foreign-clients.js";
import { call, pkce, postForm, PUBLIC, query, registered, RESOURCE } from "./served-oauth.js";

const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const BACK = "https://app.example/cb";
const CLIENT = { client_id: "app", client_secret: "app-secret-of-the-test" };

export interface IdentityProvider {
  readonly issuer: string;
  readonly idJag: IdJagOptions;
  /** The client id that the provider knows the application by at the MCP server. */
  clientAtServer: string;
  /** Logs a person in and returns the id token. */
  logIn(name: string): Promise<string>;
  stop(): void;
}

export async function identityProvider(): Promise<IdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "idp1", alg: "RS256", use: "sig" };
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: "idp1", alg: "RS256" }] });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, token_endpoint_auth_method: "client_secret_post", redirect_uris: [BACK], grant_types: ["authorization_code", EXCHANGE] }],
    jwks: { keys: [key] },
    cookies: { keys: ["test"] },
    features: { devInteractions: { enabled: true } },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    conformIdTokenClaims: false,
  });
  const own: IdentityProvider = {
    issuer, clientAtServer: "",
    idJag: { issuer, jwksUrl: `${issuer}/jwks`, algorithms: ["RS256"], principalClaim: "sub", claimsPrefix: "" },
    logIn: (name) => logIn(issuer, name),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  // The provider has no such token of its own: it checks the client, this makes the assertion for the person.
  provider.registerGrantType(EXCHANGE, async (ctx) => {
    const params = ctx.oidc.params as { readonly [name: string]: string };
    const { payload } = await jwtVerify(params["subject_token"] ?? "", keys, { issuer, audience: CLIENT.client_id });
    const assertion = await new SignJWT({ client_id: own.clientAtServer, resource: params["resource"], roles: ["analyst"], jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: "RS256", kid: "idp1", typ: "oauth-id-jag+jwt" })
      .setIssuer(issuer).setSubject(String(payload.sub)).setAudience(params["audience"] ?? "").setIssuedAt().setExpirationTime("5m").sign(privateKey);
    ctx.body = { access_token: assertion, issued_token_type: ID_JAG, token_type: "N_A", expires_in: 300 };
  }, ["audience", "resource", "scope", "requested_token_type", "subject_token", "subject_token_type"], []);
  server.on("request", provider.callback());
  return own;
}

/** A browser at the provider: follows redirects, keeps cookies, fills in the pages. */
async function logIn(issuer: string, name: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (address: string, form?: string): Promise<Response> => {
    const answer = await fetch(new URL(address, issuer), {
      redirect: "manual", method: form === undefined ? "GET" : "POST",
      headers: { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join("; "), ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }) },
      ...(form === undefined ? {} : { body: form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    return answer;
  };
  const { verifier, challenge } = pkce();
  let answer = await visit(`${issuer}/auth?${query({ client_id: CLIENT.client_id, response_type: "code", redirect_uri: BACK, scope: "openid", code_challenge: challenge, code_challenge_method: "S256" })}`);
  const forms = [query({ prompt: "login", login: name, password: "any" }), query({ prompt: "consent" })];
  for (let hop = 0; hop < 12; hop++) {
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`the provider's page ${answer.status} leads nowhere`);
    if (location.startsWith(BACK)) {
      const code = new URL(location).searchParams.get("code") ?? "";
      const tokens = await visit(`${issuer}/token`, query({ grant_type: "authorization_code", code, redirect_uri: BACK, code_verifier: verifier, ...CLIENT }));
      return ((await tokens.json()) as { id_token: string }).id_token;
    }
    answer = await visit(location);
    if (answer.status === 200) answer = await visit(location, forms.shift() ?? "");
  }
  throw new Error("the provider redirects without end");
}

/** The SDK's provider for cross-app access, from the person's login at the company to a call. */
export function idJagFlow(provider: IdentityProvider): Flow {
  return {
    name: "MCP SDK 2, cross-app access, oidc-provider as the identity provider",
    async run(world, step) {
      const idToken = await provider.logIn("ada");
      step(`identity provider: ada logged in at ${provider.issuer.replace(/\d+$/, "…")}`);
      const client = await registered(world, { token_endpoint_auth_method: "client_secret_basic", redirect_uris: undefined, grant_types: ["urn:ietf:params:oauth:grant-type:jwt-bearer"] });
      provider.clientAtServer = client.client_id;
      const access = new CrossAppAccessProvider({
        clientId: client.client_id, clientSecret: client.client_secret ?? "", expectedIssuer: PUBLIC, fetchFn: world.fetch,
        assertion: async ({ authorizationServerUrl, resourceUrl }) => {
          step(`assertion: for ${resourceUrl} at ${authorizationServerUrl}`);
          return (await requestJwtAuthorizationGrant({ tokenEndpoint: `${provider.issuer}/token`, audience: authorizationServerUrl, resource: resourceUrl, idToken, clientId: CLIENT.client_id, clientSecret: CLIENT.client_secret, fetchFn: fetch })).jwtAuthGrant;
        },
      });
      const mcp = new Client({ name: "xaa", version: "1" });
      await mcp.connect(new StreamableHTTPClientTransport(new URL(RESOURCE), { authProvider: access, fetch: world.fetch }));
      const echo = async (): Promise<void> => {
        if (!JSON.stringify(await mcp.callTool({ name: "echo", arguments: { text: "hello" } })).includes("hello")) throw new Error("the call failed");
      };
      await echo();
      step("call: echo answered, without a login page");
      const token = access.tokens()?.access_token ?? "";
      await postForm(world, "/oauth/revoke", { token, client_id: client.client_id, client_secret: client.client_secret });
      world.advance(6000);
      if ((await call(world, token)).status !== 401) throw new Error("a revoked token is served");
      step("revoke: the token is refused now");
      await echo();
      step("renewal: the SDK asked for another assertion by itself, and the call answered");
    },
  };
}
