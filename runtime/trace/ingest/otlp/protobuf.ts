/**
 * Protobuf as bytes: a reader that never leaves its message, for input of any origin, and a writer for the two small
 * answers. The libraries at hand either trust their input or bring a code generator for these few messages.
 */

import { isAscii } from "node:buffer";

/** The bytes are not the message they claim to be. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

/** The message has more parts than are read of one. */
export class ProtobufSizeError extends Error {
  override readonly name = "ProtobufSizeError";
}

/** Fields of one message and all in it. What they become takes up to 70 bytes each, however few bytes they are. */
const MAX_FIELDS = 6_000_000;

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const TEXT = new TextDecoder("utf-8", { fatal: true });
const HALF = 2 ** 32;

/** Reads the fields of a message and of the messages in it, in order, as one walk over the bytes: a request has thousands. */
export class ProtobufReader {
  #at = 0;
  #end: number;
  #wire = 0;
  #fields = MAX_FIELDS;
  readonly #bytes: Buffer;
  readonly #view: DataView;

  /** `texts` has the short texts of requests before. */
  constructor(
    bytes: Uint8Array,
    private readonly texts = new ShortTexts(),
  ) {
    this.#end = bytes.byteLength;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Number of the next field, 0 at the end of the message. Its value must be read or skipped before the next call. */
  next(): number {
    if (this.#at >= this.#end) return 0;
    this.#fields -= 1;
    if (this.#fields < 0) throw new ProtobufSizeError(`the body holds more than ${MAX_FIELDS.toLocaleString("en-US")} fields; send it in parts`);
    const tag = this.#varint();
    this.#wire = tag & 7;
    const field = Math.floor(tag / 8);
    if (field === 0) throw new ProtobufError("a field has the number 0");
    return field;
  }

  skip(): void {
    switch (this.#wire) {
      case WIRE.varint:
        this.#varint();
        return;
      case WIRE.fixed64:
        this.#take(8);
        return;
      case WIRE.bytes:
        this.#take(this.#varint());
        return;
      case WIRE.fixed32:
        this.#take(4);
        return;
      default:
        throw new ProtobufError(`a field has the wire type ${this.#wire}`);
    }
  }

  /** Goes into the message that is the value. Returns what `leave` needs, when `next` has returned 0. */
  enter(): number {
    const from = this.#length();
    const outer = this.#end;
    this.#end = this.#at;
    this.#at = from;
    return outer;
  }

  leave(outer: number): void {
    this.#end = outer;
  }

  /** Passes over the message that is the value. Returns where it is, for `revisit`. */
  pass(): { readonly from: number; readonly to: number } {
    const from = this.#length();
    return { from, to: this.#at };
  }

  /** Reads a message that was passed; afterwards the reader is where it was. */
  revisit({ from, to }: { readonly from: number; readonly to: number }, read: () => void): void {
    const at = this.#at;
    const end = this.#end;
    this.#at = from;
    this.#end = to;
    read();
    this.#at = at;
    this.#end = end;
  }

  /** What `says` makes of the bytes of the value, a text or a message, which is not read by this. */
  ahead(says: (bytes: Buffer, from: number, to: number) => boolean): boolean {
    const at = this.#at;
    const from = this.#length();
    const to = this.#at;
    this.#at = at;
    return says(this.#bytes, from, to);
  }

  text(): string {
    const from = this.#length();
    const length = this.#at - from;
    if (length <= MAX_SHORT) {
      const known = this.texts.find(this.#bytes, from, length);
      if (known !== null) return known;
    }
    const bytes = this.#bytes.subarray(from, this.#at);
    // The decoder takes three times as long.
    return isAscii(bytes) ? bytes.toString("latin1") : decoded(bytes);
  }

  data(): Buffer {
    const from = this.#length();
    return this.#bytes.subarray(from, this.#at);
  }

  /** Bytes as hex digits; `last` is returned when they are the same. */
  hex(last: string): string {
    const from = this.#length();
    const length = this.#at - from;
    return length * 2 === last.length && isHexOf(last, this.#bytes, from) ? last : this.#bytes.toString("hex", from, this.#at);
  }

  /** An unsigned or boolean varint; above 2^53 it loses precision. */
  number(): number {
    this.#expect(WIRE.varint);
    return this.#varint();
  }

  /** A signed 64-bit varint. */
  signed(): bigint {
    this.#expect(WIRE.varint);
    return BigInt.asIntN(64, this.#varint64());
  }

  /** A signed 64-bit varint that is no more than one byte; -1 and nothing read when it is another one. */
  small(): number {
    this.#expect(WIRE.varint);
    const byte = this.#at < this.#end ? this.#view.getUint8(this.#at) : 0x80;
    if (byte >= 0x80) return -1;
    this.#at += 1;
    return byte;
  }

  /** A thousandth of a 64-bit number, rounded down: microseconds of nanoseconds. */
  thousandth(): number {
    this.#expect(WIRE.fixed64);
    const from = this.#take(8);
    const high = this.#view.getUint32(from + 4, true);
    return Math.floor(high / 1000) * HALF + Math.floor(((high % 1000) * HALF + this.#view.getUint32(from, true)) / 1000);
  }

  double(): number {
    this.#expect(WIRE.fixed64);
    return this.#view.getFloat64(this.#take(8), true);
  }

  #length(): number {
    this.#expect(WIRE.bytes);
    return this.#take(this.#varint());
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw new ProtobufError(`a field has the wire type ${this.#wire} instead of ${wire}`);
  }

  /** Moves on and returns where the bytes begin. */
  #take(count: number): number {
    const from = this.#at;
    if (count > this.#end - from) throw new ProtobufError("a field is longer than its message");
    this.#at = from + count;
    return from;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 10; shift++) {
      const byte = this.#view.getUint8(this.#take(1));
      value += (byte & 0x7f) * 2 ** (7 * shift);
      if (byte < 0x80) return value;
    }
    throw new ProtobufError("a number is longer than 10 bytes");
  }

  #varint64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#view.getUint8(this.#take(1));
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError("a number is longer than 10 bytes");
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return TEXT.decode(bytes);
  } catch {
    throw new ProtobufError("a text is not UTF-8");
  }
}

const DIGITS = "0123456789abcdef";

function isHexOf(hex: string, bytes: Uint8Array, from: number): boolean {
  for (let index = 0; index < hex.length; index += 2) {
    const byte = bytes[from + index / 2] ?? 0;
    if (hex.charCodeAt(index) !== DIGITS.charCodeAt(byte >> 4) || hex.charCodeAt(index + 1) !== DIGITS.charCodeAt(byte & 15)) return false;
  }
  return true;
}

const MAX_SHORT = 48;
const SLOTS = 4096;

/**
 * Short ASCII texts by their bytes: names of attributes, models and agents come again with every span, and the same
 * object is found faster than a new one is made. One text for each slot; a new one takes the place of the old one.
 */
export class ShortTexts {
  readonly #texts = new Array<string | undefined>(SLOTS);

  /** `null` for a text that is not ASCII. */
  find(bytes: Buffer, from: number, length: number): string | null {
    let hash = length;
    let all = 0;
    for (let at = from; at < from + length; at++) {
      const byte = bytes[at] ?? 0;
      hash = (Math.imul(hash, 31) + byte) | 0;
      all |= byte;
    }
    if (all >= 0x80) return null;
    const slot = (hash ^ (hash >>> 13)) & (SLOTS - 1);
    const known = this.#texts[slot];
    if (known !== undefined && known.length === length && isAt(known, bytes, from)) return known;
    const made = bytes.toString("latin1", from, from + length);
    this.#texts[slot] = made;
    return made;
  }
}

function isAt(text: string, bytes: Buffer, from: number): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) !== bytes[from + index]) return false;
  return true;
}

/** A field of the answers: a number as a varint, a text or a message as bytes. */
export function protobufField(field: number, value: number | string | Uint8Array): Buffer {
  if (typeof value === "number") return Buffer.from([...varint(field * 8), ...varint(value)]);
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  while (left > 0x7f) {
    bytes.push((left % 0x80) | 0x80);
    left = Math.floor(left / 0x80);
  }
  return [...bytes, left];
}
