/** Random ids of traces and spans. Bytes are taken in blocks: one request to the generator serves many calls. */
import { randomBytes } from "node:crypto";

const BLOCK_BYTES = 4096;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

export interface SpanIds {
  traceId(): string;
  spanId(): string;
}

export function createSpanIds(random: (bytes: number) => Buffer = randomBytes): SpanIds {
  let digits = "";
  let at = 0;
  const take = (count: number): string => {
    if (at + count > digits.length) {
      digits = random(BLOCK_BYTES).toString("hex");
      at = 0;
    }
    at += count;
    return digits.slice(at - count, at);
  };
  /** All zeros is no id. */
  const id = (count: number): string => {
    const made = take(count);
    return /[1-9a-f]/.test(made) ? made : id(count);
  };
  return { traceId: () => id(TRACE_DIGITS), spanId: () => id(SPAN_DIGITS) };
}
