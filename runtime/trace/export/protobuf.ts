/** ExportTraceServiceRequest as protobuf. @see https://github.com/open-telemetry/opentelemetry-proto */
import type { AttributeValue, ExportedSpan } from "./spans.js";

/** Parts of a message, to be joined. */
type Parts = Uint8Array[];

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const SCOPE = "toolsrv.trace";

/** One request with all the spans under one resource. */
export function encodeRequest(spans: readonly ExportedSpan[], resource: { readonly [name: string]: AttributeValue }): Buffer {
  const scopeSpans = [message(1, [text(1, SCOPE)]), ...spans.map((span) => message(2, spanParts(span)))];
  return message(1, [message(1, attributes(1, resource)), message(2, scopeSpans)]);
}

function spanParts(span: ExportedSpan): Parts {
  const parts: Parts = [
    bytes(1, Buffer.from(span.traceId, "hex")), bytes(2, Buffer.from(span.spanId, "hex")), text(5, span.name), number(6, span.kind),
    time(7, span.startUs), time(8, span.endUs), ...attributes(9, span.attributes),
  ];
  if (span.parentId !== "") parts.push(bytes(4, Buffer.from(span.parentId, "hex")));
  for (const event of span.events) parts.push(message(11, [time(1, event.atUs), text(2, event.name), ...attributes(3, { summary: event.text })]));
  if (span.status !== 0) parts.push(message(15, [...(span.message === "" ? [] : [text(2, span.message)]), number(3, span.status)]));
  return parts;
}

function attributes(field: number, values: { readonly [name: string]: AttributeValue }): Parts {
  return Object.entries(values).map(([name, value]) => message(field, [text(1, name), message(2, [anyValue(value)])]));
}

function anyValue(value: AttributeValue): Uint8Array {
  if (typeof value === "string") return text(1, value);
  if (typeof value === "boolean") return number(2, Number(value));
  if (typeof value === "number") return Number.isSafeInteger(value) ? int64(3, value) : double(4, value);
  return message(5, value.map((item) => message(1, [text(1, item)])));
}

function message(field: number, parts: Parts): Buffer {
  return bytes(field, Buffer.concat(parts));
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value, "utf8"));
}

function bytes(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([tag(field, BYTES), varint(BigInt(value.byteLength)), value]);
}

function number(field: number, value: number): Buffer {
  return int64(field, value);
}

/** Negative numbers take ten bytes, as two's complement of 64 bits. */
function int64(field: number, value: number): Buffer {
  return Buffer.concat([tag(field, VARINT), varint(BigInt.asUintN(64, BigInt(value)))]);
}

function double(field: number, value: number): Buffer {
  const eight = Buffer.alloc(8);
  eight.writeDoubleLE(value);
  return Buffer.concat([tag(field, FIXED64), eight]);
}

/** Nanoseconds since the epoch. */
function time(field: number, us: number): Buffer {
  const eight = Buffer.alloc(8);
  eight.writeBigUInt64LE(BigInt(Math.max(0, us)) * 1000n);
  return Buffer.concat([tag(field, FIXED64), eight]);
}

function tag(field: number, wire: number): Buffer {
  return varint(BigInt(field * 8 + wire));
}

function varint(value: bigint): Buffer {
  const out: number[] = [];
  let left = value;
  while (left > 0x7fn) {
    out.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  out.push(Number(left));
  return Buffer.from(out);
}
