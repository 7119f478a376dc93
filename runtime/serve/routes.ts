/** The HTTP routes of a server: POST /mcp, the two probes, and clear refusals for everything else. */
import { dispatch, parseError, strangerError, unsupportedVersion } from "../mcp/dispatch.js";
import { dispatchEnvelope, isEnvelopeEra } from "../mcp/envelope-era.js";
import { versionCalled, versionWithoutHeader, type ProtocolVersion } from "../mcp/versions.js";
import type { HeaderList, HttpReply, HttpRequest, HttpRoute } from "../transport/types.js";
import type { Readiness } from "./health.js";
import { answerForm, EVENT_TYPE, JSON_TYPE, mayGetEvents, sendAnswer, type AnswerTo } from "./http-answer.js";
import { HttpPeer } from "./http-peer.js";
import type { Identity } from "./identity.js";
import type { Idle } from "./idle.js";
import { memoizeLast } from "../base/memoize.js";
import type { OriginRules } from "./origins.js";
import type { ServedProjects } from "./projects.js";
import type { Subscriptions } from "./subscriptions.js";

export const MAX_BODY_BYTES = 4 * 1024 * 1024;

const NO_HEADERS: HeaderList = [];

/** What the routes need of the server they belong to. */
export interface RouteParts {
  readonly projects: Pick<ServedProjects, "of">;
  readonly origins: OriginRules;
  readonly readiness: Readiness;
  /** Requests of POST /mcp that are not answered yet. */
  readonly idle: Idle;
  readonly draining: () => boolean;
  readonly subscriptions: Subscriptions;
  readonly identity: Identity;
  /** Request headers in which arguments are repeated, lower-case. */
  readonly paramHeaders: readonly string[];
}

/** The headers that every route reads first, and where they are among its values; POST /mcp reads three more. */
const HOSTS: readonly string[] = ["host", "origin"];
const HOST = 0;
const ORIGIN = 1;
const CONTENT_TYPE = 2;
const ACCEPT = 3;
const VERSION = 4;

/** What decides about requests, with its last decisions. */
interface Judge {
  readonly parts: RouteParts;
  readonly mayHost: (host: string) => boolean;
  readonly answerForm: typeof answerForm;
  readonly version: (name: string) => ProtocolVersion | null;
}

export function createRoutes(parts: RouteParts): { readonly routes: readonly HttpRoute[]; readonly notFound: HttpRoute["handler"] } {
  const judge: Judge = { parts, mayHost: memoizeLast(parts.origins.mayHost), answerForm: memoizeLast(answerForm), version: memoizeLast(versionCalled) };
  const checked = (handler: HttpRoute["handler"]): HttpRoute["handler"] => (request, reply) => {
    if (refuseStranger(judge, request, reply)) return;
    return handler(request, reply);
  };
  const only = (allow: string): HttpRoute["handler"] => checked((_, reply) => {
    sendError(reply, 405, "method_not_allowed", `use ${allow}`, [["allow", allow]]);
  });
  return {
    routes: [
      {
        method: "POST",
        pattern: "/mcp",
        headers: [...HOSTS, "content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name", ...parts.paramHeaders, ...parts.identity.headers],
        readsQuery: false,
        bodyLimitBytes: MAX_BODY_BYTES,
        handler: (request, reply) => postMcp(judge, request, reply),
      },
      { method: "OPTIONS", pattern: "/mcp", headers: HOSTS, handler: checked((request, reply) => preflight([...parts.paramHeaders, ...parts.identity.headers], request, reply)) },
      { method: "ANY", pattern: "/mcp", headers: HOSTS, bodyLimitBytes: MAX_BODY_BYTES, handler: only("POST") },
      { method: "GET", pattern: "/healthz", headers: HOSTS, handler: checked((_, reply) => reply.send(200, JSON_TYPE, '{"ok":true}')) },
      { method: "GET", pattern: "/readyz", headers: HOSTS, handler: checked((_, reply) => readyz(parts.readiness, reply)) },
      { method: "ANY", pattern: "/healthz", headers: HOSTS, bodyLimitBytes: MAX_BODY_BYTES, handler: only("GET, HEAD") },
      { method: "ANY", pattern: "/readyz", headers: HOSTS, bodyLimitBytes: MAX_BODY_BYTES, handler: only("GET, HEAD") },
    ],
    notFound: (_, reply) => sendError(reply, 404, "not_found", "there is nothing at this path; MCP is at POST /mcp"),
  };
}

async function readyz(readiness: Readiness, reply: HttpReply): Promise<void> {
  const body = await readiness.ask();
  reply.send(body.ready ? 200 : 503, JSON_TYPE, JSON.stringify(body));
}

/** POST /mcp, in the order of docs/lifecycle.md. */
function postMcp(judge: Judge, request: HttpRequest, reply: HttpReply): void {
  const { parts } = judge;
  if (parts.draining()) {
    sendError(reply, 503, "shutting_down", "the server is shutting down", [["connection", "close"]]);
    return;
  }
  if (refuseStranger(judge, request, reply)) return;
  const { values } = request;
  const cors = corsHeaders(values[ORIGIN] ?? "");
  if (!isJsonType(values[CONTENT_TYPE] ?? "")) {
    sendError(reply, 415, "unsupported_media_type", "the body of POST /mcp is application/json", cors);
    return;
  }
  const accept = values[ACCEPT] ?? "";
  const form = judge.answerForm(accept);
  if (form === null) {
    sendError(reply, 406, "not_acceptable", "POST /mcp answers application/json or text/event-stream", cors);
    return;
  }
  const to: AnswerTo = { reply, form, accept, cors };
  const value = parseBody(request.text());
  if (value === undefined) {
    sendAnswer(to, parseError());
    return;
  }
  const asked = values[VERSION] ?? "";
  const named = judge.version(asked);
  const principal = parts.identity.of(request);
  const mcp = parts.projects.of(principal);
  if (mcp === null) {
    sendAnswer(to, strangerError(value, isEnvelopeEra(value, named) ? "envelope" : "handshake"));
    return;
  }
  if (isEnvelopeEra(value, named)) {
    const peer = new HttpPeer(to, principal, versionWithoutHeader(), parts.idle);
    parts.idle.begin();
    const listen = dispatchEnvelope(mcp, value, request, peer, peer);
    if (listen === null) return;
    parts.idle.end();
    if (mayGetEvents(accept)) parts.subscriptions.open(listen, mcp.infoText, reply, [...EVENT_TYPE, ...cors]);
    else sendError(reply, 406, "not_acceptable", "subscriptions/listen answers text/event-stream", cors);
    return;
  }
  const version = asked === "" ? versionWithoutHeader() : named;
  if (version === null) {
    sendAnswer(to, unsupportedVersion(value, asked));
    return;
  }
  const peer = new HttpPeer(to, principal, version, parts.idle);
  parts.idle.begin();
  dispatch(mcp, value, peer, peer);
}

/** The parsed body; `undefined` when it is not JSON in UTF-8. */
function parseBody(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isJsonType(type: string): boolean {
  return type === "application/json" || type === "" || /^application\/json\s*(;|$)/i.test(type);
}

function sendError(reply: HttpReply, status: number, code: string, message: string, headers: HeaderList = []): void {
  reply.send(status, [...JSON_TYPE, ...headers], JSON.stringify({ error: { code, message } }));
}

/** Answers 403 to a Host or Origin that this server does not serve; true when it did. */
function refuseStranger({ parts, mayHost }: Judge, { values }: HttpRequest, reply: HttpReply): boolean {
  const host = values[HOST] ?? "";
  if (!mayHost(host)) {
    sendError(reply, 403, "forbidden_host", "this server answers to loopback names only");
    return true;
  }
  if (!parts.origins.mayOrigin(values[ORIGIN] ?? "", host)) {
    sendError(reply, 403, "forbidden_origin", "this origin is not on the allow list (--allow-origin)");
    return true;
  }
  return false;
}

/** For an origin that has passed the check: its page may read the answer. */
function corsHeaders(origin: string): HeaderList {
  if (origin === "") return NO_HEADERS;
  return [["access-control-allow-origin", origin], ["vary", "Origin"], ["access-control-expose-headers", "Retry-After, WWW-Authenticate"]];
}

function preflight(headers: readonly string[], request: HttpRequest, reply: HttpReply): void {
  reply.send(204, [
    ...corsHeaders(request.values[ORIGIN] ?? ""),
    ["access-control-allow-methods", "POST"],
    ["access-control-allow-headers", ["Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id", ...headers].join(", ")],
    ["access-control-max-age", "86400"],
    ["allow", "POST"],
  ], "");
}
