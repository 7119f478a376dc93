/**
 * Unified diffs of two texts, as `diff -u` prints them and `git apply` accepts them. Our own rather than a package:
 * one page, used by build --check, migrate and approve, and checked with `git apply` by a property test.
 */

/** Lines that are kept around a change. */
const CONTEXT = 3;
/** Beyond this many differing lines the shortest script is not worth finding: the middle is replaced as a whole. */
const MAX_EDITS = 800;
const NO_NEWLINE = "\\ No newline at end of file\n";

/** One text of a diff; `text` null when there is no file. */
export interface DiffSide {
  readonly path: string;
  readonly text: string | null;
}

interface Edit {
  readonly kind: " " | "-" | "+";
  readonly line: string;
}

/** The diff that turns `before` into `after`; "" when they are the same. */
export function unifiedDiff(before: DiffSide, after: DiffSide): string {
  if (before.text === after.text) return "";
  const edits = compareLines(splitLines(before.text ?? ""), splitLines(after.text ?? ""));
  const head = `--- ${before.text === null ? "/dev/null" : `a/${before.path}`}\n+++ ${after.text === null ? "/dev/null" : `b/${after.path}`}\n`;
  return head + hunks(edits).map(printHunk).join("");
}

/** Lines with their line ends; the last one may have none. */
function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function compareLines(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const shared = Math.min(before.length, after.length);
  let start = 0;
  while (start < shared && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shared - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return [
    ...before.slice(0, start).map((line): Edit => ({ kind: " ", line })),
    ...shortestScript(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((line): Edit => ({ kind: " ", line })),
  ];
}

/**
 * E. Myers, "An O(ND) difference algorithm" (1986), greedy form: `furthest[k]` is how far diagonal k reaches with d
 * edits; the history of it leads back from the end.
 */
function shortestScript(a: readonly string[], b: readonly string[]): readonly Edit[] {
  const max = Math.min(a.length + b.length, MAX_EDITS);
  const furthest = new Map<number, number>([[1, 0]]);
  const history: ReadonlyMap<number, number>[] = [];
  const reach = (k: number): number => furthest.get(k) ?? -1;
  for (let d = 0; d <= max; d += 1) {
    history.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && reach(k - 1) < reach(k + 1)) ? reach(k + 1) : reach(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return traceBack(a, b, history);
    }
  }
  return [...a.map((line): Edit => ({ kind: "-", line })), ...b.map((line): Edit => ({ kind: "+", line }))];
}

function traceBack(a: readonly string[], b: readonly string[], history: readonly ReadonlyMap<number, number>[]): readonly Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = history.length - 1; d >= 0; d -= 1) {
    const furthest = history[d] ?? new Map<number, number>();
    const reach = (k: number): number => furthest.get(k) ?? -1;
    const k = x - y;
    const fromK = k === -d || (k !== d && reach(k - 1) < reach(k + 1)) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : reach(fromK);
    const fromY = d === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY) {
      edits.push({ kind: " ", line: a[x - 1] as string });
      x -= 1;
      y -= 1;
    }
    if (d === 0) break;
    if (x > fromX) edits.push({ kind: "-", line: a[(x -= 1)] as string });
    else edits.push({ kind: "+", line: b[(y -= 1)] as string });
  }
  return edits.reverse();
}

interface Hunk {
  readonly edits: readonly Edit[];
  /** Lines of either side before this hunk. */
  readonly before: number;
  readonly after: number;
}

function hunks(edits: readonly Edit[]): readonly Hunk[] {
  const changes = edits.flatMap(({ kind }, index) => (kind === " " ? [] : [index]));
  const found: Hunk[] = [];
  let before = 0;
  let after = 0;
  let counted = 0;
  for (let first = 0; first < changes.length; ) {
    let last = first;
    while (last + 1 < changes.length && (changes[last + 1] as number) - (changes[last] as number) <= 2 * CONTEXT + 1) last += 1;
    const start = Math.max(0, (changes[first] as number) - CONTEXT);
    const end = Math.min(edits.length, (changes[last] as number) + CONTEXT + 1);
    for (; counted < start; counted += 1) {
      if (edits[counted]?.kind !== "+") before += 1;
      if (edits[counted]?.kind !== "-") after += 1;
    }
    found.push({ edits: edits.slice(start, end), before, after });
    first = last + 1;
  }
  return found;
}

function printHunk({ edits, before, after }: Hunk): string {
  const removed = edits.filter(({ kind }) => kind !== "+").length;
  const added = edits.filter(({ kind }) => kind !== "-").length;
  // An empty side starts at the line before it.
  const range = (start: number, count: number): string => `${count === 0 ? start : start + 1}${count === 1 ? "" : `,${count}`}`;
  const body = edits.map(({ kind, line }) => `${kind}${line}${line.endsWith("\n") ? "" : `\n${NO_NEWLINE}`}`).join("");
  return `@@ -${range(before, removed)} +${range(after, added)} @@\n${body}`;
}
