/** Sockets of the feeds, and what is known of each. */
import type { SocketPeer } from "../../transport/types.js";

/** One socket, with what waits for it. */
export class Client {
  readonly outbox: Uint8Array[] = [];
  outboxBytes = 0;
  lastBuffered = 0;
  /** When bytes began to wait without any of them leaving; 0 when none waits. */
  stalledAt = 0;
  heardAt: number;
  pingedAt: number;
  closed = false;

  constructor(
    readonly peer: SocketPeer,
    readonly extended: boolean,
    now: number,
  ) {
    this.heardAt = now;
    this.pingedAt = now;
  }
}

/** A frame on its way; without a step of its own it has the largest number. */
export interface Delivery {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

export class TraceClient extends Client {
  /** Frames that came before the catch-up was sent; `null` once it was. */
  waiting: Delivery[] | null = [];
  waitingBytes = 0;
  rootId = "";
  nested = false;

  constructor(peer: SocketPeer, extended: boolean, now: number, readonly id: string, readonly since: number) {
    super(peer, extended, now);
  }
}

export class RunsClient extends Client {
  constructor(peer: SocketPeer, extended: boolean, now: number, readonly pings: boolean) {
    super(peer, extended, now);
  }
}
