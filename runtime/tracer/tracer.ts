/**
 * Recording from within a program. `createTracer` gives spans that nest by themselves across awaits; every event
 * carries its root, so the service never has to guess. Recording never throws into the program that is recorded.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createIdSource } from "../base/id-source.js";
import { isSampled } from "../base/sampling.js";
import { plain } from "./serialize.js";
import type { TraceSink } from "./sink.js";

export type SpanKind = "agent" | "chain" | "tool" | "llm" | "chat_model" | "retriever";

export interface SpanOptions {
  /** Name of the agent, tool, model or retriever. */
  readonly name: string;
  readonly input?: unknown;
  /** MCP server that a tool comes from. */
  readonly server?: string;
  readonly model?: string;
  readonly summary?: string;
  /** Only of a root. */
  readonly tags?: readonly string[];
  readonly session?: string;
  readonly user?: string;
  readonly attributes?: { readonly [name: string]: unknown };
  /** Definition of the graph that a root runs, as Mermaid text for one. */
  readonly graph?: string;
  /** Id of the run; made when absent. */
  readonly runId?: string;
}

export interface SpanEnd {
  readonly output?: unknown;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly summary?: string;
  /** The model that answered, for a span that was started without one. */
  readonly model?: string;
  readonly attributes?: { readonly [name: string]: unknown };
}

/** One call in progress. Its first end counts. */
export interface TraceSpan {
  readonly runId: string;
  readonly rootId: string;
  /** Starts a call inside this one. */
  start(kind: SpanKind, options: SpanOptions): TraceSpan;
  end(result?: SpanEnd): void;
  fail(error: unknown): void;
  /** Runs with this span as the one that new spans are inside of. */
  within<T>(work: () => T): T;
}

export interface Tracer {
  /** A call inside the current one, or a root. */
  start(kind: SpanKind, options: SpanOptions): TraceSpan;
  /** A span around a function: ended with its result, failed with its error, which is thrown on. */
  trace<T>(kind: SpanKind, options: SpanOptions, work: (span: TraceSpan) => Promise<T> | T): Promise<T>;
  registerTools(server: string, tools: readonly string[]): void;
  flush(): Promise<void>;
  /** Events that could not be delivered. */
  readonly dropped: number;
}

export interface TracerOptions {
  readonly sink: TraceSink;
  /** Share of roots that are recorded; decided by the root's id, like the service does. */
  readonly sampleRate?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const START: { readonly [kind in SpanKind]: string } = { agent: "chain_start", chain: "chain_start", tool: "tool_start", llm: "llm_start", chat_model: "chat_model_start", retriever: "retriever_start" };
const CALL: { readonly [kind in SpanKind]: string } = { agent: "chain", chain: "chain", tool: "tool", llm: "llm", chat_model: "llm", retriever: "retriever" };
const MAX_STACK = 4000;

export function createTracer(options: TracerOptions): Tracer {
  const { sink, sampleRate = 1 } = options;
  const origin = new Date().getTime() - performance.now();
  const now = options.now ?? (() => origin + performance.now());
  const newId = createIdSource(now);
  const current = new AsyncLocalStorage<TraceSpan>();

  const start = (kind: SpanKind, given: SpanOptions, parent: TraceSpan | null): TraceSpan => {
    const runId = given.runId ?? newId();
    const rootId = parent?.rootId ?? runId;
    const kept = isSampled(rootId, sampleRate);
    const named = kind === "tool" ? { tool_name: given.name, mcp_server: given.server ?? null } : { agent_name: given.name };
    const common = { run_id: runId, parent_run_id: parent?.runId ?? null, root_run_id: rootId, ...named, ...(given.model === undefined ? {} : { model: given.model }), ...(kind === "agent" ? { is_agent: true } : {}) };
    const emit = (event: { readonly [field: string]: unknown }): void => {
      if (kept) sink.emit({ event_id: newId(), timestamp: now(), ...common, ...event });
    };
    const identity = { session_id: given.session ?? null, user_id: given.user ?? null };
    if (parent === null && CALL[kind] === "chain") emit({ event_type: "run_start", tags: given.tags ?? [], ...identity });
    emit({
      event_type: START[kind], ...identity, ...(parent === null && given.tags !== undefined ? { tags: given.tags } : {}),
      ...(given.summary === undefined ? {} : { summary: given.summary }), ...(given.input === undefined ? {} : { payload: { [inputKey(kind)]: plain(given.input) } }),
      ...(given.attributes === undefined ? {} : { attributes: plain(given.attributes) }), ...(parent === null && given.graph !== undefined ? { graph_definition: given.graph } : {}),
    });
    let open = true;
    const span: TraceSpan = {
      runId,
      rootId,
      start: (childKind, childOptions) => start(childKind, childOptions, span),
      end(result = {}) {
        if (!open) return;
        open = false;
        emit({
          event_type: `${CALL[kind]}_end`, token_input: result.tokensIn ?? null, token_output: result.tokensOut ?? null,
          ...(given.model === undefined && result.model !== undefined ? { model: result.model } : {}), ...(result.attributes === undefined ? {} : { attributes: plain(result.attributes) }),
          ...(result.summary === undefined ? {} : { summary: result.summary }), ...(result.output === undefined ? {} : { payload: { [outputKey(kind)]: plain(result.output) } }),
        });
      },
      fail(error) {
        if (!open) return;
        open = false;
        const { message, type, stack } = describe(error);
        emit({ event_type: `${CALL[kind]}_error`, error_message: message, payload: { error: message, type, traceback: stack } });
      },
      within: (work) => current.run(span, work),
    };
    return span;
  };

  return {
    start: (kind, given) => start(kind, given, current.getStore() ?? null),
    async trace(kind, given, work) {
      const span = start(kind, given, current.getStore() ?? null);
      try {
        const result = await span.within(() => work(span));
        span.end({ output: result });
        return result;
      } catch (error) {
        span.fail(error);
        throw error;
      }
    },
    registerTools: (server, tools) => sink.registerTools(server, tools),
    flush: () => sink.flush(),
    get dropped() {
      return sink.dropped;
    },
  };
}

function inputKey(kind: SpanKind): string {
  switch (kind) {
    case "tool":
      return "input";
    case "llm":
      return "prompts";
    case "chat_model":
      return "messages";
    case "retriever":
      return "query";
    default:
      return "inputs";
  }
}

function outputKey(kind: SpanKind): string {
  return kind === "retriever" ? "documents" : kind === "agent" || kind === "chain" ? "outputs" : "output";
}

function describe(error: unknown): { message: string; type: string; stack: string | null } {
  if (error instanceof Error) return { message: error.message || error.name, type: error.name, stack: error.stack?.slice(0, MAX_STACK) ?? null };
  return { message: String(plain(error)), type: typeof error, stack: null };
}
