/**
 * Long work in several turns of the event loop. The work is a generator: after each of its steps it may be interrupted,
 * so that other requests are answered meanwhile, whatever the sum of the steps is.
 */

/** How long work may keep the event loop; the step that is running then may take it over this. */
const TURN_MS = 10;

/** Time and turns of the event loop; tests have their own. */
export interface Turns {
  nowMs(): number;
  yield(): Promise<void>;
}

export const EVENT_LOOP: Turns = { nowMs: () => performance.now(), yield: () => new Promise((resume) => setImmediate(resume)) };

/** The result of the work. Throws what the work throws, or the signal's reason when it aborts between two turns. */
export async function inTurns<T>(work: Iterator<unknown, T>, signal: AbortSignal, turns: Turns = EVENT_LOOP): Promise<T> {
  try {
    let started = turns.nowMs();
    for (let step = work.next(); ; step = work.next()) {
      if (step.done === true) return step.value;
      if (turns.nowMs() - started < TURN_MS) continue;
      await turns.yield();
      signal.throwIfAborted();
      started = turns.nowMs();
    }
  } finally {
    work.return?.();
  }
}
