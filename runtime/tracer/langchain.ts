/**
 * A callback handler for LangChain.js. It is written against the shape of its callbacks, not against a version of the
 * package: pass it in `callbacks`. Messages keep their roles and tool calls; token counts come from the usage that the
 * model reported, never from the number of chunks.
 */
import type { SpanEnd, SpanKind, Tracer, TraceSpan } from "./tracer.js";

type Fields = { readonly [key: string]: unknown };

/** What LangChain.js calls; every method returns at once and none throws. */
export interface LangChainHandler {
  readonly name: string;
  readonly awaitHandlers: boolean;
  handleChainStart(chain: unknown, inputs: unknown, runId: string, parentRunId?: string, tags?: string[], metadata?: Fields, runType?: string, runName?: string): void;
  handleChainEnd(outputs: unknown, runId: string): void;
  handleChainError(error: unknown, runId: string): void;
  handleChatModelStart(llm: unknown, messages: unknown[][], runId: string, parentRunId?: string, extra?: Fields, tags?: string[], metadata?: Fields, runName?: string): void;
  handleLLMStart(llm: unknown, prompts: string[], runId: string, parentRunId?: string, extra?: Fields, tags?: string[], metadata?: Fields, runName?: string): void;
  handleLLMNewToken(token: string, index: unknown, runId: string): void;
  handleLLMEnd(output: unknown, runId: string): void;
  handleLLMError(error: unknown, runId: string): void;
  handleToolStart(tool: unknown, input: string, runId: string, parentRunId?: string, tags?: string[], metadata?: Fields, runName?: string): void;
  handleToolEnd(output: unknown, runId: string): void;
  handleToolError(error: unknown, runId: string): void;
  handleRetrieverStart(retriever: unknown, query: string, runId: string, parentRunId?: string, tags?: string[], metadata?: Fields, name?: string): void;
  handleRetrieverEnd(documents: unknown[], runId: string): void;
  handleRetrieverError(error: unknown, runId: string): void;
}

export interface LangChainOptions {
  /** Servers of MCP tools, by tool name, for tools that do not say it themselves. */
  readonly servers?: { readonly [tool: string]: string };
  /** Definition of the graph that is run, for the root of each run: `graph.getGraph().drawMermaid()` for one. */
  readonly graph?: string;
}

/** A call in progress, and when its first token came. */
interface Open {
  readonly span: TraceSpan;
  readonly startedMs: number;
  firstTokenMs: number | null;
}

/** Spans that are open at once; the oldest are let go beyond. */
const MAX_OPEN = 50_000;

export function createLangChainHandler(tracer: Tracer, options: LangChainOptions = {}): LangChainHandler {
  const open = new Map<string, Open>();

  const start = (kind: SpanKind, runId: string, parentRunId: string | undefined, given: Given): void => {
    const parent = parentRunId === undefined ? undefined : open.get(parentRunId)?.span;
    const session = textOf(given.metadata?.["thread_id"]) ?? textOf(given.metadata?.["session_id"]) ?? textOf(given.metadata?.["conversation_id"]);
    const user = textOf(given.metadata?.["user_id"]);
    const span = {
      name: given.name, input: given.input, runId,
      ...(parent === undefined && given.tags !== undefined ? { tags: given.tags } : {}), ...(session === undefined ? {} : { session }), ...(user === undefined ? {} : { user }),
      ...(given.model === undefined ? {} : { model: given.model }), ...(given.server === undefined ? {} : { server: given.server }),
      ...(options.graph === undefined ? {} : { graph: options.graph }), ...attributesOf(given),
    };
    open.set(runId, { span: parent === undefined ? tracer.start(kind, span) : parent.start(kind, span), startedMs: performance.now(), firstTokenMs: null });
    if (open.size > MAX_OPEN) for (const oldest of open.keys()) if (open.delete(oldest)) break;
  };
  const close = (runId: string, finish: (span: TraceSpan, call: Open) => void): void => {
    const call = open.get(runId);
    open.delete(runId);
    if (call !== undefined) finish(call.span, call);
  };
  const fail = (error: unknown, runId: string): void => close(runId, (span) => span.fail(error));
  const server = (tool: string, metadata: Fields | undefined, serialized: unknown): string | undefined => {
    const inner = fieldsOf(fieldsOf(serialized)["metadata"]);
    return options.servers?.[tool] ?? textOf(metadata?.["mcp_server_name"]) ?? textOf(metadata?.["mcp_server"]) ?? textOf(inner["mcp_server_name"]) ?? textOf(inner["mcp_server"]);
  };
  return quiet({
    name: "toolsrv-trace",
    // Ends must not overtake starts.
    awaitHandlers: true,
    handleChainStart(chain, inputs, runId, parentRunId, tags, metadata, _type, runName) {
      start("chain", runId, parentRunId, { name: runName ?? nameOf(chain, "Chain"), input: inputs, ...given(tags, metadata) });
    },
    handleChainEnd: (outputs, runId) => close(runId, (span) => span.end({ output: outputs })),
    handleChainError: fail,
    handleChatModelStart(llm, messages, runId, parentRunId, extra, tags, metadata, runName) {
      start("chat_model", runId, parentRunId, { name: runName ?? nameOf(llm, "ChatModel"), input: messages.flat().map(messageOf), ...given(tags, metadata), ...modelOf(metadata, extra), ...parametersOf(extra) });
    },
    handleLLMNewToken(_token, _index, runId) {
      const call = open.get(runId);
      if (call !== undefined) call.firstTokenMs ??= performance.now();
    },
    handleLLMStart(llm, prompts, runId, parentRunId, extra, tags, metadata, runName) {
      start("llm", runId, parentRunId, { name: runName ?? nameOf(llm, "LLM"), input: prompts, ...given(tags, metadata), ...modelOf(metadata, extra), ...parametersOf(extra) });
    },
    handleLLMEnd: (output, runId) => close(runId, (span, call) => span.end({ ...llmEnd(output), ...firstTokenOf(call) })),
    handleLLMError: fail,
    handleToolStart(tool, input, runId, parentRunId, tags, metadata, runName) {
      const name = runName ?? nameOf(tool, "tool");
      const from = server(name, metadata, tool);
      start("tool", runId, parentRunId, { name, input: readJson(input), ...given(tags, metadata), ...(from === undefined ? {} : { server: from }) });
    },
    handleToolEnd: (output, runId) => close(runId, (span) => span.end({ output: isMessage(output) ? messageOf(output) : output })),
    handleToolError: fail,
    handleRetrieverStart(retriever, query, runId, parentRunId, tags, metadata, name) {
      start("retriever", runId, parentRunId, { name: name ?? nameOf(retriever, "Retriever"), input: query, ...given(tags, metadata) });
    },
    handleRetrieverEnd: (documents, runId) => close(runId, (span) => span.end({ output: documents })),
    handleRetrieverError: fail,
  });
}

/** A handler whose methods swallow what goes wrong in them: recording is never the program's problem. */
function quiet(handler: LangChainHandler): LangChainHandler {
  const entries = Object.entries(handler).map(([name, value]: [string, unknown]) => {
    if (typeof value !== "function") return [name, value];
    const method = value as (...args: unknown[]) => void;
    return [name, (...args: unknown[]): void => {
      try {
        method(...args);
      } catch {
        // The span is lost, the program goes on.
      }
    }];
  });
  return Object.fromEntries(entries) as unknown as LangChainHandler;
}

function given(tags: string[] | undefined, metadata: Fields | undefined): { tags?: string[]; metadata?: Fields } {
  return { ...(tags === undefined ? {} : { tags }), ...(metadata === undefined ? {} : { metadata }) };
}

/** What a callback says of a call that starts. */
interface Given {
  readonly name: string;
  readonly input: unknown;
  readonly tags?: string[];
  readonly metadata?: Fields;
  readonly model?: string;
  readonly server?: string;
  /** Parameters of a model's call: temperature, tools and the like. */
  readonly parameters?: Fields;
}

/** Where in a LangGraph the call is, and the parameters of a model. */
function attributesOf({ metadata, parameters }: Given): { attributes?: Fields } {
  const attributes = {
    ...(textOf(metadata?.["langgraph_node"]) === undefined ? {} : { langgraph_node: metadata?.["langgraph_node"] }),
    ...(typeof metadata?.["langgraph_step"] === "number" ? { langgraph_step: metadata["langgraph_step"] } : {}),
    ...(parameters === undefined ? {} : { invocation_params: parameters }),
  };
  return Object.keys(attributes).length === 0 ? {} : { attributes };
}

function parametersOf(extra: Fields | undefined): { parameters?: Fields } {
  const parameters = fieldsOf(extra?.["invocation_params"]);
  return Object.keys(parameters).length === 0 ? {} : { parameters };
}

function firstTokenOf({ startedMs, firstTokenMs }: Open): SpanEnd {
  return firstTokenMs === null ? {} : { attributes: { time_to_first_token_ms: Math.round((firstTokenMs - startedMs) * 1000) / 1000 } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Name of a serialized object: its own, or the last part of its id. */
function nameOf(serialized: unknown, fallback: string): string {
  const fields = fieldsOf(serialized);
  const id = fields["id"];
  return textOf(fields["name"]) ?? (Array.isArray(id) ? textOf(id.at(-1)) : undefined) ?? fallback;
}

function modelOf(metadata: Fields | undefined, extra: Fields | undefined): { model?: string } {
  const parameters = fieldsOf(extra?.["invocation_params"]);
  const model = textOf(metadata?.["ls_model_name"]) ?? textOf(parameters["model"]) ?? textOf(parameters["model_name"]) ?? textOf(parameters["modelName"]);
  return model === undefined ? {} : { model };
}

function isMessage(value: unknown): boolean {
  return typeof fieldsOf(value)["getType"] === "function" || typeof fieldsOf(value)["_getType"] === "function";
}

/** A message by role, content and tool calls. */
function messageOf(message: unknown): unknown {
  if (!isMessage(message)) return message;
  const fields = message as Fields & { getType?: () => string; _getType?: () => string };
  const type = fields.getType?.() ?? fields._getType?.() ?? "unknown";
  const role = { human: "user", ai: "assistant" }[type] ?? type;
  const calls = fields["tool_calls"];
  return {
    role, content: fields["content"], ...(Array.isArray(calls) && calls.length > 0 ? { tool_calls: calls } : {}),
    ...(textOf(fields["name"]) === undefined ? {} : { name: fields["name"] }), ...(textOf(fields["tool_call_id"]) === undefined ? {} : { tool_call_id: fields["tool_call_id"] }),
  };
}

/** Messages and token counts of a model's answer, over all of its generations. */
function llmEnd(output: unknown): SpanEnd {
  const generations = (Array.isArray(fieldsOf(output)["generations"]) ? (fieldsOf(output)["generations"] as unknown[]).flat() : []).map(fieldsOf);
  const messages = generations.map((generation) => (generation["message"] === undefined ? { role: "assistant", content: generation["text"] } : messageOf(generation["message"])));
  const usages = generations.map((generation) => fieldsOf(fieldsOf(generation["message"])["usage_metadata"]));
  const report = fieldsOf(fieldsOf(output)["llmOutput"] ?? fieldsOf(output)["llm_output"]);
  const usage = fieldsOf(report["tokenUsage"] ?? report["token_usage"] ?? report["usage"]);
  const tokensIn = total(usages, "input_tokens") ?? count(usage, ["promptTokens", "prompt_tokens", "input_tokens"]);
  const tokensOut = total(usages, "output_tokens") ?? count(usage, ["completionTokens", "completion_tokens", "output_tokens"]);
  const model = generations.map((generation) => fieldsOf(fieldsOf(generation["message"])["response_metadata"])).map((metadata) => textOf(metadata["model_name"]) ?? textOf(metadata["model"])).find((name) => name !== undefined);
  return { output: messages, ...(model === undefined ? {} : { model }), ...(tokensIn === undefined ? {} : { tokensIn }), ...(tokensOut === undefined ? {} : { tokensOut }) };
}

function total(usages: readonly Fields[], name: string): number | undefined {
  const counts = usages.map((usage) => usage[name]).filter((value): value is number => typeof value === "number");
  return counts.length === 0 ? undefined : counts.reduce((sum, value) => sum + value, 0);
}

function count(usage: Fields, names: readonly string[]): number | undefined {
  return names.map((name) => usage[name]).find((value): value is number => typeof value === "number");
}

function readJson(text: unknown): unknown {
  if (typeof text !== "string" || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
