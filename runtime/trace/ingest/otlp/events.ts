/**
 * Spans as events: each is a start and an end, the root of a trace also starts the run. The trace is the run, so spans
 * may come in any order and a root may come last or never.
 */
import { type EventType, eventNumber, type Incoming } from "../../model.js";
import { parseTime } from "../../time.js";
import { countProblem, cutText, describe, isCount, MAX_ERROR, MAX_NAME, nameOf, whole } from "../event.js";
import type { Redactor } from "../redact.js";
import { isAgentSpan, type SpanFamily } from "./conventions.js";
import { countOf, type FactReader, type Facts, textOf, valueOf } from "./facts.js";
import { failure, inputOf, outputOf } from "./payloads.js";
import { type Placed, placeSpans, spanProblem, toolOf } from "./place.js";
import type { Span } from "./spans.js";

export interface SpanEvents {
  readonly events: readonly Incoming[];
  /** Spans that could not be taken, and why the first of them was not. */
  readonly refused: number;
  readonly reason: string | null;
}

export interface SpanOptions {
  readonly summaryChars: number;
  readonly facts: FactReader;
  /** `null` when nothing of the request can need it. */
  readonly redactor: Redactor | null;
  /** Payloads without anything to redact may be deferred. */
  readonly defers: boolean;
}

type Numbers = { readonly [family in SpanFamily]: number };
const numbers = (side: "start" | "end" | "error"): Numbers => ({
  chain: numberOf(`chain_${side}`), tool: numberOf(`tool_${side}`), llm: numberOf(side === "start" ? "chat_model_start" : `llm_${side}`), completion: numberOf(`llm_${side}`),
  retriever: numberOf(`retriever_${side}`),
});
const START = numbers("start");
const END = numbers("end");
const ERROR = numbers("error");
const RUN_START = numberOf("run_start");
const MAX_TAGS = 100;

/** A side of a span in the order of events. */
interface Timed {
  readonly at: number;
  readonly rank: number;
  readonly make: (placed: Placed, cleaner: Cleaner) => Incoming | string;
  readonly placed: Placed;
}

/** Events of all spans of one request, in order of time, parents around their children. */
export function spanEvents(spans: readonly Span[], options: SpanOptions): SpanEvents {
  const reasons: string[] = [];
  const good = spans.filter((span) => {
    const problem = spanProblem(span);
    if (problem !== null) reasons.push(problem);
    return problem === null;
  });
  const timed: Timed[] = [];
  for (const placed of placeSpans(good, options.facts)) {
    const { startUs: at, parentId } = placed.span;
    if (parentId === "") timed.push({ at, rank: -1, make: runStart, placed });
    timed.push({ at, rank: placed.depth, make: startEvent, placed }, { at: endOf(placed.span), rank: 1e9 - placed.depth, make: endEvent, placed });
  }
  timed.sort((a, b) => a.at - b.at || a.rank - b.rank);
  const cleaner = cleanerOf(options);
  const events: Incoming[] = [];
  for (const { make, placed } of timed) {
    const event = made(make, placed, cleaner);
    if (typeof event === "string") reasons.push(event);
    else events.push(event);
  }
  return { events, refused: reasons.length, reason: reasons[0] ?? null };
}

function made(make: Timed["make"], placed: Placed, cleaner: Cleaner): Incoming | string {
  try {
    return make(placed, cleaner);
  } catch (error) {
    // The engine's own bound: some thousand levels.
    if (error instanceof RangeError) return "the event is nested too deeply to be stored";
    throw error;
  }
}

/** Takes secrets out and cuts; secrets first, so that no part of one is left over at the cut. */
interface Cleaner {
  readonly defers: boolean;
  readonly summaryChars: number;
  text(text: string): string;
  json(json: string | null): string | null;
  /** A name to its bound; an empty one is none. */
  name(name: string | null): string | null;
}

function cleanerOf({ redactor, summaryChars, defers }: SpanOptions): Cleaner {
  const text = (value: string): string => (redactor === null ? value : redactor.text(value));
  return { defers: defers && redactor === null, summaryChars, text, json: (json) => (json === null || redactor === null ? json : redactor.json(json)), name: (name) => nameOf(name, text) };
}

function endOf(span: Span): number {
  return Math.max(span.endUs, span.startUs);
}

function nameIn({ span, facts, family }: Placed, model: string | null): string | null {
  if (family === "tool") return null;
  const name = span.name === "" ? "span" : span.name;
  return model ?? (family === "chain" ? (textOf(facts, "agent") ?? name) : name);
}

/** What all events of a span have. */
interface Common {
  readonly placed: Placed;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly server: string | null;
  readonly session: string | null;
  readonly user: string | null;
  readonly model: string | null;
}

function commonOf(placed: Placed, cleaner: Cleaner): Common {
  const { facts, resource, family } = placed;
  const model = family === "llm" || family === "completion" ? textOf(facts, "model") : null;
  return {
    placed,
    agent: cleaner.name(nameIn(placed, model)),
    tool: family === "tool" ? cleaner.name(toolOf(placed)) : null,
    server: family === "tool" ? cleaner.name(placed.server) : null,
    session: cleaner.name(textOf(facts, "session") ?? textOf(resource.facts, "session")),
    user: cleaner.name(textOf(facts, "user") ?? textOf(resource.facts, "user")),
    model: cleaner.name(model),
  };
}

/** What one event of a span has of its own. */
interface Own extends Pick<Incoming, "type" | "summary" | "payload" | "tokensIn" | "tokensOut" | "error" | "tags" | "attributes"> {
  readonly side: "r" | "s" | "e";
  readonly us: number;
}

/** Field by field: spreading objects of this size takes longer than everything else here. */
function eventOf({ placed, agent, tool, server, session, user, model }: Common, own: Own): Incoming {
  const { key, parentKey, span, family, facts } = placed;
  return {
    eventId: `${key}-${own.side}`, fresh: false, runId: key, parentId: parentKey === "" ? null : parentKey, rootId: span.traceId, type: own.type, at: timeOf(own.us), agent, tool,
    server, summary: own.summary, payload: own.payload, tokensIn: own.tokensIn, tokensOut: own.tokensOut, error: own.error, tags: own.tags, session, user, model, graph: null,
    attributes: own.attributes, isAgent: family === "chain" && isAgentSpan(facts), durationMs: null, packed: null,
  };
}

function numberOf(type: EventType): number {
  const number = eventNumber(type);
  if (number === undefined) throw new Error(`no event has the type ${type}`);
  return number;
}

/** As numbers of milliseconds are read: microseconds where they are exact. */
function timeOf(us: number): number {
  return parseTime(us / 1000) ?? us;
}

function runStart(placed: Placed, cleaner: Cleaner): Incoming {
  const { span, facts, resource } = placed;
  const tags = tagsOf(facts, resource.facts);
  const { session, user } = commonOf(placed, cleaner);
  const agent = cleaner.name(textOf(facts, "agent") ?? (span.name === "" ? "span" : span.name));
  return eventOf({ placed, agent, tool: null, server: null, session, user, model: null }, {
    side: "r", us: span.startUs, type: RUN_START, summary: cutText(cleaner.text(whole(span.name)), cleaner.summaryChars), payload: null, tokensIn: null, tokensOut: null,
    error: null, tags: tags.length === 0 ? null : tags.map((tag) => cutText(cleaner.text(whole(tag)), MAX_NAME)), attributes: null,
  });
}

function startEvent(placed: Placed, cleaner: Cleaner): Incoming {
  const { span, facts, family, resource } = placed;
  const common = commonOf(placed, cleaner);
  const payload = cleaner.json(inputOf(span, facts, family, cleaner.defers));
  const scope = span.scope === "" ? "" : `,"scope":${JSON.stringify(span.scope)}`;
  const attributes = `{"trace_id":"${span.traceId}","span_id":"${span.spanId}","span_name":${JSON.stringify(span.name)}${scope},"resource":${resource.json}${facts.rest}}`;
  return eventOf(common, {
    side: "s", us: span.startUs, type: START[family], summary: cutText(describe(common.tool ?? common.agent, null, payload), cleaner.summaryChars), payload,
    tokensIn: null, tokensOut: null, error: null, tags: null, attributes: cleaner.json(attributes),
  });
}

function endEvent(placed: Placed, cleaner: Cleaner): Incoming | string {
  const { span, facts, family } = placed;
  const common = commonOf(placed, cleaner);
  const failed = span.statusCode === 2 || (span.statusCode === 0 && textOf(facts, "errorType") !== null);
  const failing = failed ? failure(span, facts) : null;
  const payload = cleaner.json(failing === null ? outputOf(span, facts, family, cleaner.defers) : failing.payload);
  const counts = family === "llm" || family === "completion";
  const tokensIn = counts ? countOf(facts, "tokensIn") : null;
  const tokensOut = counts ? countOf(facts, "tokensOut") : null;
  if (tokensIn !== null && !isCount(tokensIn)) return countProblem("token_input");
  if (tokensOut !== null && !isCount(tokensOut)) return countProblem("token_output");
  const error = failing === null ? null : cutText(cleaner.text(whole(failing.message)), MAX_ERROR);
  return eventOf(common, {
    side: "e", us: endOf(span), type: (failed ? ERROR : END)[family], summary: cutText(describe(common.tool ?? common.agent, error, payload), cleaner.summaryChars), payload,
    tokensIn, tokensOut, error, tags: null, attributes: cleaner.json(`{"trace_id":"${span.traceId}","span_id":"${span.spanId}"}`),
  });
}

function tagsOf(facts: Facts, resource: Facts): readonly string[] {
  const value = valueOf(facts, "tags") ?? valueOf(resource, "tags");
  const list = Array.isArray(value) ? value : typeof value === "string" ? value.split(",").map((tag) => tag.trim()) : [];
  return list.filter((tag): tag is string => typeof tag === "string" && tag !== "").slice(0, MAX_TAGS);
}
