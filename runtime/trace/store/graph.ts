/**
 * The graph and the inventory of tools as the API shows them, both from the same sums, so that they can't disagree.
 * Tools are kept apart by server; MCP servers are put over their tools.
 */
import type { components } from "../api.types.gen.js";
import type { Topology, TopologyEdge, TopologyNode, ToolInventory } from "../model.js";
import { percentile } from "../record/durations.js";
import { isChainName, nodeName } from "../record/tally.js";
import { formatTime } from "../time.js";
import { type EdgeTimes, mergeTimes, noTimes } from "./edge-times.js";

type Extended = components["schemas"]["TopologyExtended"];

/** One node of a scope. Times in microseconds, 0 is never. */
export interface GraphNode {
  readonly key: string;
  readonly invocations: number;
  readonly errors: number;
  readonly durationMs: number;
  readonly timed: number;
  readonly maxMs: number;
  readonly lastAt: number;
  readonly buckets: readonly (readonly [bucket: number, count: number])[];
}

export interface GraphEdge {
  readonly source: string;
  readonly target: string;
  readonly count: number;
  readonly lastAt: number;
  /** Only where durations of edges were asked for. */
  readonly times?: EdgeTimes | undefined;
}

/** What decides a node's id: all nodes of the store, in the order in which they were first seen. */
export interface KnownNode {
  readonly key: string;
  readonly agent: number;
}

/**
 * Ids by key. A runnable is an agent once it called something, unless its name is a framework's plumbing. Of tools that
 * share a name, the first one has the plain id and the others carry their source.
 */
export function publicIds(known: readonly KnownNode[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const { key, agent } of known) {
    const { family, name, source } = nodeName(key);
    const kind = family === "runnable" ? (agent === 1 && !isChainName(name) ? "agent" : "chain") : family;
    const plain = `${kind}:${name}`;
    const id = taken.has(plain) ? `${plain}@${source ?? "local"}` : plain;
    taken.add(id);
    ids.set(key, id);
  }
  return ids;
}

/** Two ids as one text, whatever characters they have. */
export function linkKey(source: string, target: string): string {
  return `${source.length} ${source}${target}`;
}

/** The runs that a graph is of, where not all of them were looked at. */
export interface LookedAt {
  readonly counted: number;
  readonly total: number;
}

/** The answer of GET /api/topology. Nodes sorted by id, edges by source and target. */
export function topologyOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[], ids: ReadonlyMap<string, string>): Topology {
  const { nodes: shown, links, servers } = drawn(nodes, edges, ids);
  return { nodes: [...shown.values(), ...servers].sort((a, b) => compare(a.id, b.id)), edges: links.map(shownEdge) };
}

/** The same with percentiles of nodes and edges. */
export function extendedTopologyOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[], ids: ReadonlyMap<string, string>, { counted, total }: LookedAt): Extended {
  const { nodes: shown, links, servers } = drawn(nodes, edges, ids);
  const wide = nodes.map((node) => ({ ...(shown.get(node.key) ?? shownNode(node, node.key)), ...percentiles(node.buckets, node.maxMs) }));
  return {
    nodes: [...wide, ...servers.map((server) => ({ ...server, ...percentiles([], 0) }))].sort((a, b) => compare(a.id, b.id)),
    edges: links.map((edge) => ({ ...shownEdge(edge), error_count: edge.times?.errors ?? 0, ...percentiles(edge.times?.buckets ?? [], edge.times?.maxMs ?? 0) })),
    counted_runs: counted,
    total_runs: total,
  };
}

function percentiles(buckets: Iterable<readonly [number, number]>, maxMs: number): { readonly p50_duration_ms: number | null; readonly p95_duration_ms: number | null } {
  const counts = [...buckets];
  return { p50_duration_ms: percentile(counts, 0.5, maxMs), p95_duration_ms: percentile(counts, 0.95, maxMs) };
}

/** Nodes by key, edges sorted by source and target, and the servers over their tools. */
function drawn(nodes: readonly GraphNode[], edges: readonly GraphEdge[], ids: ReadonlyMap<string, string>): { readonly nodes: ReadonlyMap<string, TopologyNode>; readonly links: readonly GraphEdge[]; readonly servers: readonly TopologyNode[] } {
  const shown = new Map(nodes.map((node) => [node.key, shownNode(node, ids.get(node.key) ?? node.key)]));
  const links = new Map<string, GraphEdge>();
  const link = (source: string, target: string, { count, lastAt, times }: Pick<GraphEdge, "count" | "lastAt" | "times">): void => {
    const key = linkKey(source, target);
    const held = links.get(key);
    const merged = noTimes();
    for (const part of [held?.times, times]) if (part !== undefined) mergeTimes(merged, part);
    links.set(key, { source, target, count: count + (held?.count ?? 0), lastAt: Math.max(lastAt, held?.lastAt ?? 0), times: merged });
  };
  for (const edge of edges) link(ids.get(edge.source) ?? edge.source, ids.get(edge.target) ?? edge.target, edge);
  for (const node of nodes) {
    const { family, source } = nodeName(node.key);
    if (family === "tool" && source !== null) link(`mcp:${source}`, ids.get(node.key) ?? node.key, { count: node.invocations, lastAt: node.lastAt, times: { errors: node.errors, maxMs: node.maxMs, buckets: new Map(node.buckets) } });
  }
  for (const edge of edges) {
    const { family, source } = nodeName(edge.target);
    if (family === "tool" && source !== null) link(ids.get(edge.source) ?? edge.source, `mcp:${source}`, edge);
  }
  return { nodes: shown, links: [...links.values()].sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target)), servers: serverNodes(nodes) };
}

function shownNode(node: GraphNode, id: string): TopologyNode {
  const { name, source } = nodeName(node.key);
  return {
    id,
    name,
    type: id.slice(0, id.indexOf(":")) as TopologyNode["type"],
    source,
    invocation_count: node.invocations,
    error_count: node.errors,
    total_duration_ms: node.durationMs,
    avg_duration_ms: node.timed === 0 ? 0 : node.durationMs / node.timed,
    p99_duration_ms: percentile(node.buckets, 0.99, node.maxMs),
    last_seen: node.lastAt === 0 ? null : formatTime(node.lastAt),
  };
}

function shownEdge({ source, target, count, lastAt }: GraphEdge): TopologyEdge {
  return { source, target, count, last_seen: lastAt === 0 ? null : formatTime(lastAt) };
}

function serverNodes(nodes: readonly GraphNode[]): TopologyNode[] {
  const servers = new Map<string, { invocations: number; errors: number; lastAt: number }>();
  for (const node of nodes) {
    const { family, source } = nodeName(node.key);
    if (family !== "tool" || source === null) continue;
    const held = servers.get(source) ?? { invocations: 0, errors: 0, lastAt: 0 };
    servers.set(source, { invocations: held.invocations + node.invocations, errors: held.errors + node.errors, lastAt: Math.max(held.lastAt, node.lastAt) });
  }
  return [...servers].map(([name, sums]) => ({
    id: `mcp:${name}`, name, type: "mcp" as const, source: name, invocation_count: sums.invocations, error_count: sums.errors, total_duration_ms: 0,
    avg_duration_ms: 0, p99_duration_ms: null, last_seen: sums.lastAt === 0 ? null : formatTime(sums.lastAt),
  }));
}

/** The answer of GET /api/tools: servers by name, the local bucket last and only with tools. */
export function inventoryOf(nodes: readonly GraphNode[]): ToolInventory {
  const groups = new Map<string | null, GraphNode[]>();
  for (const node of nodes) {
    const { family, source } = nodeName(node.key);
    if (family !== "tool") continue;
    const group = groups.get(source);
    if (group === undefined) groups.set(source, [node]);
    else group.push(node);
  }
  const names = [...groups.keys()].filter((name) => name !== null).sort(compare);
  return { sources: [...names, ...(groups.has(null) ? [null] : [])].map((name) => group(name, groups.get(name) ?? [])) };
}

function group(source: string | null, nodes: readonly GraphNode[]): ToolInventory["sources"][number] {
  const tools = nodes
    .map((node) => ({ name: nodeName(node.key).name, invocations: node.invocations, errors: node.errors }))
    .sort((a, b) => compare(a.name, b.name));
  return {
    source: source ?? "local",
    kind: source === null ? "local" : "mcp",
    tool_count: tools.length,
    invocation_count: tools.reduce((sum, tool) => sum + tool.invocations, 0),
    error_count: tools.reduce((sum, tool) => sum + tool.errors, 0),
    tools,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
