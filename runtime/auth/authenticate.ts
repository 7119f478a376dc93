/**
 * Who sent a request: decided on its head, before a byte of the body is read. Each mode of `--auth` is one
 * implementation. The room knows heads of requests, and nothing of the routes behind them.
 */
import type { Principal } from "../abi/call.js";
import type { HeaderList, HttpHead } from "../transport/types.js";

/** The request is not served. */
export interface Challenge {
  /** 401 asks for (other) credentials; 403 does not take these; 400 cannot read them; 503 cannot judge them now. */
  readonly status: 400 | 401 | 403 | 503;
  readonly code: string;
  readonly message: string;
  /** WWW-Authenticate, for 401; Retry-After, for 503. */
  readonly headers: HeaderList;
  /** For the log alone: what was wrong with the credentials, without any part of them. Absent: not logged. */
  readonly refused?: { readonly reason: string; readonly level: "info" | "warn" };
}

export type Authentication = Principal | Challenge;

export interface Authenticator {
  /** Request headers that `authenticate` reads, lower-case. */
  readonly headers: readonly string[];
  /** At once where it can: a promise costs each request a turn of the event loop. */
  authenticate(head: HttpHead): Authentication | Promise<Authentication>;
}

export function isChallenge(authentication: Authentication): authentication is Challenge {
  return "status" in authentication;
}
