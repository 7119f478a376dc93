/**
 * The nearest rows by their codes: bounds of every selected row's score, and then the full comparison of the rows that
 * may be among the best. Exact: a row is left out only when enough others are better for certain.
 */
import type { Turns } from "../../base/turns.js";
import type { Blocks } from "./code-set.js";
import { BLOCK_ROWS, blockShape, type CodedQuery, marginOf } from "./codes.js";

/** A row that may be among the best, and the highest score that it can have. */
export interface Candidate {
  readonly row: number;
  readonly high: number;
}

export interface Scan {
  /** Rows that may be among the best, those that can have the highest scores first. */
  readonly candidates: readonly Candidate[];
  /** Blocks without codes: their rows were not compared. */
  readonly missing: readonly number[];
}

/** Blocks between two looks at whether the search is cancelled. */
const BLOCKS_A_TURN = 16;

/**
 * Compares codes.
 * @param selected the rows to compare, ascending; `null` for all
 * @param last the collection's last row
 * @param keep how many rows will be asked for
 */
export async function scanCodes(blocks: Blocks, query: CodedQuery, selected: Int32Array | null, last: number, keep: number, turns: Turns, signal: AbortSignal): Promise<Scan> {
  const found = new Candidates(keep);
  const missing: number[] = [];
  const compare = createComparer(blocks, query, found);
  let from = 0;
  for (let block = 0; block * BLOCK_ROWS < last; block++) {
    if (block % BLOCKS_A_TURN === 0) {
      await turns.yield();
      signal.throwIfAborted();
    }
    const first = block * BLOCK_ROWS + 1;
    let to = from;
    if (selected !== null) {
      while (to < selected.length && (selected[to] as number) < first + BLOCK_ROWS) to++;
      if (to === from) continue;
    }
    const rows = blocks.rows[block] ?? 0;
    if (rows === 0) missing.push(block);
    else compare(block, first, rows, selected?.subarray(from, to) ?? null);
    from = to;
  }
  return { candidates: found.sorted(), missing };
}

type Comparer = (block: number, first: number, rows: number, selected: Int32Array | null) => void;

function createComparer({ memory, kernel, scratch, stride, load }: Blocks, query: CodedQuery, found: Candidates): Comparer {
  new Int16Array(memory.buffer, scratch.query, stride).set(query.codes);
  const index = new Int32Array(memory.buffer, scratch.index, BLOCK_ROWS);
  const out = new Int32Array(memory.buffer, scratch.out, BLOCK_ROWS);
  for (let row = 0; row < BLOCK_ROWS; row++) index[row] = row;
  return (block, first, rows, selected) => {
    const address = load(block);
    const shape = blockShape(rows, stride);
    const scales = new Float32Array(memory.buffer, address, rows);
    const errors = new Float32Array(memory.buffer, address + shape.errors, rows);
    const count = selected === null ? rows : fillIndex(index, selected, first, rows);
    kernel.dots(scratch.query, address + shape.codes, stride, scratch.index, count, scratch.out);
    for (let i = 0; i < count; i++) {
      const row = selected === null ? i : (index[i] as number);
      const error = errors[row] as number;
      // A row that does not exist.
      if (error < 0) continue;
      const score = (scales[row] as number) * query.scale * (out[i] as number);
      const margin = marginOf(error, query);
      found.offer(first + row, score - margin, score + margin);
    }
  };
}

/** Writes places in the block; returns how many. A row behind the block's last one has no vector. */
function fillIndex(index: Int32Array, selected: Int32Array, first: number, rows: number): number {
  let count = 0;
  for (const row of selected) if (row - first < rows) index[count++] = row - first;
  return count;
}

/** Most candidates before those are dropped that cannot be among the best any more. */
const FIRST_COMPACTION = 65_536;

/** Keeps every row whose highest possible score reaches the `keep` highest of the lowest possible scores. */
class Candidates {
  readonly #keep: number;
  /** A heap of the highest low bounds, its smallest first. */
  readonly #lows: Float64Array;
  #count = 0;
  #rows: number[] = [];
  #highs: number[] = [];
  #compactAt: number;

  constructor(keep: number) {
    this.#keep = keep;
    this.#lows = new Float64Array(keep);
    this.#compactAt = Math.max(FIRST_COMPACTION, 4 * keep);
  }

  offer(row: number, low: number, high: number): void {
    if (this.#count === this.#keep && high < (this.#lows[0] as number)) return;
    this.#rows.push(row);
    this.#highs.push(high);
    this.#addLow(low);
    if (this.#rows.length >= this.#compactAt) {
      this.#compact();
      this.#compactAt = Math.max(this.#compactAt, 2 * this.#rows.length);
    }
  }

  /** Highest first. */
  sorted(): readonly Candidate[] {
    this.#compact();
    return this.#rows.map((row, index) => ({ row, high: this.#highs[index] as number })).sort((a, b) => b.high - a.high || a.row - b.row);
  }

  #compact(): void {
    if (this.#count < this.#keep) return;
    const least = this.#lows[0] as number;
    const kept = this.#highs.flatMap((high, index) => (high >= least ? [index] : []));
    this.#rows = kept.map((index) => this.#rows[index] as number);
    this.#highs = kept.map((index) => this.#highs[index] as number);
  }

  #addLow(low: number): void {
    const lows = this.#lows;
    if (this.#count < this.#keep) {
      lows[this.#count++] = low;
      for (let at = this.#count - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if ((lows[parent] as number) <= (lows[at] as number)) return;
        swap(lows, at, parent);
        at = parent;
      }
      return;
    }
    if (low <= (lows[0] as number)) return;
    lows[0] = low;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= this.#count) return;
      const right = left + 1;
      const child = right < this.#count && (lows[right] as number) < (lows[left] as number) ? right : left;
      if ((lows[at] as number) <= (lows[child] as number)) return;
      swap(lows, at, child);
      at = child;
    }
  }
}

function swap(values: Float64Array, a: number, b: number): void {
  const kept = values[a] as number;
  values[a] = values[b] as number;
  values[b] = kept;
}
