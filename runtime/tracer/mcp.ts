/**
 * An MCP client that records its tool calls. Written against the two methods that every client of the protocol has; a
 * result with isError counts as a failed call, although it is a successful answer.
 */
import type { Tracer } from "./tracer.js";

/** The part of an MCP client that is used. */
export interface McpClient {
  callTool(params: { readonly name: string; readonly arguments?: { readonly [name: string]: unknown } }, ...rest: never[]): Promise<unknown>;
  listTools(...args: never[]): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
}

/** The same client, recording under the server's name. What it returns and throws is unchanged. */
export function traceMcpClient<Client extends McpClient>(client: Client, tracer: Tracer, server: string): Client {
  const callTool = async (params: Parameters<McpClient["callTool"]>[0], ...rest: never[]): Promise<unknown> => {
    const span = tracer.start("tool", { name: params.name, server, input: params.arguments ?? {} });
    try {
      const result = await span.within(() => client.callTool(params, ...rest));
      const failure = failureOf(result);
      if (failure === null) span.end({ output: result });
      else span.fail(new ToolResultError(failure));
      return result;
    } catch (error) {
      span.fail(error);
      throw error;
    }
  };
  const listTools = async (...args: never[]): Promise<Awaited<ReturnType<McpClient["listTools"]>>> => {
    const listed = await client.listTools(...args);
    tracer.registerTools(server, listed.tools.map((tool) => tool.name));
    return listed;
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === "callTool") return callTool;
      if (name === "listTools") return listTools;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** A tool answered that it failed. */
class ToolResultError extends Error {
  override readonly name = "tool_error";
}

function failureOf(result: unknown): string | null {
  const { isError, content } = (result ?? {}) as { readonly isError?: unknown; readonly content?: unknown };
  if (isError !== true) return null;
  const texts = Array.isArray(content) ? content.map((item: { readonly text?: unknown } | null) => item?.text).filter((text) => typeof text === "string") : [];
  return texts.length === 0 ? "the tool failed" : texts.join("\n");
}
