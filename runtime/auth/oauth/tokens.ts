/** Random tokens, and what is stored of them. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { digestOf, sameDigest } from "../digest.js";

/** Each kind has a prefix, so that scanners for leaked secrets find it, and no kind is taken for another. */
export type TokenKind = "tsat_" | "tsrt_" | "tsac_" | "tscs_" | "tscl_" | "tslg_";

const BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export function newToken(kind: TokenKind): string {
  return kind + randomBytes(BYTES).toString("base64url");
}

/** Ids are no secrets and shorter. */
export function newId(kind: "tscl_" | "tslg_"): string {
  return kind + randomBytes(12).toString("base64url");
}

/** Whether a text can be a token of a kind, before anything is looked up. */
export function isToken(kind: TokenKind, text: string): boolean {
  return text.startsWith(kind) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(kind.length));
}

/** What is stored of a token: it has 256 random bits, so that a plain SHA-256 cannot be reversed. */
export function digest(token: string): string {
  return digestOf(token).toString("base64url");
}

/** Compares in constant time. */
export function sameText(a: string, b: string): boolean {
  return sameDigest(digestOf(a), digestOf(b));
}

/** Encrypts a successor with the token it replaces: only the holder of that token can read it, the store alone cannot. */
export function seal(successor: string, token: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealKey(token), iv);
  return Buffer.concat([iv, cipher.update(successor, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

/** @throws Error when it was sealed with another token. */
export function unseal(sealed: string, token: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", sealKey(token), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}

/** Another function of the token than its digest, which the store has. */
function sealKey(token: string): Buffer {
  return digestOf(`successor of ${token}`);
}
