/** The generator of constant load: what it charges to the server and what to itself. */
import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { loadAtRate, prepareOpenLoop, type OpenLoopResult } from "../../bench/lib/open-loop.js";
import { suite } from "../lib/suite.js";

const test = suite("open loop");
const why = prepareOpenLoop();

async function loaded(listener: RequestListener, connections: number): Promise<OpenLoopResult> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await loadAtRate({ port: (server.address() as AddressInfo).port, body: "{}", headers: { "Content-Type": "application/json" }, connections, rate: 200, seconds: 1 });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const answer: RequestListener = (_, response) => void response.writeHead(200, { "content-length": 2 }).end("{}");

if (why !== null) {
  test.skip("the generator", why);
} else {
  test("waiting for a free connection is the server's time, not the generator's", async () => {
    // Two connections of 20 ms an answer carry half of what is due, so that the last requests wait for a second.
    const result = await loaded((request, response) => void setTimeout(() => answer(request, response), 20), 2);
    assert.equal(result.unanswered, 0);
    assert.ok(result.ownP99Ms < result.p99Ms / 2, JSON.stringify(result));
  });

  test("requests on a connection that the server closes are counted as unanswered", async () => {
    const result = await loaded((request) => request.socket.destroy(), 4);
    assert.equal(result.unanswered, 200);
  });

  test("an answer that is not 200 ends the load with its text", async () => {
    await assert.rejects(loaded((_, response) => void response.writeHead(404, { "content-length": 0 }).end(), 1), /not the answer that is measured: HTTP\/1\.1 404/);
  });
}

test.run();
