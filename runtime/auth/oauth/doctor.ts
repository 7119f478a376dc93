/** Looks at a server as the hosts do: what it advertises, and which of them can log in. */
import { HOSTS, type HostNeed } from "./hosts.js";
import type { Login } from "./store.js";

const TIMEOUT_MS = 10_000;

export interface Check {
  readonly need: HostNeed;
  /** What was found, or what is wrong. */
  readonly detail: string;
  readonly ok: boolean;
}

export interface HostVerdict {
  readonly host: string;
  /** The checks that this host needs and that fail. */
  readonly missing: readonly HostNeed[];
  readonly note: string;
}

export interface Diagnosis {
  readonly checks: readonly Check[];
  readonly hosts: readonly HostVerdict[];
}

type Json = { readonly [name: string]: unknown };

/** Answers of the server, `null` where there is no JSON object. */
interface Seen {
  readonly challenge: { readonly status: number; readonly metadata: string | null };
  readonly resource: Json | null;
  readonly suffixed: Json | null;
  readonly server: Json | null;
  readonly allowOrigin: string | null;
}

/**
 * @param address what a user types into a host, with or without /mcp
 * @throws Error when nothing answers there.
 */
export async function diagnose(address: string, fetcher: typeof fetch): Promise<Diagnosis> {
  const base = address.replace(/\/+$/, "").replace(/\/mcp$/, "");
  const checks = check(base, await look(base, fetcher));
  const failed = new Set(checks.filter(({ ok }) => !ok).map(({ need }) => need));
  return { checks, hosts: HOSTS.map(({ name, needs, note }) => ({ host: name, missing: needs.filter((need) => failed.has(need)), note })) };
}

async function look(base: string, fetcher: typeof fetch): Promise<Seen> {
  const get = async (url: string, headers = {}): Promise<Response> => fetcher(url, { redirect: "manual", headers: { accept: "application/json", ...headers }, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const json = async (url: string): Promise<Json | null> => objectOf(await get(url));
  const { origin, pathname } = new URL(`${base}/mcp`);
  const refused = await fetcher(`${base}/mcp`, { method: "POST", redirect: "manual", headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}', signal: AbortSignal.timeout(TIMEOUT_MS) });
  await refused.body?.cancel();
  const metadata = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1] ?? null;
  const resource = await json(metadata !== null && URL.canParse(metadata) ? metadata : `${origin}/.well-known/oauth-protected-resource`);
  const issuer = listOf(resource, "authorization_servers")[0] ?? base;
  const at = URL.canParse(issuer) ? new URL(issuer) : new URL(base);
  const server = await get(`${at.origin}/.well-known/oauth-authorization-server${at.pathname.replace(/\/$/, "")}`, { origin: "https://page.example" });
  return {
    challenge: { status: refused.status, metadata },
    resource,
    suffixed: await json(`${origin}/.well-known/oauth-protected-resource${pathname}`),
    allowOrigin: server.headers.get("access-control-allow-origin"),
    server: await objectOf(server),
  };
}

function check(base: string, { challenge, resource, suffixed, server, allowOrigin }: Seen): readonly Check[] {
  const own = `${base}/mcp`;
  const methods = listOf(server, "token_endpoint_auth_methods_supported");
  const has = (name: string, value: string): boolean => listOf(server, name).includes(value);
  const issuer = listOf(resource, "authorization_servers")[0];
  const row = (need: HostNeed, ok: boolean, good: string, bad: string): Check => ({ need, ok, detail: ok ? good : bad });
  return [
    row("https", base.startsWith("https://"), "the address is https", "the address is not https; put a proxy with a certificate in front"),
    row("challenge", challenge.status === 401 && challenge.metadata !== null, "401 names the metadata", `POST /mcp without a token answers ${challenge.status}${challenge.metadata === null ? " without resource_metadata in WWW-Authenticate" : ""}; does the proxy pass the header on?`),
    row("protected-resource", issuer !== undefined, `authorization is at ${issuer ?? ""}`, "the metadata of the resource cannot be read; does the proxy pass /.well-known/ on?"),
    row("suffixed-protected-resource", suffixed?.["resource"] !== undefined, "the metadata is also at the address with /mcp", "/.well-known/oauth-protected-resource/mcp is not served; does the proxy pass it on?"),
    row("exact-resource", resource?.["resource"] === own, `resource is ${own}`, `resource is ${String(resource?.["resource"])}, and users type ${own}; --public-url must be ${base}`),
    row("server-metadata", server?.["issuer"] === issuer && issuer !== undefined && ["authorization_endpoint", "token_endpoint"].every((name) => typeof server?.[name] === "string"), "the metadata of the authorization server is complete", "the metadata of the authorization server cannot be read, or names another issuer"),
    row("s256", has("code_challenge_methods_supported", "S256"), "PKCE with S256", "S256 is not advertised"),
    row("registration", typeof server?.["registration_endpoint"] === "string", "clients can register", "there is no registration_endpoint"),
    row("metadata-documents", server?.["client_id_metadata_document_supported"] === true && methods.includes("none"), "client id metadata documents, with none among the methods", "client_id_metadata_document_supported and none among the methods are needed together"),
    row("public-clients", methods.includes("none"), "clients without a secret", "none is not among token_endpoint_auth_methods_supported"),
    row("refresh", has("grant_types_supported", "refresh_token"), "logins are renewed", "refresh_token is not among grant_types_supported: users log in every hour"),
    row("cors", allowOrigin === "*", "pages of any origin can read the metadata", "a page cannot read the metadata: access-control-allow-origin is missing"),
  ];
}

/** A server without such a document answers something else: that is a finding, not a failure. */
async function objectOf(answer: Response): Promise<Json | null> {
  const text = await answer.text();
  if (answer.status !== 200) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

function listOf(document: Json | null, name: string): readonly string[] {
  const value = document?.[name];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

/** One login for a person: its steps with their times, and what the last one means. */
export function loginLine({ clientName, clientId, registeredAt, authorizedAt, tokenAt, firstCallAt }: Login): string {
  const time = (at: number | null): string => (at === null ? "–" : new Date(at).toISOString().slice(0, 19).replace("T", " "));
  const steps = [`registered ${registeredAt === null ? "by its metadata document" : time(registeredAt)}`, `authorized ${time(authorizedAt)}`, `token ${time(tokenAt)}`, `first call ${time(firstCallAt)}`];
  const stuck = tokenAt === null
    ? "the host never exchanged its code: it stopped after the redirect, or cannot reach /oauth/token"
    : firstCallAt === null ? "the host has a token and never called: connect again there, or restart the host" : null;
  return `${printable(clientName) || "(no name)"} (${printable(clientId)})\n    ${steps.join(" · ")}${stuck === null ? "" : `\n    ${stuck}`}`;
}

/** A name that a client chose does not reach the terminal as it is. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e\u00a0-\u024f\u0370-\u1fff\u3040-\ud7ff]/g, "?").slice(0, 100);
}
