/** What follows from stored rows, in whichever database they are: sums, runs inside runs, sessions. */
import type { components } from "../api.types.gen.js";
import { COMPLETED, eventKind, FAILED, RUNNING, type Topology } from "../model.js";
import { RunCalls } from "../record/calls.js";
import type { RunRow } from "../record/run-state.js";
import { isToolCall, nodeKey, nodeName, Tally } from "../record/tally.js";
import type { TimesByEdge } from "./edge-times.js";
import { type GraphEdge, type GraphNode, linkKey } from "./graph.js";
import { type CallRecord, type EventRecord, recordedEvent } from "./rows.js";
import { runWire, runWireExtended } from "./wire.js";

/** What stored events of one run, in order of arrival, add to the graph. */
export function tallyOf(records: Iterable<CallRecord>, tally = new Tally()): Tally {
  const calls = new RunCalls();
  for (const record of records) {
    const event = recordedEvent(record);
    const kind = eventKind(event.type);
    const key = nodeKey(event);
    calls.observe({ runId: event.runId, parentId: event.parentId, at: event.at, node: key }, kind, event, (source, target, count, last) => tally.edge(source, target, count, last));
    if (key !== null) tally.event(key, kind, event.at, event.durationMs, false);
  }
  return tally;
}

/** Counters of the whole store. */
export const COUNTERS = ["events", "duration_ms", "timed", "tokens_in", "tokens_out", "payload_bytes", "payloads"] as const;
export type CounterSums = { readonly [Name in (typeof COUNTERS)[number]]: number };

type Counted = Pick<EventRecord, "duration_ms" | "tokens_in" | "tokens_out" | "payload">;

export function countersOf(records: readonly Counted[], sign: 1 | -1): CounterSums {
  return {
    events: sign * records.length, duration_ms: sign * sumOf(records, (r) => r.duration_ms), timed: sign * records.filter((r) => r.duration_ms !== null).length,
    tokens_in: sign * sumOf(records, (r) => r.tokens_in), tokens_out: sign * sumOf(records, (r) => r.tokens_out),
    payload_bytes: sign * sumOf(records, (r) => r.payload), payloads: sign * records.filter((r) => r.payload !== null).length,
  };
}

function sumOf<T>(records: readonly T[], value: (record: T) => number | null): number {
  return records.reduce((total, record) => total + (value(record) ?? 0), 0);
}

/** Calls of some steps, and the failed ones below which nothing failed. */
function callsOf(records: readonly EventRecord[]): Pick<RunRow, "callCount" | "errors"> {
  const { count, causes } = new RunCalls().recall(records.map(recordedEvent));
  return { callCount: count, errors: causes };
}

/** Tools that some steps called, and their servers, in order of first use. */
function toolsOf(records: readonly EventRecord[]): Pick<RunRow, "tools" | "servers"> {
  const called = records.filter((record) => record.tool !== null && isToolCall(eventKind(record.type)));
  return { tools: [...new Set(called.flatMap((record) => record.tool ?? []))], servers: [...new Set(called.flatMap((record) => record.server ?? []))] };
}

/** The run that holds a nested one, when the nested one's steps are gone and `rest` is left. */
export function withoutNested(holder: RunRow, rest: readonly EventRecord[]): RunRow {
  return {
    ...holder, steps: rest.length, ...callsOf(rest), tokensIn: sumOf(rest, (r) => r.tokens_in), tokensOut: sumOf(rest, (r) => r.tokens_out), ...toolsOf(rest),
  };
}

/** A nested run as its own steps tell it, in the order of the journey. */
export function nestedRun(holder: RunRow, runId: string, records: readonly EventRecord[]): RunRow {
  const first = records[0];
  const end = records.find((record) => ["end", "error"].includes(eventKind(record.type).side));
  const failed = end !== undefined && eventKind(end.type).side === "error";
  return {
    ...holder, runId, tags: [], status: end === undefined ? RUNNING : failed ? FAILED : COMPLETED, startedAt: first?.at ?? holder.startedAt, completedAt: end?.at ?? null,
    steps: records.length, ...callsOf(records), tokensIn: sumOf(records, (r) => r.tokens_in), tokensOut: sumOf(records, (r) => r.tokens_out),
    graph: null, error: failed ? end.error : null,
    name: first?.agent ?? first?.tool ?? null, models: [...new Set(records.flatMap((record) => record.model ?? []))], preview: first?.summary ?? null, answer: null,
    ...toolsOf(records), costNano: sumOf(records, (r) => r.cost_nano),
    unpriced: records.filter((record) => record.cost_nano === null && (record.tokens_in !== null || record.tokens_out !== null)).length,
    lastSeq: records.at(-1)?.seq ?? 0,
  };
}

/** A session of its runs, at least one, newest first. */
export function sessionOf(session: string, runs: readonly RunRow[]): components["schemas"]["SessionList"]["sessions"][number] {
  const costs = runs.map((run) => runWireExtended(run).cost_usd);
  return {
    session_id: session,
    user_id: runs.find((run) => run.user !== null)?.user ?? null,
    run_count: runs.length,
    failed_count: runs.filter((run) => run.status === FAILED).length,
    total_tokens_input: sumOf(runs, (run) => run.tokensIn),
    total_tokens_output: sumOf(runs, (run) => run.tokensOut),
    cost_usd: costs.some((cost) => cost === null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    started_at: runWire(runs.reduce((a, b) => (a.startedAt <= b.startedAt ? a : b))).started_at,
    last_at: runWire(runs.reduce((a, b) => (a.startedAt >= b.startedAt ? a : b))).started_at,
  };
}

/** What is left of a graph that holds everything, for a list of nodes and edges by key. */
export function changedPart(all: Topology, ids: ReadonlyMap<string, string>, nodeKeys: readonly string[], edgeKeys: readonly string[]): Topology {
  const servers = nodeKeys.map((key) => nodeName(key).source).filter((source) => source !== null);
  const changedNodes = new Set([...nodeKeys.map((key) => ids.get(key) ?? key), ...servers.map((server) => `mcp:${server}`)]);
  const changedEdges = new Set(edgeKeys.map((key) => {
    const [source = "", target = ""] = key.split("\r").map((end) => ids.get(end) ?? end);
    return linkKey(source, target);
  }));
  return {
    nodes: all.nodes.filter((node) => changedNodes.has(node.id)),
    edges: all.edges.filter((edge) => changedEdges.has(linkKey(edge.source, edge.target)) || (changedNodes.has(edge.source) && changedNodes.has(edge.target))),
  };
}

/** The graph of sums, and what else the servers offer that were active in them. The sums are given away. */
export function graphOf(tally: Tally, registered: Iterable<string>, times: TimesByEdge): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const active = new Set([...tally.nodes.keys()].map((key) => nodeName(key)).flatMap(({ family, source }) => (family === "tool" && source !== null ? [source] : [])));
  for (const key of registered) {
    const { source } = nodeName(key);
    if (source !== null && active.has(source)) tally.node(key);
  }
  return { nodes: [...tally.nodes].map(([key, sum]) => ({ key, ...sum, buckets: [...sum.buckets] })), edges: [...tally.edges].map(([key, edge]) => ({ ...edge, times: times.get(key) })) };
}

/** What a scope stands for: all runs, the last ones, those of a name, or one by its id. */
export type Scope = { readonly kind: "all" } | { readonly kind: "last"; readonly count: number } | { readonly kind: "name"; readonly name: string } | { readonly kind: "run"; readonly ids: readonly string[] };

/** Runs of a scope that is not all of them, at most; the newest. */
export const MAX_LAST = 1000;

export function parseScope(scope: string): Scope {
  if (scope === "all") return { kind: "all" };
  if (scope.startsWith("name:")) return { kind: "name", name: scope.slice("name:".length) };
  if (scope.startsWith("run:")) return { kind: "run", ids: [scope.slice(4), scope.slice(4).trim()] };
  return { kind: "last", count: Math.min(MAX_LAST, Math.max(1, Number(scope.slice("last_n:".length)))) };
}

/** Text as filters compare it: letter case does not count, in any script. */
export function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
