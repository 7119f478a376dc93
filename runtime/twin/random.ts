/** Numbers that a seed decides, for the rows and the faults of a twin. */
import { sha256Hex } from "../abi/fingerprint.js";

/** The next number of a sequence, 0 ≤ n < 1. */
export type Random = () => number;

/** A sequence that its seed decides (mulberry32). */
export function createRandom(seed: string): Random {
  let state = parseInt(sha256Hex(seed).slice(0, 8), 16);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
