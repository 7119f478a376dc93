/**
 * Thread of the indexer: works while there is something to do, a piece at a time. While the recorder is busy, only
 * ids are kept up, because they wait in memory; the full text follows when there is time. Where the system has
 * priorities of threads, this one has a lower one.
 */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../../../base/thread.js";
import type { Layout } from "./schema.js";
import { Indexer } from "./indexer.js";

const IDLE_MS = 250;
const LOG_MS = 500;
/** After a failure it is tried again so much later, and twice as much after each further one. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** So long after the recorder was busy it is taken to be so still. */
const CALM_MS = 100;

if (parentPort === null) throw new Error("indexer-thread.js runs in a thread");
const port = parentPort;
const tell = (notice: string) => (value?: unknown): void => port.postMessage({ notice, value });
const { layout, pressure } = workerData as { layout: Layout; pressure: SharedArrayBuffer };
/** When the recorder was busy last, by this process's clock. */
const busyAt = new Float64Array(pressure);
const indexer = new Indexer(layout, { merged: tell("merged"), unindexed: tell("unindexed"), copied: tell("copied") });

/** A third of the processor's time where all of it is wanted: ids must be kept up. */
const NICE = 5;
try {
  // Linux alone tells a thread its number, and takes it for that of a process.
  setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), NICE);
} catch {
  // Another system: all threads are alike.
}

let timer: NodeJS.Timeout | undefined;
let immediate: NodeJS.Immediate | undefined;
let copiedAt = 0;
let retryMs = RETRY_MS;
let reportedShort = false;

/** Tells once that search falls behind because there is no room. */
function tellShort(): void {
  if (indexer.short && !reportedShort) tell("failed")("the room on the disk is left to new events");
  reportedShort = indexer.short;
}

function work(idle: boolean): void {
  clearTimeout(timer);
  clearImmediate(immediate);
  try {
    if (performance.now() - copiedAt > LOG_MS) {
      indexer.copyLogs();
      copiedAt = performance.now();
    }
    const calm = Date.now() - (busyAt[0] ?? 0) > CALM_MS;
    const worked = indexer.step(idle && calm, calm);
    retryMs = RETRY_MS;
    tellShort();
    if (worked) immediate = setImmediate(work, false);
    else timer = setTimeout(work, calm ? IDLE_MS : CALM_MS, calm);
  } catch (error) {
    // A full disk, as a rule: search falls behind and catches up when there is room.
    tell("failed")(error instanceof Error ? error.message : String(error));
    timer = setTimeout(work, retryMs, false);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }
}

answerCalls(port, {
  open: () => work(false),
  wake: () => {
    indexer.retell();
    work(false);
  },
  /** Does everything there is to do now. */
  finish: () => {
    while (indexer.step(true));
  },
  /** Takes all deleted runs out. */
  unindex: () => indexer.unindex(),
  close: () => {
    clearTimeout(timer);
    clearImmediate(immediate);
    indexer.close();
  },
});
