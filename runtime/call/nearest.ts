/** "Did you mean": the known name that a misspelt one is most likely to be. */

/**
 * The nearest of `names` within one edit per four characters (an edit inserts, drops or replaces one character,
 * or swaps two neighbours); the first of equals, `null` when none is that near.
 */
export function nearestName(wrong: string, names: readonly string[]): string | null {
  if (wrong.length > 128) return null;
  const allowed = Math.max(1, Math.floor(wrong.length / 4));
  let best: string | null = null;
  let bestDistance = allowed + 1;
  for (const name of names) {
    if (Math.abs(name.length - wrong.length) >= bestDistance) continue;
    const distance = editDistance(wrong, name);
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** Optimal string alignment distance. */
export function editDistance(a: string, b: string): number {
  let twoAgo: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, at(twoAgo, j - 2) + 1);
      row.push(cost);
    }
    [twoAgo, previous] = [previous, row];
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
