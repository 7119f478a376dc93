/** The graph of calls as it is laid out: MCP servers are groups of their tools, not nodes of their own. */
import type { SpanKind } from "./spans.js";
import type { Topology } from "./types.js";

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly kind: Exclude<SpanKind, "mark">;
  /** MCP server of a tool. */
  readonly server: string | null;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly width: number;
  readonly height: number;
  /** Name of the MCP server that is drawn around it. */
  readonly group: string | null;
}

export interface GraphEdge {
  readonly source: string;
  readonly target: string;
  readonly count: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p95: number | null;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly groups: readonly string[];
  /** Nodes that are not drawn. */
  readonly left: number;
}

/** What the layout worker is sent, and what it answers. Positions are centres. */
export interface LayoutRequest {
  readonly nodes: readonly { readonly id: string; readonly width: number; readonly height: number; readonly group: string | null }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
  /** Room for texts on the edges. */
  readonly labelled: boolean;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly id: string; readonly x: number; readonly y: number }[];
  readonly groups: readonly { readonly name: string; readonly x: number; readonly y: number; readonly width: number; readonly height: number }[];
  readonly edges: readonly { readonly source: string; readonly target: string; readonly points: readonly Point[] }[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

const HEIGHT = 44;
const CHAR = 7;
/** Nodes that are drawn; the least called ones are left out beyond. */
export const MAX_GRAPH_NODES = 600;
/** With more edges only those that are chosen say how long their calls took: every line has half of the room. */
export const MAX_TIMED = 60;
/** With more edges only those that are chosen have a text at all. */
export const MAX_LABELLED = 300;

/** Nodes and edges to draw. Calls through a server node become calls of its tools, which are recorded as well. */
export function graphOf(topology: Topology): Graph {
  const all = topology.nodes.filter((node) => node.type !== "mcp").sort((a, b) => b.invocation_count - a.invocation_count || (a.id < b.id ? -1 : 1));
  const drawn = all.slice(0, MAX_GRAPH_NODES);
  // One order whatever the answer's: the same graph is laid out the same way.
  const nodes = drawn.sort((a, b) => (a.id < b.id ? -1 : 1)).map((node): GraphNode => ({
    id: node.id, name: node.name, kind: node.type === "mcp" ? "tool" : node.type, server: node.source, calls: node.invocation_count, errors: node.error_count, p50: node.p50_duration_ms, p95: node.p95_duration_ms,
    ...sizeOf(node.name, node.error_count), group: node.type === "tool" ? node.source : null,
  }));
  const known = new Set(nodes.map(({ id }) => id));
  const edges = topology.edges.filter((edge) => known.has(edge.source) && known.has(edge.target))
    .map((edge): GraphEdge => ({ source: edge.source, target: edge.target, count: edge.count, errors: edge.error_count, p50: edge.p50_duration_ms, p95: edge.p95_duration_ms }))
    .sort((a, b) => (a.source + a.target < b.source + b.target ? -1 : 1));
  return { nodes, edges, groups: [...new Set(nodes.flatMap(({ group }) => group ?? []))].sort(), left: all.length - nodes.length };
}

/** Room that the text of a node needs. */
export function sizeOf(name: string, errors: number): { readonly width: number; readonly height: number } {
  return { width: Math.min(230, Math.max(errors > 0 ? 150 : 110, [...name].length * CHAR + 44)), height: HEIGHT };
}

/** The share of failed calls decides the colour. */
export function errorShare(node: Pick<GraphNode, "calls" | "errors">): number {
  return node.calls === 0 ? 0 : Math.min(1, node.errors / node.calls);
}
