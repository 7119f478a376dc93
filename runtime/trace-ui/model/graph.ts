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
/** With more edges their durations are shown only for what is chosen: the texts would cover each other. */
export const MAX_LABELLED = 60;

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

/** Between the end of a text and the node, or the box of its server. */
const LABEL_GAP = 30;

/**
 * Where the text of an edge is. An edge that reaches its node alone has it before the node, where edges to the tools of
 * one server are apart; edges that meet at a node have theirs further back.
 */
export function labelPoint(points: readonly Point[], alone: boolean): Point & { readonly anchor: "end" | "middle" } {
  const [before, end] = points.slice(-2);
  if (before === undefined || end === undefined) return { x: 0, y: 0, anchor: "middle" };
  const forth = end.x - before.x;
  if (!alone || forth <= LABEL_GAP) {
    const part = points.length === 2 ? 0.4 : 0.1;
    return { x: before.x + forth * part, y: before.y + (end.y - before.y) * part, anchor: "middle" };
  }
  return { x: end.x - LABEL_GAP, y: end.y - ((end.y - before.y) * LABEL_GAP) / forth, anchor: "end" };
}
