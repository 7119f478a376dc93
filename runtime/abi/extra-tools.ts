/**
 * The interface for tools that no catalog declares: the code that makes a program adds them, and the engine runs them
 * as it runs compiled ones: the same access check, deadline and observers. The tools that write drafts
 * (describe_collection, define_tool) come in this way, because they need the compiler, which the runtime must not know;
 * so do the fixtures of the conformance suites.
 */
import type { Caller, CallServices } from "./call.js";
import type { ToolDefinition, Validator } from "./params.js";
import type { Json } from "./plan.js";

export interface ExtraTool extends ToolDefinition {
  /** Schema of the payload; absent for tools that return content. */
  readonly outputSchema?: Json;
  /** Hints such as readOnlyHint; none are sent when absent. */
  readonly annotations?: { readonly [hint: string]: boolean };
  /** Validates the arguments; without one any object is passed on. */
  readonly validator?: Validator;
  /** Client capabilities without which the tool cannot work; checked where a request declares them (2026-07-28). */
  readonly needs?: readonly string[];
}

export interface ExtraTools {
  /**
   * Listed after the compiled tools. Another list takes the place of this one when it changes; it is never edited. Of
   * arguments repeated in HTTP headers (`x-mcp-header`), later lists use no header that the first one does not.
   */
  readonly definitions: readonly ExtraTool[];
  /** @throws ToolError for everything the caller can understand. */
  call(tool: string, args: { readonly [key: string]: unknown }, call: ExtraCall): Promise<ExtraResult>;
  /** Adds a callback for changes of `definitions`; absent where they never change. */
  onChange?(listener: () => void): void;
}

/** Severities of log messages. */
export type Severity = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** One call of an extra tool. Progress and log messages after its end are dropped. */
export interface ExtraCall extends Caller {
  /** Aborts at the deadline too. */
  readonly signal: AbortSignal;
  /** The stores of the program, opened on first use and shared with its other tools. */
  readonly services: Pick<CallServices, "adapter">;
  /** Sent to clients that asked for it; `done` grows from call to call. */
  progress(done: number, total?: number, message?: string): void;
  /** A log message for the client, as far as the protocol lets it be sent. */
  log(level: Severity, data: Json): void;
}

export type ExtraResult =
  /** Sent as JSON text and, where the version has it, as structured content. */
  | {
      readonly payload: { readonly [key: string]: Json };
      /** This object is returned again by later calls and never changes, so that its text may be kept. */
      readonly isFixed?: true;
    }
  /** Content blocks of MCP, sent as they are. */
  | { readonly content: readonly ContentBlock[] };

export interface ContentBlock {
  readonly type: "text" | "image" | "audio" | "resource" | "resource_link";
  readonly [key: string]: Json;
}
