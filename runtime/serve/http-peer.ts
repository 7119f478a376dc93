/** The peer behind one POST /mcp. Requests share nothing: ids of different requests never meet. */
import type { Principal } from "../abi/call.js";
import type { RequestId } from "../mcp/jsonrpc.js";
import type { Peer } from "../mcp/server.js";
import type { ProtocolVersion } from "../mcp/versions.js";
import type { HttpReply } from "../transport/types.js";

export class HttpPeer implements Peer {
  readonly transport = "http";
  /** Ids of the calls of this request; more than one only in a batch. */
  private readonly calls: RequestId[] = [];
  private gone: AbortController | null = null;

  constructor(
    private readonly reply: HttpReply,
    readonly principal: Principal,
    readonly version: ProtocolVersion,
  ) {}

  /** Without sessions there is nothing to remember: each request names its version. */
  agree(): void {}

  begin(id: RequestId): AbortSignal | null {
    if (this.calls.includes(id)) return null;
    this.calls.push(id);
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
}
