/** The calls of one run as a graph: a node for each call, or for many alike that one call made; edges from parent to child. */
import { type Graph, type GraphEdge, type GraphNode, sizeOf } from "./graph.js";
import { GROUP_FROM, type Node, quantile, type Tree } from "./tree.js";

export interface CallGraph extends Graph {
  /** The calls behind each node, by its id; in the order of their starts. */
  readonly calls: ReadonlyMap<string, readonly Node[]>;
}

/** Nodes that are drawn; deeper ones are left out beyond. */
export const MAX_CALL_NODES = 400;
/** Calls of one name below one call that are one node when a run has too many calls. */
const TIGHT_FROM = 2;

/** Goes through the levels from the top. Calls below a group are grouped by name, whichever member made them. */
export function callGraphOf(tree: Tree): CallGraph {
  const roots = tree.nodes.filter((node) => node.parent === null);
  const loose = grown(roots, GROUP_FROM);
  return loose.left === 0 ? loose : grown(roots, TIGHT_FROM);
}

/** What one call took, and whether it failed, is said at its node. */
const ON_NODE = { errors: 0, p50: null, p95: null } as const;

interface Level {
  readonly parent: string | null;
  readonly merged: boolean;
  readonly nodes: readonly Node[];
}

function grown(roots: readonly Node[], groupFrom: number): CallGraph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const calls = new Map<string, readonly Node[]>();
  let left = 0;
  let levels: Level[] = [{ parent: null, merged: false, nodes: roots }];
  while (levels.length > 0) {
    const next: Level[] = [];
    for (const level of levels) {
      for (const members of groupsOf(level, groupFrom)) {
        if (nodes.length === MAX_CALL_NODES) {
          left += 1;
          continue;
        }
        const node = nodeOf(members, level.parent);
        nodes.push(node);
        calls.set(node.id, members);
        if (level.parent !== null) edges.push({ source: level.parent, target: node.id, count: members.length, ...(members.length === 1 ? ON_NODE : { errors: node.errors, p50: node.p50, p95: node.p95 }) });
        const children = members.flatMap((member) => member.children);
        if (children.length > 0) next.push({ parent: node.id, merged: members.length > 1, nodes: children });
      }
    }
    levels = next;
  }
  return { nodes, edges, groups: [], calls, left };
}

/** The calls of a level: alone, or those of one name together. */
function groupsOf({ nodes, merged }: Level, groupFrom: number): readonly (readonly Node[])[] {
  const byName = new Map<string, Node[]>();
  for (const node of nodes) {
    if (node.span.kind === "mark") continue;
    const key = keyOf(node);
    const known = byName.get(key);
    if (known === undefined) byName.set(key, [node]);
    else known.push(node);
  }
  const groups = [...byName.values()].flatMap((alike) => (merged || alike.length >= groupFrom ? [alike] : alike.map((node) => [node])));
  return groups.sort((a, b) => (a[0]?.span.startMs ?? 0) - (b[0]?.span.startMs ?? 0));
}

function keyOf({ span }: Node): string {
  return JSON.stringify([span.kind, span.name, span.server]);
}

function nodeOf(members: readonly Node[], parent: string | null): GraphNode {
  const [first] = members;
  if (first === undefined) throw new Error("a node of the graph has a call");
  const durations = members.flatMap(({ span }) => span.durationMs ?? []).sort((a, b) => a - b);
  const errors = members.filter(({ span }) => span.state === "error").length;
  const { span } = first;
  return {
    id: members.length === 1 ? span.id : `group ${parent ?? ""} ${keyOf(first)}`, name: span.name, kind: span.kind === "mark" ? "run" : span.kind, server: span.server, calls: members.length, errors,
    p50: quantile(durations, 0.5), p95: quantile(durations, 0.95), ...sizeOf(span.name, errors), group: null,
  };
}
