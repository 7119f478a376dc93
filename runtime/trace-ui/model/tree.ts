/** Spans as rows of an outline: parents before their children, children by start. Never recursive: runs nest deeply. */
import type { Span } from "./spans.js";

export interface Row {
  readonly span: Span;
  readonly depth: number;
  readonly children: number;
  readonly collapsed: boolean;
  /** Position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  /** Something below it failed. */
  readonly failedBelow: boolean;
}

export interface Tree {
  /** Every span in the order of the outline. */
  readonly nodes: readonly Node[];
  readonly byId: ReadonlyMap<string, Node>;
  /** Failed spans below which nothing failed: where errors begin, in the order of the outline. */
  readonly causes: readonly Node[];
  readonly startMs: number;
  /** Latest end of anything that ended. */
  readonly endMs: number;
}

export interface Node {
  readonly span: Span;
  readonly parent: Node | null;
  readonly children: Node[];
  depth: number;
  /** Position among its siblings, from 1, and their number. */
  position: number;
  siblings: number;
  /** Index in `nodes`. */
  index: number;
  /** Index in `nodes` after the last span below it. */
  after: number;
  failedBelow: boolean;
}

interface Draft extends Node {
  parent: Draft | null;
}

/** Nests the spans. A span whose parent is unknown, or part of a circle, stands at the top and says so. */
export function buildTree(spans: readonly Span[], primary: (runId: string) => Span | null): Tree {
  const drafts = new Map<Span, Draft>();
  for (const span of spans) drafts.set(span, { span, parent: null, children: [], depth: 0, position: 1, siblings: 1, index: 0, after: 0, failedBelow: false });
  const roots: Draft[] = [];
  for (const draft of drafts.values()) {
    const { span } = draft;
    const parent = span.parentRunId === null ? ownPrimary(span, primary) : primary(span.parentRunId);
    const found = parent === null || parent === span ? undefined : drafts.get(parent);
    span.orphan = found === undefined && span.parentRunId !== null;
    draft.parent = found ?? null;
  }
  breakCircles([...drafts.values()]);
  for (const draft of drafts.values()) (draft.parent === null ? roots : draft.parent.children).push(draft);
  for (const draft of drafts.values()) if (!isSorted(draft.children)) draft.children.sort(byStart);
  roots.sort(byStart);
  return finishTree(outline(roots));
}

/** A second call under one run id belongs to the first. */
function ownPrimary(span: Span, primary: (runId: string) => Span | null): Span | null {
  const own = primary(span.runId);
  return own === span ? null : own;
}

function breakCircles(drafts: readonly Draft[]): void {
  const state = new Map<Draft, number>();
  drafts.forEach((draft, walk) => {
    let at: Draft | null = draft;
    while (at !== null && !state.has(at)) {
      state.set(at, walk);
      at = at.parent;
    }
    if (at !== null && state.get(at) === walk && at.parent !== null) {
      // The circle is cut above the span that came first.
      let first: Draft = at;
      for (let next: Draft | null = at.parent; next !== at && next !== null; next = next.parent) if (next.span.seq < first.span.seq) first = next;
      first.parent = null;
      first.span.orphan = true;
    }
  });
}

function byStart(a: Node, b: Node): number {
  return a.span.startMs - b.span.startMs || a.span.seq - b.span.seq;
}

function isSorted(nodes: readonly Node[]): boolean {
  for (let index = 1; index < nodes.length; index++) {
    const [a, b] = [nodes[index - 1], nodes[index]];
    if (a !== undefined && b !== undefined && byStart(a, b) > 0) return false;
  }
  return true;
}

function outline(roots: readonly Node[]): Node[] {
  const nodes: Node[] = [];
  place(roots);
  const waiting = [...roots].reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    node.depth = node.parent === null ? 0 : node.parent.depth + 1;
    node.index = nodes.length;
    nodes.push(node);
    place(node.children);
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index];
      if (child !== undefined) waiting.push(child);
    }
  }
  return nodes;
}

function place(siblings: readonly Node[]): void {
  siblings.forEach((node, index) => {
    node.position = index + 1;
    node.siblings = siblings.length;
  });
}

function finishTree(nodes: Node[]): Tree {
  const byId = new Map<string, Node>();
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = 0;
  for (let index = nodes.length - 1; index >= 0; index--) {
    const node = nodes[index];
    if (node === undefined) continue;
    node.after = Math.max(node.after, index + 1);
    byId.set(node.span.id, node);
    if (node.parent !== null) {
      node.parent.after = Math.max(node.parent.after, node.after);
      if (node.failedBelow || node.span.state === "error") node.parent.failedBelow = true;
    }
    startMs = Math.min(startMs, node.span.startMs);
    endMs = Math.max(endMs, node.span.endMs ?? node.span.startMs);
  }
  const causes = nodes.filter((node) => node.span.state === "error" && !node.failedBelow);
  return { nodes, byId, causes, startMs: Number.isFinite(startMs) ? startMs : 0, endMs };
}

/** The rows to show: all but what lies below a collapsed span; with `needle`, what matches and what leads there. */
export function visibleRows(tree: Tree, collapsed: ReadonlySet<string>, needle: string): readonly Row[] {
  const wanted = needle.trim() === "" ? null : matching(tree, needle.trim().toLowerCase());
  const rows: Row[] = [];
  for (let index = 0; index < tree.nodes.length; ) {
    const node = tree.nodes[index];
    if (node === undefined) break;
    if (wanted !== null && !wanted.has(node)) {
      index = wanted.size === 0 ? node.after : index + 1;
      continue;
    }
    const closed = wanted === null && node.children.length > 0 && collapsed.has(node.span.id);
    rows.push({
      span: node.span, depth: node.depth, children: node.children.length, collapsed: closed, failedBelow: node.failedBelow,
      position: node.position, siblings: node.siblings,
    });
    index = closed ? node.after : index + 1;
  }
  return rows;
}

/** Spans that contain the text, and everything above them. */
function matching(tree: Tree, needle: string): ReadonlySet<Node> {
  const found = new Set<Node>();
  for (const node of tree.nodes) {
    if (!spanContains(node.span, needle)) continue;
    for (let at: Node | null = node; at !== null && !found.has(at); at = at.parent) found.add(at);
  }
  return found;
}

/** Whether names, summaries, error or ids of a span contain a lower-case text. */
export function spanContains(span: Span, needle: string): boolean {
  const texts = [span.name, span.kind, span.server, span.model, span.error, span.start?.summary, span.end?.summary, span.runId, span.start?.event_id, span.end?.event_id];
  return texts.some((text) => text !== null && text !== undefined && text.toLowerCase().includes(needle));
}

/** Ids of all spans that have children, for collapsing everything but the top. */
export function collapsible(tree: Tree): ReadonlySet<string> {
  return new Set(tree.nodes.filter((node) => node.children.length > 0 && node.depth > 0).map((node) => node.span.id));
}

/** What leads to a span, nearest first. */
export function ancestors(tree: Tree, id: string): readonly string[] {
  const found: string[] = [];
  for (let at = tree.byId.get(id)?.parent ?? null; at !== null; at = at.parent) found.push(at.span.id);
  return found;
}

/** The cause after (or before) a span in the order of the outline, around the end; `null` when nothing failed. */
export function nextCause(tree: Tree, from: string | null, step: 1 | -1): Node | null {
  if (tree.causes.length === 0) return null;
  const at = from === null ? -1 : (tree.byId.get(from)?.index ?? -1);
  const ordered = step === 1 ? tree.causes : [...tree.causes].reverse();
  return ordered.find((cause) => (step === 1 ? cause.index > at : at >= 0 && cause.index < at)) ?? ordered[0] ?? null;
}
