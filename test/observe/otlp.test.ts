/** Spans as an OTLP request: the bytes of OpenTelemetry's own serializer. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { placeOfPackage } from "../../runtime/base/optional-package.js";
import { originOf } from "../../runtime/observe/spans/origin.js";
import { OtlpSpans } from "../../runtime/observe/spans/otlp.js";
import type { Span } from "../../runtime/observe/spans/span.js";
import { spansOfProtobuf } from "../../runtime/trace/ingest/otlp/spans-protobuf.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { EndedSpan } from "./ended-span.js";

const test = suite("observe/otlp");

interface Transformer {
  readonly ProtobufTraceSerializer: { serializeRequest(spans: readonly ReadableSpan[]): Uint8Array | undefined };
}

const { ProtobufTraceSerializer } = createRequire(placeOfPackage("@opentelemetry/exporter-trace-otlp-proto", repo()))("@opentelemetry/otlp-transformer") as Transformer;
const RESOURCE = resourceFromAttributes({ "service.name": "shop é", "service.version": "1.2.3", "process.pid": 70_000, share: 0.5, isTest: true });
const ORIGIN = originOf(RESOURCE, "1.2.3");

const SPAN: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", parentId: null, isRemote: false, name: "toolsrv.tool.call", kind: 1, startMs: 1_700_000_000_000, endMs: 1_700_000_000_002.5,
  code: null, shared: { tool: "list", connection: "main" }, own: { "toolsrv.request.id": "r1", "toolsrv.result.count": 3, "toolsrv.result.truncated": false },
};
const SPANS: readonly (readonly [what: string, span: Span])[] = [
  ["a call", SPAN],
  ["a caller's trace", { ...SPAN, parentId: "00f067aa0ba902b7", isRemote: true }],
  ["a step", { ...SPAN, parentId: "00f067aa0ba902b7", kind: 2, shared: {}, own: { limit: 5, mode: "dense" } }],
  ["a failure", { ...SPAN, code: "timeout", own: { "error.type": "tool_error" } }],
  ["no attributes", { ...SPAN, shared: {}, own: {} }],
  ["an empty name", { ...SPAN, name: "", own: { "": "" } }],
  ["texts that are no ASCII", { ...SPAN, name: "Käse 😀", own: { principal: "ädä 日本 😀 \u0000", half: "\ud800 x", otherHalf: "x\udc00" } }],
  ["long texts", { ...SPAN, own: { a: "x".repeat(127), b: "x".repeat(128), c: "é".repeat(64), d: "x".repeat(20_000), e: "é".repeat(40_000), f: "x".repeat(3_000_000) } }],
  ["numbers", { ...SPAN, own: { a: 0, b: -1, c: 127, d: 128, e: 2 ** 31, f: 2 ** 32, g: 2 ** 53 - 1, h: -(2 ** 53 - 1), i: 0.1, j: -1.5, k: 2 ** 35 + 5 } }],
  ["times", { ...SPAN, startMs: 0, endMs: 4_294_967_296_000.125 }],
];

test("the bytes of a request are those of OpenTelemetry's serializer, for each kind of span and for all of them in a batch", () => {
  const batch = new OtlpSpans();
  const check = (what: string, spans: readonly Span[]): void => {
    for (const span of spans) batch.add(span);
    const wanted = ProtobufTraceSerializer.serializeRequest(spans.map((span) => new EndedSpan(span, ORIGIN)));
    assert.equal(Buffer.compare(batch.take(spans.length, ORIGIN), wanted ?? Buffer.alloc(0)), 0, what);
  };
  for (const [what, span] of SPANS) check(what, [span]);
  check("all", SPANS.map(([, span]) => span));
  check("a full batch", Array.from({ length: 2000 }, () => SPAN));
});

test("times are exact to a thousandth of a millisecond, at every second and fraction", () => {
  const batch = new OtlpSpans();
  // Steps that no power of two divides: carries and halves are met.
  const spans = Array.from({ length: 5000 }, (_, nth) => ({ ...SPAN, startMs: nth * 340_001.017, endMs: 1_700_000_000_000 + nth * 7.001 }));
  for (const span of spans) batch.add(span);
  const wanted = ProtobufTraceSerializer.serializeRequest(spans.map((span) => new EndedSpan(span, ORIGIN)));
  assert.equal(Buffer.compare(batch.take(spans.length, ORIGIN), wanted ?? Buffer.alloc(0)), 0);
});

test("a request has the oldest spans and nothing of those before and after them", () => {
  const batch = new OtlpSpans();
  const names = (count: number): readonly string[] => spansOfProtobuf(batch.take(count, ORIGIN)).map(({ name }) => name);
  for (const name of ["one", "x".repeat(100_000), "three", "four"]) batch.add({ ...SPAN, name });
  assert.deepEqual(names(2), ["one", "x".repeat(100_000)]);
  batch.add({ ...SPAN, name: "five" });
  assert.deepEqual([names(1), names(2), names(0)], [["three"], ["four", "five"], []]);
});

test.run();
