/** Spans as rows of an outline: parents before their children, children by start. Never recursive: runs nest deeply. */
import type { Span } from "./spans.js";

export interface Row {
  /** Id of the span, or of the group. */
  readonly id: string;
  /** The span; of a group, its first one. */
  readonly span: Span;
  readonly node: Node;
  /** Repeated siblings as one row; `null` for a span. */
  readonly group: Group | null;
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
  /** Sums over the span and everything below it. */
  tokensIn: number;
  tokensOut: number;
  costUsd: number;
  /** The run could not have ended sooner without this span. */
  critical: boolean;
  /** Siblings of the same kind and name, when they are many. */
  group: Group | null;
  /** Groups above it: each is a level of the outline. */
  shift: number;
}

/** Many siblings of one kind and name. */
export interface Group {
  readonly id: string;
  readonly nodes: readonly Node[];
  startMs: number;
  /** Latest end, or `null` while one of them is open. */
  endMs: number | null;
  p50: number | null;
  p95: number | null;
  errors: number;
}

/** Siblings of one kind and name from which they are shown as a group. */
export const GROUP_FROM = 10;

interface Draft extends Node {
  parent: Draft | null;
}

/** Nests the spans. A span whose parent is unknown, or part of a circle, becomes a root and is marked. */
export function buildTree(spans: readonly Span[], primary: (runId: string) => Span | null): Tree {
  const drafts = new Map<Span, Draft>();
  for (const span of spans) drafts.set(span, { span, parent: null, children: [], depth: 0, position: 1, siblings: 1, index: 0, after: 0, failedBelow: false, tokensIn: 0, tokensOut: 0, costUsd: 0, critical: false, group: null, shift: 0 });
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
  for (const draft of drafts.values()) if (draft.children.length >= GROUP_FROM) groupChildren(draft);
  const tree = finishTree(outline(roots));
  markCriticalPath(roots);
  measureGroups(tree);
  return tree;
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
    node.shift = node.parent === null ? 0 : node.parent.shift + (node.parent.group === null ? 0 : 1);
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
    node.tokensIn += node.span.tokensIn ?? 0;
    node.tokensOut += node.span.tokensOut ?? 0;
    node.costUsd += node.span.costUsd ?? 0;
    if (node.parent !== null) {
      node.parent.after = Math.max(node.parent.after, node.after);
      node.parent.tokensIn += node.tokensIn;
      node.parent.tokensOut += node.tokensOut;
      node.parent.costUsd += node.costUsd;
      if (node.failedBelow || node.span.state === "error") node.parent.failedBelow = true;
    }
    startMs = Math.min(startMs, node.span.startMs);
    endMs = Math.max(endMs, node.span.endMs ?? node.span.startMs);
  }
  const causes = nodes.filter((node) => node.span.state === "error" && !node.failedBelow);
  return { nodes, byId, causes, startMs: Number.isFinite(startMs) ? startMs : 0, endMs };
}

/**
 * Marks what the end of the run waited for: from the end of a span backwards, the child that ended last, then the child
 * that ended last before that one began, and so on downwards.
 */
function markCriticalPath(roots: readonly Node[]): void {
  const waiting: Node[] = roots.length === 0 ? [] : [roots.reduce((last, root) => (endOf(root) > endOf(last) ? root : last))];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    node.critical = true;
    let before = endOf(node);
    const byEnd = [...node.children].sort((a, b) => endOf(b) - endOf(a));
    for (const child of byEnd) {
      if (child.span.kind === "mark" || endOf(child) > before + 1) continue;
      waiting.push(child);
      before = child.span.startMs;
    }
  }
}

function endOf(node: Node): number {
  return node.span.endMs ?? Number.POSITIVE_INFINITY;
}

/** Finds siblings of one kind and name that are many, and puts them behind the first of them. */
function groupChildren(parent: Node): void {
  const byName = new Map<string, Node[]>();
  for (const child of parent.children) {
    const key = `${child.span.kind}\u0000${child.span.name}`;
    const known = byName.get(key);
    if (known === undefined) byName.set(key, [child]);
    else known.push(child);
  }
  if ([...byName.values()].every((nodes) => nodes.length < GROUP_FROM)) return;
  const ordered: Node[] = [];
  const placed = new Set<Group>();
  for (const [key, nodes] of byName) {
    if (nodes.length < GROUP_FROM) continue;
    const group: Group = { id: `group\u0000${parent.span.id}\u0000${key}`, nodes, startMs: 0, endMs: null, p50: null, p95: null, errors: 0 };
    for (const node of nodes) node.group = group;
  }
  for (const child of parent.children) {
    if (child.group === null) ordered.push(child);
    else if (!placed.has(child.group)) {
      placed.add(child.group);
      for (const node of child.group.nodes) ordered.push(node);
    }
  }
  parent.children.splice(0, parent.children.length);
  for (const child of ordered) parent.children.push(child);
}

function measureGroups(tree: Tree): void {
  const groups = new Set<Group>();
  for (const node of tree.nodes) if (node.group !== null) groups.add(node.group);
  for (const group of groups) {
    const durations = group.nodes.flatMap((node) => node.span.durationMs ?? []).sort((a, b) => a - b);
    const latest = group.nodes.reduce((last, node) => Math.max(last, endOf(node)), 0);
    group.startMs = group.nodes.reduce((least, node) => Math.min(least, node.span.startMs), Number.POSITIVE_INFINITY);
    group.endMs = Number.isFinite(latest) ? latest : null;
    group.p50 = quantile(durations, 0.5);
    group.p95 = quantile(durations, 0.95);
    group.errors = group.nodes.filter((node) => node.span.state === "error" || node.failedBelow).length;
  }
}

/** The value below which a part of the sorted ones lies (nearest rank); `null` without values. */
export function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null;
}

/** Whether the id of a row is that of a group. */
export function isGroup(id: string): boolean {
  return id.startsWith("group\u0000");
}

export interface Folding {
  /** Ids of spans whose children are hidden. */
  readonly collapsed: ReadonlySet<string>;
  /** Ids of groups whose spans are shown. */
  readonly opened: ReadonlySet<string>;
}

/**
 * The rows to show: all but what lies below a collapsed span or in a closed group; with `needle`, what matches and what
 * leads there. A group is one row, before the first of its spans; what failed in a closed group is shown below it.
 */
export function visibleRows(tree: Tree, { collapsed, opened }: Folding, needle: string): readonly Row[] {
  const wanted = needle.trim() === "" ? null : matching(tree, needle.trim().toLowerCase());
  const rows: Row[] = [];
  const shown = new Set<Group>();
  for (let index = 0; index < tree.nodes.length; ) {
    const node = tree.nodes[index];
    if (node === undefined) break;
    if (wanted !== null && !wanted.has(node)) {
      index = wanted.size === 0 ? node.after : index + 1;
      continue;
    }
    const { group } = node;
    if (group !== null && wanted === null) {
      if (!shown.has(group)) {
        shown.add(group);
        rows.push({ ...rowOf(node, 0), id: group.id, group, children: group.nodes.length, collapsed: !opened.has(group.id), failedBelow: group.errors > 0 });
      }
      const failed = node.span.state === "error" || node.failedBelow;
      if (!opened.has(group.id) && !(failed && group.errors <= MAX_FAILED_SHOWN)) {
        index = node.after;
        continue;
      }
    }
    const closed = wanted === null && node.children.length > 0 && collapsed.has(node.span.id);
    rows.push({ ...rowOf(node, group === null || wanted !== null ? 0 : 1), collapsed: closed });
    index = closed ? node.after : index + 1;
  }
  return rows;
}

/** Failed spans of a closed group that are shown all the same. */
const MAX_FAILED_SHOWN = 5;

function rowOf(node: Node, inGroup: 0 | 1): Row {
  return {
    id: node.span.id, span: node.span, node, group: null, depth: node.depth + node.shift + inGroup, children: node.children.length, collapsed: false, failedBelow: node.failedBelow,
    position: node.position, siblings: node.siblings,
  };
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

/** What leads to a span, nearest first: spans, and the groups that hold them. */
export function ancestors(tree: Tree, id: string): readonly string[] {
  const node = tree.byId.get(id);
  const found: string[] = node?.group == null ? [] : [node.group.id];
  for (let at = node?.parent ?? null; at !== null; at = at.parent) found.push(at.span.id, ...(at.group === null ? [] : [at.group.id]));
  return found;
}

/** The cause after (or before) a span in the order of the outline, around the end; `null` when nothing failed. */
export function nextCause(tree: Tree, from: string | null, step: 1 | -1): Node | null {
  if (tree.causes.length === 0) return null;
  const at = from === null ? -1 : (tree.byId.get(from)?.index ?? -1);
  const ordered = step === 1 ? tree.causes : [...tree.causes].reverse();
  return ordered.find((cause) => (step === 1 ? cause.index > at : at >= 0 && cause.index < at)) ?? ordered[0] ?? null;
}
