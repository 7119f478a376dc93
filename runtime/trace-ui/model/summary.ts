/** What a reader of a run wants to know first: where it failed, what took longest, what was tried again, what it waits for. */
import type { Node, Tree } from "./tree.js";

export interface Summary {
  /** From the root to the call that made the run fail; empty when it did not. */
  readonly failure: readonly Node[];
  /** The call that spent the most time in itself and not in calls below it. */
  readonly slowest: { readonly node: Node; readonly ownMs: number } | null;
  readonly retries: number;
  /** The innermost open call of a running run that is open for longest. */
  readonly waiting: Node | null;
}

export function summaryOf(tree: Tree, failed: boolean, running: boolean): Summary {
  let slowest: Summary["slowest"] = null;
  let retries = 0;
  let waiting: Node | null = null;
  for (const node of tree.nodes) {
    const { span } = node;
    if (span.kind === "mark") {
      if (span.name === "retry") retries += 1;
      continue;
    }
    if (span.endMs !== null) {
      const ownMs = ownTime(node);
      if (node.parent !== null && (slowest === null || ownMs > slowest.ownMs)) slowest = { node, ownMs };
    } else if (running && !node.children.some((child) => child.span.state === "open") && (waiting === null || span.startMs < waiting.span.startMs)) waiting = node;
  }
  return { failure: failed ? failurePath(tree) : [], slowest: tree.nodes.length > 2 ? slowest : null, retries, waiting };
}

/** Time in which no call below it ran. */
function ownTime(node: Node): number {
  const { startMs, endMs } = node.span;
  if (endMs === null) return 0;
  const parts = node.children.filter((child) => child.span.kind !== "mark").map((child) => [child.span.startMs, Math.min(child.span.endMs ?? endMs, endMs)] as const).sort((a, b) => a[0] - b[0]);
  let own = endMs - startMs;
  let covered = startMs;
  for (const [from, to] of parts) {
    if (to <= covered) continue;
    own -= to - Math.max(from, covered);
    covered = to;
  }
  return Math.max(0, own);
}

/**
 * The calls that passed the error on, from the root down. Of several failed calls below one, the fatal one is the one
 * whose error its caller repeats, else the one that failed last: those before it were survived.
 */
export function failurePath(tree: Tree): readonly Node[] {
  const path: Node[] = [];
  let at = lastFailed(tree.nodes.filter((node) => node.parent === null), null);
  while (at !== null) {
    path.push(at);
    at = lastFailed(at.children, at.span.error);
  }
  return path;
}

function lastFailed(nodes: readonly Node[], error: string | null): Node | null {
  const failed = nodes.filter((node) => node.span.state === "error" && node.span.kind !== "mark");
  const repeated = error === null ? [] : failed.filter((node) => node.span.error !== null && node.span.error !== "" && (error.includes(node.span.error) || node.span.error.includes(error)));
  const candidates = repeated.length > 0 ? repeated : failed;
  return candidates.reduce<Node | null>((last, node) => (last === null || (node.span.endMs ?? 0) >= (last.span.endMs ?? 0) ? node : last), null);
}

/** How busy each part of the time axis is, and where calls failed; for the strip above the rows. */
export interface Overview {
  /** Calls that run in each part, as a fraction of the busiest. */
  readonly density: readonly number[];
  readonly errors: readonly boolean[];
}

export function overviewOf(tree: Tree, startMs: number, endMs: number, parts: number): Overview {
  const changes = new Float64Array(parts + 1);
  const errors = Array.from({ length: parts }, () => false);
  const extent = Math.max(1, endMs - startMs);
  const part = (ms: number): number => Math.min(parts - 1, Math.max(0, Math.floor(((ms - startMs) / extent) * parts)));
  for (const { span, children } of tree.nodes) {
    if (span.state === "error") errors[part(span.endMs ?? span.startMs)] = true;
    // What only waits for the calls below it says nothing about how busy the run was.
    if (children.length > 0 || span.kind === "mark") continue;
    const from = part(span.startMs);
    const to = part(span.endMs ?? endMs);
    changes[from] = (changes[from] ?? 0) + 1;
    changes[to + 1] = (changes[to + 1] ?? 0) - 1;
  }
  let running = 0;
  const counts = Array.from({ length: parts }, (_, index) => (running += changes[index] ?? 0));
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  return { density: counts.map((count) => count / most), errors };
}
