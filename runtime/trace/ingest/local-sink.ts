/**
 * Where events of the service's own process go: through the same checks and redaction as those from outside, into the
 * same bounded queue. Texts that may hold a secret are read in the intake's thread, because detectors may need half a
 * second for 100 KB of what looks like keys; the event loop only looks for such texts.
 */
import type { HandlerContext } from "../handlers/context.js";
import { isProblem } from "./body.js";
import { readEvent } from "./event.js";
import type { TraceEvent, TraceSink } from "../../tracer/sink.js";

/** Bytes that an event takes beside its payload and texts, about. */
const EVENT_BYTES = 600;

/** Bytes of events that may wait for the thread; more are dropped. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

type LocalContext = Pick<HandlerContext, "queue" | "reading" | "redactor" | "store" | "intake">;

export interface LocalSink extends TraceSink {
  /** Resolves when every event emitted so far is in the queue, or lost. Never rejects. */
  settled(): Promise<void>;
}

/** Never blocks: what finds the queue full is dropped and counted by the queue. `onError` gets what should not happen. */
export function createLocalSink(context: LocalContext, onError: (error: unknown) => void): LocalSink {
  const { queue, reading, redactor, store, intake } = context;
  let dropped = 0;
  let waitingBytes = 0;
  let work: Promise<unknown> = Promise.resolve();
  const reads = new Set<Promise<void>>();

  const readHere = (event: TraceEvent): void => {
    const read = readEvent(event, reading);
    if (typeof read === "string") throw new TypeError(`an event of this process can't be read: ${read}`);
    const bytes = EVENT_BYTES + 2 * ((read.payload?.length ?? 0) + read.summary.length);
    if (queue.offer([read], bytes) !== null) dropped += 1;
  };

  const readInThread = async (event: TraceEvent): Promise<void> => {
    const bytes = new TextEncoder().encode(JSON.stringify([event]));
    const size = bytes.byteLength;
    if (waitingBytes + size > MAX_WAITING_BYTES) {
      dropped += 1;
      return;
    }
    waitingBytes += size;
    try {
      const read = await intake.events({ bytes, encoding: "", type: "application/json", atMs: reading.nowUs() / 1000 });
      const problem = isProblem(read) ? read.message : read.rejected[0]?.error;
      if (problem !== undefined) throw new TypeError(`an event of this process can't be read: ${problem}`);
      if (!isProblem(read) && queue.take(read.batches) !== null) dropped += 1;
    } finally {
      waitingBytes -= size;
    }
  };

  const readLater = (event: TraceEvent): void => {
    const read: Promise<void> = readInThread(event).catch(onError).finally(() => reads.delete(read));
    reads.add(read);
  };

  const settled = async (): Promise<void> => {
    while (reads.size > 0) await Promise.all(reads);
  };

  return {
    settled,
    emit(event) {
      try {
        // Events behind one in the thread go through it too: a run must not end before what happened in it.
        if (reads.size > 0 || redactor?.concerns(textsOf(event)) === true) readLater(event);
        else readHere(event);
      } catch (error) {
        onError(error);
      }
    },
    registerTools(server, tools) {
      work = work.then(() => store.registerTools(server, tools)).catch(onError);
    },
    async flush() {
      await work;
      await settled();
      await queue.flushed(0);
    },
    get dropped() {
      return dropped;
    },
  };
}

/** Everything textual of an event. Texts as they are: escapes of JSON would make each of them suspicious. */
function textsOf(event: TraceEvent): string {
  let texts = "";
  for (const name in event) {
    const value = event[name];
    if (typeof value === "string") texts += `${value}\n`;
    else if (typeof value === "object" && value !== null) texts += `${JSON.stringify(value)}\n`;
  }
  return texts;
}
