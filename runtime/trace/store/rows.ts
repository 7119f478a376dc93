/** Columns of the stored rows, which all stores share, and the shapes in which their drivers return them. */
import type { RunRow } from "../record/run-state.js";
import type { StepRow } from "./wire.js";
import type { RecordedEvent } from "../record/calls.js";

export interface RunRecord {
  readonly key: number;
  readonly run_id: string;
  readonly status: number;
  readonly started_at: number;
  readonly completed_at: number | null;
  readonly tags: string;
  readonly steps: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly errors: number;
  readonly graph: string | null;
  readonly error: string | null;
  readonly name: string | null;
  readonly session: string | null;
  readonly user: string | null;
  readonly models: string;
  readonly cost_nano: number;
  readonly unpriced: number;
  readonly preview: string | null;
  readonly rooted: number;
  readonly settled: number;
  readonly throttled: number;
  readonly last_seq: number;
  readonly touched_ms: number;
  readonly answer: string | null;
  readonly calls: number | null;
  readonly tools: string | null;
  readonly servers: string | null;
}

export function runRow(record: RunRecord): RunRow {
  return {
    key: record.key, runId: record.run_id, status: record.status, startedAt: record.started_at, completedAt: record.completed_at,
    tags: JSON.parse(record.tags) as string[], steps: record.steps, tokensIn: record.tokens_in, tokensOut: record.tokens_out, errors: record.errors,
    graph: record.graph, error: record.error, name: record.name, session: record.session, user: record.user,
    models: JSON.parse(record.models) as string[], costNano: record.cost_nano, unpriced: record.unpriced, preview: record.preview,
    rooted: record.rooted === 1, settled: record.settled === 1, throttled: record.throttled === 1, lastSeq: record.last_seq, touchedMs: record.touched_ms, answer: record.answer,
    callCount: record.calls, tools: namesOf(record.tools), servers: namesOf(record.servers),
  };
}

/** Names of a list that earlier releases did not store. */
export function namesOf(json: string | null): readonly string[] {
  return json === null ? [] : (JSON.parse(json) as string[]);
}

export const RUN_COLUMNS =
  "key, run_id, status, started_at, completed_at, tags, steps, tokens_in, tokens_out, errors, graph, error, name, session, \"user\", models, " +
  "cost_nano, unpriced, preview, rooted, settled, throttled, last_seq, touched_ms, answer, calls, tools, servers";

/** Values of RUN_COLUMNS. */
export function runValues(run: RunRow): (string | number | null)[] {
  return [
    run.key, run.runId, run.status, run.startedAt, run.completedAt, JSON.stringify(run.tags), run.steps, run.tokensIn, run.tokensOut, run.errors,
    run.graph, run.error, run.name, run.session, run.user, JSON.stringify(run.models), run.costNano, run.unpriced, run.preview,
    Number(run.rooted), Number(run.settled), Number(run.throttled), run.lastSeq, run.touchedMs, run.answer, run.callCount,
    JSON.stringify(run.tools), JSON.stringify(run.servers),
  ];
}

export interface EventRecord {
  readonly seq: number;
  readonly root: number;
  readonly at: number;
  readonly type: number;
  readonly event_id: string;
  readonly run_id: string;
  readonly parent_id: string | null;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly server: string | null;
  readonly summary: string;
  readonly payload: number | null;
  readonly duration_ms: number | null;
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
  readonly error: string | null;
  readonly model: string | null;
  readonly cost_nano: number | null;
  readonly attributes: string | null;
}

export const EVENT_COLUMNS =
  "seq, root, at, type, event_id, run_id, parent_id, agent, tool, server, summary, payload, duration_ms, tokens_in, tokens_out, error, model, cost_nano, attributes";

export function stepRow(record: EventRecord, rootId: string): StepRow {
  return {
    seq: record.seq, rootId, at: record.at, type: record.type, eventId: record.event_id, runId: record.run_id, parentId: record.parent_id,
    agent: record.agent, tool: record.tool, server: record.server, summary: record.summary, payload: record.payload, durationMs: record.duration_ms,
    tokensIn: record.tokens_in, tokensOut: record.tokens_out, error: record.error, model: record.model, costNano: record.cost_nano, attributes: record.attributes,
  };
}

/** Columns of a step that decide its place in the graph. */
export const CALL_COLUMNS = "run_id, parent_id, type, at, duration_ms, agent, tool, server, model";
export type CallRecord = Pick<EventRecord, "run_id" | "parent_id" | "type" | "at" | "duration_ms" | "agent" | "tool" | "server" | "model">;

export function recordedEvent(record: CallRecord): RecordedEvent {
  return {
    runId: record.run_id, parentId: record.parent_id, type: record.type, at: record.at, durationMs: record.duration_ms,
    agent: record.agent, tool: record.tool, server: record.server, model: record.model,
  };
}
