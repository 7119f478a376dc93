/**
 * The seam for tools that write drafts (describe_collection, define_tool). They need the compiler, which this side
 * must not know: whoever starts a server with authoring hands in an implementation, and this room lists and calls it.
 */
import type { Caller } from "../abi/call.js";
import type { ToolDefinition } from "../abi/params.js";
import type { Json } from "../abi/plan.js";

export interface AuthoringTools {
  /** Listed after the compiled tools. */
  readonly definitions: readonly ToolDefinition[];
  /**
   * @returns the payload of the result, which is sent as it is.
   * @throws ToolError for everything the caller can understand.
   */
  call(tool: string, args: { readonly [key: string]: unknown }, caller: Caller): Promise<{ readonly [key: string]: Json }>;
}
