/**
 * Spans as events: each is a start and an end, the root of a trace also starts the run. The trace is the run, so spans
 * may come in any order and a root may come last or never.
 */
import { familyOf, firstCount, firstText, firstValue, isAgentSpan, listUnder, NAMES, type SpanFamily, structured } from "./conventions.js";
import type { Attributes, Span } from "./spans.js";

/** An event as the ingest endpoint takes it. */
export type RawEvent = { readonly [field: string]: unknown };

export interface SpanEvents {
  readonly events: readonly RawEvent[];
  /** Spans that could not be taken, and why the first of them was not. */
  readonly refused: number;
  readonly reason: string | null;
}

const START: { readonly [family in SpanFamily]: string } = { chain: "chain_start", tool: "tool_start", llm: "chat_model_start", completion: "llm_start", retriever: "retriever_start" };
const CALL: { readonly [family in SpanFamily]: string } = { chain: "chain", tool: "tool", llm: "llm", completion: "llm", retriever: "retriever" };
const MAX_STACK = 4000;
const NO_ID = /^0*$/;

interface Placed {
  readonly span: Span;
  readonly family: SpanFamily;
  readonly server: string | null;
  /** Fields that all events of the span have. */
  readonly common: { readonly [field: string]: unknown };
}

/** Events of all spans of one request, in order of time, parents around their children. */
export function spanEvents(spans: readonly Span[]): SpanEvents {
  const reasons: string[] = [];
  const good = spans.filter((span) => {
    const problem = spanProblem(span);
    if (problem !== null) reasons.push(problem);
    return problem === null;
  });
  const depths = depthsOf(good);
  const timed = placeSpans(good).flatMap((placed) => {
    const depth = depths.get(keyOf(placed.span)) ?? 0;
    const start = placed.span.startUs;
    const end = Math.max(placed.span.endUs, start);
    const root = placed.span.parentId === "" ? [{ at: start, rank: -1, event: runStart(placed) }] : [];
    return [...root, { at: start, rank: depth, event: startEvent(placed) }, { at: end, rank: 1e9 - depth, event: endEvent(placed, end) }];
  });
  timed.sort((a, b) => a.at - b.at || a.rank - b.rank);
  return { events: timed.map((entry) => entry.event), refused: reasons.length, reason: reasons[0] ?? null };
}

function spanProblem(span: Span): string | null {
  if (!/^[0-9a-f]{32}$/.test(span.traceId) || NO_ID.test(span.traceId)) return "a span has no valid trace id";
  if (!/^[0-9a-f]{16}$/.test(span.spanId) || NO_ID.test(span.spanId)) return "a span has no valid span id";
  if (span.parentId !== "" && !/^[0-9a-f]{16}$/.test(span.parentId)) return "a span has no valid parent span id";
  return span.startUs <= 0 || span.startUs > 253_402_300_799_000_000 || span.endUs > 253_402_300_799_000_000 ? "a span has no valid start time" : null;
}

function keyOf(span: Span): string {
  return `${span.traceId}-${span.spanId}`;
}

/** Steps from each span up to a root or out of the request; a cycle ends the count. */
function depthsOf(spans: readonly Span[]): ReadonlyMap<string, number> {
  const parents = new Map(spans.map((span) => [keyOf(span), `${span.traceId}-${span.parentId}`]));
  const depths = new Map<string, number>();
  for (const key of parents.keys()) {
    const path: string[] = [];
    const onPath = new Set<string>();
    let at = key;
    while (parents.has(at) && !depths.has(at) && !onPath.has(at)) {
      path.push(at);
      onPath.add(at);
      at = parents.get(at) ?? "";
    }
    let depth = depths.get(at) ?? -1;
    for (const visited of path.reverse()) depths.set(visited, (depth += 1));
  }
  return depths;
}

/**
 * One call of an MCP tool may be seen three times: by the agent, the client and the server. The outermost span counts
 * as the call and learns the server's name from the others, which become steps inside it.
 */
function placeSpans(spans: readonly Span[]): Placed[] {
  const byKey = new Map(spans.map((span) => [keyOf(span), span]));
  const families = new Map(spans.map((span) => [keyOf(span), familyOf(span)]));
  const servers = new Map(spans.map((span) => [keyOf(span), serverOf(span)]));
  for (const span of spans) {
    const key = keyOf(span);
    const parentKey = `${span.traceId}-${span.parentId}`;
    const parent = byKey.get(parentKey);
    if (parent === undefined || parent === span || span.attributes["mcp.method.name"] !== "tools/call") continue;
    if (familyOf(parent) !== "tool" || toolOf(parent) !== toolOf(span)) continue;
    families.set(key, "chain");
    const server = servers.get(key) ?? null;
    if (server === null) continue;
    // Up to the span that counts as the call.
    let at: Span | undefined = parent;
    const seen = new Set<Span>();
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      if (servers.get(keyOf(at)) == null || at.attributes["mcp.method.name"] === undefined) servers.set(keyOf(at), server);
      const above: Span | undefined = byKey.get(`${at.traceId}-${at.parentId}`);
      at = above !== undefined && familyOf(above) === "tool" && toolOf(above) === toolOf(span) ? above : undefined;
    }
  }
  return spans.map((span) => {
    const key = keyOf(span);
    const family = families.get(key) ?? "chain";
    const server = servers.get(key) ?? null;
    return { span, family, server, common: commonFields(span, family, server) };
  });
}

function toolOf(span: Span): string {
  return firstText(span.attributes, NAMES.tool) ?? (/^(?:tools\/call|execute_tool) (.+)$/.exec(span.name)?.[1] ?? span.name);
}

function serverOf(span: Span): string | null {
  const named = firstText(span.attributes, NAMES.server);
  if (named !== null || span.attributes["mcp.method.name"] === undefined) return named;
  if (span.kind === 2) return firstText(span.resource, ["service.name"]);
  const address = firstText(span.attributes, ["server.address"]);
  const port = firstCount(span.attributes, ["server.port"]);
  return address === null ? null : port === null ? address : `${address}:${port}`;
}

function commonFields(span: Span, family: SpanFamily, server: string | null): { readonly [field: string]: unknown } {
  const model = family === "llm" || family === "completion" ? firstText(span.attributes, NAMES.model) : null;
  const name = span.name === "" ? "span" : span.name;
  return {
    run_id: keyOf(span),
    parent_run_id: span.parentId === "" ? null : `${span.traceId}-${span.parentId}`,
    root_run_id: span.traceId,
    agent_name: family === "tool" ? null : (model ?? (family === "chain" ? (firstText(span.attributes, NAMES.agent) ?? name) : name)),
    tool_name: family === "tool" ? toolOf(span) : null,
    mcp_server: family === "tool" ? server : null,
    model,
    session_id: firstText(span.attributes, NAMES.session) ?? firstText(span.resource, NAMES.session),
    user_id: firstText(span.attributes, NAMES.user) ?? firstText(span.resource, NAMES.user),
    is_agent: family === "chain" && isAgentSpan(span),
  };
}

function runStart(placed: Placed): RawEvent {
  const { span } = placed;
  const tags = tagsOf(span);
  return {
    ...placed.common, event_id: `${keyOf(span)}-r`, event_type: "run_start", timestamp: span.startUs / 1000, model: null, tool_name: null, mcp_server: null,
    agent_name: firstText(span.attributes, NAMES.agent) ?? (span.name === "" ? "span" : span.name), summary: span.name, ...(tags.length === 0 ? {} : { tags }),
  };
}

function startEvent(placed: Placed): RawEvent {
  const { span, family } = placed;
  return {
    ...placed.common,
    event_id: `${keyOf(span)}-s`,
    event_type: START[family],
    timestamp: span.startUs / 1000,
    payload: inputOf(span, family),
    attributes: { trace_id: span.traceId, span_id: span.spanId, span_name: span.name, ...(span.scope === "" ? {} : { scope: span.scope }), resource: span.resource, ...restOf(span.attributes) },
  };
}

function endEvent(placed: Placed, endUs: number): RawEvent {
  const { span, family } = placed;
  const exception = span.events.find((event) => event.name === "exception");
  const failed = span.statusCode === 2 || (span.statusCode === 0 && firstText(span.attributes, ["error.type"]) !== null);
  const message = failed ? failureOf(span, exception?.attributes ?? {}) : null;
  const counts = family === "llm" || family === "completion";
  return {
    ...placed.common,
    event_id: `${keyOf(span)}-e`,
    event_type: `${CALL[family]}_${failed ? "error" : "end"}`,
    timestamp: endUs / 1000,
    payload: failed
      ? { error: message, type: firstText(exception?.attributes ?? {}, ["exception.type"]) ?? firstText(span.attributes, ["error.type"]), traceback: stackOf(exception?.attributes ?? {}) }
      : outputOf(span, family),
    token_input: counts ? firstCount(span.attributes, NAMES.tokensIn) : null,
    token_output: counts ? firstCount(span.attributes, NAMES.tokensOut) : null,
    error_message: message,
    attributes: { trace_id: span.traceId, span_id: span.spanId },
  };
}

function failureOf(span: Span, exception: Attributes): string {
  return span.statusMessage || (firstText(exception, ["exception.message", "exception.type"]) ?? firstText(span.attributes, ["error.type"]) ?? "error");
}

function stackOf(exception: Attributes): string | null {
  return firstText(exception, ["exception.stacktrace"])?.slice(0, MAX_STACK) ?? null;
}

function tagsOf(span: Span): readonly string[] {
  const value = firstValue(span.attributes, NAMES.tags) ?? firstValue(span.resource, NAMES.tags);
  const list = Array.isArray(value) ? value : typeof value === "string" ? value.split(",").map((tag) => tag.trim()) : [];
  return list.filter((tag): tag is string => typeof tag === "string" && tag !== "").slice(0, 100);
}

function inputOf(span: Span, family: SpanFamily): { readonly [key: string]: unknown } | null {
  const { attributes } = span;
  switch (family) {
    case "llm":
    case "completion":
      return filled({
        messages: listUnder(attributes, "llm.input_messages") ?? listUnder(attributes, "gen_ai.prompt") ?? firstValue(attributes, NAMES.inputMessages) ?? eventMessages(span, false),
        system_instructions: firstValue(attributes, NAMES.instructions),
        tools: firstValue(attributes, NAMES.definitions) ?? listUnder(attributes, "llm.tools"),
        parameters: firstValue(attributes, ["llm.invocation_parameters"]) ?? requestParameters(attributes),
      });
    case "tool":
      return filled({ input: firstValue(attributes, NAMES.arguments) });
    case "retriever":
      return filled({ query: firstValue(attributes, NAMES.query) });
    case "chain":
      return filled({ inputs: firstValue(attributes, NAMES.input) });
    default:
      return family satisfies never;
  }
}

function outputOf(span: Span, family: SpanFamily): { readonly [key: string]: unknown } | null {
  const { attributes } = span;
  switch (family) {
    case "llm":
    case "completion":
      return filled({
        messages: listUnder(attributes, "llm.output_messages") ?? listUnder(attributes, "gen_ai.completion") ?? firstValue(attributes, NAMES.outputMessages) ?? eventMessages(span, true),
        tool_calls: structured(attributes["ai.response.toolCalls"]),
        finish_reasons: attributes["gen_ai.response.finish_reasons"] ?? attributes["ai.response.finishReason"],
      });
    case "tool":
      return filled({ output: firstValue(attributes, NAMES.result) });
    case "retriever": {
      const documents = listUnder(attributes, "retrieval.documents") ?? listUnder(attributes, "reranker.output_documents") ?? firstValue(attributes, NAMES.documents);
      return filled({ documents, count: Array.isArray(documents) ? documents.length : undefined });
    }
    case "chain":
      return filled({ outputs: firstValue(attributes, NAMES.output) });
    default:
      return family satisfies never;
  }
}

/** Messages that older instrumentation reports as span events. */
function eventMessages(span: Span, output: boolean): readonly unknown[] | undefined {
  const isOutput = (name: string): boolean => name === "gen_ai.choice" || name === "gen_ai.content.completion";
  const messages = span.events
    .filter((event) => event.name.startsWith("gen_ai.") && isOutput(event.name) === output)
    .map((event) => ({ role: /^gen_ai\.(\w+)\.message$/.exec(event.name)?.[1] ?? (output ? "assistant" : "user"), ...Object.fromEntries(Object.entries(event.attributes).map(([key, value]) => [key, structured(value)])) }));
  return messages.length === 0 ? undefined : messages;
}

function requestParameters(attributes: Attributes): { readonly [key: string]: unknown } | undefined {
  const found = Object.entries(attributes).filter(([name]) => name.startsWith("gen_ai.request.") && name !== "gen_ai.request.model");
  return found.length === 0 ? undefined : Object.fromEntries(found.map(([name, value]) => [name.slice("gen_ai.request.".length), value]));
}

function filled(fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } | null {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return present.length === 0 ? null : Object.fromEntries(present);
}

/** Attributes that no field and no payload holds already. */
const HELD = new Set<string>([
  ...NAMES.arguments, ...NAMES.result, ...NAMES.input, ...NAMES.output, ...NAMES.inputMessages, ...NAMES.outputMessages, ...NAMES.instructions, ...NAMES.definitions,
  ...NAMES.query, ...NAMES.documents, "ai.response.toolCalls", "llm.invocation_parameters",
]);
const HELD_LISTS = /^(llm\.(input|output)_messages|llm\.tools|gen_ai\.(prompt|completion)|retrieval\.documents|reranker\.output_documents)\./;

function restOf(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !HELD.has(name) && !HELD_LISTS.test(name)));
}
