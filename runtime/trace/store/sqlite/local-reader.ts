/** The reads by name: each takes plain values and returns what `TraceReader` promises. */
import type { RunListQuery, StepPageQuery, TraceReader } from "../store.js";
import type { SqliteReader } from "./reader.js";

/** The same reads without a thread between. */
type Reads = { readonly [K in keyof TraceReader]: (...args: Parameters<TraceReader[K]>) => Awaited<ReturnType<TraceReader[K]>> };

const json = (value: unknown): string => JSON.stringify(value);
const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

export function readMethods(reader: SqliteReader): Reads {
  return {
    runs: (query: RunListQuery) => json(reader.runs(query)),
    run: (runId, extended) => jsonOrNull(reader.run(runId, extended)),
    target: (runId) => reader.target(runId),
    steps: (query: StepPageQuery) => reader.steps(query),
    payload: (runId, eventId) => {
      const found = reader.payload(runId, eventId);
      return "miss" in found ? found : { found: json(found.found) };
    },
    stats: (extended) => reader.stats(extended),
    topology: (query, extended) => json(reader.topology(query, extended)),
    nodeRuns: (query, node, caller, limit) => json(reader.nodeRuns(query, node, caller, limit)),
    changed: (nodes, edges) => json(reader.changed(nodes, edges)),
    tools: (query) => json(reader.tools(query)),
    search: (query) => json(reader.search(query)),
    compare: (a, b) => jsonOrNull(reader.compare(a, b)),
    overview: (query, buckets) => json(reader.overview(query, buckets)),
    sessions: (limit, offset) => json(reader.sessions(limit, offset)),
    runIds: () => reader.runIds(),
    runList: (runIds) => reader.runList(runIds),
  };
}

/** A `TraceReader` in this thread, for commands. */
export function localReader(reader: SqliteReader): TraceReader {
  const reads = readMethods(reader);
  const later = <A extends unknown[], R>(method: (...args: A) => R) => (...args: A): Promise<R> => Promise.resolve().then(() => method(...args));
  return {
    runs: later(reads.runs), run: later(reads.run), target: later(reads.target), steps: later(reads.steps), payload: later(reads.payload), stats: later(reads.stats),
    topology: later(reads.topology), nodeRuns: later(reads.nodeRuns), changed: later(reads.changed), tools: later(reads.tools), search: later(reads.search), compare: later(reads.compare),
    overview: later(reads.overview), sessions: later(reads.sessions), runIds: later(reads.runIds), runList: later(reads.runList),
  };
}
