/**
 * How a client finds out where to log in: the challenge of a 401 names a document (RFC 9728), and the document names the
 * authorization servers.
 */
import type { HeaderList } from "../transport/types.js";
import type { Challenge } from "./authenticate.js";
import type { AuthRoute } from "./service.js";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const MCP_PATH = "/mcp";

/** Address of the metadata document. @see specs/requirements.yaml TS-5-06 */
export function metadataUrl(publicUrl: string): string {
  return `${publicUrl}${WELL_KNOWN}`;
}

/** The resource that tokens are for: the address that the user gives to a client. */
export function resourceOf(publicUrl: string): string {
  return `${publicUrl}${MCP_PATH}`;
}

/** Why a request has no principal: as RFC 6750 section 3.1 sorts it, or because credentials cannot be judged now. */
export type RefusalKind = "missing" | "unavailable" | "invalid_token" | "invalid_request";

/**
 * The refusal of a request whose credentials are missing or wrong.
 * @param reason for the log; what the client reads says less.
 */
export function bearerChallenge(publicUrl: string | null, kind: RefusalKind, message: string, reason: string): Challenge {
  const params = [
    ...(publicUrl === null ? [] : [`resource_metadata="${metadataUrl(publicUrl)}"`]),
    // A request without credentials gets no error code (RFC 6750 section 3.1), and a token that was not judged none either, so that clients keep it.
    ...(kind === "missing" || kind === "unavailable" ? [] : [`error="${kind}"`, `error_description="${message}"`]),
  ];
  const headers: HeaderList = [["www-authenticate", params.length === 0 ? "Bearer" : `Bearer ${params.join(", ")}`]];
  // Clients ask without credentials first, to be told where to log in.
  const level = kind === "missing" ? "info" : "warn";
  return { status: kind === "invalid_request" ? 400 : 401, code: "auth_error", message, headers, refused: { reason, level } };
}

/**
 * The metadata document, at the address that the challenge names and at the one with the path of the resource, where
 * RFC 9728 section 3.1 puts it.
 * @param more further members of the document.
 */
export function resourceMetadataRoutes(publicUrl: string, authorizationServers: readonly string[], more: object = {}): readonly AuthRoute[] {
  return documentRoutes(WELL_KNOWN, publicUrl, {
    resource: resourceOf(publicUrl),
    ...(authorizationServers.length === 0 ? {} : { authorization_servers: authorizationServers }),
    bearer_methods_supported: ["header"],
    ...more,
  });
}

/** A well-known document, also where clients put the path of the resource or of the public address behind its own. */
export function documentRoutes(path: string, publicUrl: string, document: object): readonly AuthRoute[] {
  const text = JSON.stringify(document);
  const base = new URL(publicUrl).pathname.replace(/\/$/, "");
  return [...new Set([path, `${path}${MCP_PATH}`, `${path}${base}`, `${path}${base}${MCP_PATH}`])].map((pattern) => ({
    method: "GET",
    pattern,
    headers: [],
    readsQuery: false,
    bodyLimitBytes: 0,
    anyOrigin: true,
    handler: (_, reply) => reply.send(200, METADATA_HEADERS, text),
  }));
}

const METADATA_HEADERS: HeaderList = [["content-type", "application/json"], ["cache-control", "public, max-age=300"], ["x-content-type-options", "nosniff"]];
