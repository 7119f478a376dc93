/** Thread of the intake: one body after the other, in the order in which they came. */
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls, HandedOver } from "../../base/thread.js";
import { Intake, type IntakeOptions, type RawBody } from "./intake.js";
import type { EncodedBatch } from "./queue.js";

if (parentPort === null) throw new Error("intake-thread.js runs in a thread");
const intake = new Intake(workerData as IntakeOptions);

/** The bytes of batches change hands instead of being copied. */
function handOver<T extends object>(read: T): T | HandedOver {
  const { batches } = read as { readonly batches?: readonly EncodedBatch[] };
  return batches === undefined ? read : new HandedOver(read, batches.map(({ data }) => data));
}

answerCalls(parentPort, {
  open: () => null,
  events: (bytes: Uint8Array, rest: Omit<RawBody, "bytes">) => handOver(intake.events({ bytes, ...rest })),
  spans: (bytes: Uint8Array, rest: Omit<RawBody, "bytes">, protobuf: boolean) => handOver(intake.spans({ bytes, ...rest }, protobuf)),
  registration: (bytes: Uint8Array, rest: Omit<RawBody, "bytes">) => intake.registration({ bytes, ...rest }),
  close: () => null,
});
