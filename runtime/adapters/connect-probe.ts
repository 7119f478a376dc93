/**
 * Whether a store accepts connections at all. Clients of gRPC retry by themselves, with pauses of
 * up to minutes, and report nothing meanwhile; a call that takes long asks here.
 */
import { connect, type Socket } from "node:net";
import { BackendError } from "../abi/errors.js";
import type { BackendName } from "../abi/plan.js";

/** A call that takes longer is one whose store may be down. */
const PROBE_AFTER_MS = 1_000;
/** A host that has not accepted a connection by then drops them. */
const CONNECT_MS = 5_000;

export interface ProbeTimes {
  readonly afterMs: number;
  readonly connectMs: number;
}

/**
 * `answer`, or an error as soon as the address refuses connections or accepts none in time. A call that is answered soon
 * costs a timer.
 * @throws BackendError unreachable or timeout
 */
export function whileReachable<T>(backend: BackendName, at: { readonly host: string; readonly port: number }, answer: Promise<T>, times: ProbeTimes = { afterMs: PROBE_AFTER_MS, connectMs: CONNECT_MS }): Promise<T> {
  return new Promise((resolve, reject) => {
    let socket: Socket | null = null;
    let timer = setTimeout(probe, times.afterMs).unref();
    function probe(): void {
      socket = connect({ ...at, timeout: times.connectMs });
      socket.on("error", (error) => ("code" in error && error.code === "ECONNREFUSED" ? fail("unreachable", "does not answer (ECONNREFUSED)", error) : again()));
      socket.once("connect", again).once("timeout", () => fail("timeout", "does not accept a connection in time"));
    }
    function again(): void {
      stop();
      timer = setTimeout(probe, times.afterMs).unref();
    }
    function fail(kind: "unreachable" | "timeout", words: string, cause?: Error): void {
      stop();
      reject(new BackendError(kind, backend, `the store ${words}`, { cause }));
    }
    function stop(): void {
      clearTimeout(timer);
      // No event of this one counts any more.
      socket?.removeAllListeners().on("error", () => undefined).destroy();
    }
    answer.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error as Error);
      },
    );
  });
}
