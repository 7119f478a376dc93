/**
 * Events on their way between threads, as bytes. A batch is one value after the other instead of objects: their names
 * would be most of the bytes, and writing and reading them most of the time. Batches can be put end to end.
 */
import { deserialize, serialize } from "node:v8";
import type { Incoming } from "../model.js";

type Value = Incoming[keyof Incoming];

/** Values of an event, in the order in which `decodeBatch` takes them. */
const FIELDS = 23;
const HEAD_BYTES = 4;

/** The events as bytes, for `decodeBatch`. */
export function encodeBatch(events: readonly Incoming[]): Uint8Array {
  const values: Value[] = [];
  for (const event of events) {
    values.push(
      event.eventId, event.fresh, event.runId, event.parentId, event.rootId, event.type, event.at, event.agent, event.tool, event.server, event.summary, event.payload,
      event.tokensIn, event.tokensOut, event.error, event.tags, event.session, event.user, event.model, event.graph, event.attributes, event.isAgent, event.durationMs,
    );
  }
  const body = serialize(values);
  // Memory of its own, so that it can be handed over.
  const bytes = new Uint8Array(HEAD_BYTES + body.byteLength);
  new DataView(bytes.buffer).setUint32(0, body.byteLength);
  bytes.set(body, HEAD_BYTES);
  return bytes;
}

/** One batch with the events of all of them, in order. */
export function joinBatches(batches: readonly Uint8Array[]): Uint8Array {
  const [first] = batches;
  if (first !== undefined && batches.length === 1) return first;
  const joined = new Uint8Array(batches.reduce((sum, batch) => sum + batch.byteLength, 0));
  let at = 0;
  for (const batch of batches) {
    joined.set(batch, at);
    at += batch.byteLength;
  }
  return joined;
}

/** The events of a batch made here. */
export function decodeBatch(bytes: Uint8Array): Incoming[] {
  const events: Incoming[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.byteLength; ) {
    const length = view.getUint32(at);
    addEvents(deserialize(bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)) as Value[], events);
    at += HEAD_BYTES + length;
  }
  return events;
}

function addEvents(values: readonly Value[], events: Incoming[]): void {
  for (let at = 0; at < values.length; at += FIELDS) {
    events.push({
      eventId: values[at] as string, fresh: values[at + 1] as boolean, runId: values[at + 2] as string, parentId: values[at + 3] as string | null,
      rootId: values[at + 4] as string | null, type: values[at + 5] as number, at: values[at + 6] as number, agent: values[at + 7] as string | null,
      tool: values[at + 8] as string | null, server: values[at + 9] as string | null, summary: values[at + 10] as string, payload: values[at + 11] as string | null,
      tokensIn: values[at + 12] as number | null, tokensOut: values[at + 13] as number | null, error: values[at + 14] as string | null,
      tags: values[at + 15] as readonly string[] | null, session: values[at + 16] as string | null, user: values[at + 17] as string | null,
      model: values[at + 18] as string | null, graph: values[at + 19] as string | null, attributes: values[at + 20] as string | null,
      isAgent: values[at + 21] as boolean, durationMs: values[at + 22] as number | null,
    });
  }
}
