/** An answer that refuses a request of OAuth, in the form of RFC 6749 section 5.2. */
import type { HeaderList } from "../../transport/types.js";

export type OauthCode =
  | "invalid_request" | "invalid_client" | "invalid_grant" | "unauthorized_client" | "unsupported_grant_type" | "invalid_scope" | "invalid_target"
  | "invalid_redirect_uri" | "invalid_client_metadata" | "access_denied" | "unsupported_response_type" | "login_required" | "request_not_supported" | "request_uri_not_supported"
  | "temporarily_unavailable" | "slow_down";

/** Thrown by the steps of an endpoint and answered in one place. */
export class OauthError extends Error {
  override readonly name = "OauthError";
  /** @param message for the developer of the client: what is wrong and what to do. ASCII; quotes and backslashes are replaced, as the RFC says. */
  constructor(
    readonly code: OauthCode,
    message: string,
    readonly status: number = 400,
    readonly headers: HeaderList = [],
  ) {
    super(message);
  }
}

export const RETRY_AFTER_S = 5;

export function unavailable(message: string): OauthError {
  return new OauthError("temporarily_unavailable", message, 503, [["retry-after", String(RETRY_AFTER_S)]]);
}

/** `error_description` allows only these characters. */
export function description(message: string): string {
  return message.replaceAll('"', "'").replaceAll("\\", "/").replace(/[^\x20-\x7e]/g, "?");
}
