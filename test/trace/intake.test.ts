/** Bodies that are small and would become large. */
import assert from "node:assert/strict";
import { Intake, type RawBody } from "../../runtime/trace/ingest/intake.js";
import { decodeBatch } from "../../runtime/trace/ingest/batch.js";
import { protobufField } from "../../runtime/trace/ingest/otlp/protobuf.js";
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

test.run();
