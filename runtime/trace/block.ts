/**
 * Blocks: texts of steps of one run that came together, compressed as one. One compression of many texts takes a fifth
 * of the time of one each, and makes half the bytes. A block is gzip of lines, one a step: JSON has no line feed of its
 * own. It never holds two runs, so that a deleted run takes its blocks along.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import type { Incoming } from "./model.js";

/** Characters of one block, about: what is read to get one of its texts. */
export const BLOCK_CHARS = 64 * 1024;

/** The fastest levels take the same time; this is the smaller one. */
const LEVEL = 2;

/** What a step shows beside its payload and its columns. */
export interface Details {
  readonly summary: string;
  /** JSON text of an object. */
  readonly attributes: string | null;
}

/** The lines as gzip; none of them may have a line feed. */
export function packLines(lines: readonly string[]): Uint8Array {
  return gzipSync(lines.join("\n"), { level: LEVEL });
}

/** @throws Error when the bytes are not what `packLines` made */
export function unpackLines(data: Uint8Array): readonly string[] {
  return gunzipSync(data).toString("utf8").split("\n");
}

/** Summary and attributes as one line: JSON text has no tab. */
export function detailLine({ summary, attributes }: Details): string {
  return `${JSON.stringify(summary)}\t${attributes ?? ""}`;
}

/** @throws Error when the line is not what `detailLine` made */
export function readDetailLine(line: string): Details {
  const end = line.indexOf("\t");
  const attributes = line.slice(end + 1);
  return { summary: JSON.parse(line.slice(0, end)) as string, attributes: attributes === "" ? null : attributes };
}

/** A block on its way to a store. It is unpacked when one of its texts is asked for. */
export class Block {
  #payloads: readonly string[] | null = null;
  #details: readonly string[] | null = null;

  constructor(
    /** Steps of the block. */
    readonly count: number,
    /** `packLines` of their payloads, "" for a step without one; `null` when there are none or they are stored one by one. */
    readonly payloads: Uint8Array | null,
    /** `packLines` of their details; `null` when these are not in the block. */
    readonly details: Uint8Array | null,
  ) {}

  payload(line: number): string | null {
    if (this.payloads === null) return null;
    this.#payloads ??= unpackLines(this.payloads);
    return this.#payloads[line] || null;
  }

  detail(line: number): Details | null {
    if (this.details === null) return null;
    this.#details ??= unpackLines(this.details);
    const found = this.#details[line];
    return found === undefined ? null : readDetailLine(found);
  }
}

/** Whether an event has a payload. */
export function hasPayload(event: Incoming): boolean {
  return event.payload !== null || (event.packed?.bytes ?? null) !== null;
}

/** JSON text of the payload of an event, wherever it is. */
export function payloadOf({ payload, packed }: Incoming): string | null {
  return payload ?? packed?.block.payload(packed.line) ?? null;
}

/** Summary of an event, wherever it is. */
export function summaryOf({ summary, packed }: Incoming): string {
  return summary === "" ? (packed?.block.detail(packed.line)?.summary ?? "") : summary;
}

/** Summary and attributes of an event, wherever they are. */
export function detailsOf(event: Incoming): Details {
  return event.packed?.block.detail(event.packed.line) ?? event;
}
