/** How long the calls along each edge of the graph took, and how many of them failed: read from the steps of runs. */
import { eventKind } from "../model.js";
import { bucketOf } from "../record/durations.js";
import { nodeKey } from "../record/tally.js";
import type { CallRecord } from "./rows.js";

/** Ends of the calls along one edge. */
export interface EdgeTimes {
  errors: number;
  maxMs: number;
  readonly buckets: Map<number, number>;
}

/** By the keys of both nodes, joined by a carriage return, as in a tally. */
export type TimesByEdge = ReadonlyMap<string, EdgeTimes>;

interface Call {
  node: string | null;
  parentId: string | null;
  readonly ends: { readonly ms: number | null; readonly failed: boolean }[];
}

/** Times of one run, whatever the order of its steps. A call of the node that it is made by is no edge. */
export function edgeTimesOf(records: Iterable<CallRecord>): TimesByEdge {
  const calls = new Map<string, Call>();
  for (const record of records) {
    const { call: family, side } = eventKind(record.type);
    if (family === null) continue;
    const call = calls.get(record.run_id) ?? { node: null, parentId: null, ends: [] };
    calls.set(record.run_id, call);
    call.parentId ??= record.parent_id;
    call.node ??= nodeKey(record);
    if (side === "end" || side === "error") call.ends.push({ ms: record.duration_ms, failed: side === "error" });
  }
  const times = new Map<string, EdgeTimes>();
  for (const { node, parentId, ends } of calls.values()) {
    const caller = parentId === null ? null : (calls.get(parentId)?.node ?? null);
    if (node === null || caller === null || caller === node || ends.length === 0) continue;
    const edge = timesOf(times, `${caller}\r${node}`);
    for (const { ms, failed } of ends) addEnd(edge, ms, failed);
  }
  return times;
}

/** Adds the times of one run to those of many. */
export function addTimes(all: Map<string, EdgeTimes>, run: TimesByEdge): void {
  for (const [key, times] of run) mergeTimes(timesOf(all, key), times);
}

export function noTimes(): EdgeTimes {
  return { errors: 0, maxMs: 0, buckets: new Map() };
}

export function mergeTimes(into: EdgeTimes, { errors, maxMs, buckets }: EdgeTimes): void {
  into.errors += errors;
  into.maxMs = Math.max(into.maxMs, maxMs);
  for (const [bucket, count] of buckets) into.buckets.set(bucket, (into.buckets.get(bucket) ?? 0) + count);
}

function timesOf(times: Map<string, EdgeTimes>, key: string): EdgeTimes {
  const known = times.get(key) ?? noTimes();
  times.set(key, known);
  return known;
}

function addEnd(edge: EdgeTimes, ms: number | null, failed: boolean): void {
  if (failed) edge.errors += 1;
  if (ms === null) return;
  edge.maxMs = Math.max(edge.maxMs, ms);
  const bucket = bucketOf(ms);
  edge.buckets.set(bucket, (edge.buckets.get(bucket) ?? 0) + 1);
}
