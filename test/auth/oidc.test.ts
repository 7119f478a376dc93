/** `--auth jwt` with an identity provider that we did not write: oidc-provider issues tokens for resources and rotates its keys. */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import * as oauth from "oauth4webapi";
import Provider from "oidc-provider";
import { suite } from "../lib/suite.js";
import { authServer, type AuthServer } from "./server.js";

const test = suite("jwt with oidc-provider");
const PUBLIC_URL = "https://tools.example.com";
const RESOURCE = `${PUBLIC_URL}/mcp`;
const CLIENT = { client_id: "svc", client_secret: "secret-of-the-client-in-this-test" };
const LOCAL = { [oauth.allowInsecureRequests]: true };

interface Identity {
  readonly issuer: string;
  /** Publishes these keys from now on; the first signs. */
  readonly publish: (keys: readonly JWK[]) => void;
  readonly close: () => Promise<void>;
}

async function privateKey(kid: string): Promise<JWK> {
  const pair = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(pair.privateKey)), kid, alg: "RS256", use: "sig" };
}

async function identityProvider(keys: readonly JWK[]): Promise<Identity> {
  let handle: ReturnType<Provider["callback"]> = () => Promise.resolve();
  const server: Server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const publish = (published: readonly JWK[]): void => {
    handle = new Provider(issuer, {
      jwks: { keys: published as never },
      cookies: { keys: ["of this test"] },
      clients: [{ ...CLIENT, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] }],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_, resource) => ({ scope: "mcp", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 600, jwt: { sign: { alg: "RS256" } } }),
        },
      },
      extraTokenClaims: () => ({ roles: ["admin"], org: { id: "acme" } }),
    }).callback();
  };
  publish(keys);
  return {
    issuer, publish,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A token as a client gets it that begins with the metadata of the server. */
async function tokenFor(server: AuthServer, resource: string): Promise<string> {
  const document = JSON.parse((await server.get("/.well-known/oauth-protected-resource/mcp")).body) as { readonly resource: string; readonly authorization_servers: readonly [string] };
  assert.equal(document.resource, RESOURCE);
  const issuer = new URL(document.authorization_servers[0]);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, LOCAL));
  const response = await oauth.clientCredentialsGrantRequest(as, { client_id: CLIENT.client_id }, oauth.ClientSecretBasic(CLIENT.client_secret), new URLSearchParams({ resource }), LOCAL);
  return (await oauth.processClientCredentialsResponse(as, { client_id: CLIENT.client_id }, response)).access_token;
}

async function serving(use: (server: AuthServer, identity: Identity, first: JWK) => Promise<void>): Promise<void> {
  const first = await privateKey("first");
  const identity = await identityProvider([first]);
  const { jwks_uri: jwksUrl } = (await (await fetch(`${identity.issuer}/.well-known/openid-configuration`)).json()) as { readonly jwks_uri: string };
  const server = await authServer({ mode: "jwt", issuer: identity.issuer, audience: RESOURCE, jwksUrl, algorithms: ["RS256", "ES256"], principalClaim: "sub", claimsPrefix: "", publicUrl: PUBLIC_URL });
  try {
    await use(server, identity, first);
  } finally {
    await server.close();
    await identity.close();
  }
}

const call = (server: AuthServer, token: string) => server.ask("tools/call", { name: "echo", arguments: { text: "hi" } }, { authorization: `Bearer ${token}` });

test("a client finds the issuer by the metadata, gets a token for this resource, and calls; the caller is its subject", () =>
  serving(async (server) => {
    assert.equal((await server.ask("tools/list")).status, 401);
    const token = await tokenFor(server, RESOURCE);
    const said = await call(server, token);
    assert.deepEqual([said.status, said.json.result.structuredContent.rows], [200, [{ _id: 1, text: "hi" }]]);
    const principal = await server.auth.authenticator.authenticate({ header: () => `Bearer ${token}`, remoteAddress: "" } as never);
    assert.ok("claims" in principal);
    assert.deepEqual([principal.id, principal.claims["roles"], principal.claims["org"]], ["svc", ["admin"], { id: "acme" }]);
  }), { timeoutMs: 20_000 });

test("a token of the same issuer for another resource is refused", () =>
  serving(async (server) => {
    assert.equal((await call(server, await tokenFor(server, "https://billing.example.com/"))).status, 401);
    assert.equal((await server.logged()).some(({ reason }) => reason === "wrong audience"), true);
  }), { timeoutMs: 20_000 });

test("keys may be rotated: both are good while both are published, and the old one ends with its publication", () =>
  serving(async (server, identity, first) => {
    const old = await tokenFor(server, RESOURCE);
    assert.equal((await call(server, old)).status, 200);
    const [next, last] = [await privateKey("second"), await privateKey("third")];
    identity.publish([next, first]);
    server.clock.now += 31_000;
    assert.equal((await call(server, await tokenFor(server, RESOURCE))).status, 200);
    assert.equal((await call(server, old)).status, 200);
    identity.publish([last]);
    server.clock.now += 31_000;
    assert.equal((await call(server, await tokenFor(server, RESOURCE))).status, 200);
    assert.equal((await call(server, old)).status, 401);
  }), { timeoutMs: 30_000 });

test("/readyz is 503 while the identity provider is down, and a token of a known key is served", () =>
  serving(async (server, identity) => {
    const token = await tokenFor(server, RESOURCE);
    assert.equal((await call(server, token)).status, 200);
    await identity.close();
    assert.equal((await server.get("/readyz")).status, 503);
    assert.equal((await call(server, token)).status, 200);
  }), { timeoutMs: 20_000 });

test.run();
