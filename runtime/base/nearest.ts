/** "Did you mean": the known name that a misspelt one is most likely to be. */

/** Longer words are not compared: it would take time, and they are rarely typing errors. */
const LONGEST = 64;

/**
 * The name that `word` was probably meant to be, or `null`: within two edits, or one in a word of up to five letters.
 * An edit inserts, drops or replaces one character, or swaps two neighbours; case does not count. The first of equals.
 */
export function nearestName(word: string, known: Iterable<string>): string | null {
  if (word.length > LONGEST) return null;
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.min(2, Math.floor(word.length / 3))) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance - 1);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/**
 * Optimal string alignment distance: an edit inserts, drops or replaces one character, or swaps two neighbours. Any
 * number above `limit` means more than `limit`: most pairs are told apart by their letters alone.
 */
export function editDistance(a: string, b: string, limit: number): number {
  // An edit adds one letter to a word at most, and takes one away.
  if (bitCount(lettersOf(a) ^ lettersOf(b)) > 2 * limit) return limit + 1;
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

/** Which letters a word has, as bits. */
function lettersOf(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
  return bits;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
