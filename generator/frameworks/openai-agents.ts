/** Tools for the OpenAI Agents SDK, published as toolsrv/openai-agents. */
import type { FunctionTool, RunContext } from "@openai/agents";
import { failed, peer, type Format } from "./toolset.js";

/** What the SDK takes for a JSON Schema that it does not make strict. */
type LooseSchema = { type: "object"; properties: Record<string, never>; required: string[]; additionalProperties: true };

/** For `loadTools(catalog, { format: openaiAgents, context: (run) => … })`; `run.context` is what the application gave the run. */
export const openaiAgents: Format<FunctionTool<unknown, LooseSchema, string>[], RunContext<unknown>> = {
  async make(bound) {
    const { RunContext: Run, tool } = await peer("@openai/agents", () => import("@openai/agents"));
    return bound.map(({ definition: { name, description, inputSchema }, run }) => tool<LooseSchema, unknown, string>({
      name, description,
      parameters: inputSchema as unknown as LooseSchema,
      strict: false,
      execute: async (args, context = new Run<unknown>(), details) => (await run(args, context, details?.signal)).text,
      // Arguments that are no JSON never reach `execute`; nothing else fails but a call that is aborted.
      errorFunction: () => failed({ code: "invalid_arguments", message: "arguments: expected object", retryable: false, tool: name }).text,
    }));
  },
};
