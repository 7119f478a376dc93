/** Which catalog of a server a caller sees. */
import type { Principal } from "../abi/call.js";

export interface Routing {
  /** Names of the projects, in the order they were given. */
  readonly projects: readonly string[];
  /** For callers whose claims name none. */
  readonly fallback: string;
  /** Claim that names a caller's project; `null` when callers are not distinguished. */
  readonly claim: string | null;
}

/**
 * The caller's project: the one that the claim names, or the default where the claim is missing or "". `null` for a
 * claim that names no project: such a caller sees nothing, rather than somebody else's catalog.
 */
export function projectOf({ projects, fallback, claim }: Routing, claims: Principal["claims"]): string | null {
  const raw = claim === null || !Object.hasOwn(claims, claim) ? undefined : claims[claim];
  if (raw === undefined || raw === null || raw === "") return fallback;
  const name = typeof raw === "string" || typeof raw === "number" ? String(raw) : null;
  return name !== null && projects.includes(name) ? name : null;
}
