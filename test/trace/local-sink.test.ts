/** Events of the tool server's own process: what may hold a secret is redacted in another thread, and nothing overtakes it. */
import assert from "node:assert/strict";
import { createIdSource } from "../../runtime/base/id-source.js";
import { decodeBatch } from "../../runtime/trace/ingest/batch.js";
import { Intake } from "../../runtime/trace/ingest/intake.js";
import { createLocalSink } from "../../runtime/trace/ingest/local-sink.js";
import { createRedactor } from "../../runtime/trace/ingest/redact.js";
import type { Incoming } from "../../runtime/trace/model.js";
import { suite } from "../lib/suite.js";

const test = suite("trace local sink");
const redact = { patterns: [], detectors: ["api_keys"], replacement: "[REDACTED]" } as const;
const SECRET = "sk-abcdefghijklmnopqrst";
type Context = Parameters<typeof createLocalSink>[0];

/** A sink whose thread is this one, a task later; the queue keeps what it gets. */
function sinkWith(errors: unknown[] = [], death: Error | null = null) {
  const got: Incoming[] = [];
  const here: string[] = [];
  const intake = new Intake({ summaryChars: 200, batchSize: 100, maxEvents: 100, redact, packs: false });
  const context = {
    queue: { offer: (events: readonly Incoming[]) => (got.push(...events), null), take: (batches: readonly { readonly data: Uint8Array }[]) => (got.push(...batches.flatMap(({ data }) => decodeBatch(data))), null), flushed: async () => null },
    reading: { summaryChars: 200, newId: createIdSource(() => 0), nowUs: () => 0 },
    redactor: { concerns: createRedactor(redact)?.concerns, text: (text: string) => (here.push(text), text), json: (json: string) => (here.push(json), json) },
    store: {},
    intake: { events: async (body: Parameters<Intake["events"]>[0]) => (await new Promise((resume) => setImmediate(resume)), death === null ? intake.events(body) : Promise.reject(death)) },
  } as unknown as Context;
  return { sink: createLocalSink(context, (error) => errors.push(error)), got, here };
}
const event = (summary: string, more: { readonly [name: string]: unknown } = {}) => ({ run_id: "r", event_type: "tool_end", summary, ...more });

test("an event with what looks like a secret is redacted in the thread, no text of it on the event loop", async () => {
  const { sink, got, here } = sinkWith();
  sink.emit(event("a call", { payload: { key: SECRET }, error_message: SECRET, tool_name: "t" }));
  assert.deepEqual(got, [], "nothing is done yet");
  await sink.settled();
  assert.deepEqual(got.map(({ payload, error, tool }) => [payload, error, tool]), [['{"key":"[REDACTED]"}', "[REDACTED]", "t"]]);
  assert.deepEqual(here, []);
});

test("events keep their order, whichever way they go", async () => {
  const { sink, got } = sinkWith();
  for (const summary of ["first", `second ${SECRET}`, "third", `fourth ${SECRET}`, "fifth"]) sink.emit(event(summary));
  assert.deepEqual(got.map(({ summary }) => summary), ["first"]);
  await sink.settled();
  sink.emit(event("sixth"));
  assert.deepEqual(got.map(({ summary }) => summary.split(" ")[0]), ["first", "second", "third", "fourth", "fifth", "sixth"]);
});

test("an event that the thread did not redact is lost, not stored", async () => {
  const errors: unknown[] = [];
  const { sink, got } = sinkWith(errors, new Error("the thread has ended"));
  sink.emit(event(`a call ${SECRET}`));
  await sink.flush();
  assert.deepEqual([got, errors.map(String)], [[], ["Error: the thread has ended"]]);
});

test("of events that wait for the thread at most 64 MiB are kept", async () => {
  const errors: unknown[] = [];
  const { sink } = sinkWith(errors, new Error("not read"));
  const large = SECRET + "x".repeat(1024 * 1024);
  for (let i = 0; i < 70; i++) sink.emit(event(large));
  assert.equal(sink.dropped, 7);
  await sink.settled();
  assert.equal(errors.length, 63);
  sink.emit(event(large));
  assert.equal(sink.dropped, 7, "there is room again");
  await sink.settled();
});

test.run();
