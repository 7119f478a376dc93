/**
 * Digests of credentials that were presented lately, without the credentials. SHA-256 leads through some fifty functions
 * of Node and OpenSSL, which no processor has in its cache when the next request comes: it costs a call ten times the
 * hash itself. So a text is found again by a fingerprint: four sums of its characters, each character multiplied with a
 * number of its place, random and secret (multilinear hashing). Another text has the sums of a given one with a
 * probability of 2^-24 for each sum, 2^-96 in all, whatever the text is, as long as the numbers are not known; they never
 * leave this file, and no sum does. The time depends on the length of a text alone.
 */
import { randomFillSync } from "node:crypto";

const SLOTS = 256;
/** Sums of a fingerprint. */
const SUMS = 4;
/** Longer texts are hashed each time; the numbers for this many take 64 KB. */
const MAX_CHARS = 4096;
/** The bound of a sum holds for characters of eight bits; no credential has others. */
const MAX_CHAR = 0xff;
/** A slot is chosen by the upper bits of a sum, because the lower ones depend on fewer bits of the text. */
const SLOT_SHIFT = 24;

export class DigestCache {
  private readonly factors = randomFillSync(new Int32Array(SUMS * (MAX_CHARS + 1)));
  private readonly fingerprints = new Int32Array(SUMS * SLOTS);
  private readonly digests: (string | null)[] = Array.from({ length: SLOTS }, () => null);

  /** @param digest of a text; called for texts that are not known. */
  constructor(private readonly digest: (text: string) => string) {}

  /** The digest of a text. A text that is new takes the slot of an older one. */
  of(text: string): string {
    const { length } = text;
    if (length > MAX_CHARS) return this.digest(text);
    const { factors } = this;
    // The length counts as a character: texts of different lengths differ in it.
    let a = Math.imul(factors[0] as number, length);
    let b = Math.imul(factors[1] as number, length);
    let c = Math.imul(factors[2] as number, length);
    let d = Math.imul(factors[3] as number, length);
    let widest = 0;
    for (let at = 0, factor = SUMS; at < length; at += 1, factor += SUMS) {
      const char = text.charCodeAt(at);
      widest |= char;
      a = (a + Math.imul(factors[factor] as number, char)) | 0;
      b = (b + Math.imul(factors[factor + 1] as number, char)) | 0;
      c = (c + Math.imul(factors[factor + 2] as number, char)) | 0;
      d = (d + Math.imul(factors[factor + 3] as number, char)) | 0;
    }
    return widest > MAX_CHAR ? this.digest(text) : this.find(text, a, b, c, d);
  }

  private find(text: string, a: number, b: number, c: number, d: number): string {
    const { fingerprints } = this;
    const slot = a >>> SLOT_SHIFT;
    const first = slot * SUMS;
    const known = this.digests[slot] ?? null;
    const differs = (fingerprints[first] as number) ^ a | (fingerprints[first + 1] as number) ^ b | (fingerprints[first + 2] as number) ^ c | (fingerprints[first + 3] as number) ^ d;
    if (known !== null && differs === 0) return known;
    const digest = this.digest(text);
    fingerprints.set([a, b, c, d], first);
    this.digests[slot] = digest;
    return digest;
  }
}
