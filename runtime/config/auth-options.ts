/** What a server's authentication runs with: its flags over `security.auth` of the default catalog. */
import { isAbsolute, join, resolve } from "node:path";
import type { AuthOptions, IdJagOptions } from "../auth/service.js";
import { isSignatureAlgorithm, SIGNATURE_ALGORITHMS } from "../abi/signatures.js";
import { isLoopbackAddress, urlHost } from "../base/loopback.js";
import { isRecord } from "../base/paths.js";
import { NO_STATE_FOLDER } from "../base/state-folder.js";
import { isHeaderName, isSecureUrl } from "../base/web.js";
import type { HttpAddress } from "./address.js";
import type { AuthFlags } from "./auth-flags.js";
import { StartError } from "./exit.js";

/** `security.auth` of a catalog. */
export interface AuthSource {
  /** The catalog, for messages. */
  readonly file: string;
  /** With its references filled; absent settings are `undefined`. */
  readonly auth: unknown;
  /** Folder in which relative paths of the catalog start. */
  readonly folder: string;
}

export interface AuthServer {
  readonly address: HttpAddress;
  /** serverInfo.name */
  readonly title: string;
  /** Folder for the state of a user's servers, ~/.toolsrv; `null` without a home folder. */
  readonly stateFolder: string | null;
}

/**
 * @param own the default catalog; it says what the flags leave out.
 * @param others the other catalogs of the server, which must not ask for something else.
 * @throws StartError for what is missing, or for a catalog whose settings would not be in force.
 */
export function authOptions(flags: AuthFlags, own: AuthSource, others: readonly AuthSource[], server: AuthServer): AuthOptions {
  for (const source of [own, ...others]) refuseOtherMode(flags, source);
  for (const other of others) refuseOtherSettings(flags, own, other);
  const publicUrl = flags.publicUrl ?? localUrl(server.address);
  switch (flags.mode) {
    case "none":
      return { mode: "none", publicUrl: flags.publicUrl };
    case "api_key":
      return apiKeyOptions(flags, own, publicUrl);
    case "jwt":
      return jwtOptions(flags, own, publicUrl);
    case "builtin":
      return builtinOptions(flags, own, server);
    default:
      return flags.mode satisfies never;
  }
}

function builtinOptions(flags: AuthFlags, own: AuthSource, { stateFolder, title }: AuthServer): AuthOptions {
  if (stateFolder === null) throw new StartError(NO_STATE_FOLDER);
  return {
    mode: "builtin",
    // Demanded when the flags were read.
    publicUrl: flags.publicUrl ?? "",
    store: flags.store.kind === "redis" ? flags.store : { kind: "sqlite", file: join(stateFolder, "authstate.db") },
    stateFolder, title,
    idJag: idJagOptions(own),
  };
}

/** Whether callers of this mode have claims: for routing by one. */
export function hasClaims(options: AuthOptions): boolean {
  return options.mode === "jwt" || options.mode === "api_key" || (options.mode === "builtin" && options.idJag !== null);
}

/** Without a public address clients reach a server on loopback by the address that it is bound to. */
function localUrl({ host, port }: HttpAddress): string | null {
  return isLoopbackAddress(host) && port !== 0 ? `http://${urlHost(host)}:${port}` : null;
}

/** A catalog that is meant for one mode is not served by another; without any (loopback only) it is, with a warning. */
function refuseOtherMode({ mode }: AuthFlags, { file, auth }: AuthSource): void {
  const meant = isRecord(auth) ? auth["mode"] : undefined;
  if (typeof meant !== "string" || meant === "none" || meant === mode || mode === "none") return;
  throw new StartError(`${file} is meant for --auth ${meant} (security.auth.mode), and this server has --auth ${mode}; start it with --auth ${meant}, or change the catalog`);
}

/** Callers are authenticated once, for all catalogs: what another one asks for must be the same. */
function refuseOtherSettings({ mode }: AuthFlags, own: AuthSource, other: AuthSource): void {
  const settings = sectionOf(other, mode);
  if (Object.keys(settings).length === 0 || JSON.stringify(sorted(settings)) === JSON.stringify(sorted(sectionOf(own, mode)))) return;
  throw new StartError(`${other.file} has its own security.auth.${mode}, and a server has one, that of its default catalog ${own.file}; write the same in both, or leave it out of ${other.file}`);
}

function sorted(section: { readonly [key: string]: unknown }): readonly unknown[] {
  return Object.entries(section).sort(([a], [b]) => (a < b ? -1 : 1));
}

function sectionOf({ auth }: AuthSource, name: string): { readonly [key: string]: unknown } {
  const section = isRecord(auth) ? auth[name] : undefined;
  return isRecord(section) ? section : {};
}

function textOf(section: { readonly [key: string]: unknown }, key: string): string | null {
  const value = section[key];
  return typeof value === "string" && value !== "" ? value : null;
}

function apiKeyOptions(flags: AuthFlags, own: AuthSource, publicUrl: string | null): AuthOptions {
  const section = sectionOf(own, "api_key");
  const written = textOf(section, "keys_file");
  const keysFile = flags.keysFile !== null ? resolve(flags.keysFile) : written === null ? null : isAbsolute(written) ? written : resolve(own.folder, written);
  if (keysFile === null) throw new StartError("--auth api_key needs --api-keys-file FILE (or security.auth.api_key.keys_file): a JSON object of keys, each with its principal and claims");
  const header = (textOf(section, "header") ?? "Authorization").toLowerCase();
  // These have a meaning of their own.
  if (!isHeaderName(header) || ["host", "origin", "content-length", "transfer-encoding"].includes(header)) {
    throw new StartError(`${own.file}: security.auth.api_key.header is not a header that can hold a key: '${header}'`);
  }
  const scheme = textOf(section, "scheme") ?? "Bearer";
  if (scheme !== "Bearer" && scheme !== "ApiKey" && scheme !== "none") throw new StartError(`${own.file}: security.auth.api_key.scheme is Bearer, ApiKey or none, not '${scheme}'`);
  return { mode: "api_key", keysFile, header, scheme, publicUrl };
}

function jwtOptions(flags: AuthFlags, own: AuthSource, publicUrl: string | null): AuthOptions {
  const section = sectionOf(own, "jwt");
  const issuer = flags.issuer ?? textOf(section, "issuer");
  const audience = flags.audience ?? textOf(section, "audience");
  const jwksUrl = flags.jwksUrl ?? textOf(section, "jwks_url");
  if (jwksUrl === null) throw new StartError(missing("--jwks-url URL", "jwks_url", "the address of the issuer's keys"));
  if (issuer === null) throw new StartError(missing("--jwt-issuer URL", "issuer", "whose tokens are taken"));
  if (audience === null) throw new StartError(missing("--jwt-audience NAME", "audience", "the name of this server in tokens; without it, a token for any other service of the issuer would do"));
  return {
    mode: "jwt", issuer, audience,
    jwksUrl: readJwksUrl(jwksUrl, "--jwks-url, security.auth.jwt.jwks_url"),
    algorithms: readAlgorithms(own, section, "security.auth.jwt"),
    principalClaim: textOf(section, "principal_claim") ?? "sub",
    claimsPrefix: textOf(section, "claims_prefix") ?? "",
    publicUrl,
  };
}

/** The identity provider of enterprise-managed authorization; `null` where the catalog names none. */
function idJagOptions(own: AuthSource): IdJagOptions | null {
  const builtin = sectionOf(own, "builtin");
  if (!isRecord(builtin["id_jag"])) return null;
  const section = builtin["id_jag"];
  const at = "security.auth.builtin.id_jag";
  const [issuer, jwksUrl] = [textOf(section, "issuer"), textOf(section, "jwks_url")];
  if (issuer === null || jwksUrl === null) throw new StartError(`${own.file}: ${at} needs issuer and jwks_url: whose assertions are taken, and the address of the issuer's keys`);
  return {
    issuer,
    jwksUrl: readJwksUrl(jwksUrl, `${at}.jwks_url`),
    algorithms: readAlgorithms(own, section, at),
    principalClaim: textOf(section, "principal_claim") ?? "sub",
    claimsPrefix: textOf(section, "claims_prefix") ?? "",
  };
}

function readAlgorithms(own: AuthSource, section: { readonly [key: string]: unknown }, at: string): readonly string[] {
  const algorithms = Array.isArray(section["algorithms"]) ? section["algorithms"] : ["RS256", "ES256"];
  if (algorithms.length > 0 && algorithms.every(isSignatureAlgorithm)) return algorithms;
  throw new StartError(`${own.file}: ${at}.algorithms takes ${SIGNATURE_ALGORITHMS.join(", ")}: only signatures with a private key prove who the issuer is`);
}

function missing(flag: string, key: string, why: string): string {
  return `--auth jwt needs ${flag} (or security.auth.jwt.${key}): ${why}`;
}

function readJwksUrl(text: string, setting: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !isSecureUrl(url) || url.username !== "" || url.password !== "") throw new StartError(`the address of the issuer's keys (${setting}) is an https:// address without credentials; http:// only on loopback`);
  return url.href;
}
