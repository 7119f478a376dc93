/** Thread of the reads: answers are turned into JSON text here, so that the event loop only passes them on. */
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../../../base/thread.js";
import type { Layout } from "./schema.js";
import { readMethods } from "./local-reader.js";
import { SqliteReader } from "./reader.js";

if (parentPort === null) throw new Error("reader-thread.js runs in a thread");
const port = parentPort;
const reader = new SqliteReader((workerData as { layout: Layout }).layout, (message) => port.postMessage({ notice: "log", value: message }));

answerCalls(port, { ...readMethods(reader), open: () => null, close: () => reader.close() });
