/** The thread that makes spans of calls and exports them. It ends with its last message. */
import { parentPort, workerData } from "node:worker_threads";
import { PackageError } from "../../base/optional-package.js";
import type { LogFields } from "../log.js";
import type { FromThread, ThreadStart, ToThread } from "./thread.js";
import { unpackCalls } from "./packed.js";
import { SpanPipeline } from "./pipeline.js";

const port = parentPort;
if (port === null) throw new TypeError("this is the code of a thread");
const say = (message: FromThread): void => port.postMessage(message);
const logger = (level: "info" | "warn" | "error") => (message: string, fields: LogFields = {}): void => say({ kind: "log", level, message, fields });

const pipeline = new SpanPipeline({
  ...(workerData as ThreadStart), kind: "otlp", write: () => undefined, now: () => performance.now(),
  log: { info: logger("info"), warn: logger("warn"), error: logger("error") },
  // The other side knows the credentials.
  scrub: (text) => text,
});

port.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "subject": pipeline.subject(message.subject); break;
    case "calls":
      for (const trace of unpackCalls(message.calls)) pipeline.add(trace);
      say({ kind: "taken", count: message.calls.count });
      break;
    case "close":
      void pipeline.close().then(() => {
        say({ kind: "closed", dropped: pipeline.dropped });
        port.close();
      });
      break;
    default: message satisfies never;
  }
});

pipeline.start().then(
  () => say({ kind: "ready" }),
  (error: unknown) => say({ kind: "failed", package_: error instanceof PackageError ? error.package_ : "", isMissing: error instanceof PackageError && error.isMissing, message: error instanceof Error ? error.message : String(error) }),
);
