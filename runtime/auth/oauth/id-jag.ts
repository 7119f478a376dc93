/**
 * Enterprise-managed authorization: the company's identity provider vouches for a user with an assertion, which a client
 * exchanges for a token without a login page (draft-ietf-oauth-identity-assertion-authz-grant, RFC 7523).
 */
import type { Client } from "./clients.js";
import type { Form } from "./form.js";
import type { OauthServer } from "./server.js";
import type { TokenAnswer } from "./grants.js";

export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

export interface IdJag {
  exchange(server: OauthServer, client: Client, form: Form): Promise<TokenAnswer>;
}
