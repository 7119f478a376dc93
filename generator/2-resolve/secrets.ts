/**
 * Finds secrets that are written out in the catalog (VB1003). Values of keys that carry secrets are judged by their
 * look; other texts only by marks that no ordinary address or model name has, so that a long URL is not a finding.
 */
import type { Setting } from "../../runtime/abi/setting.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { EMBEDDERS } from "../../runtime/embed/descriptors.js";
import { EXPANDERS } from "../../runtime/expand/descriptors.js";
import { RERANKERS } from "../../runtime/rerank/descriptors.js";
import { formatPath, type Reporter } from "../diagnostics.js";
import type { Path, tds } from "../ir.js";
import { hasReference, replaceReferences } from "./interpolate.js";

/** Names that carry a secret wherever they are: in headers, and in settings that no descriptor knows. */
const SECRET_NAMES = ["token", "password", "dsn", "secret", "authorization", "x-api-key", "api-key"];
const SETTINGS = [DESCRIPTORS, EMBEDDERS, RERANKERS, EXPANDERS].flatMap((table) => Object.values<{ readonly settings: { readonly [key: string]: Setting } }>(table)).flatMap(({ settings }) => Object.entries(settings));
const SECRET_KEYS: ReadonlySet<string> = new Set([...SECRET_NAMES, ...SETTINGS.flatMap(([key, { use }]) => (use === "secret" ? [key] : []))]);
/** Maps whose every value may be a secret. */
const SECRET_MAPS: ReadonlySet<string> = new Set(SETTINGS.flatMap(([key, { use }]) => (use === "secrets" ? [key] : [])));
const CREDENTIAL_PAIR = /(?:password|pwd)\s*=\s*(?!\$\{)\S/i;
const CREDENTIAL_URL = /:\/\/[^/\s:@]*:(?!\$\{)[^/\s@]+@/;
const MARKS = ["sk-", "pcsk_", "eyJ", "AKIA", "SG.", "dapi", "sl.", "BEGIN PRIVATE"];
const STRONG_MARK = /(?:^|[^A-Za-z0-9])(?:sk-|pcsk_|eyJ|AKIA|SG\.|dapi|sl\.)[A-Za-z0-9_.-]{12,}|BEGIN PRIVATE/;
const MIN_LENGTH = 16;
const MIN_ENTROPY_BITS = 3.5;

/** Reports each text that looks like a secret; the text itself is never shown. */
export function reportInlineSecrets(catalog: tds.Catalog, reporter: Reporter): void {
  for (const [name, connection] of Object.entries(catalog.connections ?? {})) {
    for (const [key, value] of Object.entries(connection)) {
      if (key !== "builtin_defaults" && key !== "builtin_tools") visit(value, ["connections", name, key], SECRET_KEYS.has(key), reporter);
    }
  }
  visit(embeddingConfig(catalog.defaults?.embedding), ["defaults", "embedding", "config"], false, reporter);
  visit(catalog.security?.rate_limit?.redis_url, ["security", "rate_limit", "redis_url"], false, reporter);
  for (const [index, tool] of (catalog.tools ?? []).entries()) {
    if (tool === null) continue;
    const at = ["tools", index];
    visitQuery(tool.query, [...at, "query"], reporter);
    visit(tool.rerank?.config, [...at, "rerank", "config"], false, reporter);
    for (const [step, body] of (tool.steps ?? []).entries()) visitQuery(body?.retrieve?.query, [...at, "steps", step, "retrieve", "query"], reporter);
  }
}

function embeddingConfig(embedding: tds.Embedding | undefined): unknown {
  return typeof embedding === "object" && embedding !== null ? embedding.config : undefined;
}

function visitQuery(query: tds.Query | null | undefined, at: Path, reporter: Reporter): void {
  visit(embeddingConfig(query?.embedding), [...at, "embedding", "config"], false, reporter);
  visit(query?.expand?.config, [...at, "expand", "config"], false, reporter);
}

function visit(value: unknown, path: Path, secret: boolean, reporter: Reporter): void {
  if (typeof value === "string") {
    const kind = findSecret(value, secret);
    if (kind === "default") {
      reporter.report("VB1003", { detail: `a default in '${formatPath(path)}' looks like a secret written in the catalog` }, { path }, {
        severity: "warning", help: "keep the value in the file given with --env FILE, and leave the default out of the reference",
      });
    } else if (kind === "text") {
      const name = String(path.at(-1) ?? "value").toUpperCase().replace(/[^A-Z0-9]+/g, "_");
      reporter.report("VB1003", { detail: `'${formatPath(path)}' looks like a secret written in the catalog` }, { path }, {
        severity: "error", help: `keep it in the file given with --env FILE and write "\${${name}}" here`,
      });
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, member] of entries) {
    const carries = typeof key === "string" && (SECRET_KEYS.has(key.toLowerCase()) || SECRET_MAPS.has(key.toLowerCase()));
    visit(member, [...path, key], secret || carries, reporter);
  }
}

/**
 * What of a text looks like a secret: the text itself, or only the default of a reference in it, which may be meant for
 * a machine of a developer. A text around references is judged by its marks only.
 */
function findSecret(text: string, carries: boolean): "text" | "default" | null {
  if (!hasReference(text)) return (carries ? looksSecret(text) : isMarked(text)) ? "text" : null;
  if (isMarked(replaceReferences(text, (name) => `\${${name}}`))) return "text";
  const defaults: string[] = [];
  const filled = replaceReferences(text, (_, fallback = "") => {
    defaults.push(fallback);
    return fallback;
  });
  return isMarked(filled) || (carries && defaults.some(looksSecret)) ? "default" : null;
}

/** Marks of secrets, in whatever text they are. */
function isMarked(text: string): boolean {
  return CREDENTIAL_PAIR.test(text) || CREDENTIAL_URL.test(text) || STRONG_MARK.test(text);
}

/** The look of a secret, for values of keys that carry one. */
function looksSecret(text: string): boolean {
  return isMarked(text) || (text.length >= MIN_LENGTH && (MARKS.some((mark) => text.includes(mark)) || entropyBits(text) > MIN_ENTROPY_BITS));
}

/** Shannon entropy per character, in bits. */
function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts.values()].reduce((sum, count) => sum - (count / total) * Math.log2(count / total), 0);
}
