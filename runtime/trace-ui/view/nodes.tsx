/** The nodes of a graph: kinds differ by shape as well as by colour. */
import type { JSX } from "preact";
import { formatCount, formatDuration } from "../model/format.js";
import { errorShare, type GraphNode, type Point } from "../model/graph.js";

export interface PlacedNode {
  readonly node: GraphNode;
  readonly place: Point;
}

/** `data-index` is the index of a node in `nodes`. */
export function Nodes({ nodes, chosen, near }: { nodes: readonly PlacedNode[]; chosen: string | null; /** Nodes that stay bright; `null` is all. */ near: ReadonlySet<string> | null }): JSX.Element {
  return <>{nodes.map(({ node, place }, index) => <NodeShape key={node.id} index={index} node={node} x={round(place.x)} y={round(place.y)} chosen={node.id === chosen} dim={near !== null && !near.has(node.id)} />)}</>;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const NAME = 26;

/** Whether the name of a node is cut. */
export function isCut(name: string): boolean {
  return [...name].length > NAME;
}

/** What is said of a node. */
export function nodeTitle(node: GraphNode): string {
  const time = node.p50 === null ? "" : `, p50 ${formatDuration(node.p50)}`;
  return `${node.kind} ${node.name}: ${node.calls} ${node.calls === 1 ? "call" : "calls"}, ${node.errors} failed${time}`;
}

function NodeShape({ node, index, x, y, chosen, dim }: { node: GraphNode; index: number; x: number; y: number; chosen: boolean; dim: boolean }): JSX.Element {
  const { width, height } = node;
  const share = errorShare(node);
  const [left, top] = [x - width / 2, y - height / 2];
  const name = isCut(node.name) ? `${[...node.name].slice(0, NAME - 1).join("")}…` : node.name;
  const time = node.p50 === null ? "" : formatDuration(node.p50);
  const count = node.calls === 1 && time !== "" ? "" : `× ${formatCount(node.calls)}`;
  return (
    <g class={`node node-${node.kind}`} data-index={index} data-chosen={chosen} data-dim={dim} role="button" tabindex={0} aria-pressed={chosen} aria-description={nodeTitle(node)}>
      <path class="node-shape" d={shapeOf(node.kind, left, top, width, height)} />
      {share > 0 && <rect class="node-errors" x={left + 10} y={top + height - 5} width={Math.max(3, (width - 20) * share)} height={3} rx={1.5} />}
      <text class="node-name" x={x} y={y - 2}>{name}</text>
      <text class="node-count" x={x} y={y + 13}>{[count, time, node.errors > 0 ? `${node.calls === 1 ? "" : `${formatCount(node.errors)} `}failed` : ""].filter((part) => part !== "").join(" · ")}</text>
    </g>
  );
}

function shapeOf(type: GraphNode["kind"], x: number, y: number, w: number, h: number): string {
  switch (type) {
    case "agent": return `M${x + 12} ${y}H${x + w - 12}L${x + w} ${y + h / 2}L${x + w - 12} ${y + h}H${x + 12}L${x} ${y + h / 2}Z`;
    case "llm": return `M${x + h / 2} ${y}H${x + w - h / 2}A${h / 2} ${h / 2} 0 0 1 ${x + w - h / 2} ${y + h}H${x + h / 2}A${h / 2} ${h / 2} 0 0 1 ${x + h / 2} ${y}Z`;
    case "retriever": return `M${x} ${y}H${x + w}L${x + w - 14} ${y + h}H${x + 14}Z`;
    case "chain":
    case "run": return `M${x} ${y}H${x + w}V${y + h}H${x}Z`;
    case "tool": return `M${x + 8} ${y}H${x + w - 8}A8 8 0 0 1 ${x + w} ${y + 8}V${y + h - 8}A8 8 0 0 1 ${x + w - 8} ${y + h}H${x + 8}A8 8 0 0 1 ${x} ${y + h - 8}V${y + 8}A8 8 0 0 1 ${x + 8} ${y}Z`;
    default: return type satisfies never;
  }
}
