/** Canonical JSON and its digest: the same content has the same fingerprint, whatever the order of its keys. */
import { nodeCrypto } from "../base/node-crypto.js";

/** JSON with sorted keys and no spaces. Absent and `undefined` members are the same. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  const record = value as { readonly [key: string]: unknown };
  let text = "";
  // Large catalogs have a hundred thousand members: no pair, list or string is made that need not be.
  for (const key of Object.keys(record).sort()) {
    const member = record[key];
    if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** `sha256:` and 64 hex digits over the canonical JSON. */
export function fingerprint(value: unknown): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`;
}

/** The short id of a tool's plan in traces: 12 hex digits. */
export function planId(plan: unknown): string {
  return shortHash(fingerprint(plan));
}

/** The first 12 digits of a fingerprint. */
export function shortHash(hash: string): string {
  return hash.replace(/^sha256:/, "").slice(0, 12);
}

/** Hex digest of bytes, or of a text's UTF-8 bytes. */
export function sha256Hex(data: string | Uint8Array): string {
  return nodeCrypto().createHash("sha256").update(data).digest("hex");
}
