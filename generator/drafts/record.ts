/**
 * Drafts: tools that a model or `discover` proposes and a person approves. This room reads and writes the drafts file,
 * examines a proposal with the compiler, and appends an approved one to the catalog. A draft is text from outside: nothing
 * of it is believed before it was checked, and nothing of it is printed without making hidden characters visible.
 * Pure but for `store.ts` and `lock.ts`, which use the host. It knows no command and no transport.
 */
import { createHash } from "node:crypto";
import type { Severity } from "../../runtime/abi/codes.js";

/** The drafts file, in the working directory. */
export const DRAFTS_FILE = "tools.drafts.yaml";
/** The catalog that approve changes where none is named. */
export const DEFAULT_CATALOG = "tools.yaml";
/** Most drafts that wait for an approval. */
export const MAX_PENDING = 10;
/** Age in milliseconds at which a server lets a pending draft expire: 30 days. */
export const EXPIRES_AFTER_MS = 30 * 24 * 3600 * 1000;
/** Kinds of tools that a draft may have: those that read. */
export const DRAFT_KINDS: readonly string[] = ["search", "lookup", "count", "scroll", "pipeline"];

export const STATES = ["pending", "approved", "rejected", "expired"] as const;
export type DraftState = (typeof STATES)[number];

export interface JsonMap {
  readonly [key: string]: unknown;
}

/** What is wrong with a draft, or worth reading in it. `path` is dotted and starts inside the tool. */
export interface Issue {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly tool: string | null;
  readonly path: string | null;
  /** Always null: a draft has no lines. */
  readonly line: null;
}

/** One entry of the drafts file; its keys in this order. */
export interface DraftRecord {
  readonly status: DraftState;
  /** ISO 8601 with microseconds; null where the entry has none. */
  readonly created_at: string | null;
  /** SHA-256 of the proposal, 64 hex digits; null where the entry has none. */
  readonly hash: string | null;
  /** Who proposed it, and later who approved it; null where the entry has none. */
  readonly provenance: JsonMap | null;
  /** The proposed tool with the guardrails of its connection, without null keys. */
  readonly tool: JsonMap;
  readonly issues: readonly Issue[];
  /** The catalog's version that the approval made; null before. */
  readonly catalog_version: string | null;
}

/** Stands in for a proposal that is not a tool: it compiles in no catalog, so nothing of it can be approved. */
export const PLACEHOLDER: JsonMap = {
  name: "draft_invalid_tool",
  description: "Stands in for a proposal that was not a tool; see its issues.",
  kind: "search",
  target: { connection: "invalid", collection: "invalid" },
};

export function hasErrors(issues: readonly Issue[]): boolean {
  return issues.some(({ severity }) => severity === "error");
}

/** The name under which a draft is listed, approved and rejected. */
export function nameOf({ tool }: Pick<DraftRecord, "tool">): string {
  return typeof tool["name"] === "string" ? tool["name"] : String(PLACEHOLDER["name"]);
}

/** `2026-11-22T14:45:00.123000+00:00`: the drafts file has microseconds and an offset. */
export function stamp(nowMs: number): string {
  return new Date(nowMs).toISOString().replace("Z", "000+00:00");
}

/** SHA-256 over the canonical JSON of a proposal, as existing drafts files have it. */
export function draftHash(proposal: unknown): string {
  return createHash("sha256").update(canonical(proposal)).digest("hex");
}

/** Keys sorted by code point, separators ", " and ": ", everything beyond ASCII escaped. */
function canonical(value: unknown): string {
  if (typeof value === "string") return ascii(JSON.stringify(value));
  if (typeof value === "number") return numeral(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
  return `{${members.map(([key, member]) => `${ascii(JSON.stringify(key))}: ${canonical(member)}`).join(", ")}}`;
}

function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Small numbers have an exponent of two digits at least: 1e-07. */
function numeral(value: number): string {
  if (value === 0 || Math.abs(value) >= 1e-4) return JSON.stringify(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

function compareCodePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const at = left.findIndex((character, index) => character !== right[index]);
  if (at < 0) return left.length - right.length;
  return (left[at]?.codePointAt(0) ?? -1) - (right[at]?.codePointAt(0) ?? -1);
}

/** A value without the keys that are null, at every depth: existing files write them for what a tool does not have. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined).map(([key, member]) => [key, withoutNulls(member)]));
}

/** The next version of a catalog: the last part of `1.2.3` counted up; 1 where there is none that can be counted. */
export function nextVersion(version: string | null): string {
  if (version === null || !/^\d{1,15}(\.\d{1,15})*$/.test(version)) return "1";
  const parts = version.split(".");
  return [...parts.slice(0, -1), String(Number(parts.at(-1)) + 1)].join(".");
}

/** Whether a pending draft is so old that a server lets it expire; one without a date never is. */
export function isExpired({ status, created_at: created, provenance }: DraftRecord, nowMs: number): boolean {
  const date = created ?? provenance?.["created_at"];
  if (status !== "pending" || typeof date !== "string") return false;
  const createdMs = Date.parse(date);
  return Number.isFinite(createdMs) && nowMs - createdMs >= EXPIRES_AFTER_MS;
}

/** The command that approves a draft of a catalog. */
export function approveCommand(name: string, catalog: string): string {
  return `toolsrv approve ${name}${catalog === DEFAULT_CATALOG ? "" : ` --file ${catalog}`}`;
}
