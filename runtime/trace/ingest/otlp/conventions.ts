/** What kind of call a span is, by the conventions of the instrumentation that made it. */
import { type Facts, rawOf, textOf } from "./facts.js";
import type { Span } from "./spans.js";

export type SpanFamily = "chain" | "tool" | "llm" | "completion" | "retriever";

const OPERATIONS: ReadonlyMap<string, SpanFamily> = new Map([
  ["chat", "llm"], ["generate_content", "llm"], ["text_completion", "completion"], ["embeddings", "completion"],
  ["execute_tool", "tool"], ["retrieval", "retriever"], ["search_memory", "retriever"],
  ["invoke_agent", "chain"], ["create_agent", "chain"], ["invoke_workflow", "chain"], ["plan", "chain"],
]);

const OPENINFERENCE: ReadonlyMap<string, SpanFamily> = new Map([
  ["LLM", "llm"], ["EMBEDDING", "completion"], ["TOOL", "tool"], ["RETRIEVER", "retriever"], ["RERANKER", "retriever"],
]);

const AI_SDK: readonly (readonly [string, SpanFamily])[] = [
  [".doGenerate", "llm"], [".doStream", "llm"], [".doEmbed", "completion"], ["ai.toolCall", "tool"],
];

const VECTOR_STORES = /^(chroma|milvus|pgvector|pinecone|qdrant|weaviate|lancedb|marqo)$/i;

/** What kind of call a span is; one that does not say is a chain. */
export function familyOf(span: Span, facts: Facts): SpanFamily {
  const operation = textOf(facts, "operation");
  const named = OPERATIONS.get(operation ?? "");
  if (named !== undefined) return named;
  if (rawOf(facts, "mcpMethod") === "tools/call") return "tool";
  const kind = textOf(facts, "spanKind")?.toUpperCase();
  const traced = OPENINFERENCE.get(kind ?? "");
  if (traced !== undefined) return traced;
  const sdk = textOf(facts, "sdkOperation") ?? (span.name.startsWith("ai.") ? span.name : null);
  const ai = sdk === null ? undefined : AI_SDK.find(([part]) => sdk.includes(part));
  if (ai !== undefined) return ai[1];
  if (rawOf(facts, "traceloopKind") === "tool") return "tool";
  if (kind === undefined && operation === null) {
    if (textOf(facts, "requestType") !== null) return "llm";
    const store = textOf(facts, "databaseName") ?? textOf(facts, "database");
    if (store !== null && VECTOR_STORES.test(store)) return "retriever";
  }
  return "chain";
}

/** Whether the span says that it is an agent. */
export function isAgentSpan(facts: Facts): boolean {
  const operation = rawOf(facts, "operation");
  return operation === "invoke_agent" || operation === "create_agent" || textOf(facts, "spanKind")?.toUpperCase() === "AGENT" || rawOf(facts, "traceloopKind") === "agent";
}
