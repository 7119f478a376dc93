/** One log line for each client that is turned away: who, what was wrong, and the way out. Never a token or a secret. */
import { isWithin, NEVER, spanOf } from "../../base/time-span.js";
import type { Log } from "../../observe/log.js";

export interface Refusal {
  /** Where in the flow: register, authorize, login, token, revoke. */
  readonly step: string;
  /** Id or name of the client as it was sent. */
  readonly client: string | null;
  readonly address: string;
  readonly problem: string;
  /** What the operator or the user can do. */
  readonly advice: string;
}

export type ReportRefusal = (refusal: Refusal) => void;

/** Lines in a minute; the rest is counted, so that an attacker cannot fill the disk. */
const MAX_LINES = 60;
const WINDOW_MS = 60_000;
const MAX_CLIENT_CHARACTERS = 200;

export function createRefusals(log: Log, now: () => number): ReportRefusal {
  let minute = NEVER;
  let lines = 0;
  let left = 0;
  return ({ step, client, address, problem, advice }) => {
    if (!isWithin(now(), minute)) {
      if (left > 0) log.warn("more oauth clients were turned away than are logged", { count: left });
      [minute, lines, left] = [spanOf(now(), WINDOW_MS), 0, 0];
    }
    if (lines >= MAX_LINES) {
      left++;
      return;
    }
    lines++;
    log.warn("an oauth client was turned away", { step, client: client?.slice(0, MAX_CLIENT_CHARACTERS) ?? null, remote: address, problem, advice });
  };
}
