/** Tools for LangChain.js and LangGraph, published as toolsrv/langchain. */
import type { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool, ToolRunnableConfig } from "@langchain/core/tools";
import type { Envelope } from "../../runtime/abi/call.js";
import { peer, type BoundTool, type Format } from "./toolset.js";

type CoreTools = typeof import("@langchain/core/tools");
type CoreMessages = typeof import("@langchain/core/messages");

/**
 * For `loadTools(catalog, { format: langchain, context: (config) => … })`; `config` is the one of the run, so an
 * application finds there what it put into `configurable` or `context`. The envelope is the artifact of the message.
 */
export const langchain: Format<DynamicStructuredTool[], ToolRunnableConfig> = {
  async make(bound) {
    const [core, messages] = await Promise.all([
      peer("@langchain/core", () => import("@langchain/core/tools")), peer("@langchain/core", () => import("@langchain/core/messages")),
    ]);
    return bound.map((tool) => toolOf(tool, core, messages));
  },
};

/**
 * LangChain validates arguments itself and refuses what a catalog accepts (null for an absent argument, a date without a
 * time), in words of its own. So the tool that the model sees has the schema, and one that accepts any object runs.
 */
function toolOf(bound: BoundTool<ToolRunnableConfig>, core: CoreTools, messages: CoreMessages): DynamicStructuredTool {
  const { name, description, inputSchema } = bound.definition;
  const func = async (args: unknown, _run: unknown, config: ToolRunnableConfig = {}): Promise<readonly [string | ToolMessage, Envelope | null]> => {
    const outcome = await bound.run(args, config, config.signal);
    if (!outcome.isError) return [outcome.text, outcome.envelope];
    const id = callIdOf(config);
    return [id === null ? outcome.text : new messages.ToolMessage({ content: outcome.text, status: "error", tool_call_id: id, name }), null];
  };
  const fields = { name, description, func, responseFormat: "content_and_artifact" as const };
  const runs = new core.DynamicStructuredTool({ ...fields, schema: {} });
  const shown = new core.DynamicStructuredTool({ ...fields, schema: inputSchema as object });
  shown.call = runs.call.bind(runs);
  return shown;
}

/** The id of the model's call; `null` when the application invokes the tool by itself. */
function callIdOf({ toolCall }: ToolRunnableConfig): string | null {
  return toolCall?.id ?? null;
}
