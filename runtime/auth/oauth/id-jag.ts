/**
 * Enterprise-managed authorization: the company's identity provider says in an assertion who a user is, and a client
 * exchanges it for a token without a login page (draft-ietf-oauth-identity-assertion-authz-grant, RFC 7523). An
 * assertion is for one server, one client and one use.
 */
import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions, type JWTVerifyResult } from "jose";
import { principalFrom } from "../claims.js";
import { Jwks } from "../jwks.js";
import type { AuthParts, IdJagOptions } from "../service.js";
import type { Client } from "./clients.js";
import type { Form } from "./form.js";
import { grantLogin, required, type TokenAnswer } from "./grants.js";
import { OauthError, unavailable } from "./oauth-error.js";
import { checkResource, grantedScope } from "./resource.js";
import type { OauthServer } from "./server.js";
import { digest, newId } from "./tokens.js";

export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
export const ID_JAG_PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag";

const SKEW_S = 60;
/** An assertion that lives longer is refused: its id would have to be remembered as long. */
const MAX_LIFE_S = 3600;
const MAX_CHARACTERS = 16_384;

export interface IdJag {
  /** grant_type=jwt-bearer, for a client that has authenticated. @throws OauthError */
  exchange(server: OauthServer, client: Client, form: Form): Promise<TokenAnswer>;
}

export function createIdJag(options: IdJagOptions, { log, now }: AuthParts): IdJag {
  const jwks = new Jwks({ url: options.jwksUrl, now, onChange: () => undefined, onFailure: (problem) => log.warn("the keys of the identity provider were not fetched", { problem }) });
  return {
    async exchange(server, client, form) {
      const assertion = required(form, "assertion");
      checkResource(form.all("resource"), server.issuer);
      if (assertion.length > MAX_CHARACTERS) throw refused("it is too long");
      const payload = await verify(assertion, jwks, rulesFor(options, server));
      checkBinding(payload, client, server);
      const principal = principalFrom(payload, options);
      if (typeof principal === "string") throw refused(principal);
      if (principal.id === null) throw refused(`it has no claim ${options.principalClaim}`);
      await claim(server, payload);
      const at = server.now();
      const id = newId("tslg_");
      server.log.info("oauth login by the identity provider", { login: id, client: client.id, principal: principal.id });
      return grantLogin(server, {
        id, clientId: client.id, clientName: client.name, principal: principal.id, claims: principal.claims, resource: server.resource, scope: grantedScope(form.get("scope")),
        registeredAt: client.registeredAt, authorizedAt: at, tokenAt: at, firstCallAt: null,
      });
    },
  };
}

function rulesFor({ issuer, algorithms }: IdJagOptions, server: OauthServer): JWTVerifyOptions {
  return {
    issuer, audience: [server.issuer, `${server.issuer}/`], typ: "oauth-id-jag+jwt", algorithms: [...algorithms],
    requiredClaims: ["exp", "iat", "jti", "sub", "client_id"], clockTolerance: SKEW_S, currentDate: new Date(server.now()),
  };
}

/** Keys that do not know the assertion's are fetched again, once. */
async function verify(assertion: string, jwks: Jwks, rules: JWTVerifyOptions): Promise<JWTPayload> {
  const attempt = async (): Promise<JWTVerifyResult> => {
    const keys = jwks.use() ?? ((await jwks.renew()) ? jwks.use() : null);
    if (keys === null) throw unavailable("the keys of the identity provider cannot be fetched");
    return jwtVerify(assertion, keys.find, rules);
  };
  try {
    return (await attempt().catch(async (error: unknown) => {
      if (error instanceof errors.JWKSNoMatchingKey && (await jwks.renew())) return attempt();
      throw error;
    })).payload;
  } catch (error) {
    // What the library says names claims, never their values.
    throw error instanceof errors.JOSEError ? refused(error.message) : error;
  }
}

/** What the signature alone does not say: for whom, through whom and for what. */
function checkBinding(payload: JWTPayload, client: Client, { issuer, now }: OauthServer): void {
  if (Array.isArray(payload.aud) && payload.aud.length !== 1) throw refused("it is for more than one server");
  if (payload["client_id"] !== client.id) throw refused("it was issued to another client");
  if (typeof payload.jti !== "string" || payload.jti === "") throw refused("it has no jti");
  if (Number(payload.exp) - now() / 1000 > MAX_LIFE_S + SKEW_S) throw refused("it lives longer than an hour");
  if (Number(payload.iat) - now() / 1000 > SKEW_S) throw refused("it was issued in the future");
  const { resource } = payload;
  if (resource === undefined) return;
  const resources: readonly unknown[] = Array.isArray(resource) ? resource : [resource];
  if (resources.length === 0 || !resources.every((one) => typeof one === "string")) throw refused("its resource is not an address");
  checkResource(resources.map(String), issuer);
}

async function claim({ store, now }: OauthServer, { iss, jti, exp }: JWTPayload): Promise<void> {
  const lastsMs = (Number(exp) + SKEW_S) * 1000 - now();
  if (!(await store.claimOnce(`id-jag:${digest(`${iss} ${jti}`)}`, Math.max(1000, lastsMs)))) throw refused("it was used before");
}

function refused(problem: string): OauthError {
  return new OauthError("invalid_grant", `the assertion is refused: ${problem}; ask the identity provider for a new one`);
}
