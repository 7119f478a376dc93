/**
 * `${NAME}` and `${NAME:-default}`: where they may stand, and what becomes of them. In mode fill they become text from
 * the map; in mode defer they stay in the plan as {env, default} and are filled when the server starts, so that no
 * secret is ever printed into generated files.
 */
import { formatPath, type Reporter } from "../diagnostics.js";
import type { Interpolation, Path } from "../ir.js";
import type { Deferred, EnvRef, Json } from "../../runtime/abi/plan.js";

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Whether a text holds a well-formed reference; `$NAME` and `${A-B}` are ordinary text. */
export function hasReference(text: string): boolean {
  return text.includes("${") && text.search(REFERENCE) >= 0;
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

/** Reports every reference that stands where none may (VB1003). The value there is left as it is. */
export function reportMisplacedReferences(value: unknown, reporter: Reporter, path: Path = []): void {
  if (typeof value === "string") {
    if (!hasReference(value) || mayReference(path)) return;
    reporter.report("VB1003", { detail: `an environment reference may not stand in '${formatPath(path)}'` }, { path }, {
      help: "references are filled in connections, embedding.config, expand.config, rerank.config, security.auth, redis_url, tracing.endpoint and audit url or path",
    });
  } else if (typeof value === "object" && value !== null) {
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    for (const [key, member] of entries) reportMisplacedReferences(member, reporter, [...path, key]);
  }
}

/** Fills or defers the references of one catalog. */
export interface Interpolator {
  /** A text with its references filled, or its deferred form. */
  text(value: string, path: Path): Deferred;
  /** A text that has to be known now; null in mode defer when it holds a reference (reported as TS0302). */
  known(value: string, path: Path): string | null;
  /** Every text of a JSON value. */
  tree(value: unknown, path: Path): Deferred;
}

/** An interpolator that reports each missing variable once, at its first reference. */
export function createInterpolator(mode: Interpolation, reporter: Reporter): Interpolator {
  const missing = new Set<string>();
  const lookUp = (env: ReadonlyMap<string, string>, name: string, fallback: string | undefined, whole: string, path: Path): string => {
    const found = env.get(name) ?? fallback;
    if (found === undefined && !missing.has(name)) {
      missing.add(name);
      reporter.report("missing_env", { names: name }, { path });
    }
    return found ?? whole;
  };
  const fill = (value: string, path: Path): string =>
    mode.mode === "fill" && value.includes("${")
      ? value.replace(REFERENCE, (whole: string, name: string, fallback?: string) => lookUp(mode.env, name, fallback, whole, path))
      : value;
  const text = (value: string, path: Path): Deferred => (mode.mode === "fill" ? fill(value, path) : defer(value));
  const tree = (value: unknown, path: Path): Deferred => {
    if (typeof value === "string") return text(value, path);
    if (Array.isArray(value)) return value.map((item, index) => tree(item, [...path, index]) as Json);
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, tree(member, [...path, key]) as Json]));
    }
    return value as Json;
  };
  return {
    text,
    tree,
    known(value, path) {
      if (mode.mode === "fill") return fill(value, path);
      if (!hasReference(value)) return value;
      reporter.report("TS0302", { what: `'${formatPath(path)}'` }, { path });
      return null;
    },
  };
}

/** A text as an open reference, text around references, or the plain text. */
function defer(value: string): Deferred {
  const parts: (string | EnvRef)[] = [];
  let end = 0;
  for (const match of value.matchAll(REFERENCE)) {
    const [whole, env = "", fallback] = match;
    if (match.index > end) parts.push(value.slice(end, match.index));
    parts.push(fallback === undefined ? { env } : { env, default: fallback });
    end = match.index + whole.length;
  }
  if (parts.length === 0) return value;
  if (end < value.length) parts.push(value.slice(end));
  return parts.length === 1 ? (parts[0] as EnvRef) : { concat: parts };
}
