/**
 * What both HTTP servers do with a request before their own routes: Host and Origin, authentication, error bodies and
 * security headers. The room knows heads of requests, not tools and not traces.
 *
 * This file: which browsers may talk to a server, and under which names it answers. A page on any site can make a
 * browser send requests to this machine, and a rebound DNS name can make it read the answers: a foreign Origin is
 * refused, and a server on loopback answers to loopback names only.
 */
import { isLoopback } from "../base/loopback.js";
import { memoizeLast } from "../base/memoize.js";

export interface HostRulesOptions {
  /** The server is bound to a loopback address: only loopback names may be used to reach it. */
  readonly boundToLoopback: boolean;
  /** Origins that are served beside the server's own; `*` is all of them. */
  readonly allowedOrigins: readonly string[];
  /** Pages of other programs on the user's machine are served. */
  readonly loopbackOrigins: boolean;
  /** Address under which a proxy shows the server. */
  readonly publicUrl: string | null;
  /** What the user sets to allow an origin: `--allow-origin`. */
  readonly setting: string;
}

export interface HostRefusal {
  readonly code: "forbidden_host" | "forbidden_origin";
  readonly message: string;
}

export interface HostRules {
  /** Why a request is refused, or `null`. Empty values are absent headers. */
  check(host: string, origin: string): HostRefusal | null;
  /** Value of access-control-allow-origin for an origin that has passed; `null` without one. */
  allowOrigin(origin: string): string | null;
}

/** Origins seen lately; pages repeat theirs, so most of their requests cost one look-up. */
const MAX_REMEMBERED = 1000;

export function createHostRules({ boundToLoopback, allowedOrigins, loopbackOrigins, publicUrl, setting }: HostRulesOptions): HostRules {
  const publicHost = publicUrl === null ? null : hostOf(publicUrl);
  const anyOrigin = allowedOrigins.includes("*");
  const forbiddenHost: HostRefusal = { code: "forbidden_host", message: "this server answers to loopback names only" };
  const forbiddenOrigin: HostRefusal = { code: "forbidden_origin", message: `this origin is not on the allow list (${setting})` };
  const mayHost = memoizeLast((host: string) => !boundToLoopback || host === publicHost || isLoopback(hostName(host)));
  const mayOrigin = (origin: string, host: string): boolean => {
    if (anyOrigin || allowedOrigins.includes(origin)) return true;
    const from = hostOf(origin);
    if (from === null) return false;
    return from === host.toLowerCase() || from === publicHost || (loopbackOrigins && isLoopback(hostName(from)));
  };
  const origins = new Map<string, boolean>();
  return {
    check(host, origin) {
      if (!mayHost(host)) return forbiddenHost;
      if (origin === "" || remember(origins, `${origin} ${host}`, () => mayOrigin(origin, host))) return null;
      return forbiddenOrigin;
    },
    allowOrigin: (origin) => (origin === "" ? null : anyOrigin ? "*" : origin),
  };
}

/** `host:port` of a web address; `null` when it has none. */
function hostOf(url: string): string | null {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return null;
  const { host } = new URL(url);
  return host === "" ? null : host;
}

/** Host header without its port and brackets; "" when it is not one. */
function hostName(header: string): string {
  return /^(?:\[([0-9a-fA-F:.]+)\]|([^:/?#@\s[\]]+))(?::\d{0,5})?$/.exec(header)?.slice(1).find((part) => part !== undefined) ?? "";
}

function remember(known: Map<string, boolean>, key: string, decide: () => boolean): boolean {
  const before = known.get(key);
  if (before !== undefined) return before;
  const decision = decide();
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(key, decision);
  return decision;
}
