/** Which runs are kept: decided by the id of the root alone, so that every event of a run and every process agree. */

/** A number in [0, 1), the same for the same id everywhere. */
export function sampleFraction(rootId: string): number {
  let hash = 0x9747b28c;
  for (let index = 0; index < rootId.length; index++) {
    hash = Math.imul(hash ^ rootId.charCodeAt(index), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

export function isSampled(rootId: string, rate: number): boolean {
  return rate >= 1 || (rate > 0 && sampleFraction(rootId) < rate);
}
