/** Reads the files of a chain and finds what was changed, taken out or moved. Reads line by line: files may be large. */
import { problemOf, readRecord, type ChainHead } from "./chain.js";

export interface ChainFile {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ChainProblem {
  readonly file: string;
  /** From 1; `null` for the chain as a whole. */
  readonly line: number | null;
  readonly message: string;
}

export interface ChainReport {
  readonly ok: boolean;
  readonly records: number;
  readonly calls: number;
  /** Records that were dropped while the chain was written, as it says itself. */
  readonly lost: number;
  /** `seq` of the first record; above 0 when earlier files were not given. `null` without records. */
  readonly first: number | null;
  readonly head: ChainHead | null;
  /** Up to `MAX_PROBLEMS`. */
  readonly problems: readonly ChainProblem[];
  readonly more: number;
}

export const MAX_PROBLEMS = 20;
/** A line that is longer is no record. */
const MAX_LINE = 4 * 1024 * 1024;

/** Checks files in the order in which they were written. `anchor` is the hash of a record that must be there. */
export async function verifyChain(files: readonly ChainFile[], anchor: string | null): Promise<ChainReport> {
  const problems: ChainProblem[] = [];
  const found = (problem: ChainProblem): void => void problems.push(problem);
  let [records, calls, lost, first] = [0, 0, 0, null as number | null];
  let head: ChainHead | null = null;
  let isAnchored = false;
  for (const { name, chunks } of files) {
    for await (const { bytes, line, isWhole } of linesIn(chunks)) {
      const record = isWhole ? readRecord(bytes) : null;
      const message = isWhole ? problemOf(record, head) : "is cut off: it has no end";
      if (message !== null) found({ file: name, line, message });
      if (record === null) continue;
      records += 1;
      if (record.event === null) calls += 1;
      lost += record.lost;
      first ??= record.seq;
      head = { seq: record.seq, hash: record.hash };
      if (record.isIntact && record.hash === anchor) isAnchored = true;
    }
  }
  const last = files.at(-1)?.name ?? "";
  if (records === 0) found({ file: last, line: null, message: "there is no record" });
  else if (anchor !== null && !isAnchored) found({ file: last, line: null, message: `no record has the hash ${anchor}: the end of the chain was cut off, or it is another chain` });
  return { ok: problems.length === 0, records, calls, lost, first, head, problems: problems.slice(0, MAX_PROBLEMS), more: Math.max(0, problems.length - MAX_PROBLEMS) };
}

interface Line {
  readonly bytes: Buffer;
  readonly line: number;
  /** Whether it ends with a line feed. */
  readonly isWhole: boolean;
}

async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let line = 0;
  let parts: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      line += 1;
      yield { bytes: parts.length === 0 ? bytes.subarray(from, at) : Buffer.concat([...parts, bytes.subarray(from, at)]), line, isWhole: true };
      parts = [];
      held = 0;
      from = at + 1;
    }
    // The rest of a line that is too long is not kept: without its beginning it is no record either.
    if (held < MAX_LINE && from < bytes.length) parts.push(Buffer.from(bytes.subarray(from)));
    held += bytes.length - from;
  }
  if (parts.length > 0) yield { bytes: Buffer.concat(parts), line: line + 1, isWhole: false };
}
