/**
 * The one way in which credentials are compared: by digest, in constant time. A credential itself is never compared, and
 * never a key of a map: a map finds digests, which nobody can choose (of keys they are salted, of tokens they are only
 * kept when the token was verified), so that the time of the search says nothing about a credential.
 */
import { createHash, hash, timingSafeEqual } from "node:crypto";

/** SHA-256 of a text in UTF-8. */
export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

/** SHA-256 of a text as text, one character a byte: the name under which something is kept about a credential. Faster than `digestOf`. */
export function digestText(text: string): string {
  return hash("sha256", text, "binary");
}

/** Takes the same time wherever two digests differ. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
