/** The peer behind one POST /mcp. Requests share nothing: ids of different requests never meet. */
import type { Principal } from "../../abi/call.js";
import type { Severity } from "../../abi/extra-tools.js";
import type { Answer, Reply } from "../../mcp/answer.js";
import { bodyText } from "../../mcp/dispatch.js";
import type { RequestId } from "../../mcp/jsonrpc.js";
import type { Peer } from "../../mcp/server.js";
import type { ProtocolVersion } from "../../mcp/versions.js";
import type { InFlight } from "../in-flight.js";
import type { HttpStream } from "../../transport/types.js";
import { EVENT_TYPE, eventText, sendAnswer, takesEvents, type AnswerTo } from "./answer.js";

/** Notifications that a client may leave unread; it misses those that come meanwhile, never its answer. */
const MAX_UNREAD = 100;

export class HttpPeer implements Peer, Reply {
  readonly transport = "http";
  readonly session = null;
  logLevel: Severity | null = null;
  /** Ids of the calls of this request: one, or several in a batch. */
  private first: RequestId | null = null;
  private more: Set<RequestId> | null = null;
  private gone: AbortController | null = null;
  /** Open once a notification was sent before the answer. */
  private stream: HttpStream | null = null;
  private unread = 0;

  constructor(
    private readonly to: AnswerTo,
    readonly principal: Principal,
    readonly version: ProtocolVersion,
    /** Counts the request as running; begun by the caller of this constructor. */
    private readonly inFlight: InFlight,
    readonly traceparent: string | null,
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
      this.to.reply.onAborted(() => gone.abort());
    }
    return this.gone.signal;
  }

  /** An id stays taken for the whole batch: nothing else distinguishes its answers. */
  end(): void {}

  /** Another request's calls belong to its sender; a client cancels its own by closing the connection. */
  cancel(): void {}

  /** For the rest of this request: there is no session to remember it in. */
  setLogLevel(level: Severity): void {
    this.logLevel = level;
  }

  /** The first one makes the answer an event stream, for clients that read them; others get their answer alone. */
  notify(text: string): void {
    const { reply, accept, cors } = this.to;
    if (!takesEvents(accept) || this.unread >= MAX_UNREAD) return;
    this.stream ??= reply.stream(200, [...EVENT_TYPE, ...cors]);
    this.unread += 1;
    void this.stream.write(eventText(text)).then(() => (this.unread -= 1));
  }

  /** Ends the request, which counts as running until the client has taken the answer or is gone. */
  answer(answered: Answer | null): void {
    const { stream } = this;
    if (stream === null) {
      try {
        sendAnswer(this.to, answered);
      } catch (error) {
        this.to.reply.fail(error);
      }
      const { unsent } = this.to.reply;
      if (unsent === null) this.inFlight.end();
      else void unsent.then(() => this.inFlight.end());
      return;
    }
    const written = answered === null ? Promise.resolve(true) : stream.write(eventText(bodyText(answered)));
    void written.then(() => stream.end()).finally(() => this.inFlight.end());
  }
}
