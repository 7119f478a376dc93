/** The list of runs: newest first, each once, also while runs come and change under the reader. */
import type { Filters, Sort } from "./route.js";
import type { Run } from "./types.js";

/** Whether a run passes the filters, by the rules of the service. */
export function passes(run: Run, filters: Filters, nowMs: number): boolean {
  if (filters.status !== "all" && run.status !== filters.status) return false;
  if (filters.session !== "" && run.session_id !== filters.session) return false;
  if (filters.name !== "" && run.name !== filters.name) return false;
  if (filters.user !== "" && run.user_id !== filters.user) return false;
  if (filters.model !== "" && !run.models.includes(filters.model)) return false;
  if (filters.tool !== "" && !run.tools.includes(filters.tool)) return false;
  if (filters.server !== "" && !run.servers.includes(filters.server)) return false;
  if (filters.minutes > 0 && Date.parse(run.started_at) < nowMs - filters.minutes * 60_000) return false;
  const tag = filters.tag.toLowerCase();
  if (tag !== "" && !run.tags.some((candidate) => candidate.toLowerCase().includes(tag))) return false;
  const q = filters.q.toLowerCase();
  if (q === "" || filters.inSteps) return true;
  return [run.run_id, run.name, run.preview, run.answer, run.error_message, run.session_id, run.user_id, ...run.tags].some((text) => text !== null && text.toLowerCase().includes(q));
}

/** Newest first; the id decides between equal starts, as in the service. */
export function compareRuns(a: Run, b: Run): number {
  const byStart = Date.parse(b.started_at) - Date.parse(a.started_at) || order(b.started_at, a.started_at);
  return byStart || order(b.run_id, a.run_id);
}

/** How large a run is: its calls, which people count; its events where an earlier release counted these alone. */
export function sizeOf({ call_count: calls, total_steps: events }: Pick<Run, "call_count" | "total_steps">): { readonly count: number; readonly unit: "call" | "calls" | "events" } {
  return calls === null ? { count: events, unit: "events" } : { count: calls, unit: calls === 1 ? "call" : "calls" };
}

const MEASURES: { readonly [sort in Exclude<Sort, "started">]: (run: Run) => number } = {
  duration: (run) => run.duration_ms ?? -1,
  tokens: (run) => run.total_tokens_input + run.total_tokens_output,
  cost: (run) => run.cost_usd ?? -1,
  errors: (run) => run.errors,
  calls: (run) => sizeOf(run).count,
};

/** The order of the service: largest first, then newest first. */
export function orderOf(sort: Sort): (a: Run, b: Run) => number {
  if (sort === "started") return compareRuns;
  const measure = MEASURES[sort];
  return (a, b) => measure(b) - measure(a) || compareRuns(a, b);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export interface RunList {
  readonly runs: readonly Run[];
  /** Runs that pass the filters, also those not loaded. */
  readonly total: number;
}

/** Appends the next page, leaving out what a live update brought before. */
export function appendPage(list: RunList, page: readonly Run[], total: number): RunList {
  const known = new Set(list.runs.map((run) => run.run_id));
  return { runs: [...list.runs, ...page.filter((run) => !known.has(run.run_id))], total };
}

/**
 * Takes changed runs in. A run that no longer passes the filters leaves; one beyond the last loaded run waits for its
 * page, unless `complete` says that there is none.
 */
export function mergeRuns(list: RunList, changed: readonly Run[], filters: Filters, complete: boolean, nowMs: number): RunList {
  const byId = new Map(list.runs.map((run) => [run.run_id, run]));
  let { total } = list;
  const last = list.runs.at(-1);
  for (const run of changed) {
    if (run.run_id !== run.root_run_id) continue;
    const known = byId.get(run.run_id);
    if (!passes(run, filters, nowMs)) {
      if (known !== undefined) {
        byId.delete(run.run_id);
        total -= 1;
      }
      continue;
    }
    // Updates may overtake each other: what has more steps, or has ended, is newer.
    if (known !== undefined && isOlder(run, known)) continue;
    if (known === undefined) {
      if (!complete && last !== undefined && orderOf(filters.sort)(run, last) > 0) continue;
      total += 1;
    }
    byId.set(run.run_id, run);
  }
  const runs = [...byId.values()];
  const compare = orderOf(filters.sort);
  return { runs: isSorted(runs, compare) ? runs : runs.sort(compare), total: Math.max(total, runs.length) };
}

function isOlder(run: Run, known: Run): boolean {
  return run.last_seq < known.last_seq || (run.last_seq === known.last_seq && run.status === "running" && known.status !== "running");
}

function isSorted(runs: readonly Run[], compare: (a: Run, b: Run) => number): boolean {
  return runs.every((run, index) => index === 0 || compare(runs[index - 1] ?? run, run) <= 0);
}

/** What the run was asked, as the service found it in the payloads. */
export function previewOf(run: Run): string {
  return (run.preview ?? "").trim();
}

/** A line without the marks of markdown around words: a list shows text alone. */
export function withoutMarks(line: string): string {
  return line.replace(/(\*\*|`)(\S(?:[^*_`]*\S)?)\1/g, "$2");
}

/** The text that tells a run from its neighbours. */
export function titleOf(run: Run): string {
  return run.name !== null && run.name.trim() !== "" ? run.name : run.run_id;
}
