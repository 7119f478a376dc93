/**
 * The names by which instrumentation says what a span is: GenAI and MCP semantic conventions (old and new names),
 * OpenInference, and the common SDK dialects. One table, so that a renamed attribute is one line.
 * @see https://github.com/open-telemetry/semantic-conventions-genai
 * @see https://arize-ai.github.io/openinference/spec/
 */

/** By slot, the attributes in which its value may be, the preferred one first. */
export const NAMES = {
  model: ["gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "embedding.model_name", "reranker.model_name", "ai.model.id", "llm.request.model"],
  agent: ["gen_ai.agent.name", "gen_ai.workflow.name", "agent.name", "graph.node.id", "traceloop.entity.name", "ai.telemetry.functionId"],
  tool: ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"],
  server: ["mcp.server.name", "mcp.server", "mcp_server", "mcp_server_name", "metadata.mcp_server", "metadata.mcp_server_name", "peer.service"],
  tokensIn: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens", "ai.usage.inputTokens", "ai.usage.tokens", "llm.usage.prompt_tokens"],
  tokensOut: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion", "ai.usage.completionTokens", "ai.usage.outputTokens", "llm.usage.completion_tokens"],
  session: ["gen_ai.conversation.id", "session.id", "langfuse.session.id", "thread.id", "traceloop.association.properties.session_id"],
  user: ["user.id", "enduser.id", "langfuse.user.id", "traceloop.association.properties.user_id"],
  tags: ["tag.tags", "tags", "langfuse.tags", "langfuse.trace.tags", "langsmith.span.tags"],
  query: ["gen_ai.retrieval.query.text", "input.value", "traceloop.entity.input"],
  documents: ["gen_ai.retrieval.documents", "output.value", "traceloop.entity.output"],
  arguments: ["gen_ai.tool.call.arguments", "input.value", "ai.toolCall.args", "traceloop.entity.input", "tool.parameters"],
  result: ["gen_ai.tool.call.result", "output.value", "ai.toolCall.result", "traceloop.entity.output"],
  input: ["input.value", "gen_ai.input.messages", "traceloop.entity.input", "ai.prompt", "gen_ai.prompt"],
  output: ["output.value", "gen_ai.output.messages", "traceloop.entity.output", "ai.response.text", "gen_ai.completion"],
  inputMessages: ["gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages", "ai.prompt", "input.value"],
  outputMessages: ["gen_ai.output.messages", "gen_ai.completion", "ai.response.text", "output.value"],
  instructions: ["gen_ai.system_instructions"],
  definitions: ["gen_ai.tool.definitions", "ai.prompt.tools"],
  parameters: ["llm.invocation_parameters"],
  toolCalls: ["ai.response.toolCalls"],
  finishReasons: ["gen_ai.response.finish_reasons"],
  finishReason: ["ai.response.finishReason"],
  errorType: ["error.type"],
  service: ["service.name"],
  address: ["server.address"],
  port: ["server.port"],
  operation: ["gen_ai.operation.name"],
  mcpMethod: ["mcp.method.name"],
  spanKind: ["openinference.span.kind"],
  sdkOperation: ["ai.operationId"],
  traceloopKind: ["traceloop.span.kind"],
  requestType: ["llm.request.type"],
  databaseName: ["db.system.name"],
  database: ["db.system"],
} as const;

export type Slot = keyof typeof NAMES;

/** Which values a slot takes: a text that is not empty, a whole number from 0, any but null, any. */
export type SlotKind = "text" | "count" | "value" | "raw";

export const KINDS: { readonly [S in Slot]: SlotKind } = {
  model: "text", agent: "text", tool: "text", server: "text", tokensIn: "count", tokensOut: "count", session: "text", user: "text", tags: "value", query: "value",
  documents: "value", arguments: "value", result: "value", input: "value", output: "value", inputMessages: "value", outputMessages: "value", instructions: "value",
  definitions: "value", parameters: "value", toolCalls: "raw", finishReasons: "raw", finishReason: "raw", errorType: "text", service: "text", address: "text", port: "count", operation: "raw", mcpMethod: "raw", spanKind: "raw", sdkOperation: "raw",
  traceloopKind: "raw", requestType: "raw", databaseName: "raw", database: "raw",
};

/** What lists begin with that are spelled by one attribute for each value. */
export const LIST_PREFIXES = ["llm.input_messages", "llm.output_messages", "llm.tools", "gen_ai.prompt", "gen_ai.completion", "retrieval.documents", "reranker.output_documents"] as const;
export type ListPrefix = (typeof LIST_PREFIXES)[number];
