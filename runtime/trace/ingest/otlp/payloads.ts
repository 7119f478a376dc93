/** What a span was given and what it returned, as JSON text of an object. */
import { deferredPayload, structured } from "../../deferred.js";
import { PREVIEW } from "../event.js";
import type { SpanFamily } from "./conventions.js";
import { type Facts, listUnder, rawOf, requestParameters, textOf, valueOf } from "./facts.js";
import type { Slot } from "./names.js";
import type { Span } from "./spans.js";

const MAX_STACK = 4000;

/** The payload of a span's start; `null` when nothing says what it was given. With `defers` it may be a deferred one. */
export function inputOf(span: Span, facts: Facts, family: SpanFamily, defers = false): string | null {
  switch (family) {
    case "llm":
    case "completion": {
      const listed = listUnder(facts, "llm.input_messages") ?? listUnder(facts, "gen_ai.prompt");
      const tools = valueOf(facts, "definitions") ?? listUnder(facts, "llm.tools");
      const parameters = valueOf(facts, "parameters") ?? requestParameters(facts);
      const rest = member("system_instructions", valueOf(facts, "instructions")) + member("tools", tools) + member("parameters", parameters);
      const deferred = defers && listed === undefined ? deferredMessages(facts, "inputMessages", rest) : null;
      return deferred ?? objectOf(member("messages", listed ?? valueOf(facts, "inputMessages") ?? eventMessages(span, false)) + rest);
    }
    case "tool":
      return objectOf(member("input", valueOf(facts, "arguments")));
    case "retriever":
      return objectOf(member("query", valueOf(facts, "query")));
    case "chain":
      return objectOf(member("inputs", valueOf(facts, "input")));
    default:
      return family satisfies never;
  }
}

/** The payload of a span's end; `null` when nothing says what it returned. With `defers` it may be a deferred one. */
export function outputOf(span: Span, facts: Facts, family: SpanFamily, defers = false): string | null {
  switch (family) {
    case "llm":
    case "completion": {
      const listed = listUnder(facts, "llm.output_messages") ?? listUnder(facts, "gen_ai.completion");
      const reasons = rawOf(facts, "finishReasons") ?? rawOf(facts, "finishReason");
      const rest = member("tool_calls", structured(rawOf(facts, "toolCalls"))) + member("finish_reasons", reasons);
      const deferred = defers && listed === undefined ? deferredMessages(facts, "outputMessages", rest) : null;
      return deferred ?? objectOf(member("messages", listed ?? valueOf(facts, "outputMessages") ?? eventMessages(span, true)) + rest);
    }
    case "tool":
      return objectOf(member("output", valueOf(facts, "result")));
    case "retriever": {
      const documents = listUnder(facts, "retrieval.documents") ?? listUnder(facts, "reranker.output_documents") ?? valueOf(facts, "documents");
      return objectOf(member("documents", documents) + member("count", Array.isArray(documents) ? documents.length : undefined));
    }
    case "chain":
      return objectOf(member("outputs", valueOf(facts, "output")));
    default:
      return family satisfies never;
  }
}

/** Why a span failed, and that as the payload of its end. */
export function failure(span: Span, facts: Facts): { readonly message: string; readonly payload: string } {
  const given = span.events.find((event) => event.name === "exception")?.attributes ?? {};
  const text = (name: string): string | null => (typeof given[name] === "string" && given[name] !== "" ? given[name] : null);
  const type = text("exception.type");
  const spanType = textOf(facts, "errorType");
  const message = span.statusMessage || (text("exception.message") ?? type ?? spanType ?? "error");
  return { message, payload: JSON.stringify({ error: message, type: type ?? spanType, traceback: text("exception.stacktrace")?.slice(0, MAX_STACK) ?? null }) };
}

/** Messages that are a text, as they came; `null` when they are something else. */
function deferredMessages(facts: Facts, slot: Slot, rest: string): string | null {
  const text = textOf(facts, slot);
  return text === null ? null : deferredPayload("messages", text, rest, PREVIEW);
}

/** A member of JSON, with a comma before it; "" for a value that is not there. */
function member(name: string, value: unknown): string {
  return value === undefined ? "" : `,"${name}":${JSON.stringify(value)}`;
}

function objectOf(members: string): string | null {
  return members === "" ? null : `{${members.slice(1)}}`;
}

/** Messages that older instrumentation reports as span events. */
function eventMessages(span: Span, output: boolean): readonly unknown[] | undefined {
  if (span.events.length === 0) return undefined;
  const isOutput = (name: string): boolean => name === "gen_ai.choice" || name === "gen_ai.content.completion";
  const messages = span.events
    .filter((event) => event.name.startsWith("gen_ai.") && isOutput(event.name) === output)
    .map((event) => ({ role: /^gen_ai\.(\w+)\.message$/.exec(event.name)?.[1] ?? (output ? "assistant" : "user"), ...Object.fromEntries(Object.entries(event.attributes).map(([key, value]) => [key, structured(value)])) }));
  return messages.length === 0 ? undefined : messages;
}
