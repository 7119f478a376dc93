/** Thread of the recorder: nothing else is done here, so that a batch never waits for a reader or a socket. */
import { parentPort, workerData } from "node:worker_threads";
import { decodeBatch } from "../../ingest/batch.js";
import { answerCalls } from "../thread.js";
import { SqliteWriter, type WriterOptions } from "./writer.js";

if (parentPort === null) throw new Error("writer-thread.js runs in a thread");
const { pressure, fullBatch, ...options } = workerData as Omit<WriterOptions, "now"> & { readonly pressure: SharedArrayBuffer; readonly fullBatch: number };
const writer = new SqliteWriter({ ...options, now: () => Date.now() });
const fullBatchAt = new Float64Array(pressure);

answerCalls(parentPort, {
  open: () => writer.lastSeq,
  write(data: Uint8Array) {
    const batch = decodeBatch(data);
    if (batch.length >= fullBatch) fullBatchAt[0] = Date.now();
    return writer.write(batch);
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
