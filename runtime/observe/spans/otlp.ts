/**
 * Spans as the request of an OTLP collector, written into one block of memory; what all calls of a tool have in common is
 * written once. OpenTelemetry's own serializer takes 100,000 instructions for the span of a
 * call, more than the call; the bytes are the same (test/observe/otlp.test.ts).
 * @see https://github.com/open-telemetry/opentelemetry-proto
 */
import { ProtobufWriter } from "../../base/protobuf-writer.js";
import type { Attributes } from "./names.js";
import type { SpanOrigin } from "./origin.js";
import type { Span } from "./span.js";

/** Flags of a span: sampled, and that the next one says whether the parent is remote. */
const FLAGS = 0x101;
const REMOTE = 0x200;
const STATUS = { unset: 0, error: 2 } as const;

const NOTHING = new Uint8Array(0);
/** First room for parts that are written once. */
const SMALL = 128;
/** Names of spans are those of tools and steps, so there are few. */
const MAX_HEADINGS = 1000;

/** Spans on their way into requests. */
export class OtlpSpans {
  /** Where each span ends. */
  private readonly ends: number[] = [];
  private readonly spans = new ProtobufWriter(512 * 1024);
  private readonly written = new WeakMap<Readonly<Attributes>, Buffer>();
  private readonly names = new Map<string, Buffer>();
  /** By kind and name. */
  private readonly headings: { readonly [K in Span["kind"]]: Map<string, Buffer> } = { 0: new Map(), 1: new Map(), 2: new Map() };
  /** By the code that a span failed with. */
  private readonly endings = new Map<string | null, Buffer>();
  private readonly remoteEndings = new Map<string | null, Buffer>();

  add(span: Span): void {
    const { spans } = this;
    const start = spans.begin(2);
    spans.hex(1, span.traceId);
    spans.hex(2, span.spanId);
    if (span.parentId !== null) spans.hex(4, span.parentId);
    spans.raw(this.heading(span));
    spans.nanoseconds(7, span.startMs);
    spans.nanoseconds(8, span.endMs);
    spans.raw(this.shared(span.shared));
    this.attributes(span.own);
    spans.raw(this.ending(span));
    spans.finish(start);
    this.ends.push(spans.length);
  }

  /** The request with the `count` oldest spans: the spans, which are copied once, and what is around them. */
  take(count: number, { resource, scope: { name, version, schemaUrl } }: SpanOrigin): Buffer {
    const writer = new ProtobufWriter();
    addResource(writer, resource);
    const before = writer.take();
    const scope = writer.begin(1);
    writer.text(1, name);
    writer.text(2, version);
    writer.finish(scope);
    const first = writer.take();
    writer.text(3, schemaUrl);
    const length = this.release(count);
    const scopeSpans = first.length + length + writer.length;
    if (resource.schemaUrl !== undefined) writer.text(3, resource.schemaUrl);
    const after = writer.take();
    writer.raw(before);
    writer.head(2, scopeSpans);
    writer.raw(first);
    const inside = writer.take();
    writer.head(1, inside.length + length + after.length);
    return this.spans.take(writer.take(NOTHING, inside), after, length);
  }

  /** Bytes of the `count` oldest spans, which end here. */
  private release(count: number): number {
    const [length = 0] = this.ends.splice(0, count).slice(-1);
    for (let at = 0; at < this.ends.length; at += 1) this.ends[at] = (this.ends[at] ?? 0) - length;
    return length;
  }

  /** Name and kind. */
  private heading({ name, kind }: Span): Buffer {
    const known = this.headings[kind];
    const before = known.get(name);
    if (before !== undefined) return before;
    const writer = new ProtobufWriter(SMALL);
    writer.text(5, name);
    // Protobuf has a value for an unknown kind, the API has not.
    writer.integer(6, kind + 1);
    const made = writer.take();
    if (known.size < MAX_HEADINGS) known.set(name, made);
    return made;
  }

  /** Counts of what was dropped, which is nothing; status and flags. Codes are those of a table. */
  private ending({ code, isRemote }: Span): Buffer {
    const known = isRemote ? this.remoteEndings : this.endings;
    const before = known.get(code);
    if (before !== undefined) return before;
    const writer = new ProtobufWriter(SMALL);
    for (const field of [10, 12, 14]) writer.integer(field, 0);
    const status = writer.begin(15);
    if (code !== null) writer.text(2, code);
    writer.integer(3, code === null ? STATUS.unset : STATUS.error);
    writer.finish(status);
    writer.fixed32(16, isRemote ? FLAGS | REMOTE : FLAGS);
    const made = writer.take();
    known.set(code, made);
    return made;
  }

  /** Attributes of one span. Their names are few, and are written once. */
  private attributes(attributes: Readonly<Attributes>): void {
    const { spans, names } = this;
    for (const name in attributes) {
      const value = attributes[name];
      if (value === undefined) continue;
      let known = names.get(name);
      if (known === undefined) names.set(name, (known = nameOf(name)));
      const start = spans.begin(9);
      spans.raw(known);
      addValue(spans, value);
      spans.finish(start);
    }
  }

  private shared(attributes: Readonly<Attributes>): Buffer {
    const before = this.written.get(attributes);
    if (before !== undefined) return before;
    const writer = new ProtobufWriter();
    addAttributes(writer, 9, attributes);
    const made = writer.take();
    this.written.set(attributes, made);
    return made;
  }
}

function addResource(request: ProtobufWriter, { attributes }: SpanOrigin["resource"]): void {
  const start = request.begin(1);
  for (const [name, value] of Object.entries(attributes)) {
    // Of what a resource may have, only these are ever set here: by the detectors of the environment and by ourselves.
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") addAttribute(request, 1, name, value);
  }
  request.integer(2, 0);
  request.finish(start);
}

function addAttributes(writer: ProtobufWriter, field: number, attributes: Readonly<Attributes>): void {
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== undefined) addAttribute(writer, field, name, value);
  }
}

function addAttribute(writer: ProtobufWriter, field: number, name: string, value: string | number | boolean): void {
  const start = writer.begin(field);
  writer.text(1, name);
  addValue(writer, value);
  writer.finish(start);
}

function addValue(writer: ProtobufWriter, value: string | number | boolean): void {
  const start = writer.begin(2);
  if (typeof value === "string") writer.text(1, value);
  else if (typeof value === "boolean") writer.integer(2, value ? 1 : 0);
  else if (Number.isSafeInteger(value)) writer.integer(3, value);
  else writer.double(4, value);
  writer.finish(start);
}

function nameOf(name: string): Buffer {
  const writer = new ProtobufWriter(name.length + 8);
  writer.text(1, name);
  return writer.take();
}
