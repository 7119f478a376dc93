/** How long to wait before connecting again. */

const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** Doubles with each failure, up to 15 s; `random` (0 to 1) takes up to a quarter off, so that clients don't come back together. */
export function backoffMs(failures: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, Math.min(failures, 10) - 1));
  return Math.round(full * (1 - random / 4));
}
