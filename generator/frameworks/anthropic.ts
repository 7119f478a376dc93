/** Tools for the Anthropic SDK, published as toolsrv/anthropic. */
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import type { Tool, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { failed, peer, type BoundTool, type Format, type ToolOutcome } from "./toolset.js";

/** What a model asks for: a tool_use block. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** What a context is made of. */
export interface AnthropicRun {
  readonly toolUse: ToolUse;
  /** What the application gave `run`; the SDK's own tool runner gives nothing. */
  readonly request: unknown;
}

export interface AnthropicTools {
  /** For `tools` of messages.create. */
  readonly definitions: Tool[];
  /** For `tools` of beta.messages.toolRunner. */
  readonly runnable: BetaRunnableTool<{ [arg: string]: unknown }>[];
  /** The answer to a tool_use block; an unknown name is an answer too. */
  run(toolUse: ToolUse, options?: { readonly request?: unknown; readonly signal?: AbortSignal }): Promise<ToolResultBlockParam>;
}

/** For `loadTools(catalog, { format: anthropic, context: ({ request }) => … })`. */
export const anthropic: Format<AnthropicTools, AnthropicRun> = {
  async make(bound) {
    const [{ betaTool }, { ToolError }] = await Promise.all([
      peer("@anthropic-ai/sdk", () => import("@anthropic-ai/sdk/helpers/beta/json-schema")), peer("@anthropic-ai/sdk", () => import("@anthropic-ai/sdk/lib/tools/ToolError")),
    ]);
    const byName = new Map(bound.map((tool) => [tool.definition.name, tool]));
    return {
      definitions: bound.map(({ definition: { name, description, inputSchema } }) => ({ name, description, input_schema: inputSchema as Tool.InputSchema })),
      runnable: bound.map(({ definition: { name, description, inputSchema }, run }) => betaTool({
        name, description,
        inputSchema: inputSchema as { type: "object" },
        async run(args, context) {
          const toolUse = context?.toolUse ?? { id: "", name, input: args };
          const outcome = await run(args, { toolUse, request: undefined }, context?.signal ?? undefined);
          if (outcome.isError) throw new ToolError(outcome.text);
          return outcome.text;
        },
      })),
      async run(toolUse, { request, signal } = {}) {
        const { text, isError } = await answerOf(byName.get(toolUse.name), toolUse, request, signal);
        return { type: "tool_result", tool_use_id: toolUse.id, content: text, is_error: isError };
      },
    };
  },
};

function answerOf(tool: BoundTool<AnthropicRun> | undefined, toolUse: ToolUse, request: unknown, signal: AbortSignal | undefined): Promise<ToolOutcome> | ToolOutcome {
  const { name, input } = toolUse;
  if (tool === undefined) return failed({ code: "invalid_arguments", message: `unknown tool '${String(name).slice(0, 128)}'`, retryable: false, tool: String(name).slice(0, 128) });
  return tool.run(input, { toolUse, request }, signal);
}
