/** A thread that ends when it is called, as one without memory does. */
import { parentPort } from "node:worker_threads";

parentPort?.on("message", () => process.exit(1));
