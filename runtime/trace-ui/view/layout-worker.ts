/** Lays a graph out in layers, in a thread of its own: a large one takes most of a second. */
import dagre from "@dagrejs/dagre";
import type { Layout, LayoutRequest } from "../model/graph.js";

const GROUP = "group ";
const worker = self as unknown as { onmessage: ((event: { readonly data: LayoutRequest }) => void) | null; postMessage(message: Layout): void };

worker.onmessage = ({ data }) => {
  const graph = new dagre.graphlib.Graph({ compound: true, multigraph: false });
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 70, marginx: 20, marginy: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  const groups = new Set(data.nodes.flatMap((node) => node.group ?? []));
  for (const group of groups) graph.setNode(`${GROUP}${group}`, {});
  for (const node of data.nodes) {
    graph.setNode(node.id, { width: node.width, height: node.height });
    if (node.group !== null) graph.setParent(node.id, `${GROUP}${node.group}`);
  }
  for (const edge of data.edges) if (edge.source !== edge.target) graph.setEdge(edge.source, edge.target, { weight: Math.min(10, 1 + Math.log2(1 + edge.count)) });
  dagre.layout(graph);
  const size = graph.graph();
  worker.postMessage({
    id: data.id,
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: data.nodes.map(({ id }) => {
      const { x, y } = graph.node(id);
      return { id, x: x ?? 0, y: y ?? 0 };
    }),
    groups: [...groups].map((name) => {
      const { x, y, width, height } = graph.node(`${GROUP}${name}`);
      return { name, x: x ?? 0, y: y ?? 0, width: width ?? 0, height: height ?? 0 };
    }),
    edges: data.edges.map(({ source, target }) => ({ source, target, points: source === target ? [] : (graph.edge(source, target)?.points ?? []) })),
  });
};
