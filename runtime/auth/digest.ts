/** The one way in which credentials are compared: by digest, in constant time. A credential itself is never compared, and never a key of a map. */
import { createHash, timingSafeEqual } from "node:crypto";

/** SHA-256 of a text in UTF-8. */
export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

/** Takes the same time wherever two digests differ. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
