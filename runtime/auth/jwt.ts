/**
 * `--auth jwt`: tokens of an identity provider, verified with its published keys. A token that was verified is known by
 * its digest for as long as it and the keys are valid, and then costs one hash.
 */
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult } from "jose";
import type { Authentication, Challenge } from "./authenticate.js";
import { principalFrom } from "./claims.js";
import { digestText } from "./digest.js";
import { DigestCache } from "./digest-cache.js";
import { Jwks, type IssuerKeys } from "./jwks.js";
import { bearerChallenge, resourceMetadataRoutes, type RefusalKind } from "./resource-metadata.js";
import type { AuthParts, AuthService, JwtOptions } from "./service.js";
import { TokenCache } from "./token-cache.js";

/** Difference between the issuer's clock and ours. */
const SKEW_S = 60;
/** No identity provider issues longer ones, and proxies refuse them. */
const MAX_TOKEN_CHARS = 16_384;
/** Keys that are tried for a token which names none. */
const MAX_KEYS_TRIED = 4;

export async function createJwtAuth(options: JwtOptions, { log, now }: AuthParts): Promise<AuthService> {
  const { publicUrl } = options;
  const cache = new TokenCache();
  const digests = new DigestCache(digestText);
  const jwks = new Jwks({
    url: options.jwksUrl, now,
    // A key may have been withdrawn: every token is verified again.
    onChange: () => cache.clear(),
    onFailure: (problem) => log.warn("the keys of the issuer were not fetched", { problem }),
  });
  const verifier: Verifier = { options, jwks, cache, now };
  const refusals = createRefusals(publicUrl);
  return {
    authenticator: {
      headers: ["authorization"],
      authenticate(head) {
        const sent = head.header("authorization");
        if (sent === "") return refusals.missing;
        const digest = digests.of(sent);
        // Asked on every request, so that the keys are renewed in time.
        const time = now();
        const keys = jwks.use(time);
        // The whole header was accepted before: what it must be is asked only of one that is new.
        const known = keys === null ? null : cache.get(digest, time);
        if (known !== null) return known;
        const token = bearerToken(sent);
        if (token === "missing" || token === "repeated" || token === "too long") return refusals[token];
        return authenticate(verifier, token, digest, keys, refusals);
      },
    },
    routes: publicUrl === null ? [] : resourceMetadataRoutes(publicUrl, [options.issuer]),
    health: async () => ({ ok: await jwks.probe(), provider: "jwt" }),
    reload: null,
    close: () => Promise.resolve(),
  };
}

interface Verifier {
  readonly options: JwtOptions;
  readonly jwks: Jwks;
  readonly cache: TokenCache;
  readonly now: () => number;
}

/** As clients write it; compared first, because changing the case of a text costs more. */
const SCHEME = "Bearer ";

/** The token of a request: `Authorization: Bearer TOKEN`, once. A token in the query is none. Its characters are judged with the token. */
function bearerToken(sent: string): string {
  // No token has a comma: this is the list of several headers.
  if (sent.includes(",")) return "repeated";
  if (!sent.startsWith(SCHEME) && sent.slice(0, SCHEME.length).toLowerCase() !== "bearer ") return "missing";
  const token = sent.charCodeAt(SCHEME.length) === SPACE ? sent.slice(SCHEME.length).trimStart() : sent.slice(SCHEME.length);
  if (token === "") return "missing";
  return token.length > MAX_TOKEN_CHARS ? "too long" : token;
}

const SPACE = 0x20;

/** Verifies a token that is not in the cache; keys that do not know it are renewed, once. */
async function authenticate(verifier: Verifier, token: string, digest: string, known: IssuerKeys | null, refusals: Refusals): Promise<Authentication> {
  const { jwks, cache, options, now } = verifier;
  let keys = known ?? ((await jwks.renew()) ? jwks.use() : null);
  if (keys === null) return refusals["no keys"];
  let verified = await verify(token, keys, verifier);
  if (verified === "unknown key" && (await jwks.renew())) {
    keys = jwks.use() ?? keys;
    verified = await verify(token, keys, verifier);
  }
  if (typeof verified === "string") return refusals[verified];
  const principal = principalFrom(verified, options);
  if (typeof principal === "string") return refusals[principal];
  const until = Math.min(keys.until, (Number(verified.exp) + SKEW_S) * 1000);
  // Keys that came meanwhile may lack the one that signed it.
  if (until > now() && jwks.use() === keys) cache.add(digest, { principal, until, chars: token.length });
  return principal;
}

async function verify(token: string, keys: IssuerKeys, { options, now }: Verifier): Promise<JWTPayload | Reason> {
  const rules: JWTVerifyOptions = {
    issuer: options.issuer, audience: options.audience, algorithms: [...options.algorithms],
    requiredClaims: ["exp"], clockTolerance: SKEW_S, currentDate: new Date(now()),
  };
  try {
    return claimsOf(await jwtVerify(token, keys.find, rules));
  } catch (error) {
    return error instanceof errors.JWKSMultipleMatchingKeys ? verifyWithEach(token, error, rules) : reasonOf(error);
  }
}

/** A token that names no key, or one that several have. */
async function verifyWithEach(token: string, candidates: errors.JWKSMultipleMatchingKeys, rules: JWTVerifyOptions): Promise<JWTPayload | Reason> {
  let tried = 0;
  for await (const key of candidates) {
    if ((tried += 1) > MAX_KEYS_TRIED) break;
    try {
      return claimsOf(await jwtVerify(token, key as Exclude<Parameters<typeof jwtVerify>[1], JWTVerifyGetKey>, rules));
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== "wrong signature") return reason;
    }
  }
  return "wrong signature";
}

/**
 * The claims, unless the token says that it is of another kind: a logout token or an assertion for another server, signed
 * by the same issuer, is no access token (RFC 8725 section 3.11). Most issuers write no type, or JWT.
 */
function claimsOf({ payload, protectedHeader: { typ } }: JWTVerifyResult): JWTPayload | Reason {
  // The sender of such a token has to show that they have the key too, which this server does not ask for.
  if (typeof payload["cnf"] === "object" && payload["cnf"] !== null && "jkt" in payload["cnf"]) return "bound to a key of its client";
  return typ !== undefined && /\+jwt$/i.test(typ) && !/(?:^|[/-])at\+jwt$/i.test(typ) ? "not an access token" : payload;
}

/** Why a token is refused. Words of ours: what is in a token that was not verified is in no message. */
type Reason = keyof typeof REASONS;
type Refusals = { readonly [reason in Reason]: Challenge };

const REASONS = {
  missing: ["missing", "missing bearer token"],
  repeated: ["invalid_request", "the header authorization is there more than once"],
  "too long": ["invalid_token", "invalid token"],
  "not a JWT": ["invalid_token", "invalid token"],
  "algorithm not allowed": ["invalid_token", "invalid token"],
  "unknown key": ["invalid_token", "jwt kid not found in JWKS"],
  "wrong signature": ["invalid_token", "invalid token"],
  expired: ["invalid_token", "token expired"],
  "no exp": ["invalid_token", "invalid token"],
  "not valid yet": ["invalid_token", "invalid token"],
  "wrong issuer": ["invalid_token", "invalid token"],
  "wrong audience": ["invalid_token", "invalid token"],
  "wrong claim": ["invalid_token", "invalid token"],
  "bound to a key of its client": ["invalid_token", "invalid token"],
  "not an access token": ["invalid_token", "invalid token"],
  "sub is not text": ["invalid_token", "invalid token"],
  "the principal is not text": ["invalid_token", "invalid token"],
  "cannot be verified": ["invalid_token", "invalid token"],
  "no keys": ["unavailable", "the keys of the issuer cannot be fetched now"],
} as const satisfies { readonly [reason: string]: readonly [RefusalKind, string] };

function createRefusals(publicUrl: string | null): Refusals {
  const made = Object.entries(REASONS).map(([reason, [kind, message]]) => [reason, bearerChallenge(publicUrl, kind, message, reason)]);
  return Object.fromEntries(made) as Refusals;
}

const CLAIMS: { readonly [claim: string]: Reason } = { exp: "no exp", nbf: "not valid yet", iss: "wrong issuer", aud: "wrong audience" };

function reasonOf(error: unknown): Reason {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIMS[error.claim] ?? "wrong claim";
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm not allowed";
  if (error instanceof errors.JWKSNoMatchingKey) return "unknown key";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "wrong signature";
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return "not a JWT";
  return "cannot be verified";
}
