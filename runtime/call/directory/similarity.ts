/**
 * How alike two texts are: the ratio of Ratcliff and Obershelp as Python's difflib computes it, because catalogs have
 * thresholds that were chosen for it. Pure; works on code points.
 */

/** Texts from this length on ignore characters that are too common to say anything, as difflib does. */
const POPULAR_FROM = 200;

/** A text prepared to be compared with many others. */
export interface Needle {
  readonly points: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

export function prepareNeedle(text: string): Needle {
  const points = Array.from(text);
  return { points, counts: countOf(points) };
}

function countOf(points: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const point of points) counts.set(point, (counts.get(point) ?? 0) + 1);
  return counts;
}

/**
 * Twice the matched characters over all characters, 0 to 1; two empty texts are alike. `null` where a quick bound
 * shows that the ratio cannot reach `atLeast`.
 */
export function similarity(needle: Needle, text: string, atLeast = 0): number | null {
  const candidate = Array.from(text);
  const total = needle.points.length + candidate.length;
  if (total === 0) return 1;
  if ((2 * Math.min(needle.points.length, candidate.length)) / total < atLeast) return null;
  if ((2 * sharedCharacters(needle.counts, candidate)) / total < atLeast) return null;
  return (2 * matchedCharacters(needle.points, candidate)) / total;
}

function sharedCharacters(counts: ReadonlyMap<string, number>, candidate: readonly string[]): number {
  let shared = 0;
  for (const [point, count] of countOf(candidate)) shared += Math.min(count, counts.get(point) ?? 0);
  return shared;
}

/** Characters in the longest common block, and in those left and right of it, and so on. */
function matchedCharacters(a: readonly string[], b: readonly string[]): number {
  const places = placesOf(b);
  let matched = 0;
  const ranges: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    const [aFrom, aTo, bFrom, bTo] = range;
    const [i, j, size] = longestBlock(a, b, places, range);
    if (size === 0) continue;
    matched += size;
    if (aFrom < i && bFrom < j) ranges.push([aFrom, i, bFrom, j]);
    if (i + size < aTo && j + size < bTo) ranges.push([i + size, aTo, j + size, bTo]);
  }
  return matched;
}

/** Positions of each character of `b`; of long texts without those that make up more than one per cent. */
function placesOf(b: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [index, point] of b.entries()) {
    const list = places.get(point);
    if (list === undefined) places.set(point, [index]);
    else list.push(index);
  }
  if (b.length >= POPULAR_FROM) {
    const most = Math.floor(b.length / 100) + 1;
    for (const [point, list] of places) if (list.length > most) places.delete(point);
  }
  return places;
}

/** The first of the longest common blocks: earliest in `a`, then in `b`; extended over the characters that are too common. */
function longestBlock(a: readonly string[], b: readonly string[], places: ReadonlyMap<string, readonly number[]>, range: readonly [number, number, number, number]): readonly [number, number, number] {
  const [aFrom, aTo, bFrom, bTo] = range;
  let [bestA, bestB, size] = [aFrom, bFrom, 0];
  let lengths = new Map<number, number>();
  for (let i = aFrom; i < aTo; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i] ?? "") ?? []) {
      if (j < bFrom) continue;
      if (j >= bTo) break;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) [bestA, bestB, size] = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  while (bestA > aFrom && bestB > bFrom && a[bestA - 1] === b[bestB - 1]) [bestA, bestB, size] = [bestA - 1, bestB - 1, size + 1];
  while (bestA + size < aTo && bestB + size < bTo && a[bestA + size] === b[bestB + size]) size++;
  return [bestA, bestB, size];
}
