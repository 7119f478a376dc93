/**
 * One running call of a peer: the caller that the engine sees, and the answer that its end becomes. A failed call is a
 * result with isError on every transport; over HTTP a refusal (403) and a rate limit (429) have their status as well.
 */
import type { CallEnd, Caller, Envelope, Principal } from "../abi/call.js";
import { CODES, type CodeEntry } from "../abi/codes.js";
import { isBackendError, isToolError, type ToolError } from "../abi/errors.js";
import { failureOf } from "../abi/failure.js";
import type { ExtraResult, Severity } from "../abi/extra-tools.js";
import type { ObservedStep } from "../abi/observer.js";
import type { Json } from "../abi/plan.js";
import { parseTraceparent, type TraceContext } from "../base/traceparent.js";
import { answer, type Answer, type Reply } from "./answer.js";
import type { Target } from "../call/meta-tools.js";
import { CAPABILITIES_KEY, errorText, INTERNAL_ERROR, INVALID_PARAMS, isObject, metaOf, resultText, type Request, type RequestId } from "./jsonrpc.js";
import { Progress, progressTokenOf, tell, tellFromTool } from "./notify.js";
import { contentResult, envelopeResult, failureResult, finishResult, payloadResult } from "./result.js";
import type { McpServer, Peer } from "./server.js";
import { principalFor, type ReadCaller } from "./stated-caller.js";
import type { ProtocolVersion } from "./versions.js";

/** The request needs something of the client that it did not declare. */
const MISSING_CAPABILITY = -32021;

/** What most calls never need is made on first use. A result that cannot be written is a failure of the call, too. */
export class PeerCall implements Caller, CallEnd {
  readonly principal: Principal;
  readonly via: string | null;
  /** As the stated caller wants it; the tool's own where none is stated. */
  readonly deadlineMs: number | undefined;
  private readonly id: RequestId;
  private readonly tool: string;
  private readonly reporting: Progress | null;
  readonly onStep: ((step: ObservedStep) => void) | null;
  private made: string | null;
  private traced: TraceContext | null | undefined = undefined;
  private over = false;

  constructor(
    private readonly mcp: McpServer,
    private readonly peer: Peer,
    private readonly request: Request,
    private readonly version: ProtocolVersion,
    target: Target,
    private readonly reply: Reply,
    stated: ReadCaller | null = null,
  ) {
    const token = progressTokenOf(request.params);
    this.id = request.id;
    this.tool = target.name;
    this.via = target.via;
    this.principal = stated === null ? peer.principal : principalFor(mcp, target.name, stated);
    this.deadlineMs = stated?.deadlineMs;
    this.made = stated?.requestId ?? null;
    this.reporting = token === null ? null : new Progress(peer, version, token);
    this.onStep = this.reporting === null ? null : this.reporting.step;
  }

  /** Clients with a handshake declare what they can do once for a connection; there nothing is refused. */
  lacks(capability: string): boolean {
    if (this.version.era === "handshake") return false;
    const declared = metaOf(this.request.params)[CAPABILITIES_KEY];
    return !isObject(declared) || !isObject(declared[capability]);
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
      if ("content" in extra) result = contentResult(extra.content);
      else result = extra.isFixed === true ? this.mcp.fixedResult(extra.payload, this.version) : payloadResult(extra.payload, this.version);
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
      answered = this.failureAnswer(error);
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

  /** The call has its answer; steps that still run report nothing any more. */
  private end(): void {
    this.over = true;
    this.reporting?.end();
    this.peer.end(this.id);
  }

  progress(done: number, total?: number, message?: string): void {
    if (this.reporting !== null && !this.silent) this.reporting.send(done, total, message);
  }

  log(level: Severity, data: Json): void {
    if (!this.silent) tellFromTool(this.peer, this.version, level, data);
  }

  /** The call has its answer, or was cancelled and will have none. */
  private get silent(): boolean {
    return this.over || this.signal.aborted;
  }

  get requestId(): string {
    return (this.made ??= this.mcp.newId());
  }

  /** `_meta` belongs to the call, a header to all the calls of its request. */
  get trace(): TraceContext | null {
    if (this.traced === undefined) this.traced = parseTraceparent(metaOf(this.request.params)["traceparent"]) ?? parseTraceparent(this.peer.traceparent);
    return this.traced;
  }

  get session(): string | null {
    return this.peer.session;
  }

  get signal(): AbortSignal {
    return this.peer.signal(this.id);
  }

  /** The answer for what a call threw. An error that is neither the caller's nor a store's is a bug: -32603 without detail. */
  private failureAnswer(error: unknown): Answer | null {
    const { id, peer, tool, version } = this;
    if (isToolError(error)) {
      if (error.code === "cancelled") return null;
      const refusal = version.era === "stateless" ? this.protocolRefusal(error) : null;
      if (refusal !== null) return refusal;
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
    }
    const failure = failureOf(error, tool);
    if (failure !== null) {
      if (isBackendError(error)) tell(peer, "error", { tool, code: failure.code, message: failure.message });
      return this.finished(failureResult(failure));
    }
    tell(peer, "error", { tool, code: "internal", message: "internal error" });
    return answer(errorText(id, INTERNAL_ERROR, "internal error"));
  }

  /**
   * Refusals that the stateless protocol answers with errors of its own. With a handshake, and for what run_tool names,
   * an unknown tool is a result that the model can act on.
   */
  private protocolRefusal({ message, data }: ToolError): Answer | null {
    if (data["unknown_tool"] === true && this.via === null) {
      return answer(errorText(this.id, INVALID_PARAMS, `unknown tool: ${this.tool.slice(0, 128)}`));
    }
    const missing = data["missing_capabilities"];
    if (!Array.isArray(missing)) return null;
    const requiredCapabilities = Object.fromEntries(missing.map((capability) => [String(capability), {}]));
    return answer(errorText(this.id, MISSING_CAPABILITY, message, { requiredCapabilities }), 400);
  }
}
