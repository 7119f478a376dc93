/**
 * Lays a graph out in layers, in a thread of its own: a large one takes a while. The tools of a server are one
 * box for the layout, and stacked inside it: so they stay together whatever calls them.
 */
import dagre from "@dagrejs/dagre";
import type { Layout, LayoutRequest } from "../model/graph.js";

const worker = self as unknown as { onmessage: ((event: { readonly data: LayoutRequest }) => void) | null; postMessage(message: Layout): void };

/** A bend of an edge. An edge between neighbouring layers has none, but dagre fails without: a mark is in its place. */
interface Bend {
  x: number;
  y: number;
  readonly none?: true;
}

type Order = NonNullable<NonNullable<Parameters<typeof dagre.layout>[1]>["customOrder"]>;

/** dagre's own order, at the only moment at which bends can be marked. */
const orderWithBends: Order = (graph, order) => {
  for (const edge of graph.edges()) (graph.edge(edge) as { points?: Bend[] }).points ??= [{ x: FAR, y: FAR, none: true }];
  order(graph);
};

/** No node is there: dagre looks for the side of a node that a bend is on. */
const FAR = -1e6;

type Node = LayoutRequest["nodes"][number];
type Point = { readonly x: number; readonly y: number };

const LARGE = 150;
/** Between layers whose edges carry texts. */
const LABEL_ROOM = 150;
const GAP = 12;
const HEAD = 26;
const PAD = 14;
/** Tools of one column of a server. */
const COLUMN = 12;

worker.onmessage = ({ data }) => worker.postMessage(layoutOf(data));

function layoutOf(request: LayoutRequest): Layout {
  const graph = new dagre.graphlib.Graph();
  // The better ranking of small graphs takes twice as long, and nobody sees it in large ones.
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 2 * (request.labelled ? LABEL_ROOM : 70), marginx: 20, marginy: 20, ranker: request.nodes.length > LARGE ? "tight-tree" : "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  const groups = new Map<string, Node[]>();
  const boxOf = new Map<string, string>();
  for (const node of request.nodes) {
    const box = node.group === null ? `node ${node.id}` : `group ${node.group}`;
    boxOf.set(node.id, box);
    if (node.group === null) graph.setNode(box, { width: node.width, height: node.height });
    else groups.set(node.group, [...(groups.get(node.group) ?? []), node]);
  }
  const inside = new Map<string, Point>();
  for (const [name, nodes] of groups) graph.setNode(`group ${name}`, stack(nodes, inside));
  for (const { source, target } of request.edges) {
    const [from, to] = [boxOf.get(source), boxOf.get(target)];
    // dagre doubles lengths and halves distances to have a layer for the texts of edges. Ours need none: half as many layers
    // are laid out in less than half of the time.
    if (from !== undefined && to !== undefined && from !== to) graph.setEdge(from, to, { minlen: 0.5 });
  }
  dagre.layout(graph, { customOrder: orderWithBends });
  const place = (id: string): Point => {
    const box = graph.node(boxOf.get(id) ?? "");
    const offset = inside.get(id);
    return offset === undefined ? { x: box.x ?? 0, y: box.y ?? 0 } : { x: (box.x ?? 0) - (box.width ?? 0) / 2 + offset.x, y: (box.y ?? 0) - (box.height ?? 0) / 2 + offset.y };
  };
  const widths = new Map(request.nodes.map((node) => [node.id, node.width]));
  const size = graph.graph();
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: request.nodes.map(({ id }) => ({ id, ...place(id) })),
    groups: [...groups.keys()].map((name) => {
      const { x, y, width, height } = graph.node(`group ${name}`);
      return { name, x: x ?? 0, y: y ?? 0, width: width ?? 0, height: height ?? 0 };
    }),
    edges: request.edges.map(({ source, target }) => {
      if (source === target) return { source, target, points: [] };
      const all = boxOf.get(source) === boxOf.get(target) ? [] : ((graph.edge(boxOf.get(source) ?? "", boxOf.get(target) ?? "") as { readonly points?: readonly Bend[] } | undefined)?.points ?? []);
      const [from, to] = [place(source), place(target)];
      // Ends are at the nodes themselves, also inside a server.
      const side = to.x >= from.x ? 1 : -1;
      return { source, target, points: [{ x: from.x + (side * (widths.get(source) ?? 0)) / 2, y: from.y }, ...all.slice(1, -1).filter(({ none }) => none !== true), { x: to.x - (side * (widths.get(target) ?? 0)) / 2, y: to.y }] };
    }),
  };
}

/** Places of tools in the box of their server, and its size. */
function stack(nodes: readonly Node[], inside: Map<string, Point>): { width: number; height: number } {
  let x = PAD;
  let tallest = 0;
  for (let from = 0; from < nodes.length; from += COLUMN) {
    const column = nodes.slice(from, from + COLUMN);
    const width = column.reduce((most, node) => Math.max(most, node.width), 0);
    let y = HEAD;
    for (const node of column) {
      inside.set(node.id, { x: x + width / 2, y: y + node.height / 2 });
      y += node.height + GAP;
    }
    tallest = Math.max(tallest, y);
    x += width + GAP;
  }
  return { width: x - GAP + PAD, height: tallest - GAP + PAD };
}
