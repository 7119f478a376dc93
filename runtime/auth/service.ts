/**
 * What a mode of `--auth` is to a server: who is asking, the mode's own routes, and whether it works. Each mode is one
 * implementation; the server composes them and branches on none.
 */
import type { HttpHandler } from "../transport/types.js";
import type { Authenticator } from "./authenticate.js";

/** Which mode runs, and with what: the flags of `serve` merged over `security.auth` of the default catalog. */
export type AuthOptions =
  | { readonly mode: "none" }
  | ApiKeyOptions
  | JwtOptions
  | BuiltinOptions;

export interface ApiKeyOptions {
  readonly mode: "api_key";
  /** JSON object of key → {principal, claims}; read again on SIGHUP. */
  readonly keysFile: string;
  /** Lower-case. */
  readonly header: string;
  readonly scheme: "Bearer" | "ApiKey" | "none";
}

export interface JwtOptions {
  readonly mode: "jwt";
  readonly issuer: string | null;
  readonly audience: string | null;
  readonly jwksUrl: string;
  /** Asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** Claim that names the principal. */
  readonly principalClaim: string;
  /** Prefix that is removed from the names of claims; "" for none. */
  readonly claimsPrefix: string;
  /** https:// address of the server, for the resource metadata; `null` when it is not given. */
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
  /** Pages of every origin may call it and read the answer: metadata, registration and token endpoints. */
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
  /** `null` where there is nothing that can fail on its own. Bounded by the caller. */
  readonly health: (() => Promise<AuthHealth>) | null;
  /** SIGHUP: reads its files again; a file that cannot be read keeps what was there, and the problem is logged. */
  reload(): Promise<void>;
  close(): Promise<void>;
}
