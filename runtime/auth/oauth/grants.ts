/** What the token endpoint exchanges for tokens. Every check comes before the store is changed. */
import type { Client } from "./clients.js";
import type { Form } from "./form.js";
import { OauthError } from "./oauth-error.js";
import { checkResource } from "./resource.js";
import type { OauthServer } from "./server.js";
import type { Login } from "./store.js";
import { digest, isToken, newToken, sameText, seal, unseal } from "./tokens.js";

const ACCESS_S = 3600;
const REFRESH_MS = 30 * 86_400_000;

/** The answer of the token endpoint; the names are the wire's. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope: string;
}

/** grant_type=authorization_code. @throws OauthError */
export async function exchangeCode(server: OauthServer, client: Client, form: Form): Promise<TokenAnswer> {
  const code = required(form, "code");
  const verifier = required(form, "code_verifier");
  checkResource(form.all("resource"), server.issuer);
  const known = isToken("tsac_", code) ? await server.store.code(digest(code)) : null;
  if (known === null || known.code.clientId !== client.id) throw invalidGrant("the code is unknown, has expired, or belongs to another client");
  const redirectUri = form.get("redirect_uri");
  if (redirectUri !== null && redirectUri !== known.code.redirectUri) throw invalidGrant("redirect_uri is not that of the authorization request");
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier) || !sameText(digest(verifier), known.code.challenge)) {
    throw invalidGrant("code_verifier does not match the code_challenge");
  }
  const at = server.now();
  const tokens = newTokens(at);
  const outcome = await server.store.redeem(digest(code), tokens.stored, at);
  if (outcome === "replayed") throw reused(server, known.login, "an authorization code was used twice");
  if (outcome === "unknown") throw invalidGrant("the code has expired: it is valid for one minute");
  return answer(tokens.access, tokens.refresh, known.login.scope);
}

/** grant_type=refresh_token. @throws OauthError */
export async function refreshTokens(server: OauthServer, client: Client, form: Form): Promise<TokenAnswer> {
  const token = required(form, "refresh_token");
  checkResource(form.all("resource"), server.issuer);
  const login = isToken("tsrt_", token) ? await server.store.refresh(digest(token)) : null;
  if (login === null || login.clientId !== client.id) throw invalidGrant("the refresh token is unknown, has expired, was revoked, or belongs to another client: log in again");
  const at = server.now();
  const tokens = newTokens(at);
  const next = { access: tokens.stored.access, refresh: { ...tokens.stored.refresh, sealed: seal(tokens.refresh, token) } };
  const outcome = await server.store.rotate(digest(token), next, at);
  if (outcome.kind === "reused") throw reused(server, login, "a refresh token was used after its successor");
  if (outcome.kind === "unknown") throw invalidGrant("the refresh token has expired or was revoked: log in again");
  return answer(tokens.access, unseal(outcome.sealed, token), login.scope);
}

/** A login whose access token is renewed by another assertion. */
export async function grantLogin(server: OauthServer, login: Login): Promise<TokenAnswer> {
  const access = newToken("tsat_");
  await server.store.openLogin(login, { access: { digest: digest(access), expiresAt: server.now() + ACCESS_S * 1000 }, refresh: null });
  return answer(access, null, login.scope);
}

function newTokens(at: number) {
  const [access, refresh] = [newToken("tsat_"), newToken("tsrt_")];
  return {
    access, refresh,
    stored: { access: { digest: digest(access), expiresAt: at + ACCESS_S * 1000 }, refresh: { digest: digest(refresh), expiresAt: at + REFRESH_MS } },
  };
}

function answer(access: string, refresh: string | null, scope: string): TokenAnswer {
  return { access_token: access, token_type: "Bearer", expires_in: ACCESS_S, ...(refresh === null ? {} : { refresh_token: refresh }), scope };
}

/** The login has been ended by the store: someone has a copy of its tokens. */
function reused(server: OauthServer, login: Login, problem: string): OauthError {
  server.log.warn("an oauth login was ended", { login: login.id, client: login.clientId, problem, advice: "someone may have a copy of its tokens; the user logs in again" });
  return invalidGrant(`${problem}: its login was ended, log in again`);
}

function invalidGrant(message: string): OauthError {
  return new OauthError("invalid_grant", message);
}

/** @throws OauthError invalid_request when a parameter is missing. */
export function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value === null) throw new OauthError("invalid_request", `${name} is missing`);
  return value;
}
