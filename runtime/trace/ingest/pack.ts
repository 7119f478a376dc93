/** Packs the texts of events that came together and are of one run, before the store sees them. */
import { Block, BLOCK_CHARS, charsOf, detailLine, type Line, type LinePacker } from "../block.js";
import { eventKind, type Incoming } from "../model.js";

/** Where the texts of an event are. */
export interface Place {
  /** Index of the block in its batch. */
  readonly block: number;
  readonly line: number;
  /** Share of the compressed payloads; `null` for an event without one. */
  readonly bytes: number | null;
  /** The event also keeps its summary and its payload: the recorder will read them. */
  readonly keeps: boolean;
}

export interface PackedEvents {
  readonly blocks: readonly Block[];
  /** One for each event; `null` when it keeps its texts. */
  readonly places: readonly (Place | null)[];
}

/** Details that are smaller take less room and time as they are. */
const LEAST_DETAILS = 4096;

interface Open {
  readonly indexes: number[];
  /** Lines of what a run is described by: its own first start and last end, and those of a model in it, before its own end. */
  readonly kept: { rootStart?: number; rootEnd?: number; modelStart?: number; modelEnd?: number };
  readonly payloads: Line[];
  readonly details: Line[];
  payloadChars: number;
  detailChars: number;
}

/** Only events whose sender named their run are packed: of others it is not known yet. */
export function packEvents(events: readonly Incoming[], packer: LinePacker): PackedEvents {
  const blocks: Block[] = [];
  const places = new Array<Place | null>(events.length).fill(null);
  const open = new Map<string, Open>();
  events.forEach((event, index) => {
    if (event.rootId === null) return;
    let group = open.get(event.rootId);
    if (group === undefined) {
      group = { indexes: [], kept: {}, payloads: [], details: [], payloadChars: 0, detailChars: 0 };
      open.set(event.rootId, group);
    }
    add(group, event, index);
    if (group.payloadChars < BLOCK_CHARS && group.detailChars < BLOCK_CHARS) return;
    seal(group, packer, blocks, places);
    open.delete(event.rootId);
  });
  for (const group of open.values()) seal(group, packer, blocks, places);
  return { blocks, places };
}

function add(group: Open, event: Incoming, index: number): void {
  const kind = eventKind(event.type);
  const payload = event.payload !== null && kind.payload ? event.payload : "";
  const details = detailLine(event);
  const line = group.indexes.length;
  if (kind.side === "start" && event.parentId === null) group.kept.rootStart ??= line;
  else if (kind.side === "start" && kind.call === "llm") group.kept.modelStart ??= line;
  else if (kind.side === "end" && event.parentId === null) group.kept.rootEnd = line;
  else if (kind.side === "end" && kind.call === "llm" && group.kept.rootEnd === undefined) group.kept.modelEnd = line;
  group.indexes.push(index);
  group.payloads.push([payload]);
  group.details.push(details);
  group.payloadChars += payload.length;
  group.detailChars += charsOf(details);
}

function seal({ indexes, kept, payloads, details, payloadChars, detailChars }: Open, packer: LinePacker, blocks: Block[], places: (Place | null)[]): void {
  const packed = payloadChars === 0 ? null : packer.pack(payloads, payloadChars);
  const block = new Block(indexes.length, packed, detailChars < LEAST_DETAILS ? null : packer.pack(details, detailChars));
  if (block.payloads === null && block.details === null) return;
  const keeps = new Set(Object.values(kept));
  const share = (packed?.byteLength ?? 0) / payloadChars;
  indexes.forEach((index, line) => {
    const length = charsOf(payloads[line] ?? []);
    places[index] = { block: blocks.length, line, bytes: length === 0 ? null : Math.max(1, Math.round(length * share)), keeps: keeps.has(line) };
  });
  blocks.push(block);
}
