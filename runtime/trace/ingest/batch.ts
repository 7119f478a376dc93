/**
 * Events on their way between threads, as bytes. A batch is one value after the other instead of objects: their names
 * would be most of the bytes, and writing and reading them most of the time. Batches can be put end to end.
 */
import { deserialize, serialize } from "node:v8";
import { Block, type LinePacker } from "../block.js";
import type { Incoming, Packed } from "../model.js";
import { type PackedEvents, packEvents } from "./pack.js";

type Value = Exclude<Incoming[keyof Incoming], Packed>;

/** Values of an event, in the order in which `decodeBatch` takes them. */
const FIELDS = 23;
/** Numbers of a place: block, line and bytes; -1 is none. */
const PLACE = 3;
const HEAD_BYTES = 4;

interface Encoded {
  readonly values: readonly Value[];
  /** Steps, payloads and details of each block. */
  readonly blocks: readonly (readonly [count: number, payloads: Uint8Array | null, details: Uint8Array | null])[];
  /** Of each event; empty without blocks. */
  readonly places: Int32Array;
}

const UNPACKED: PackedEvents = { blocks: [], places: [] };

/** The events as bytes, for `decodeBatch`. With a packer the texts of a run are compressed together. */
export function encodeBatch(events: readonly Incoming[], packer: LinePacker | null = null): Uint8Array {
  const { blocks, places } = packer === null ? UNPACKED : packEvents(events, packer);
  const values: Value[] = [];
  const numbers = new Int32Array(blocks.length === 0 ? 0 : events.length * PLACE).fill(-1);
  events.forEach((event, index) => {
    const place = places[index] ?? null;
    const block = place === null ? undefined : blocks[place.block];
    if (place !== null) numbers.set([place.block, place.line, place.bytes ?? -1], index * PLACE);
    const keeps = place === null || place.keeps;
    const summary = keeps || block?.details == null ? event.summary : "";
    const payload = keeps || block?.payloads == null ? event.payload : null;
    const attributes = block?.details == null ? event.attributes : null;
    values.push(
      event.eventId, event.fresh, event.runId, event.parentId, event.rootId, event.type, event.at, event.agent, event.tool, event.server, summary, payload,
      event.tokensIn, event.tokensOut, event.error, event.tags, event.session, event.user, event.model, event.graph, attributes, event.isAgent, event.durationMs,
    );
  });
  const body = serialize({ values, blocks: blocks.map(({ count, payloads, details }) => [count, payloads, details]), places: numbers } satisfies Encoded);
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
    addEvents(deserialize(bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)) as Encoded, events);
    at += HEAD_BYTES + length;
  }
  return events;
}

function addEvents({ values, blocks: stored, places }: Encoded, events: Incoming[]): void {
  const blocks = stored.map(([count, payloads, details]) => new Block(count, payloads, details));
  for (let at = 0, index = 0; at < values.length; at += FIELDS, index += PLACE) {
    const block = blocks[places[index] ?? -1];
    const bytes = places[index + 2] ?? -1;
    events.push(eventAt(values, at, block === undefined ? null : { block, line: places[index + 1] ?? 0, bytes: bytes < 0 ? null : bytes }));
  }
}

function eventAt(values: readonly Value[], at: number, packed: Packed | null): Incoming {
  return {
    eventId: values[at] as string, fresh: values[at + 1] as boolean, runId: values[at + 2] as string, parentId: values[at + 3] as string | null,
    rootId: values[at + 4] as string | null, type: values[at + 5] as number, at: values[at + 6] as number, agent: values[at + 7] as string | null,
    tool: values[at + 8] as string | null, server: values[at + 9] as string | null, summary: values[at + 10] as string, payload: values[at + 11] as string | null,
    tokensIn: values[at + 12] as number | null, tokensOut: values[at + 13] as number | null, error: values[at + 14] as string | null,
    tags: values[at + 15] as readonly string[] | null, session: values[at + 16] as string | null, user: values[at + 17] as string | null,
    model: values[at + 18] as string | null, graph: values[at + 19] as string | null, attributes: values[at + 20] as string | null,
    isAgent: values[at + 21] as boolean, durationMs: values[at + 22] as number | null, packed,
  };
}
