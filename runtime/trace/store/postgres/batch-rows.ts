/**
 * A batch in the form in which the database takes it: texts that it can hold, compressed payloads, and rows for COPY.
 * All of this is made before the head is locked; then only numbers are written into the rows.
 */
import { gzipSync } from "node:zlib";
import { detailsOf, payloadOf } from "../../block.js";
import { eventKind, type Incoming } from "../../model.js";
import type { Changes } from "../../record/recorder.js";
import { countersOf, type CounterSums } from "../stored.js";
import type { Packed } from "./commit-news.js";
import { type ColumnType, CopyRows, storable } from "./copy.js";

/** Types of EVENT_COLUMNS. */
const EVENT_TYPES: readonly ColumnType[] = [
  "bigint", "bigint", "bigint", "smallint", "text", "text", "text", "text", "text", "text", "text", "integer", "bigint", "bigint", "bigint", "text", "text", "bigint", "text",
];

/** Rows of a batch with the numbers that its changes had when they were made. */
export interface BatchRows {
  /** One for each of the rows of the changes, in their order. */
  readonly events: CopyRows;
  readonly payloads: CopyRows;
  /** Places of the steps that have payloads, in their order. */
  readonly withPayload: readonly number[];
  readonly counters: CounterSums;
}

/** An event whose texts the database can hold. */
export function storableEvent(event: Incoming): Incoming {
  const text = (value: string | null): string | null => (value === null ? null : storable(value));
  const { summary, attributes } = detailsOf(event);
  return {
    ...event, packed: null, eventId: storable(event.eventId), runId: storable(event.runId), parentId: text(event.parentId), rootId: text(event.rootId), agent: text(event.agent),
    tool: text(event.tool), server: text(event.server), summary: storable(summary), payload: payloadOf(event), error: text(event.error), tags: event.tags?.map(storable) ?? null,
    session: text(event.session), user: text(event.user), model: text(event.model), graph: text(event.graph), attributes: text(attributes),
  };
}

/** Payloads of a batch, compressed. */
export function packPayloads(batch: readonly Incoming[]): Packed {
  return new Map(batch.flatMap((event) => (event.payload !== null && eventKind(event.type).payload ? [[event, gzipSync(event.payload, { level: 4, memLevel: 6 })] as const] : [])));
}

export function batchRows(changes: Changes, packed: Packed): BatchRows {
  const events = new CopyRows(EVENT_TYPES);
  const payloads = new CopyRows(["bigint", "bytes"]);
  const withPayload: number[] = [];
  for (const [index, { seq, run, event, parentId, agent, tool, server, model, durationMs, costNano }] of changes.rows.entries()) {
    const data = packed.get(event);
    if (data !== undefined) {
      payloads.add([seq, data]);
      withPayload.push(index);
    }
    events.add([
      seq, run.key, event.at, event.type, event.eventId, event.runId, parentId, agent, tool, server, event.summary, data?.byteLength ?? null,
      durationMs, event.tokensIn, event.tokensOut, event.error, model, costNano, event.attributes,
    ]);
  }
  const counters = countersOf(changes.rows.map(({ event, durationMs }) => ({ duration_ms: durationMs, tokens_in: event.tokensIn, tokens_out: event.tokensOut, payload: packed.get(event)?.byteLength ?? null })), 1);
  return { events, payloads, withPayload, counters };
}

/** Writes the numbers into the rows that the changes have now. */
export function renumberRows({ events, payloads, withPayload }: BatchRows, { rows }: Changes): void {
  for (const [index, { seq, run }] of rows.entries()) events.renumber(index, [seq, run.key]);
  for (const [index, place] of withPayload.entries()) payloads.renumber(index, [rows[place]?.seq ?? Number.NaN]);
}
