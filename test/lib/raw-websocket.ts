/** A WebSocket client of its own for tests: Node 20 has none, and a test wants to send frames that a real one would not. */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

export interface RawFrame {
  /** 1 text, 2 binary, 8 close, 9 ping, 10 pong. */
  readonly opcode: number;
  readonly data: Buffer;
}

export interface RawWebSocket {
  /** Answer to the upgrade request, headers lower-case. */
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** The next frame, or `null` when the connection has ended. */
  next(): Promise<RawFrame | null>;
  send(data: string | Uint8Array, opcode?: number): void;
  /** Reads no more from the socket until `resume`. */
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** The close code of a close frame; 1006 when the connection ended without one. */
export function closeCode(frame: RawFrame | null): number {
  return frame !== null && frame.opcode === 8 && frame.data.length >= 2 ? frame.data.readUInt16BE(0) : 1006;
}

export async function rawWebSocket(port: number, path: string, headers: { readonly [name: string]: string } = {}): Promise<RawWebSocket> {
  const socket: Socket = connect(port, "127.0.0.1");
  const all = {
    host: `127.0.0.1:${port}`, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13",
    "sec-websocket-key": randomBytes(16).toString("base64"), ...headers,
  };
  socket.write(`GET ${path} HTTP/1.1\r\n${Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);

  let bytes: Buffer = Buffer.alloc(0);
  let ended = false;
  let wake: (() => void) | null = null;
  const changed = (): void => {
    wake?.();
    wake = null;
  };
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    changed();
  });
  const end = (): void => {
    ended = true;
    changed();
  };
  socket.on("close", end);
  socket.on("error", end);
  const more = (): Promise<void> => new Promise((resolve) => (wake = resolve));

  while (!ended && bytes.indexOf("\r\n\r\n") < 0) await more();
  const headEnd = Math.max(bytes.indexOf("\r\n\r\n"), 0);
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  bytes = bytes.subarray(headEnd + 4);

  return {
    status: Number(statusLine.split(" ")[1] ?? 0),
    headers: Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])),
    async next() {
      for (;;) {
        const frame = takeFrame(bytes);
        if (frame !== null) {
          bytes = bytes.subarray(frame.size);
          return frame;
        }
        if (ended) return null;
        await more();
      }
    },
    send: (data, opcode = 1) => void socket.write(maskedFrame(Buffer.from(data as string), opcode)),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: () => void socket.destroy(),
  };
}

function takeFrame(bytes: Buffer): (RawFrame & { readonly size: number }) | null {
  if (bytes.length < 2) return null;
  const short = (bytes[1] ?? 0) & 127;
  const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < headBytes) return null;
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < headBytes + length) return null;
  return { opcode: (bytes[0] ?? 0) & 15, data: Buffer.from(bytes.subarray(headBytes, headBytes + length)), size: headBytes + length };
}

function maskedFrame(data: Buffer, opcode: number): Buffer {
  const mask = randomBytes(4);
  const head = data.length < 126 ? Buffer.from([0x80 | opcode, 0x80 | data.length]) : Buffer.alloc(data.length < 65_536 ? 4 : 10);
  if (data.length >= 126) {
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | (data.length < 65_536 ? 126 : 127);
    if (data.length < 65_536) head.writeUInt16BE(data.length, 2);
    else head.writeBigUInt64BE(BigInt(data.length), 2);
  }
  return Buffer.concat([head, mask, data.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}
