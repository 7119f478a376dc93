/**
 * The keys of an issuer, fetched over HTTP and kept for ten minutes. One fetch is in flight at a time, and fetches keep
 * a distance, so that tokens with invented key ids cannot make this server knock at the issuer's door.
 */
import { createLocalJWKSet, type JSONWebKeySet } from "jose";
import { isWithin, NEVER, spanOf, type TimeSpan } from "../base/time-span.js";

/** Keys are not used longer after their fetch: a key that the issuer has withdrawn is refused by then. */
export const KEYS_MAX_AGE_MS = 600_000;
/** From this age on a use fetches them anew in the background, so that a short outage of the issuer is not noticed. */
const REFRESH_AFTER_MS = 300_000;
/** Time between two fetches that requests cause, after one that succeeded and one that failed. */
const REST_MS = 30_000;
const REST_AFTER_FAILURE_MS = 5_000;

/** Less than the 3 s that a readiness probe may take. */
const FETCH_TIMEOUT_MS = 2800;
const MAX_BYTES = 1024 * 1024;

/** Keys as one fetch brought them. */
export interface IssuerKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  /** Milliseconds since the epoch after which they count no more. */
  readonly until: number;
}

export interface JwksOptions {
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The keys are others than before. */
  readonly onChange: () => void;
  /** Why a fetch failed; called again when the reason is another, or after a success. */
  readonly onFailure: (problem: string) => void;
}

export class Jwks {
  private keys: (IssuerKeys & { readonly valid: TimeSpan; readonly text: string }) | null = null;
  private pending: Promise<boolean> | null = null;
  /** No request causes a fetch during it. */
  private rest = NEVER;
  private lastProblem: string | null = null;

  constructor(private readonly options: JwksOptions) {}

  /** The keys, if they are not too old; starts a fetch in the background when they soon will be. */
  use(now = this.options.now()): IssuerKeys | null {
    const { keys } = this;
    if (keys === null || !isWithin(now, keys.valid)) return null;
    if (now >= keys.valid.from + REFRESH_AFTER_MS) void this.renew();
    return keys;
  }

  /**
   * Fetches the keys, because those that are here do not do: joins a fetch in flight, or starts one unless the last
   * was just now. False when there are no new keys. Never throws.
   */
  renew(): Promise<boolean> {
    if (this.pending !== null) return this.pending;
    return isWithin(this.options.now(), this.rest) ? Promise.resolve(false) : this.fetch();
  }

  /** Fetches the keys whatever was before, for a readiness probe; joins a fetch in flight. */
  probe(): Promise<boolean> {
    return this.pending ?? this.fetch();
  }

  private fetch(): Promise<boolean> {
    this.pending = this.load().finally(() => (this.pending = null));
    return this.pending;
  }

  private async load(): Promise<boolean> {
    const { url, now, onChange, onFailure } = this.options;
    try {
      const set = readKeys(await download(url));
      const find = createLocalJWKSet(set);
      // Some issuers list their keys in another order each time.
      const text = set.keys.map((key) => JSON.stringify(key)).sort().join("\n");
      const changed = this.keys !== null && this.keys.text !== text;
      const valid = spanOf(now(), KEYS_MAX_AGE_MS);
      this.keys = { find, text, valid, until: valid.until };
      this.rest = spanOf(valid.from, REST_MS);
      this.lastProblem = null;
      if (changed) onChange();
      return true;
    } catch (error) {
      this.rest = spanOf(now(), REST_AFTER_FAILURE_MS);
      const problem = error instanceof JwksProblem ? error.message : reasonOf(error);
      if (problem !== this.lastProblem) onFailure(problem);
      this.lastProblem = problem;
      return false;
    }
  }
}

class JwksProblem extends Error {}

/** The body of an answer 200, bounded in time and size. A redirect is an error: it could lead anywhere. */
async function download(url: string): Promise<string> {
  const response = await fetch(url, { redirect: "error", headers: { accept: "application/jwk-set+json, application/json" }, signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new JwksProblem(`the answer has status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > MAX_BYTES) throw new JwksProblem(`the answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function readKeys(text: string): JSONWebKeySet {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JwksProblem("the answer is not JSON");
  }
  const keys = typeof value === "object" && value !== null && "keys" in value ? value.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0) throw new JwksProblem("the answer has no keys");
  return value as JSONWebKeySet;
}

/** Why a fetch had no answer, without the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be fetched";
  if (error.name === "TimeoutError") return `no answer within ${FETCH_TIMEOUT_MS} ms`;
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code === "" ? `${error.message}${cause instanceof Error ? `: ${cause.message}` : ""}` : `${error.message} (${code})`;
}
