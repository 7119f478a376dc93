/** The stdout sink: one line for each record. A reader that is slow or gone costs records, never calls. */
import type { AuditEvent } from "./event.js";
import { linesOf, type AuditSink } from "./sink.js";

/** A stream that says when a text was written. */
export interface AuditStream {
  write(text: string, done: (error?: Error | null) => void): unknown;
}

export function streamSink(stream: AuditStream): AuditSink {
  return {
    name: "stdout",
    prepare: () => Promise.resolve(),
    deliver: (events: readonly AuditEvent[]) => new Promise<number>((resolve, reject) => {
      stream.write(linesOf(events), (error) => (error === undefined || error === null ? resolve(0) : reject(error)));
    }),
    close: () => Promise.resolve(),
  };
}
