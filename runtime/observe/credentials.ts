/**
 * Keeps credentials out of the log. The cause of a failure is a text of some client library, which may repeat the URL,
 * the header or the connection string that it was given.
 */
import type { Program } from "../abi/call.js";
import type { Env } from "../abi/references.js";
import { isRecord } from "../base/paths.js";
import { REDACTED } from "./arguments.js";

/** Names, of settings and of variables, whose values are credentials. */
const SECRET_NAME = /key|token|secret|passw|pwd|credential|authorization|dsn/i;
/** Shorter values would hide ordinary words of a message, and protect nothing. */
const MIN_LENGTH = 4;
const MAX_LEARNED = 1000;

/** `user:password@` of a URL; a password may be percent-encoded, never hold a slash. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]{1,30}:\/\/)[^\s/@'"]{1,512}@/gi;
/** `Bearer x`, `Basic x`. */
const SCHEME = /\b(Bearer|Basic)\s+[\w.~+/=-]{4,}/gi;
/** `password=x`, `api_key: "x"`, `token=x`. */
const NAMED = /(api[_-]?key|token|secret|passw(?:or)?d|pwd|authorization)(["']?\s{0,4}[=:]\s{0,4}["']?)(?!Bearer\b|Basic\b)[^\s"'&,;}]+/gi;

/** Longer texts are cut before anything is looked for; what is written is far shorter. */
const MAX_TEXT = 32_768;

/** A text without credentials. */
export type Scrub = (text: string) => string;

/** Credentials that became known while a program ran. Bounded: the oldest are forgotten. */
export class LearnedSecrets {
  private readonly values = new Set<string>();
  /** Counts what was added, so that a reader sees whether there is anything new. */
  version = 0;

  add(secret: string): void {
    if (secret.length < MIN_LENGTH || this.values.has(secret)) return;
    const [oldest] = this.values;
    if (this.values.size >= MAX_LEARNED && oldest !== undefined) this.values.delete(oldest);
    this.values.add(secret);
    this.version += 1;
  }

  all(): readonly string[] {
    return [...this.values];
  }
}

/** The shell's own variables, which `--embedded` inherits: a path is in half of all messages and hides nothing. */
function isWorkingDirectory(name: string, value: string): boolean {
  return /^(?:OLD)?PWD$/.test(name) && /^(?:\/|[A-Za-z]:[\\/])/.test(value);
}

/** Hides what a program knows to be a credential, what it has learned since, and everything that looks like one. */
export function createScrub(program: Pick<Program, "connections" | "embeddings" | "settings" | "plans">, env: Env, learned = new LearnedSecrets()): Scrub {
  const values = new Set<string>();
  for (const [name, value] of env) {
    if (SECRET_NAME.test(name) && !isWorkingDirectory(name, value)) values.add(value);
    const password = passwordOf(value);
    if (password !== null) values.add(password).add(decoded(password));
  }
  // The provider's name and where its secret is are no credentials, though the key is called so.
  const connections = Object.values(program.connections).map(({ settings }) => settings);
  for (const part of [connections, program.embeddings, program.settings, program.plans]) collect(part, false, env, values);
  // The longest first: one credential may begin with another.
  const sorted = (): readonly string[] => [...values, ...learned.all().flatMap((value) => [value, decoded(value)])].filter((value) => value.length >= MIN_LENGTH).sort((a, b) => b.length - a.length);
  let known = sorted();
  let version = learned.version;
  return (text) => {
    if (version !== learned.version) {
      version = learned.version;
      known = sorted();
    }
    const hidden = known.reduce((left, value) => left.replaceAll(value, REDACTED), text.slice(0, MAX_TEXT));
    return hidden.replace(USER_INFO, `$1${REDACTED}@`).replace(SCHEME, `$1 ${REDACTED}`).replace(NAMED, `$1$2${REDACTED}`);
  };
}

/** Texts below secret names, and the values of the variables that are there. */
function collect(value: unknown, secret: boolean, env: Env, into: Set<string>): void {
  if (typeof value === "string") {
    if (secret) into.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, secret, env, into);
  } else if (isRecord(value)) {
    const variable = value["$env"];
    if (secret && typeof variable === "string") into.add(env.get(variable) ?? "");
    for (const [name, item] of Object.entries(value)) collect(item, secret || SECRET_SETTING.test(name), env, into);
  }
}

/** Settings whose values are credentials; `headers` may hold any. */
const SECRET_SETTING = /^(?:.*[_-])?(?:key|token|secret|password|pwd|credentials?|authorization|dsn|headers)$/i;

function passwordOf(value: string): string | null {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:([^\s/]+)@/i.exec(value)?.[1] ?? null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
