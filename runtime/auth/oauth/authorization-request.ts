/** What a client asks for at the authorization endpoint, checked in the order that decides who is told of a mistake. */
import type { Client } from "./clients.js";
import type { Form } from "./form.js";
import { OauthError } from "./oauth-error.js";
import { isRegistered, redirectKind } from "./redirect-uri.js";
import { checkResource, grantedScope } from "./resource.js";
import type { OauthServer } from "./server.js";

const MAX_STATE_CHARACTERS = 4096;

/** A request that can be granted. */
export interface Asked {
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string | null;
  /** PKCE, S256. */
  readonly challenge: string;
  readonly scope: string;
}

/** An error of a request whose client and redirect address are known. */
export class RefusedRequest extends Error {
  override readonly name = "RefusedRequest";
  constructor(
    readonly asked: Pick<Asked, "client" | "redirectUri" | "state">,
    readonly reason: unknown,
  ) {
    super("refused");
  }
}

/**
 * @throws OauthError when client or redirect address are not known: nobody is redirected.
 * @throws RefusedRequest for anything else.
 */
export async function checkAuthorization(server: OauthServer, form: Form, address: string): Promise<Asked> {
  const client = await findClient(server, form.get("client_id"), address);
  const redirectUri = checkRedirect(client, form.get("redirect_uri"));
  const state = form.get("state");
  try {
    return { client, redirectUri, state, challenge: checkRequest(server, form), scope: grantedScope(form.get("scope")) };
  } catch (error) {
    throw new RefusedRequest({ client, redirectUri, state: (state?.length ?? 0) > MAX_STATE_CHARACTERS ? null : state }, error);
  }
}

async function findClient({ clients }: OauthServer, id: string | null, address: string): Promise<Client> {
  if (id === null) throw new OauthError("invalid_request", "the request names no client: client_id is missing");
  const client = await clients.find(id, address);
  if (client === null) throw new OauthError("invalid_client", "this server does not know the application, or has forgotten it");
  return client;
}

function checkRedirect({ redirectUris }: Client, asked: string | null): string {
  const [only] = redirectUris;
  if (asked === null) {
    if (only === undefined || redirectUris.length > 1) throw new OauthError("invalid_request", "redirect_uri is missing");
    return only;
  }
  // Its form is checked again: the port of a loopback address is the client's, and may be anything.
  if (!isRegistered(asked, redirectUris) || "problem" in redirectKind(asked)) throw new OauthError("invalid_redirect_uri", "the redirect address is not one that the application registered");
  return asked;
}

/** @returns the PKCE challenge. */
function checkRequest({ issuer }: OauthServer, form: Form): string {
  if ((form.get("state")?.length ?? 0) > MAX_STATE_CHARACTERS) throw new OauthError("invalid_request", `state is longer than ${MAX_STATE_CHARACTERS} characters`);
  if (form.get("request") !== null) throw new OauthError("request_not_supported", "request objects are not supported");
  if (form.get("request_uri") !== null) throw new OauthError("request_uri_not_supported", "request objects are not supported");
  if (form.get("response_type") === null) throw new OauthError("invalid_request", "response_type is missing: it is code");
  if (form.get("response_type") !== "code") throw new OauthError("unsupported_response_type", "response_type is code");
  if ((form.get("response_mode") ?? "query") !== "query") throw new OauthError("invalid_request", "response_mode is query");
  if (form.get("prompt") === "none") throw new OauthError("login_required", "every login asks for the access secret");
  const challenge = form.get("code_challenge");
  if (challenge === null) throw new OauthError("invalid_request", "code_challenge is missing: this server needs PKCE with S256");
  if (form.get("code_challenge_method") !== "S256") throw new OauthError("invalid_request", "code_challenge_method is S256; plain is not accepted");
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) throw new OauthError("invalid_request", "code_challenge is not the base64url of a SHA-256");
  checkResource(form.all("resource"), issuer);
  return challenge;
}
