/**
 * Which browsers may talk to the server, and under which names it answers. A page on any site can make a browser
 * send requests to this machine, and a rebound DNS name can make it read the answers: a foreign Origin is refused,
 * and a server on loopback answers to loopback names only.
 */
import { isLoopback } from "./address.js";

export interface OriginRules {
  /** Whether the Host header may be answered; every request is asked. */
  mayHost(host: string): boolean;
  /** Whether the Origin header, given the Host header, may be answered; "" (no browser) always may. */
  mayOrigin(origin: string, host: string): boolean;
}

/** Origins seen lately; pages repeat theirs, so most of their requests cost one look-up. */
const MAX_REMEMBERED = 1000;

/** @param allowed origins that are answered beside loopback and the server's own. */
export function originRules(boundToLoopback: boolean, allowed: readonly string[]): OriginRules {
  const origins = new Map<string, boolean>();
  return {
    mayHost: (host) => !boundToLoopback || isLoopback(hostName(host)),
    mayOrigin: (origin, host) =>
      origin === "" || remember(origins, `${origin} ${host}`, () => allowed.includes(origin) || isOwn(origin, host)),
  };
}

/** A loopback origin, or the very host that was asked. */
function isOwn(origin: string, host: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  return isLoopback(url.hostname.replace(/^\[|\]$/g, "")) || (host !== "" && url.host === host.toLowerCase());
}

/** Host header without its port; "" when it is not one. */
function hostName(header: string): string {
  return /^(?:\[([0-9a-fA-F:.]+)\]|([^:/?#@\s[\]]+))(?::\d{1,5})?$/.exec(header)?.slice(1).find((part) => part !== undefined) ?? "";
}

function remember(known: Map<string, boolean>, key: string, decide: () => boolean): boolean {
  const before = known.get(key);
  if (before !== undefined) return before;
  const decision = decide();
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(key, decision);
  return decision;
}
