/** Rows as the caller may see them: redact, project, shorten, then fit into the result. */
import type { CallContext, CallRows, Envelope } from "../../abi/call.js";
import type { Row } from "../../abi/filter.js";
import { covers, readField } from "../../base/paths.js";
import type { OutputPlan, ToolPlan } from "../../abi/plan.js";
import { envelope } from "../envelope.js";
import { redactRows, rulesOf, type RedactRule } from "./redact.js";

/** Result warning: a projected field was missing from at least one row. */
export const FIELD_MISSING = "VB4001";

const DEFAULT_SUFFIX = "…";

/**
 * The envelope of one call. Keys of a row: the projected fields in the plan's order (missing ones null), or every
 * payload field as stored; then `_score`, then `_id`.
 */
export function shape(plan: ToolPlan, found: CallRows, call: CallContext): Envelope | Promise<Envelope> {
  if (plan.kind === "count" || plan.kind === "meta") return envelope(found.rows, found, call);
  const { output } = plan;
  const rules = rulesOf(output, call);
  // Without redaction there is nothing to wait for, and a promise costs every call.
  if (rules.length === 0 || found.redacted === true) return shapeRows(output, rules, found, call);
  return redactRows(found.rows, output, call).then((rows) => shapeRows(output, rules, { ...found, rows }, call));
}

function shapeRows(output: OutputPlan, rules: readonly RedactRule[], found: CallRows, call: CallContext): Envelope {
  let missing = false;
  const rows = found.rows.map((source) => {
    const shaped: Row = {};
    if (output.fields === undefined) copyPayload(source, shaped);
    else missing = project(output.fields, source, rules, shaped) || missing;
    if (output.max_field_length !== undefined) shortenAll(shaped, output.max_field_length, output.truncate_suffix ?? DEFAULT_SUFFIX);
    if (output.score && source["_score"] !== undefined) shaped["_score"] = source["_score"];
    if (output.id && source["_id"] !== undefined) shaped["_id"] = source["_id"];
    return shaped;
  });
  if (missing) call.warnings.push(FIELD_MISSING);
  const result = envelope(rows, found, call);
  // Rows are only ever cut from the end.
  if (call.watch !== null) call.watch.returned(found.rows, result.rows.length);
  return result;
}

function copyPayload(source: Row, shaped: Row): void {
  for (const key of Object.keys(source)) {
    if (key !== "_score" && key !== "_id") setKey(shaped, key, source[key]);
  }
}

/** Whether a field was missing; one that an omit rule removed is left out without a word. */
function project(fields: NonNullable<OutputPlan["fields"]>, source: Row, rules: readonly RedactRule[], shaped: Row): boolean {
  let missing = false;
  for (const field of fields) {
    if (field === "_score" || field === "_id") continue;
    const value = readField(source, field);
    if (value !== undefined) setKey(shaped, field, value);
    else if (!rules.some((rule) => rule.omits && covers(rule.path, field))) {
      missing = true;
      setKey(shaped, field, null);
    }
  }
  return missing;
}

/** `__proto__` is a key like any other in a record; assignment would set the prototype. */
function setKey(target: Row, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

function shortenAll(row: Row, limit: number, suffix: string): void {
  for (const key of Object.keys(row)) setKey(row, key, shorten(row[key], limit, suffix));
}

/** Texts longer than `limit` code points cut so that text and suffix together keep to it, in nested values too. */
function shorten(value: unknown, limit: number, suffix: string): unknown {
  if (typeof value === "string") return shortenText(value, limit, suffix);
  if (Array.isArray(value)) return value.map((item: unknown) => shorten(item, limit, suffix));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item, limit, suffix)]));
}

function shortenText(text: string, limit: number, suffix: string): string {
  // Code units are never fewer than code points: most texts need no counting.
  if (text.length <= limit) return text;
  const points = Array.from(text);
  if (points.length <= limit) return text;
  return points.slice(0, Math.max(0, limit - Array.from(suffix).length)).join("") + suffix;
}
