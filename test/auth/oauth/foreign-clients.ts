/**
 * OAuth clients that others wrote, each from discovery to revocation against a whole server: MCP calls behind the
 * built-in authorization server. Each step is reported, for the test and for the script that prints them.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2, UnauthorizedError as UnauthorizedV2, type OAuthClientProvider } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { UnauthorizedError as UnauthorizedV1, type OAuthClientProvider as ProviderV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { exportJWK, generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { FetchFailed, type FetchPublicJson } from "../../../runtime/auth/oauth/public-fetch.js";
import { createBuiltinAuth } from "../../../runtime/auth/oauth/service.js";
import type { IdJagOptions } from "../../../runtime/auth/service.js";
import { createLog } from "../../../runtime/observe/log.js";
import { authServer } from "../server.js";
import { CALLBACK, call as callWith, logIn, mapped, postForm, PUBLIC, RESOURCE } from "./served-oauth.js";

export interface World {
  readonly fetch: typeof fetch;
  readonly secret: string;
  /** Metadata documents and key sets by their address. */
  readonly documents: { [url: string]: unknown };
  advance(ms: number): void;
  stop(): Promise<void>;
}

/** A whole server, as clients see it under its https address. */
export async function openWorld(idJag: IdJagOptions | null = null): Promise<World> {
  const stateFolder = mkdtempSync(join(tmpdir(), "oauth-world-"));
  const documents: { [url: string]: unknown } = {};
  const fetchJson: FetchPublicJson = (url) => (url in documents ? Promise.resolve({ body: documents[url], maxAgeMs: null }) : Promise.reject(new FetchFailed("its server answered 404")));
  let added = 0;
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const service = await createBuiltinAuth(
    { mode: "builtin", publicUrl: PUBLIC, store: { kind: "sqlite", file: join(stateFolder, "authstate.db") }, stateFolder, title: "Support search", idJag },
    { log, now: () => Date.now() + added, fetchJson },
  );
  const server = await authServer(service, { publicUrl: PUBLIC });
  return {
    fetch: mapped(server.port),
    secret: readFileSync(join(stateFolder, "access-secret.once"), "utf8").trim(),
    documents,
    advance: (ms) => void (added += ms),
    stop: () => server.close(),
  };
}

export type Step = (what: string) => void;

export interface Flow {
  readonly name: string;
  run(world: World, step: Step): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DOCUMENT = "https://client.example/oauth/client.json";
const REDIRECTS = { redirect_uris: [CALLBACK], client_name: "Foreign client", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] };

/** What an application keeps for an SDK: the same for both versions. */
interface Kept {
  client?: { readonly client_id: string; readonly client_secret?: string };
  tokens?: { readonly access_token: string; readonly refresh_token?: string };
  verifier: string;
  address?: URL;
}

function sdkProvider(kept: Kept, method: string, document: string | null) {
  return {
    redirectUrl: CALLBACK,
    ...(document === null ? {} : { clientMetadataUrl: document }),
    clientMetadata: { ...REDIRECTS, token_endpoint_auth_method: method },
    state: () => "state-1",
    clientInformation: () => kept.client,
    saveClientInformation: (client: { client_id: string }) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: { access_token: string }) => void (kept.tokens = tokens),
    redirectToAuthorization: (address: URL) => void (kept.address = address),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
  };
}

interface SdkClient {
  readonly connect: () => Promise<void>;
  readonly finish: (back: URL) => Promise<void>;
  readonly echo: () => Promise<string>;
  readonly isUnauthorized: (error: unknown) => boolean;
}

function sdkV1(world: World, provider: ReturnType<typeof sdkProvider>): SdkClient {
  let client: ClientV1;
  let transport: TransportV1;
  return {
    async connect() {
      client = new ClientV1({ name: "v1", version: "1" });
      transport = new TransportV1(new URL(RESOURCE), { authProvider: provider as ProviderV1, fetch: world.fetch });
      await client.connect(transport as unknown as Parameters<ClientV1["connect"]>[0]);
    },
    finish: (back) => transport.finishAuth(back.searchParams.get("code") ?? ""),
    echo: async () => JSON.stringify(await client.callTool({ name: "echo", arguments: { text: "hello" } })),
    isUnauthorized: (error) => error instanceof UnauthorizedV1,
  };
}

function sdkV2(world: World, provider: ReturnType<typeof sdkProvider>): SdkClient {
  let client: ClientV2;
  let transport: TransportV2;
  return {
    async connect() {
      client = new ClientV2({ name: "v2", version: "1" });
      transport = new TransportV2(new URL(RESOURCE), { authProvider: provider as OAuthClientProvider, fetch: world.fetch });
      await client.connect(transport);
    },
    finish: (back) => transport.finishAuth(back.searchParams),
    echo: async () => JSON.stringify(await client.callTool({ name: "echo", arguments: { text: "hello" } })),
    isUnauthorized: (error) => error instanceof UnauthorizedV2,
  };
}

/** The flow of an MCP SDK: it discovers, registers or uses its document, and refreshes by itself. */
function sdkFlow(name: string, make: typeof sdkV1, method: string, document: string | null): Flow {
  return {
    name,
    async run(world, step) {
      if (document !== null) world.documents[document] = { client_id: document, ...REDIRECTS, token_endpoint_auth_method: "none" };
      const kept: Kept = { verifier: "" };
      const sdk = make(world, sdkProvider(kept, method, document));
      const refused = await sdk.connect().then(() => null, (error: unknown) => error);
      if (!sdk.isUnauthorized(refused)) throw new Error(`expected a login, got ${String(refused)}`);
      step(`discovery: sent to ${kept.address?.origin}${kept.address?.pathname}`);
      step(`client: ${kept.client?.client_id.replace(/^(tscl_).*/, "$1…")}${kept.client?.client_secret === undefined ? ", no secret" : ", with a secret"}`);
      const back = await logIn(world, kept.address ?? "");
      step(`login: back with ${[...back.searchParams.keys()].join(", ")}`);
      await sdk.finish(back);
      step("token: exchanged the code");
      await sdk.connect();
      if (!(await sdk.echo()).includes("hello")) throw new Error("the call failed");
      step("call: echo answered");
      const before = kept.tokens;
      world.advance(HOUR_MS + 1000);
      if (!(await sdk.echo()).includes("hello")) throw new Error("the call after the refresh failed");
      if (kept.tokens === undefined || kept.tokens.access_token === before?.access_token) throw new Error("the tokens were not refreshed");
      step("refresh: an hour later the SDK got new tokens by itself, and the call answered");
      await revokeAndCheck(world, kept.client ?? { client_id: "" }, kept.tokens, step);
    },
  };
}

async function revokeAndCheck(world: World, client: { readonly client_id: string; readonly client_secret?: string }, tokens: NonNullable<Kept["tokens"]>, step: Step): Promise<void> {
  const answer = await postForm(world, "/oauth/revoke", { token: tokens.refresh_token, client_id: client.client_id, client_secret: client.client_secret });
  if (answer.status !== 200) throw new Error(`revocation: ${answer.status}`);
  await refuses(world, tokens.access_token, step);
}

async function refuses(world: World, token: string, step: Step): Promise<void> {
  world.advance(6000);
  const refused = await callWith(world, token);
  if (refused.status !== 401) throw new Error(`a revoked token got ${refused.status}`);
  step("revoke: the token is refused now");
}

const MESSAGE = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "hello" } } });
const MESSAGE_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };

/** openid-client: registers with client_secret_post. */
const openidFlow: Flow = {
  name: "openid-client 6, registered, client_secret_post",
  async run(world, step) {
    const options = { algorithm: "oauth2", [openid.customFetch]: world.fetch as openid.CustomFetch } as const;
    const config = await openid.dynamicClientRegistration(new URL(PUBLIC), { ...REDIRECTS, token_endpoint_auth_method: "client_secret_post" }, undefined, options);
    config[openid.customFetch] = world.fetch as openid.CustomFetch;
    step(`discovery and registration: ${config.serverMetadata().issuer}`);
    const verifier = openid.randomPKCECodeVerifier();
    const address = openid.buildAuthorizationUrl(config, { redirect_uri: CALLBACK, scope: "mcp", state: "s", code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256", resource: RESOURCE });
    const back = await logIn(world, address);
    step(`login: back with ${[...back.searchParams.keys()].join(", ")}`);
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: "s" }, { resource: RESOURCE });
    step(`token: expires in ${tokens.expires_in} s`);
    await callAs(step, () => openid.fetchProtectedResource(config, tokens.access_token, new URL(RESOURCE), "POST", MESSAGE, new Headers(MESSAGE_HEADERS)));
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "", { resource: RESOURCE });
    step("refresh: new tokens");
    await openid.tokenRevocation(config, next.refresh_token ?? "");
    await refuses(world, next.access_token, step);
  },
};

async function callAs(step: Step, send: () => Promise<Response>): Promise<void> {
  const answer = await send();
  const text = await answer.text();
  if (answer.status !== 200 || !text.includes("hello")) throw new Error(`the call failed: ${answer.status} ${text}`);
  step("call: echo answered");
}

interface StrictClient {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly options: { readonly [oauth.customFetch]: (url: string, options: object) => Promise<Response> };
}

/** oauth4webapi checks each answer by its RFC, among them the issuer of RFC 9207. */
async function strictFlow(world: World, { server, client, auth, options }: StrictClient, step: Step): Promise<void> {
  const verifier = oauth.generateRandomCodeVerifier();
  const address = new URL(server.authorization_endpoint ?? "");
  for (const [name, value] of Object.entries({ client_id: client.client_id, redirect_uri: CALLBACK, response_type: "code", state: "s", scope: "mcp offline_access", code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256", resource: RESOURCE })) address.searchParams.set(name, value);
  const params = oauth.validateAuthResponse(server, client, await logIn(world, address), "s");
  step("login: the answer names the issuer and the state");
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, await oauth.authorizationCodeGrantRequest(server, client, auth, params, CALLBACK, verifier, { ...options, additionalParameters: { resource: RESOURCE } }));
  step(`token: scope ${tokens.scope}`);
  await callAs(step, () => oauth.protectedResourceRequest(tokens.access_token, "POST", new URL(RESOURCE), new Headers(MESSAGE_HEADERS), MESSAGE, options));
  const next = await oauth.processRefreshTokenResponse(server, client, await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token ?? "", options));
  step("refresh: new tokens");
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, auth, next.refresh_token ?? "", options));
  await refuses(world, next.access_token, step);
}

async function strictDiscovery(world: World, step: Step): Promise<Pick<StrictClient, "server" | "options">> {
  const options = { [oauth.customFetch]: (url: string, init: object) => world.fetch(url, init) };
  const resource = await oauth.processResourceDiscoveryResponse(new URL(RESOURCE), await oauth.resourceDiscoveryRequest(new URL(RESOURCE), options));
  const issuer = new URL(resource.authorization_servers?.[0] ?? "");
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" }));
  step(`discovery: ${resource.resource} by ${server.issuer}`);
  return { server, options };
}

const basicFlow: Flow = {
  name: "oauth4webapi 3, registered, client_secret_basic",
  async run(world, step) {
    const { server, options } = await strictDiscovery(world, step);
    const client = await oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(server, { ...REDIRECTS, token_endpoint_auth_method: "client_secret_basic" }, options));
    step("registration: a client with a secret");
    await strictFlow(world, { server, client, auth: oauth.ClientSecretBasic(String(client.client_secret)), options }, step);
  },
};

const keyFlow: Flow = {
  name: "oauth4webapi 3, metadata document, private_key_jwt",
  async run(world, step) {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    world.documents[DOCUMENT] = { client_id: DOCUMENT, ...REDIRECTS, token_endpoint_auth_method: "private_key_jwt", jwks_uri: `${DOCUMENT}.jwks` };
    world.documents[`${DOCUMENT}.jwks`] = { keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" }] };
    const { server, options } = await strictDiscovery(world, step);
    step(`client: ${DOCUMENT}`);
    await strictFlow(world, { server, client: { client_id: DOCUMENT }, auth: oauth.PrivateKeyJwt({ key: privateKey, kid: "k1" }), options }, step);
  },
};

export const FLOWS: readonly Flow[] = [
  sdkFlow("MCP SDK 1, registered, none", sdkV1, "none", null),
  sdkFlow("MCP SDK 1, registered, client_secret_post", sdkV1, "client_secret_post", null),
  sdkFlow("MCP SDK 1, metadata document", sdkV1, "none", DOCUMENT),
  sdkFlow("MCP SDK 2, registered, none", sdkV2, "none", null),
  sdkFlow("MCP SDK 2, registered, client_secret_basic", sdkV2, "client_secret_basic", null),
  sdkFlow("MCP SDK 2, metadata document", sdkV2, "none", DOCUMENT),
  openidFlow,
  basicFlow,
  keyFlow,
];
