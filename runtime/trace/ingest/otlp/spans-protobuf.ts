/** Spans of a request in protobuf; what is no such request is a `ProtobufError`. */
import { ProtobufReader, ProtobufSizeError, type ShortTexts } from "./protobuf.js";
import { type Attributes, define, emptySpan, MAX_DEPTH, type MutableAttributes, type MutableSpan, plainInteger, type Span, type SpanEvent } from "./spans.js";

/** Numbers of as many digits may be ones that redaction looks for. */
const LONG_NUMBER = 1e12;

/** Spans of one request. Empty ones take two bytes on the wire, and hundreds in memory. */
const MAX_SPANS = 500_000;

/** What is known of a request beside its spans. */
export interface RequestFacts {
  /** Something may need redaction: a text that `concerns` says so of, a long number, or bytes, which are shown as text. */
  isSuspect: boolean;
  /** Whether texts in a part of the bytes may need redaction. It is not asked about ids and times: they are no texts. */
  readonly concerns: (bytes: Buffer, from: number, to: number) => boolean;
}

const UNCONCERNED = (): RequestFacts => ({ isSuspect: false, concerns: () => false });

/** @throws ProtobufError, ProtobufSizeError */
export function spansOfProtobuf(bytes: Uint8Array, texts?: ShortTexts, facts: RequestFacts = UNCONCERNED()): Span[] {
  const spans: Span[] = [];
  const reader = new ProtobufReader(bytes, texts);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) readResourceSpans(reader, spans, facts);
    else reader.skip();
  }
  return spans;
}

function readResourceSpans(reader: ProtobufReader, spans: Span[], facts: RequestFacts): void {
  const resource: MutableAttributes = {};
  // A resource may come behind its spans.
  const scopes: ReturnType<ProtobufReader["pass"]>[] = [];
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) readAttributesOf(reader, resource, facts);
    else if (field === 2) scopes.push(reader.pass());
    else reader.skip();
  }
  reader.leave(outer);
  for (const scope of scopes) reader.revisit(scope, () => readScopeSpans(reader, resource, spans, facts));
}

function readAttributesOf(reader: ProtobufReader, into: MutableAttributes, facts: RequestFacts): void {
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) readKeyValue(reader, into, 0, facts);
    else reader.skip();
  }
  reader.leave(outer);
}

/** Inside a message of spans. */
function readScopeSpans(reader: ProtobufReader, resource: Attributes, spans: Span[], facts: RequestFacts): void {
  let scope = "";
  const found: ReturnType<ProtobufReader["pass"]>[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      const outer = reader.enter();
      for (let inner = reader.next(); inner !== 0; inner = reader.next()) {
        if (inner === 1) scope = readText(reader, facts);
        else reader.skip();
      }
      reader.leave(outer);
    } else if (field === 2) found.push(reader.pass());
    else reader.skip();
  }
  if (spans.length + found.length > MAX_SPANS) throw new ProtobufSizeError(`the body holds more than ${MAX_SPANS.toLocaleString("en-US")} spans; send it in parts`);
  for (const place of found) {
    const span = emptySpan(resource, scope);
    reader.revisit(place, () => readSpan(reader, span, spans.at(-1), facts));
    spans.push(span);
  }
}

/** `before` is the span before it, which is of the same trace and under the same parent as a rule. */
function readSpan(reader: ProtobufReader, span: MutableSpan, before: Span | undefined, facts: RequestFacts): void {
  const attributes: MutableAttributes = {};
  const events: SpanEvent[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        span.traceId = reader.hex(before?.traceId ?? "");
        break;
      case 2:
        span.spanId = reader.hex("");
        break;
      case 4:
        span.parentId = reader.hex(before?.parentId ?? "");
        break;
      case 5:
        span.name = readText(reader, facts);
        break;
      case 6:
        span.kind = reader.number();
        break;
      case 7:
        span.startUs = reader.thousandth();
        break;
      case 8:
        span.endUs = reader.thousandth();
        break;
      case 9:
        readKeyValue(reader, attributes, 0, facts);
        break;
      case 11:
        events.push(readEvent(reader, facts));
        break;
      case 15:
        readStatus(reader, span, facts);
        break;
      default:
        reader.skip();
    }
  }
  span.attributes = attributes;
  span.events = events;
}

function readStatus(reader: ProtobufReader, span: MutableSpan, facts: RequestFacts): void {
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) span.statusMessage = readText(reader, facts);
    else if (field === 3) span.statusCode = reader.number();
    else reader.skip();
  }
  reader.leave(outer);
}

function readEvent(reader: ProtobufReader, facts: RequestFacts): SpanEvent {
  let name = "";
  const attributes: MutableAttributes = {};
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) name = readText(reader, facts);
    else if (field === 3) readKeyValue(reader, attributes, 0, facts);
    else reader.skip();
  }
  reader.leave(outer);
  return { name, attributes };
}

function readText(reader: ProtobufReader, facts: RequestFacts): string {
  look(reader, facts);
  return reader.text();
}

/** Looks into the value that comes next for what may need redaction. */
function look(reader: ProtobufReader, facts: RequestFacts): void {
  if (!facts.isSuspect && reader.ahead(facts.concerns)) facts.isSuspect = true;
}

function readKeyValue(reader: ProtobufReader, into: MutableAttributes, depth: number, facts: RequestFacts): void {
  if (depth === 0) look(reader, facts);
  let key = "";
  let value: unknown = null;
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = reader.text();
    else if (field === 2) value = readAnyValue(reader, depth, facts);
    else reader.skip();
  }
  reader.leave(outer);
  define(into, key, value);
}

function readAnyValue(reader: ProtobufReader, depth: number, facts: RequestFacts): unknown {
  let value: unknown = null;
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        value = reader.text();
        break;
      case 2:
        value = reader.number() !== 0;
        break;
      case 3:
        value = readInteger(reader, facts);
        break;
      case 4:
        value = reader.double();
        if (Math.abs(value as number) >= LONG_NUMBER) facts.isSuspect = true;
        break;
      case 5:
        value = readList(reader, depth, facts) ?? value;
        break;
      case 6:
        value = readMap(reader, depth, facts) ?? value;
        break;
      case 7:
        value = reader.data().toString("base64");
        facts.isSuspect = true;
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  return value;
}

function readInteger(reader: ProtobufReader, facts: RequestFacts): number | string {
  const small = reader.small();
  if (small >= 0) return small;
  const value = plainInteger(reader.signed());
  if (typeof value === "string" || Math.abs(value) >= LONG_NUMBER) facts.isSuspect = true;
  return value;
}

/** `null` for one that is too deep. */
function readList(reader: ProtobufReader, depth: number, facts: RequestFacts): unknown[] | null {
  if (depth >= MAX_DEPTH) {
    reader.skip();
    return null;
  }
  const list: unknown[] = [];
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) list.push(readAnyValue(reader, depth + 1, facts));
    else reader.skip();
  }
  reader.leave(outer);
  return list;
}

/** `null` for one that is too deep. */
function readMap(reader: ProtobufReader, depth: number, facts: RequestFacts): Attributes | null {
  if (depth >= MAX_DEPTH) {
    reader.skip();
    return null;
  }
  const map: MutableAttributes = {};
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) readKeyValue(reader, map, depth + 1, facts);
    else reader.skip();
  }
  reader.leave(outer);
  return map;
}
