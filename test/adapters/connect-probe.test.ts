/** A store that accepts no connection, while its client waits. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { isBackendError } from "../../runtime/abi/errors.js";
import { whileReachable } from "../../runtime/adapters/connect-probe.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/connect-probe");
const SOON = { afterMs: 5, connectMs: 50 };
const never = (): Promise<never> => new Promise(() => undefined);

async function failure(promise: Promise<unknown>): Promise<readonly [kind: string, message: string]> {
  const error: unknown = await promise.then(() => assert.fail("it must not succeed"), (reason: unknown) => reason);
  assert.ok(isBackendError(error), String(error));
  return [error.kind, error.message];
}

/** A port where connections are queued and never accepted, and no more than two: the kernel drops the others. */
async function deafPort(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const worker = new Worker(`
    const { createServer } = require("node:net");
    const { parentPort } = require("node:worker_threads");
    const server = createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`, { eval: true });
  const [port] = (await once(worker, "message")) as [number];
  const fillers: Socket[] = [];
  for (let n = 0; n < 2; n++) {
    const filler = connect(port, "127.0.0.1").on("error", () => undefined);
    fillers.push(filler);
    await once(filler, "connect");
  }
  return { port, async close() { for (const filler of fillers) filler.destroy(); await worker.terminate(); } };
}

test("an answer comes as it is, and so does an error of the client", async () => {
  assert.equal(await whileReachable("milvus", { host: "127.0.0.1", port: 1 }, Promise.resolve(7)), 7);
  await assert.rejects(whileReachable("milvus", { host: "127.0.0.1", port: 1 }, Promise.reject(new Error("its own"))), /its own/);
});

test("an address that refuses connections is unreachable while the client still waits", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  assert.deepEqual(await failure(whileReachable("weaviate", { host: "127.0.0.1", port }, never(), SOON)), ["unreachable", "the store does not answer (ECONNREFUSED)"]);
});

test("an address that drops connections is a timeout while the client still waits", async () => {
  const deaf = await deafPort();
  try {
    assert.deepEqual(await failure(whileReachable("milvus", { host: "127.0.0.1", port: deaf.port }, never(), SOON)), ["timeout", "the store does not accept a connection in time"]);
  } finally {
    await deaf.close();
  }
});

test("an address that accepts connections is asked again and again, and not once more when the answer is there", async () => {
  let seen = 0;
  const third: { give: (value: string) => void } = { give: () => undefined };
  const answer = new Promise<string>((resolve) => (third.give = resolve));
  const server = createServer((socket) => { socket.destroy(); if (++seen === 3) third.give("answer"); }).listen(0, "127.0.0.1");
  await once(server, "listening");
  assert.equal(await whileReachable("milvus", { host: "127.0.0.1", port: (server.address() as AddressInfo).port }, answer, SOON), "answer");
  const before = seen;
  server.close();
  await once(server, "close");
  assert.equal(seen, before);
});

test.run();
