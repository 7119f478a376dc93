/**
 * Thread of the indexer: works while there is something to do, a piece at a time. While batches come in full, only ids
 * are kept up, because they wait in memory; the full text follows when there is time.
 */
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../thread.js";
import type { Layout } from "./schema.js";
import { Indexer } from "./indexer.js";

const IDLE_MS = 250;
const LOG_MS = 500;
/** So long after a full batch the next one is expected. */
const CALM_MS = 100;

if (parentPort === null) throw new Error("indexer-thread.js runs in a thread");
const port = parentPort;
const tell = (notice: string) => (value?: unknown): void => port.postMessage({ notice, value });
const { layout, pressure } = workerData as { layout: Layout; pressure: SharedArrayBuffer };
/** When the last full batch was written, by this process's clock. */
const fullBatchAt = new Float64Array(pressure);
const indexer = new Indexer(layout, { merged: tell("merged"), unindexed: tell("unindexed"), copied: tell("copied") });

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
    const calm = Date.now() - (fullBatchAt[0] ?? 0) > CALM_MS;
    if (indexer.step(idle && calm, calm)) immediate = setImmediate(work, false);
    else timer = setTimeout(work, calm ? IDLE_MS : CALM_MS, calm);
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
