/** The graph and the inventory of tools: of all runs from the stored sums, of a few from their steps. */
import { AFTER_ALL } from "../../time.js";
import type { components } from "../../api.types.gen.js";
import { nodeKey, type NodeEvent, Tally } from "../../record/tally.js";
import { addTimes, type EdgeTimes } from "../edge-times.js";
import { extendedTopologyOf, type GraphEdge, type GraphNode, inventoryOf, publicIds, topologyOf } from "../graph.js";
import { hasCalls, LOOKED_AT, wantedOf, withinSteps } from "../node-runs.js";
import { RUN_COLUMNS, runRow, type RunRecord } from "../rows.js";
import type { GraphQuery } from "../store.js";
import { changedPart, graphOf, MAX_LAST, parseScope } from "../stored.js";
import { runWireExtended } from "../wire.js";
import type { Lookup } from "./lookup.js";
import { loadNodes, type NodeRecord } from "./nodes.js";
import { RunTallies } from "./run-tallies.js";
import type { Db } from "./schema.js";

type Schemas = components["schemas"];

export class GraphReads {
  readonly #db: Db;
  readonly #sql;
  readonly #tallies: RunTallies;
  #known: { readonly version: number; readonly nodes: readonly NodeRecord[]; readonly ids: ReadonlyMap<string, string> } | null = null;

  constructor(
    traces: Db,
    private readonly lookup: Lookup,
  ) {
    this.#db = traces;
    this.#sql = prepare(traces);
    this.#tallies = new RunTallies(traces);
  }

  topology(query: GraphQuery, extended: boolean): Schemas["Topology"] {
    const roots = this.roots(query);
    const { ids } = this.#nodes();
    if (!extended) {
      const { nodes, edges } = this.#graph(roots);
      return topologyOf(nodes, edges, ids);
    }
    const total = this.#count(query);
    if (roots !== null) {
      const { nodes, edges } = this.#graphOf(roots);
      return extendedTopologyOf(nodes, edges, ids, { counted: roots.length, total });
    }
    // The stored sums have no durations of edges: those are of the newest runs.
    const times = new Map<string, EdgeTimes>();
    const newest = withinSteps(this.#newest(), LOOKED_AT.edgeSteps);
    for (const { key } of newest) addTimes(times, this.#tallies.of(key).times);
    const { nodes, edges } = this.#everything();
    return extendedTopologyOf(nodes, edges.map((edge) => ({ ...edge, times: times.get(`${edge.source}\r${edge.target}`) })), ids, { counted: newest.length, total });
  }

  nodeRuns(query: GraphQuery, node: string, caller: string | undefined, limit: number): Schemas["NodeRuns"] {
    const wanted = wantedOf(this.#nodes().ids, node, caller);
    const roots = this.roots(query) ?? withinSteps(this.#newest(), LOOKED_AT.nodeSteps).map(({ key }) => key);
    const found = roots.filter((root) => hasCalls(this.#tallies.of(root).tally, wanted));
    const runs = found.slice(0, limit).flatMap((root) => this.#sql.run.get(root) ?? []).map((record) => runWireExtended(runRow(record)));
    return { runs, total: found.length, counted_runs: roots.length, total_runs: this.#count(query) };
  }

  changed(nodeKeys: readonly string[], edgeKeys: readonly string[]): Schemas["Topology"] {
    const { nodes, edges } = this.#everything();
    const ids = this.#nodes().ids;
    return changedPart(topologyOf(nodes, edges, ids), ids, nodeKeys, edgeKeys);
  }

  tools(query: GraphQuery): Schemas["ToolInventory"] {
    return inventoryOf(this.#graph(this.roots(query)).nodes);
  }

  /** Public id of the node that a step is counted at; `null` without one. */
  nodeId(step: NodeEvent): string | null {
    const key = nodeKey(step);
    return key === null ? null : (this.#nodes().ids.get(key) ?? null);
  }

  /** Keys of the runs of a scope, newest first; `null` is all of them. */
  roots({ scope, from, to }: GraphQuery): readonly number[] | null {
    const asked = parseScope(scope);
    if (asked.kind === "run") {
      const run = asked.ids.map((id) => this.lookup.run(id)).find((row) => row !== null) ?? null;
      return run === null || run.startedAt < (from ?? run.startedAt) || run.startedAt >= (to ?? AFTER_ALL) ? [] : [run.key];
    }
    if (asked.kind === "all" && from === undefined && to === undefined) return null;
    const limit = asked.kind === "last" ? asked.count : MAX_LAST;
    return this.#sql.runsOf.all({ name: asked.kind === "name" ? asked.name : null, from: from ?? null, to: to ?? null, limit });
  }

  /** Runs of a scope, also those beyond the ones that are looked at. */
  #count(query: GraphQuery): number {
    const asked = parseScope(query.scope);
    if (asked.kind === "run" || asked.kind === "last") return this.roots(query)?.length ?? 0;
    return this.#sql.countOf.get({ name: asked.kind === "name" ? asked.name : null, from: query.from ?? null, to: query.to ?? null }) ?? 0;
  }

  #newest(): readonly { readonly key: number; readonly steps: number }[] {
    return this.#sql.newest.all(LOOKED_AT.runs);
  }

  #nodes(): { readonly nodes: readonly NodeRecord[]; readonly ids: ReadonlyMap<string, string> } {
    const version = this.#db.pragma("data_version", { simple: true }) as number;
    if (this.#known?.version !== version) {
      const nodes = loadNodes(this.#db);
      this.#known = { version, nodes, ids: publicIds(nodes) };
    }
    return this.#known;
  }

  #graph(roots: readonly number[] | null): { nodes: GraphNode[]; edges: GraphEdge[] } {
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
    const tally = new Tally();
    const times = new Map<string, EdgeTimes>();
    for (const root of roots) {
      const sums = this.#tallies.of(root);
      tally.add(sums.tally);
      addTimes(times, sums.times);
    }
    const registered = this.#nodes().nodes.filter((node) => node.registered === 1).map((node) => node.key);
    return graphOf(tally, registered, times);
  }
}

interface RunsOf {
  readonly name: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

const RUNS_OF = "FROM runs WHERE (@name IS NULL OR name = @name) AND (@from IS NULL OR started_at >= @from) AND (@to IS NULL OR started_at < @to)";

function prepare(traces: Db) {
  return {
    runsOf: traces.prepare<[RunsOf & { readonly limit: number }], number>(`SELECT key ${RUNS_OF} ORDER BY started_at DESC, run_id DESC LIMIT @limit`).pluck(),
    countOf: traces.prepare<[RunsOf], number>(`SELECT count(*) ${RUNS_OF}`).pluck(),
    newest: traces.prepare<[number], { key: number; steps: number }>("SELECT key, steps FROM runs ORDER BY started_at DESC, run_id DESC LIMIT ?"),
    run: traces.prepare<[number], RunRecord>(`SELECT ${RUN_COLUMNS} FROM runs WHERE key = ?`),
    durations: traces.prepare<[], { node: number; bucket: number; count: number }>("SELECT node, bucket, count FROM durations"),
    edges: traces.prepare<[], { source: number; target: number; count: number; last_at: number }>("SELECT source, target, count, last_at FROM edges"),
  };
}
