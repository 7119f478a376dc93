/** The intake from outside its thread. */
import { Thread, threadEntry } from "../../base/thread.js";
import type { BodyProblem } from "./body.js";
import type { EventsRead, IntakeOptions, RawBody, SpansRead } from "./intake.js";
import type { Registration } from "./registration.js";

/** Reads bodies in another thread; the bytes of a body are given away. */
export interface IntakeClient {
  events(body: RawBody): Promise<EventsRead | BodyProblem>;
  spans(body: RawBody, protobuf: boolean): Promise<SpansRead | BodyProblem>;
  registration(body: RawBody): Promise<Registration | BodyProblem>;
  close(): Promise<void>;
}

/** What the largest body may become for a moment; bodies that would become more are refused. A larger bound makes every heap larger. */
const HEAP_MB = 1024;
/** All objects of one request live until its batch is sealed: with less, each collection copies most of them. */
const YOUNG_MB = 16;

export async function openIntake(options: IntakeOptions & { readonly onDeath: (error: Error) => void }): Promise<IntakeClient> {
  const { onDeath, ...data } = options;
  const thread = new Thread(threadEntry("./intake-thread", import.meta.url), { data, onDeath, heapMb: HEAP_MB, youngMb: YOUNG_MB });
  await thread.call("open");
  const read = <T>(method: string) => ({ bytes, ...rest }: RawBody, ...more: readonly unknown[]): Promise<T> => thread.give(method, bytes, rest, ...more) as Promise<T>;
  return { events: read("events"), spans: read("spans"), registration: read("registration"), close: () => thread.close() };
}
