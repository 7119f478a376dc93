/**
 * tools/call: sees through run_tool, runs the tool in the engine, and words the outcome. A failed call is a result
 * with isError on every transport; HTTP tells only a refusal (403) and a rate limit (429) by status as well.
 */
import type { Caller, Principal } from "../abi/call.js";
import { CODES, type CodeEntry } from "../abi/codes.js";
import type { ExtraCall, ExtraResult, ExtraTool, Severity } from "../abi/extra-tools.js";
import type { ObservedStep } from "../abi/observer.js";
import type { Json } from "../abi/plan.js";
import { isBackendError, isToolError, ToolError } from "../abi/errors.js";
import { answer, type Answer } from "./answer.js";
import { CAPABILITIES_KEY, errorText, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, isObject, metaOf, resultText, type Request, type RequestId } from "./jsonrpc.js";
import { resolveTarget } from "./meta-tools.js";
import { Progress, progressTokenOf, tell, tellFromTool } from "./notify.js";
import { contentResult, envelopeResult, failureResult, finishResult, payloadResult } from "./result.js";
import type { McpServer, Peer } from "./server.js";
import type { ProtocolVersion } from "./versions.js";

/** The request needs something of the client that it did not declare. */
const MISSING_CAPABILITY = -32021;

/** The answer, or `null` for a call that its peer has cancelled. Never rejects. */
export function callTool(mcp: McpServer, request: Request, peer: Peer, version: ProtocolVersion): Answer | null | Promise<Answer | null> {
  const { id, params } = request;
  const name = params["name"];
  const args = params["arguments"] ?? undefined;
  if (typeof name !== "string") return answer(errorText(id, INVALID_PARAMS, "params.name is the name of a tool"));
  if (args !== undefined && !isObject(args)) return answer(errorText(id, INVALID_PARAMS, "params.arguments is an object"));

  const target = resolveTarget(name, args, mcp.metaTools);
  const denied = target.via.find((meta) => mcp.engine.access.isDenied(meta));
  if (denied !== undefined) return refused(mcp, new ToolError("auth_error", `tool '${denied}' is denied`), request, peer, version, denied);
  switch (target.kind) {
    case "list":
      return mcp.lists.available(version, peer.principal).answer(id);
    case "unusable":
      return finished(mcp, id, version, payloadResult({ rows: [], count: 0, message: target.message }, version));
    case "tool":
      // In the handshake era, as with what run_tool names, an unknown tool is a result that the model can act on.
      if (version.era === "envelope" && target.name === name && !isKnown(mcp, name)) {
        return answer(errorText(id, INVALID_PARAMS, `unknown tool: ${name.slice(0, 128)}`));
      }
      return runTool(mcp, request, peer, version, target.name, target.args);
    default:
      return target satisfies never;
  }
}

function isKnown(mcp: McpServer, tool: string): boolean {
  return Object.hasOwn(mcp.engine.program.plans, tool) || extraTool(mcp, tool) !== null;
}

function extraTool({ engine }: McpServer, name: string): ExtraTool | null {
  const { extra } = engine.program;
  return extra === undefined ? null : (extra.definitions.find((definition) => definition.name === name) ?? null);
}

function finished(mcp: McpServer, id: RequestId, version: ProtocolVersion, result: string): Answer {
  return answer(resultText(id, finishResult(result, version, mcp.infoText)));
}

/** A refusal that is known before anything runs. */
function refused(mcp: McpServer, error: ToolError, { id }: Request, peer: Peer, version: ProtocolVersion, tool: string): Answer {
  return failure(mcp, error, { id, peer, version, tool, caller: new PeerCaller(peer, id, version, mcp.newId, null) }) ?? answer(errorText(id, INTERNAL_ERROR, "internal error"));
}

function runTool(mcp: McpServer, request: Request, peer: Peer, version: ProtocolVersion, tool: string, args: unknown): Answer | null | Promise<Answer | null> {
  const { id, params } = request;
  const extra = extraTool(mcp, tool);
  const refusal = extra === null ? null : refuseExtra(mcp, extra, request, peer, version);
  if (refusal !== null) return refusal;
  if (!peer.begin(id)) return answer(errorText(null, INVALID_REQUEST, "a call with this id is still running"), 400);
  const token = progressTokenOf(params);
  const caller = new PeerCaller(peer, id, version, mcp.newId, token === null ? null : new Progress(peer, version, token));
  const failed = (error: unknown): Answer | null => {
    caller.end();
    return failure(mcp, error, { id, peer, version, tool, caller });
  };
  // What throws while a result is worded is a failure of the call, too.
  const worded = <T>(word: (payload: T) => string) => (payload: T): Answer | null => {
    try {
      const result = word(payload);
      caller.end();
      return finished(mcp, id, version, result);
    } catch (error) {
      return failed(error);
    }
  };
  if (extra !== null) return callExtra(mcp, extra, args, caller).then(worded((result) => ("content" in result ? contentResult(result.content) : payloadResult(result.payload, version))), failed);
  return mcp.engine.call(tool, args, caller).then(worded((envelope) => {
    if (envelope.warnings.length > 0) tell(peer, "warning", { tool, warnings: envelope.warnings });
    return envelopeResult(envelope, version);
  }), failed);
}

/** What keeps an extra tool from being called at all, which for the others the engine decides. */
function refuseExtra(mcp: McpServer, { name, needs = [] }: ExtraTool, request: Request, peer: Peer, version: ProtocolVersion): Answer | null {
  const refusal = mcp.engine.access.refusal(name, peer.principal);
  if (refusal !== null) return refused(mcp, refusal, request, peer, version, name);
  if (version.era === "handshake") return null;
  const declared = metaOf(request.params)[CAPABILITIES_KEY];
  const missing = needs.filter((capability) => !isObject(declared) || !isObject(declared[capability]));
  if (missing.length === 0) return null;
  const requiredCapabilities = Object.fromEntries(missing.map((capability) => [capability, {}]));
  return answer(errorText(request.id, MISSING_CAPABILITY, `tool '${name}' needs a client that declares ${missing.join(", ")}`, { requiredCapabilities }), 400);
}

/** An extra tool that did not notice that it was cancelled has been cancelled all the same. */
async function callExtra({ engine }: McpServer, { name }: ExtraTool, args: unknown, caller: PeerCaller): Promise<ExtraResult> {
  const { extra } = engine.program;
  if (extra === undefined) throw new Error("there are no extra tools");
  const result = await extra.call(name, isObject(args) ? args : {}, caller);
  if (caller.signal.aborted) throw new ToolError("cancelled", "the call was cancelled");
  return result;
}

/** The caller that a peer is for one call. What most calls never need is made when it is asked for. */
class PeerCaller implements ExtraCall {
  readonly principal: Principal;
  readonly onStep: ((step: ObservedStep) => void) | null;
  private made: string | null = null;
  private over = false;

  constructor(
    private readonly peer: Peer,
    private readonly id: RequestId,
    private readonly version: ProtocolVersion,
    private readonly newId: () => string,
    private readonly told: Progress | null,
  ) {
    this.principal = peer.principal;
    this.onStep = told === null ? null : told.step;
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

  /** The call has its answer; steps that go on behind it are not heard any more. */
  end(): void {
    this.over = true;
    this.told?.end();
    this.peer.end(this.id);
  }

  get requestId(): string {
    return (this.made ??= this.newId());
  }

  get session(): string | null {
    return this.peer.session;
  }

  get signal(): AbortSignal {
    return this.peer.signal(this.id);
  }
}

interface FailedCall {
  readonly id: RequestId;
  readonly peer: Peer;
  readonly version: ProtocolVersion;
  readonly tool: string;
  readonly caller: Caller;
}

/** Words what a call threw. What is neither the caller's nor a store's doing is a bug: logged whole, answered -32603. */
function failure(mcp: McpServer, error: unknown, { id, peer, version, tool, caller }: FailedCall): Answer | null {
  if (isToolError(error)) {
    if (error.code === "cancelled") return null;
    const { code, message, retryable } = error;
    const { http, rpc }: CodeEntry = CODES[code];
    const given = error.data["retry_after_s"];
    const retryAfter = typeof given === "number" ? { retry_after_s: given } : {};
    if (peer.transport === "http" && http !== undefined) {
      const headers = typeof given === "number" ? ([["retry-after", String(Math.ceil(given))]] as const) : undefined;
      // The newer protocol reserves the numbers that the older one left to servers; there the code is the status.
      const number = version.era === "envelope" ? http : (rpc ?? INTERNAL_ERROR);
      return answer(errorText(id, number, message, { code, ...retryAfter }), http, headers);
    }
    if (retryable) tell(peer, "error", { tool, code, message });
    if (code !== "internal") return finished(mcp, id, version, failureResult({ code, message, retryable, tool, ...retryAfter }));
  }
  if (isBackendError(error)) {
    const retryable = error.kind === "unreachable" || error.kind === "busy";
    mcp.log.warn("backend error", { request_id: caller.requestId, tool, backend: error.backend, kind: error.kind, error });
    tell(peer, "error", { tool, code: "backend_unreachable", message: error.message });
    return finished(mcp, id, version, failureResult({ code: "backend_unreachable", message: error.message, retryable, tool }));
  }
  tell(peer, "error", { tool, code: "internal", message: "internal error" });
  mcp.log.error("tool call failed", { request_id: caller.requestId, tool, error });
  return answer(errorText(id, INTERNAL_ERROR, "internal error"));
}
