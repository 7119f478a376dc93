/** Many followers of one busy run, some of whom do not read. */
import { atLeast, atMost, type BenchCase, type Comparison } from "../lib/case.js";
import { follow, type Follower, loadTrace, pause, sendEvents, startTrace, traceStats } from "../lib/trace.js";

const FAST = 490;
const SLOW = 10;
/** Load of other runs, half of what the service must take. */
const RATE = 20_000;
const EVENTS = 200_000;
const PER_TICK = 10;
const TICK_MS = 50;
/** Steps before the followers come: more than a socket takes that nobody reads. */
const HISTORY = 20_000;
const EVENT = '{"msg_type":"event"';

async function manyFollowers(): Promise<Comparison[]> {
  const service = await startTrace();
  const { url } = service;
  const steps = (count: number): object[] => Array.from({ length: count }, () => ({ run_id: "busy", event_type: "retry", summary: "x".repeat(400) }));
  const followers: Follower[] = [];
  try {
    await loadTrace(url, { events: 20_000 });
    for (let sent = 0; sent < HISTORY; sent += 500) await sendEvents(url, steps(500));
    const alone = await loadTrace(url, { events: EVENTS, rate: RATE });
    const { total_events: lastSeq = 0 } = await traceStats(url);
    const counts = new Array<number>(FAST).fill(0);
    for (let index = 0; index < FAST; index++) {
      followers.push(follow(url, `/ws/trace/busy?since=${lastSeq}`, (bytes) => {
        if (bytes.toString("latin1", 0, EVENT.length) === EVENT) counts[index] = (counts[index] ?? 0) + 1;
      }));
    }
    const slow = Array.from({ length: SLOW }, () => follow(url, "/ws/trace/busy", () => undefined));
    followers.push(...slow);
    for (const client of slow) client.pause();
    await pause(1500);
    let done = false;
    const together = loadTrace(url, { events: EVENTS, rate: RATE }).finally(() => (done = true));
    let sent = 0;
    while (!done) {
      await sendEvents(url, steps(PER_TICK));
      sent += PER_TICK;
      await pause(TICK_MS);
    }
    const shared = await together;
    for (let waited = 0; waited < 100 && counts.some((count) => count < sent); waited++) await pause(20);
    for (const client of slow) client.resume();
    for (let waited = 0; waited < 100 && slow.some((client) => !client.ended); waited++) await pause(20);
    return [
      atLeast("fast followers that got every frame", counts.filter((count) => count === sent).length, FAST, "followers", [`${sent} frames each, ${PER_TICK} every ${TICK_MS} ms`]),
      atLeast("followers that do not read and were dropped", slow.filter((client) => client.ended).length, SLOW, "followers"),
      atMost("ingest with all of them, time against without", shared.seconds / alone.seconds, 1.05, "×", [`${RATE.toLocaleString("en-US")} events/s of other runs`]),
    ];
  } finally {
    for (const client of followers) client.close();
    await service.stop();
  }
}

export const traceFeed: BenchCase = {
  name: "trace-feed",
  summary: "500 followers of one busy run, ten of whom do not read",
  method: "The followers are one process, the load of other runs another. Every follower counts its frames; a follower that does not read has a catch-up of 20,000 steps before it.",
  run: manyFollowers,
};
