/** Which runs are behind a node or an edge of the graph. */
import { nodeName, type Tally } from "../record/tally.js";

/** What is looked for: calls of these nodes, made by those where callers are given. Keys of a tally. */
export interface Wanted {
  readonly nodes: ReadonlySet<string>;
  readonly callers: ReadonlySet<string> | null;
}

/** Keys behind the public ids of the graph. An MCP server stands for its tools; an id that nothing has stands for none. */
export function wantedOf(ids: ReadonlyMap<string, string>, node: string, caller: string | undefined): Wanted {
  const keys = (id: string): ReadonlySet<string> => new Set([...ids].filter(([key, own]) => own === id || isServerOf(key, id)).map(([key]) => key));
  // A server passes calls on and makes none: its edges are those of its tools.
  return { nodes: keys(node), callers: caller === undefined || caller.startsWith("mcp:") ? null : keys(caller) };
}

function isServerOf(key: string, id: string): boolean {
  if (!id.startsWith("mcp:")) return false;
  const { family, source } = nodeName(key);
  return family === "tool" && source === id.slice("mcp:".length);
}

/** Whether a run has such calls. */
export function hasCalls(run: Tally, { nodes, callers }: Wanted): boolean {
  if (callers === null) return [...nodes].some((key) => (run.nodes.get(key)?.events ?? 0) > 0);
  return [...callers].some((caller) => [...nodes].some((node) => run.edges.has(`${caller}\r${node}`)));
}

/** Runs that are looked at for what a graph of all runs does not store, newest first: so many, and so many steps of them. */
export const LOOKED_AT = { runs: 1000, edgeSteps: 20_000, nodeSteps: 100_000 } as const;

/** The first of the runs that together have no more steps than that; one at least. */
export function withinSteps<Run extends { readonly steps: number }>(runs: readonly Run[], most: number): readonly Run[] {
  let steps = 0;
  return runs.filter((run, index) => (steps += run.steps) <= most || index === 0);
}
