/** What differs between two runs, and whether it makes sense to compare them. */
import type { Comparison } from "./types.js";

export interface Delta {
  readonly term: string;
  readonly unit: "ms" | "count" | "usd";
  readonly a: number | null;
  readonly b: number | null;
}

export function deltasOf({ a, b }: Comparison): readonly Delta[] {
  return [
    { term: "Duration", unit: "ms", a: a.duration_ms, b: b.duration_ms },
    { term: "Calls", unit: "count", a: a.call_count, b: b.call_count },
    { term: "Errors", unit: "count", a: a.errors, b: b.errors },
    { term: "Tokens in", unit: "count", a: a.total_tokens_input, b: b.total_tokens_input },
    { term: "Tokens out", unit: "count", a: a.total_tokens_output, b: b.total_tokens_output },
    { term: "Cost", unit: "usd", a: a.cost_usd, b: b.cost_usd },
  ];
}

/** Nodes that only one of the runs called, with the number of calls. */
export function onlyIn(comparison: Comparison, side: "a" | "b"): readonly (readonly [string, number])[] {
  const other = side === "a" ? "b" : "a";
  const theirs = new Set(comparison.rows.flatMap((row) => row[other]?.node ?? []));
  const counts = new Map<string, number>();
  for (const row of comparison.rows) {
    const node = row[side]?.node;
    if (node !== undefined && node !== null && !theirs.has(node)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return [...counts].sort((x, y) => y[1] - x[1]);
}

/** Fewer aligned calls than this part of both runs say that they did different things. */
const ALIKE = 0.3;

/** Why the runs should not be compared; `null` when they may be. */
export function mismatchOf(comparison: Comparison): string | null {
  const { a, b, rows } = comparison;
  if (a.run_id === b.run_id) return "Both are the same run.";
  if (a.name !== b.name) return `The runs have different names (${a.name ?? "none"} and ${b.name ?? "none"}): differences may mean nothing.`;
  if (a.status === "running" || b.status === "running") return "A run that is still running is compared as far as it has come.";
  const aligned = rows.filter((row) => row.a !== null && row.b !== null).length;
  if (rows.length > 4 && aligned / rows.length < ALIKE) return "The runs have few calls in common: differences may mean nothing.";
  return comparison.truncated ? "Only the first 2,000 calls of each run are compared." : null;
}
