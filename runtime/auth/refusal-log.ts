/** Callers who were turned away, one log line each, and never more lines than a disk can take. */
import { isWithin, NEVER, spanOf } from "../base/time-span.js";
import type { Log } from "../observe/log.js";
import type { HttpHead } from "../transport/types.js";
import { isChallenge, type Authentication, type Authenticator, type Challenge } from "./authenticate.js";
import type { AuthParts } from "./service.js";

/** Lines in one minute; the rest are counted, and the count is in the next line that is written. */
const LINES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

/** The authenticator, whose refusals are logged with the mode, the reason and the address of the peer. */
export function withRefusalLog(authenticator: Authenticator, mode: string, { log, now }: AuthParts): Authenticator {
  const report = createReport(mode, log, now);
  const noted = (answer: Authentication, head: HttpHead): Authentication => {
    if (isChallenge(answer) && answer.refused !== undefined) report(answer.refused, head);
    return answer;
  };
  return {
    headers: authenticator.headers,
    authenticate(head) {
      const answer = authenticator.authenticate(head);
      return answer instanceof Promise ? answer.then((known) => noted(known, head)) : noted(answer, head);
    },
  };
}

type Refused = NonNullable<Challenge["refused"]>;

function createReport(mode: string, log: Log, now: () => number): (refused: Refused, head: HttpHead) => void {
  let minute = NEVER;
  let written = 0;
  let left = 0;
  return ({ reason, level }, head) => {
    if (!log.enabled(level)) return;
    if (!isWithin(now(), minute)) {
      minute = spanOf(now(), MINUTE_MS);
      written = 0;
    }
    if (written >= LINES_PER_MINUTE) {
      left += 1;
      return;
    }
    written += 1;
    log[level]("a request was refused", { auth: mode, reason, remote: head.remoteAddress, ...(left === 0 ? {} : { not_logged: left }) });
    left = 0;
  };
}
