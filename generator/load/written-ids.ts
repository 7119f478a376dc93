/** The ids that a load may have written, in a fixed amount of memory: a Bloom filter. Pure. */

const BITS = 2 ** 24;
const PRIME = 0x01000193;
const [FIRST_SEED, SECOND_SEED] = [0x811c9dc5, 0x9e3779b9];

/**
 * Says of most ids that were not added that they were not, and never errs about one that was. After some ten million ids
 * it no longer says it of any, which costs a look into the file each, as if there were no such filter.
 */
export class WrittenIds {
  readonly #bits = new Uint32Array(BITS / 32);

  add(id: string): void {
    for (const bit of [hash(id, FIRST_SEED), hash(id, SECOND_SEED)]) this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] as number) | (1 << (bit & 31));
  }

  mayHave(id: string): boolean {
    return this.#has(hash(id, FIRST_SEED)) && this.#has(hash(id, SECOND_SEED));
  }

  #has(bit: number): boolean {
    return ((this.#bits[bit >>> 5] as number) & (1 << (bit & 31))) !== 0;
  }
}

/** FNV-1a, its upper bits folded into the lower ones. */
function hash(id: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), PRIME);
  hash ^= hash >>> 15;
  return (hash ^ (hash >>> 7)) & (BITS - 1);
}
