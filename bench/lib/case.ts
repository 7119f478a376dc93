/**
 * Benchmarks: each case measures us and a peer in the same run, alternating, and reports the ratio. Absolute numbers
 * belong to the machine line that is printed with them; goals are ratios, save where the row says that it has no peer.
 */

/** Least or most that a ratio may be. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One comparison of a case: a row of the page. */
export interface Comparison {
  readonly what: string;
  /** Ours and the peer's figure, in `unit`: medians over the rounds. */
  readonly ours: number;
  readonly peer: number;
  readonly unit: string;
  /** ours ÷ peer: the median over the rounds, not the ratio of the two figures. */
  readonly ratio: number;
  /** A row without a goal is for information. */
  readonly goal?: Goal;
  /** Who the peer is: "raw-uws". Absent where there is none: `peer` is the goal itself, in `unit`. */
  readonly against?: string;
  /** Lowest and highest over the rounds: of the ratio, or of our figure where there is no peer. */
  readonly spread?: Spread;
  /** Further figures: percentiles, sizes. */
  readonly notes?: readonly string[];
}

export interface Spread {
  readonly lowest: number;
  readonly highest: number;
  readonly rounds: number;
}

/** A row that cannot be measured on this machine, and why. */
export interface Skipped {
  readonly what: string;
  readonly skipped: string;
}

/** A row that was measured and came to no figure, and why: its goal is not met. */
export interface Failed {
  readonly what: string;
  readonly failed: string;
}

export type Row = Comparison | Skipped | Failed;

export interface BenchCase {
  /** As in `node dist/bench/run.js NAME`. */
  readonly name: string;
  readonly summary: string;
  /** For the page: sentences on what runs where, how long, how often, and what is counted. */
  readonly method?: string;
  /** @throws Error when something answered wrongly: a wrong answer is not a fast one. */
  run(): Promise<readonly Row[]>;
}

/** Whether the row is acceptable: a row that could not be measured here is no missed goal, one that failed is. */
export function isMet(row: Row): boolean {
  if ("skipped" in row) return true;
  if ("failed" in row) return false;
  const { ratio, goal } = row;
  if (goal === undefined) return true;
  return "atLeast" in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
}

/** The same of both sides. */
export interface Sides<T> {
  readonly ours: T;
  readonly peer: T;
}

/** Figures of both sides, one of each a round. */
export type Rounds = Sides<readonly number[]>;

/** Measures both sides once a round; who goes first alternates, so that a machine that becomes slower favours neither. */
export async function inTurn<T>(rounds: number, measure: Sides<(round: number) => Promise<T>>): Promise<Sides<readonly T[]>> {
  const results: Sides<T[]> = { ours: [], peer: [] };
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const)) results[side].push(await measure[side](round));
  }
  return results;
}

/** A row of alternating rounds against a named peer. */
export function versus(what: string, against: string, unit: string, { ours, peer }: Rounds, goal: Goal | null, notes: readonly string[] = []): Comparison {
  const ratios = ours.map((figure, round) => figure / (peer[round] ?? Number.NaN));
  return { what, against, unit, ours: median(ours), peer: median(peer), ratio: median(ratios), spread: spreadOf(ratios), notes, ...(goal === null ? {} : { goal }) };
}

/** A row with an absolute goal that the figure has to reach; of several rounds the median. */
export function atLeast(what: string, figures: number | readonly number[], goal: number, unit: string, notes: readonly string[] = []): Comparison {
  return absolute(what, figures, goal, unit, { atLeast: 1 }, notes);
}

/** A row with an absolute goal that the figure may not pass; of several rounds the median. */
export function atMost(what: string, figures: number | readonly number[], goal: number, unit: string, notes: readonly string[] = []): Comparison {
  return absolute(what, figures, goal, unit, { atMost: 1 }, notes);
}

function absolute(what: string, figures: number | readonly number[], peer: number, unit: string, goal: Goal, notes: readonly string[]): Comparison {
  const all = typeof figures === "number" ? [figures] : figures;
  const ours = median(all);
  // A goal of nothing at all, such as no errors, is met by nothing at all.
  const ratio = peer === 0 ? (ours === 0 ? 1 : Number.POSITIVE_INFINITY) : ours / peer;
  return { what, unit, ours, peer, ratio, goal, notes, ...(all.length > 1 ? { spread: spreadOf(all) } : {}) };
}

function spreadOf(values: readonly number[]): Spread {
  return { lowest: Math.min(...values), highest: Math.max(...values), rounds: values.length };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
