/** The difference of two texts, as parts in order. */

export interface DiffPart {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Texts that share less than this part are two texts. */
const ALIKE = 0.3;
/** Longer lists are not aligned: the cost grows with the product of both lengths. */
const MAX_CELLS = 4_000_000;

/** By words, for sentences. */
export function diffWords(a: string, b: string): readonly DiffPart[] {
  const parts = merge(diffItems(a.split(/(\s+)/), b.split(/(\s+)/)));
  const same = parts.reduce((sum, part) => sum + (part.kind === "same" ? part.text.trim().length : 0), 0);
  // Texts that share a few words by chance are read one after the other.
  return same >= ALIKE * Math.max(a.length, b.length) ? parts : merge([{ kind: "removed", text: a }, { kind: "same", text: a === "" || b === "" ? "" : "\n" }, { kind: "added", text: b }]);
}

/** By lines, for data. */
export function diffLines(a: string, b: string): readonly DiffPart[] {
  return merge(diffItems(a.split(/(?<=\n)/), b.split(/(?<=\n)/)));
}

function diffItems(a: readonly string[], b: readonly string[]): DiffPart[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const same = (items: readonly string[]): DiffPart[] => items.map((text) => ({ kind: "same", text }));
  return [...same(a.slice(0, start)), ...diffMiddle(a.slice(start, endA), b.slice(start, endB)), ...same(a.slice(endA))];
}

function diffMiddle(a: readonly string[], b: readonly string[]): DiffPart[] {
  const removed = (text: string): DiffPart => ({ kind: "removed", text });
  const added = (text: string): DiffPart => ({ kind: "added", text });
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_CELLS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? (common[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
    }
  }
  const parts: DiffPart[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      parts.push({ kind: "same", text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))) {
      parts.push(removed(left));
      i += 1;
    } else if (right !== undefined) {
      parts.push(added(right));
      j += 1;
    }
  }
  return parts;
}

function merge(parts: readonly DiffPart[]): readonly DiffPart[] {
  const merged: DiffPart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (part.text === "") continue;
    if (last !== undefined && last.kind === part.kind) merged[merged.length - 1] = { kind: part.kind, text: last.text + part.text };
    else merged.push(part);
  }
  return merged;
}
