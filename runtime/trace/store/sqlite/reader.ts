/** All reads of the embedded store. Runs in a thread of its own when the service is up, directly in the commands. */
import { statSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { components } from "../../api.types.gen.js";
import { eventKind } from "../../model.js";
import type { RunRow } from "../../record/run-state.js";
import { nodeKey } from "../../record/tally.js";
import { align, callsOf } from "../compare.js";
import { parseRunCursor, parseStepCursor, runCursor, stepCursor } from "../cursor.js";
import { type GraphEdge, type GraphNode, inventoryOf, publicIds, topologyOf } from "../graph.js";
import { matchExpression, searchTerms, searchText, snippet } from "../search-text.js";
import { changedPart, folded, nestedRun, parseScope, scopedGraph, sessionOf } from "../stored.js";
import type { PayloadMiss, RunListQuery, StepPage, StepPageQuery, StoreStats, Target } from "../store.js";
import { runWire, runWireExtended, stepWire, stepWireExtended, type StepRow } from "../wire.js";
import { eventHash, MergedIds, runHash } from "./id-index.js";
import { loadNodes, type NodeRecord } from "./nodes.js";
import { EVENT_COLUMNS, type EventRecord, RUN_COLUMNS, runRow, type RunRecord, stepRow } from "../rows.js";
import { type Db, type Layout, openForReading } from "./schema.js";

type Schemas = components["schemas"];

/** More matches than this are not counted. */
const MAX_COUNTED = 10_000;

export class SqliteReader {
  readonly #db: Db;
  readonly #payloads: Db;
  readonly #index: Db;
  readonly #ids: MergedIds;
  readonly #sql;
  #known: { readonly version: number; readonly nodes: readonly NodeRecord[]; readonly ids: ReadonlyMap<string, string> } | null = null;

  constructor(
    private readonly layout: Layout,
    private readonly log: (message: string) => void = () => undefined,
  ) {
    this.#db = openForReading(layout, "traces", 12_000);
    this.#payloads = openForReading(layout, "payloads", 2_000);
    this.#index = openForReading(layout, "index", 6_000);
    this.#ids = new MergedIds(this.#index);
    this.#sql = prepare(this.#db, this.#payloads, this.#index);
  }

  close(): void {
    for (const db of [this.#db, this.#payloads, this.#index]) db.close();
  }

  // ---- runs -------------------------------------------------------------------------------------------------

  runs(query: RunListQuery): Schemas["RunList"] {
    const filter = runFilter(query);
    const where = filter.where.length === 0 ? "" : `WHERE ${filter.where.join(" AND ")}`;
    const total = this.#db.prepare<unknown[], number>(`SELECT count(*) FROM runs ${where}`).pluck().get(...filter.values) ?? 0;
    const after = query.cursor === undefined ? null : parseRunCursor(query.cursor);
    const page = after === null ? filter : { where: [...filter.where, "(started_at, run_id) < (?, ?)"], values: [...filter.values, after.startedAt, after.runId] };
    const records = this.#db
      .prepare<unknown[], RunRecord>(
        `SELECT ${RUN_COLUMNS} FROM runs ${page.where.length === 0 ? "" : `WHERE ${page.where.join(" AND ")}`} ORDER BY started_at DESC, run_id DESC LIMIT ? OFFSET ?`,
      )
      .all(...page.values, query.limit + 1, after === null ? query.offset : 0);
    const rows = records.slice(0, query.limit).map(runRow);
    const last = rows.at(-1);
    const wantsCursor = query.extended || query.cursor !== undefined;
    return {
      runs: rows.map((row) => (query.extended ? runWireExtended(row) : runWire(row))),
      total,
      limit: query.limit,
      offset: query.offset,
      ...(wantsCursor && records.length > query.limit && last !== undefined ? { next_cursor: runCursor({ startedAt: last.startedAt, runId: last.runId }) } : {}),
    };
  }

  run(runId: string, extended: boolean): Schemas["Run"] | null {
    const row = this.#run(runId);
    if (row !== null) return extended ? runWireExtended(row) : runWire(row);
    const holder = this.#holder(runId);
    if (holder === null) return null;
    const nested = nestedRun(holder, runId, this.#sql.stepsOfNested.all(holder.key, runId));
    return extended ? runWireExtended(nested, holder.runId) : runWire(nested, holder.runId);
  }

  target(runId: string): Target | null {
    if (this.#run(runId) !== null) return { rootId: runId, nested: false };
    const holder = this.#holder(runId);
    return holder === null ? null : { rootId: holder.runId, nested: true };
  }

  runIds(): string[] {
    return this.#db.prepare<[], string>("SELECT run_id FROM runs ORDER BY started_at, run_id").pluck().all();
  }

  runList(runIds: readonly string[]): { runId: string; plain: string; extended: string }[] {
    return runIds.flatMap((runId) => {
      const row = this.#run(runId);
      return row === null ? [] : [{ runId, plain: JSON.stringify(runWire(row)), extended: JSON.stringify(runWireExtended(row)) }];
    });
  }

  sessions(limit: number, offset: number): Schemas["SessionList"] {
    const total = this.#sql.sessionCount.get() ?? 0;
    const sessions = this.#sql.sessions.all(limit, offset).map(({ session }) => sessionOf(session, this.#sql.runsOfSession.all(session).map(runRow)));
    return { sessions, total, limit, offset };
  }

  // ---- steps ------------------------------------------------------------------------------------------------

  steps(query: StepPageQuery): StepPage | null {
    const root = this.#run(query.runId);
    const holder = root ?? this.#holder(query.runId);
    if (holder === null) return null;
    const lastSeq = Math.min(query.untilSeq, this.#sql.lastSeq.get() ?? 0);
    const after = query.cursor === null ? null : parseStepCursor(query.cursor);
    const records = this.#sql.page.all({
      root: holder.key, at: after?.at ?? Number.MIN_SAFE_INTEGER, seq: after?.seq ?? -1, since: query.sinceSeq, until: lastSeq,
      nested: root === null ? query.runId : null, limit: query.limit + 1,
    });
    const shown = records.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      text: shown.map((record) => this.#stepText(stepRow(record, holder.runId), query)).join(query.separator),
      count: shown.length,
      next: records.length > query.limit && last !== undefined ? stepCursor(last) : null,
      lastSeq,
    };
  }

  payload(runId: string, eventId: string): { found: Schemas["StepPayload"] } | { miss: PayloadMiss } {
    const found = this.#event(eventId);
    if (found === null) return { miss: "unknown" };
    if (found.record.run_id !== runId && found.rootId !== runId) return { miss: "foreign" };
    if (found.record.payload === null) return { miss: "none" };
    const value = this.#payloadOf(found.record.seq);
    if (value === null) return { miss: "lost" };
    return { found: { event_id: eventId, run_id: found.record.run_id, event_type: eventKind(found.record.type).name, full_payload: value } };
  }

  search(query: { q: string; scope: string; limit: number; offset: number }): Schemas["SearchResult"] {
    const terms = searchTerms(query.q);
    const match = matchExpression(terms);
    const roots = this.#roots(query.scope);
    const bounds = roots === null ? { from: 0, to: Number.MAX_SAFE_INTEGER } : this.#seqRange(roots);
    const inScope = roots === null ? null : new Set(roots);
    const hits: Schemas["SearchHit"][] = [];
    let total = 0;
    if (match !== null && bounds !== null) {
      for (const seq of this.#sql.matches.iterate(match, bounds.from, bounds.to)) {
        if (total === MAX_COUNTED) break;
        if (total < query.offset || hits.length === query.limit || inScope !== null) {
          // Counting alone needs no row, unless the scope is narrower than the range.
          if (inScope !== null) {
            const root = this.#sql.rootOf.get(seq);
            if (root === undefined || !inScope.has(root)) continue;
          }
          if (total < query.offset || hits.length === query.limit) {
            total += 1;
            continue;
          }
        }
        const record = this.#sql.bySeq.get(seq);
        if (record === undefined) continue;
        total += 1;
        const step = stepRow(record, record.root_id);
        hits.push({
          run_id: record.root_id,
          snippet: snippet(searchText(step, step.payload === null ? null : this.#payloadText(seq)), terms),
          step: stepWireExtended(step, this.#nodeId(step)),
        });
      }
    }
    return { hits, total, limit: query.limit, offset: query.offset, indexed_seq: this.#indexed(), last_seq: this.#sql.lastSeq.get() ?? 0 };
  }

  compare(a: string, b: string): Schemas["Comparison"] | null {
    const runA = this.#run(a);
    const runB = this.#run(b);
    if (runA === null || runB === null) return null;
    const calls = (run: RunRow): ReturnType<typeof callsOf> => callsOf(this.#journey(run), (step) => this.#nodeId(step));
    const callsA = calls(runA);
    const callsB = calls(runB);
    return { a: runWireExtended(runA), b: runWireExtended(runB), rows: align(callsA.calls, callsB.calls), truncated: callsA.truncated || callsB.truncated };
  }

  // ---- sums -------------------------------------------------------------------------------------------------

  topology(scope: string): Schemas["Topology"] {
    const { nodes, edges } = this.#graph(scope);
    return topologyOf(nodes, edges, this.#nodes().ids);
  }

  changed(nodeKeys: readonly string[], edgeKeys: readonly string[]): Schemas["Topology"] {
    const { nodes, edges } = this.#graph("all");
    const ids = this.#nodes().ids;
    return changedPart(topologyOf(nodes, edges, ids), ids, nodeKeys, edgeKeys);
  }

  tools(scope: string): Schemas["ToolInventory"] {
    return inventoryOf(this.#graph(scope).nodes);
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
      events_indexed: this.#indexed(),
    };
  }

  // ---- inside -----------------------------------------------------------------------------------------------

  #run(runId: string): RunRow | null {
    const record = this.#sql.runById.get(runId);
    return record === undefined ? null : runRow(record);
  }

  #holder(runId: string): RunRow | null {
    for (const seq of this.#ids.find(runHash(runId))) {
      const record = this.#sql.runOfStep.get(seq, runId);
      if (record !== undefined) return runRow(record);
    }
    const recent = this.#sql.recentRun.get(this.#ids.progress(), runId);
    return recent === undefined ? null : runRow(recent);
  }

  #event(eventId: string): { record: EventRecord; rootId: string } | null {
    for (const seq of this.#ids.find(eventHash(eventId))) {
      const record = this.#sql.bySeq.get(seq);
      if (record?.event_id === eventId) return { record, rootId: record.root_id };
    }
    const recent = this.#sql.recentEvent.get(this.#ids.progress(), eventId);
    return recent === undefined ? null : { record: recent, rootId: recent.root_id };
  }

  #journey(run: RunRow): StepRow[] {
    return this.#sql.journey.all(run.key).map((record) => stepRow(record, run.runId));
  }

  #stepText(step: StepRow, query: StepPageQuery): string {
    const wire = query.extended ? stepWireExtended(step, this.#nodeId(step)) : stepWire(step);
    if (!query.payloads || step.payload === null) return JSON.stringify(wire);
    return JSON.stringify({ ...wire, full_payload: this.#payloadOf(step.seq) });
  }

  #payloadText(seq: number): string | null {
    const data = this.#sql.payload.get(seq);
    if (data === undefined) return null;
    try {
      return gunzipSync(data).toString("utf8");
    } catch {
      this.log(`the payload of step ${seq} can't be decompressed`);
      return null;
    }
  }

  /** The stored object; `null` when it is missing, damaged or not an object. */
  #payloadOf(seq: number): { [key: string]: unknown } | null {
    const text = this.#payloadText(seq);
    if (text === null) return null;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [key: string]: unknown };
    } catch {
      // Told below, like anything else that is no object.
    }
    this.log(`the payload of step ${seq} is not a JSON object`);
    return null;
  }

  #indexed(): number {
    return this.#sql.textProgress.get() ?? 0;
  }

  #nodes(): { readonly nodes: readonly NodeRecord[]; readonly ids: ReadonlyMap<string, string> } {
    const version = this.#db.pragma("data_version", { simple: true }) as number;
    if (this.#known?.version !== version) {
      const nodes = loadNodes(this.#db);
      this.#known = { version, nodes, ids: publicIds(nodes) };
    }
    return this.#known;
  }

  #nodeId(step: StepRow): string | null {
    const key = nodeKey(step);
    return key === null ? null : (this.#nodes().ids.get(key) ?? null);
  }

  /** Keys of the runs of a scope; `null` is all of them. */
  #roots(scope: string): readonly number[] | null {
    const asked = parseScope(scope);
    if (asked.kind === "all") return null;
    if (asked.kind === "last") return this.#sql.lastRuns.all(asked.count);
    const run = asked.ids.map((id) => this.#run(id)).find((row) => row !== null);
    return run === undefined || run === null ? [] : [run.key];
  }

  #seqRange(roots: readonly number[]): { from: number; to: number } | null {
    if (roots.length === 0) return null;
    let from = Number.MAX_SAFE_INTEGER;
    let to = 0;
    for (const root of roots) {
      const range = this.#sql.seqRange.get(root);
      if (range?.from == null || range.to == null) continue;
      from = Math.min(from, range.from);
      to = Math.max(to, range.to);
    }
    return { from, to };
  }

  #graph(scope: string): { nodes: GraphNode[]; edges: GraphEdge[] } {
    const roots = this.#roots(scope);
    return roots === null ? this.#everything() : this.#graphOf(roots);
  }

  #everything(): { nodes: GraphNode[]; edges: GraphEdge[] } {
    const buckets = new Map<number, [number, number][]>();
    for (const row of this.#sql.durations.iterate()) {
      const list = buckets.get(row.node);
      if (list === undefined) buckets.set(row.node, [[row.bucket, row.count]]);
      else list.push([row.bucket, row.count]);
    }
    const { nodes } = this.#nodes();
    const keys = new Map(nodes.map((node) => [node.id, node.key]));
    const shown = nodes.filter((node) => node.events > 0 || node.registered === 1);
    return {
      nodes: shown.map((node) => ({
        key: node.key, invocations: node.invocations, errors: node.errors, durationMs: node.duration_ms, timed: node.timed, maxMs: node.max_ms, lastAt: node.last_at,
        buckets: buckets.get(node.id) ?? [],
      })),
      edges: this.#sql.edges.all().flatMap((edge) => {
        const source = keys.get(edge.source);
        const target = keys.get(edge.target);
        return source === undefined || target === undefined ? [] : [{ source, target, count: edge.count, lastAt: edge.last_at }];
      }),
    };
  }

  #graphOf(roots: readonly number[]): { nodes: GraphNode[]; edges: GraphEdge[] } {
    const registered = this.#nodes().nodes.filter((node) => node.registered === 1).map((node) => node.key);
    return scopedGraph(roots.map((root) => this.#sql.eventsOf.all(root)), registered);
  }
}

function runFilter(query: RunListQuery): { where: string[]; values: (string | number)[] } {
  const where: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, ...given: (string | number)[]): void => {
    where.push(condition);
    values.push(...given);
  };
  if (query.status !== "all") add("status = ?", ["running", "completed", "failed"].indexOf(query.status));
  if (query.session !== undefined) add("session = ?", query.session);
  if (query.tag !== undefined) add("EXISTS (SELECT 1 FROM json_each(tags) WHERE instr(folded(value), ?))", folded(query.tag));
  if (query.q !== undefined) {
    add("instr(folded(run_id || ' ' || coalesce(name, '') || ' ' || coalesce(error, '') || ' ' || tags || ' ' || coalesce(session, '') || ' ' || coalesce(user, '')), ?)", folded(query.q));
  }
  return { where, values };
}

function sizeOf(file: string): number {
  const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size(file) + size(`${file}-wal`);
}

type RootedEvent = EventRecord & { readonly root_id: string };

function prepare(db: Db, payloads: Db, index: Db) {
  db.function("folded", { deterministic: true }, (value: unknown) => folded(String(value)));
  const runColumns = RUN_COLUMNS.split(", ").map((column) => `r.${column}`).join(", ");
  const eventColumns = EVENT_COLUMNS.split(", ").map((column) => `e.${column}`).join(", ");
  return {
    runById: db.prepare<[string], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ?`),
    runOfStep: db.prepare<[number, string], RunRecord>(`SELECT ${runColumns} FROM events e JOIN runs r ON r.key = e.root WHERE e.seq = ? AND e.run_id = ?`),
    recentRun: db.prepare<[number, string], RunRecord>(`SELECT ${runColumns} FROM events e JOIN runs r ON r.key = e.root WHERE e.seq > ? AND e.run_id = ? LIMIT 1`),
    bySeq: db.prepare<[number], RootedEvent>(`SELECT ${eventColumns}, r.run_id AS root_id FROM events e JOIN runs r ON r.key = e.root WHERE e.seq = ?`),
    rootOf: db.prepare<[number], number>("SELECT root FROM events WHERE seq = ?").pluck(),
    recentEvent: db.prepare<[number, string], RootedEvent>(
      `SELECT ${eventColumns}, r.run_id AS root_id FROM events e JOIN runs r ON r.key = e.root WHERE e.seq > ? AND e.event_id = ? LIMIT 1`,
    ),
    page: db.prepare<[{ root: number; at: number; seq: number; since: number; until: number; nested: string | null; limit: number }], EventRecord>(
      `SELECT ${EVENT_COLUMNS} FROM events INDEXED BY events_root WHERE root = @root AND (at, seq) > (@at, @seq) AND seq > @since AND seq <= @until ` +
        "AND (@nested IS NULL OR run_id = @nested) ORDER BY at, seq LIMIT @limit",
    ),
    journey: db.prepare<[number], EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? ORDER BY at, seq`),
    eventsOf: db.prepare<[number], EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? ORDER BY seq`),
    stepsOfNested: db.prepare<[number, string], EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events INDEXED BY events_root WHERE root = ? AND run_id = ? ORDER BY at, seq`),
    seqRange: db.prepare<[number], { from: number | null; to: number | null }>('SELECT min(seq) AS "from", max(seq) AS "to" FROM events WHERE root = ?'),
    lastSeq: db.prepare<[], number | null>("SELECT max(seq) FROM events").pluck(),
    lastRuns: db.prepare<[number], number>("SELECT key FROM runs ORDER BY started_at DESC, run_id DESC LIMIT ?").pluck(),
    statuses: db.prepare<[], { status: number; count: number }>("SELECT status, count(*) AS count FROM runs GROUP BY status"),
    counter: db.prepare<[string], number>("SELECT value FROM counters WHERE name = ?").pluck(),
    runDuration: db.prepare<[], number | null>("SELECT avg(max(0, completed_at - started_at)) / 1000 FROM runs WHERE completed_at IS NOT NULL").pluck(),
    durations: db.prepare<[], { node: number; bucket: number; count: number }>("SELECT node, bucket, count FROM durations"),
    edges: db.prepare<[], { source: number; target: number; count: number; last_at: number }>("SELECT source, target, count, last_at FROM edges"),
    sessionCount: db.prepare<[], number>("SELECT count(DISTINCT session) FROM runs WHERE session IS NOT NULL").pluck(),
    sessions: db.prepare<[number, number], { session: string }>(
      "SELECT session FROM runs WHERE session IS NOT NULL GROUP BY session ORDER BY max(started_at) DESC, session LIMIT ? OFFSET ?",
    ),
    runsOfSession: db.prepare<[string], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE session = ? ORDER BY started_at DESC`),
    payload: payloads.prepare<[number], Buffer>("SELECT data FROM payloads WHERE seq = ?").pluck(),
    matches: index.prepare<[string, number, number], number>("SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC").pluck(),
    textProgress: index.prepare<[], number>("SELECT seq FROM progress WHERE name = 'text'").pluck(),
  };
}
