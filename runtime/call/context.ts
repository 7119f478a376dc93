/**
 * One tool call, step by step; each file of this folder is one step and `call.ts` is their order.
 * The room knows plans, adapters' and embedders' interfaces; it knows no transport, no MCP and no backend.
 * A call comes in as (plan, validated arguments, context) and leaves as an envelope or a `ToolError`.
 */
import type { CallContext, CallServices, Caller, CallWatch, Principal } from "../abi/call.js";
import { ToolError, toolError } from "../abi/errors.js";
import { Deadline, type DeadlineOptions } from "../limits/deadline.js";

/** Nobody in particular: stdio, `--auth none`, `toolsrv test`. */
export const ANONYMOUS: Principal = { id: null, claims: {}, headers: {} };

/** The state of one call. A class because it has a lifetime: its deadline must be ended. */
export class Call implements CallContext, DeadlineOptions {
  readonly tool: string;
  readonly principal: Principal;
  readonly startedMs: number;
  readonly deadlineMs: number;
  readonly warnings: string[] = [];
  readonly debug: boolean;
  readonly services: CallServices;
  readonly watch: CallWatch | null;
  readonly deadline: Deadline;
  readonly #caller: Caller;

  constructor(tool: string, caller: Caller, deadlineMs: number, services: CallServices, watch: CallWatch | null) {
    this.tool = tool;
    this.principal = caller.principal;
    this.startedMs = services.now();
    this.deadlineMs = deadlineMs;
    this.debug = caller.debug === true;
    this.services = services;
    this.watch = watch;
    this.#caller = caller;
    this.deadline = new Deadline(this);
  }

  get requestId(): string {
    return this.#caller.requestId;
  }

  get signal(): AbortSignal {
    return this.deadline.signal;
  }

  // ---- what the deadline asks when its clock is started ------------------------------------------------------------
  get timeoutMs(): number {
    return this.deadlineMs;
  }

  get parent(): AbortSignal | undefined {
    return this.#caller.signal;
  }

  onTimeout(): Error {
    return toolError("timeout", { tool: this.tool, seconds: this.deadlineMs / 1000 });
  }

  onCancel(): Error {
    return new ToolError("cancelled", "the call was cancelled");
  }
}
