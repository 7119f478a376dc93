/** Thread of the recorder: nothing else is done here, so that a batch never waits for a reader or a socket. */
import { parentPort, workerData } from "node:worker_threads";
import { decodeBatch } from "../../ingest/batch.js";
import { answerCalls } from "../../../base/thread.js";
import { SqliteWriter, type WriterOptions } from "./writer.js";

if (parentPort === null) throw new Error("writer-thread.js runs in a thread");
const { pressure, ...options } = workerData as Omit<WriterOptions, "now"> & { readonly pressure: SharedArrayBuffer };
const writer = new SqliteWriter({ ...options, now: () => Date.now() });
const busyAt = new Float64Array(pressure);

/** Time over which the share of time spent writing is taken. */
const WINDOW_MS = 200;
/** A larger share means that the full text, which takes four times the work of the recorder, would be in the way. */
const BUSY_SHARE = 0.1;
let share = 0;
let endedAt = performance.now();

function note(startedAt: number): void {
  const now = performance.now();
  const period = Math.max(now - endedAt, 0.001);
  const weight = Math.exp(-period / WINDOW_MS);
  share = share * weight + ((now - startedAt) / period) * (1 - weight);
  endedAt = now;
  if (share > BUSY_SHARE) busyAt[0] = Date.now();
}

answerCalls(parentPort, {
  open: () => writer.lastSeq,
  write(data: Uint8Array) {
    const started = performance.now();
    const outcome = writer.write(decodeBatch(data));
    note(started);
    return outcome;
  },
  watch: (rootId: string, extended: boolean) => writer.watch(rootId, extended),
  unwatch: (rootId: string, extended: boolean) => writer.unwatch(rootId, extended),
  listen: (interest: Parameters<SqliteWriter["listen"]>[0]) => writer.listen(interest),
  takeChanged: () => writer.takeChanged(),
  deleteRun: (runId: string) => writer.deleteRun(runId),
  registerTools: (server: string, tools: readonly string[]) => writer.registerTools(server, tools),
  sweep: (settleBeforeMs: number, staleBeforeMs: number) => writer.sweep(settleBeforeMs, staleBeforeMs),
  retain: (limits: Parameters<SqliteWriter["retain"]>[0]) => writer.retain(limits),
  merged: (seq: number) => writer.merged(seq),
  unindexed: (root: number) => writer.unindexed(root),
  doomed: () => writer.doomed(),
  erase: (limit: number) => writer.erase(limit),
  restartLogs: () => writer.restartLogs(),
  close: () => writer.close(),
});
