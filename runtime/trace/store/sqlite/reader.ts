/**
 * All reads of the embedded store. Runs in a thread of its own when the service is up, directly in the commands. Steps
 * of one run and the counters are read here, everything else by the reads of its subject.
 */
import { statSync } from "node:fs";
import type { components } from "../../api.types.gen.js";
import { eventKind } from "../../model.js";
import type { RunRow } from "../../record/run-state.js";
import { align, callsOf } from "../compare.js";
import { BEFORE_ALL } from "../../time.js";
import { parseStepCursor, stepCursor } from "../cursor.js";
import type { GraphQuery, RunFilterQuery, PayloadMiss, RunListQuery, StepPage, StepPageQuery, StoreStats, Target } from "../store.js";
import { nestedRun } from "../stored.js";
import { runWire, runWireExtended, stepWire, stepWireExtended, type StepRow } from "../wire.js";
import { GraphReads } from "./graph-reads.js";
import { Lookup } from "./lookup.js";
import { PayloadReads } from "./payload-reads.js";
import { stepRow } from "../rows.js";
import { RunReads } from "./run-reads.js";
import { type Db, type Layout, openForReading } from "./schema.js";
import { SearchReads } from "./search-reads.js";
import { DetailReads, STEP_COLUMNS, type StoredStep } from "./step-record.js";

type Schemas = components["schemas"];

export class SqliteReader {
  readonly #files: readonly Db[];
  readonly #details: DetailReads;
  readonly #lookup: Lookup;
  readonly #runs: RunReads;
  readonly #graph: GraphReads;
  readonly #payloads: PayloadReads;
  readonly #search: SearchReads;
  readonly #sql;

  constructor(
    private readonly layout: Layout,
    log: (message: string) => void = () => undefined,
  ) {
    const traces = openForReading(layout, "traces", 12_000);
    const payloads = openForReading(layout, "payloads", 2_000);
    const index = openForReading(layout, "index", 6_000);
    this.#files = [traces, payloads, index];
    this.#details = new DetailReads(traces);
    this.#lookup = new Lookup(traces, index, this.#details);
    this.#runs = new RunReads(traces);
    this.#graph = new GraphReads(traces, this.#lookup);
    this.#payloads = new PayloadReads(payloads, log);
    this.#search = new SearchReads(traces, index, this.#lookup, this.#graph, this.#payloads);
    this.#sql = prepare(traces);
  }

  close(): void {
    for (const db of this.#files) db.close();
  }

  // ---- runs -------------------------------------------------------------------------------------------------

  runs(query: RunListQuery): Schemas["RunList"] {
    return this.#runs.list(query);
  }

  run(runId: string, extended: boolean): Schemas["Run"] | null {
    const row = this.#lookup.run(runId);
    if (row !== null) return extended ? runWireExtended(row) : runWire(row);
    const holder = this.#lookup.holder(runId);
    if (holder === null) return null;
    const nested = nestedRun(holder, runId, this.#lookup.stepsOf(holder, runId));
    return extended ? runWireExtended(nested, holder.runId) : runWire(nested, holder.runId);
  }

  target(runId: string): Target | null {
    if (this.#lookup.run(runId) !== null) return { rootId: runId, nested: false };
    const holder = this.#lookup.holder(runId);
    return holder === null ? null : { rootId: holder.runId, nested: true };
  }

  runIds(): string[] {
    return this.#runs.ids();
  }

  runList(runIds: readonly string[]): { runId: string; plain: string; extended: string }[] {
    return runIds.flatMap((runId) => {
      const row = this.#lookup.run(runId);
      return row === null ? [] : [{ runId, plain: JSON.stringify(runWire(row)), extended: JSON.stringify(runWireExtended(row)) }];
    });
  }

  overview(query: RunFilterQuery, buckets: number): Schemas["RunOverview"] {
    return this.#runs.overview(query, buckets);
  }

  sessions(limit: number, offset: number): Schemas["SessionList"] {
    return this.#runs.sessions(limit, offset);
  }

  // ---- steps ------------------------------------------------------------------------------------------------

  steps(query: StepPageQuery): StepPage | null {
    const root = this.#lookup.run(query.runId);
    const holder = root ?? this.#lookup.holder(query.runId);
    if (holder === null) return null;
    const lastSeq = Math.min(query.untilSeq, this.#lookup.lastSeq());
    const after = query.cursor === null ? null : parseStepCursor(query.cursor);
    const records = this.#sql.page.all({
      root: holder.key, at: after?.at ?? BEFORE_ALL, seq: after?.seq ?? -1, since: query.sinceSeq, until: lastSeq,
      nested: root === null ? query.runId : null, limit: query.limit + 1,
    });
    const shown = records.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      text: shown.map((record) => this.#stepText(record, holder.runId, query)).join(query.separator),
      count: shown.length,
      next: records.length > query.limit && last !== undefined ? stepCursor(last) : null,
      lastSeq,
    };
  }

  payload(runId: string, eventId: string): { found: Schemas["StepPayload"] } | { miss: PayloadMiss } {
    const step = this.#lookup.step(runId, eventId);
    if (step === null) return { miss: this.#lookup.hasStep(eventId) ? "foreign" : "unknown" };
    if (step.payload === null) return { miss: "none" };
    const value = this.#payloads.object(step);
    if (value === null) return { miss: "lost" };
    return { found: { event_id: eventId, run_id: step.run_id, event_type: eventKind(step.type).name, full_payload: value } };
  }

  compare(a: string, b: string): Schemas["Comparison"] | null {
    const runA = this.#lookup.run(a);
    const runB = this.#lookup.run(b);
    if (runA === null || runB === null) return null;
    const calls = (run: RunRow): ReturnType<typeof callsOf> => callsOf(this.#journey(run), (step) => this.#graph.nodeId(step));
    const callsA = calls(runA);
    const callsB = calls(runB);
    return { a: runWireExtended(runA), b: runWireExtended(runB), rows: align(callsA.calls, callsB.calls), truncated: callsA.truncated || callsB.truncated };
  }

  search(query: { q: string; scope: string; limit: number; offset: number }): Schemas["SearchResult"] {
    return this.#search.search(query);
  }

  // ---- sums -------------------------------------------------------------------------------------------------

  topology(query: GraphQuery, extended: boolean): Schemas["Topology"] {
    return this.#graph.topology(query, extended);
  }

  nodeRuns(query: GraphQuery, node: string, caller: string | undefined, limit: number): Schemas["NodeRuns"] {
    return this.#graph.nodeRuns(query, node, caller, limit);
  }

  changed(nodeKeys: readonly string[], edgeKeys: readonly string[]): Schemas["Topology"] {
    return this.#graph.changed(nodeKeys, edgeKeys);
  }

  tools(query: GraphQuery): Schemas["ToolInventory"] {
    return this.#graph.tools(query);
  }

  stats(extended = true): StoreStats {
    const counts = new Map(this.#sql.statuses.all().map((row) => [row.status, row.count]));
    const count = (status: number): number => counts.get(status) ?? 0;
    const value = (name: string): number => this.#sql.counter.get(name) ?? 0;
    const timed = value("timed");
    return {
      total_runs: count(0) + count(1) + count(2),
      running: count(0),
      completed: count(1),
      failed: count(2),
      avg_duration_ms: timed === 0 ? 0 : value("duration_ms") / timed,
      total_tokens_input: value("tokens_in"),
      total_tokens_output: value("tokens_out"),
      db_size_bytes: sizeOf(this.layout.traces) + sizeOf(this.layout.index),
      blob_size_bytes: sizeOf(this.layout.payloads),
      total_events: value("events"),
      avg_run_duration_ms: extended ? (this.#sql.runDuration.get() ?? null) : null,
      events_indexed: this.#search.indexedSeq(),
    };
  }

  // ---- inside -----------------------------------------------------------------------------------------------

  #journey(run: RunRow): StepRow[] {
    return this.#sql.journey.all(run.key).map((record) => stepRow(this.#details.fill(record), run.runId));
  }

  #stepText(record: StoredStep, rootId: string, query: StepPageQuery): string {
    const step = stepRow(this.#details.fill(record), rootId);
    const wire = query.extended ? stepWireExtended(step, this.#graph.nodeId(step)) : stepWire(step);
    if (!query.payloads || step.payload === null) return JSON.stringify(wire);
    const payload = this.#payloads.object(record);
    return JSON.stringify(payload === null ? wire : { ...wire, full_payload: payload });
  }
}

function sizeOf(file: string): number {
  const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size(file) + size(`${file}-wal`);
}

function prepare(traces: Db) {
  return {
    page: traces.prepare<[{ root: number; at: number; seq: number; since: number; until: number; nested: string | null; limit: number }], StoredStep>(
      `SELECT ${STEP_COLUMNS} FROM events INDEXED BY events_root WHERE root = @root AND (at, seq) > (@at, @seq) AND seq > @since AND seq <= @until ` +
        "AND (@nested IS NULL OR run_id = @nested) ORDER BY at, seq LIMIT @limit",
    ),
    journey: traces.prepare<[number], StoredStep>(`SELECT ${STEP_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? ORDER BY at, seq`),
    statuses: traces.prepare<[], { status: number; count: number }>("SELECT status, count(*) AS count FROM runs GROUP BY status"),
    counter: traces.prepare<[string], number>("SELECT value FROM counters WHERE name = ?").pluck(),
    runDuration: traces.prepare<[], number | null>("SELECT avg(max(0, completed_at - started_at)) / 1000 FROM runs WHERE completed_at IS NOT NULL").pluck(),
  };
}
