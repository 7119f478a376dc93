/** The graph and the inventory of tools in PostgreSQL: of all runs from the stored sums, of some from their steps. */
import { AFTER_ALL, BEFORE_ALL } from "../../time.js";
import { Tally } from "../../record/tally.js";
import { addTimes, type EdgeTimes, edgeTimesOf, type TimesByEdge } from "../edge-times.js";
import { extendedTopologyOf, type GraphEdge, type GraphNode, inventoryOf, topologyOf } from "../graph.js";
import { hasCalls, LOOKED_AT, wantedOf, withinSteps } from "../node-runs.js";
import { CALL_COLUMNS, type CallRecord, RUN_COLUMNS, runRow, type RunRecord } from "../rows.js";
import type { GraphQuery } from "../store.js";
import { changedPart, graphOf, MAX_LAST, parseScope, tallyOf } from "../stored.js";
import { runWireExtended } from "../wire.js";
import { storable } from "./copy.js";
import type { Client } from "./driver.js";
import { loadIds } from "./sums.js";

type Db = Pick<Client, "query">;

interface RunSums {
  readonly tally: Tally;
  readonly times: TimesByEdge;
}

export class GraphReads {
  constructor(private readonly db: Db) {}

  async topology(query: GraphQuery, extended: boolean): Promise<string> {
    const roots = await this.roots(query);
    const ids = await loadIds(this.db);
    if (!extended) {
      const { nodes, edges } = await this.#graph(roots);
      return JSON.stringify(topologyOf(nodes, edges, ids));
    }
    const total = await this.#count(query);
    if (roots !== null) {
      const { nodes, edges } = await this.#graph(roots);
      return JSON.stringify(extendedTopologyOf(nodes, edges, ids, { counted: roots.length, total }));
    }
    // The stored sums have no durations of edges: those are of the newest runs.
    const newest = withinSteps(await this.#newest(), LOOKED_AT.edgeSteps);
    const times = new Map<string, EdgeTimes>();
    for (const sums of (await this.#sums(newest.map(({ key }) => key))).values()) addTimes(times, sums.times);
    const { nodes, edges } = await this.#everything();
    return JSON.stringify(extendedTopologyOf(nodes, edges.map((edge) => ({ ...edge, times: times.get(`${edge.source}\r${edge.target}`) })), ids, { counted: newest.length, total }));
  }

  async nodeRuns(query: GraphQuery, node: string, caller: string | undefined, limit: number): Promise<string> {
    const wanted = wantedOf(await loadIds(this.db), node, caller);
    const roots = (await this.roots(query)) ?? withinSteps(await this.#newest(), LOOKED_AT.nodeSteps).map(({ key }) => key);
    const sums = await this.#sums(roots);
    const found = roots.filter((root) => hasCalls(sums.get(root)?.tally ?? new Tally(), wanted));
    const records = await this.#rows<RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE key = ANY($1)`, [found.slice(0, limit)]);
    const byKey = new Map(records.map((record) => [record.key, record]));
    const runs = found.slice(0, limit).flatMap((root) => byKey.get(root) ?? []).map((record) => runWireExtended(runRow(record)));
    return JSON.stringify({ runs, total: found.length, counted_runs: roots.length, total_runs: await this.#count(query) });
  }

  async changed(nodeKeys: readonly string[], edgeKeys: readonly string[]): Promise<string> {
    const { nodes, edges } = await this.#everything();
    const ids = await loadIds(this.db);
    return JSON.stringify(changedPart(topologyOf(nodes, edges, ids), ids, nodeKeys, edgeKeys));
  }

  async tools(query: GraphQuery): Promise<string> {
    return JSON.stringify(inventoryOf((await this.#graph(await this.roots(query))).nodes));
  }

  /** Keys of the runs of a scope, newest first; `null` is all of them. */
  async roots({ scope, from, to }: GraphQuery): Promise<readonly number[] | null> {
    const asked = parseScope(scope);
    if (asked.kind === "run") return this.#oneOf(asked.ids, from, to);
    if (asked.kind === "all" && from === undefined && to === undefined) return null;
    const { where, values } = runsOf({ scope, from, to });
    const limit = asked.kind === "last" ? asked.count : MAX_LAST;
    return (await this.#rows<{ key: number }>(`SELECT key FROM runs ${where} ORDER BY started_at DESC, run_id DESC LIMIT ${limit}`, values)).map((row) => row.key);
  }

  async #oneOf(ids: readonly string[], from = BEFORE_ALL, to = AFTER_ALL): Promise<readonly number[]> {
    for (const id of ids) {
      const [run] = await this.#rows<{ key: number; started_at: number }>("SELECT key, started_at FROM runs WHERE run_id = $1", [storable(id)]);
      if (run !== undefined) return run.started_at >= from && run.started_at < to ? [run.key] : [];
    }
    return [];
  }

  /** Runs of a scope, also those beyond the ones that are looked at. */
  async #count(query: GraphQuery): Promise<number> {
    const { kind } = parseScope(query.scope);
    if (kind === "run" || kind === "last") return (await this.roots(query))?.length ?? 0;
    const { where, values } = runsOf(query);
    return (await this.#rows<{ value: number }>(`SELECT count(*) AS value FROM runs ${where}`, values))[0]?.value ?? 0;
  }

  #newest(): Promise<readonly { readonly key: number; readonly steps: number }[]> {
    return this.#rows(`SELECT key, steps FROM runs ORDER BY started_at DESC, run_id DESC LIMIT ${LOOKED_AT.runs}`);
  }

  async #sums(roots: readonly number[]): Promise<ReadonlyMap<number, RunSums>> {
    const runs = new Map<number, CallRecord[]>(roots.map((root) => [root, []]));
    for (const record of await this.#rows<CallRecord & { root: number }>(`SELECT root, ${CALL_COLUMNS} FROM events WHERE root = ANY($1) ORDER BY seq`, [roots])) runs.get(record.root)?.push(record);
    return new Map([...runs].map(([root, records]) => [root, { tally: tallyOf(records), times: edgeTimesOf(records) }]));
  }

  async #graph(roots: readonly number[] | null): Promise<{ nodes: GraphNode[]; edges: GraphEdge[] }> {
    if (roots === null) return this.#everything();
    const registered = await this.#rows<{ key: string }>("SELECT key FROM nodes WHERE registered = 1 ORDER BY id");
    const tally = new Tally();
    const times = new Map<string, EdgeTimes>();
    for (const sums of (await this.#sums(roots)).values()) {
      tally.add(sums.tally);
      addTimes(times, sums.times);
    }
    return graphOf(tally, registered.map((row) => row.key), times);
  }

  async #everything(): Promise<{ nodes: GraphNode[]; edges: GraphEdge[] }> {
    const nodes = await this.#rows<{ key: string; invocations: number; errors: number; duration_ms: number; timed: number; max_ms: number; last_at: number; buckets: [number, number][] | null }>(
      `SELECT key, invocations, errors, duration_ms, timed, max_ms, last_at, (SELECT json_agg(json_build_array(bucket, count)) FROM durations WHERE node = key) AS buckets
       FROM nodes WHERE events > 0 OR registered = 1 ORDER BY id`,
    );
    const edges = await this.#rows<{ source: string; target: string; count: number; last_at: number }>("SELECT source, target, count, last_at FROM edges");
    return {
      nodes: nodes.map((node) => ({
        key: node.key, invocations: node.invocations, errors: node.errors, durationMs: node.duration_ms, timed: node.timed, maxMs: node.max_ms, lastAt: node.last_at, buckets: node.buckets ?? [],
      })),
      edges: edges.map((edge) => ({ source: edge.source, target: edge.target, count: edge.count, lastAt: edge.last_at })),
    };
  }

  async #rows<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.db.query(text, [...values])).rows as R[];
  }
}

/** The condition of a scope on runs, with its values. */
function runsOf({ scope, from, to }: GraphQuery): { readonly where: string; readonly values: readonly unknown[] } {
  const asked = parseScope(scope);
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (condition: string, value: unknown): void => void conditions.push(`${condition} $${values.push(value)}`);
  if (asked.kind === "name") add("name =", storable(asked.name));
  if (from !== undefined) add("started_at >=", from);
  if (to !== undefined) add("started_at <", to);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}
