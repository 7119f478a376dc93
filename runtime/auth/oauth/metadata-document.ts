/** Clients whose id is the address of a document that describes them (draft-ietf-oauth-client-id-metadata-document). */
import type { JSONWebKeySet } from "jose";
import { z } from "zod";
import { isWithin, NEVER, spanOf, type TimeSpan } from "../../base/time-span.js";
import type { Client } from "./clients.js";
import { FetchBusy, FetchFailed, type FetchedJson, type FetchPublicJson } from "./public-fetch.js";
import { OauthError, unavailable } from "./oauth-error.js";
import { MAX_REDIRECT_URIS, redirectKind } from "./redirect-uri.js";
import type { AuthStore } from "./store.js";

const MAX_DOCUMENT_BYTES = 5 * 1024;
const MAX_KEYS_BYTES = 64 * 1024;
const MAX_URL_CHARACTERS = 1000;
const MAX_CACHED = 500;
/** How long a document counts, whatever its sender says. */
const MIN_FRESH_MS = 60_000;
const MAX_FRESH_MS = 86_400_000;
const DEFAULT_FRESH_MS = 3_600_000;
const KEYS_FRESH_MS = 600_000;
/** An address that failed is not asked again for this time. */
const FAILED_MS = 30_000;
/** Documents that one address may make this server fetch. */
const MAX_FETCHES = 20;
const WINDOW_MS = 60_000;

/** Methods of the token endpoint that a document may choose; a shared secret makes no sense in public. */
const METHODS = ["none", "private_key_jwt"];

const DOCUMENT = z.looseObject({
  client_id: z.string(),
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()).min(1).max(MAX_REDIRECT_URIS),
  token_endpoint_auth_method: z.string().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  client_secret: z.undefined().optional(),
  client_secret_expires_at: z.undefined().optional(),
  jwks: z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) }).optional(),
  jwks_uri: z.string().optional(),
});

const KEY_SET = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).min(1).max(50) });

/** Whether a client id is the address of a document. */
export function isDocumentId(id: string): boolean {
  return id.startsWith("https://");
}

interface Entry {
  readonly client: Client;
  readonly fresh: TimeSpan;
  /** Until then it is used if it cannot be fetched again. */
  readonly usableUntil: number;
}

export interface DocumentParts {
  readonly fetchJson: FetchPublicJson;
  readonly store: Pick<AuthStore, "count">;
  readonly now: () => number;
}

/** Finds clients by the address of their document; documents are cached, and asked for once at a time. */
export function createDocumentClients({ fetchJson, store, now }: DocumentParts): (url: string, address: string) => Promise<Client> {
  const known = new Map<string, Entry>();
  const failed = new Map<string, TimeSpan>();
  const running = new Map<string, Promise<Client>>();
  const counting = new Map<string, Promise<boolean>>();
  const mayFetch = async (address: string): Promise<boolean> => (await store.count(`documents:${address}`, WINDOW_MS, 1)).count <= MAX_FETCHES;

  const fetchClient = async (url: string): Promise<Client> => {
    try {
      const fetched = await fetchJson(url, MAX_DOCUMENT_BYTES);
      const client = clientOf(url, fetched.body, keysOf(fetchJson, now));
      put(known, url, { client, fresh: spanOf(now(), freshMs(fetched)), usableUntil: now() + MAX_FRESH_MS });
      return client;
    } catch (error) {
      if (!(error instanceof FetchFailed)) throw error;
      // A fetch that did not begin says nothing of the document: others may still ask for it.
      if (!(error instanceof FetchBusy)) put(failed, url, spanOf(now(), FAILED_MS));
      return lastKnown(url, error.message);
    }
  };

  const lastKnown = (url: string, problem: string): Client => {
    const before = known.get(url);
    if (before !== undefined && before.usableUntil > now()) return before.client;
    throw unavailable(`the client metadata document ${url} cannot be fetched: ${problem}`);
  };

  return async (url, address) => {
    checkId(url);
    const entry = known.get(url);
    if (entry !== undefined && isWithin(now(), entry.fresh)) return entry.client;
    if (isWithin(now(), failed.get(url) ?? NEVER)) return lastKnown(url, "it could not be fetched a moment ago");
    // An address over its limit is refused by itself: it must not make the document unavailable to others.
    if (!running.has(url) && !(await once(counting, `${address} ${url}`, () => mayFetch(address)))) return lastKnown(url, "too many documents were asked for from this address");
    return once(running, url, () => fetchClient(url));
  };
}

/** The work of a key that is under way, or that begins now. */
function once<T>(running: Map<string, Promise<T>>, key: string, work: () => Promise<T>): Promise<T> {
  const pending = running.get(key) ?? work().finally(() => running.delete(key));
  running.set(key, pending);
  return pending;
}

/** The oldest entry makes room. */
function put<T>(cache: Map<string, T>, key: string, value: T): void {
  cache.delete(key);
  const oldest = cache.keys().next();
  if (cache.size >= MAX_CACHED && oldest.done !== true) cache.delete(oldest.value);
  cache.set(key, value);
}

/** @throws OauthError for an address that is none of a document. */
function checkId(id: string): void {
  const problem = idProblem(id);
  if (problem !== null) throw new OauthError("invalid_request", `client_id ${problem}`);
}

function idProblem(id: string): string | null {
  if (id.length > MAX_URL_CHARACTERS) return "is too long";
  if (!URL.canParse(id)) return "is not an address";
  const url = new URL(id);
  if (url.href !== id) return `is not written as addresses are: ${url.href.slice(0, 200)}`;
  if (url.username !== "" || url.password !== "" || id.includes("#")) return "has a fragment or credentials";
  if (url.pathname === "/") return "has no path";
  return null;
}

function freshMs({ maxAgeMs }: FetchedJson): number {
  return Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, maxAgeMs ?? DEFAULT_FRESH_MS));
}

type KeysOf = (url: string) => (again: boolean) => Promise<JSONWebKeySet>;

/** @throws OauthError invalid_request, with what is wrong with the document. */
function clientOf(url: string, body: unknown, keys: KeysOf): Client {
  const refuse = (problem: string): never => {
    throw new OauthError("invalid_request", `the client metadata document ${url} ${problem}`);
  };
  const read = DOCUMENT.safeParse(body);
  if (!read.success) return refuse(`is not one: ${read.error.issues[0]?.path.join(".") ?? ""} ${read.error.issues[0]?.message ?? ""}`);
  const document = read.data;
  if (document.client_id !== url) return refuse("has another client_id than its address");
  for (const uri of document.redirect_uris) {
    const found = redirectKind(uri);
    if ("problem" in found) return refuse(`has a redirect_uri that ${found.problem}`);
  }
  const preferred = document.token_endpoint_auth_method ?? "none";
  const methods = [preferred, ...(document.token_endpoint_auth_methods_supported ?? [])].filter((method) => METHODS.includes(method));
  if (methods.length === 0) return refuse(`offers ${preferred} at the token endpoint; this server takes ${METHODS.join(" and ")} from such clients`);
  const inline = document.jwks;
  const mayUseKeys = methods.includes("private_key_jwt") && (inline !== undefined || document.jwks_uri !== undefined);
  if (!mayUseKeys && !methods.includes("none")) return refuse("needs jwks or jwks_uri for private_key_jwt");
  return {
    id: url,
    name: document.client_name ?? new URL(url).host,
    site: new URL(url).host,
    redirectUris: document.redirect_uris,
    secretDigest: null,
    isPublic: methods.includes("none"),
    keys: !mayUseKeys ? null : inline !== undefined ? () => Promise.resolve(inline) : keys(document.jwks_uri ?? ""),
    registeredAt: null,
  };
}

/** Key sets by their address, cached; asked for again when a key is unknown, but not for every request that names one. */
function keysOf(fetchJson: FetchPublicJson, now: () => number): KeysOf {
  return (url) => {
    let known: { readonly keys: JSONWebKeySet; readonly at: number } | null = null;
    let running: Promise<JSONWebKeySet> | null = null;
    const load = async (): Promise<JSONWebKeySet> => {
      try {
        const { body } = await fetchJson(url, MAX_KEYS_BYTES);
        const keys = KEY_SET.parse(body);
        known = { keys, at: now() };
        return keys;
      } catch (error) {
        throw unavailable(`the keys of the client at ${url} cannot be read: ${error instanceof FetchFailed ? error.message : "they are not a key set"}`);
      }
    };
    return async (again) => {
      const age = known === null ? Infinity : now() - known.at;
      if (known !== null && age < (again ? MIN_FRESH_MS : KEYS_FRESH_MS)) return known.keys;
      running ??= load().finally(() => (running = null));
      return running;
    };
  };
}
