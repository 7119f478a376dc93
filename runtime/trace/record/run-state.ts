/** A run as the recorder holds it: the stored row, and the calls while it is being worked on. */
import { COMPLETED, FAILED, RUNNING } from "../model.js";
import type { RunCalls } from "./calls.js";

/** The stored row of a run. Times in microseconds. */
export interface RunRow {
  /** Number of the run in its store; steps refer to it. */
  readonly key: number;
  readonly runId: string;
  status: number;
  startedAt: number;
  completedAt: number | null;
  tags: readonly string[];
  steps: number;
  /** Calls with a step of their own: a start and its end count once. `null` in rows of earlier releases. */
  callCount: number | null;
  tokensIn: number;
  tokensOut: number;
  /** Failed calls below which nothing failed. */
  errors: number;
  graph: string | null;
  error: string | null;
  name: string | null;
  session: string | null;
  user: string | null;
  models: readonly string[];
  /** Tools that it called, and the MCP servers of those, in order of first use; none in rows of earlier releases. */
  tools: readonly string[];
  servers: readonly string[];
  /** Billionths of a dollar. */
  costNano: number;
  /** Steps with tokens whose model has no price. */
  unpriced: number;
  /** What the run was asked, and what it answered last. */
  preview: string | null;
  answer: string | null;
  /** The root's own start has been seen; until then started_at is the earliest step. */
  rooted: boolean;
  /** Ended because nothing was open any more; its real end may still come. */
  settled: boolean;
  throttled: boolean;
  lastSeq: number;
  /** When the last event was stored, milliseconds by the service's clock. */
  touchedMs: number;
}

/** What an export has of a run that its steps do not show. */
export type RunFacts = Partial<Pick<RunRow, "status" | "startedAt" | "completedAt" | "tags" | "error" | "graph" | "name" | "session" | "user" | "preview" | "answer">>;

export interface RunState extends RunRow {
  key: number;
  calls: RunCalls;
  /** The run that this one turned out to be part of. */
  mergedInto: RunState | null;
}

export function newRun(key: number, runId: string, at: number, calls: RunCalls): RunState {
  return {
    key, runId, status: RUNNING, startedAt: at, completedAt: null, tags: [], steps: 0, callCount: 0, tokensIn: 0, tokensOut: 0, errors: 0,
    graph: null, error: null, name: null, session: null, user: null, models: [], tools: [], servers: [], costNano: 0, unpriced: 0, preview: null, answer: null,
    rooted: false, settled: false, throttled: false, lastSeq: 0, touchedMs: 0, calls, mergedInto: null,
  };
}

/** Ends a run unless it has ended; the first end counts, but a real one replaces a settled one. Returns whether it did. */
export function endRun(run: RunRow, failed: boolean, at: number, error: string | null, settled = false): boolean {
  if (run.status !== RUNNING && !(run.settled && !settled)) return false;
  run.status = failed ? FAILED : COMPLETED;
  run.completedAt = at;
  run.error = failed ? error : null;
  run.settled = settled;
  return true;
}
