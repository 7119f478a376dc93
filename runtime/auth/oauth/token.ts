/** The token and revocation endpoints (RFC 6749, RFC 7009). */
import type { HttpRequest } from "../../transport/types.js";
import { authenticateClient, isConfidential, type ClientAuthParts } from "./client-auth.js";
import type { Answer } from "./endpoint.js";
import { readForm } from "./form.js";
import { exchangeCode, refreshTokens, required, type TokenAnswer } from "./grants.js";
import { JWT_BEARER } from "./id-jag.js";
import { OauthError } from "./oauth-error.js";
import { PATHS, type OauthServer } from "./server.js";
import { digest, isToken } from "./tokens.js";

export function grantTypes({ idJag }: Pick<OauthServer, "idJag">): readonly string[] {
  return ["authorization_code", "refresh_token", ...(idJag === null ? [] : [JWT_BEARER])];
}

/** POST /oauth/token */
export async function token(server: OauthServer, request: HttpRequest, address: string): Promise<Answer> {
  const form = readForm(request);
  const grant = required(form, "grant_type");
  if (!grantTypes(server).includes(grant)) throw new OauthError("unsupported_grant_type", `grant_type is one of ${grantTypes(server).join(", ")}`);
  const client = await authenticateClient(clientAuth(server), request, form, address);
  const exchange = async (): Promise<TokenAnswer> => {
    if (grant === "authorization_code") return exchangeCode(server, client, form);
    if (grant === "refresh_token" || server.idJag === null) return refreshTokens(server, client, form);
    if (!isConfidential(client, form)) throw new OauthError("unauthorized_client", "only a client that authenticates may use this grant");
    return server.idJag.exchange(server, client, form);
  };
  return { status: 200, body: await exchange() };
}

/** POST /oauth/revoke: ends the login that a token belongs to, if it is one of this client. */
export async function revoke(server: OauthServer, request: HttpRequest, address: string): Promise<Answer> {
  const form = readForm(request);
  const text = required(form, "token");
  const client = await authenticateClient(clientAuth(server), request, form, address);
  const login = isToken("tsrt_", text) ? await server.store.refresh(digest(text)) : isToken("tsat_", text) ? (await server.store.access(digest(text)))?.login : null;
  // Whether there is such a token is nobody else's business: the answer is the same.
  if (login !== null && login !== undefined && login.clientId === client.id) {
    await server.store.endLogin(login.id);
    server.log.info("oauth login ended by its client", { login: login.id, client: client.id });
  }
  return { status: 200, body: "" };
}

function clientAuth({ clients, store, now, issuer }: OauthServer): ClientAuthParts {
  return { clients, store, now, audiences: [issuer, `${issuer}/`, `${issuer}${PATHS.token}`, `${issuer}${PATHS.revoke}`] };
}
