/**
 * Two authorization servers behind one interface: ours, and oidc-provider, which others wrote and the OpenID Foundation
 * certified. Both get the same requests; what differs is only where they are sent and how a person logs in.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { errors, Provider } from "oidc-provider";
import { OFFLINE, SCOPE } from "../../../runtime/auth/oauth/resource.js";
import { CALLBACK, logIn, pkce, PUBLIC, query, RESOURCE, serveOauth, type Params } from "./served-oauth.js";

export interface Client {
  readonly client_id: string;
  readonly client_secret?: string;
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly resource: string;
  /** GET of the authorization endpoint; redirects are not followed. */
  authorize(search: string): Promise<Response>;
  /** A person logs in and agrees; where the browser is sent. */
  logIn(search: string): Promise<URL>;
  post(endpoint: "token" | "revoke" | "register", body: string, headers?: { readonly [name: string]: string }): Promise<Response>;
  stop(): Promise<void>;
}

export async function ours(): Promise<AuthorizationServer> {
  const served = await serveOauth();
  return {
    issuer: PUBLIC, resource: RESOURCE,
    authorize: (search) => served.fetch(`${PUBLIC}/oauth/authorize?${search}`),
    logIn: (search) => logIn(served, `${PUBLIC}/oauth/authorize?${search}`),
    post(endpoint, body, headers = {}) {
      // Registrations are counted by the hour.
      if (endpoint === "register") served.advance(3_600_001);
      return served.fetch(`${PUBLIC}/oauth/${endpoint}`, { method: "POST", headers, body });
    },
    stop: () => served.stop(),
  };
}

/** With the features that ours has, and its rules where the provider leaves a choice. */
export async function theirs(): Promise<AuthorizationServer> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    scopes: [SCOPE, OFFLINE], cookies: { keys: ["test"] }, rotateRefreshToken: true, pkce: { required: () => true },
    responseTypes: ["code"], clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: true }, registration: { enabled: true }, revocation: { enabled: true },
      resourceIndicators: {
        enabled: true, defaultResource: () => RESOURCE, useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => {
          if (resource !== RESOURCE) throw new errors.InvalidTarget();
          return { scope: `${SCOPE} ${OFFLINE}`, audience: resource, accessTokenFormat: "opaque" };
        },
      },
    },
  });
  http.on("request", provider.callback());
  const paths = { token: "/token", revoke: "/token/revocation", register: "/reg" } as const;
  return {
    issuer, resource: RESOURCE,
    authorize: (search) => fetch(`${issuer}/auth?${search}`, { redirect: "manual" }),
    logIn: (search) => logInThere(issuer, search),
    post: (endpoint, body, headers = {}) => fetch(issuer + paths[endpoint], { method: "POST", headers, body }),
    async stop() {
      http.closeAllConnections();
      http.close();
    },
  };
}

/** A browser at the provider: follows redirects, keeps cookies, fills in its pages. */
async function logInThere(issuer: string, search: string): Promise<URL> {
  const cookies = new Map<string, string>();
  const visit = async (address: string, form?: string): Promise<Response> => {
    const headers = { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join("; "), ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }) };
    const answer = await fetch(new URL(address, issuer), { redirect: "manual", method: form === undefined ? "GET" : "POST", headers, ...(form === undefined ? {} : { body: form }) });
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    return answer;
  };
  let answer = await visit(`${issuer}/auth?${search}`);
  const forms = [query({ prompt: "login", login: "ada", password: "any" }), query({ prompt: "consent" })];
  for (let hop = 0; hop < 12; hop++) {
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`the provider's page ${answer.status} leads nowhere: ${(await answer.text()).slice(0, 300)}`);
    if (!new URL(location, issuer).href.startsWith(issuer)) return new URL(location);
    answer = await visit(location);
    if (answer.status === 200) answer = await visit(location, forms.shift() ?? "");
  }
  throw new Error("the provider redirects without end");
}

export const FORM = { "content-type": "application/x-www-form-urlencoded" } as const;
const JSON_BODY = { "content-type": "application/json" } as const;

export function tokenRequest(server: AuthorizationServer, params: Params, headers: { readonly [name: string]: string } = {}): Promise<Response> {
  return server.post("token", query(params), { ...FORM, ...headers });
}

export function register(server: AuthorizationServer, metadata: unknown): Promise<Response> {
  return server.post("register", typeof metadata === "string" ? metadata : JSON.stringify(metadata), JSON_BODY);
}

export const METADATA = { redirect_uris: [CALLBACK], token_endpoint_auth_method: "none", application_type: "native", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], client_name: "Test client" } as const;

export async function newClient(server: AuthorizationServer, change: object = {}): Promise<Client> {
  const answer = await register(server, { ...METADATA, ...change });
  if (answer.status !== 201) throw new Error(`registration at ${server.issuer}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Client;
}

/** What a browser does with the answer of the authorization endpoint. */
export async function authorizeOutcome({ issuer }: AuthorizationServer, answer: Response): Promise<string> {
  const location = answer.headers.get("location");
  if (location !== null) {
    const back = new URL(location, issuer);
    // The provider shows its login page at an address of its own.
    if (back.href.startsWith(issuer)) return "login page";
    const { searchParams: params } = back;
    return `back to the client: ${params.get("error") ?? "no error"}${params.has("code") ? ", with a code" : ""}, state ${params.get("state") ?? "none"}, iss ${params.get("iss") === issuer ? "right" : "wrong"}`;
  }
  return answer.status === 200 ? "login page" : `not sent on: ${answer.status}`;
}

/** Status and error of an endpoint, or the names of what it grants. */
export async function endpointOutcome(answer: Response): Promise<string> {
  const text = await answer.text();
  const body = (text.startsWith("{") ? JSON.parse(text) : {}) as { readonly [key: string]: unknown };
  if (answer.status >= 400) return `${answer.status} ${String(body["error"])}`;
  const shape = Object.entries(body).filter(([key]) => SHAPE.has(key)).map(([key, value]) => `${key}: ${key === "token_type" ? String(value) : typeof value}`).sort();
  return `${answer.status}${shape.length === 0 ? "" : ` ${shape.join(", ")}`}`;
}

/** Members that clients read; servers may have more. */
const SHAPE: ReadonlySet<string> = new Set(["access_token", "token_type", "expires_in", "refresh_token", "scope", "client_id", "client_secret"]);

export { CALLBACK, pkce, query, RESOURCE, SCOPE };
