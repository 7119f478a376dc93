/** JSON text written piece by piece into one block of memory, for records that are made for every call: joining texts costs several times as much. */
import { ByteWriter } from "./byte-writer.js";

/** Longer texts are looked through and written faster by Node than character by character. */
const SHORT = 128;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** JSON text that is written again and again. */
export interface JsonBytes {
  readonly bytes: Buffer;
  readonly isAscii: boolean;
}

export function jsonBytes(json: string): JsonBytes {
  const bytes = Buffer.from(json, "utf8");
  return { bytes, isAscii: bytes.length === json.length };
}

export class JsonWriter extends ByteWriter {
  /** Everything that was written is ASCII. */
  private isAscii = true;

  /** JSON text as bytes, which may be no ASCII. */
  known(json: JsonBytes): void {
    this.raw(json.bytes);
    if (!json.isAscii) this.isAscii = false;
  }

  /** JSON text as it is. */
  json(text: string): void {
    const before = this.end;
    this.utf8(text);
    if (this.end - before !== text.length) this.isAscii = false;
  }

  /** The text as a JSON string. */
  quoted(text: string): void {
    if (text.length > SHORT || !this.plain(text)) this.json(JSON.stringify(text));
  }

  /** What was written, as a text. */
  text(): string {
    // Bytes that are characters are only copied.
    return this.bytes.toString(this.isAscii ? "latin1" : "utf8", 0, this.end);
  }

  /** Begins another text, whatever became of the one before. */
  clear(): void {
    this.end = 0;
    this.isAscii = true;
  }

  /** Writes a text that needs no escapes; false, and nothing is written, for another one. */
  private plain(text: string): boolean {
    const { length } = text;
    this.room(length + 2);
    const { bytes, end } = this;
    bytes[end] = QUOTE;
    for (let at = 0; at < length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return false;
      bytes[end + 1 + at] = unit;
    }
    bytes[end + 1 + length] = QUOTE;
    this.end = end + length + 2;
    return true;
  }
}
