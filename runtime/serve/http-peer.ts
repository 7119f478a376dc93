/** The peer behind one POST /mcp. Requests share nothing: ids of different requests never meet. */
import type { Principal } from "../abi/call.js";
import type { RequestId } from "../mcp/jsonrpc.js";
import type { Peer } from "../mcp/server.js";
import type { ProtocolVersion } from "../mcp/versions.js";
import type { HttpReply } from "../transport/types.js";

export class HttpPeer implements Peer {
  readonly transport = "http";
  readonly session = null;
  /** Ids of the calls of this request: one, or several in a batch. */
  private first: RequestId | null = null;
  private more: Set<RequestId> | null = null;
  private gone: AbortController | null = null;

  constructor(
    private readonly reply: HttpReply,
    readonly principal: Principal,
    readonly version: ProtocolVersion,
  ) {}

  /** Without sessions there is nothing to remember: each request names its version. */
  agree(): void {}

  begin(id: RequestId): boolean {
    if (this.first === null) {
      this.first = id;
      return true;
    }
    if (this.first === id || this.more?.has(id) === true) return false;
    (this.more ??= new Set()).add(id);
    return true;
  }

  signal(): AbortSignal {
    if (this.gone === null) {
      const gone = new AbortController();
      this.gone = gone;
      this.reply.onAborted(() => gone.abort());
    }
    return this.gone.signal;
  }

  /** An id stays taken for the whole batch: its answers are told apart by nothing else. */
  end(): void {}

  /** Another request's calls belong to whoever sent it; a client cancels its own by closing the connection. */
  cancel(): void {}

  /** Accepted, and without effect: there is no session to remember it in, and no stream to tell anything on. */
  setLogLevel(): void {}

  tell(): void {}
}
