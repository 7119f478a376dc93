/** WebSocket routes on uWS: bounded outbox, text frames only, and no exception of a listener reaches the library. */
import type { HttpRequest, SocketPeer, SocketRoute } from "./types.js";
import type { UwsModule, UwsRequest, UwsResponse, UwsSocket, UwsSocketBehavior } from "./uws-api.js";
import { UwsReply, type Guard } from "./uws-reply.js";

/** Frames a little over the limit still arrive, so that they can be refused with a reason (the library just drops the connection). */
const OVERSIZE_GRACE_BYTES = 64 * 1024;
/** The library pings on its own; a peer that answers nothing for this long is closed. */
const IDLE_TIMEOUT_S = 120;

interface SocketData {
  readonly state: never;
  peer: UwsPeer | null;
}

export function socketBehavior(
  uws: UwsModule,
  route: SocketRoute<never>,
  readRequest: (res: UwsResponse, req: UwsRequest) => HttpRequest,
  guard: Guard,
): UwsSocketBehavior {
  const guarded = (ws: UwsSocket, action: (peer: UwsPeer, state: never) => void): void => {
    const data = ws.getUserData() as SocketData;
    const peer = (data.peer ??= new UwsPeer(ws));
    try {
      action(peer, data.state);
    } catch (error) {
      guard.report(error, { method: "GET", path: route.pattern });
      peer.close(1011, "internal error");
    }
  };
  return {
    compression: uws.DISABLED,
    maxPayloadLength: route.maxMessageBytes + OVERSIZE_GRACE_BYTES,
    maxBackpressure: route.maxBufferedBytes,
    idleTimeout: IDLE_TIMEOUT_S,
    sendPingsAutomatically: true,
    upgrade(res, req, context) {
      const request = readRequest(res, req);
      const reply = new UwsReply(res, request, guard);
      try {
        const key = req.getHeader("sec-websocket-key");
        const extensions = req.getHeader("sec-websocket-extensions");
        const decision = route.upgrade(request);
        if ("status" in decision) {
          reply.send(decision.status, [["content-type", "application/json"]], decision.body);
          return;
        }
        reply.answered = true;
        const data: SocketData = { state: decision.state, peer: null };
        res.upgrade(data, key, decision.protocol ?? "", extensions, context);
      } catch (error) {
        reply.fail(error);
      }
    },
    open: (ws) => guarded(ws, (peer, state) => route.open(peer, state)),
    message(ws, message, isBinary) {
      guarded(ws, (peer, state) => {
        if (isBinary) {
          if (route.binary !== "ignore") peer.close(1003, "text frames only");
        } else if (message.byteLength > route.maxMessageBytes) peer.close(1009, "frame too large");
        else route.message(peer, state, Buffer.from(message).toString());
      });
    },
    drain: (ws) => guarded(ws, (peer, state) => route.drain?.(peer, state)),
    close(ws) {
      guarded(ws, (peer, state) => {
        peer.closed = true;
        route.close(peer, state);
      });
    },
  };
}

class UwsPeer implements SocketPeer {
  closed = false;

  constructor(private readonly ws: UwsSocket) {}

  get bufferedBytes(): number {
    return this.closed ? 0 : this.ws.getBufferedAmount();
  }

  send(message: string | Uint8Array): "sent" | "queued" | "dropped" {
    if (this.closed) return "dropped";
    const result = this.ws.send(message, false, false);
    return result === 1 ? "sent" : result === 0 ? "queued" : "dropped";
  }

  cork(work: () => void): void {
    if (this.closed) work();
    else this.ws.cork(work);
  }

  close(code: number, reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.ws.end(code, reason);
  }
}
