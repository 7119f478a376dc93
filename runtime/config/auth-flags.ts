/** `--auth` and the flags of its modes: as far as they can be checked before a catalog is read. */
import type { AuthMode } from "../auth/service.js";
import { isLoopback, isLoopbackAddress } from "../base/loopback.js";
import { isRedisUrl } from "../base/redis.js";
import { isSecureUrl, nameOf } from "../base/web.js";
import type { HttpAddress } from "./address.js";
import { EXIT, StartError } from "./exit.js";

const MODES: readonly AuthMode[] = ["none", "builtin", "jwt", "api_key"];
/** Of a server on HTTP. */
const DEFAULT_MODE: AuthMode = "builtin";

/** Flags that only one mode reads. Given to another mode, they would look like a protection that is in force. */
const OF_MODE: { readonly [mode in AuthMode]: readonly AuthFlag[] } = {
  none: [],
  builtin: ["auth-store", "redis-url"],
  jwt: ["jwt-issuer", "jwt-audience", "jwks-url"],
  api_key: ["api-keys-file"],
};
/** Flags of HTTP callers in several modes. */
const OF_CALLERS: readonly AuthFlag[] = ["auth", "public-url", "route-by-claim"];

type AuthFlag = "auth" | "public-url" | "route-by-claim" | "auth-store" | "redis-url" | "jwt-issuer" | "jwt-audience" | "jwks-url" | "api-keys-file";

/** What the flags say about authentication; the catalog supplies what they leave out. */
export interface AuthFlags {
  readonly mode: AuthMode;
  /** Without a slash at its end. */
  readonly publicUrl: string | null;
  readonly issuer: string | null;
  readonly audience: string | null;
  readonly jwksUrl: string | null;
  readonly keysFile: string | null;
  readonly store: { readonly kind: "sqlite" } | { readonly kind: "redis"; readonly url: string };
  /** Claim that selects the catalog. */
  readonly routeByClaim: string | null;
}

type Read = (flag: AuthFlag) => string | null;

/**
 * The flags of a server; `null` on stdio, where nobody is authenticated.
 * @throws StartError exit 2 for flags that do not go together, exit 3 for `--auth none` where others may connect.
 */
export function readAuthFlags(read: Read, http: HttpAddress | null): AuthFlags | null {
  const asked = read("auth");
  const mode = asked === null ? DEFAULT_MODE : MODES.find((known) => known === asked);
  if (mode === undefined) throw new StartError(`--auth takes ${MODES.slice(0, -1).join(", ")} or ${MODES.at(-1)}, not '${asked}'`);
  if (http === null) {
    refuseOnStdio(read, asked);
    return null;
  }
  refuseFlagsOfOthers(read, mode, asked === null);
  const publicUrl = readPublicUrl(read("public-url"));
  if (mode === "none") refuseOthers(http, publicUrl);
  if (mode === "builtin" && publicUrl?.startsWith("https://") !== true) throw new StartError(needsPublicUrl(read("public-url"), asked === null));
  return {
    mode, publicUrl,
    issuer: read("jwt-issuer"),
    audience: read("jwt-audience"),
    jwksUrl: read("jwks-url"),
    keysFile: read("api-keys-file"),
    store: readAuthStore(read),
    routeByClaim: read("route-by-claim"),
  };
}

function refuseOnStdio(read: Read, mode: string | null): void {
  const given = [...OF_CALLERS, ...MODES.flatMap((other) => OF_MODE[other])].find((flag) => read(flag) !== null && !(flag === "auth" && mode === "none"));
  if (given !== undefined) throw new StartError(`--${given} needs --http: on stdio there are no callers to tell apart, the process belongs to the user who started it`);
}

function refuseFlagsOfOthers(read: Read, mode: AuthMode, isDefault: boolean): void {
  for (const other of MODES) {
    const given = OF_MODE[other].find((flag) => other !== mode && read(flag) !== null);
    if (given !== undefined) throw new StartError(`--${given} belongs to --auth ${other}; this server has --auth ${mode}${isDefault ? " (the default)" : ""}`);
  }
}

/** Without authentication only this machine may connect: neither by the address that is bound nor through a proxy that is known of. */
function refuseOthers({ host }: HttpAddress, publicUrl: string | null): void {
  if (!isLoopbackAddress(host)) throw new StartError(`--auth none is refused on ${host}: without authentication only this machine may connect; use 127.0.0.1, [::1] or localhost`, EXIT.LIVE);
  const name = publicUrl === null ? null : nameOf(new URL(publicUrl).hostname);
  if (name !== null && !isLoopback(name)) throw new StartError(`--auth none is refused with the public address ${name}: without authentication only this machine may connect`, EXIT.LIVE);
}

function needsPublicUrl(given: string | null, isDefault: boolean): string {
  const what = `--auth builtin${isDefault ? " (the default)" : ""}`;
  if (given !== null) return `${what} needs an https:// address in --public-url, not '${given}'`;
  return `${what} needs --public-url https://…, the address under which clients reach this server; --auth none serves this machine alone`;
}

/** `https://host[:port][/path]`, or http:// on loopback. */
function readPublicUrl(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !isSecureUrl(url) || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new StartError(`--public-url takes an address such as https://tools.example.com, without query and credentials (http:// only on loopback), not '${withoutCredentials(text)}'`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/**
 * Where builtin OAuth keeps its tokens, for the server and for `toolsrv auth`.
 * @throws StartError
 */
export function readAuthStore(read: (flag: "auth-store" | "redis-url") => string | null): AuthFlags["store"] {
  const [kind, url] = [read("auth-store") ?? "sqlite", read("redis-url")];
  if (kind !== "sqlite" && kind !== "redis") throw new StartError(`--auth-store takes sqlite or redis, not '${kind}'`);
  if (kind === "sqlite") {
    if (url !== null) throw new StartError("--redis-url belongs to --auth-store redis; this server keeps its tokens in sqlite (the default)");
    return { kind };
  }
  if (url === null) throw new StartError("--auth-store redis needs --redis-url redis://host:6379");
  // The address may hold a password: it is in no message.
  if (!isRedisUrl(url)) throw new StartError("--redis-url takes an address such as redis://host:6379 or rediss://host:6380");
  return { kind, url };
}

function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/@]*@/, "//…@");
}
