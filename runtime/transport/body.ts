/**
 * Collects the chunks of a request body up to a limit. Bytes are copied, because the caller's memory dies with its
 * callback, and into one growing buffer, so that a body sent byte by byte costs no more than its size.
 */

const NOTHING = Buffer.alloc(0);

export class BodyReader {
  private buffer: Buffer = NOTHING;
  private storedBytes = 0;
  /** All bytes seen, also those thrown away over the limit. */
  seenBytes = 0;

  constructor(private readonly limitBytes: number) {}

  /** More came than the limit allows; nothing is kept any more. */
  get over(): boolean {
    return this.seenBytes > this.limitBytes;
  }

  push(chunk: ArrayBuffer): void {
    this.seenBytes += chunk.byteLength;
    if (this.over) {
      this.buffer = NOTHING;
      return;
    }
    if (this.storedBytes === 0) {
      this.buffer = copyBytes(chunk);
      this.storedBytes = chunk.byteLength;
      return;
    }
    if (this.seenBytes > this.buffer.length) this.grow();
    this.buffer.set(new Uint8Array(chunk), this.storedBytes);
    this.storedBytes = this.seenBytes;
  }

  /** The body; empty when it went over the limit. */
  finish(): Buffer {
    if (this.over) return NOTHING;
    return this.storedBytes === this.buffer.length ? this.buffer : this.buffer.subarray(0, this.storedBytes);
  }

  private grow(): void {
    const grown = Buffer.allocUnsafe(Math.min(this.limitBytes, Math.max(this.seenBytes, this.buffer.length * 2)));
    this.buffer.copy(grown, 0, 0, this.storedBytes);
    this.buffer = grown;
  }
}

export function copyBytes(chunk: ArrayBuffer): Buffer {
  return chunk.byteLength === 0 ? NOTHING : Buffer.from(new Uint8Array(chunk));
}
