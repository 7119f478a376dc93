/**
 * The live feeds. Sockets subscribe before they are caught up, so nothing is missed; what arrives meanwhile waits, and
 * what the catch-up contained is left out by its sequence number, so nothing comes twice. A socket that does not read
 * has a bounded outbox of its own and is closed when that overflows or stands still; nobody else waits for it. A frame
 * is made once, as bytes that all its sockets share, and what a commit brought leaves together, socket by socket.
 */
import type { SocketPeer } from "../../transport/types.js";
import type { Frame, News, RunUpdate, TraceStore } from "../store/store.js";
import { type Client, type Delivery, RunsClient, TraceClient } from "./clients.js";
import { byRun, frame } from "./frames.js";

export interface HubOptions {
  readonly store: TraceStore;
  /** Bytes of frames that wait for one socket. */
  readonly outboxBytes: number;
  /** A socket that takes nothing for so long is closed. */
  readonly stallMs: number;
  /** Silence of a client after which /ws/runs sends a ping. */
  readonly pingMs: number;
  /** Starts and ends of runs are asked for even when no socket is open: somebody else hears the same news. */
  readonly updates?: boolean;
  /** Milliseconds from a monotonic clock. */
  readonly monotonic: () => number;
  readonly onError: (error: unknown) => void;
}

/** Close codes of the feeds. */
export const CLOSE = { unauthorized: 4401, slow: 1013, stopping: 1001 } as const;

const PAGE = 1000;
/** Running runs announced in one round. */
const MAX_GROWN = 200;

export class FeedHub {
  readonly #traces = new Map<string, Set<TraceClient>>();
  readonly #runs = new Set<RunsClient>();
  readonly #clients = new Map<SocketPeer, Client>();
  readonly #grown = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #ticking = false;
  #stopped = false;

  constructor(private readonly options: HubOptions) {
    if (options.updates === true) this.#listen();
  }

  /** Open sockets. */
  get size(): number {
    return this.#clients.size;
  }

  /** A socket of /ws/trace/{id}. Steps up to `since` are left out of its catch-up. */
  openTrace(peer: SocketPeer, id: string, extended: boolean, since: number): void {
    const client = new TraceClient(peer, extended, this.options.monotonic(), id, since);
    this.#admit(peer, client);
    this.#catchUp(client).catch((error: unknown) => {
      this.options.onError(error);
      if (client.closed) return;
      this.#send(client, frame("error", id, '{"detail":"catchup failed"}'));
      this.#release(client, 0);
    });
  }

  /** A socket of /ws/runs. */
  openRuns(peer: SocketPeer, extended: boolean, pings: boolean): void {
    const client = new RunsClient(peer, extended, this.options.monotonic(), pings);
    this.#admit(peer, client);
    this.#runs.add(client);
    this.#listen();
  }

  /** A frame of the client: it only shows that it is there. */
  heard(peer: SocketPeer): void {
    const client = this.#clients.get(peer);
    if (client !== undefined) client.heardAt = this.options.monotonic();
  }

  drained(peer: SocketPeer): void {
    const client = this.#clients.get(peer);
    if (client !== undefined) this.#flush(client);
  }

  closed(peer: SocketPeer): void {
    const client = this.#clients.get(peer);
    if (client === undefined) return;
    client.closed = true;
    this.#clients.delete(peer);
    if (client instanceof RunsClient) this.#runs.delete(client);
    if (client instanceof TraceClient && client.rootId !== "") this.#unwatch(client);
    this.#listen();
    if (this.#clients.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  /** Tells everybody what a commit brought. */
  publish(news: News): void {
    const starts = news.updates.filter((update) => update.change === "started");
    const ends = news.updates.filter((update) => update.change === "ended");
    for (const update of starts) this.#publishRun(update);
    for (const [rootId, frames] of byRun(news.frames)) this.#publishFrames(rootId, frames);
    for (const update of ends) this.#publishRun(update);
    for (const id of news.grown) if (this.#grown.size < MAX_GROWN) this.#grown.add(id);
  }

  /** Tells the list, and those who follow the run. */
  #publishRun(update: RunUpdate): void {
    const followers = this.#traces.get(update.runId);
    if (this.#runs.size === 0 && followers === undefined) return;
    const plain = frame("run_update", update.runId, `{"run":${update.plain}}`);
    const extended = frame("run_update", update.runId, `{"run":${update.extended}}`);
    for (const client of this.#runs) this.#send(client, client.extended ? extended : plain);
    for (const client of followers ?? []) this.#deliver(client, [{ seq: Number.MAX_SAFE_INTEGER, bytes: client.extended ? extended : plain }]);
    this.#grown.delete(update.runId);
  }

  /** Closes every socket. */
  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    for (const client of [...this.#clients.values()]) this.#close(client, CLOSE.stopping, "the service stops");
  }

  #admit(peer: SocketPeer, client: Client): void {
    this.#clients.set(peer, client);
    if (this.#stopped) {
      this.#close(client, CLOSE.stopping, "the service stops");
      return;
    }
    this.#timer ??= setInterval(() => this.#tick(), 1000);
  }

  async #catchUp(client: TraceClient): Promise<void> {
    const { store } = this.options;
    const target = await store.read.target(client.id);
    if (client.closed) return;
    client.rootId = target?.rootId ?? client.id;
    client.nested = target?.nested ?? false;
    let followers = this.#traces.get(client.rootId);
    if (followers === undefined) {
      followers = new Set();
      this.#traces.set(client.rootId, followers);
    }
    followers.add(client);
    this.#listen();
    const upTo = await store.watch(client.rootId, client.extended);
    const sinceSeq = await this.#resumeAt(client, upTo);
    const parts: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<TraceStore["read"]["steps"]>> = await store.read.steps({
        runId: client.id, cursor, limit: PAGE, extended: client.extended, payloads: false, separator: ",", sinceSeq, untilSeq: upTo,
      });
      if (client.closed) return;
      if (page !== null && page.text !== "") parts.push(page.text);
      cursor = page?.next ?? null;
    } while (cursor !== null);
    const last = client.extended ? `,"last_seq":${upTo}` : "";
    this.#send(client, frame("catchup", client.id, `{"steps":[${parts.join(",")}]${last}}`));
    this.#release(client, upTo);
  }

  /** Steps up to here are known to the client. A number that was never given out is of other traces: it knows none of these. */
  async #resumeAt({ id, since }: TraceClient, upTo: number): Promise<number> {
    if (since <= upTo) return since;
    const page = await this.options.store.read.steps({ runId: id, cursor: null, limit: 1, extended: false, payloads: false, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
    return page !== null && since > page.lastSeq ? 0 : since;
  }

  /** Sends what waited for the catch-up and was not part of it. */
  #release(client: TraceClient, upTo: number): void {
    const waiting = client.waiting ?? [];
    client.waiting = null;
    this.#sendAll(client, waiting.filter((entry) => entry.seq > upTo));
  }

  #publishFrames(rootId: string, frames: readonly Frame[]): void {
    const followers = this.#traces.get(rootId);
    if (followers === undefined) return;
    const deliveries = (text: (entry: Frame) => string | null, of: readonly Frame[]): readonly Delivery[] =>
      of.flatMap((entry) => {
        const payload = text(entry);
        return payload === null ? [] : [{ seq: entry.seq, bytes: frame("event", rootId, payload) }];
      });
    const plain = deliveries((entry) => entry.plain, frames);
    const extended = deliveries((entry) => entry.extended, frames);
    for (const client of followers) {
      if (client.nested) this.#deliver(client, deliveries((entry) => (client.extended ? entry.extended : entry.plain), frames.filter(({ runId }) => runId === client.id)));
      else this.#deliver(client, client.extended ? extended : plain);
    }
  }

  #deliver(client: TraceClient, deliveries: readonly Delivery[]): void {
    if (client.waiting === null) {
      this.#sendAll(client, deliveries);
      return;
    }
    for (const delivery of deliveries) {
      client.waiting.push(delivery);
      client.waitingBytes += delivery.bytes.length;
    }
    if (client.waitingBytes > this.options.outboxBytes) this.#close(client, CLOSE.slow, "too slow");
  }

  #sendAll(client: Client, deliveries: readonly Delivery[]): void {
    if (deliveries.length === 0 || client.closed) return;
    client.peer.cork(() => {
      for (const { bytes } of deliveries) this.#send(client, bytes);
    });
  }

  #send(client: Client, bytes: Uint8Array): void {
    if (client.closed) return;
    if (client.outbox.length === 0) {
      const result = client.peer.send(bytes);
      if (result === "sent") return;
      client.stalledAt ||= this.options.monotonic();
      if (result === "queued") return;
    }
    client.outbox.push(bytes);
    client.outboxBytes += bytes.length;
    if (client.outboxBytes > this.options.outboxBytes) this.#close(client, CLOSE.slow, "too slow");
  }

  #flush(client: Client): void {
    client.stalledAt = 0;
    let sent = 0;
    while (sent < client.outbox.length && !client.closed) {
      const bytes = client.outbox[sent];
      if (bytes === undefined || client.peer.send(bytes) === "dropped") break;
      client.outboxBytes -= bytes.length;
      sent += 1;
    }
    client.outbox.splice(0, sent);
    if (client.outbox.length > 0 || client.peer.bufferedBytes > 0) client.stalledAt = this.options.monotonic();
  }

  #close(client: Client, code: number, reason: string): void {
    if (client.closed) return;
    const { peer } = client;
    this.closed(peer);
    client.outbox.length = 0;
    peer.close(code, reason);
  }

  #unwatch(client: TraceClient): void {
    const followers = this.#traces.get(client.rootId);
    followers?.delete(client);
    if (followers?.size === 0) this.#traces.delete(client.rootId);
    this.options.store.unwatch(client.rootId, client.extended);
  }

  #listen(): void {
    this.options.store.listen({ updates: this.options.updates === true || this.#runs.size > 0 || this.#traces.size > 0, growth: [...this.#runs].some((client) => client.extended) });
  }

  #tick(): void {
    const now = this.options.monotonic();
    for (const client of [...this.#clients.values()]) {
      const buffered = client.peer.bufferedBytes;
      if (buffered === 0 && client.outbox.length === 0) client.stalledAt = 0;
      else if (buffered < client.lastBuffered) client.stalledAt = now;
      client.lastBuffered = buffered;
      if (client.stalledAt > 0 && now - client.stalledAt > this.options.stallMs) this.#close(client, CLOSE.slow, "too slow");
    }
    for (const client of this.#runs) {
      if (!client.pings || now - Math.max(client.heardAt, client.pingedAt) < this.options.pingMs) continue;
      client.pingedAt = now;
      this.#send(client, frame("ping", "", "{}"));
    }
    if (this.#runs.size === 0 || this.#ticking) return;
    this.#ticking = true;
    this.#tellList()
      .catch((error: unknown) => this.options.onError(error))
      .finally(() => (this.#ticking = false));
  }

  /** What changed in the graph, and how running runs grew. */
  async #tellList(): Promise<void> {
    const { store } = this.options;
    const { nodes, edges } = await store.takeChanged();
    if (nodes.length + edges.length > 0) {
      const topology = await store.read.changed(nodes, edges);
      const text = frame("topology_update", "", `{"scope":"all",${topology.slice(1)}`);
      for (const client of this.#runs) this.#send(client, text);
    }
    if (this.#grown.size === 0) return;
    const grown = [...this.#grown];
    this.#grown.clear();
    for (const run of await store.read.runList(grown)) {
      const text = frame("run_update", run.runId, `{"run":${run.extended}}`);
      for (const client of this.#runs) if (client.extended) this.#send(client, text);
    }
  }
}
