/** Two runs side by side: their calls, aligned in the order of their outlines by what they called and at which depth. */
import type { components } from "../api.types.gen.js";
import { eventKind, RUNNING, COMPLETED, FAILED } from "../model.js";
import { formatTime } from "../time.js";
import { statusName, type StepRow } from "./wire.js";

type Call = components["schemas"]["ComparedCall"];
type Row = components["schemas"]["ComparedRow"];

/** Calls of one run that are compared; the alignment's cost grows with the square. */
export const MAX_CALLS = 2_000;

export interface ComparedCalls {
  readonly calls: readonly { readonly depth: number; readonly call: Call }[];
  readonly truncated: boolean;
}

interface Placed {
  call: Call;
  readonly parentId: string | null;
  readonly children: Placed[];
}

/** The calls of a journey, each before those that it made, in order of their starts; a start and its end are one call. */
export function callsOf(steps: Iterable<StepRow>, nodeId: (step: StepRow) => string | null): ComparedCalls {
  const placed: Placed[] = [];
  const open = new Map<string, Placed>();
  const byRun = new Map<string, Placed>();
  let truncated = false;
  for (const step of steps) {
    const kind = eventKind(step.type);
    if (kind.call === null) continue;
    if (kind.side === "start") {
      truncated = placed.length === MAX_CALLS;
      if (truncated) break;
      const entry: Placed = { call: callOf(step, RUNNING, nodeId(step)), parentId: step.parentId, children: [] };
      placed.push(entry);
      open.set(`${kind.call} ${step.runId}`, entry);
      if (!byRun.has(step.runId)) byRun.set(step.runId, entry);
      continue;
    }
    const started = open.get(`${kind.call} ${step.runId}`);
    if (started === undefined) continue;
    const ended = callOf(step, kind.side === "error" ? FAILED : COMPLETED, started.call.node);
    started.call = { ...ended, started_at: started.call.started_at };
    open.delete(`${kind.call} ${step.runId}`);
  }
  return { calls: outline(placed, byRun), truncated };
}

/** Calls whose parents are unknown, or call each other in a circle, are roots. Never recursive: runs nest deeply. */
function outline(placed: readonly Placed[], byRun: ReadonlyMap<string, Placed>): ComparedCalls["calls"] {
  const roots: Placed[] = [];
  for (const entry of placed) {
    const parent = entry.parentId === null ? undefined : byRun.get(entry.parentId);
    (parent === undefined || parent === entry ? roots : parent.children).push(entry);
  }
  const calls: { readonly depth: number; readonly call: Call }[] = [];
  const seen = new Set<Placed>();
  const walk = (root: Placed): void => {
    const waiting = [{ entry: root, depth: 0 }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { entry, depth } = next;
      if (seen.has(entry)) continue;
      seen.add(entry);
      calls.push({ depth, call: entry.call });
      for (const child of entry.children.toReversed()) waiting.push({ entry: child, depth: depth + 1 });
    }
  };
  for (const entry of [...roots, ...placed]) if (!seen.has(entry)) walk(entry);
  return calls;
}

function callOf(step: StepRow, status: number, node: string | null): Call {
  return {
    run_id: step.runId, node, event_id: step.eventId, summary: step.summary, status: statusName(status), started_at: formatTime(step.at), duration_ms: step.durationMs,
    token_input: step.tokensIn, token_output: step.tokensOut, error_message: step.error, payload_bytes: step.payload,
  };
}

/** Longest common subsequence of both lists; what is not part of it stands alone, `a` first. */
export function align(a: ComparedCalls["calls"], b: ComparedCalls["calls"]): Row[] {
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  const keys = (list: ComparedCalls["calls"]): readonly string[] => list.map(({ depth, call }) => `${depth} ${call.node ?? ""}`);
  const keysA = keys(a);
  const keysB = keys(b);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const same = keysA[i] === keysB[j];
      common[i * width + j] = same ? (common[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
    }
  }
  const rows: Row[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && right !== undefined && keysA[i] === keysB[j]) {
      rows.push({ change: changed(left.call, right.call) ? "changed" : "same", depth: left.depth, a: left.call, b: right.call });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))) {
      rows.push({ change: "only_a", depth: left.depth, a: left.call, b: null });
      i += 1;
    } else if (right !== undefined) {
      rows.push({ change: "only_b", depth: right.depth, a: null, b: right.call });
      j += 1;
    }
  }
  return rows;
}

function changed(a: Call, b: Call): boolean {
  return a.status !== b.status || a.summary !== b.summary || a.error_message !== b.error_message;
}
