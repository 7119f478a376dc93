/** Thread of the indexer: works while there is something to do, a piece at a time, after everybody else. */
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../thread.js";
import type { Layout } from "./schema.js";
import { Indexer } from "./indexer.js";

const IDLE_MS = 250;
const LOG_MS = 500;

if (parentPort === null) throw new Error("indexer-thread.js runs in a thread");
const port = parentPort;
const tell = (notice: string) => (value?: unknown): void => port.postMessage({ notice, value });
try {
  // On Linux this is the priority of the calling thread alone.
  if (process.platform === "linux") setPriority(10);
} catch {
  // Not permitted: it only means that everybody else waits a little longer.
}
const indexer = new Indexer((workerData as { layout: Layout }).layout, { merged: tell("merged"), unindexed: tell("unindexed"), copied: tell("copied") });

let timer: NodeJS.Timeout | undefined;
let immediate: NodeJS.Immediate | undefined;
let copiedAt = 0;

function work(idle: boolean): void {
  clearTimeout(timer);
  clearImmediate(immediate);
  try {
    if (performance.now() - copiedAt > LOG_MS) {
      indexer.copyLogs();
      copiedAt = performance.now();
    }
    if (indexer.step(idle)) immediate = setImmediate(work, false);
    else timer = setTimeout(work, IDLE_MS, true);
  } catch (error) {
    // A full disk, as a rule: search falls behind and catches up when there is room.
    tell("failed")(error instanceof Error ? error.message : String(error));
    timer = setTimeout(work, 1000, false);
  }
}

answerCalls(port, {
  open: () => work(false),
  wake: () => work(false),
  /** Does everything there is to do now. */
  finish: () => {
    while (indexer.step(true));
  },
  /** Takes all deleted runs out. */
  unindex: () => {
    while (indexer.unindex());
  },
  close: () => {
    clearTimeout(timer);
    clearImmediate(immediate);
    indexer.close();
  },
});
