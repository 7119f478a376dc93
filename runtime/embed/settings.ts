/** Settings of providers as embedders, rerankers and query expansion read them, and those that all services share. Pure. */
import { BackendError } from "../abi/errors.js";
import type { Json } from "../abi/plan.js";
import type { Setting } from "../abi/setting.js";
import { isRecord } from "../base/paths.js";
import type { OpenEmbedding } from "./embedder.js";
import type { JsonService } from "./json-service.js";

export type Config = { readonly [key: string]: Json };

/** How a service is asked again. */
export const RETRY_SETTINGS = {
  max_retries: { default: 6, use: "option", meaning: "times a request is sent again after an answer 429 or 5xx" },
  retry_backoff_s: { default: 1, use: "option", meaning: "seconds before the first retry, twice as many before the second; less at random, and never less than the service asks for" },
} as const satisfies { readonly [key: string]: Setting };

/** Texts that some models want before what they embed. */
export const PREFIX_SETTINGS = {
  query_prefix: { default: null, use: "option", meaning: "text put before each query, as some models want it (query: )" },
  document_prefix: { default: null, use: "option", meaning: "text put before each text that load stores (passage: )" },
} as const satisfies { readonly [key: string]: Setting };

/** The text of a setting; null where it is absent or empty. */
export function textOf(config: Config, key: string): string | null {
  const value = config[key];
  return typeof value === "string" && value !== "" ? value : null;
}

/** The first of several settings that has a text, with its key. */
export function firstText(config: Config, ...keys: readonly string[]): { readonly key: string; readonly text: string } | null {
  for (const key of keys) {
    const text = textOf(config, key);
    if (text !== null) return { key, text };
  }
  return null;
}

interface Bounds {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/**
 * A number; one that the environment gave is a text.
 * @throws BackendError setup for anything else.
 */
export function numberOf(config: Config, key: string, provider: string, { default: fallback, min, max }: Bounds): number {
  const value = config[key];
  if (value === undefined || value === null || value === "") return fallback;
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number === "number" && number >= min && number <= max) return number;
  throw new BackendError("setup", provider, `provider '${provider}': config.${key} is a number from ${min} to ${max}`);
}

/**
 * The texts of a mapping.
 * @throws BackendError setup for anything else; values are not named, they may be secret.
 */
export function textsOf(config: Config, key: string, provider: string): { readonly [name: string]: string } {
  const value = config[key];
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new BackendError("setup", provider, `provider '${provider}': config.${key} is a mapping`);
  return Object.fromEntries(Object.entries(value).map(([name, text]) => {
    if (typeof text === "string" || typeof text === "number" || typeof text === "boolean") return [name, String(text)];
    throw new BackendError("setup", provider, `provider '${provider}': config.${key}.${name} is a text`);
  }));
}

/** Less than the deadline that calls have by default: a caller learns what the service answered, and not that time ran out. */
const QUERY_PATIENCE_MS = 10_000;

/** Milliseconds of a request, retries and waits between them. */
export function timesOf(config: Config, provider: string, timeoutS: number, { use = "query" }: OpenEmbedding = {}): Pick<JsonService, "timeoutMs" | "retries" | "backoffMs" | "patienceMs"> {
  return {
    timeoutMs: 1000 * numberOf(config, "timeout_s", provider, { default: timeoutS, min: 0.001, max: 3600 }),
    retries: Math.trunc(numberOf(config, "max_retries", provider, { default: RETRY_SETTINGS.max_retries.default, min: 0, max: 20 })),
    backoffMs: 1000 * numberOf(config, "retry_backoff_s", provider, { default: RETRY_SETTINGS.retry_backoff_s.default, min: 0, max: 60 }),
    patienceMs: use === "document" ? Number.POSITIVE_INFINITY : QUERY_PATIENCE_MS,
  };
}

/** Headers of a request: those of the catalog, and the key as a bearer token unless they have an Authorization. */
export function bearerHeaders(config: Config, provider: string): { readonly [name: string]: string } {
  const headers = textsOf(config, "headers", provider);
  const key = textOf(config, "api_key");
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return key === null || isGiven ? headers : { ...headers, Authorization: `Bearer ${key}` };
}

/** @throws BackendError setup that names what is missing. */
export function required<T>(value: T | null, provider: string, key: string): T {
  if (value === null) throw new BackendError("setup", provider, `provider '${provider}' needs config.${key}`);
  return value;
}
