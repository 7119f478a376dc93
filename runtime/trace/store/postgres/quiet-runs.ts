/** Runs that nobody works on any more: settled ones, and those without an end that got no events for long. */
import { RUNNING } from "../../model.js";
import type { Recorder } from "../../record/recorder.js";
import { endRun, type RunState } from "../../record/run-state.js";
import type { Client } from "./driver.js";
import { lastAt, quietRuns, topFailure } from "./run-table.js";
import type { FetchedSource } from "./source.js";

/** Runs of one round. */
const QUIET = 200;

/** Runs without events since then are looked at, in milliseconds since the epoch. */
export interface QuietLimits {
  readonly settleBeforeMs: number;
  readonly staleBeforeMs: number;
}

/** Whether there may be runs to end. */
export async function hasQuiet(client: Client, { settleBeforeMs, staleBeforeMs }: QuietLimits): Promise<boolean> {
  return (await quietRuns(client, Math.max(settleBeforeMs, staleBeforeMs), 1)).length > 0;
}

/** Ends runs in memory, up to 200. Returns those that ended. */
export async function endQuietRuns(client: Client, source: FetchedSource, recorder: Recorder, limits: QuietLimits): Promise<Set<RunState>> {
  const ids = await quietRuns(client, Math.max(limits.settleBeforeMs, limits.staleBeforeMs), QUIET);
  await source.fetchRuns(client, recorder, ids);
  const ended = new Set<RunState>();
  for (const id of ids) {
    const run = recorder.state(id);
    if (run !== null && run.status === RUNNING && (await endQuiet(client, run, limits))) ended.add(run);
  }
  return ended;
}

async function endQuiet(client: Client, run: RunState, { settleBeforeMs, staleBeforeMs }: QuietLimits): Promise<boolean> {
  const endedAt = (await lastAt(client, run.key)) ?? run.startedAt;
  if (run.touchedMs < settleBeforeMs && !run.rooted && run.calls.openCount === 0) {
    const failure = await topFailure(client, run);
    return endRun(run, failure !== null, endedAt, failure, true);
  }
  return run.touchedMs < staleBeforeMs && endRun(run, true, endedAt, "interrupted");
}
