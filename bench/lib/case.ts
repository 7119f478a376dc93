/**
 * Benchmarks: each case measures us and a peer in the same run, alternating, and reports the ratio. Absolute numbers
 * belong to the machine line that is printed with them; only ratios are compared with the goals.
 */

/** One comparison of a case. */
export interface Comparison {
  readonly what: string;
  /** Ours and the peer's figure, in `unit`. */
  readonly ours: number;
  readonly peer: number;
  readonly unit: string;
  /** ours ÷ peer: the median over the rounds, not the ratio of the two figures. */
  readonly ratio: number;
  readonly goal: { readonly atLeast: number } | { readonly atMost: number };
  /** Anything else worth a line: percentiles, sizes. */
  readonly notes?: readonly string[];
}

export interface BenchCase {
  /** As in `node dist/bench/run.js NAME`. */
  readonly name: string;
  readonly summary: string;
  run(): Promise<readonly Comparison[]>;
}

export function isMet({ ratio, goal }: Comparison): boolean {
  return "atLeast" in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
