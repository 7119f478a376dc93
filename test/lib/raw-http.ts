/** HTTP as bytes over a socket: for what a well-behaved client would never send, or would hide from the test. */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly raw: string;
}

export interface RawOptions {
  readonly host?: string;
  /** Stop reading here; the answer is what has arrived. Default 5,000. */
  readonly timeoutMs?: number;
  /** Read until the peer closes, for several answers; the fields are those of the first. */
  readonly all?: boolean;
}

/**
 * Sends the parts one after another (each after the previous was written) and reads until the answer is complete or
 * the peer closes. A connection that closes without an answer has status 0.
 */
export function rawHttp(port: number, parts: string | Uint8Array | readonly (string | Uint8Array)[], options: RawOptions = {}): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, options.host ?? "127.0.0.1");
    const chunks: Buffer[] = [];
    let settled = false;
    const finish = (): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      socket.destroy();
      resolve(parseAnswer(Buffer.concat(chunks).toString("utf8")));
    };
    const timer = setTimeout(finish, options.timeoutMs ?? 5000);
    socket.on("error", finish);
    socket.on("close", finish);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (options.all !== true && isComplete(Buffer.concat(chunks))) finish();
    });
    socket.on("connect", () => {
      void (async () => {
        for (const part of typeof parts === "string" || parts instanceof Uint8Array ? [parts] : parts) {
          if (settled) return;
          await new Promise<void>((written) => socket.write(part, () => written()));
        }
      })();
    });
  });
}

/** A POST with a JSON body, as bytes. */
export function rawPost(path: string, body: string, headers: { readonly [name: string]: string } = {}): string {
  const all = { host: "127.0.0.1", "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

function isComplete(bytes: Buffer): boolean {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const head = bytes.subarray(0, end).toString("latin1").toLowerCase();
  if (head.startsWith("http/1.1 100")) return false;
  const length = /content-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) return bytes.length >= end + 4 + Number(length);
  if (head.includes("transfer-encoding: chunked")) return bytes.includes("\r\n0\r\n\r\n");
  return false;
}

function parseAnswer(raw: string): RawAnswer {
  const end = raw.indexOf("\r\n\r\n");
  const head = end < 0 ? raw : raw.slice(0, end);
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers: { [name: string]: string } = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(statusLine.split(" ")[1] ?? 0), headers, body: end < 0 ? "" : raw.slice(end + 4), raw };
}
