/** TCP between an adapter and its store that misbehaves on command. */
import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";

const HOST = "127.0.0.1";

/**
 * What is done to answers: delayed; written byte by byte; broken off by a reset in their midst; closed there in order; or
 * lost from now on, while the connection looks alive, also when the fault has ended.
 */
export type Fault = { readonly kind: "delay"; readonly ms: number } | { readonly kind: "slow" } | { readonly kind: "reset" } | { readonly kind: "cut" } | { readonly kind: "half-open" };

/** A port that nothing listens on. */
export async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Accepts connections and never writes a byte. */
export async function blackHole(): Promise<{ readonly host: string; readonly port: number; asked(): Promise<void>; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let heard: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (heard = resolve));
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("data", () => heard());
  }).listen(0, HOST);
  await once(server, "listening");
  return { host: HOST, port: (server.address() as AddressInfo).port, asked: () => asked, close: () => stop(server, sockets) };
}

async function stop(server: Server, sockets: Set<Socket>): Promise<void> {
  const closed = once(server, "close");
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}

export class Proxy {
  readonly host = HOST;
  readonly port: number;
  #isSilent = false;
  /** Answers that were held back while silent: a protocol that shares a connection loses its place without them. */
  #held: (() => void)[] = [];
  /** Answers are replaced by bytes that no protocol has. */
  garbage = false;
  /** Connections to close at the next bytes of the client. */
  cutNext = 0;
  /** Connections that were closed so. */
  cut = 0;
  #heard: (() => void)[] = [];

  private constructor(private readonly server: Server, private readonly sockets: Set<Socket>) {
    this.port = (server.address() as AddressInfo).port;
  }

  /** @param grpcPort Where connections go that begin as HTTP/2 does, for a store with two ports. */
  static async to(host: string, port: number, own = 0, grpcPort = port): Promise<Proxy> {
    const sockets = new Set<Socket>();
    let proxy: Proxy | null = null;
    const server = createServer((client) => {
      if (grpcPort === port) return void proxy?.pass(client, connect(port, host));
      sockets.add(client);
      client.on("error", () => undefined).on("close", () => sockets.delete(client)).once("data", (first) => {
        client.pause();
        client.unshift(first);
        proxy?.pass(client, connect(first.toString("latin1").startsWith("PRI") ? grpcPort : port, host));
        client.resume();
      });
    }).listen(own, HOST);
    await once(server, "listening");
    return (proxy = new Proxy(server, sockets));
  }

  /** Answers of the store are not passed on until this ends. */
  set silent(is: boolean) {
    this.#isSilent = is;
    if (!is) for (const release of this.#held.splice(0)) release();
  }

  /** What happens to answers from now on; null: nothing. */
  fault: Fault | null = null;

  /** The next bytes of a client. */
  asked(): Promise<void> {
    return new Promise((resolve) => this.#heard.push(resolve));
  }

  close(): Promise<void> {
    return stop(this.server, this.sockets);
  }

  private pass(client: Socket, store: Socket): void {
    for (const [socket, other] of [[client, store], [store, client]] as const) {
      this.sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => (this.sockets.delete(socket), other.destroy()));
    }
    client.on("data", (bytes) => {
      for (const heard of this.#heard.splice(0)) heard();
      if (this.cutNext > 0) {
        this.cutNext--;
        this.cut++;
        client.resetAndDestroy();
      } else store.write(bytes);
    });
    let isLost = false;
    store.on("data", (bytes) => {
      isLost ||= this.fault?.kind === "half-open";
      if (isLost) return;
      if (this.fault !== null) this.#spoil(this.fault, bytes, client);
      else if (this.garbage) client.write(Buffer.from("\u0000\u00ff garbage \r\n\r\n garbage".repeat(3), "latin1"));
      else if (this.#isSilent) this.#held.push(() => client.write(bytes));
      else client.write(bytes);
    });
  }

  #spoil(fault: Fault, bytes: Buffer, client: Socket): void {
    switch (fault.kind) {
      case "delay":
        setTimeout(() => client.write(bytes), fault.ms);
        return;
      case "slow":
        client.setNoDelay(true);
        for (const byte of bytes) client.write(Uint8Array.of(byte));
        return;
      case "reset":
        client.write(bytes.subarray(0, bytes.length >> 1), () => client.resetAndDestroy());
        return;
      case "cut":
        client.end(bytes.subarray(0, bytes.length >> 1));
        return;
      case "half-open":
        return;
      default:
        fault satisfies never;
    }
  }
}
