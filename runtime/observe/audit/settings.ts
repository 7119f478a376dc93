/** Where audit records go and what they hold: the catalog's section, which flags of the server override. */
import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import type { ServePlan } from "../../abi/call.js";
import { ToolError } from "../../abi/errors.js";
import { isRecord } from "../../base/paths.js";

export const AUDIT_SINKS = ["stdout", "file", "http", "otlp"] as const;
export type AuditSinkKind = (typeof AUDIT_SINKS)[number];

/** `--audit-log`, `--audit-sink` and `--audit-url`; any of them turns audit on. */
export interface AuditFlags {
  readonly sink: Exclude<AuditSinkKind, "stdout"> | null;
  readonly path: string | null;
  readonly url: string | null;
}

/** Optional keys of a record. */
export interface AuditInclude {
  readonly args: boolean;
  readonly result_count: boolean;
  readonly latency_ms: boolean;
  readonly search_mode: boolean;
  readonly warnings: boolean;
}

export type AuditTarget =
  | { readonly kind: "stdout" }
  /** `path` is absolute; `shown` is as written, for messages. */
  | { readonly kind: "file"; readonly path: string; readonly shown: string; readonly chain: boolean }
  | { readonly kind: "http"; readonly url: URL }
  /** `base` is the folder of the catalog, where packages may lie. */
  | { readonly kind: "otlp"; readonly url: URL; readonly base: string };

export interface AuditSettings {
  readonly target: AuditTarget;
  readonly include: AuditInclude;
  readonly chain: boolean;
}

const OTLP_PATH = "/v1/logs";

/**
 * The settings of a program whose references are filled; `null` when nothing asks for audit.
 * @throws ToolError tds_invalid for a sink without its address.
 */
export function auditSettings(settings: ServePlan, flags: AuditFlags | null, base: URL): AuditSettings | null {
  const written = settings.observability?.["audit"];
  if (written === undefined && flags === null) return null;
  const plan = isRecord(written) ? written : {};
  const include = isRecord(plan["include"]) ? plan["include"] : {};
  const has = (key: keyof AuditInclude): boolean => include[key] !== false;
  const chain = plan["chain"] === true;
  const target = targetOf(plan, flags, base, chain);
  if (chain && target.kind !== "file") throw invalid(`audit.chain needs sink file, and the sink is ${target.kind}`);
  return { target, chain, include: { args: has("args"), result_count: has("result_count"), latency_ms: has("latency_ms"), search_mode: has("search_mode"), warnings: has("warnings") } };
}

function targetOf(plan: { readonly [key: string]: unknown }, flags: AuditFlags | null, base: URL, chain: boolean): AuditTarget {
  const kind = flags?.sink ?? (typeof plan["sink"] === "string" ? plan["sink"] : "stdout");
  if (flags !== null && flags.url !== null && kind !== "http" && kind !== "otlp") throw invalid("--audit-url needs a sink that has one: add --audit-sink http or --audit-sink otlp");
  switch (kind) {
    case "stdout":
      return { kind };
    case "file": {
      const given = flags?.path ?? null;
      const path = given ?? plan["path"];
      if (typeof path !== "string" || path === "") throw invalid("sink file needs a path: write observability.audit.path, or start with --audit-log FILE");
      return { kind, path: given === null ? resolve(fileURLToPath(base), path) : resolve(path), shown: path, chain };
    }
    case "http":
      return { kind, url: urlOf(kind, flags?.url ?? plan["url"]) };
    case "otlp":
      return { kind, url: urlOf(kind, flags?.url ?? plan["url"]), base: fileURLToPath(base) };
    default:
      throw invalid(`'${kind}' is not a sink; there are ${AUDIT_SINKS.join(", ")}`);
  }
}

function urlOf(kind: "http" | "otlp", written: unknown): URL {
  if (typeof written !== "string" || written === "") throw invalid(`sink ${kind} needs a url: write observability.audit.url, or start with --audit-url URL`);
  // The text is not repeated: it may hold credentials.
  if (!URL.canParse(written)) throw invalid(`the url of sink ${kind} is not a URL`);
  const url = new URL(written);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw invalid(`the url of sink ${kind} begins with ${url.protocol}; it must be http: or https:`);
  if (kind === "otlp" && !url.pathname.endsWith(OTLP_PATH)) url.pathname = url.pathname.replace(/\/$/, "") + OTLP_PATH;
  return url;
}

function invalid(problem: string): ToolError {
  return new ToolError("tds_invalid", `audit: ${problem}`);
}

/** An address for messages: without user, password, query and fragment. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** The address without its user and password, and the header that has them instead. */
export function withoutUserInfo(url: URL): { readonly url: string; readonly headers: { readonly [name: string]: string } } {
  if (url.username === "" && url.password === "") return { url: url.href, headers: {} };
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { url: bare.href, headers: { authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` } };
}
