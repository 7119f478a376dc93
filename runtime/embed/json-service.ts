/**
 * The one HTTP client of embedders, rerankers and query expansion: one JSON request, one JSON answer. Requests have no
 * side effects, so that one may be sent again. Messages have statuses and codes alone: an answer may repeat the key.
 */
import { setTimeout as wait } from "node:timers/promises";
import { BackendError, type BackendErrorKind } from "../abi/errors.js";
import { isPrivateHost } from "../base/loopback.js";
import { isRecord } from "../base/paths.js";

/** Where requests go, and how often one is sent. */
export interface JsonService {
  /** Name of the provider, for errors. */
  readonly provider: string;
  /** What the service is, for messages: `embedding provider 'http'`. */
  readonly who: string;
  readonly url: URL;
  readonly headers: Headers;
  /** Milliseconds one request may take. */
  readonly timeoutMs: number;
  /** Times a request is sent again after an answer 429 or 5xx. */
  readonly retries: number;
  /** Milliseconds before the first retry; doubled for each further one. */
  readonly backoffMs: number;
  /** Milliseconds that all waits of one request may take together. */
  readonly patienceMs: number;
}

/** Longest answer: 2,048 vectors of 3,072 numbers as text. */
const MAX_BYTES = 128 << 20;
/** Longest wait between two requests that this program chooses. */
const MAX_BACKOFF_MS = 30_000;
/** A service that wants to be left alone for longer is not asked again: the caller had better know. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * The answer to a POST of `body`. Waits for retries end with `signal`.
 * @throws BackendError that names the provider and the status; the reason of `signal` when it aborts.
 */
export async function postJson(service: JsonService, body: unknown, signal: AbortSignal): Promise<unknown> {
  const text = JSON.stringify(body);
  let waitedMs = 0;
  for (let sent = 0; ; sent++) {
    signal.throwIfAborted();
    const answer = await send(service, text, signal);
    if (answer.status >= 200 && answer.status < 300) return parsed(service, answer.text);
    const failure = statusError(service, answer.status, codeOf(answer.text));
    if (sent >= service.retries || !isPassing(answer.status)) throw failure;
    const delayMs = retryDelayMs({ retryAfter: answer.retryAfter, sent, backoffMs: service.backoffMs, now: new Date(), random: Math.random() });
    if (delayMs === null || waitedMs + delayMs > service.patienceMs) throw failure;
    waitedMs += delayMs;
    await wait(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

interface Waiting {
  /** Header of the answer: seconds, or a date. */
  readonly retryAfter: string | null;
  readonly sent: number;
  readonly backoffMs: number;
  readonly now: Date;
  /** 0 to 1. */
  readonly random: number;
}

/**
 * Milliseconds until a request is sent again: never less than what the service asks for; else doubled for each one sent,
 * and up to half less at random, so that many callers don't return at one moment. `null` where that is too long to wait.
 */
export function retryDelayMs({ retryAfter, sent, backoffMs, now, random }: Waiting): number | null {
  const asked = retryAfter === null ? null : askedMs(retryAfter, now);
  const own = Math.min(backoffMs * 2 ** sent, MAX_BACKOFF_MS) * (0.5 + random / 2);
  if (asked === null) return own;
  return asked > MAX_RETRY_AFTER_MS ? null : Math.max(asked, own);
}

function askedMs(header: string, now: Date): number | null {
  if (/^\d{1,9}(\.\d+)?$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

async function send({ provider, who, url, headers, timeoutMs }: JsonService, body: string, signal: AbortSignal): Promise<Answer> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    // A redirect would take the key to another address.
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: AbortSignal.any([signal, late]) });
    return { status: response.status, text: await boundedText(response, who, provider), retryAfter: response.headers.get("retry-after") };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BackendError) throw error;
    if (late.aborted) throw new BackendError("timeout", provider, `${who} did not answer within ${timeoutMs / 1000} s`, { cause: error });
    throw fetchError(provider, who, error);
  }
}

async function boundedText(response: Response, who: string, provider: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new BackendError("internal", provider, `${who} answers more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed({ provider, who }: JsonService, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new BackendError("internal", provider, `${who} answers what is not JSON`);
  }
}

const STATUSES: readonly (readonly [(status: number) => boolean, BackendErrorKind, string])[] = [
  [(status) => status === 401 || status === 403, "auth", "refuses the credentials"],
  [(status) => status === 404, "not_found", "has no such address or model"],
  [(status) => status === 408 || status === 504, "timeout", "gave up on the request"],
  [(status) => status === 429, "rate_limited", "gets too many requests, or the quota is used up"],
  [(status) => status === 502 || status === 503, "unreachable", "cannot answer now"],
  [(status) => status >= 400 && status < 500, "bad_request", "refuses the request"],
  [(status) => status >= 300 && status < 400, "internal", "answers with a redirect, which is not followed"],
];

function statusError({ provider, who }: JsonService, status: number, code: string | null): BackendError {
  const [, kind, words] = STATUSES.find(([test]) => test(status)) ?? [null, "internal" as const, "failed"];
  return new BackendError(kind, provider, `${who} ${words} (HTTP ${status}${code === null ? "" : `, ${code}`})`);
}

/** The code that most services give beside their message: `{"error": {"code": "model_not_found"}}`; never a text that could hold a key. */
function codeOf(text: string): string | null {
  try {
    const answer: unknown = JSON.parse(text);
    const error = isRecord(answer) && isRecord(answer["error"]) ? answer["error"] : {};
    return [error["code"], error["type"]].find((code): code is string => typeof code === "string" && /^[A-Za-z]+(_[A-Za-z]+){0,5}$/.test(code) && code.length <= 48) ?? null;
  } catch {
    return null;
  }
}

/** Node hides the reason of a failed fetch in the cause, and that of several addresses in a list. */
function fetchError(provider: string, who: string, error: unknown): BackendError {
  const code = causeCode(error, 5);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return new BackendError("timeout", provider, `${who} does not accept a connection in time`, { cause: error });
  return new BackendError("unreachable", provider, `${who} cannot be reached${code === "" ? "" : ` (${code})`}`, { cause: error });
}

function causeCode(error: unknown, depth: number): string {
  if (!(error instanceof Error) || depth === 0) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) return error.errors.map((one) => causeCode(one, depth - 1)).find((code) => code !== "") ?? "";
  return causeCode(error.cause, depth - 1);
}

/** What a service is made from. */
export interface ServiceParts {
  readonly provider: string;
  readonly who: string;
  /** As the catalog has it. */
  readonly address: string;
  /** Key of the catalog that has the address, for messages. */
  readonly from: string;
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly retries: number;
  readonly backoffMs: number;
  readonly patienceMs: number;
}

/**
 * A service at an address that may be used.
 * @throws BackendError setup for an address with credentials in it, for one that is not http(s), and for one to which the
 *   key would travel unencrypted through other networks.
 */
export function jsonService({ provider, who, address, from, headers, ...rest }: ServiceParts): JsonService {
  const refuse = (problem: string): never => { throw new BackendError("setup", provider, `${who}: ${problem}`); };
  const url = URL.canParse(address) ? new URL(address) : refuse(`config.${from} is not an address; write it as https://host/path`);
  if (url.protocol !== "https:" && url.protocol !== "http:") refuse(`config.${from} is not an http address`);
  if (url.username !== "" || url.password !== "") refuse(`config.${from} has credentials in it; give them in config.api_key or config.headers`);
  if (url.protocol === "http:" && Object.keys(headers).length > 0 && !isPrivateHost(url.hostname)) {
    refuse(`config.${from} is not https://; credentials are sent unencrypted only to this machine and within private networks`);
  }
  return { provider, who, url, headers: requestHeaders(headers, refuse), ...rest };
}

/** A header that cannot be sent is named; its value is not. */
function requestHeaders(given: { readonly [name: string]: string }, refuse: (problem: string) => never): Headers {
  const headers = new Headers({ "content-type": "application/json", accept: "application/json" });
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      refuse(`the header '${name.slice(0, 64)}' has characters that no header can have`);
    }
  }
  return headers;
}
