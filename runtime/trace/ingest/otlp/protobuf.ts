/**
 * Protobuf as bytes: a reader that never leaves its message, for input of any origin, and a writer for the two small
 * answers. The libraries at hand either trust their input or bring a code generator for these few messages.
 */

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
const SHORT_TEXT = 32;

/** Reads the fields of one message, in order. */
export class ProtobufReader {
  #at: number;
  #wire = 0;

  constructor(
    private readonly bytes: Uint8Array,
    from = 0,
    private readonly end = bytes.length,
    private readonly left = { fields: MAX_FIELDS },
    // One view for all messages of a request: there are some twenty in a span.
    private readonly view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  ) {
    this.#at = from;
  }

  /** Number of the next field, 0 at the end. Its value must be read or skipped before the next call. */
  next(): number {
    if (this.#at >= this.end) return 0;
    this.left.fields -= 1;
    if (this.left.fields < 0) throw new ProtobufSizeError(`the body holds more than ${MAX_FIELDS.toLocaleString("en-US")} fields; send it in parts`);
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

  message(): ProtobufReader {
    const from = this.#length();
    return new ProtobufReader(this.bytes, from, this.#at, this.left, this.view);
  }

  text(): string {
    const from = this.#length();
    const ascii = this.#at - from <= SHORT_TEXT ? this.#ascii(from) : null;
    if (ascii !== null) return ascii;
    try {
      return TEXT.decode(this.bytes.subarray(from, this.#at));
    } catch {
      throw new ProtobufError("a text is not UTF-8");
    }
  }

  /** A short text of ASCII characters, as most names are; `null` for any other. The decoder costs more than such a text. */
  #ascii(from: number): string | null {
    let text = "";
    for (let at = from; at < this.#at; at++) {
      const byte = this.bytes[at] ?? 0x80;
      if (byte >= 0x80) return null;
      text += String.fromCharCode(byte);
    }
    return text;
  }

  data(): Uint8Array {
    const from = this.#length();
    return this.bytes.subarray(from, this.#at);
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

  fixed64(): bigint {
    this.#expect(WIRE.fixed64);
    return this.view.getBigUint64(this.#take(8), true);
  }

  double(): number {
    this.#expect(WIRE.fixed64);
    return this.view.getFloat64(this.#take(8), true);
  }

  fixed32(): number {
    this.#expect(WIRE.fixed32);
    return this.view.getUint32(this.#take(4), true);
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
    if (count > this.end - from) throw new ProtobufError("a field is longer than its message");
    this.#at = from + count;
    return from;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 10; shift++) {
      const byte = this.view.getUint8(this.#take(1));
      value += (byte & 0x7f) * 2 ** (7 * shift);
      if (byte < 0x80) return value;
    }
    throw new ProtobufError("a number is longer than 10 bytes");
  }

  #varint64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.view.getUint8(this.#take(1));
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError("a number is longer than 10 bytes");
  }
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
