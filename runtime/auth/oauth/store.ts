/**
 * The built-in OAuth authorization server: our own endpoints on the request path, opaque tokens, and a store that
 * replicas can share. The room knows heads and bodies of HTTP requests; it knows neither MCP nor catalogs.
 *
 * This file: what the server keeps, behind one interface. Tokens, codes and secrets arrive here as digests only. Every
 * operation is atomic: two replicas that run it at the same time see one order.
 */

/** A client that registered itself (RFC 7591). */
export interface RegisteredClient {
  readonly id: string;
  /** As the client calls itself; not verified. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Digest of its secret; `null` for a public client. */
  readonly secretDigest: string | null;
  /** Milliseconds since the epoch, as all times of a store. */
  readonly createdAt: number;
}

/** One login of one client installation: what its code, access tokens and refresh tokens have in common. */
export interface Login {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly principal: string;
  readonly claims: { readonly [name: string]: unknown };
  /** Canonical address of the resource its tokens are for. */
  readonly resource: string;
  readonly scope: string;
  /** When the client registered; `null` for one that is known by a metadata document. */
  readonly registeredAt: number | null;
  readonly authorizedAt: number;
  /** When its code was exchanged; `null` until then. */
  readonly tokenAt: number | null;
  /** When the first request with one of its tokens came; `null` until then. */
  readonly firstCallAt: number | null;
}

/** An authorization code, by its digest. */
export interface Code {
  readonly digest: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** PKCE, S256. */
  readonly challenge: string;
  readonly expiresAt: number;
}

/** Tokens to be issued, by their digests. */
export interface NewTokens {
  readonly access: { readonly digest: string; readonly expiresAt: number };
  /** `null` for a grant that is renewed by another assertion. */
  readonly refresh: { readonly digest: string; readonly expiresAt: number } | null;
}

/** A refresh token and its successor, encrypted with the token that it replaces. */
export interface NextTokens {
  readonly access: { readonly digest: string; readonly expiresAt: number };
  readonly refresh: { readonly digest: string; readonly expiresAt: number; readonly sealed: string };
}

export type Redemption = "redeemed" | "unknown" | "replayed";

/** `sealed` is the successor that every holder of the rotated token gets, encrypted with that token. */
export type Rotation = { readonly kind: "rotated"; readonly sealed: string } | { readonly kind: "unknown" } | { readonly kind: "reused" };

/** How often something happened in a window of time, and how long the window lasts yet. */
export interface Count {
  readonly count: number;
  readonly waitMs: number;
}

/** @throws StoreUnavailable from every operation while the store does not work. */
export interface AuthStore {
  /** Hash of the access secret; `null` before the first start. */
  secretHash(): Promise<string | null>;
  /** Sets the hash where there is none. False: another replica was first. */
  initSecret(hash: string): Promise<boolean>;
  /** Replaces the hash and drops all tokens, codes and logins. */
  replaceSecret(hash: string): Promise<void>;
  /** Drops all tokens, codes and logins. */
  dropTokens(): Promise<void>;

  /** False when there are too many clients, none of which can be forgotten. */
  addClient(client: RegisteredClient): Promise<boolean>;
  client(id: string): Promise<RegisteredClient | null>;

  /** A login that waits for its code to be exchanged. */
  addLogin(login: Login, code: Code): Promise<void>;
  /** The code and its login, also when it has been used. */
  code(digest: string): Promise<{ readonly code: Code; readonly login: Login } | null>;
  /** Exchanges a code for tokens, once. A second time ends the login that the code belongs to. */
  redeem(digest: string, tokens: NewTokens, now: number): Promise<Redemption>;
  /** A login that has its tokens at once. */
  openLogin(login: Login, tokens: NewTokens): Promise<void>;

  /** The login of a refresh token that still counts; used ones too, so that reuse can be seen. */
  refresh(digest: string): Promise<Login | null>;
  /**
   * Replaces a refresh token. It stays valid until its successor is used, and gives the same successor each time, so
   * that a lost answer or two refreshes at once harm nothing. Using it later ends the login.
   */
  rotate(digest: string, next: NextTokens, now: number): Promise<Rotation>;
  access(digest: string): Promise<{ readonly login: Login; readonly expiresAt: number } | null>;
  noteCall(loginId: string, at: number): Promise<void>;
  endLogin(loginId: string): Promise<void>;
  /** The latest logins, newest first. */
  logins(limit: number): Promise<readonly Login[]>;

  /** Whether this is the first claim of a key in the given time. */
  claimOnce(key: string, lastsMs: number): Promise<boolean>;
  /** Adds to a counter that starts anew when its window ends; `by` may be negative. */
  count(key: string, windowMs: number, by: number): Promise<Count>;

  /** Whether it works. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The store does not work at the moment: neither the client's fault nor a bug. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** Clients that are kept; beyond that, those that never logged in are forgotten, the oldest first. */
export const MAX_CLIENTS = 10_000;
/** A client that never logged in is forgotten after this time, one that did after the other. */
export const UNUSED_CLIENT_MS = 30 * 86_400_000;
export const USED_CLIENT_MS = 400 * 86_400_000;
/** A used code is remembered so long that its replay is seen. */
export const USED_CODE_MS = 3_600_000;
/** A login whose code was never exchanged stays in the timeline for this time. */
export const PENDING_LOGIN_MS = 86_400_000;
/** Logins that the timeline can show. */
export const MAX_TIMELINE = 100;
