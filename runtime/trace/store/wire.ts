/** From stored rows to the shapes of the API: field order and time format are part of the contract. */
import type { components } from "../api.types.gen.js";
import { eventKind, type Run, type RunExtended, type RunStatus, STATUSES, type StepExtended, type StoredEvent } from "../model.js";
import type { RunRow } from "../record/run-state.js";
import { formatTime } from "../time.js";

/** A stored step with the ids of its runs. Times in microseconds. */
export interface StepRow {
  readonly seq: number;
  readonly rootId: string;
  readonly at: number;
  readonly type: number;
  readonly eventId: string;
  readonly runId: string;
  readonly parentId: string | null;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly server: string | null;
  readonly summary: string;
  /** Compressed size of the payload; `null` without one. */
  readonly payload: number | null;
  readonly durationMs: number | null;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly error: string | null;
  readonly model: string | null;
  readonly costNano: number | null;
  /** JSON text. */
  readonly attributes: string | null;
}

export function runWire(run: RunRow, rootId = run.runId): Run {
  return {
    run_id: run.runId,
    root_run_id: rootId,
    tags: [...run.tags],
    status: statusName(run.status),
    started_at: formatTime(run.startedAt),
    completed_at: run.completedAt === null ? null : formatTime(run.completedAt),
    total_steps: run.steps,
    total_tokens_input: run.tokensIn,
    total_tokens_output: run.tokensOut,
    graph_definition: run.graph,
    error_message: run.error,
  };
}

export function runWireExtended(run: RunRow, rootId = run.runId): RunExtended {
  return {
    ...runWire(run, rootId),
    name: run.name,
    session_id: run.session,
    user_id: run.user,
    models: [...run.models],
    tools: [...run.tools],
    servers: [...run.servers],
    duration_ms: run.completedAt === null ? null : Math.max(0, Math.floor((run.completedAt - run.startedAt) / 1000)),
    call_count: run.callCount,
    errors: run.errors,
    cost_usd: run.unpriced > 0 || run.costNano === 0 ? null : run.costNano / 1e9,
    preview: run.preview,
    answer: run.answer,
    last_seq: run.lastSeq,
  };
}

export function stepWire(row: StepRow): StoredEvent {
  return {
    event_id: row.eventId,
    run_id: row.runId,
    parent_run_id: row.parentId,
    root_run_id: row.rootId,
    event_type: eventKind(row.type).name,
    timestamp: formatTime(row.at),
    agent_name: row.agent,
    tool_name: row.tool,
    mcp_server: row.server,
    summary: row.summary,
    blob_path: row.payload === null ? null : `${row.runId}/${row.eventId}.json.gz`,
    duration_ms: row.durationMs,
    token_input: row.tokensIn,
    token_output: row.tokensOut,
    error_message: row.error,
  };
}

/** `node` is the public id of the step's graph node. */
export function stepWireExtended(row: StepRow, node: string | null): StepExtended {
  return {
    ...stepWire(row),
    seq: row.seq,
    node,
    model: row.model,
    cost_usd: row.costNano === null ? null : row.costNano / 1e9,
    payload_bytes: row.payload,
    attributes: row.attributes === null ? null : (JSON.parse(row.attributes) as { [key: string]: unknown }),
  };
}

/** What a search says of the run that holds a hit. */
export function hitRun(run: Pick<RunRow, "name" | "status" | "startedAt">): components["schemas"]["HitRun"] {
  return { name: run.name, status: statusName(run.status), started_at: formatTime(run.startedAt) };
}

export function statusName(status: number): RunStatus {
  return STATUSES[status] ?? "running";
}
