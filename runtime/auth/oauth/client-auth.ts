/**
 * Which client sends a request to the token or revocation endpoint. A client may use any of the methods it can, whatever
 * was advertised or registered: hosts send what they always send.
 */
import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import type { HttpRequest } from "../../transport/types.js";
import type { Client, Clients } from "./clients.js";
import type { Form } from "./form.js";
import { OauthError } from "./oauth-error.js";
import type { AuthStore } from "./store.js";
import { digest, sameText } from "./tokens.js";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/** Asymmetric ones; the metadata lists them. */
export const ASSERTION_ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA"];
const SKEW_S = 60;
/** An assertion that lives longer is refused: its id would have to be remembered as long. */
const MAX_ASSERTION_S = 3600;

export interface ClientAuthParts {
  readonly clients: Clients;
  readonly store: Pick<AuthStore, "claimOnce">;
  readonly now: () => number;
  /** What an assertion may name as its audience: the issuer and the endpoints. */
  readonly audiences: readonly string[];
}

/** @throws OauthError invalid_client when it is unknown, was forgotten, or its credentials are wrong. */
export async function authenticateClient(parts: ClientAuthParts, request: HttpRequest, form: Form, address: string): Promise<Client> {
  const basic = readBasic(request.header("authorization"));
  const assertion = form.get("client_assertion");
  const secret = form.get("client_secret");
  if ([basic !== null, assertion !== null, secret !== null].filter(Boolean).length > 1) throw new OauthError("invalid_request", "the client authenticates in more than one way");
  const id = basic?.id ?? form.get("client_id") ?? (assertion === null ? null : subjectOf(assertion));
  if (id === null) throw invalid("the request names no client: send client_id", basic !== null);
  if (basic !== null && form.get("client_id") !== null && form.get("client_id") !== basic.id) throw new OauthError("invalid_request", "client_id is not the client of the Authorization header");
  const client = await parts.clients.find(id, address);
  if (client === null) throw invalid("this server does not know the client, or has forgotten it: register again", basic !== null);
  if (assertion !== null) await checkAssertion(parts, client, form.get("client_assertion_type"), assertion);
  else if (client.secretDigest !== null) checkSecret(client.secretDigest, basic?.secret ?? secret, basic !== null);
  // A public client that sends a secret was never given one: what it sends proves nothing and is not needed.
  else if (!client.isPublic) throw invalid("this client authenticates with private_key_jwt", basic !== null);
  return client;
}

/** Whether a client proved who it is, rather than only naming itself. */
export function isConfidential(client: Client, form: Form): boolean {
  return client.secretDigest !== null || form.get("client_assertion") !== null;
}

function checkSecret(wanted: string, secret: string | null, isBasic: boolean): void {
  if (secret === null) throw invalid("this client has a secret: send it as client_secret or in the Authorization header", isBasic);
  if (!sameText(digest(secret), wanted)) throw invalid("the client secret is wrong: register again", isBasic);
}

/** RFC 7523 section 3. */
async function checkAssertion({ store, now, audiences }: ClientAuthParts, client: Client, type: string | null, assertion: string): Promise<void> {
  if (type !== ASSERTION_TYPE) throw new OauthError("invalid_request", `client_assertion_type is ${ASSERTION_TYPE}`);
  if (client.keys === null) throw invalid("this client has no keys for private_key_jwt", false);
  const options = { algorithms: [...ASSERTION_ALGORITHMS], issuer: client.id, subject: client.id, audience: [...audiences], requiredClaims: ["exp"], clockTolerance: SKEW_S, currentDate: new Date(now()) };
  const verify = async (again: boolean) => jwtVerify(assertion, createLocalJWKSet(await (client.keys ?? noKeys)(again)), options);
  const { payload } = await verify(false)
    .catch((error: unknown) => (error instanceof errors.JWKSNoMatchingKey ? verify(true) : Promise.reject(error)))
    .catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? invalid(`the client assertion is refused: ${error.message}`, false) : error;
    });
  const lastsS = (payload.exp ?? 0) + SKEW_S - now() / 1000;
  if (lastsS > MAX_ASSERTION_S + SKEW_S) throw invalid("the client assertion lives longer than an hour", false);
  const first = await store.claimOnce(`assertion:${digest(`${client.id} ${payload.jti ?? assertion}`)}`, Math.max(1000, lastsS * 1000));
  if (!first) throw invalid("the client assertion was used before: make a new one for each request", false);
}

function noKeys(): never {
  throw new TypeError("the client has no keys");
}

/** Subject of an assertion that is not verified yet; used to find the client whose keys verify it. */
function subjectOf(assertion: string): string | null {
  try {
    decodeProtectedHeader(assertion);
    const payload: unknown = JSON.parse(Buffer.from(assertion.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof payload === "object" && payload !== null && "sub" in payload && typeof payload.sub === "string" ? payload.sub : null;
  } catch {
    return null;
  }
}

/** RFC 6749 section 2.3.1: both parts are form-encoded. @throws OauthError for a header that is not Basic. */
function readBasic(header: string): { readonly id: string; readonly secret: string } | null {
  if (header === "") return null;
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(header)?.[1];
  const text = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8");
  const at = text.indexOf(":");
  if (at < 1) throw invalid("the Authorization header is not Basic with a client id and a secret", true);
  try {
    return { id: decodePart(text.slice(0, at)), secret: decodePart(text.slice(at + 1)) };
  } catch {
    throw invalid("the Authorization header is not form-encoded", true);
  }
}

function decodePart(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}

/** 401 always: hosts that see it register anew. */
function invalid(message: string, isBasic: boolean): OauthError {
  return new OauthError("invalid_client", message, 401, isBasic ? [["www-authenticate", 'Basic realm="oauth"']] : []);
}
