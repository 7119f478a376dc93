/** What becomes of a request whose call has ended: its answer, or its failure, comes to nobody and harms nobody. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { BackendName } from "../../runtime/abi/plan.js";
import type { Settings } from "../../runtime/adapters/adapter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/late answers");

/** Stores that are reached over a network, and the settings of a connection to an address. */
const STORES: { readonly [backend in BackendName]?: (host: string, port: number) => Settings } = {
  qdrant: (host, port) => ({ url: `http://${host}:${port}` }),
  chroma: (host, port) => ({ url: `http://${host}:${port}` }),
  pgvector: (host, port) => ({ dsn: `postgresql://u:p@${host}:${port}/d` }),
  pinecone: (host, port) => ({ api_key: "k", host: `http://${host}:${port}` }),
  weaviate: (host, port) => ({ url: `http://${host}:${port}`, grpc_url: `http://${host}:${port}` }),
  milvus: (host, port) => ({ uri: `http://${host}:${port}` }),
};

/** Accepts connections, reads what comes, and answers nothing until it breaks them all. */
async function stalled(): Promise<{ readonly host: string; readonly port: number; asked(): Promise<void>; breakAll(): Promise<void>; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let heard: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (heard = resolve));
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("data", () => heard()).on("close", () => sockets.delete(socket));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: "127.0.0.1", port: (server.address() as AddressInfo).port, asked: () => asked,
    async breakAll() {
      await Promise.all([...sockets].map((socket) => {
        const closed = once(socket, "close");
        socket.resetAndDestroy();
        return closed;
      }));
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

for (const [backend, settingsOf] of Object.entries(STORES) as [BackendName, (host: string, port: number) => Settings][]) {
  test(`${backend}: a request that fails after its call was cancelled is no unhandled rejection`, async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const store = await stalled();
    try {
      const { load } = DESCRIPTORS[backend];
      assert.ok(load !== undefined);
      const adapter = await (await load()).adapter.open(settingsOf(store.host, store.port), { base: process.cwd() });
      const controller = new AbortController();
      const reason = new Error("the client has gone");
      const reads = [adapter.count("things", null, controller.signal), adapter.collections(controller.signal), adapter.health(controller.signal)];
      const outcomes = Promise.all(reads.map((read) => read.then(() => "an answer", (error: unknown) => error)));
      await store.asked();
      controller.abort(reason);
      assert.deepEqual(await outcomes, [reason, reason, reason]);
      await store.breakAll();
      await adapter.close();
      // Failures of sockets reach promises within some turns of the event loop; the client may connect again meanwhile.
      for (let turns = 0; turns < 50; turns++) await turn();
      assert.deepEqual(unhandled, []);
    } finally {
      await store.close();
      process.off("unhandledRejection", note);
    }
  }, { timeoutMs: 20_000 });
}

test.run();
