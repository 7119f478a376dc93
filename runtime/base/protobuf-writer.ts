/** Protobuf messages as bytes, field by field, for records that are made for every call. @see https://protobuf.dev/programming-guides/encoding/ */
import { ByteWriter } from "./byte-writer.js";

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const MAX_VARINT_BYTES = 10;
const HALF = 2 ** 32;
/** Lengths below it take one byte. */
const ONE_BYTE = 0x80;

export class ProtobufWriter extends ByteWriter {
  /** Begins a message, or another value of a length that is not known yet. Returns what `finish` needs. */
  begin(field: number): number {
    this.tag(field, WIRE.bytes);
    this.room(1);
    return this.end++;
  }

  /** Ends the message: writes its length before it. */
  finish(start: number): void {
    const length = this.end - start - 1;
    if (length < ONE_BYTE) {
      this.bytes[start] = length;
      return;
    }
    const more = varintBytes(length) - 1;
    this.room(more);
    this.bytes.copyWithin(start + 1 + more, start + 1, this.end);
    this.end = start;
    this.varint(length);
    this.end += length;
  }

  /** The head of a message of `length` bytes, which are not here. */
  head(field: number, length: number): void {
    this.tag(field, WIRE.bytes);
    this.varint(length);
  }

  text(field: number, value: string): void {
    const start = this.begin(field);
    this.utf8(value);
    this.finish(start);
  }

  /** Whole numbers between ±2^53. */
  integer(field: number, value: number): void {
    this.tag(field, WIRE.varint);
    if (value >= 0) this.varint(value);
    else this.negative(value);
  }

  double(field: number, value: number): void {
    this.tag(field, WIRE.fixed64);
    this.room(8);
    this.end = this.bytes.writeDoubleLE(value, this.end);
  }

  fixed32(field: number, value: number): void {
    this.tag(field, WIRE.fixed32);
    this.room(4);
    this.uint32(value);
  }

  /** Milliseconds since the epoch as nanoseconds: more digits than a number has, so they are put together from two halves. */
  nanoseconds(field: number, ms: number): void {
    this.tag(field, WIRE.fixed64);
    this.room(8);
    const seconds = Math.floor(ms / 1000);
    const low = Math.imul(seconds, 1e9) >>> 0;
    // What is left is a multiple of 2^32, so the digits that the product lost do not matter.
    const high = Math.round((seconds * 1e9 - low) / HALF);
    const sum = low + Math.round((ms - seconds * 1000) * 1e6);
    this.uint32(sum);
    this.uint32(high + (sum >= HALF ? 1 : 0));
  }

  /** Bytes of as many hex digits, two a byte. */
  hex(field: number, digits: string): void {
    const start = this.begin(field);
    this.room(digits.length / 2);
    this.end += this.bytes.write(digits, this.end, "hex");
    this.finish(start);
  }

  private tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  private varint(value: number): void {
    this.room(MAX_VARINT_BYTES);
    const { bytes } = this;
    // Tags and most lengths.
    if (value < ONE_BYTE) {
      bytes[this.end++] = value;
      return;
    }
    let left = value;
    for (; left >= HALF; left = Math.floor(left / ONE_BYTE)) bytes[this.end++] = (left % ONE_BYTE) | ONE_BYTE;
    for (; left >= ONE_BYTE; left >>>= 7) bytes[this.end++] = (left & 0x7f) | ONE_BYTE;
    bytes[this.end++] = left;
  }

  /** Two's complement of 64 bits. */
  private negative(value: number): void {
    this.room(MAX_VARINT_BYTES);
    let left = BigInt.asUintN(64, BigInt(value));
    for (; left > 0x7fn; left >>= 7n) this.bytes[this.end++] = Number(left & 0x7fn) | ONE_BYTE;
    this.bytes[this.end++] = Number(left);
  }

  private uint32(value: number): void {
    const { bytes, end } = this;
    bytes[end] = value;
    bytes[end + 1] = value >>> 8;
    bytes[end + 2] = value >>> 16;
    bytes[end + 3] = value >>> 24;
    this.end = end + 4;
  }
}

function varintBytes(value: number): number {
  let count = 1;
  for (let left = value; left >= ONE_BYTE; left = Math.floor(left / ONE_BYTE)) count += 1;
  return count;
}
