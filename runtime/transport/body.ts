/**
 * Collects the chunks of a request body up to a limit. Bytes are copied, because the caller's memory is valid only
 * during its callback, and into one growing buffer, so that a body sent byte by byte costs no more than its size.
 * What is allocated is reserved from the budget that all connections share.
 */
import type { BodyBudget } from "./body-budget.js";

const NOTHING = Buffer.alloc(0);

export class BodyReader {
  private buffer: Buffer = NOTHING;
  private storedBytes = 0;
  /** All bytes seen, also those discarded over the limit. */
  seenBytes = 0;
  /** The budget had no room; nothing is kept from then on. */
  starved = false;

  constructor(
    private readonly limitBytes: number,
    private readonly budget: BodyBudget,
  ) {}

  /** More came than the limit allows; nothing is kept from then on. */
  get over(): boolean {
    return this.seenBytes > this.limitBytes;
  }

  push(chunk: ArrayBuffer): void {
    this.seenBytes += chunk.byteLength;
    if (this.over || this.starved) {
      this.release();
      return;
    }
    if (this.seenBytes > this.buffer.length && !this.grow()) {
      this.starved = true;
      this.release();
      return;
    }
    this.buffer.set(new Uint8Array(chunk), this.storedBytes);
    this.storedBytes = this.seenBytes;
  }

  /** The body; empty when it was not kept. Its memory stays reserved until `release`. */
  finish(): Buffer {
    return this.storedBytes === this.buffer.length ? this.buffer : this.buffer.subarray(0, this.storedBytes);
  }

  /** Gives the memory back to the budget. */
  release(): void {
    this.budget.give(this.buffer.length);
    this.buffer = NOTHING;
    this.storedBytes = 0;
  }

  private grow(): boolean {
    const sizeBytes = Math.min(this.limitBytes, Math.max(this.seenBytes, this.buffer.length * 2));
    if (!this.budget.take(sizeBytes - this.buffer.length)) return false;
    const grown = Buffer.allocUnsafeSlow(sizeBytes);
    this.buffer.copy(grown, 0, 0, this.storedBytes);
    this.buffer = grown;
    return true;
  }
}

export function copyBytes(chunk: ArrayBuffer): Buffer {
  return chunk.byteLength === 0 ? NOTHING : Buffer.from(new Uint8Array(chunk));
}
