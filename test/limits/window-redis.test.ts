/** Sliding windows in a real Redis: counted once for all replicas, refused while it is away, back without a restart. */
import assert from "node:assert/strict";
import { isBackendError, isToolError } from "../../runtime/abi/errors.js";
import { isRedisUrl } from "../../runtime/base/redis.js";
import { RedisWindows } from "../../runtime/limits/window-redis.js";
import type { Window } from "../../runtime/limits/window.js";
import { NO_REDIS, startRedis, type RedisServer } from "../lib/redis-server.js";
import { suite } from "../lib/suite.js";

const test = suite("limits/window-redis");

const PASSWORD = "canary-redis-password";
const window = (key: string, limit: number, windowMs = 60_000): Window => ({ key: `t:${key}`, overflow: "o", limit, windowMs, what: key });
const now = (): number => performance.now();

test("an address that is none of Redis is recognised without repeating it", () => {
  for (const url of ["redis://h", "redis://u:p@h:1/2", "rediss://h:6380"]) assert.ok(isRedisUrl(url), url);
  for (const url of ["", "h:6379", "http://h", "redis", null, 7, {}]) assert.ok(!isRedisUrl(url), String(url));
});

test("a package that is missing says how to get it", async () => {
  const store = new RedisWindows({ url: "redis://127.0.0.1:1", now, changed: () => undefined, find: () => Promise.reject(new Error("no such package")) });
  await assert.rejects(store.prepare(), (error) => isToolError(error) && error.message.includes("npm i redis"));
  await assert.rejects(store.take([window("a", 1)]), (error) => isToolError(error), "and is never taken for a store that is down");
});

if (NO_REDIS === null) {
  let redis: RedisServer;
  test.before(async () => {
    redis = await startRedis(PASSWORD);
  });
  test.after(() => redis.kill());

  const made: RedisWindows[] = [];
  const states: string[] = [];
  const replica = (url = redis.url): RedisWindows => {
    const store = new RedisWindows({ url, now, changed: (state) => states.push(state) });
    made.push(store);
    return store;
  };
  test.after(async () => {
    await Promise.all(made.map((store) => store.close()));
  });

  test("two replicas count together, and calls at one time never pass the limit", async () => {
    const [one, two] = [replica(), replica()];
    const taken = await Promise.all(Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? one : two).take([window("shared", 20)])));
    assert.equal(taken.filter((refusal) => refusal === null).length, 20);
    const [refusal] = taken.filter((each) => each !== null);
    assert.ok(refusal !== undefined && refusal.retryAfterMs > 55_000 && refusal.retryAfterMs <= 60_000, JSON.stringify(refusal));
  });

  test("a refused call takes nothing from the other windows", async () => {
    const store = replica();
    await store.take([window("full", 1), window("roomy", 2)]);
    for (let n = 0; n < 5; n += 1) assert.equal((await store.take([window("full", 1), window("roomy", 2)]))?.window.what, "full");
    assert.equal(await store.take([window("roomy", 2)]), null);
    assert.equal((await store.take([window("roomy", 2)]))?.window.what, "roomy");
  });

  test("of several full windows the longest wait counts", async () => {
    const store = replica();
    const windows = [window("minute", 1), window("hour", 1, 3_600_000)];
    await store.take(windows);
    const refusal = await store.take(windows);
    assert.equal(refusal?.window.what, "hour");
    assert.ok(refusal.retryAfterMs > 3_590_000);
  });

  test("a caller who waits for retry_after gets through, and not before", async () => {
    const store = replica();
    const short = window("short", 2, 300);
    await store.take([short]);
    await store.take([short]);
    const refusal = await store.take([short]);
    assert.ok(refusal !== null && refusal.retryAfterMs <= 300, JSON.stringify(refusal));
    const askedMs = now();
    let waited = 0;
    while ((await store.take([short])) !== null) waited = now() - askedMs;
    assert.ok(waited > 0 && now() - askedMs >= refusal.retryAfterMs - 5, "not before");
  });

  test("a call of several windows is one round trip", async () => {
    const store = replica();
    await store.take([window("warm", 5)]);
    const { createClient } = await import("redis");
    const client = createClient({ url: redis.url });
    await client.connect();
    await client.configResetStat();
    for (let n = 0; n < 7; n += 1) await store.take([window("x", 5), window("y", 5), window("z", 5)]);
    const stats = await client.info("commandstats");
    client.destroy();
    assert.match(stats, /cmdstat_evalsha:calls=7,/);
    assert.doesNotMatch(stats, /cmdstat_(eval:|script)/);
  });

  test("a limit that is lowered counts the calls that were", async () => {
    const store = replica();
    for (let n = 0; n < 5; n += 1) await store.take([window("lowered", 5)]);
    assert.ok((await store.take([window("lowered", 2)])) !== null);
  });

  test("windows leave nothing in the store when they are over", async () => {
    const store = replica();
    await store.take([window("gone", 3, 60_000)]);
    const { createClient } = await import("redis");
    const client = createClient({ url: redis.url });
    await client.connect();
    const ttl = await client.pTTL("t:gone");
    assert.ok(Number(ttl) > 0 && Number(ttl) <= 60_000, String(ttl));
    client.destroy();
  });

  test("a wrong password refuses every call and is in no message", async () => {
    const store = replica(`redis://:wrong-${PASSWORD}@127.0.0.1:${redis.port}`);
    await assert.rejects(store.take([window("a", 1)]), (error) => isBackendError(error) && error.kind === "unreachable" && !error.message.includes("wrong"));
  });

  test("a server that starts before its Redis refuses until it is there", async () => {
    await redis.kill();
    const store = replica();
    await store.prepare();
    await assert.rejects(store.take([window("early", 1)]), (error) => isBackendError(error) && error.kind === "unreachable");
    await redis.start();
    assert.equal(await eventually(() => store.take([window("early", 1)])), null);
  }, { timeoutMs: 20_000 });

  test("killed mid-flight it refuses, reports that once, and counts again when it is back", async () => {
    const store = replica();
    await store.take([window("before", 5)]);
    states.length = 0;
    await redis.kill();
    const refused = await Promise.allSettled(Array.from({ length: 20 }, () => store.take([window("during", 5)])));
    assert.ok(refused.every((each) => each.status === "rejected" && isBackendError(each.reason) && each.reason.kind === "unreachable"));
    assert.deepEqual(states, ["down"]);
    await redis.start();
    assert.equal(await eventually(() => store.take([window("after", 1)])), null);
    assert.deepEqual(states, ["down", "up"]);
    assert.ok((await store.take([window("after", 1)])) !== null, "counted");
  }, { timeoutMs: 20_000 });

  test("while it hangs, calls are refused in time, and a new connection is made", async () => {
    const store = replica();
    await store.take([window("hang", 1000)]);
    redis.freeze();
    const startedMs = now();
    await assert.rejects(store.take([window("hang", 1000)]));
    assert.ok(now() - startedMs < 2000);
    redis.thaw();
    assert.equal(await eventually(() => store.take([window("hang", 1000)])), null);
  }, { timeoutMs: 20_000 });

  test("thousands of calls that wait for a store that hangs do not pile up", async () => {
    const store = replica();
    await store.take([window("pile", 10_000)]);
    redis.freeze();
    const refused = await Promise.allSettled(Array.from({ length: 5000 }, () => store.take([window("pile", 10_000)])));
    redis.thaw();
    assert.ok(refused.every(({ status }) => status === "rejected"));
    assert.equal(refused.filter((each) => each.status === "rejected" && String((each.reason as Error).cause).includes("1000 calls wait")).length, 4000);
    assert.equal(await eventually(() => store.take([window("pile", 10_000)])), null);
  }, { timeoutMs: 20_000 });
} else {
  test.skip("windows in a real Redis", NO_REDIS);
}

/** Asked until it answers; the time limit of the test ends it. */
async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

test.run();
