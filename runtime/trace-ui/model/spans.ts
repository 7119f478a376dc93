/**
 * Calls of a run, made from its steps: a start and the end that belongs to it are one span, nested below the call that
 * made it. Steps may come in any order and more than once; parents may come late, never, or in a circle.
 */
import type { EventType, NodeKind, Step } from "./types.js";

export type SpanKind = Exclude<NodeKind, "mcp"> | "run" | "mark";
export type SpanState = "open" | "ok" | "error" | "mark";

/** One call, or one moment of a run (`mark`). Times are milliseconds since the epoch. */
export interface Span {
  /** Key of the step that made it; survives a reload. */
  readonly id: string;
  readonly runId: string;
  readonly parentRunId: string | null;
  kind: SpanKind;
  name: string;
  server: string | null;
  model: string | null;
  startMs: number;
  /** `null` while the call is open. */
  endMs: number | null;
  durationMs: number | null;
  state: SpanState;
  error: string | null;
  tokensIn: number | null;
  tokensOut: number | null;
  costUsd: number | null;
  /** Order of arrival of its first step. */
  seq: number;
  /** The steps it is made of. */
  start: Step | null;
  end: Step | null;
  /** Its parent is known by id only. */
  orphan: boolean;
}

type Family = "run" | "chain" | "tool" | "llm" | "retriever";
type Role = "start" | "end" | "mark";

const EVENTS: { readonly [type in EventType]: readonly [Family, Role] } = {
  run_start: ["run", "start"], run_end: ["run", "end"],
  chain_start: ["chain", "start"], chain_end: ["chain", "end"], chain_error: ["chain", "end"],
  agent_action: ["chain", "mark"], agent_finish: ["chain", "end"],
  tool_start: ["tool", "start"], tool_end: ["tool", "end"], tool_error: ["tool", "end"],
  llm_start: ["llm", "start"], chat_model_start: ["llm", "start"], llm_end: ["llm", "end"], llm_error: ["llm", "end"],
  retriever_start: ["retriever", "start"], retriever_end: ["retriever", "end"], retriever_error: ["retriever", "end"],
  retry: ["run", "mark"],
};

const KINDS: readonly SpanKind[] = ["agent", "tool", "llm", "retriever", "chain"];

interface Entry {
  readonly span: Span;
  family: Family;
  /** The span that started for this run id is closed by the next end of its family. */
  open: boolean;
}

/** A text of its own for every step: event ids are unique only within the `run_id` that reports them. */
export function stepKey({ run_id: runId, event_id: eventId }: Pick<Step, "run_id" | "event_id">): string {
  return `${runId.replaceAll("%", "%25").replaceAll(":", "%3A")}:${eventId}`;
}

/** The steps of one run and the spans made of them. `version` grows with every change. */
export class SpanStore {
  version = 0;
  lastSeq = 0;
  /** Latest time of any step; 0 when there is none. */
  lastMs = 0;
  /** By the key of a step; a step that only repeats what another said belongs to that one's span. */
  readonly #byStep = new Map<string, Span>();
  /** The first span that has an event id: links from elsewhere name no more than that. */
  readonly #byEvent = new Map<string, Span>();
  readonly #byRun = new Map<string, Entry[]>();
  readonly #spans: Span[] = [];

  get spans(): readonly Span[] {
    return this.#spans;
  }

  get size(): number {
    return this.#byStep.size;
  }

  /** Takes steps that are new; returns how many were. */
  add(steps: readonly Step[]): number {
    let taken = 0;
    for (const step of steps) {
      const key = stepKey(step);
      if (this.#byStep.has(key)) continue;
      if (step.seq > this.lastSeq) this.lastSeq = step.seq;
      const span = this.#take(step);
      this.#byStep.set(key, span);
      if (!this.#byEvent.has(step.event_id)) this.#byEvent.set(step.event_id, span);
      taken += 1;
    }
    if (taken > 0) this.version += 1;
    return taken;
  }

  /** The call that others name as their parent. */
  primary(runId: string): Span | null {
    return this.#byRun.get(runId)?.[0]?.span ?? null;
  }

  /** The span that a step is part of, by the step's key or by its event id alone. */
  ofStep(id: string): Span | null {
    return this.#byStep.get(id) ?? this.#byEvent.get(id) ?? null;
  }

  #take(step: Step): Span {
    const at = Date.parse(step.timestamp);
    if (at > this.lastMs) this.lastMs = at;
    const [family, role] = EVENTS[step.event_type] ?? ["run", "mark"];
    const entries = this.#byRun.get(step.run_id) ?? [];
    if (role === "mark") {
      const mark = markOf(step, at);
      this.#spans.push(mark);
      return mark;
    }
    if (entries.length === 0) this.#byRun.set(step.run_id, entries);
    return role === "start" ? this.#start(step, at, family, entries) : this.#end(step, at, family, entries);
  }

  #start(step: Step, at: number, family: Family, entries: Entry[]): Span {
    const first = entries[0];
    // run_start only announces what the call itself starts with, whichever of them comes first.
    if (first !== undefined && family === "run") {
      first.span.startMs = Math.min(first.span.startMs, at);
      return first.span;
    }
    if (first !== undefined && first.family === "run") {
      first.family = family;
      begin(first.span, step, at);
      return first.span;
    }
    // An end that came before its start.
    const early = entries.find((entry) => entry.family === family && entry.span.start === null && !entry.open && (entry.span.endMs ?? at) >= at);
    if (early !== undefined) {
      begin(early.span, step, at);
      return early.span;
    }
    const span = spanOf(step, at);
    begin(span, step, at);
    entries.push({ span, family, open: true });
    this.#spans.push(span);
    return span;
  }

  #end(step: Step, at: number, family: Family, entries: Entry[]): Span {
    const entry = entries.findLast((candidate) => candidate.open && (candidate.family === family || family === "run" || candidate.family === "run"));
    if (entry !== undefined) {
      if (family !== "run" && entry.family === "run") entry.family = family;
      entry.open = false;
      finish(entry.span, step, at);
      return entry.span;
    }
    // run_end repeats what the root's own end has said.
    const first = entries[0];
    if (family === "run" && first !== undefined) return first.span;
    const span = spanOf(step, step.duration_ms === null ? at : at - step.duration_ms);
    finish(span, step, at);
    entries.push({ span, family, open: false });
    this.#spans.push(span);
    return span;
  }
}

function spanOf(step: Step, startMs: number): Span {
  return {
    id: stepKey(step), runId: step.run_id, parentRunId: step.parent_run_id === step.run_id ? null : step.parent_run_id,
    kind: kindOf(step), name: nameOf(step), server: step.mcp_server, model: step.model,
    startMs, endMs: null, durationMs: null, state: "open", error: null,
    tokensIn: step.token_input, tokensOut: step.token_output, costUsd: step.cost_usd,
    seq: step.seq, start: null, end: null, orphan: false,
  };
}

function markOf(step: Step, at: number): Span {
  const span = spanOf(step, at);
  const name = step.event_type === "retry" ? "retry" : (step.tool_name ?? step.agent_name ?? step.event_type.replaceAll("_", " "));
  return { ...span, parentRunId: step.run_id, kind: "mark", name, endMs: at, state: "mark", error: step.error_message, start: step };
}

function begin(span: Span, step: Step, at: number): void {
  span.start = step;
  span.startMs = at;
  span.kind = kindOf(step);
  if (step.tool_name !== null || step.agent_name !== null) span.name = nameOf(step);
  span.server = step.mcp_server ?? span.server;
  span.model = step.model ?? span.model;
}

function finish(span: Span, step: Step, at: number): void {
  span.end = step;
  span.endMs = Math.max(at, span.startMs);
  span.durationMs = step.duration_ms ?? span.endMs - span.startMs;
  span.error = step.error_message;
  span.state = step.event_type.endsWith("_error") ? "error" : "ok";
  span.tokensIn = step.token_input ?? span.tokensIn;
  span.tokensOut = step.token_output ?? span.tokensOut;
  span.costUsd = step.cost_usd ?? span.costUsd;
  span.model = step.model ?? span.model;
  if (span.start === null && (step.tool_name !== null || step.agent_name !== null)) span.name = nameOf(step);
  if (span.kind === "run") span.kind = kindOf(step);
}

/** The service decides what a step is (`KIND:NAME`); without that the event type decides. */
function kindOf(step: Step): SpanKind {
  const named = step.node?.slice(0, step.node.indexOf(":"));
  const kind = KINDS.find((known) => known === named);
  if (kind !== undefined) return kind;
  const family = (EVENTS[step.event_type] ?? ["run"])[0];
  return family;
}

function nameOf(step: Step): string {
  const name = step.tool_name ?? step.agent_name ?? step.model;
  return name === null || name.trim() === "" ? step.event_type.replace(/_(start|end|error|finish)$/, "").replaceAll("_", " ") : name;
}
