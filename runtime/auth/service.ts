/**
 * What a mode of `--auth` is to a server: who is asking, the mode's own routes, and whether it works. Each mode is one
 * implementation; the server composes them and branches on none.
 */
import type { Log } from "../observe/log.js";
import type { HttpHandler } from "../transport/types.js";
import type { Authenticator } from "./authenticate.js";

/** Which mode runs, and with what: the flags of `serve` merged over `security.auth` of the default catalog. */
export type AuthOptions =
  | { readonly mode: "none"; readonly publicUrl: string | null }
  | ApiKeyOptions
  | JwtOptions
  | BuiltinOptions;

export type AuthMode = AuthOptions["mode"];

export interface ApiKeyOptions {
  readonly mode: "api_key";
  /** JSON object of key → {principal, claims}; read again on SIGHUP. An absolute path. */
  readonly keysFile: string;
  /** Lower-case. */
  readonly header: string;
  readonly scheme: "Bearer" | "ApiKey" | "none";
  /** Address under which clients reach the server, without a slash at its end; `null` when it is not known. */
  readonly publicUrl: string | null;
}

export interface JwtOptions {
  readonly mode: "jwt";
  readonly issuer: string;
  readonly audience: string;
  /** https://, or http:// on loopback. */
  readonly jwksUrl: string;
  /** Asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** Claim that names the principal. */
  readonly principalClaim: string;
  /** Prefix that is removed from the names of claims; "" for none. */
  readonly claimsPrefix: string;
  /** Address under which clients reach the server, without a slash at its end; `null` when it is not known. */
  readonly publicUrl: string | null;
}

export interface BuiltinOptions {
  readonly mode: "builtin";
  /** https:// address under which clients reach the server, without a slash at its end. */
  readonly publicUrl: string;
  readonly store: { readonly kind: "sqlite"; readonly file: string } | { readonly kind: "redis"; readonly url: string };
  /** Folder of the access-secret file: ~/.toolsrv. */
  readonly stateFolder: string;
  /** Shown on the login page: serverInfo.name. */
  readonly title: string;
  /** Identity provider whose assertions are exchanged for tokens; `null` without one. */
  readonly idJag: IdJagOptions | null;
}

/** `security.auth.builtin.id_jag`: enterprise-managed authorization. */
export interface IdJagOptions {
  readonly issuer: string;
  /** https://, or http:// on loopback. */
  readonly jwksUrl: string;
  /** Asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** Claim that names the principal. */
  readonly principalClaim: string;
  /** Prefix that is removed from the names of claims; "" for none. */
  readonly claimsPrefix: string;
}

/** What every mode gets from the server. */
export interface AuthParts {
  /** Messages never hold a credential. */
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A route of a mode; served without authentication, also while the server stops. */
export interface AuthRoute {
  readonly method: "GET" | "POST" | "OPTIONS";
  readonly pattern: string;
  /** Request headers that the handler reads, lower-case. */
  readonly headers: readonly string[];
  readonly readsQuery: boolean;
  /** 0 refuses any body. */
  readonly bodyLimitBytes: number;
  /** Pages of every origin may call it and read the answer: metadata, registration and token endpoints. The server adds the headers and answers preflights. */
  readonly anyOrigin: boolean;
  readonly handler: HttpHandler;
}

/** The `auth` block of /readyz. */
export interface AuthHealth {
  readonly ok: boolean;
  readonly provider: string;
}

export interface AuthService {
  readonly authenticator: Authenticator;
  readonly routes: readonly AuthRoute[];
  /** `null` where there is nothing that can fail on its own. Bounded by the caller to 3 s. */
  readonly health: (() => Promise<AuthHealth>) | null;
  /** SIGHUP: reads its files again; a file that cannot be used keeps what was there, and the problem is logged. `null` without such files. */
  readonly reload: (() => Promise<void>) | null;
  close(): Promise<void>;
}
