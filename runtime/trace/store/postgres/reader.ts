/** All reads of the PostgreSQL store. Answers are the same as those of the embedded one. */
import { gunzipSync } from "node:zlib";
import { eventKind } from "../../model.js";
import type { RunRow } from "../../record/run-state.js";
import { nodeKey } from "../../record/tally.js";
import { align, callsOf } from "../compare.js";
import { BEFORE_ALL } from "../../time.js";
import { parseRunCursor, parseStepCursor, runCursor, stepCursor } from "../cursor.js";
import { MAX_OVERVIEW_RUNS, OVERVIEW_COLUMNS, overviewOf, type OverviewRecord, RUN_ORDERS } from "../overview.js";
import { EVENT_COLUMNS, type EventRecord, RUN_COLUMNS, runRow, type RunRecord, stepRow } from "../rows.js";
import { hitSnippet, searchTerms } from "../search-text.js";
import type { GraphQuery, RunFilterQuery, RunListQuery, StepPage, StepPageQuery, StoreStats, Target, TraceReader } from "../store.js";
import { folded, nestedRun, sessionOf } from "../stored.js";
import { hitRun, runWire, runWireExtended, stepWire, stepWireExtended, type StepRow } from "../wire.js";
import { storable } from "./copy.js";
import type { Client } from "./driver.js";
import { GraphReads } from "./graph-reads.js";
import { EVENT_COLUMNS_OF_E } from "./source.js";
import { loadIds } from "./sums.js";
import { questionOf } from "./words.js";

type Db = Pick<Client, "query">;

/** More matches than this are not counted. */
const MAX_COUNTED = 10_000;

export class PostgresReader implements TraceReader {
  readonly #graph: GraphReads;

  constructor(
    private readonly db: Db,
    private readonly log: (message: string) => void = () => undefined,
  ) {
    this.#graph = new GraphReads(db);
  }

  // ---- runs -------------------------------------------------------------------------------------------------

  async runs(query: RunListQuery): Promise<string> {
    const filter = runFilter(query);
    const total = await this.#one<number>(`SELECT count(*) AS value FROM runs ${filter.where()}`, filter.values);
    const sort = query.sort ?? "started";
    const after = query.cursor === undefined || sort !== "started" ? null : parseRunCursor(query.cursor);
    if (after !== null) filter.add((at) => `(started_at, run_id) < (${at(after.startedAt)}, ${at(storable(after.runId))})`);
    const records = await this.#rows<RunRecord>(
      `SELECT ${RUN_COLUMNS} FROM runs ${filter.where()} ORDER BY ${RUN_ORDERS[sort] ?? RUN_ORDERS["started"]} LIMIT ${query.limit + 1} OFFSET ${after === null ? query.offset : 0}`, filter.values,
    );
    const rows = records.slice(0, query.limit).map(runRow);
    const last = rows.at(-1);
    const wantsCursor = sort === "started" && (query.extended || query.cursor !== undefined);
    return JSON.stringify({
      runs: rows.map((row) => (query.extended ? runWireExtended(row) : runWire(row))),
      total: total ?? 0,
      limit: query.limit,
      offset: query.offset,
      ...(wantsCursor && records.length > query.limit && last !== undefined ? { next_cursor: runCursor({ startedAt: last.startedAt, runId: last.runId }) } : {}),
    });
  }

  async run(runId: string, extended: boolean): Promise<string | null> {
    const wire = extended ? runWireExtended : runWire;
    const row = await this.#run(runId);
    if (row !== null) return JSON.stringify(wire(row));
    const holder = await this.#holder(runId);
    if (holder === null) return null;
    const records = await this.#rows<EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events WHERE root = $1 AND run_id = $2 ORDER BY at, seq`, [holder.key, storable(runId)]);
    return JSON.stringify(wire(nestedRun(holder, runId, records), holder.runId));
  }

  async target(runId: string): Promise<Target | null> {
    if ((await this.#run(runId)) !== null) return { rootId: runId, nested: false };
    const holder = await this.#holder(runId);
    return holder === null ? null : { rootId: holder.runId, nested: true };
  }

  async runIds(): Promise<readonly string[]> {
    return (await this.#rows<{ run_id: string }>("SELECT run_id FROM runs ORDER BY started_at, run_id")).map((row) => row.run_id);
  }

  async runList(runIds: readonly string[]): ReturnType<TraceReader["runList"]> {
    const rows = (await this.#rows<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = ANY($1)`, [runIds.map(storable)])).map(runRow);
    return rows.map((row) => ({ runId: row.runId, plain: JSON.stringify(runWire(row)), extended: JSON.stringify(runWireExtended(row)) }));
  }

  async overview(query: RunFilterQuery, buckets: number): Promise<string> {
    const filter = runFilter(query);
    const total = await this.#one<number>(`SELECT count(*) AS value FROM runs ${filter.where()}`, filter.values);
    const records = await this.#rows<OverviewRecord>(`SELECT ${OVERVIEW_COLUMNS} FROM runs ${filter.where()} ORDER BY started_at DESC, run_id DESC LIMIT ${MAX_OVERVIEW_RUNS}`, filter.values);
    return JSON.stringify(overviewOf(records, total ?? 0, buckets));
  }

  async sessions(limit: number, offset: number): Promise<string> {
    const total = await this.#one<number>("SELECT count(DISTINCT session) AS value FROM runs WHERE session IS NOT NULL");
    const found = await this.#rows<{ session: string }>(
      "SELECT session FROM runs WHERE session IS NOT NULL GROUP BY session ORDER BY max(started_at) DESC, session LIMIT $1 OFFSET $2", [limit, offset],
    );
    const records = await this.#rows<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE session = ANY($1) ORDER BY started_at DESC`, [found.map((row) => row.session)]);
    const rows = records.map(runRow);
    const sessions = found.flatMap(({ session }) => {
      const own = rows.filter((row) => row.session === session);
      // None: deleted since the list was read.
      return own.length === 0 ? [] : [sessionOf(session, own)];
    });
    return JSON.stringify({ sessions, total: total ?? 0, limit, offset });
  }

  // ---- steps ------------------------------------------------------------------------------------------------

  async steps(query: StepPageQuery): Promise<StepPage | null> {
    const root = await this.#run(query.runId);
    const holder = root ?? (await this.#holder(query.runId));
    if (holder === null) return null;
    const lastSeq = Math.min(query.untilSeq, await this.#lastSeq());
    const after = query.cursor === null ? null : parseStepCursor(query.cursor);
    const records = await this.#rows<EventRecord>(
      `SELECT ${EVENT_COLUMNS} FROM events WHERE root = $1 AND (at, seq) > ($2, $3) AND seq > $4 AND seq <= $5 ${root === null ? "AND run_id = $7" : ""} ORDER BY at, seq LIMIT $6`,
      [holder.key, after?.at ?? BEFORE_ALL, after?.seq ?? -1, query.sinceSeq, lastSeq, query.limit + 1, ...(root === null ? [storable(query.runId)] : [])],
    );
    const shown = records.slice(0, query.limit);
    const last = shown.at(-1);
    const steps = shown.map((record) => stepRow(record, holder.runId));
    return { text: (await this.#texts(steps, query)).join(query.separator), count: shown.length, next: records.length > query.limit && last !== undefined ? stepCursor(last) : null, lastSeq };
  }

  async payload(runId: string, eventId: string): ReturnType<TraceReader["payload"]> {
    const [record] = await this.#rows<EventRecord & { root_id: string }>(
      `SELECT ${EVENT_COLUMNS_OF_E}, r.run_id AS root_id FROM events e JOIN runs r ON r.key = e.root WHERE e.event_id = $1
       ORDER BY e.run_id = $2 DESC, r.run_id = $2 DESC, e.at, e.seq LIMIT 1`, [storable(eventId), storable(runId)],
    );
    if (record === undefined) return { miss: "unknown" };
    if (record.run_id !== runId && record.root_id !== runId) return { miss: "foreign" };
    if (record.payload === null) return { miss: "none" };
    const value = this.#payloadOf(record.seq, (await this.#payloads([record.seq])).get(record.seq));
    if (value === null) return { miss: "lost" };
    return { found: JSON.stringify({ event_id: eventId, run_id: record.run_id, event_type: eventKind(record.type).name, full_payload: value }) };
  }

  async search({ q, scope, limit, offset }: { readonly q: string; readonly scope: string; readonly limit: number; readonly offset: number }): Promise<string> {
    const terms = searchTerms(q);
    const question = questionOf(terms);
    const roots = await this.#graph.roots({ scope });
    const [state] = await this.#rows<{ indexed_seq: number; last_seq: number }>("SELECT i.seq AS indexed_seq, h.seq AS last_seq FROM indexed i, head h");
    const empty = { hits: [], total: 0, limit, offset, indexed_seq: state?.indexed_seq ?? 0, last_seq: state?.last_seq ?? 0 };
    if (question === null || roots?.length === 0) return JSON.stringify(empty);
    const inScope = roots === null ? "" : "AND r.key = ANY($2)";
    const found = await this.#rows<EventRecord & { root_id: string; total: number; run_name: string | null; run_status: number; run_at: number }>(
      `WITH hits AS MATERIALIZED (SELECT w.seq FROM words w JOIN events e ON e.seq = w.seq JOIN runs r ON r.key = e.root WHERE w.doc @@ $1::tsquery ${inScope} ORDER BY w.seq DESC LIMIT ${MAX_COUNTED}),
       page AS (SELECT seq FROM hits ORDER BY seq DESC LIMIT ${limit} OFFSET ${offset})
       SELECT ${EVENT_COLUMNS_OF_E}, r.run_id AS root_id, r.name AS run_name, r.status AS run_status, r.started_at AS run_at, (SELECT count(*) FROM hits) AS total FROM page JOIN events e ON e.seq = page.seq JOIN runs r ON r.key = e.root ORDER BY e.seq DESC`,
      [question, ...(roots === null ? [] : [roots])],
    );
    const total = found[0]?.total ?? (offset === 0 ? 0 : await this.#countHits(question, roots));
    const ids = await loadIds(this.db);
    const payloads = await this.#payloads(found.filter((record) => record.payload !== null).map((record) => record.seq));
    const hits = found.map((record) => {
      const step = stepRow(record, record.root_id);
      const run = hitRun({ name: record.run_name, status: record.run_status, startedAt: record.run_at });
      return { run_id: record.root_id, run, snippet: hitSnippet(step, this.#payloadText(step.seq, payloads.get(step.seq)), terms), step: stepWireExtended(step, nodeOf(step, ids)) };
    });
    return JSON.stringify({ ...empty, hits, total });
  }

  async compare(a: string, b: string): Promise<string | null> {
    const runA = await this.#run(a);
    const runB = await this.#run(b);
    if (runA === null || runB === null) return null;
    const ids = await loadIds(this.db);
    const calls = async (run: RunRow): Promise<ReturnType<typeof callsOf>> => {
      const records = await this.#rows<EventRecord>(`SELECT ${EVENT_COLUMNS} FROM events WHERE root = $1 ORDER BY at, seq`, [run.key]);
      return callsOf(records.map((record) => stepRow(record, run.runId)), (step) => nodeOf(step, ids));
    };
    const callsA = await calls(runA);
    const callsB = await calls(runB);
    return JSON.stringify({ a: runWireExtended(runA), b: runWireExtended(runB), rows: align(callsA.calls, callsB.calls), truncated: callsA.truncated || callsB.truncated });
  }

  // ---- sums -------------------------------------------------------------------------------------------------

  topology(query: GraphQuery, extended: boolean): Promise<string> {
    return this.#graph.topology(query, extended);
  }

  nodeRuns(query: GraphQuery, node: string, caller: string | undefined, limit: number): Promise<string> {
    return this.#graph.nodeRuns(query, node, caller, limit);
  }

  changed(nodeKeys: readonly string[], edgeKeys: readonly string[]): Promise<string> {
    return this.#graph.changed(nodeKeys, edgeKeys);
  }

  tools(query: GraphQuery): Promise<string> {
    return this.#graph.tools(query);
  }

  async stats(extended = true): Promise<StoreStats> {
    const [sums] = await this.#rows<{ [name: string]: number }>("SELECT h.*, i.seq AS indexed FROM head h, indexed i");
    const statuses = new Map((await this.#rows<{ status: number; count: number }>("SELECT status, count(*) AS count FROM runs GROUP BY status")).map((row) => [row.status, row.count]));
    const [sizes] = await this.#rows<{ payloads: number; rest: number }>(
      `SELECT coalesce(sum(pg_total_relation_size(oid)) FILTER (WHERE relname LIKE 'payloads%'), 0) AS payloads, coalesce(sum(pg_total_relation_size(oid)) FILTER (WHERE relname NOT LIKE 'payloads%'), 0) AS rest
       FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
    );
    const value = (name: string): number => sums?.[name] ?? 0;
    const count = (status: number): number => statuses.get(status) ?? 0;
    return {
      total_runs: count(0) + count(1) + count(2), running: count(0), completed: count(1), failed: count(2),
      avg_duration_ms: value("timed") === 0 ? 0 : value("duration_ms") / value("timed"),
      total_tokens_input: value("tokens_in"), total_tokens_output: value("tokens_out"), db_size_bytes: sizes?.rest ?? 0, blob_size_bytes: sizes?.payloads ?? 0,
      total_events: value("events"),
      avg_run_duration_ms: extended ? await this.#one<number>("SELECT avg(greatest(0, completed_at - started_at)) / 1000 AS value FROM runs WHERE completed_at IS NOT NULL") : null,
      events_indexed: value("indexed"),
    };
  }

  // ---- inside -----------------------------------------------------------------------------------------------

  async #rows<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.db.query(text, [...values])).rows as R[];
  }

  async #one<T>(text: string, values: readonly unknown[] = []): Promise<T | null> {
    return (await this.#rows<{ value: T }>(text, values))[0]?.value ?? null;
  }

  async #run(runId: string): Promise<RunRow | null> {
    const [record] = await this.#rows<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE run_id = $1`, [storable(runId)]);
    return record === undefined ? null : runRow(record);
  }

  async #holder(runId: string): Promise<RunRow | null> {
    const [record] = await this.#rows<RunRecord>(
      `SELECT ${RUN_COLUMNS} FROM runs WHERE key = (SELECT e.root FROM events e JOIN runs r ON r.key = e.root WHERE e.run_id = $1 AND e.duration_ms IS NULL LIMIT 1)`, [storable(runId)],
    );
    return record === undefined ? null : runRow(record);
  }

  async #lastSeq(): Promise<number> {
    return (await this.#one<number>("SELECT seq AS value FROM head")) ?? 0;
  }

  async #texts(steps: readonly StepRow[], query: StepPageQuery): Promise<string[]> {
    const ids = query.extended && steps.length > 0 ? await loadIds(this.db) : new Map<string, string>();
    const payloads = query.payloads ? await this.#payloads(steps.filter((step) => step.payload !== null).map((step) => step.seq)) : new Map<number, Buffer>();
    return steps.map((step) => {
      const wire = query.extended ? stepWireExtended(step, nodeOf(step, ids)) : stepWire(step);
      return JSON.stringify(!query.payloads || step.payload === null ? wire : { ...wire, full_payload: this.#payloadOf(step.seq, payloads.get(step.seq)) });
    });
  }

  async #payloads(seqs: readonly number[]): Promise<ReadonlyMap<number, Buffer>> {
    if (seqs.length === 0) return new Map();
    return new Map((await this.#rows<{ seq: number; data: Buffer }>("SELECT seq, data FROM payloads WHERE seq = ANY($1)", [seqs])).map((row) => [row.seq, row.data]));
  }

  #payloadText(seq: number, data: Buffer | undefined): string | null {
    if (data === undefined) return null;
    try {
      return gunzipSync(data).toString("utf8");
    } catch {
      this.log(`the payload of step ${seq} can't be decompressed`);
      return null;
    }
  }

  /** The stored object; `null` when it is missing, damaged or not an object. */
  #payloadOf(seq: number, data: Buffer | undefined): { [key: string]: unknown } | null {
    const text = this.#payloadText(seq, data);
    if (text === null) return null;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [key: string]: unknown };
    } catch {
      // Reported below, like anything else that is not an object.
    }
    this.log(`the payload of step ${seq} is not a JSON object`);
    return null;
  }

  async #countHits(question: string, roots: readonly number[] | null): Promise<number> {
    const value = await this.#one<number>(
      `SELECT count(*) AS value FROM (SELECT 1 FROM words w JOIN events e ON e.seq = w.seq JOIN runs r ON r.key = e.root WHERE w.doc @@ $1::tsquery ${roots === null ? "" : "AND r.key = ANY($2)"} LIMIT ${MAX_COUNTED}) h`,
      [question, ...(roots === null ? [] : [roots])],
    );
    return value ?? 0;
  }
}

function nodeOf(step: StepRow, ids: ReadonlyMap<string, string>): string | null {
  const key = nodeKey(step);
  return key === null ? null : (ids.get(key) ?? null);
}

/** Conditions with their values; `at` numbers a value and returns its place. */
class Filter {
  readonly values: unknown[] = [];
  readonly #conditions: string[] = [];

  add(condition: (at: (value: unknown) => string) => string): void {
    this.#conditions.push(condition((value) => `$${this.values.push(value)}`));
  }

  where(): string {
    return this.#conditions.length === 0 ? "" : `WHERE ${this.#conditions.join(" AND ")}`;
  }
}

function runFilter(query: RunFilterQuery): Filter {
  const filter = new Filter();
  const { status, session, tag, q, name, user, model, tool, server, from, to } = query;
  if (status !== "all") filter.add((at) => `status = ${at(["running", "completed", "failed"].indexOf(status))}`);
  if (session !== undefined) filter.add((at) => `session = ${at(storable(session))}`);
  if (name !== undefined) filter.add((at) => `name = ${at(storable(name))}`);
  if (user !== undefined) filter.add((at) => `"user" = ${at(storable(user))}`);
  if (model !== undefined) filter.add((at) => `models::jsonb ? ${at(storable(model))}`);
  if (tool !== undefined) filter.add((at) => `tools::jsonb ? ${at(storable(tool))}`);
  if (server !== undefined) filter.add((at) => `servers::jsonb ? ${at(storable(server))}`);
  if (from !== undefined) filter.add((at) => `started_at >= ${at(from)}`);
  if (to !== undefined) filter.add((at) => `started_at < ${at(to)}`);
  if (tag !== undefined) filter.add((at) => `EXISTS (SELECT FROM unnest(folded_tags) t WHERE strpos(t, ${at(folded(storable(tag)))}) > 0)`);
  if (q !== undefined) filter.add((at) => `strpos(folded, ${at(folded(storable(q)))}) > 0`);
  return filter;
}
