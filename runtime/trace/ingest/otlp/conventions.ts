/**
 * The names by which instrumentation says what a span is: GenAI and MCP semantic conventions (old and new names),
 * OpenInference, and the common SDK dialects. One table, so that a renamed attribute is one line.
 * @see https://github.com/open-telemetry/semantic-conventions-genai
 * @see https://arize-ai.github.io/openinference/spec/
 */
import type { Attributes, Span } from "./spans.js";

export type SpanFamily = "chain" | "tool" | "llm" | "completion" | "retriever";

/** Attributes in which a value may be, the preferred one first. */
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
} as const;

const OPERATIONS: { readonly [operation: string]: SpanFamily } = {
  chat: "llm", generate_content: "llm", text_completion: "completion", embeddings: "completion",
  execute_tool: "tool", retrieval: "retriever", search_memory: "retriever",
  invoke_agent: "chain", create_agent: "chain", invoke_workflow: "chain", plan: "chain",
};

const OPENINFERENCE: { readonly [kind: string]: SpanFamily } = {
  LLM: "llm", EMBEDDING: "completion", TOOL: "tool", RETRIEVER: "retriever", RERANKER: "retriever",
};

const AI_SDK: readonly (readonly [string, SpanFamily])[] = [
  [".doGenerate", "llm"], [".doStream", "llm"], [".doEmbed", "completion"], ["ai.toolCall", "tool"],
];

const VECTOR_STORES = /^(chroma|milvus|pgvector|pinecone|qdrant|weaviate|lancedb|marqo)$/i;

/** What kind of call a span is; one that does not say is a chain. */
export function familyOf(span: Span): SpanFamily {
  const { attributes } = span;
  const operation = textAt(attributes, "gen_ai.operation.name");
  if (operation !== null && OPERATIONS[operation] !== undefined) return OPERATIONS[operation];
  if (textAt(attributes, "mcp.method.name") === "tools/call") return "tool";
  const kind = textAt(attributes, "openinference.span.kind")?.toUpperCase();
  if (kind !== undefined && OPENINFERENCE[kind] !== undefined) return OPENINFERENCE[kind];
  const sdk = textAt(attributes, "ai.operationId") ?? (span.name.startsWith("ai.") ? span.name : null);
  const ai = sdk === null ? undefined : AI_SDK.find(([part]) => sdk.includes(part));
  if (ai !== undefined) return ai[1];
  if (textAt(attributes, "traceloop.span.kind") === "tool") return "tool";
  if (kind === undefined && operation === null) {
    if (textAt(attributes, "llm.request.type") !== null) return "llm";
    const store = textAt(attributes, "db.system.name") ?? textAt(attributes, "db.system");
    if (store !== null && VECTOR_STORES.test(store)) return "retriever";
  }
  return "chain";
}

/** Whether the span says that it is an agent. */
export function isAgentSpan(span: Span): boolean {
  const operation = textAt(span.attributes, "gen_ai.operation.name");
  return (
    operation === "invoke_agent" || operation === "create_agent" || textAt(span.attributes, "openinference.span.kind")?.toUpperCase() === "AGENT" ||
    textAt(span.attributes, "traceloop.span.kind") === "agent"
  );
}

/** First of some attributes that is a text which is not empty. */
export function firstText(attributes: Attributes, names: readonly string[]): string | null {
  for (const name of names) {
    const value = textAt(attributes, name);
    if (value !== null && value !== "") return value;
  }
  return null;
}

/** First of some attributes that is a whole number from 0. */
export function firstCount(attributes: Attributes, names: readonly string[]): number | null {
  for (const name of names) {
    const value = Number(attributes[name] ?? Number.NaN);
    if (Number.isSafeInteger(value) && value >= 0) return value;
  }
  return null;
}

/** First of some attributes that is there; a text that holds JSON is read. */
export function firstValue(attributes: Attributes, names: readonly string[]): unknown {
  for (const name of names) {
    const value = attributes[name];
    if (value !== undefined && value !== null) return structured(value);
  }
  return undefined;
}

/** A text that holds a JSON object or list as what it holds. */
export function structured(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** `llm.input_messages.0.message.role` and the like as the list they spell; `undefined` when there are none. */
export function listUnder(attributes: Attributes, prefix: string): readonly unknown[] | undefined {
  const tree: { [key: string]: unknown } = {};
  const start = `${prefix}.`;
  for (const name in attributes) {
    if (!name.startsWith(start)) continue;
    const value = attributes[name];
    const path = name.slice(start.length).split(".");
    if (path.some((part) => part === "__proto__" || part === "constructor" || part === "prototype")) continue;
    let at = tree;
    for (const part of path.slice(0, -1)) {
      const inside = at[part];
      const next = typeof inside === "object" && inside !== null ? (inside as { [key: string]: unknown }) : {};
      at[part] = next;
      at = next;
    }
    at[path.at(-1) ?? ""] = value;
  }
  const list = asLists(tree);
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

function asLists(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, inside]) => [key, asLists(inside)] as const);
  const isList = entries.length > 0 && entries.every(([key]) => /^\d{1,5}$/.test(key));
  return isList ? entries.sort((a, b) => Number(a[0]) - Number(b[0])).map(([, inside]) => inside) : Object.fromEntries(entries);
}

function textAt(attributes: Attributes, name: string): string | null {
  const value = attributes[name];
  return typeof value === "string" ? value : null;
}
