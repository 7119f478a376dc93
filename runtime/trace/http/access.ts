/**
 * Who may ask: the bearer token, and, against web pages that reach for a local service, the Origin and the Host of a
 * request. Pure decisions; every route and both WebSockets go through them.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";

export interface AccessOptions {
  readonly token: string | null;
  /** Origins that may read answers; `*` is all of them. */
  readonly corsOrigins: readonly string[];
  /** The service is bound to a loopback address: only loopback names may be used to reach it. */
  readonly loopback: boolean;
  /** Address under which a proxy shows the service. */
  readonly publicUrl: string | null;
}

export interface Access {
  /** Value of the Authorization header. */
  authorizes(header: string): boolean;
  /** Token of a WebSocket: the query parameter when there is one, else the last sub-protocol. */
  authorizesSocket(queryToken: string | null, protocols: string): boolean;
  /** Why a request is refused, or `null`. Empty values are absent headers. */
  refuses(host: string, origin: string): string | null;
  /** Value of access-control-allow-origin for an accepted origin; `null` without one. */
  allowOrigin(origin: string): string | null;
}

export function createAccess(options: AccessOptions): Access {
  const digest = (value: string): Buffer => createHash("sha256").update(value, "utf8").digest();
  const wanted = options.token === null ? null : digest(options.token);
  const wantedHeader = options.token === null ? null : digest(`Bearer ${options.token}`);
  const publicHost = options.publicUrl === null ? null : hostOf(options.publicUrl);
  const anyOrigin = options.corsOrigins.includes("*");

  const same = (value: string, expected: Buffer | null): boolean => expected === null || timingSafeEqual(digest(value), expected);
  const knownHost = (host: string): boolean => host === publicHost || !options.loopback || isLoopbackName(nameOf(host));
  const knownOrigin = (host: string, origin: string): boolean => {
    if (anyOrigin || options.corsOrigins.includes(origin)) return true;
    const from = hostOf(origin);
    if (from === null) return false;
    // A page of this very service, or of another program on this machine.
    return from === host || from === publicHost || (options.loopback && isLoopbackName(nameOf(from)));
  };
  return {
    authorizes: (header) => same(header, wantedHeader),
    authorizesSocket(queryToken, protocols) {
      if (queryToken !== null) return same(queryToken, wanted);
      return same(protocols.split(",").at(-1)?.trim() ?? "", wanted);
    },
    refuses(host, origin) {
      if (!knownHost(host)) return "Host not allowed";
      return origin === "" || knownOrigin(host, origin) ? null : "Origin not allowed";
    },
    allowOrigin: (origin) => (origin === "" ? null : anyOrigin ? "*" : origin),
  };
}

/** `host:port` of a URL or an origin; `null` when it has none. */
function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { host } = new URL(url);
  return host === "" ? null : host;
}

/** Name of a Host header, without port and brackets. */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(host)?.[1];
  return bracketed ?? host.replace(/:\d*$/, "");
}

/** 127.0.0.0/8, ::1, the same mapped into IPv6, localhost and names below it. Decided on the parsed address. */
export function isLoopbackName(name: string): boolean {
  const lower = name.toLowerCase().replace(/\.$/, "");
  if (lower === "localhost" || lower.endsWith(".localhost")) return true;
  if (isIP(lower) === 4) return lower.startsWith("127.");
  if (isIP(lower) !== 6 || !URL.canParse(`http://[${lower}]/`)) return false;
  const { hostname } = new URL(`http://[${lower}]/`);
  return hostname === "[::1]" || /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname);
}
