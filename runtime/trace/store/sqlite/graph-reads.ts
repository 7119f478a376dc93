/** The graph and the inventory of tools: of all runs from the stored sums, of a few from their steps. */
import type { components } from "../../api.types.gen.js";
import { nodeKey, type NodeEvent, Tally } from "../../record/tally.js";
import { type GraphEdge, type GraphNode, inventoryOf, publicIds, topologyOf } from "../graph.js";
import { changedPart, graphOf, parseScope } from "../stored.js";
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

  /** Public id of the node that a step is counted at; `null` without one. */
  nodeId(step: NodeEvent): string | null {
    const key = nodeKey(step);
    return key === null ? null : (this.#nodes().ids.get(key) ?? null);
  }

  /** Keys of the runs of a scope; `null` is all of them. */
  roots(scope: string): readonly number[] | null {
    const asked = parseScope(scope);
    if (asked.kind === "all") return null;
    if (asked.kind === "last") return this.#sql.lastRuns.all(asked.count);
    const run = asked.ids.map((id) => this.lookup.run(id)).find((row) => row !== null);
    return run === undefined || run === null ? [] : [run.key];
  }

  #nodes(): { readonly nodes: readonly NodeRecord[]; readonly ids: ReadonlyMap<string, string> } {
    const version = this.#db.pragma("data_version", { simple: true }) as number;
    if (this.#known?.version !== version) {
      const nodes = loadNodes(this.#db);
      this.#known = { version, nodes, ids: publicIds(nodes) };
    }
    return this.#known;
  }

  #graph(scope: string): { nodes: GraphNode[]; edges: GraphEdge[] } {
    const roots = this.roots(scope);
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
    for (const root of roots) tally.add(this.#tallies.of(root));
    const registered = this.#nodes().nodes.filter((node) => node.registered === 1).map((node) => node.key);
    return graphOf(tally, registered);
  }
}

function prepare(traces: Db) {
  return {
    lastRuns: traces.prepare<[number], number>("SELECT key FROM runs ORDER BY started_at DESC, run_id DESC LIMIT ?").pluck(),
    durations: traces.prepare<[], { node: number; bucket: number; count: number }>("SELECT node, bucket, count FROM durations"),
    edges: traces.prepare<[], { source: number; target: number; count: number; last_at: number }>("SELECT source, target, count, last_at FROM edges"),
  };
}
