/** The graph of calls as it is laid out: MCP servers are groups of their tools, not nodes of their own. */
import type { Topology, TopologyNode } from "./types.js";

export interface GraphNode {
  readonly node: TopologyNode;
  readonly width: number;
  readonly height: number;
  /** Name of the MCP server around it. */
  readonly group: string | null;
}

export interface GraphEdge {
  readonly source: string;
  readonly target: string;
  readonly count: number;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly groups: readonly string[];
}

/** What the layout worker is sent, and what it answers. Positions are centres. */
export interface LayoutRequest {
  readonly id: number;
  readonly nodes: readonly { readonly id: string; readonly width: number; readonly height: number; readonly group: string | null }[];
  readonly edges: readonly GraphEdge[];
}

export interface Layout {
  readonly id: number;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly id: string; readonly x: number; readonly y: number }[];
  readonly groups: readonly { readonly name: string; readonly x: number; readonly y: number; readonly width: number; readonly height: number }[];
  readonly edges: readonly { readonly source: string; readonly target: string; readonly points: readonly { readonly x: number; readonly y: number }[] }[];
}

const HEIGHT = 44;
const CHAR = 7;
/** Nodes that are drawn; the least called ones are left out beyond. */
export const MAX_GRAPH_NODES = 600;

/** Nodes and edges to draw. Calls through a server node become calls of its tools, which are recorded as well. */
export function graphOf(topology: Topology): Graph {
  const drawn = topology.nodes.filter((node) => node.type !== "mcp").sort((a, b) => b.invocation_count - a.invocation_count || (a.id < b.id ? -1 : 1)).slice(0, MAX_GRAPH_NODES);
  // One order whatever the answer's: the same graph is laid out the same way.
  const nodes = drawn.sort((a, b) => (a.id < b.id ? -1 : 1)).map((node) => ({ node, width: Math.min(230, Math.max(node.error_count > 0 ? 150 : 110, [...node.name].length * CHAR + 44)), height: HEIGHT, group: node.type === "tool" ? node.source : null }));
  const known = new Set(nodes.map(({ node }) => node.id));
  const edges = topology.edges.filter((edge) => known.has(edge.source) && known.has(edge.target)).map(({ source, target, count }) => ({ source, target, count })).sort((a, b) => (a.source + a.target < b.source + b.target ? -1 : 1));
  return { nodes, edges, groups: [...new Set(nodes.flatMap(({ group }) => group ?? []))].sort() };
}

/** Runs of one call in the other's place: the share of failed ones decides the colour. */
export function errorShare(node: TopologyNode): number {
  return node.invocation_count === 0 ? 0 : node.error_count / node.invocation_count;
}
