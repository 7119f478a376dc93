/** The queue of a sink: it never delays a call, is bounded, counts what it loses, and says so once an outage. */
import assert from "node:assert/strict";
import { createAuditQueue, type AuditQueue } from "../../../runtime/observe/audit/queue.js";
import type { AuditSink } from "../../../runtime/observe/audit/sink.js";
import { suite } from "../../lib/suite.js";
import { eventOf, memoryLog } from "./world.js";

const test = suite("observe/audit/queue");

type Deliver = (ids: readonly string[], lost: number) => Promise<number>;

interface World {
  readonly queue: AuditQueue;
  readonly lines: ReturnType<typeof memoryLog>["lines"];
  /** Ids of each delivery, and what was lost before it. */
  readonly deliveries: { readonly ids: readonly string[]; readonly lost: number }[];
  /** Resolves at the next delivery that begins. */
  next(): Promise<void>;
}

function world(deliver: Deliver, maxEvents = 3): World {
  const deliveries: World["deliveries"] = [];
  let began = (): void => undefined;
  const { lines, log } = memoryLog();
  const sink: AuditSink = {
    name: "test", prepare: async () => undefined, close: async () => undefined,
    deliver(events, lost) {
      const ids = events.map(({ requestId }) => requestId);
      deliveries.push({ ids, lost });
      began();
      return deliver(ids, lost);
    },
  };
  const queue = createAuditQueue({ sink, log, explain: (error) => (error instanceof Error ? error.message : ""), maxEvents });
  return { queue, lines, deliveries, next: () => new Promise((resolve) => (began = resolve)) };
}

test("records are delivered in their order, together", async () => {
  const { queue, deliveries, lines } = world(async () => 0);
  for (const n of [1, 2, 3]) queue.add(eventOf(n));
  await queue.close(5000);
  assert.deepEqual(deliveries, [{ ids: ["r1", "r2", "r3"], lost: 0 }]);
  assert.deepEqual([queue.dropped(), lines], [0, []]);
});

test("a sink that hangs holds up nobody: what does not fit is dropped, counted and told once", async () => {
  const { queue, deliveries, lines, next } = world(() => new Promise(() => undefined));
  queue.add(eventOf(1));
  await next();
  for (let n = 2; n <= 50; n += 1) queue.add(eventOf(n));
  assert.equal(deliveries.length, 1, "one delivery at a time");
  assert.equal(queue.dropped(), 47);
  assert.deepEqual(lines.map(({ level, message }) => [level, message]), [["error", "audit records are lost: the sink is too slow"]]);
});

test("a sink that fails gets the same records again, and the log has one line when it begins and one when it ends", async () => {
  let down = 3;
  const { queue, deliveries, lines } = world(async () => {
    if (down-- > 0) throw new Error("connect ECONNREFUSED");
    return 0;
  });
  for (const n of [1, 2, 3, 4, 5]) queue.add(eventOf(n));
  await queue.close(20_000);
  assert.deepEqual(deliveries.map(({ ids }) => ids.join()), Array(4).fill("r1,r2,r3"));
  assert.deepEqual(lines.map(({ message, fields }) => [message, fields["lost"]]), [["audit records are lost: the sink is too slow", undefined], ["audit records are written again", 2]]);
  assert.equal(queue.dropped(), 2);
}, { timeoutMs: 25_000 });

test("after an outage the sink learns how many records are missing before the next one", async () => {
  let isDown = true;
  const { queue, deliveries, next } = world(async () => {
    if (isDown) throw new Error("down");
    return 0;
  });
  for (let n = 1; n <= 8; n += 1) queue.add(eventOf(n));
  await next();
  isDown = false;
  await queue.close(20_000);
  assert.deepEqual(deliveries.map(({ lost }) => lost), deliveries.map(() => 5));
}, { timeoutMs: 25_000 });

test("records that the sink refuses for good are counted and not sent again", async () => {
  const { queue, deliveries, lines } = world(async (ids) => ids.length);
  queue.add(eventOf(1));
  await queue.close(5000);
  assert.deepEqual([deliveries.length, queue.dropped(), lines.map(({ message }) => message)], [1, 1, ["the audit sink refuses records"]]);
});

test("the end waits no longer than it may, and says what was lost", async () => {
  const { queue, lines } = world(() => new Promise(() => undefined));
  queue.add(eventOf(1));
  queue.add(eventOf(2));
  await queue.close(50);
  assert.equal(queue.dropped(), 2);
  assert.deepEqual(lines.map(({ message, fields }) => [message, fields["lost"]]), [["audit records were lost at the end", 2]]);
});

test("records of any size are bounded together", () => {
  const { queue } = world(() => new Promise(() => undefined), 1_000_000);
  const body = "x".repeat(1024 * 1024);
  for (let n = 0; n < 40; n += 1) queue.add(eventOf(n, { body }));
  assert.equal(queue.dropped(), 24, "16 MiB wait");
});

test.run();
