/** The authorization endpoint: a page that asks for the access secret, and the way back to the client with a code. */
import type { HttpReply, HttpRequest } from "../../transport/types.js";
import { isSecret } from "./access-secret.js";
import { checkAuthorization, RefusedRequest, type Asked } from "./authorization-request.js";
import { cookieHeader, csrfToken, isCsrfToken, loginCookie } from "./csrf.js";
import { readForm, readQuery } from "./form.js";
import { loginPage, pageHeaders, problemPage } from "./login-page.js";
import { OauthError, RETRY_AFTER_S } from "./oauth-error.js";
import { peerAddress } from "./peer-address.js";
import { formActionSource, redirectHost, redirectKind, withParameters } from "./redirect-uri.js";
import type { OauthServer } from "./server.js";
import { StoreUnavailable } from "./store.js";
import { digest, newId, newToken } from "./tokens.js";

const CODE_MS = 60_000;
const MAX_FAILURES = 5;
/** Of all addresses together, which bounds the time that hashing takes; the secret has too many bits to be guessed. */
const MAX_ALL_FAILURES = 300;
const WINDOW_MS = 60_000;

/** GET and POST /oauth/authorize: one page for both, at one address. */
export async function authorize(server: OauthServer, request: HttpRequest, reply: HttpReply): Promise<void> {
  const address = peerAddress(request);
  try {
    const asked = await checkAuthorization(server, readQuery(request), address);
    if (request.method === "POST") await submit(server, asked, request, reply, address);
    else showLogin(server, asked, request, reply, 200, null);
  } catch (error) {
    refuse(server, request, reply, address, error);
  }
}

/** A client cannot be sent back to, or the user has not agreed to go there: the user is told here. */
function refuse(server: OauthServer, request: HttpRequest, reply: HttpReply, address: string, error: unknown): void {
  if (error instanceof StoreUnavailable) {
    server.storeFailed(error);
    const body = problemPage({ title: server.title, problem: "The server cannot reach its login store.", advice: "Try again in a moment.", back: null });
    reply.send(503, [...pageHeaders(null), ["retry-after", String(RETRY_AFTER_S)]], body);
    return;
  }
  const { problem, asked } = error instanceof RefusedRequest ? { problem: error.reason, asked: error.asked } : { problem: error, asked: null };
  if (!(problem instanceof OauthError)) throw error;
  server.report({ step: "authorize", client: asked?.client.id ?? clientIdOf(request), address, problem: problem.message, advice: ADVICE[problem.code] ?? "the client has to send another request" });
  if (asked === null) {
    const body = problemPage({ title: server.title, problem: `${problem.message}.`, advice: "Start the login again from the application. If that does not help, remove this server from the application and add it again.", back: null });
    reply.send(problem.status, [...pageHeaders(null), ...problem.headers], body);
    return;
  }
  const back = backTo(server, asked, [["error", problem.code], ["error_description", problem.message]]);
  // Anyone can register an address: a link is followed by people who can read where it leads. A loopback address is the user's own machine.
  const kind = redirectKind(asked.redirectUri);
  if ("kind" in kind && kind.kind === "loopback") {
    redirect(reply, back, []);
    return;
  }
  const body = problemPage({ title: server.title, problem: `${problem.message}.`, advice: "The application sent a request that this server cannot accept.", back: { address: back, target: redirectHost(asked.redirectUri) } });
  reply.send(400, pageHeaders(null), body);
}

const ADVICE: { readonly [code: string]: string } = {
  invalid_client: "remove the server from the application and add it again, so that it registers anew",
  invalid_target: "the address in the application must be the one of --public-url with /mcp",
  invalid_redirect_uri: "the client has to register the redirect address that it uses",
  temporarily_unavailable: "check that this server can reach the client's metadata document by https",
};

function showLogin(server: OauthServer, asked: Asked, request: HttpRequest, reply: HttpReply, status: number, problem: string | null, headers: readonly (readonly [string, string])[] = []): void {
  const cookie = loginCookie(request.header("cookie"));
  const view = { title: server.title, clientName: asked.client.name, site: asked.client.site, target: redirectHost(asked.redirectUri), csrf: csrfToken(cookie, request.query), problem };
  reply.send(status, [...pageHeaders(formActionSource(asked.redirectUri)), cookieHeader(cookie), ...headers], loginPage(view));
}

async function submit(server: OauthServer, asked: Asked, request: HttpRequest, reply: HttpReply, address: string): Promise<void> {
  const form = readForm(request);
  if (!isCsrfToken(form.get("csrf"), request.header("cookie"), request.query)) {
    server.report({ step: "login", client: asked.client.id, address, problem: "the form does not belong to this browser and request", advice: "reload the login page; the browser must keep its cookie" });
    showLogin(server, asked, request, reply, 403, "This form was not made for this browser, or is too old. Please try again.");
    return;
  }
  if (form.get("action") === "cancel") {
    redirect(reply, backTo(server, asked, [["error", "access_denied"], ["error_description", "the user cancelled the login"]]), []);
    return;
  }
  const waitMs = await reserveAttempt(server, address);
  if (waitMs > 0) {
    const seconds = Math.ceil(waitMs / 1000);
    server.report({ step: "login", client: asked.client.id, address, problem: "too many wrong secrets", advice: `the address may try again in ${seconds} s` });
    showLogin(server, asked, request, reply, 429, `Too many wrong secrets. Try again in ${seconds} s.`, [["retry-after", String(seconds)]]);
    return;
  }
  const hash = await server.store.secretHash();
  if (hash === null || !(await isSecret(form.get("secret") ?? "", hash))) {
    server.report({ step: "login", client: asked.client.id, address, problem: "a wrong access secret", advice: "the secret is in access-secret.once; toolsrv auth rotate-secret makes a new one" });
    showLogin(server, asked, request, reply, 401, "This is not the access secret of this server.");
    return;
  }
  await Promise.all([server.store.count(`failures:${address}`, WINDOW_MS, -1), server.store.count("failures", WINDOW_MS, -1)]);
  const code = await issueCode(server, asked);
  redirect(reply, backTo(server, asked, [["code", code]]), []);
}

/** Counted before the comparison, so that guesses at the same time are counted too. 0: go on. */
async function reserveAttempt({ store }: OauthServer, address: string): Promise<number> {
  const own = await store.count(`failures:${address}`, WINDOW_MS, 1);
  if (own.count > MAX_FAILURES) return Math.max(1, own.waitMs);
  const all = await store.count("failures", WINDOW_MS, 1);
  return all.count > MAX_ALL_FAILURES ? Math.max(1, all.waitMs) : 0;
}

async function issueCode(server: OauthServer, { client, redirectUri, challenge, scope }: Asked): Promise<string> {
  const at = server.now();
  const code = newToken("tsac_");
  const id = newId("tslg_");
  // Everybody logs in with one secret, so a login is all that is known of a person: it is the principal.
  const login = {
    id, clientId: client.id, clientName: client.name, principal: id, claims: { sub: id, client_id: client.id }, resource: server.resource, scope,
    registeredAt: client.registeredAt, authorizedAt: at, tokenAt: null, firstCallAt: null,
  };
  await server.store.addLogin(login, { digest: digest(code), clientId: client.id, redirectUri, challenge, expiresAt: at + CODE_MS });
  server.log.info("oauth login", { login: id, client: client.id, client_name: client.name.slice(0, 200), target: redirectHost(redirectUri) });
  return code;
}

/** The redirect address with an answer, the client's own state, and who answers (RFC 9207). */
function backTo({ issuer }: OauthServer, { redirectUri, state }: Pick<Asked, "redirectUri" | "state">, answer: readonly (readonly [string, string])[]): string {
  return withParameters(redirectUri, [...answer, ...(state === null ? [] : [["state", state] as const]), ["iss", issuer]]);
}

function redirect(reply: HttpReply, address: string, headers: readonly (readonly [string, string])[]): void {
  // No referrer: the address of this page has the client's state.
  reply.send(302, [["location", address], ["cache-control", "no-store"], ["referrer-policy", "no-referrer"], ...headers], "");
}

function clientIdOf(request: HttpRequest): string | null {
  try {
    return readQuery(request).get("client_id");
  } catch {
    return null;
  }
}
