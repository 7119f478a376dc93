/**
 * One tool call. `call.ts` has the order of its steps; `steps/`, `pipeline/` and `directory/` hold them, a file each.
 * The room knows plans, adapters' and embedders' interfaces; it knows no transport, no MCP and no backend.
 * A call comes in as (plan, validated arguments, context) and leaves as an envelope or a `ToolError`.
 */
import type { CallContext, CallEnd, CallServices, Caller, CallWatch, Envelope, Principal } from "../abi/call.js";
import type { ExtraCall, ExtraResult, Severity } from "../abi/extra-tools.js";
import type { Json } from "../abi/plan.js";
import { ToolError, toolError } from "../abi/errors.js";
import type { TraceContext } from "../base/traceparent.js";
import { Deadline, type DeadlineOptions } from "../limits/deadline.js";

/** Nobody in particular: stdio, `--auth none`, `toolsrv test`. */
export const ANONYMOUS: Principal = { id: null, claims: {}, headers: {} };

/** The state of one call. A class because it has a lifetime: it ends once, and its deadline with it. */
export class Call implements CallContext, ExtraCall, DeadlineOptions {
  readonly startedMs: number;
  readonly warnings: string[] = [];
  /** Made when a step asks for the signal: a call that never waits has no clock to start. */
  #deadline: Deadline | null = null;
  #over = false;
  readonly #caller: Caller;
  readonly #end: CallEnd;

  constructor(
    readonly tool: string,
    caller: Caller,
    readonly deadlineMs: number,
    readonly services: CallServices,
    readonly watch: CallWatch | null,
    end: CallEnd,
  ) {
    this.startedMs = services.now();
    this.#caller = caller;
    this.#end = end;
  }

  get requestId(): string {
    return this.#caller.requestId;
  }

  get trace(): TraceContext | null {
    return this.#caller.trace ?? null;
  }

  get principal(): Principal {
    return this.#caller.principal;
  }

  get session(): string | null {
    return this.#caller.session ?? null;
  }

  progress(done: number, total?: number, message?: string): void {
    if (!this.#over) this.#caller.progress?.(done, total, message);
  }

  log(level: Severity, data: Json): void {
    if (!this.#over) this.#caller.log?.(level, data);
  }

  get debug(): boolean {
    return this.#caller.debug === true;
  }

  get signal(): AbortSignal {
    if (this.#deadline === null) {
      this.#deadline = new Deadline(this);
      // The deadline's error ends the call, even where the step that waits ignores the signal.
      this.#deadline.onAbort((reason) => this.failed(reason));
    }
    return this.#deadline.signal;
  }

  /** Ends the call with its result, unless it has ended. */
  done(result: Envelope | ExtraResult): void {
    if (!this.#stop()) return;
    if ("rows" in result) this.#end.done(result);
    else this.#end.doneExtra(result);
  }

  /** Ends the call with an error, unless it has ended; a step that failed because it was aborted reports the abort. */
  failed(error: unknown): void {
    const reason = this.#deadline?.aborted === true ? this.#deadline.signal.reason : error;
    if (this.#stop()) this.#end.failed(reason);
  }

  /** False when the call had ended before. */
  #stop(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#deadline?.end();
    return true;
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
