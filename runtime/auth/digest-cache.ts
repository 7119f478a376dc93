/**
 * Digests of credentials that were presented lately, without the credentials. SHA-256 leads through some fifty functions
 * of Node and OpenSSL, which no processor has in its cache when the next request comes: it costs a call ten times the
 * hash itself. So a text is found again by a fingerprint: four sums of its characters, each character multiplied with a
 * random, secret factor of its place (multilinear hashing). Two texts agree in a sum with a probability of at most
 * 2^-24, in all four with 2^-96, as long as the factors are not known; they never leave this file,
 * and no sum does. The time depends on the length of a text alone.
 */
import { randomFillSync } from "node:crypto";

const SLOTS = 256;
/** Sums of a fingerprint. */
const SUMS = 4;
/** Longer texts are hashed each time. */
const MAX_CHARS = 4096;
/** The bound of a sum holds for characters of eight bits; no credential has others. */
const MAX_CHAR = 0xff;
/** A slot is chosen by the upper bits of a sum, because the lower ones depend on fewer bits of the text. */
const SLOT_SHIFT = 24;

export class DigestCache {
  private readonly factors = randomFillSync(new Int32Array(MAX_CHARS + SUMS));
  private readonly fingerprints = new Int32Array(SUMS * SLOTS);
  private readonly digests: (string | null)[] = Array.from({ length: SLOTS }, () => null);

  /** @param digest of a text; called for texts that are not known. */
  constructor(private readonly digest: (text: string) => string) {}

  /** The digest of a text. A text that is new takes the slot of an older one. */
  of(text: string): string {
    const { length } = text;
    if (length > MAX_CHARS) return this.digest(text);
    const { factors } = this;
    // Each sum begins one factor further, so one list does for all: at the last character in which two texts differ,
    // each sum has a factor that those before it do not have there or earlier.
    let first = factors[0] as number;
    let second = factors[1] as number;
    let third = factors[2] as number;
    let fourth = factors[3] as number;
    // The length counts as a character: texts of different lengths differ in it.
    let a = Math.imul(first, length);
    let b = Math.imul(second, length);
    let c = Math.imul(third, length);
    let d = Math.imul(fourth, length);
    let widest = 0;
    for (let at = 0; at < length; at += 1) {
      const char = text.charCodeAt(at);
      widest |= char;
      first = second;
      second = third;
      third = fourth;
      fourth = factors[at + SUMS] as number;
      a = (a + Math.imul(first, char)) | 0;
      b = (b + Math.imul(second, char)) | 0;
      c = (c + Math.imul(third, char)) | 0;
      d = (d + Math.imul(fourth, char)) | 0;
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
