/** The HTTP routes of a server: POST /mcp, the two probes, /metrics, and clear refusals for everything else. */
import type { Principal } from "../../abi/call.js";
import { memoizeLast } from "../../base/memoize.js";
import { JSON_TYPE, SECURITY_HEADERS } from "../../http/errors.js";
import type { Gate, RequestPath } from "../../http/request-path.js";
import { dispatch, intricateError, parseError, strangerError, unsupportedVersion } from "../../mcp/dispatch.js";
import { parseJson, TOO_INTRICATE } from "../../base/parse-json.js";
import { dispatchStateless, isStateless } from "../../mcp/stateless-protocol.js";
import { versionCalled, versionWithoutHeader, type ProtocolVersion } from "../../mcp/versions.js";
import type { Admit, HeaderList, HttpHandler, HttpHead, HttpReply, HttpRequest, HttpRoute, Refusal } from "../../transport/types.js";
import type { InFlight } from "../in-flight.js";
import type { ServedMetrics } from "../observability.js";
import type { ServedProjects } from "../projects.js";
import { answerForm, EVENT_TYPE, mayGetEvents, sendAnswer, type AnswerTo } from "./answer.js";
import { HttpPeer } from "./peer.js";
import type { Readiness } from "./readiness.js";
import type { Subscriptions } from "./subscriptions.js";

export const MAX_BODY_BYTES = 4 * 1024 * 1024;

const NO_HEADERS: HeaderList = [];

/** What the routes need of the server they belong to. */
export interface RouteParts {
  /** What comes before a route: Host and Origin, authentication, limits. */
  readonly path: RequestPath;
  readonly projects: Pick<ServedProjects, "of">;
  readonly readiness: Readiness;
  /** `null` when no catalog asks for metrics: then there is nothing at /metrics. */
  readonly metrics: ServedMetrics | null;
  /** Requests of POST /mcp that are not answered yet. */
  readonly inFlight: InFlight;
  readonly subscriptions: Subscriptions;
  /** Request headers in which arguments are repeated, lower-case. */
  readonly paramHeaders: readonly string[];
}

/** Where the headers that POST /mcp reads are among its values, behind those of the request path. */
const ORIGIN = 1;
const CONTENT_TYPE = 2;
const ACCEPT = 3;
const VERSION = 4;
const TRACEPARENT = 5;

/** What POST /mcp decides with, and its latest decisions about headers. */
interface Judge {
  readonly parts: RouteParts;
  readonly cors: (request: HttpRequest) => HeaderList;
  readonly answerForm: typeof answerForm;
  readonly version: (name: string) => ProtocolVersion | null;
}

export function createRoutes(parts: RouteParts): { readonly routes: readonly HttpRoute[]; readonly notFound: { readonly admit: Admit }; readonly notFoundHeaders: readonly string[] } {
  const { path, paramHeaders, metrics } = parts;
  const cors = (request: HttpRequest): HeaderList => ((request.values[ORIGIN] ?? "") === "" ? NO_HEADERS : path.cors(request));
  const judge: Judge = { parts, cors, answerForm: memoizeLast(answerForm), version: memoizeLast(versionCalled) };
  const headers = path.headers();
  /** A route that everybody may use, at any time. */
  const open = (handler: HttpHandler): Admit => path.admit(() => handler, OPEN);
  const only = (allow: string): Admit => open((request, reply) => refuse(reply, path.refusal(request, 405, "method_not_allowed", `use ${allow}`, [["allow", allow]])));
  const preflightAllows = path.headers(paramHeaders).filter((name) => name !== "host" && name !== "origin");
  return {
    routes: [
      {
        method: "POST",
        pattern: "/mcp",
        headers: path.headers(["content-type", "accept", "mcp-protocol-version", "traceparent", "mcp-method", "mcp-name", ...paramHeaders]),
        readsQuery: false,
        bodyLimitBytes: MAX_BODY_BYTES,
        admit: path.admit((principal) => (request, reply) => postMcp(judge, principal, request, reply), { check: (head) => checkTypes(judge, head) }),
      },
      { method: "OPTIONS", pattern: "/mcp", headers, admit: open((request, reply) => preflight(cors(request), preflightAllows, reply)) },
      { method: "ANY", pattern: "/mcp", headers, bodyLimitBytes: MAX_BODY_BYTES, admit: only("POST") },
      { method: "GET", pattern: "/healthz", headers, admit: open((_, reply) => reply.send(200, PROBE_HEADERS, '{"ok":true}')) },
      { method: "GET", pattern: "/readyz", headers, admit: open((_, reply) => readyz(parts.readiness, reply)) },
      { method: "ANY", pattern: "/healthz", headers, bodyLimitBytes: MAX_BODY_BYTES, admit: only("GET, HEAD") },
      { method: "ANY", pattern: "/readyz", headers, bodyLimitBytes: MAX_BODY_BYTES, admit: only("GET, HEAD") },
      ...(metrics === null ? [] : [
        { method: "GET", pattern: "/metrics", headers, admit: path.admit(() => metricsHandler(metrics), metrics.requireAuth ? GUARDED : OPEN) },
        { method: "ANY", pattern: "/metrics", headers, bodyLimitBytes: MAX_BODY_BYTES, admit: only("GET, HEAD") },
      ] as const),
    ],
    notFound: { admit: open((request, reply) => refuse(reply, path.refusal(request, 404, "not_found", "there is nothing at this path; MCP is at POST /mcp"))) },
    notFoundHeaders: headers,
  };
}

/** Probes and refusals of a method say the same to everybody, also while the server stops. */
const OPEN: Gate = { isPublic: true, whileStopping: true };
/** As POST /mcp, but also while the server stops: the last calls are counted then. */
const GUARDED: Gate = { whileStopping: true };
const PROBE_HEADERS: HeaderList = [...JSON_TYPE, ...SECURITY_HEADERS];

async function readyz(readiness: Readiness, reply: HttpReply): Promise<void> {
  const body = await readiness.ask();
  if (body.ready) reply.send(200, PROBE_HEADERS, JSON.stringify(body));
  else reply.send(503, [...PROBE_HEADERS, ["retry-after", "2"]], JSON.stringify(body));
}

function metricsHandler(metrics: ServedMetrics): HttpHandler {
  const headers: HeaderList = [["content-type", metrics.contentType], ...SECURITY_HEADERS];
  return async (_, reply) => reply.send(200, headers, await metrics.text());
}

/** Media types are decided before the body is read: 415 for the one that is sent, 406 for those that are accepted. */
function checkTypes({ parts: { path }, answerForm }: Judge, head: HttpHead): Refusal | null {
  if (!isJsonType(head.values[CONTENT_TYPE] ?? "")) return path.refusal(head, 415, "unsupported_media_type", "the body of POST /mcp is application/json");
  return answerForm(head.values[ACCEPT] ?? "") === null ? path.refusal(head, 406, "not_acceptable", "POST /mcp answers application/json or text/event-stream") : null;
}

/** POST /mcp, in the order of docs/lifecycle.md. */
function postMcp(judge: Judge, principal: Principal, request: HttpRequest, reply: HttpReply): void {
  const { parts } = judge;
  const stopping = parts.path.checkStopping(request);
  if (stopping !== null) {
    refuse(reply, stopping);
    return;
  }
  const { values } = request;
  const cors = judge.cors(request);
  const accept = values[ACCEPT] ?? "";
  const form = judge.answerForm(accept);
  if (form === null) throw new TypeError("checkTypes refuses this head");
  const to: AnswerTo = { reply, form, accept, cors };
  const text = request.text();
  const value = text === null ? undefined : parseJson(text);
  if (value === undefined || value === TOO_INTRICATE) {
    sendAnswer(to, value === undefined ? parseError() : intricateError());
    return;
  }
  const asked = values[VERSION] ?? "";
  const named = judge.version(asked);
  const mcp = parts.projects.of(principal);
  if (mcp === null) {
    sendAnswer(to, strangerError(value, isStateless(value, named) ? "stateless" : "handshake"));
    return;
  }
  if (isStateless(value, named)) {
    const peer = new HttpPeer(to, principal, versionWithoutHeader(), parts.inFlight, values[TRACEPARENT] ?? null);
    parts.inFlight.begin();
    const listen = dispatchStateless(mcp, value, request, peer, peer);
    if (listen === null) return;
    parts.inFlight.end();
    if (mayGetEvents(accept)) parts.subscriptions.open(listen, mcp.infoText, reply, [...EVENT_TYPE, ...cors], () => parts.path.stillAdmits(request));
    else refuse(reply, parts.path.refusal(request, 406, "not_acceptable", "subscriptions/listen answers text/event-stream"));
    return;
  }
  const version = asked === "" ? versionWithoutHeader() : named;
  if (version === null) {
    sendAnswer(to, unsupportedVersion(value, asked));
    return;
  }
  const peer = new HttpPeer(to, principal, version, parts.inFlight, values[TRACEPARENT] ?? null);
  parts.inFlight.begin();
  dispatch(mcp, value, peer, peer);
}

function isJsonType(type: string): boolean {
  return type === "application/json" || type === "" || /^application\/json\s*(;|$)/i.test(type);
}

function refuse(reply: HttpReply, { status, headers, body }: Refusal): void {
  reply.send(status, headers, body);
}

function preflight(cors: HeaderList, allowed: readonly string[], reply: HttpReply): void {
  reply.send(204, [
    ...cors,
    ["access-control-allow-methods", "POST"],
    ["access-control-allow-headers", ["Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Traceparent", ...allowed].join(", ")],
    ["access-control-max-age", "86400"],
    ["allow", "POST"],
  ], "");
}
