/**
 * The secrets of one program: fetched when a connection is first used, kept for five minutes, shared by connections that
 * name the same secret. Calls that come meanwhile wait for the same request.
 */
import { ToolError } from "../abi/errors.js";
import { canonicalJson } from "../abi/fingerprint.js";
import type { ConnectionPlan, Json } from "../abi/plan.js";
import { DESCRIPTORS } from "../adapters/descriptors.js";
import { SECRET_SOURCES } from "./descriptors.js";
import { unreachable, type SecretSource, type SecretValues, type SecretWorld } from "./source.js";

const FRESH_MS = 300_000;
/** A failure is kept for so long, and so is a secret that a store refuses: no storm of calls becomes a storm of requests. */
const RETRY_MS = 2000;
const RENEW_MS = 5000;
const FETCH_MS = 10_000;
/** Longest value that is taken. */
const MAX_VALUE = 65_536;

type Settings = { readonly [key: string]: Json };

export interface Secrets {
  /**
   * The settings of a connection with the values of its secret, which win over those of the catalog.
   * @throws ToolError missing_env for a secret that cannot be used; BackendError unreachable.
   */
  settingsOf(connection: ConnectionPlan & { readonly settings: Settings }): Promise<Settings>;
  /** The same from a new request, unless the last one is younger than five seconds. */
  renewedOf(connection: ConnectionPlan & { readonly settings: Settings }): Promise<Settings>;
  /** Gives up the requests that run. */
  close(): void;
}

interface Kept {
  readonly at: number;
  readonly values: Promise<SecretValues>;
  failed: boolean;
}

/** @param now monotonic milliseconds. */
export function createSecrets(world: SecretWorld, now: () => number): Secrets {
  const kept = new Map<string, Kept>();
  const closing = new AbortController();
  const fetched = (credentials: NonNullable<ConnectionPlan["credentials"]>, maxAgeMs: number): Promise<SecretValues> => {
    const key = canonicalJson(credentials);
    const before = kept.get(key);
    if (before !== undefined && now() - before.at < (before.failed ? RETRY_MS : maxAgeMs)) return before.values;
    const next: Kept = { at: now(), values: fetchOnce(credentials, world, closing.signal), failed: false };
    kept.set(key, next);
    next.values.catch(() => (next.failed = true));
    return next.values;
  };
  const read = async (connection: ConnectionPlan & { readonly settings: Settings }, maxAgeMs: number): Promise<Settings> => {
    const { credentials } = connection;
    return credentials === undefined ? connection.settings : merged(connection, await fetched(credentials, maxAgeMs), world);
  };
  return {
    settingsOf: (connection) => read(connection, FRESH_MS),
    renewedOf: (connection) => read(connection, RENEW_MS),
    close: () => closing.abort(),
  };
}

async function fetchOnce({ provider, ...settings }: NonNullable<ConnectionPlan["credentials"]>, world: SecretWorld, closing: AbortSignal): Promise<SecretValues> {
  const descriptor = Object.values(SECRET_SOURCES).find(({ name }) => name === provider);
  if (descriptor === undefined) throw new ToolError("tds_invalid", `this version of toolsrv has no credentials.provider '${provider}'`);
  if (descriptor.load === null) return {};
  const { source } = await descriptor.load();
  return inTime(provider, source.open(settings, world), closing);
}

/** The library behind a source may not listen to the signal. */
async function inTime(provider: string, source: SecretSource, closing: AbortSignal): Promise<SecretValues> {
  const controller = new AbortController();
  let stop: (why: string) => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = (why) => {
      controller.abort();
      reject(unreachable(provider, `credentials.provider ${provider}`, why));
    };
  });
  const onClose = (): void => stop("the server stops");
  const timer = setTimeout(() => stop(`no answer within ${FETCH_MS / 1000} s`), FETCH_MS);
  closing.addEventListener("abort", onClose, { once: true });
  try {
    return await Promise.race([source.fetch(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    closing.removeEventListener("abort", onClose);
  }
}

/** What a secret may say: who asks, with what credential, and where. Never which part of the store is read, or how. */
const MAY_SET: ReadonlySet<string> = new Set(["path", "endpoint", "secret", "account"]);

/**
 * Fields of the connection are taken, others left alone: a secret may be meant for several programs.
 * @throws ToolError missing_env for a field that isolates or decides how records are read, and for a secret without any.
 */
function merged({ backend, settings, credentials }: ConnectionPlan & { readonly settings: Settings }, values: SecretValues, world: SecretWorld): Settings {
  const who = `credentials.provider ${credentials?.provider ?? ""}`;
  const fields = DESCRIPTORS[backend].settings;
  const taken: [string, string][] = [];
  for (const [field, { use }] of Object.entries(fields)) {
    if (!Object.hasOwn(values, field)) continue;
    const value = values[field] as string;
    if (!MAY_SET.has(use)) throw new ToolError("missing_env", `${who}: the secret has '${field}', which decides what is read and belongs in the catalog; remove it from the secret`);
    if (value.length > MAX_VALUE) throw new ToolError("missing_env", `${who}: '${field}' has more than ${MAX_VALUE} characters`);
    for (const secret of secretsIn(value, use)) world.learned(secret);
    taken.push([field, value]);
  }
  if (taken.length === 0) {
    const wanted = Object.entries(fields).flatMap(([field, { use }]) => (MAY_SET.has(use) ? [field] : []));
    throw new ToolError("missing_env", `${who}: the secret has none of the fields of a ${backend} connection: ${wanted.join(", ")}`);
  }
  return { ...settings, ...Object.fromEntries(taken) };
}

/** Shorter addresses and names are ordinary words of a message. */
const MIN_HIDDEN = 8;

/** What of a fetched value the log has to hide: all of it, save for short texts that are no credentials. */
function secretsIn(value: string, use: string): readonly string[] {
  if (use === "secret") return [value];
  return [...(value.length >= MIN_HIDDEN ? [value] : []), ...(use === "path" ? [value.replace(/^(?:\.\.?\/)+/, "")].filter(({ length }) => length >= MIN_HIDDEN) : []), passwordOf(value)];
}

/** The password of `scheme://user:password@host`; "" for any other text. */
function passwordOf(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:([^\s/]+)@/i.exec(text)?.[1] ?? "";
}
