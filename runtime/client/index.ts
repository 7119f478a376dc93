/**
 * Calls a served catalog through an MCP client of the application's choice, published as toolsrv/client: the envelope of
 * a result, and a failed call as the `ToolError` that `connect()` throws. It imports no client; the room knows the abi.
 */
import type { Envelope } from "../abi/call.js";
import type { ToolCalls } from "../abi/client.js";
import { CODES, type Code } from "../abi/codes.js";
import { ToolError } from "../abi/errors.js";
import { isRecord } from "../base/paths.js";

export { isToolError } from "../abi/errors.js";
export type { Envelope } from "../abi/call.js";
export type { Client, EnvelopeOf, ToolCalls } from "../abi/client.js";
export type { ToolError } from "../abi/errors.js";

export interface McpCallOptions {
  readonly signal?: AbortSignal;
}

/** Sends tools/call and returns its result: `(params, options) => mcp.callTool(params, options)` with the second major of the SDK. */
export type McpCall = (params: { name: string; arguments: { [arg: string]: unknown } }, options: McpCallOptions) => Promise<unknown>;

/**
 * Tools over MCP, for `client()` of a build's client.ts.
 * @throws ToolError for a call that the server refused in its result; whatever the client throws for anything else.
 */
export function overMcp(callTool: McpCall): ToolCalls<McpCallOptions> {
  return {
    async call(name, args = {}, options = {}) {
      const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined));
      return envelopeOf(await callTool({ name, arguments: given }, options), name);
    },
  };
}

function envelopeOf(result: unknown, tool: string): Envelope {
  if (!isRecord(result)) throw unreadable(tool);
  if (result["isError"] === true) throw errorOf(result, tool);
  const structured = result["structuredContent"] ?? parsed(textOf(result));
  // Before the tools of a server are known, its answers are anybody's.
  if (!isRecord(structured) || !Array.isArray(structured["rows"])) throw unreadable(tool);
  return structured as unknown as Envelope;
}

/** The failure that the text of a result holds; a text of another server is its message. */
function errorOf(result: { readonly [key: string]: unknown }, tool: string): ToolError {
  const text = textOf(result);
  const failure = parsed(text);
  const error = isRecord(failure) && isRecord(failure["error"]) ? failure["error"] : {};
  const { code, message, retryable, retry_after_s: retryAfterS } = error;
  if (typeof code !== "string" || typeof message !== "string" || !Object.hasOwn(CODES, code)) return new ToolError("internal", `tool '${tool}' failed: ${text.slice(0, 1_000)}`);
  return new ToolError(code as Code, message, typeof retryAfterS === "number" ? { retry_after_s: retryAfterS } : {}, { retryable: retryable === true });
}

function unreadable(tool: string): ToolError {
  return new ToolError("internal", `the answer to tool '${tool}' is no result of a toolsrv catalog`);
}

function textOf({ content }: { readonly [key: string]: unknown }): string {
  const [first] = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return isRecord(first) && typeof first["text"] === "string" ? first["text"] : "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
