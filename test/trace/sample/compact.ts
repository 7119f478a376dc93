/** Recorded events as the file that ships: small numbers for ids and times, and nothing of the machine that recorded them. */
import type { Sample, SampleEvent } from "../../../runtime/trace/sample.js";
import type { TraceEvent } from "../../../runtime/tracer/index.js";

/** What the service makes anew, or what says nothing. */
const DROPPED: ReadonlySet<string> = new Set(["event_id", "root_run_id"]);

export function compactSample(played: readonly { readonly ageMs: number; readonly events: readonly TraceEvent[] }[]): Sample {
  return { runs: played.map(({ ageMs, events }) => ({ ageMs, events: compactRun(events) })) };
}

function compactRun(events: readonly TraceEvent[]): readonly SampleEvent[] {
  const startMs = Number(events[0]?.["timestamp"]);
  const ids = new Map<unknown, number>();
  const idOf = (id: unknown): number | null => {
    if (id === null || id === undefined) return null;
    if (!ids.has(id)) ids.set(id, ids.size);
    return ids.get(id) ?? null;
  };
  return events.map((event) => {
    const fields = Object.entries(event).filter(([name, value]) => !DROPPED.has(name) && value !== null && value !== undefined);
    return {
      ...Object.fromEntries(fields.map(([name, value]) => [name, clean(value)])),
      run_id: idOf(event["run_id"]) ?? 0, parent_run_id: idOf(event["parent_run_id"]), timestamp: Math.round((Number(event["timestamp"]) - startMs) * 10) / 10,
    };
  });
}

/** Paths of the machine go; places in packages stay. */
function clean(value: unknown): unknown {
  if (typeof value === "string") return value.split("\n").filter((line) => !/^\s+at .*(?:file:\/\/|\()\/(?!.*node_modules)/.test(line)).join("\n").replace(/(?:file:\/\/)?\/[^\s()'"]*\/node_modules\//g, "node_modules/");
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, clean(inside)]));
}

/** What must stay the same when the sample is recorded again: who called whom, in what order, and which fields were there. */
export function shapeOf({ runs }: Sample): readonly (readonly string[])[] {
  return runs.map(({ events }) => {
    const names = new Map(events.map((event) => [event.run_id, nameOf(event)]));
    return events.map((event) => `${event.parent_run_id === null ? "" : `${names.get(event.parent_run_id) ?? "?"} › `}${String(event["event_type"])} ${nameOf(event)}: ${Object.keys(event).filter((name) => name !== "timestamp").sort().join(" ")} ${Object.keys((event["payload"] ?? {}) as object).sort().join(" ")}`.trim()).sort();
  });
}

function nameOf(event: SampleEvent): string {
  return String(event["tool_name"] ?? event["agent_name"] ?? "");
}
