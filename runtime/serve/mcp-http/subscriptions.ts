/**
 * Clients that listen (subscriptions/listen over HTTP): each has one event stream open. They are notified when the list
 * of tools has changed, kept alive through proxies by comments, and ended with a result when the server ends. A stream
 * ends with the credentials that it was opened with: they are judged again before each comment.
 */
import type { ListenRequest } from "../../mcp/stateless-protocol.js";
import { notificationText, resultText } from "../../mcp/jsonrpc.js";
import type { HeaderList, HttpReply, HttpStream } from "../../transport/types.js";
import { eventText } from "./answer.js";

const KEEP_ALIVE_MS = 15_000;
/** A client that leaves this much unread is gone for all purposes; its stream is closed. */
const MAX_UNREAD_MESSAGES = 100;

interface Listener {
  readonly request: ListenRequest;
  readonly stream: HttpStream;
  /** serverInfo as JSON text. */
  readonly infoText: string;
  readonly stillAdmitted: () => Promise<boolean>;
  unread: number;
}

export class Subscriptions {
  private readonly listeners = new Set<Listener>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly keepAliveMs = KEEP_ALIVE_MS) {}

  /**
   * Opens the stream of one request; its first event lists the notifications to come.
   * @param stillAdmitted whether the head of the request would be admitted now.
   */
  open(request: ListenRequest, infoText: string, reply: HttpReply, headers: HeaderList, stillAdmitted: () => Promise<boolean>): void {
    const listener: Listener = { request, infoText, stream: reply.stream(200, headers), stillAdmitted, unread: 0 };
    this.listeners.add(listener);
    reply.onAborted(() => this.remove(listener));
    const notifications = request.toolsListChanged ? { toolsListChanged: true } : {};
    this.send(listener, eventText(notificationText("notifications/subscriptions/acknowledged", { notifications, ...subscriptionMeta(request) })));
    this.timer ??= setInterval(() => this.keepAlive(), this.keepAliveMs).unref();
  }

  /** Notifies the clients that asked for it that tools/list has changed. */
  toolsChanged(): void {
    for (const listener of this.listeners) {
      if (!listener.request.toolsListChanged) continue;
      this.send(listener, eventText(notificationText("notifications/tools/list_changed", subscriptionMeta(listener.request))));
    }
  }

  /** Ends every subscription with its result. */
  close(): void {
    for (const listener of this.listeners) this.end(listener);
  }

  private end(listener: Listener): void {
    const { request, stream, infoText } = listener;
    const meta = { ...subscriptionMeta(request)._meta, "io.modelcontextprotocol/serverInfo": JSON.parse(infoText) as unknown };
    void stream.write(eventText(resultText(request.id, JSON.stringify({ resultType: "complete", _meta: meta }))));
    stream.end();
    this.remove(listener);
  }

  private keepAlive(): void {
    for (const listener of this.listeners) {
      void listener.stillAdmitted().then((admitted) => {
        if (!this.listeners.has(listener)) return;
        if (admitted) this.send(listener, ":\n\n");
        else this.end(listener);
      });
    }
  }

  private send(listener: Listener, text: string): void {
    if (listener.unread >= MAX_UNREAD_MESSAGES) {
      listener.stream.end();
      this.remove(listener);
      return;
    }
    listener.unread += 1;
    void listener.stream.write(text).then((open) => {
      listener.unread -= 1;
      if (!open) this.remove(listener);
    });
  }

  private remove(listener: Listener): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}

function subscriptionMeta({ id }: ListenRequest): { readonly _meta: { readonly [key: string]: unknown } } {
  return { _meta: { "io.modelcontextprotocol/subscriptionId": id } };
}
