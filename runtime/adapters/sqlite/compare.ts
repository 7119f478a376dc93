/**
 * The comparison of vectors, in the read transaction of its session: full vectors in slices, or codes first and then the
 * full vectors of the rows that may be among the best. Exact either way: every row that the filter selects is compared.
 */
import { compareText, type Filter } from "../../abi/filter.js";
import type { Turns } from "../../base/turns.js";
import type { Collection } from "./catalog.js";
import type { Blocks } from "./code-set.js";
import { BLOCK_ROWS, type CodedQuery } from "./codes.js";
import { type Candidate, scanCodes } from "./nearest.js";
import { denseStatement, type Rows, rowsStatement } from "./queries.js";
import type { Session } from "./session.js";

/** Vector components compared in one statement. Between two statements cancellation is checked. */
const SLICE_COMPONENTS = 32_768 * 256;
const MIN_SLICE_ROWS = 1024;
const MAX_SLICE_ROWS = 32_768;

/** So few rows are compared in full at once: codes would only come before it. */
const FEW_ROWS = 256;
/** Share of a collection's rows below which full vectors are read rather than all codes from the file. */
const FEW_SHARE = 1 / 16;

/** Rows of one statement of full comparisons; the first one takes fewer, because the rest often need no comparison. */
const FIRST_ROWS = 128;
const MORE_ROWS = 4096;

export interface Found {
  readonly row: number;
  readonly id: string;
  readonly score: number;
}

/** A comparison and what its steps share. */
export interface Comparison {
  readonly session: Session;
  readonly collection: Collection;
  readonly vector: Float32Array;
  readonly filter: Filter | Rows | null;
  /** The last row of the collection. */
  readonly last: number;
  /** How many rows it has to find. */
  readonly keep: number;
  readonly turns: Turns;
  readonly signal: AbortSignal;
}

/** The best rows, best first, equal ones by id; all rows are compared in full. */
export async function compareFully(comparison: Comparison): Promise<readonly Found[]> {
  return compareRange(comparison, 0, comparison.last);
}

/** The same rows, found by codes first. Rows of blocks that have no codes are compared in full. */
export async function compareByCodes(comparison: Comparison, query: CodedQuery, blocks: Blocks): Promise<readonly Found[]> {
  const { last, keep, turns, signal } = comparison;
  const selected = selectRows(comparison);
  const few = Math.max(keep, blocks.isResident ? FEW_ROWS : last * FEW_SHARE);
  if (selected !== null && selected.length <= few) return compareRows(comparison, Array.from(selected, (row) => ({ row, high: Number.POSITIVE_INFINITY })));
  const { candidates, missing } = await scanCodes(blocks, query, selected, last, keep, turns, signal);
  let best = await compareRows(comparison, candidates);
  const rest = { ...comparison, filter: selected === null ? null : { rows: selected } };
  for (const block of missing) best = mergeBest(best, await compareRange(rest, block * BLOCK_ROWS, Math.min(last, (block + 1) * BLOCK_ROWS)), keep);
  return best;
}

/** The rows that the filter selects, ascending; `null` for all. */
function selectRows({ session, collection, filter }: Comparison): Int32Array | null {
  if (filter === null) return null;
  const rows = "rows" in filter ? filter.rows : session.next(() => session.json(rowsStatement(collection, filter)) as readonly number[]);
  return Int32Array.from(rows).sort();
}

/** Compares the rows `first < row <= last` in full. */
async function compareRange(comparison: Comparison, first: number, last: number): Promise<readonly Found[]> {
  const { session, collection, vector, filter, keep } = comparison;
  const size = sliceRows(collection);
  let best: readonly Found[] = [];
  for (let from = first; from < last; from += size) {
    const slice = { from, to: Math.min(last, from + size) };
    const within = filter !== null && "rows" in filter ? { rows: Array.from(filter.rows).filter((row) => row > slice.from && row <= slice.to) } : filter;
    best = mergeBest(best, session.next(() => session.all(denseStatement(collection, vector, within, keep, slice)) as Found[]), keep);
    await pause(comparison);
  }
  return best;
}

/** Compares these rows in full, those with the highest bound first, until the rest cannot be among the best. */
async function compareRows(comparison: Comparison, candidates: readonly Candidate[]): Promise<readonly Found[]> {
  const { session, collection, vector, keep } = comparison;
  let best: readonly Found[] = [];
  for (let from = 0, count = Math.max(FIRST_ROWS, 2 * keep); from < candidates.length; from += count, count = MORE_ROWS) {
    const worst = best.length < keep ? Number.NEGATIVE_INFINITY : (best.at(-1)?.score ?? Number.NEGATIVE_INFINITY);
    if ((candidates[from]?.high ?? 0) < worst) break;
    const rows = candidates.slice(from, from + count).map(({ row }) => row);
    best = mergeBest(best, session.next(() => session.all(denseStatement(collection, vector, { rows }, keep)) as Found[]), keep);
    await pause(comparison);
  }
  return best;
}

/** Lets others run, or sees that the search is cancelled. */
async function pause({ turns, signal }: Comparison): Promise<void> {
  await turns.yield();
  signal.throwIfAborted();
}

function sliceRows({ dims }: Collection): number {
  return Math.min(MAX_SLICE_ROWS, Math.max(MIN_SLICE_ROWS, Math.floor(SLICE_COMPONENTS / dims)));
}

function mergeBest(a: readonly Found[], b: readonly Found[], keep: number): readonly Found[] {
  return [...a, ...b].sort(byScore).slice(0, keep);
}

/** Best first, equal ones by id. */
export function byScore(a: Found, b: Found): number {
  return b.score - a.score || compareText(a.id, b.id);
}
