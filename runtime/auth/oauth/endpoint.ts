/** Endpoints that programs call: JSON out, errors in the form of RFC 6749, readable by pages of every origin. */
import type { HeaderList, HttpHandler, HttpReply, HttpRequest } from "../../transport/types.js";
import { OauthError, description, RETRY_AFTER_S } from "./oauth-error.js";
import { peerAddress } from "./peer-address.js";
import type { OauthServer } from "./server.js";
import { StoreUnavailable } from "./store.js";

const HEADERS: HeaderList = [["content-type", "application/json"], ["cache-control", "no-store"], ["pragma", "no-cache"], ["x-content-type-options", "nosniff"], ["access-control-expose-headers", "Retry-After, WWW-Authenticate"]];

export interface Answer {
  readonly status: number;
  /** "" is an empty body. */
  readonly body: unknown;
}

/** @param step names the endpoint in the log. */
export function endpoint(server: OauthServer, step: string, run: (request: HttpRequest, address: string) => Promise<Answer>): HttpHandler {
  return async (request, reply) => {
    const address = peerAddress(request);
    try {
      const { status, body } = await run(request, address);
      sendJson(reply, status, body, []);
    } catch (error) {
      fail(server, step, request, reply, address, error);
    }
  };
}

function sendJson(reply: HttpReply, status: number, body: unknown, headers: HeaderList): void {
  reply.send(status, [...HEADERS, ...headers], body === "" ? "" : JSON.stringify(body));
}

function fail(server: OauthServer, step: string, request: HttpRequest, reply: HttpReply, address: string, error: unknown): void {
  if (error instanceof StoreUnavailable) {
    server.storeFailed(error);
    sendJson(reply, 503, { error: "temporarily_unavailable", error_description: "the server cannot reach its login store" }, [["retry-after", String(RETRY_AFTER_S)]]);
    return;
  }
  if (!(error instanceof OauthError)) throw error;
  server.report({ step, client: clientOf(request), address, problem: `${error.code}: ${error.message}`, advice: ADVICE[error.code] ?? "the client has to send another request" });
  sendJson(reply, error.status, { error: error.code, error_description: description(error.message) }, error.headers);
}

const ADVICE: { readonly [code: string]: string } = {
  invalid_client: "the client registers anew; if it does not, remove the server from it and add it again",
  invalid_grant: "the client starts a new login; if it does not, log out and in again there",
  invalid_target: "the address in the client must be the one of --public-url with /mcp",
  slow_down: "wait, or let the client keep its registration",
  temporarily_unavailable: "the client tries again in a moment",
};

/** For the log only: the client as the form names it. */
function clientOf(request: HttpRequest): string | null {
  const text = /(?:^|&)client_id=([^&]*)/.exec(request.text() ?? "")?.[1];
  try {
    return text === undefined ? null : decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
