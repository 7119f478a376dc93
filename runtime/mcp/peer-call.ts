/**
 * One running call of a peer: the caller that the engine sees, and the wording of its end. A failed call is a result
 * with isError on every transport; HTTP tells only a refusal (403) and a rate limit (429) by status as well.
 */
import type { CallEnd, Envelope, Principal } from "../abi/call.js";
import { CODES, type CodeEntry } from "../abi/codes.js";
import { isBackendError, isToolError } from "../abi/errors.js";
import type { ExtraCall, ExtraResult, Severity } from "../abi/extra-tools.js";
import type { ObservedStep } from "../abi/observer.js";
import type { Json } from "../abi/plan.js";
import { answer, type Answer, type Reply } from "./answer.js";
import { errorText, INTERNAL_ERROR, resultText, type RequestId } from "./jsonrpc.js";
import { tell, tellFromTool, type Progress } from "./notify.js";
import { contentResult, envelopeResult, failureResult, finishResult, payloadResult } from "./result.js";
import type { McpServer, Peer } from "./server.js";
import type { ProtocolVersion } from "./versions.js";

/**
 * What most calls never need is made when it is asked for. What throws while a result is worded is a failure of the
 * call, too.
 */
export class PeerCall implements ExtraCall, CallEnd {
  readonly principal: Principal;
  readonly onStep: ((step: ObservedStep) => void) | null;
  private made: string | null = null;
  private over = false;

  constructor(
    private readonly mcp: McpServer,
    private readonly peer: Peer,
    private readonly id: RequestId,
    private readonly version: ProtocolVersion,
    private readonly tool: string,
    private readonly told: Progress | null,
    private readonly reply: Reply,
  ) {
    this.principal = peer.principal;
    this.onStep = told === null ? null : told.step;
  }

  done(envelope: Envelope): void {
    let result: string;
    try {
      if (envelope.warnings.length > 0) tell(this.peer, "warning", { tool: this.tool, warnings: envelope.warnings });
      result = envelopeResult(envelope, this.version);
    } catch (error) {
      this.unwritable(error);
      return;
    }
    this.succeed(result);
  }

  doneExtra(extra: ExtraResult): void {
    let result: string;
    try {
      result = "content" in extra ? contentResult(extra.content) : payloadResult(extra.payload, this.version);
    } catch (error) {
      this.unwritable(error);
      return;
    }
    this.succeed(result);
  }

  failed(error: unknown): void {
    this.end();
    let answered: Answer | null;
    try {
      answered = this.wordFailure(error);
    } catch {
      // A notification that cannot be sent must not take the answer with it.
      answered = answer(errorText(this.id, INTERNAL_ERROR, "internal error"));
    }
    this.reply.answer(answered);
  }

  /** The tool returned what is no JSON: the call succeeded, so the call log does not show it. */
  private unwritable(error: unknown): void {
    this.mcp.log.error("a result cannot be written", { request_id: this.requestId, tool: this.tool, error });
    this.failed(error);
  }

  private succeed(result: string): void {
    this.end();
    this.reply.answer(this.finished(result));
  }

  private finished(result: string): Answer {
    return answer(resultText(this.id, finishResult(result, this.version, this.mcp.infoText)));
  }

  /** The call has its answer; steps that go on behind it are not heard any more. */
  private end(): void {
    this.over = true;
    this.told?.end();
    this.peer.end(this.id);
  }

  progress(done: number, total?: number, message?: string): void {
    if (this.told !== null && !this.silent) this.told.send(done, total, message);
  }

  log(level: Severity, data: Json): void {
    if (!this.silent) tellFromTool(this.peer, this.version, level, data);
  }

  /** Nobody is left to tell: the call has its answer, or was cancelled and will have none. */
  private get silent(): boolean {
    return this.over || this.signal.aborted;
  }

  get requestId(): string {
    return (this.made ??= this.mcp.newId());
  }

  get session(): string | null {
    return this.peer.session;
  }

  get signal(): AbortSignal {
    return this.peer.signal(this.id);
  }

  /** Words what a call threw. What is neither the caller's nor a store's doing is a bug: logged whole, answered -32603. */
  wordFailure(error: unknown): Answer | null {
    const { id, peer, tool, version } = this;
    if (isToolError(error)) {
      if (error.code === "cancelled") return null;
      const { code, message, retryable } = error;
      const { http, rpc }: CodeEntry = CODES[code];
      const given = error.data["retry_after_s"];
      const retryAfter = typeof given === "number" ? { retry_after_s: given } : {};
      if (peer.transport === "http" && http !== undefined) {
        const headers = typeof given === "number" ? ([["retry-after", String(Math.ceil(given))]] as const) : undefined;
        // The newer protocol reserves the numbers that the older one left to servers; there the code is the status.
        const number = version.era === "stateless" ? http : (rpc ?? INTERNAL_ERROR);
        return answer(errorText(id, number, message, { code, ...retryAfter }), http, headers);
      }
      if (retryable) tell(peer, "error", { tool, code, message });
      if (code !== "internal") return this.finished(failureResult({ code, message, retryable, tool, ...retryAfter }));
    }
    if (isBackendError(error)) {
      const retryable = error.kind === "unreachable" || error.kind === "busy";
      tell(peer, "error", { tool, code: "backend_unreachable", message: error.message });
      return this.finished(failureResult({ code: "backend_unreachable", message: error.message, retryable, tool }));
    }
    tell(peer, "error", { tool, code: "internal", message: "internal error" });
    return answer(errorText(id, INTERNAL_ERROR, "internal error"));
  }
}
