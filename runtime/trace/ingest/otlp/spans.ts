/**
 * ExportTraceServiceRequest, from protobuf or JSON, as plain spans. Unknown fields are ignored; what is not such a
 * request at all is a `ProtobufError` or an `OtlpError`.
 */
import { ProtobufReader, ProtobufSizeError } from "./protobuf.js";

export type Attributes = { readonly [name: string]: unknown };

export interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

export interface Span {
  /** Lower-case hex, as sent. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly name: string;
  /** 2 is a server, 3 a client. */
  readonly kind: number;
  /** Microseconds since the epoch; 0 when absent. */
  readonly startUs: number;
  readonly endUs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** 2 is an error. */
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly resource: Attributes;
  readonly scope: string;
}

/** The JSON is no export request. */
export class OtlpError extends Error {
  override readonly name = "OtlpError";
}

/** Deeper values of attributes are left out. */
const MAX_DEPTH = 32;

type MutableSpan = { -readonly [K in keyof Span]: Span[K] };

function emptySpan(resource: Attributes, scope: string): MutableSpan {
  return {
    traceId: "", spanId: "", parentId: "", name: "", kind: 0, startUs: 0, endUs: 0, attributes: {}, events: [], statusCode: 0, statusMessage: "", resource, scope,
  };
}

// ---- protobuf -----------------------------------------------------------------------------------------------

/** Spans of one request. Empty ones take two bytes on the wire, and hundreds in memory. */
const MAX_SPANS = 500_000;

/** @throws ProtobufError, ProtobufSizeError */
export function spansOfProtobuf(bytes: Uint8Array): Span[] {
  const spans: Span[] = [];
  eachField(new ProtobufReader(bytes), (field, request) => {
    if (field !== 1) return request.skip();
    readResourceSpans(request.message(), spans);
  });
  return spans;
}

function eachField(reader: ProtobufReader, read: (field: number, reader: ProtobufReader) => void): void {
  for (let field = reader.next(); field !== 0; field = reader.next()) read(field, reader);
}

function readResourceSpans(reader: ProtobufReader, spans: Span[]): void {
  let resource: Attributes = {};
  const scopes: ProtobufReader[] = [];
  eachField(reader, (field, group) => {
    if (field === 1) resource = readAttributesOf(group.message(), 1);
    else if (field === 2) scopes.push(group.message());
    else group.skip();
  });
  for (const scope of scopes) readScopeSpans(scope, resource, spans);
}

function readAttributesOf(reader: ProtobufReader, at: number): Attributes {
  const attributes: { [name: string]: unknown } = {};
  eachField(reader, (field, message) => {
    if (field === at) readKeyValue(message.message(), attributes, 0);
    else message.skip();
  });
  return attributes;
}

function readScopeSpans(reader: ProtobufReader, resource: Attributes, spans: Span[]): void {
  let scope = "";
  const found: ProtobufReader[] = [];
  eachField(reader, (field, group) => {
    if (field === 1) {
      eachField(group.message(), (inner, message) => {
        if (inner === 1) scope = message.text();
        else message.skip();
      });
    } else if (field === 2) found.push(group.message());
    else group.skip();
  });
  if (spans.length + found.length > MAX_SPANS) throw new ProtobufSizeError(`the body holds more than ${MAX_SPANS.toLocaleString("en-US")} spans; send it in parts`);
  for (const span of found) spans.push(readSpan(span, emptySpan(resource, scope)));
}

function readSpan(reader: ProtobufReader, span: MutableSpan): Span {
  const attributes: { [name: string]: unknown } = {};
  const events: SpanEvent[] = [];
  eachField(reader, (field, message) => {
    switch (field) {
      case 1:
        span.traceId = Buffer.from(message.data()).toString("hex");
        return;
      case 2:
        span.spanId = Buffer.from(message.data()).toString("hex");
        return;
      case 4:
        span.parentId = Buffer.from(message.data()).toString("hex");
        return;
      case 5:
        span.name = message.text();
        return;
      case 6:
        span.kind = message.number();
        return;
      case 7:
        span.startUs = Number(message.fixed64() / 1000n);
        return;
      case 8:
        span.endUs = Number(message.fixed64() / 1000n);
        return;
      case 9:
        readKeyValue(message.message(), attributes, 0);
        return;
      case 11:
        events.push(readEvent(message.message()));
        return;
      case 15:
        eachField(message.message(), (inner, status) => {
          if (inner === 2) span.statusMessage = status.text();
          else if (inner === 3) span.statusCode = status.number();
          else status.skip();
        });
        return;
      default:
        message.skip();
    }
  });
  return { ...span, attributes, events };
}

function readEvent(reader: ProtobufReader): SpanEvent {
  let name = "";
  const attributes: { [name: string]: unknown } = {};
  eachField(reader, (field, message) => {
    if (field === 2) name = message.text();
    else if (field === 3) readKeyValue(message.message(), attributes, 0);
    else message.skip();
  });
  return { name, attributes };
}

function readKeyValue(reader: ProtobufReader, into: { [name: string]: unknown }, depth: number): void {
  let key = "";
  let value: unknown = null;
  eachField(reader, (field, message) => {
    if (field === 1) key = message.text();
    else if (field === 2) value = readAnyValue(message.message(), depth);
    else message.skip();
  });
  define(into, key, value);
}

function readAnyValue(reader: ProtobufReader, depth: number): unknown {
  let value: unknown = null;
  eachField(reader, (field, message) => {
    switch (field) {
      case 1:
        value = message.text();
        return;
      case 2:
        value = message.number() !== 0;
        return;
      case 3:
        value = plainInteger(message.signed());
        return;
      case 4:
        value = message.double();
        return;
      case 5: {
        const list: unknown[] = [];
        if (depth >= MAX_DEPTH) return message.skip();
        eachField(message.message(), (inner, item) => (inner === 1 ? void list.push(readAnyValue(item.message(), depth + 1)) : item.skip()));
        value = list;
        return;
      }
      case 6: {
        const map: { [name: string]: unknown } = {};
        if (depth >= MAX_DEPTH) return message.skip();
        eachField(message.message(), (inner, item) => (inner === 1 ? readKeyValue(item.message(), map, depth + 1) : item.skip()));
        value = map;
        return;
      }
      case 7:
        value = Buffer.from(message.data()).toString("base64");
        return;
      default:
        message.skip();
    }
  });
  return value;
}

/** A number where it is exact, else its decimal text. */
function plainInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** Sets a key that may have any name. */
function define(into: { [name: string]: unknown }, key: string, value: unknown): void {
  if (key !== "__proto__") into[key] = value;
  else Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}

// ---- JSON ---------------------------------------------------------------------------------------------------

type Json = { readonly [key: string]: unknown };

/** @throws OtlpError */
export function spansOfJson(value: unknown): Span[] {
  const request = objectOf(value, "the request");
  return listOf(request["resourceSpans"], "resourceSpans").flatMap((group) => {
    const resourceSpans = objectOf(group, "resourceSpans[]");
    const resource = resourceSpans["resource"] === undefined ? {} : attributesOf(objectOf(resourceSpans["resource"], "resource")["attributes"]);
    return listOf(resourceSpans["scopeSpans"], "scopeSpans").flatMap((entry) => {
      const scopeSpans = objectOf(entry, "scopeSpans[]");
      const scope = scopeSpans["scope"] === undefined ? "" : textOf(objectOf(scopeSpans["scope"], "scope")["name"]);
      return listOf(scopeSpans["spans"], "spans").map((span) => jsonSpan(objectOf(span, "spans[]"), resource, scope));
    });
  });
}

function jsonSpan(json: Json, resource: Attributes, scope: string): Span {
  const status = json["status"] === undefined || json["status"] === null ? {} : objectOf(json["status"], "status");
  return {
    traceId: textOf(json["traceId"]).toLowerCase(),
    spanId: textOf(json["spanId"]).toLowerCase(),
    parentId: textOf(json["parentSpanId"]).toLowerCase(),
    name: textOf(json["name"]),
    kind: enumOf(json["kind"], ["SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER", "SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"]),
    startUs: nanosOf(json["startTimeUnixNano"]),
    endUs: nanosOf(json["endTimeUnixNano"]),
    attributes: attributesOf(json["attributes"]),
    events: listOf(json["events"], "events").map((entry) => {
      const event = objectOf(entry, "events[]");
      return { name: textOf(event["name"]), attributes: attributesOf(event["attributes"]) };
    }),
    statusCode: enumOf(status["code"], ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"]),
    statusMessage: textOf(status["message"]),
    resource,
    scope,
  };
}

function objectOf(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new OtlpError(`${what} must be an object`);
  return value as Json;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new OtlpError(`${what} must be a list`);
  return value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function enumOf(value: unknown, names: readonly string[]): number {
  return typeof value === "number" ? value : Math.max(0, names.indexOf(String(value)));
}

/** 64-bit nanoseconds as decimal text or as a number, in microseconds. */
function nanosOf(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return Math.floor(value / 1000);
  return typeof value === "string" && /^\d{1,20}$/.test(value) ? Number(BigInt(value) / 1000n) : 0;
}

function attributesOf(value: unknown, depth = 0): Attributes {
  const attributes: { [name: string]: unknown } = {};
  for (const entry of listOf(value, "attributes")) {
    const pair = objectOf(entry, "attributes[]");
    define(attributes, textOf(pair["key"]), anyValue(pair["value"], depth));
  }
  return attributes;
}

function anyValue(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return null;
  const json = value as Json;
  if (typeof json["stringValue"] === "string") return json["stringValue"];
  if (typeof json["boolValue"] === "boolean") return json["boolValue"];
  if (json["intValue"] !== undefined) {
    const text = String(json["intValue"]);
    return /^-?\d{1,20}$/.test(text) ? plainInteger(BigInt(text)) : null;
  }
  if (json["doubleValue"] !== undefined) return Number(json["doubleValue"]);
  if (typeof json["bytesValue"] === "string") return json["bytesValue"];
  if (depth >= MAX_DEPTH) return null;
  if (json["arrayValue"] !== undefined) return listOf(objectOf(json["arrayValue"], "arrayValue")["values"], "values").map((item) => anyValue(item, depth + 1));
  if (json["kvlistValue"] !== undefined) return attributesOf(objectOf(json["kvlistValue"], "kvlistValue")["values"], depth + 1);
  return null;
}
