/** From bodies to batches: bodies that would become large, secrets in spans, texts that come again. */
import assert from "node:assert/strict";
import { detailsOf, payloadOf } from "../../runtime/trace/block.js";
import { Intake, type RawBody } from "../../runtime/trace/ingest/intake.js";
import { decodeBatch } from "../../runtime/trace/ingest/batch.js";
import { protobufField, ProtobufReader, ShortTexts } from "../../runtime/trace/ingest/otlp/protobuf.js";
import { spansOfProtobuf } from "../../runtime/trace/ingest/otlp/spans-protobuf.js";
import { suite } from "../lib/suite.js";

const test = suite("trace intake");

const intake = new Intake({ summaryChars: 500, batchSize: 3, maxEvents: 100_000, redact: { patterns: [], detectors: ["api_keys"], replacement: "[REDACTED]" }, packs: false });
const body = (bytes: Uint8Array | string, type = "application/json"): RawBody => ({ bytes: typeof bytes === "string" ? Buffer.from(bytes) : bytes, encoding: "", type, atMs: 1_700_000_000_000 });
const statusOf = (read: object): unknown => ("status" in read ? read.status : 200);

test("JSON with more values than fit into memory is refused before it is parsed; text that looks like it is not", () => {
  assert.equal(statusOf(intake.events(body(`[${"{},".repeat(8_000_001)}{}]`))), 413);
  assert.equal(statusOf(intake.spans(body(`[${"[],".repeat(8_000_001)}[]]`), false)), 413);
  const text = `\\"${",[{".repeat(3_000_000)}\\\\`;
  const read = intake.events(body(`[{"run_id":"a","event_type":"chain_start","payload":{"v":"${text}"}}]`));
  assert.deepEqual("accepted" in read && [read.accepted, read.rejected], [1, []]);
});

test("protobuf with more fields or spans than fit into memory is refused before they become objects", () => {
  const empty = (bytes: number): Buffer => Buffer.alloc(bytes, Buffer.from([0x0a, 0]));
  const fields = intake.spans(body(protobufField(1, protobufField(1, empty(12_000_002)))), true);
  assert.deepEqual(fields, { status: 413, message: "the body holds more than 6,000,000 fields; send it in parts" });
  const spans = intake.spans(body(protobufField(1, protobufField(2, Buffer.alloc(1_000_002, Buffer.from([0x12, 0]))))), true);
  assert.deepEqual(spans, { status: 413, message: "the body holds more than 500,000 spans; send it in parts" });
});

test("an event nested deeper than can be written is rejected by its position, the others are taken", () => {
  const deep = `{"run_id":"a","event_type":"chain_start","payload":{"v":${"[".repeat(200_000)}${"]".repeat(200_000)}}}`;
  const read = intake.events(body(`[{"run_id":"a","event_type":"retry"},${deep}]`));
  assert.deepEqual("accepted" in read && [read.accepted, read.rejected], [1, [{ index: 1, error: "the event is nested too deeply to be stored" }]]);
});

test("events leave in batches of the size, in order, redacted, with the time of their request", () => {
  const events = Array.from({ length: 7 }, (_, index) => ({ run_id: "r", event_type: "retry", summary: `${index} sk-abcdefghijklmnopqrstuv` }));
  const read = intake.events(body(JSON.stringify(events)));
  assert.ok("batches" in read);
  assert.deepEqual(read.batches.map(({ count }) => count), [3, 3, 1]);
  const all = read.batches.flatMap(({ data }) => decodeBatch(data));
  assert.deepEqual(all.map(({ summary }) => summary), events.map((_, index) => `${index} [REDACTED]`));
  assert.ok(all.every(({ at }) => at === 1_700_000_000_000_000));
});

/** A chat span in protobuf with these attributes, each the bytes of its value. */
function spanWith(attributes: { readonly [name: string]: Buffer }, name = "chat"): Buffer {
  const pairs = Object.entries(attributes).map(([key, value]) => protobufField(9, Buffer.concat([protobufField(1, key), protobufField(2, value)])));
  const time = Buffer.concat([Buffer.from([7 * 8 + 1]), Buffer.from([0, 0, 0x64, 0xa7, 0xb3, 0xb6, 0xe0, 0x0d])]);
  const span = Buffer.concat([protobufField(1, Buffer.alloc(16, 1)), protobufField(2, Buffer.alloc(8, 2)), protobufField(5, name), time, ...pairs]);
  return protobufField(1, protobufField(2, protobufField(2, span)));
}

function stored(bytes: Buffer): string {
  const all = new Intake({ summaryChars: 500, batchSize: 500, maxEvents: 1000, redact: { patterns: [], detectors: ["api_keys", "cards"], replacement: "[REDACTED]" }, packs: true });
  const read = all.spans(body(bytes), true);
  assert.ok("refused" in read && read.refused === 0, JSON.stringify(read));
  const events = read.batches.flatMap(({ data }) => decodeBatch(data));
  assert.equal(events.length, 3);
  return JSON.stringify(events.map((event) => ({ ...event, packed: null, payload: payloadOf(event), ...detailsOf(event) })));
}

test("a secret in a span is redacted wherever it is: as text, as a number, as bytes, as an escape of JSON, in a name", () => {
  const key = "sk-abcdefghijklmnopqrstuv";
  const card = 4_111_111_111_111_111;
  const double = Buffer.alloc(8);
  double.writeDoubleLE(card);
  const bytes = Buffer.from("AKIAABCDEFGHIJKLMNOP", "base64");
  const given: readonly (readonly [string, Buffer, string])[] = [
    ["text", spanWith({ note: protobufField(1, `my ${key}`) }), key],
    ["text of a message", spanWith({ "gen_ai.operation.name": protobufField(1, "chat"), "gen_ai.input.messages": protobufField(1, JSON.stringify([{ role: "user", content: key }])) }), key],
    ["an escape in a message", spanWith({ "gen_ai.operation.name": protobufField(1, "chat"), "gen_ai.input.messages": protobufField(1, `[{"role":"user","content":"\\u0073k-abcdefghijklmnopqrstuv"}]`) }), key],
    ["a number", spanWith({ card: protobufField(3, card) }), String(card)],
    ["a number with a fraction's type", spanWith({ card: Buffer.concat([Buffer.from([4 * 8 + 1]), double]) }), String(card)],
    ["bytes", spanWith({ blob: protobufField(7, bytes) }), bytes.toString("base64")],
    ["the name of an attribute", spanWith({ [key]: protobufField(1, "x") }), key],
    ["the name of the span", spanWith({}, key), key],
  ];
  for (const [where, span, secret] of given) {
    const text = stored(span);
    assert.ok(!text.includes(secret), where);
    assert.ok(text.includes("[REDACTED]"), where);
  }
});

test("ids and times are no texts: whatever their bytes look like, a span is stored without a closer look", () => {
  const span = Buffer.concat([protobufField(1, "a@b.example-12345"), protobufField(2, "b@c.test"), protobufField(5, "chat")]);
  const asked: string[] = [];
  const facts = { isSuspect: false, concerns: (bytes: Buffer, from: number, to: number) => asked.push(bytes.toString("latin1", from, to)) === 0 };
  spansOfProtobuf(protobufField(1, protobufField(2, protobufField(2, span))), undefined, facts);
  assert.deepEqual([asked, facts.isSuspect], [["chat"], false]);
});

test("a span without a secret is stored as it came, long numbers and bytes too", () => {
  const text = stored(spanWith({ count: protobufField(3, 1_234_567_890_123), blob: protobufField(7, Buffer.from("plain")), note: protobufField(1, "größe 🎉") }));
  for (const part of ['\\"count\\":1234567890123', '\\"blob\\":\\"cGxhaW4=\\"', "größe 🎉"]) assert.ok(text.includes(part), part);
});

test("an operation that is named like a member of every object is a span like any other", () => {
  for (const name of ["constructor", "__proto__", "toString"]) assert.ok(stored(spanWith({ "gen_ai.operation.name": protobufField(1, name) })).includes(name));
});

test("short texts of requests before are never mixed up, and none is taken for another", () => {
  const texts = new ShortTexts();
  const given = Array.from({ length: 20_000 }, (_, index) => (index % 3 === 0 ? `näme ${index}` : `gen_ai.name.${index % 9000}`));
  for (const part of [given, [...given].reverse()]) {
    const reader = new ProtobufReader(Buffer.concat(part.map((text) => protobufField(1, text))), texts);
    const read: string[] = [];
    while (reader.next() !== 0) read.push(reader.text());
    assert.deepEqual(read, part);
  }
});

test.run();
