/** Clients of Chroma that calls share one after the other: each has one signal for all its requests. */
import assert from "node:assert/strict";
import type { ChromaClient } from "chromadb";
import { Clients } from "../../runtime/adapters/chroma/clients.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/chroma clients");

/** Clients that are only their signals. */
function made(): { readonly clients: Clients; readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  return { signals, clients: new Clients((signal) => (signals.push(signal), { signal } as unknown as ChromaClient)) };
}

const signalOf = (client: ChromaClient): AbortSignal => (client as unknown as { readonly signal: AbortSignal }).signal;

/** A call that goes on until it is let go, or its signal aborts. */
function pending(clients: Clients, signal = new AbortController().signal): { readonly over: Promise<unknown>; letGo(): void } {
  let letGo = (): void => undefined;
  const over = clients.use(signal, (client) => new Promise<void>((resolve, reject) => {
    letGo = resolve;
    signalOf(client).addEventListener("abort", () => reject(signalOf(client).reason as Error));
  }));
  return { over, letGo: () => letGo() };
}

test("calls one after the other share a client, calls at the same time don't", async () => {
  const { clients, signals } = made();
  const never = new AbortController().signal;
  for (let n = 0; n < 10; n++) await clients.use(never, async () => n);
  assert.equal(signals.length, 1);
  const both = [pending(clients), pending(clients)];
  assert.equal(signals.length, 2);
  for (const one of both) one.letGo();
  await Promise.all(both.map(({ over }) => over));
});

test("a call that is aborted ends its own requests and no others, and its client is not used again", async () => {
  const { clients, signals } = made();
  const controller = new AbortController();
  const [other, ended] = [pending(clients), pending(clients, controller.signal)];
  const reason = new Error("gone");
  controller.abort(reason);
  assert.equal(await ended.over.catch((error: unknown) => error), reason);
  assert.deepEqual(signals.map(({ aborted }) => aborted), [false, true]);
  other.letGo();
  await other.over;
  for (let n = 0; n < 3; n++) await clients.use(new AbortController().signal, async (client) => assert.equal(signalOf(client).aborted, false));
  assert.equal(signals.length, 2);
});

test("a signal that has aborted lends nothing, and one that aborts after its call ends nothing", async () => {
  const { clients, signals } = made();
  const reason = new Error("gone");
  assert.equal(await clients.use(AbortSignal.abort(reason), async () => "used").catch((error: unknown) => error), reason);
  assert.equal(signals.length, 0);
  const controller = new AbortController();
  await clients.use(controller.signal, async () => undefined);
  controller.abort();
  assert.equal(signals[0]?.aborted, false);
});

test("a client is replaced after 200 calls: each request leaves a listener at its signal", async () => {
  const { clients, signals } = made();
  const never = new AbortController().signal;
  for (let n = 0; n < 401; n++) await clients.use(never, async () => n);
  assert.equal(signals.length, 3);
});

test.run();
