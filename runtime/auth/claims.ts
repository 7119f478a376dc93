/** From the claims of a verified token to a principal. */
import type { Principal } from "../abi/call.js";

export interface ClaimRules {
  /** Claim that names the principal. */
  readonly principalClaim: string;
  /** Removed from the names of claims that begin with it; "" for none. */
  readonly claimsPrefix: string;
}

/** What is wrong with the claims, for the log. */
export type ClaimProblem = "sub is not text" | "the principal is not text";

/**
 * A claim with the prefix takes the place of one that has its name without: the prefix is the issuer's own namespace,
 * and the plain name may be the user's.
 */
export function principalFrom(payload: { readonly [claim: string]: unknown }, { principalClaim, claimsPrefix }: ClaimRules): Principal | ClaimProblem {
  const { sub } = payload;
  if (sub !== undefined && typeof sub !== "string") return "sub is not text";
  const claims = withoutPrefix(payload, claimsPrefix);
  const name = Object.hasOwn(claims, principalClaim) ? claims[principalClaim] : undefined;
  if (name !== undefined && name !== null && typeof name !== "string" && !isExact(name)) return "the principal is not text";
  return { id: name === undefined || name === null || name === "" ? null : String(name), claims, headers: {} };
}

/** JSON has rounded a number beyond 53 bits: two callers would be one in limits and records. */
function isExact(name: unknown): name is number {
  return typeof name === "number" && Math.abs(name) <= Number.MAX_SAFE_INTEGER;
}

function withoutPrefix(payload: { readonly [claim: string]: unknown }, prefix: string): Principal["claims"] {
  if (prefix === "") return payload;
  const entries = Object.entries(payload);
  const own = entries.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => [name.slice(prefix.length), value] as const);
  // Later entries win. Made from entries, so that no name reaches a prototype.
  return Object.fromEntries([...entries.filter(([name]) => !name.startsWith(prefix)), ...own]);
}
