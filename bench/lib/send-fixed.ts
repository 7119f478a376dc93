/** As many requests as are wanted, over a few connections that stay: each sends its next one when all have their answers. */
import { connect, type Socket } from "node:net";

const CONNECTIONS = 16;

export interface FixedRequest {
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
}

/** POSTs the body to /mcp `requests` times, rounded up to whole turns. @throws Error when an answer is not 200. */
export async function sendFixed(port: number, { body, headers }: FixedRequest, requests: number): Promise<void> {
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, "Content-Length": String(Buffer.byteLength(body)), ...headers });
  const request = Buffer.from(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => opened(port)));
  try {
    for (let sent = 0; sent < requests; sent += CONNECTIONS) await Promise.all(sockets.map((socket) => answered(socket, request)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Sends one request and waits for the whole answer, which must say its length. */
function answered(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const end = (problem?: string): void => {
      socket.off("data", onData).off("close", onClose);
      if (problem === undefined) resolve();
      else reject(new Error(problem));
    };
    const onClose = (): void => end("the server closed the connection");
    const onData = (chunk: Buffer): void => {
      received += chunk.toString("latin1");
      const head = received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? Number.NaN);
      if (!received.startsWith("HTTP/1.1 200") || Number.isNaN(length)) return end(`not the answer that is counted: ${received.slice(0, 300)}`);
      if (received.length >= head + 4 + length) end();
    };
    socket.on("data", onData).on("close", onClose);
    socket.write(request);
  });
}
