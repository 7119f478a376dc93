/** The authorization server on a loopback port, as clients see it under its https address, and a browser that logs in. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBuiltinAuth, type BuiltinParts } from "../../../runtime/auth/oauth/service.js";
import type { AuthService, BuiltinOptions } from "../../../runtime/auth/service.js";
import { errorBody } from "../../../runtime/http/errors.js";
import { createHostRules } from "../../../runtime/http/host-rules.js";
import { RequestPath } from "../../../runtime/http/request-path.js";
import { createLog } from "../../../runtime/observe/log.js";
import { authRoutes } from "../../../runtime/serve/mcp-http/auth-routes.js";
import { createHttpServer } from "../../../runtime/transport/uws.js";

export const PUBLIC = "https://mcp.example.test";
export const RESOURCE = `${PUBLIC}/mcp`;
export const CALLBACK = "http://127.0.0.1:33418/callback";

export interface ServedOauth {
  readonly service: AuthService;
  /** Text of the log so far. */
  log(): Promise<string>;
  /** `fetch` under the https address; redirects are not followed. */
  readonly fetch: typeof fetch;
  readonly secret: string;
  readonly stateFolder: string;
  readonly storeFile: string;
  /** Milliseconds that are added to the clock. */
  advance(ms: number): void;
  stop(): Promise<void>;
}

export type ServedOptions = Partial<Pick<BuiltinOptions, "store" | "stateFolder" | "title">> & Partial<BuiltinParts> & { readonly extra?: Partial<BuiltinOptions> };

export async function serveOauth({ extra, ...options }: ServedOptions = {}): Promise<ServedOauth> {
  const stateFolder = options.stateFolder ?? join(mkdtempSync(join(tmpdir(), "oauth-")), "state");
  const storeFile = join(stateFolder, "authstate.db");
  let logged = "";
  let added = 0;
  const log = createLog({ format: "text", level: "info", write: (text) => (logged += text) });
  const service = await createBuiltinAuth(
    { mode: "builtin", publicUrl: PUBLIC, store: options.store ?? { kind: "sqlite", file: storeFile }, stateFolder, title: options.title ?? "Support search", idJag: null, ...extra },
    {
      log, now: () => Date.now() + added,
      fetchJson: options.fetchJson ?? (() => Promise.reject(new TypeError("no document is expected"))),
      ...(options.opened === undefined ? {} : { opened: options.opened }),
    },
  );
  const path = new RequestPath({ rules: createHostRules({ boundToLoopback: true, allowedOrigins: [], loopbackOrigins: true, publicUrl: PUBLIC, setting: "--allow-origin" }), authenticator: service.authenticator, errorBody, stopping: () => false });
  const http = createHttpServer({
    routes: [
      ...authRoutes(path, service.routes),
      { method: "POST", pattern: "/mcp", headers: path.headers(), readsQuery: false, bodyLimitBytes: 1000, admit: path.admit((principal) => (_, reply) => reply.send(200, [["content-type", "application/json"]], JSON.stringify(principal))) },
    ],
    notFound: { handler: (_, reply) => reply.send(404, [], "") },
    onError: (error) => log.error("request failed", { error }),
  });
  const { port } = await http.listen("127.0.0.1", 0);
  return {
    service, stateFolder, storeFile,
    async log() {
      await log.flush();
      return logged;
    },
    fetch: mapped(port),
    secret: readSecret(stateFolder),
    advance: (ms) => void (added += ms),
    async stop() {
      http.close();
      await service.close();
      await log.flush();
    },
  };
}

function readSecret(folder: string): string {
  try {
    return readFileSync(join(folder, "access-secret.once"), "utf8").trim();
  } catch {
    return "";
  }
}

/** Requests to the https address go to a loopback port, as a proxy would send them. */
export function mapped(port: number): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, { redirect: "manual", ...init });
    const url = new URL(request.url);
    if (url.origin !== PUBLIC) throw new TypeError(`unexpected request to ${url.origin}`);
    const body = request.method === "GET" || request.method === "HEAD" ? undefined : await request.arrayBuffer();
    return fetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, { method: request.method, headers: request.headers, redirect: "manual", ...(body === undefined || body.byteLength === 0 ? {} : { body }) });
  };
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export type Params = { readonly [name: string]: string | undefined };

export function query(params: Params): string {
  return new URLSearchParams(Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined)).toString();
}

export function postForm({ fetch: send }: Pick<ServedOauth, "fetch">, path: string, params: Params, headers: { readonly [name: string]: string } = {}): Promise<Response> {
  return send(PUBLIC + path, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded", ...headers }, body: query(params) });
}

export async function registered(served: Pick<ServedOauth, "fetch">, metadata: object = {}): Promise<{ client_id: string; client_secret?: string }> {
  const answer = await served.fetch(`${PUBLIC}/oauth/register`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: "none", client_name: "Test client", ...metadata }) });
  if (answer.status !== 201) throw new Error(`registration: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { client_id: string };
}

export interface LoginForm {
  readonly html: string;
  readonly cookie: string;
  readonly csrf: string;
  readonly headers: Headers;
}

/** Loads the login page as a browser does. */
export async function openLogin(served: Pick<ServedOauth, "fetch">, address: string | URL, cookie = ""): Promise<LoginForm> {
  const answer = await served.fetch(String(address), { headers: cookie === "" ? {} : { cookie } });
  const html = await answer.text();
  if (answer.status !== 200) throw new Error(`login page: ${answer.status} ${html.replace(/<style>.*<\/style>/s, "").replace(/<[^>]+>/g, " ").replace(/\s+/g, " ")}`);
  return { html, cookie: (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "", csrf: /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? "", headers: answer.headers };
}

/** Sends the form as a browser does. */
export function submit(served: Pick<ServedOauth, "fetch">, address: string | URL, { cookie, csrf }: Pick<LoginForm, "cookie" | "csrf">, fields: Params, headers: { readonly [name: string]: string } = {}): Promise<Response> {
  return served.fetch(String(address), { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded", cookie, origin: PUBLIC, ...headers }, body: query({ csrf, action: "allow", ...fields }) });
}

/** Logs in and returns where the browser is sent. */
export async function logIn(served: Pick<ServedOauth, "fetch" | "secret">, address: string | URL): Promise<URL> {
  const answer = await submit(served, address, await openLogin(served, address), { secret: served.secret });
  const location = answer.headers.get("location");
  if (answer.status !== 302 || location === null) throw new Error(`login: ${answer.status} ${await answer.text()}`);
  return new URL(location);
}

export function authorizeAddress(clientId: string, challenge: string, params: Params = {}): string {
  return `${PUBLIC}/oauth/authorize?${query({ response_type: "code", client_id: clientId, redirect_uri: CALLBACK, code_challenge: challenge, code_challenge_method: "S256", state: "s1", resource: RESOURCE, ...params })}`;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly token_type: string;
}

export interface LoggedIn {
  readonly clientId: string;
  readonly tokens: Tokens;
  readonly code: string;
  readonly verifier: string;
}

/** Registration, login and code exchange. */
export async function fullLogin(served: ServedOauth, clientId?: string): Promise<LoggedIn> {
  const id = clientId ?? (await registered(served)).client_id;
  const { verifier, challenge } = pkce();
  const back = await logIn(served, authorizeAddress(id, challenge));
  const code = back.searchParams.get("code") ?? "";
  const answer = await postForm(served, "/oauth/token", { grant_type: "authorization_code", client_id: id, code, code_verifier: verifier, redirect_uri: CALLBACK });
  if (answer.status !== 200) throw new Error(`token: ${answer.status} ${await answer.text()}`);
  return { clientId: id, tokens: (await answer.json()) as Tokens, code, verifier };
}

export function refresh(served: Pick<ServedOauth, "fetch">, clientId: string, token: string, more: Params = {}): Promise<Response> {
  return postForm(served, "/oauth/token", { grant_type: "refresh_token", client_id: clientId, refresh_token: token, ...more });
}

export function call(served: Pick<ServedOauth, "fetch">, token: string | null, path = "/mcp"): Promise<Response> {
  return served.fetch(PUBLIC + path, { method: "POST", headers: { "content-type": "application/json", ...(token === null ? {} : { authorization: `Bearer ${token}` }) }, body: "{}" });
}

export async function errorOf(answer: Response): Promise<string> {
  return `${answer.status} ${((await answer.json()) as { error: string }).error}`;
}
