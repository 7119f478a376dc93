/** Where events of the service's own process go: through the same checks and redaction as those from outside, into the same bounded queue. */
import type { HandlerContext } from "../handlers/context.js";
import { readEvent } from "./event.js";
import type { TraceEvent, TraceSink } from "../../tracer/sink.js";

/** Bytes that an event takes beside its payload and texts, about. */
const EVENT_BYTES = 600;

type LocalContext = Pick<HandlerContext, "queue" | "reading" | "redactor" | "store">;

/** Never blocks: what finds the queue full is dropped and counted by the queue. `onError` gets what should not happen. */
export function createLocalSink(context: LocalContext, onError: (error: unknown) => void): TraceSink {
  const { queue, reading, redactor, store } = context;
  let dropped = 0;
  let work: Promise<unknown> = Promise.resolve();
  return {
    emit(event) {
      try {
        const read = readEvent(event, reading, redactor?.concerns(textsOf(event)) === true ? redactor : null);
        if (typeof read === "string") throw new TypeError(`an event of this process can't be read: ${read}`);
        const bytes = EVENT_BYTES + 2 * ((read.payload?.length ?? 0) + read.summary.length);
        if (queue.offer([read], bytes) !== null) dropped += 1;
      } catch (error) {
        onError(error);
      }
    },
    registerTools(server, tools) {
      work = work.then(() => store.registerTools(server, tools)).catch(onError);
    },
    async flush() {
      await work;
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
