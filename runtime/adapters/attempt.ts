/** Requests to stores over a network: reads only, so that one may be sent again. */
import { setTimeout as wait } from "node:timers/promises";
import { isBackendError } from "../abi/errors.js";

const MIN_WAIT_MS = 20;
const MAX_WAIT_MS = 120;

/**
 * A read that is tried once more when its connection broke or was refused, after a random wait, so that the callers of
 * a store that restarts don't return at the same moment. Every other failure is final.
 */
export async function attempt<T>(signal: AbortSignal, read: () => Promise<T>, random: () => number = Math.random): Promise<T> {
  signal.throwIfAborted();
  try {
    return await read();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!isBackendError(error) || error.kind !== "unreachable") throw error;
  }
  await wait(MIN_WAIT_MS + random() * (MAX_WAIT_MS - MIN_WAIT_MS), undefined, { signal }).catch(() => signal.throwIfAborted());
  return read();
}

/** For clients that cannot cancel a call: the caller gets the signal's reason at once, and the answer is dropped when it comes. */
export function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      signal.removeEventListener("abort", abort);
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", abort);
    // Not by `finally`, which makes two promises more for each search.
    answer.then(
      (value) => {
        signal.removeEventListener("abort", abort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener("abort", abort);
        reject(error as Error);
      },
    );
  });
}
