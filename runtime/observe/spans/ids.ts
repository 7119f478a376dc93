/** Random ids of traces and spans. Bytes are taken in blocks: one request to the generator serves many calls. */
import { randomBytes } from "node:crypto";

const BLOCK_BYTES = 4096;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);

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
  const id = (none: string): string => {
    const made = take(none.length);
    return made === none ? id(none) : made;
  };
  return { traceId: () => id(NO_TRACE), spanId: () => id(NO_SPAN) };
}
