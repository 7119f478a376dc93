/** The one resource that tokens are for (RFC 8707): POST /mcp under the public address. */
import { resourceOf } from "../resource-metadata.js";
import { OauthError } from "./oauth-error.js";

export const SCOPE = "mcp";
/** Asked for by hosts that want a refresh token; every login gets one. */
export const OFFLINE = "offline_access";

/**
 * A request without `resource` means the one there is: several hosts never send it. The server's own address, and either
 * with a slash at its end, are other spellings of it.
 * @throws OauthError invalid_target for any other resource.
 */
export function checkResource(asked: readonly string[], publicUrl: string): void {
  const own = [publicUrl, `${publicUrl}/`, resourceOf(publicUrl), `${resourceOf(publicUrl)}/`].map(normal);
  const foreign = asked.find((resource) => !own.includes(normal(resource)));
  if (foreign !== undefined) throw new OauthError("invalid_target", `this server issues tokens for ${resourceOf(publicUrl)} only, not for ${foreign.slice(0, 200)}`);
}

/** Scheme and host in one spelling. */
function normal(address: string): string {
  return URL.canParse(address) ? new URL(address).href : address;
}

/** What is granted of the scopes asked for. There is one scope for everything; a token never claims to allow less than it does. */
export function grantedScope(asked: string | null): string {
  return (asked ?? "").split(" ").includes(OFFLINE) ? `${SCOPE} ${OFFLINE}` : SCOPE;
}
