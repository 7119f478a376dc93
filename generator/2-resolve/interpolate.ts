/**
 * `${NAME}` and `${NAME:-default}`: where they are allowed, and what becomes of them. They stay open in the plan, as
 * {$env, default}, and the runtime fills them when a program starts: no value of an environment is ever in a plan, in a
 * hash or in a generated file.
 */
import { formatPath, type Reporter } from "../diagnostics.js";
import type { Path } from "../ir.js";
import type { Deferred, EnvRef, Json, TextReference } from "../../runtime/abi/plan.js";
import { missingNames, RESERVED_KEYS, type Env } from "../../runtime/abi/references.js";

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Whether a text holds a well-formed reference; `$NAME` and `${A-B}` are ordinary text. */
export function hasReference(text: string): boolean {
  return text.includes("${") && text.search(REFERENCE) >= 0;
}

/** The text with each reference replaced by what `make` gives for its name and default. */
export function replaceReferences(text: string, make: (name: string, fallback?: string) => string): string {
  return text.replace(REFERENCE, (_, name: string, fallback?: string) => make(name, fallback));
}

/** Places below which references may stand, besides connections: sequences of keys, anywhere in a path. */
const INSIDE: readonly (readonly string[])[] = [["query", "embedding", "config"], ["query", "expand", "config"], ["rerank", "config"]];

/** Whether a reference may stand at this path. */
export function mayReference(path: Path): boolean {
  const [first, second, third] = path;
  if (first === "connections") return true;
  if (first === "defaults") return second === "embedding" && third === "config";
  if (first === "security") return second === "auth" || (second === "rate_limit" && third === "redis_url");
  if (first === "observability") {
    const last = path.at(-1);
    return (second === "tracing" && third === "endpoint") || (second === "audit" && (last === "url" || last === "path"));
  }
  return INSIDE.some((keys) => path.some((_, start) => keys.every((key, index) => path[start + index] === key)));
}

/** Reports every reference where none is allowed (VB1003). The value there is left as it is. */
export function reportMisplacedReferences(value: unknown, reporter: Reporter, path: Path = []): void {
  if (typeof value === "string") {
    if (!hasReference(value) || mayReference(path)) return;
    reporter.report("VB1003", { detail: `an environment reference may not stand in '${formatPath(path)}'` }, { path }, {
      severity: "error", help: "references are filled in connections, embedding.config, expand.config, rerank.config, security.auth, redis_url, tracing.endpoint and audit url or path",
    });
  } else if (typeof value === "object" && value !== null) {
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    for (const [key, member] of entries) reportMisplacedReferences(member, reporter, [...path, key]);
  }
}

/** Turns the references of one catalog into open ones. */
export interface Interpolator {
  /** A text, with its references open. */
  text(value: string, path: Path): string | TextReference;
  /** Every text of a JSON value. */
  tree(value: unknown, path: Path): Deferred;
}

/**
 * An interpolator; the result is the same whatever `env` holds. With `env`, names that have neither a value there nor
 * a default are reported, each once, at its first reference.
 */
export function createInterpolator(env: Env | null, reporter: Reporter): Interpolator {
  const reported = new Set<string>();
  const text = (value: string, path: Path): string | TextReference => {
    const open = openText(value);
    if (env === null || typeof open === "string") return open;
    for (const name of missingNames(open, env)) {
      if (reported.has(name)) continue;
      reported.add(name);
      reporter.report("missing_env", { names: name }, { path });
    }
    return open;
  };
  const tree = (value: unknown, path: Path): Deferred => {
    if (typeof value === "string") return text(value, path);
    if (Array.isArray(value)) return value.map((item, index) => tree(item, [...path, index]) as Json);
    if (typeof value !== "object" || value === null) return value as Json;
    return Object.fromEntries(Object.entries(value).filter(([key]) => !isReserved(key, [...path, key])).map(([key, member]) => [key, tree(member, [...path, key]) as Json]));
  };
  const isReserved = (key: string, path: Path): boolean => {
    if (!RESERVED_KEYS.includes(key)) return false;
    reporter.report("VB1003", { detail: `the key '${key}' of '${formatPath(path.slice(0, -1))}' is reserved` }, { path, on: "key" }, {
      severity: "error", help: 'write a reference to an environment variable as "${NAME}" or "${NAME:-default}"',
    });
    return true;
  };
  return { text, tree };
}

/** A text as an open reference, text around references, or the plain text. */
function openText(value: string): string | TextReference {
  if (!value.includes("${")) return value;
  const parts: (string | EnvRef)[] = [];
  let end = 0;
  for (const match of value.matchAll(REFERENCE)) {
    const [whole, name = "", fallback] = match;
    if (match.index > end) parts.push(value.slice(end, match.index));
    parts.push(fallback === undefined ? { $env: name } : { $env: name, default: fallback });
    end = match.index + whole.length;
  }
  if (parts.length === 0) return value;
  if (end < value.length) parts.push(value.slice(end));
  return parts.length === 1 ? (parts[0] as EnvRef) : { $concat: parts };
}
