/** Clients that register themselves: RFC 7591. */
import { z } from "zod";
import type { HttpRequest } from "../../transport/types.js";
import { OauthError, unavailable } from "./oauth-error.js";
import { MAX_REDIRECT_URIS, redirectKind } from "./redirect-uri.js";
import type { AuthStore } from "./store.js";
import { digest, newId, newToken } from "./tokens.js";

const MAX_REGISTRATIONS = 10;
const WINDOW_MS = 3_600_000;
const MAX_NAME_CHARACTERS = 200;
const GRANTS = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"];

const REQUEST = z.looseObject({
  redirect_uris: z.array(z.string()).max(MAX_REDIRECT_URIS).optional(),
  client_name: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

/** The answer of a registration; the names are the wire's. */
export interface Registration {
  readonly client_id: string;
  readonly client_id_issued_at: number;
  readonly client_secret?: string;
  readonly client_secret_expires_at?: number;
  readonly client_name?: string;
  readonly redirect_uris: readonly string[];
  readonly token_endpoint_auth_method: string;
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
}

export interface RegistrationParts {
  readonly store: AuthStore;
  readonly now: () => number;
  /** Whether the jwt-bearer grant is served: then a client may register without a redirect address. */
  readonly assertions: boolean;
}

/** @throws OauthError invalid_redirect_uri, invalid_client_metadata, or 429 slow_down. */
export async function register({ store, now, assertions }: RegistrationParts, request: HttpRequest, address: string): Promise<Registration> {
  const metadata = parse(request);
  const grants = (metadata.grant_types ?? ["authorization_code", "refresh_token"]).filter((grant) => GRANTS.includes(grant) && (assertions || grant !== GRANTS[2]));
  const redirectUris = checkRedirects(metadata.redirect_uris ?? [], grants);
  const method = checkMethod(metadata.token_endpoint_auth_method ?? "client_secret_basic");
  if (metadata.response_types?.length !== undefined && metadata.response_types.length > 0 && !metadata.response_types.includes("code")) throw new OauthError("invalid_client_metadata", "response_types: this server has code only");
  await checkRate(store, address);
  const secret = method === "none" ? null : newToken("tscs_");
  const id = newId("tscl_");
  const name = metadata.client_name?.slice(0, MAX_NAME_CHARACTERS) ?? "";
  const added = await store.addClient({ id, name, redirectUris, secretDigest: secret === null ? null : digest(secret), createdAt: now() });
  if (!added) throw unavailable("this server has too many clients");
  return {
    client_id: id,
    client_id_issued_at: Math.floor(now() / 1000),
    ...(secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    ...(name === "" ? {} : { client_name: name }),
    redirect_uris: redirectUris,
    token_endpoint_auth_method: method,
    grant_types: grants,
    response_types: redirectUris.length > 0 ? ["code"] : [],
  };
}

function parse(request: HttpRequest): z.infer<typeof REQUEST> {
  if (!/^application\/json\s*(;|$)/i.test(request.header("content-type"))) throw new OauthError("invalid_client_metadata", "the body of a registration is application/json");
  const read = REQUEST.safeParse(json(request.text()));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const code = issue?.path[0] === "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata";
  throw new OauthError(code, `${issue?.path.join(".") || "the body"}: ${issue?.message ?? "is not client metadata"}`);
}

function json(text: string | null): unknown {
  try {
    return text === null ? null : (JSON.parse(text) as unknown);
  } catch {
    return null;
  }
}

function checkRedirects(uris: readonly string[], grants: readonly string[]): readonly string[] {
  if (uris.length === 0 && (grants.length === 0 || grants.some((grant) => grant !== GRANTS[2]))) throw new OauthError("invalid_redirect_uri", "redirect_uris names at least one address");
  for (const uri of uris) {
    const found = redirectKind(uri);
    if ("problem" in found) throw new OauthError("invalid_redirect_uri", `the redirect address ${uri.slice(0, 200)} ${found.problem}`);
  }
  return uris;
}

/** private_key_jwt needs the keys of a metadata document, so it cannot be registered. */
function checkMethod(method: string): string {
  if (["none", "client_secret_post", "client_secret_basic"].includes(method)) return method;
  throw new OauthError("invalid_client_metadata", "token_endpoint_auth_method is none, client_secret_post or client_secret_basic; private_key_jwt needs a client id metadata document");
}

async function checkRate(store: AuthStore, address: string): Promise<void> {
  const { count, waitMs } = await store.count(`register:${address}`, WINDOW_MS, 1);
  if (count > MAX_REGISTRATIONS) {
    throw new OauthError("slow_down", `more than ${MAX_REGISTRATIONS} registrations from one address in an hour`, 429, [["retry-after", String(Math.ceil(waitMs / 1000))]]);
  }
}
