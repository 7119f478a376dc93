/** What the fuzzer sends: parameters and bodies on both sides of every rule, and texts that break naive code. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { EVENT_KINDS } from "../../../runtime/trace/model.js";
import { protobufField } from "../../../runtime/trace/ingest/otlp/protobuf.js";
import type { Param } from "./contract.js";

/** Ids that the service knows, so that more than "not found" is answered. */
export const KNOWN_RUNS = ["r1", "r2", "r1-t", "open", "früh 😀", "50%;'\"--"];
export const KNOWN_EVENTS = ["known-event", "no-payload"];

const NASTY = [
  "", " ", ".", "..", "a/b", "..\\..", "a\u0000b", "%", "%2F", "%00", "'; DROP TABLE runs;--", "\"", "*", "\"unclosed", "NEAR(", "a AND", "-", "[", "{}", "null", "😀".repeat(30), "é".normalize("NFD"), "\u202etxt", "\ufffd",
  "constructor", "__proto__", "x".repeat(199), "x".repeat(200), "x".repeat(201), "😀".repeat(150), "😀".repeat(200), "x".repeat(601), "run:", "run: ", "run:r1", "run:run:r1", "last_n:1", "last_n:0", "last_n:99999999999999999999", "last_n:1.5", "all ", "ALL", "1", "0", "-1", "+1",
  "201", "5001", "1.0", "1e2", "0x10", "９", "NaN", "9007199254740993", "999999999999999", "9999999999999999", "true", "jsonl", "jsonl\n", "payloads", "AAAA", "eyJ9", "____",
];

const anyText = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 20 }), fc.string({ maxLength: 40 }));

/** A value of a query parameter, mostly near its rule; `undefined` leaves it out. */
export function queryText(param: Param): fc.Arbitrary<string | undefined> {
  const bounds = [param.minimum, param.maximum].filter(Number.isFinite).flatMap((bound) => [bound - 1, bound, bound + 1].map(String));
  const lengths = [param.minLength - 1, param.minLength, param.maxLength, param.maxLength + 1].filter((length) => Number.isFinite(length) && length >= 0);
  const near: fc.Arbitrary<string>[] = [
    ...(bounds.length > 0 ? [fc.constantFrom(...bounds), fc.integer({ min: Math.max(param.minimum, -5), max: Math.min(param.maximum, 300) }).map(String)] : []),
    ...(param.pattern !== null ? [fc.stringMatching(new RegExp(param.pattern.replaceAll("\\S", "[^ ]"))).map((text) => text.slice(0, 700))] : []),
    ...(param.type === "string" && param.pattern === null ? lengths.map((length) => fc.constantFrom("x", "é", "😀").map((unit) => unit.repeat(length))) : []),
    ...(param.name === "scope" ? [fc.constantFrom(...KNOWN_RUNS).map((id) => `run:${id}`)] : []),
  ];
  const known = ["a", "b", "q", "session"].includes(param.name) ? [{ weight: 6, arbitrary: fc.constantFrom(...KNOWN_RUNS) }] : [];
  const value = fc.oneof(...known, { weight: 4, arbitrary: fc.oneof(...near) }, { weight: 1, arbitrary: anyText });
  return fc.option(value, { nil: undefined, freq: param.required ? 12 : 2 });
}

const otherPath = anyText.filter((text) => text !== "");
/** An id for a path, mostly one that is known. */
export function pathText(name: string): fc.Arbitrary<string> {
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...(name === "event_id" ? KNOWN_EVENTS : KNOWN_RUNS)) }, { weight: 1, arbitrary: otherPath });
}

/** A path segment for a text: percent-encoded, whatever it holds. */
export function segment(text: string): string {
  const encoded = encodeURIComponent(text);
  return encoded === "." || encoded === ".." ? encoded.replaceAll(".", "%2E") : encoded;
}

// ---- bodies -------------------------------------------------------------------------------------------------

export interface Body {
  readonly type: string | null;
  readonly encoding: string | null;
  readonly bytes: Buffer;
}

const bad = fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e15, 1e300, "", "x", "x".repeat(201), "a/b", "..", "a\u0001", [], [1], {}, { a: 1 }, "\ud800", "2026-13-01", "2026-01-01T00:00:00Z");
const text = fc.oneof(fc.constantFrom("", "planner", "x".repeat(300), "line\nbreak", "\u0000", "\ud83d", "😀".repeat(150)), fc.string({ unit: "binary", maxLength: 30 }));
const count = fc.oneof(fc.nat(), fc.constantFrom(0, 1, 999_999_999_999));
const json = fc.jsonValue({ maxDepth: 4 });
const id = fc.oneof(fc.constantFrom("r1", "fuzz", "fuzz-1", "fuzz-2", "x".repeat(200), "😀".repeat(100), "ü", " ", "a:b", "a%2Fb"), fc.uuid());

/** An event, with each field right, wrong or absent. */
const event = fc.record(
  {
    event_id: fc.oneof({ weight: 6, arbitrary: fc.uuid() }, { weight: 1, arbitrary: bad }),
    run_id: fc.oneof({ weight: 12, arbitrary: id }, { weight: 1, arbitrary: bad }),
    parent_run_id: fc.oneof({ weight: 6, arbitrary: id }, { weight: 1, arbitrary: bad }),
    root_run_id: fc.oneof({ weight: 6, arbitrary: id }, { weight: 1, arbitrary: bad }),
    event_type: fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...EVENT_KINDS.map(({ name }) => name)) }, { weight: 1, arbitrary: bad }),
    timestamp: fc.oneof({ weight: 6, arbitrary: fc.constantFrom<unknown>(null, 0, 1_700_000_000_000, 1_700_000_000_000.5, "2026-11-20T11:54:40.774752Z", "2026-11-20T11:54:40+02:00", "2026-11-20") }, { weight: 1, arbitrary: bad }),
    agent_name: fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: bad }), tool_name: fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: bad }),
    mcp_server: fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: bad }), summary: fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: bad }),
    error_message: fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: bad }), payload: json,
    tags: fc.oneof({ weight: 6, arbitrary: fc.array(text, { maxLength: 4 }) }, { weight: 1, arbitrary: fc.constantFrom<unknown>(Array.from({ length: 100 }, String), Array.from({ length: 101 }, String)) }, { weight: 1, arbitrary: bad }),
    token_input: fc.oneof({ weight: 8, arbitrary: count }, { weight: 1, arbitrary: bad }), token_output: fc.oneof({ weight: 8, arbitrary: count }, { weight: 1, arbitrary: bad }),
    session_id: text, user_id: text, model: text, graph_definition: text, attributes: fc.oneof({ weight: 4, arbitrary: fc.dictionary(fc.string(), json) }, { weight: 1, arbitrary: bad }),
    is_agent: fc.oneof({ weight: 4, arbitrary: fc.boolean() }, { weight: 1, arbitrary: bad }), unknown_field: json,
  },
  { requiredKeys: ["run_id", "event_type"] },
);

export const events = fc.array(fc.oneof({ weight: 8, arbitrary: event }, { weight: 1, arbitrary: json }), { maxLength: 6 });

export const registration = fc.record(
  { server: fc.oneof({ weight: 5, arbitrary: id }, { weight: 1, arbitrary: bad }), tools: fc.oneof({ weight: 5, arbitrary: fc.array(fc.oneof({ weight: 8, arbitrary: id }, { weight: 1, arbitrary: bad }), { maxLength: 4 }) }, { weight: 1, arbitrary: bad }) },
  { requiredKeys: [] },
);

const hex = (bytes: number): fc.Arbitrary<string> => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((data) => Buffer.from(data).toString("hex"));
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({ stringValue: text }), fc.record({ intValue: fc.oneof<fc.Arbitrary<unknown>[]>(fc.integer(), fc.bigInt().map(String), text) }), fc.record({ doubleValue: fc.double() }), fc.record({ boolValue: fc.boolean() }),
  fc.record({ arrayValue: fc.record({ values: fc.array(fc.record({ stringValue: text }), { maxLength: 3 }) }) }), fc.record({ kvlistValue: json }), json,
);
const attributes = fc.array(fc.oneof({ weight: 8, arbitrary: fc.record({
  key: fc.oneof(fc.constantFrom("gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.usage.input_tokens", "gen_ai.request.model", "openinference.span.kind", "mcp.method.name", "input.value", "llm.input_messages.0.message.role", "llm.input_messages.999999999.message.role", "error.type", "session.id"), text),
  value: fc.oneof({ weight: 2, arbitrary: fc.constantFrom({ stringValue: "chat" }, { stringValue: "execute_tool" }, { stringValue: "TOOL" }, { stringValue: "tools/call" }) }, { weight: 3, arbitrary: anyValue }),
}) }, { weight: 1, arbitrary: json }), { maxLength: 5 });
const nanos = fc.oneof<fc.Arbitrary<unknown>[]>(fc.bigInt({ min: 0n, max: 2n ** 64n }).map(String), fc.constantFrom(0, "0", "1700000000000000000", 1.7e18, "-1", "x", null));
const span = fc.oneof({ weight: 10, arbitrary: fc.record({
  traceId: fc.oneof({ weight: 8, arbitrary: hex(16) }, { weight: 1, arbitrary: fc.constantFrom<unknown>("", "zz", "0".repeat(32), 5, null, "00".repeat(15)) }),
  spanId: fc.oneof({ weight: 8, arbitrary: hex(8) }, { weight: 1, arbitrary: fc.constantFrom<unknown>("", "0".repeat(16), [], "x".repeat(16)) }),
  parentSpanId: fc.oneof({ weight: 4, arbitrary: hex(8) }, { weight: 2, arbitrary: fc.constantFrom<unknown>("", null, 7) }),
  name: fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: bad }), startTimeUnixNano: nanos, endTimeUnixNano: nanos, attributes,
  status: fc.oneof<fc.Arbitrary<unknown>[]>(fc.constantFrom({ code: 2, message: "boom" }, { code: "STATUS_CODE_ERROR" }, {}), json),
  events: fc.oneof<fc.Arbitrary<unknown>[]>(fc.array(fc.record({ name: fc.constantFrom("exception", "gen_ai.choice"), timeUnixNano: nanos, attributes }), { maxLength: 2 }), json),
  links: json, kind: fc.oneof<fc.Arbitrary<unknown>[]>(fc.nat(6), json), futureField: json,
}, { requiredKeys: [] }) }, { weight: 1, arbitrary: json });
export const exportRequest: fc.Arbitrary<unknown> = fc.oneof({ weight: 8, arbitrary: fc.record({ resourceSpans: fc.array(fc.record({
  resource: fc.oneof<fc.Arbitrary<unknown>[]>(fc.record({ attributes }), json), scopeSpans: fc.oneof<fc.Arbitrary<unknown>[]>(fc.array(fc.record({ scope: json, spans: fc.array(span, { maxLength: 4 }) }), { maxLength: 2 }), json),
}, { requiredKeys: [] }), { maxLength: 2 }) }) }, { weight: 1, arbitrary: json });

/** Protobuf that is nearly an export request: nested messages with flipped, cut and repeated parts. */
export const protobuf: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.uint8Array({ minLength: 8, maxLength: 8 }), fc.string({ unit: "binary" }), fc.nat(200)).map(([noise, trace, own, name, cut]) => {
    const body = Buffer.concat([protobufField(1, Buffer.from(trace)), protobufField(2, Buffer.from(own)), protobufField(5, name), Buffer.from(noise)]);
    const whole = protobufField(1, protobufField(2, protobufField(2, body)));
    return cut < 50 ? whole.subarray(0, cut) : whole;
  }),
);

const MEDIA = ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/x-ndjson", "application/x-protobuf", "text/plain", "text/html", "multipart/form-data; boundary=x", ";", "application/json, text/html", "*/*"];

/** A body with a type and an encoding, which may or may not be what the operation takes and what the bytes are. */
export function body(operation: string): fc.Arbitrary<Body> {
  const content: fc.Arbitrary<Body> = (() => {
    switch (operation) {
      case "ingestEvents":
        return fc.oneof(
          events.map((list) => of("application/json", JSON.stringify(list))),
          events.map((list) => of("application/x-ndjson", list.map((entry) => JSON.stringify(entry)).join("\n"))),
        );
      case "registerTools":
        return registration.map((value) => of("application/json", JSON.stringify(value)));
      default:
        return fc.oneof(exportRequest.map((value) => of("application/json", JSON.stringify(value))), protobuf.map((bytes) => ({ type: "application/x-protobuf", encoding: null, bytes })));
    }
  })();
  const garbage = fc.oneof(fc.constantFrom("", "{", "[", "null", "5", "\"x\"", "[[[[", "[,]", "{}{}", "\ufeff[]", "[1e999]", "\u0000").map((value) => of("application/json", value)), fc.uint8Array({ maxLength: 40 }).map((bytes) => ({ type: "application/json", encoding: null, bytes: Buffer.from(bytes) })));
  const plain = fc.oneof({ weight: 8, arbitrary: content }, { weight: 1, arbitrary: garbage });
  return fc.tuple(plain, fc.option(fc.constantFrom(...MEDIA), { freq: 3 }), fc.constantFrom<string | null>(null, null, null, null, "gzip", "x-gzip", "GZIP", "identity", "br", "gzip, gzip", "deflate"), fc.boolean(), fc.boolean()).map(([sent, type, encoding, packed, typeless]) => ({
    type: type ?? (typeless && sent.bytes.length % 7 === 0 ? null : sent.type),
    encoding,
    bytes: packed && /gzip/i.test(encoding ?? "") ? gzipSync(sent.bytes) : sent.bytes,
  }));
}

function of(type: string, value: string): Body {
  return { type, encoding: null, bytes: Buffer.from(value, "utf8") };
}
