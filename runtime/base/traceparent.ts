/** The trace that a caller is part of, as W3C Trace Context writes it: `00-<trace id>-<span id>-<flags>`. */

export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  /** The caller's span: 16 lower-case hex digits, not all zero. */
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly sampled: boolean;
}

const LENGTH = 55;
const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])$/;

/** `null` for what is no traceparent, which is ignored: it must never fail a request. */
export function parseTraceparent(text: unknown): TraceContext | null {
  if (typeof text !== "string" || text.length !== LENGTH) return null;
  const [, traceId, spanId, flags = "0"] = FORM.exec(text) ?? [];
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
