/** Thread that records, writes and listens. News go out in the order of the commits, answers after the news of their commit. */
import { parentPort, workerData } from "node:worker_threads";
import { decodeBatch } from "../../ingest/batch.js";
import { answerCalls } from "../../../base/thread.js";
import { loadDriver } from "./driver.js";
import { openSchema } from "./schema.js";
import { PostgresWriter, type PostgresWriterOptions } from "./writer.js";

export type WriterThreadData = Omit<PostgresWriterOptions, "driver" | "onNews" | "log" | "now"> & { readonly partitionSteps: number };

if (parentPort === null) throw new Error("writer-thread.js runs in a thread");
const port = parentPort;
const tell = (notice: string) => (value: unknown): void => port.postMessage({ notice, value });
const { partitionSteps, ...options } = workerData as WriterThreadData;
let opened: PostgresWriter | null = null;

function writer(): PostgresWriter {
  if (opened === null) throw new Error("the store is not open");
  return opened;
}

answerCalls(port, {
  async open(): Promise<void> {
    const driver = await loadDriver(options);
    await openSchema(driver, options, partitionSteps);
    opened = new PostgresWriter({ ...options, driver, now: () => Date.now(), onNews: tell("news"), log: tell("warn") });
    await opened.open();
  },
  write: (data: Uint8Array) => writer().write(decodeBatch(data)),
  watch: (rootId: string, extended: boolean) => writer().watch(rootId, extended),
  unwatch: (rootId: string, extended: boolean) => writer().unwatch(rootId, extended),
  listen: (interest: Parameters<PostgresWriter["listen"]>[0]) => writer().listen(interest),
  takeChanged: () => writer().takeChanged(),
  deleteRun: (runId: string) => writer().deleteRun(runId),
  registerTools: (server: string, tools: readonly string[]) => writer().registerTools(server, tools),
  sweep: (settleBeforeMs: number, staleBeforeMs: number) => writer().sweep(settleBeforeMs, staleBeforeMs),
  retain: (limits: Parameters<PostgresWriter["retain"]>[0]) => writer().retain(limits),
  restore: (runId: string, facts: Parameters<PostgresWriter["restore"]>[1]) => writer().restore(runId, facts),
  dropEmpty: () => writer().dropEmpty(),
  erase: (limit: number, all: boolean) => writer().erase(limit, all),
  trimLog: () => writer().trimLog(),
  close: async () => opened?.close(),
});
