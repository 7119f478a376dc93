/** Requests as a program would send that keeps to no rules: any path, any header, any body, over kept connections. */
import { Agent, request } from "node:http";
import { gunzipSync } from "node:zlib";
import type { Received } from "./contract.js";

export interface Sent {
  readonly method: string;
  /** As it goes over the wire: nothing is normalized. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer | null;
}

export interface Client {
  send(sent: Sent): Promise<Received>;
  close(): void;
}

export function connectTo(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const length = body === null ? {} : { "content-length": String(body.length) };
        const call = request({ agent, port, host: "127.0.0.1", method, path, headers: { ...headers, ...length } }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => void chunks.push(chunk));
          answer.on("end", () => {
            const raw = Buffer.concat(chunks);
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw });
          });
          answer.on("error", reject);
        });
        call.on("error", reject);
        call.end(body ?? undefined);
      }),
    close: () => agent.destroy(),
  };
}
