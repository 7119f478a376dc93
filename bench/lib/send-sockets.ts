/** The load generator for machines without wrk, a program of its own: `node send-sockets.js OPTIONS`, as JSON. */
import { connect, type Socket } from "node:net";
import type { LoadOptions } from "./load.js";

/** Keeps one request under way on each connection. Slower than wrk: fine for slow peers, too slow for bare handlers. */
async function sendAll({ port, body, headers, connections, seconds }: LoadOptions): Promise<void> {
  const head = Object.entries({ Host: `127.0.0.1:${port}`, "Content-Length": String(Buffer.byteLength(body)), ...headers });
  const request = Buffer.from(`POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
  const until = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  let errors = 0;

  const client = (): Promise<void> =>
    new Promise((resolve) => {
      const socket: Socket = connect(port, "127.0.0.1");
      let received = "";
      let sentAt = 0;
      const next = (): void => {
        received = "";
        sentAt = performance.now();
        socket.write(request);
      };
      socket.setNoDelay(true);
      socket.on("connect", next);
      socket.on("error", () => {
        errors += 1;
        resolve();
      });
      socket.on("close", () => resolve());
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
        const end = received.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? Number.NaN);
        const complete = Number.isNaN(length) ? received.endsWith("0\r\n\r\n") : received.length >= end + 4 + length;
        if (!complete) return;
        latencies.push(performance.now() - sentAt);
        if (!/^HTTP\/1\.1 2/.test(received)) errors += 1;
        if (performance.now() < until) next();
        else socket.end();
      });
    });
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, client));
  const elapsedS = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  console.log("RESULT", ...[latencies.length, elapsedS * 1e6, at(0.5) * 1000, at(0.99) * 1000, errors].map(Math.round));
}

await sendAll(JSON.parse(process.argv[2] ?? "") as LoadOptions);
