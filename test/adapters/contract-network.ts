/** The contract of an adapter: signals, broken connections, stores that are down, wrong credentials. */
import assert from "node:assert/strict";
import { isBackendError, type BackendError } from "../../runtime/abi/errors.js";
import { failure, never, type ContractSubject, type RegisterCase } from "./contract-case.js";
import { RECORDS } from "./contract-data.js";
import { blackHole, type Fault, Proxy, unusedPort } from "./proxy.js";

/** What happens on the way, how long the caller waits, and whether an answer must come all the same. */
const FAULTS: readonly { readonly name: string; readonly does: Fault; readonly deadlineMs: number; readonly isHarmless: boolean }[] = [
  { name: "an answer that is late comes within the deadline", does: { kind: "delay", ms: 100 }, deadlineMs: 8_000, isHarmless: true },
  { name: "an answer that comes byte by byte is read", does: { kind: "slow" }, deadlineMs: 8_000, isHarmless: true },
  { name: "an answer that is reset in its midst is an error of the store", does: { kind: "reset" }, deadlineMs: 8_000, isHarmless: false },
  { name: "an answer that ends in its midst is an error of the store", does: { kind: "cut" }, deadlineMs: 8_000, isHarmless: false },
  { name: "a connection that looks alive and is not ends with the deadline", does: { kind: "half-open" }, deadlineMs: 1_500, isHarmless: false },
];

export function networkCases(test: RegisterCase, c: ContractSubject): void {
  const { fetch, open, overNetwork, search } = c;

  test("a signal that has aborted ends every read with its reason, and the next read works", async () => {
    const reason = new Error("the client has gone");
    const signal = AbortSignal.abort(reason);
    for (const read of [() => c.adapter.health(signal), () => c.adapter.collections(signal), () => c.adapter.describe(c.store.name("things"), signal), () => c.adapter.search(search("things", 1), signal), () => c.adapter.fetch(fetch("things"), signal), () => c.adapter.count(c.store.name("things"), null, signal)]) {
      assert.equal(await read().then(() => "an answer", (error: unknown) => error), reason);
    }
    assert.equal(await c.adapter.count(c.store.name("things"), null, never()), RECORDS.length);
  });

  overNetwork("a signal that aborts while the store is silent ends the read at once, and later reads work", async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    try {
      assert.equal(await through.count(c.store.name("things"), null, never()), RECORDS.length);
      proxy.silent = true;
      const controller = new AbortController();
      const reason = new Error("cancelled");
      const reading = through.fetch(fetch("things"), controller.signal).then(() => "an answer", (error: unknown) => error);
      await proxy.asked();
      controller.abort(reason);
      assert.equal(await reading, reason);
      proxy.silent = false;
      assert.equal(await through.count(c.store.name("things"), null, never()), RECORDS.length);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 20_000 });

  overNetwork("a connection that breaks before the answer is opened again once, without the caller", async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    try {
      assert.equal(await through.count(c.store.name("things"), null, never()), RECORDS.length);
      proxy.cutNext = 1;
      assert.equal(await through.count(c.store.name("things"), null, never()), RECORDS.length);
      assert.equal(proxy.cut, 1);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 20_000 });

  overNetwork("a store that answers garbage is an error of the store", async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    try {
      proxy.garbage = true;
      const error = await failure(through.count(c.store.name("things"), null, AbortSignal.timeout(8_000)));
      assert.ok(["unreachable", "internal", "bad_request", "timeout"].includes(error.kind), error.kind);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 20_000 });

  overNetwork("a store that is down is unreachable, which may be tried again; its address is in the cause alone", async (network) => {
    const port = await unusedPort();
    const down = await open(network.at("127.0.0.1", port));
    const error = await failure(down.health(never()));
    assert.deepEqual([error.kind, error.retryable], ["unreachable", true]);
    assert.doesNotMatch(error.message, new RegExp(`127|${port}|secret`));
    await down.close();
  });

  overNetwork("a store that is down when it is opened comes back without another open", async (network) => {
    const port = await unusedPort();
    const late = await open(network.at("127.0.0.1", port));
    assert.equal((await failure(late.count(c.store.name("things"), null, never()))).kind, "unreachable");
    const proxy = await Proxy.to(network.host, network.port, port, network.grpcPort);
    assert.equal(await late.count(c.store.name("things"), null, never()), RECORDS.length);
    await late.close();
    await proxy.close();
  });

  overNetwork("a host that accepts and never answers ends with the signal", async (network) => {
    const hole = await blackHole();
    const silent = await open(network.at(hole.host, hole.port));
    const controller = new AbortController();
    const reason = new Error("too late");
    const reading = silent.health(controller.signal).then(() => "an answer", (error: unknown) => error);
    await hole.asked();
    controller.abort(reason);
    assert.equal(await reading, reason);
    await hole.close();
    await silent.close();
  }, { timeoutMs: 20_000 });

  for (const fault of FAULTS) overNetwork(`${fault.name}, and the store is read again without another open`, async (network) => {
    const proxy = await Proxy.to(network.host, network.port, 0, network.grpcPort);
    const through = await open(network.at(proxy.host, proxy.port));
    const count = (deadlineMs: number): Promise<number> => through.count(c.store.name("things"), null, AbortSignal.timeout(deadlineMs));
    try {
      assert.equal(await count(8_000), RECORDS.length);
      proxy.fault = fault.does;
      const outcome: unknown = await count(fault.deadlineMs).catch((error: unknown) => error);
      if (fault.isHarmless) assert.equal(outcome, RECORDS.length, String(outcome));
      else if (outcome !== RECORDS.length) assert.ok((isBackendError(outcome) && ["unreachable", "internal", "timeout"].includes((outcome as BackendError).kind)) || (outcome instanceof Error && outcome.name === "TimeoutError"), String(outcome));
      proxy.fault = null;
      assert.equal(await count(8_000), RECORDS.length);
    } finally {
      await through.close();
      await proxy.close();
    }
  }, { timeoutMs: 30_000 });

  test("wrong credentials are an auth error without the credentials in it", async () => {
    if (c.store.wrongCredentials === undefined) return "no credentials";
    const refused = await open(c.store.wrongCredentials);
    const error = await failure(refused.health(never()));
    assert.deepEqual([error.kind, error.retryable], ["auth", false]);
    assert.doesNotMatch(error.message, /wrong-secret/);
    await refused.close();
    return undefined;
  });
}
