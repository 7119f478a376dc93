/**
 * Bytes written one after the other into one block of memory, which grows and is used again. What waits to be sent is
 * one block then: the garbage collector traces none of it, and nothing is joined or encoded at the end.
 */

/** Longer texts are written faster by Node than character by character. Bytes that are there are written faster than both. */
const SHORT = 24;
/** Longest form of a unit of UTF-16 in UTF-8. */
const MAX_UNIT_BYTES = 3;
const NOTHING = new Uint8Array(0);

export class ByteWriter {
  protected bytes: Buffer;
  protected end = 0;

  constructor(firstBytes = 4096) {
    this.bytes = Buffer.allocUnsafeSlow(firstBytes);
  }

  /** Bytes that were written. */
  get length(): number {
    return this.end;
  }

  /** Takes back everything that was written behind the first `length` bytes. */
  cut(length: number): void {
    this.end = length;
  }

  /** A copy of what was written, or of its first `length` bytes, between what is given; the writer has the rest then. */
  take(before: Uint8Array = NOTHING, after: Uint8Array = NOTHING, length = this.end): Buffer {
    const taken = Buffer.allocUnsafeSlow(before.length + length + after.length);
    taken.set(before);
    this.bytes.copy(taken, before.length, 0, length);
    taken.set(after, before.length + length);
    this.bytes.copyWithin(0, length, this.end);
    this.end -= length;
    return taken;
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.end);
    this.end += bytes.length;
  }

  /** A text in UTF-8; half a surrogate pair becomes U+FFFD, as everywhere in Node. */
  utf8(text: string): void {
    const { length } = text;
    this.room(length * MAX_UNIT_BYTES);
    if (length > SHORT || !this.ascii(text)) this.end += this.bytes.write(text, this.end, "utf8");
  }

  /** Makes room for `count` more bytes. */
  protected room(count: number): void {
    if (this.end + count > this.bytes.length) this.grow(count);
  }

  /** Writes the text where there is room for it; false, and nothing is written, when it is not ASCII. */
  private ascii(text: string): boolean {
    const { bytes, end } = this;
    const { length } = text;
    for (let at = 0; at < length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) return false;
      bytes[end + at] = unit;
    }
    this.end = end + length;
    return true;
  }

  private grow(count: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.end + count, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.end);
    this.bytes = grown;
  }
}
