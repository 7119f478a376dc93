/** What clients read first: what the authorization server can (RFC 8414), and what its tokens are for. */
import { ASSERTION_ALGORITHMS } from "./client-auth.js";
import { ID_JAG_PROFILE } from "./id-jag.js";
import { OFFLINE, SCOPE } from "./resource.js";
import { PATHS, type OauthServer } from "./server.js";
import { grantTypes } from "./token.js";

export const SERVER_PATH = "/.well-known/oauth-authorization-server";

/** Of the metadata of the resource. Hosts copy scopes_supported whole, so it has only the scope that everybody needs. */
export function resourceDetails({ title }: OauthServer): object {
  return { scopes_supported: [SCOPE], resource_name: title };
}

/** RFC 8414. Hosts use metadata documents only where `none` is listed too. */
export function serverMetadata(server: OauthServer): object {
  const { issuer, idJag } = server;
  const methods = ["none", "client_secret_post", "client_secret_basic", "private_key_jwt"];
  return {
    issuer,
    authorization_endpoint: issuer + PATHS.authorize,
    token_endpoint: issuer + PATHS.token,
    registration_endpoint: issuer + PATHS.register,
    revocation_endpoint: issuer + PATHS.revoke,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: grantTypes(server),
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    scopes_supported: [SCOPE, OFFLINE],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [server.resource],
    ...(idJag === null ? {} : { authorization_grant_profiles_supported: [ID_JAG_PROFILE] }),
  };
}
