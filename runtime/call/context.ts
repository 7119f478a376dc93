/**
 * One tool call, step by step; each file of this folder is one step and `call.ts` is their order.
 * The room knows plans, adapters' and embedders' interfaces; it knows no transport, no MCP and no backend.
 * A call comes in as (plan, validated arguments, context) and leaves as an envelope or a `ToolError`.
 */
import type { CallContext, CallServices, Caller, Principal } from "../abi/call.js";
import { ToolError, toolError } from "../abi/errors.js";
import { Deadline } from "../limits/deadline.js";

/** Nobody in particular: stdio, `--auth none`, `toolsrv test`. */
export const ANONYMOUS: Principal = { id: null, claims: {}, headers: {} };

/** The state of one call. A class because it has a lifetime: its deadline must be ended. */
export class Call implements CallContext {
  readonly tool: string;
  readonly requestId: string;
  readonly principal: Principal;
  readonly startedMs: number;
  readonly deadlineMs: number;
  readonly warnings: string[] = [];
  readonly debug: boolean;
  readonly services: CallServices;
  readonly deadline: Deadline;

  constructor(tool: string, caller: Caller, deadlineMs: number, services: CallServices) {
    this.tool = tool;
    this.requestId = caller.requestId;
    this.principal = caller.principal;
    this.startedMs = services.now();
    this.deadlineMs = deadlineMs;
    this.debug = caller.debug === true;
    this.services = services;
    this.deadline = new Deadline({
      timeoutMs: deadlineMs,
      parent: caller.signal,
      onTimeout: () => toolError("timeout", { tool, seconds: deadlineMs / 1000 }),
      onCancel: () => new ToolError("cancelled", "the call was cancelled"),
    });
  }

  get signal(): AbortSignal {
    return this.deadline.signal;
  }
}
