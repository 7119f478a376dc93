/**
 * Calls on their way to the thread that exports their spans: their numbers in one array, their texts as UTF-16 in
 * another. Two blocks of memory cross at once; neither is traced by the garbage collector, as objects or texts that wait
 * for their batch would be.
 */
import type { CallTrace, StepTrace } from "./call-trace.js";

/** A batch. Both arrays are as long as what is in them. */
export interface PackedCalls {
  readonly count: number;
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly texts: Uint16Array<ArrayBuffer>;
}

/** subject, start, end, count, truncated, and the lengths of eight texts. */
const NUMBERS_PER_CALL = 13;
/** What the texts of most calls fit into; a batch of longer ones grows. */
const TEXT_UNITS_PER_CALL = 256;
/** Length of a text that is `null`. */
const ABSENT = -1;

export class CallPacker {
  count = 0;
  private numbers: Float64Array;
  private texts: Uint16Array;
  private numbersEnd = 0;
  private textsEnd = 0;

  constructor(maxCalls: number) {
    this.numbers = new Float64Array(maxCalls * NUMBERS_PER_CALL);
    this.texts = new Uint16Array(maxCalls * TEXT_UNITS_PER_CALL);
  }

  /** At most `maxCalls` between two batches. */
  add(trace: CallTrace): void {
    this.count += 1;
    this.number(trace.subject);
    this.number(trace.startMs);
    this.number(trace.endMs);
    this.number(trace.count);
    this.number(trace.truncated ? 1 : 0);
    this.text(trace.traceId);
    this.text(trace.spanId);
    this.text(trace.parentId);
    this.text(trace.called);
    this.text(trace.requestId);
    this.text(trace.principal);
    this.text(trace.code);
    // A call with steps waits for a store, which takes far longer than this.
    this.text(trace.steps.length === 0 ? null : JSON.stringify(trace.steps));
  }

  /** What was added since the last batch. */
  take(): PackedCalls {
    const batch = { count: this.count, numbers: this.numbers.slice(0, this.numbersEnd), texts: this.texts.slice(0, this.textsEnd) };
    this.count = 0;
    this.numbersEnd = 0;
    this.textsEnd = 0;
    return batch;
  }

  private number(value: number): void {
    this.numbers[this.numbersEnd++] = value;
  }

  private text(text: string | null): void {
    if (text === null) {
      this.number(ABSENT);
      return;
    }
    const { length } = text;
    this.number(length);
    if (this.textsEnd + length > this.texts.length) this.grow(this.textsEnd + length);
    const { texts, textsEnd } = this;
    for (let at = 0; at < length; at += 1) texts[textsEnd + at] = text.charCodeAt(at);
    this.textsEnd = textsEnd + length;
  }

  private grow(units: number): void {
    const { texts } = this;
    this.texts = new Uint16Array(Math.max(units, texts.length * 2));
    this.texts.set(texts);
  }
}

/** The calls of a batch, in their order. */
export function unpackCalls({ count, numbers, texts }: PackedCalls): readonly CallTrace[] {
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.byteLength);
  let at = 0;
  let textAt = 0;
  const number = (): number => numbers[at++] ?? 0;
  const text = (): string | null => {
    const length = number();
    if (length === ABSENT) return null;
    const from = textAt;
    textAt += length;
    return bytes.toString("utf16le", from * 2, textAt * 2);
  };
  // The order of add(): members of an object are evaluated as they are written.
  return Array.from({ length: count }, () => ({
    subject: number(), startMs: number(), endMs: number(), count: number(), truncated: number() === 1,
    traceId: text(), spanId: text(), parentId: text(), called: text(), requestId: text() ?? "", principal: text(), code: text(),
    steps: JSON.parse(text() ?? "[]") as readonly StepTrace[],
  }));
}
