/** Thread that reads and keeps the full text, so that neither answers nor words take time from the sockets. */
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls, type Methods } from "../../../base/thread.js";
import { type DatabaseOptions, loadDriver, storeError } from "./driver.js";
import { PostgresIndexer } from "./indexer.js";
import { PostgresReader } from "./reader.js";

if (parentPort === null) throw new Error("reader-thread.js runs in a thread");
const port = parentPort;
const { connections, ...database } = workerData as DatabaseOptions & { readonly connections: number };
const driver = await loadDriver(database);
const pool = driver.pool("toolsrv trace reader", connections);
const reader = new PostgresReader(pool, (value) => port.postMessage({ notice: "warn", value }));
const indexer = new PostgresIndexer(driver);
let indexing: Promise<void> = Promise.resolve();

type ReadName = "runs" | "run" | "target" | "steps" | "payload" | "stats" | "topology" | "changed" | "tools" | "search" | "compare" | "overview" | "sessions" | "runIds" | "runList";
const READS: readonly ReadName[] = ["runs", "run", "target", "steps", "payload", "stats", "topology", "changed", "tools", "search", "compare", "overview", "sessions", "runIds", "runList"];

const reads: Methods = Object.fromEntries(
  READS.map((name) => {
    const method = reader[name].bind(reader) as (...args: readonly unknown[]) => Promise<unknown>;
    return [name, (...args: readonly unknown[]) => method(...args).catch((error: unknown) => Promise.reject(storeError(error)))];
  }),
);

answerCalls(port, {
  ...reads,
  open: () => undefined,
  /** Reads every step into the full text that is there now. */
  index: () => {
    indexing = indexing.catch(() => undefined).then(async () => {
      while (await indexer.step());
    });
    return indexing;
  },
  async close(): Promise<void> {
    await indexing.catch(() => undefined);
    await indexer.close();
    await pool.end();
  },
});
