/** Lists of runs and sessions. */
import type { components } from "../../api.types.gen.js";
import { parseRunCursor, runCursor } from "../cursor.js";
import { MAX_OVERVIEW_RUNS, OVERVIEW_COLUMNS, overviewOf, type OverviewRecord, RUN_ORDERS } from "../overview.js";
import type { RunFilterQuery, RunListQuery } from "../store.js";
import { folded, sessionOf } from "../stored.js";
import { runWire, runWireExtended } from "../wire.js";
import { RUN_COLUMNS, runRow, type RunRecord } from "../rows.js";
import type { Db } from "./schema.js";

type Schemas = components["schemas"];

export class RunReads {
  readonly #db: Db;
  readonly #sql;

  constructor(traces: Db) {
    traces.function("folded", { deterministic: true }, (value: unknown) => folded(String(value)));
    this.#db = traces;
    this.#sql = prepare(traces);
  }

  /** A page of root runs, newest first. */
  list(query: RunListQuery): Schemas["RunList"] {
    const { where, values } = this.#filter(query);
    const total = this.#db.prepare<unknown[], number>(`SELECT count(*) FROM runs ${clause(where)}`).pluck().get(...values) ?? 0;
    const sort = query.sort ?? "started";
    const after = query.cursor === undefined || sort !== "started" ? null : parseRunCursor(query.cursor);
    const page = after === null ? { where, values } : { where: [...where, "(started_at, run_id) < (?, ?)"], values: [...values, after.startedAt, after.runId] };
    // Newest first until the page is full: an index on what is asked for would find all of it, and sort it.
    const index = query.session !== undefined || sort !== "started" ? "" : query.status === "all" ? "INDEXED BY runs_started" : "INDEXED BY runs_status";
    const records = this.#db
      .prepare<unknown[], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs ${index} ${clause(page.where)} ORDER BY ${RUN_ORDERS[sort] ?? RUN_ORDERS["started"]} LIMIT ? OFFSET ?`)
      .all(...page.values, query.limit + 1, after === null ? query.offset : 0);
    const rows = records.slice(0, query.limit).map(runRow);
    const last = rows.at(-1);
    const wantsCursor = sort === "started" && (query.extended || query.cursor !== undefined);
    return {
      runs: rows.map((row) => (query.extended ? runWireExtended(row) : runWire(row))),
      total,
      limit: query.limit,
      offset: query.offset,
      ...(wantsCursor && records.length > query.limit && last !== undefined ? { next_cursor: runCursor({ startedAt: last.startedAt, runId: last.runId }) } : {}),
    };
  }

  /** The newest runs that pass the filters, together. */
  overview(query: RunFilterQuery, buckets: number): Schemas["RunOverview"] {
    const { where, values } = this.#filter(query);
    const total = this.#db.prepare<unknown[], number>(`SELECT count(*) FROM runs ${clause(where)}`).pluck().get(...values) ?? 0;
    const records = this.#db.prepare<unknown[], OverviewRecord>(`SELECT ${OVERVIEW_COLUMNS} FROM runs ${clause(where)} ORDER BY started_at DESC, run_id DESC LIMIT ?`).all(...values, MAX_OVERVIEW_RUNS);
    return overviewOf(records, total, buckets);
  }

  #filter(query: RunFilterQuery): { where: string[]; values: (string | number)[] } {
    const where: string[] = [];
    const values: (string | number)[] = [];
    const add = (condition: string, ...given: (string | number)[]): void => {
      where.push(condition);
      values.push(...given);
    };
    if (query.status !== "all") add("status = ?", ["running", "completed", "failed"].indexOf(query.status));
    if (query.session !== undefined) add("session = ?", query.session);
    if (query.name !== undefined) add("name = ?", query.name);
    if (query.user !== undefined) add('"user" = ?', query.user);
    if (query.model !== undefined) add("EXISTS (SELECT 1 FROM json_each(models) WHERE value = ?)", query.model);
    if (query.tool !== undefined) add("EXISTS (SELECT 1 FROM json_each(tools) WHERE value = ?)", query.tool);
    if (query.server !== undefined) add("EXISTS (SELECT 1 FROM json_each(servers) WHERE value = ?)", query.server);
    if (query.from !== undefined) add("started_at >= ?", query.from);
    if (query.to !== undefined) add("started_at < ?", query.to);
    if (query.tag !== undefined) add("tags IN (SELECT value FROM json_each(?))", JSON.stringify(this.#setsWith(folded(query.tag))));
    if (query.q !== undefined) {
      add("instr(folded(run_id || ' ' || coalesce(name, '') || ' ' || coalesce(error, '') || ' ' || tags || ' ' || coalesce(session, '') || ' ' || coalesce(user, '') || ' ' || coalesce(preview, '') || ' ' || coalesce(answer, '')), ?)", folded(query.q));
    }
    return { where, values };
  }

  /** Sets of tags, as stored, of which one tag has the part. There are few sets in many runs, so each is looked at once. */
  #setsWith(part: string): string[] {
    return this.#sql.tagSets.all().filter((tags) => (JSON.parse(tags) as string[]).some((tag) => folded(tag).includes(part)));
  }

  /** Ids of all root runs, oldest first. */
  ids(): string[] {
    return this.#sql.ids.all();
  }

  sessions(limit: number, offset: number): Schemas["SessionList"] {
    const total = this.#sql.sessionCount.get() ?? 0;
    const sessions = this.#sql.sessions.all(limit, offset).flatMap(({ session }) => {
      const runs = this.#sql.runsOfSession.all(session).map(runRow);
      // None: deleted since the list was read.
      return runs.length === 0 ? [] : [sessionOf(session, runs)];
    });
    return { sessions, total, limit, offset };
  }
}

function clause(where: readonly string[]): string {
  return where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
}

function prepare(traces: Db) {
  return {
    tagSets: traces.prepare<[], string>("SELECT DISTINCT tags FROM runs").pluck(),
    ids: traces.prepare<[], string>("SELECT run_id FROM runs ORDER BY started_at, run_id").pluck(),
    sessionCount: traces.prepare<[], number>("SELECT count(DISTINCT session) FROM runs WHERE session IS NOT NULL").pluck(),
    sessions: traces.prepare<[number, number], { session: string }>(
      "SELECT session FROM runs WHERE session IS NOT NULL GROUP BY session ORDER BY max(started_at) DESC, session LIMIT ? OFFSET ?",
    ),
    runsOfSession: traces.prepare<[string], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE session = ? ORDER BY started_at DESC`),
  };
}
