/** Tools for the Vercel AI SDK, published as toolsrv/vercel-ai. */
import type { JSONSchema7, Tool, ToolExecutionOptions } from "ai";
import type { Envelope } from "../../runtime/abi/call.js";
import { peer, type Format } from "./toolset.js";

/** The tools of `generateText` and `streamText`, by name. */
export interface VercelTools {
  [name: string]: Tool<unknown, Envelope>;
}

/**
 * For `loadTools(catalog, { format: vercelAi, context: ({ experimental_context }) => … })`. A failed call is the SDK's
 * tool error, whose text is what an MCP client would read.
 */
export const vercelAi: Format<VercelTools, ToolExecutionOptions> = {
  async make(bound) {
    const { jsonSchema, tool } = await peer("ai", () => import("ai"));
    return Object.fromEntries(bound.map(({ definition: { name, title, description, inputSchema }, run }) => [name, tool<unknown, Envelope>({
      title, description,
      // Without a validator of the SDK's: ours decides, and words what it refuses.
      inputSchema: jsonSchema<unknown>(inputSchema as JSONSchema7),
      async execute(args, options) {
        const outcome = await run(args, options, options.abortSignal);
        if (outcome.isError) throw new Error(outcome.text);
        return outcome.envelope;
      },
    })]));
  },
};
