/** The result of every tool call: one object, ten keys, always all of them, always in this order. */
import type { CallContext, CallRows, Envelope } from "../abi/call.js";
import type { Row } from "../abi/filter.js";

/** Bytes of JSON that the rows of one result may take. */
export const MAX_RESULT_BYTES = 100_000;

/** Finished rows as a result. Rows from the end are dropped until the rest fits `MAX_RESULT_BYTES`. */
export function envelope(rows: readonly Row[], found: CallRows, call: CallContext): Envelope {
  const kept = fitBytes(rows);
  return {
    rows: kept,
    count: found.total ?? kept.length,
    truncated: kept.length < rows.length,
    may_be_incomplete: found.mayBeIncomplete,
    exact_search: found.exact,
    search_mode: found.searchMode,
    warnings: call.warnings,
    latency_ms: Math.max(0, Math.round(call.services.now() - call.startedMs)),
    compiled_query: found.compiledQuery,
    message: null,
  };
}

/** A successful result without rows that says why. */
export function emptyEnvelope(message: string, call: CallContext): Envelope {
  const nothing: CallRows = { rows: [], exact: false, searchMode: "none", mayBeIncomplete: false, compiledQuery: null };
  return { ...envelope([], nothing, call), message };
}

function fitBytes(rows: readonly Row[]): readonly Row[] {
  if (rows.reduce((bytes, row) => bytes + mostBytes(row), 2) <= MAX_RESULT_BYTES) return rows;
  let bytes = 2;
  for (const [index, row] of rows.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(row)) + (index === 0 ? 0 : 1);
    if (bytes > MAX_RESULT_BYTES) return rows.slice(0, index);
  }
  return rows;
}

/** No value has more bytes of JSON than this says; most results are so far from the limit that they need no counting. */
function mostBytes(value: unknown): number {
  // A character takes up to six bytes: `\u001f`.
  if (typeof value === "string") return 6 * value.length + 3;
  if (typeof value !== "object" || value === null) return 26;
  let bytes = 3;
  for (const key in value) bytes += 6 * key.length + 4 + mostBytes((value as { readonly [key: string]: unknown })[key]);
  return bytes;
}
