/**
 * The HTTP and WebSocket routes of an instance: the generated operations with their handlers, and the static pages. What
 * comes before a route (Host and Origin, the token) is the request path of runtime/http; here follow the parameters and
 * the handler.
 */
import type { TraceRoute, TraceRoutes } from "../../abi/trace.js";
import type { BearerToken } from "../../auth/bearer-token.js";
import { SECURITY_HEADERS } from "../../http/errors.js";
import type { RequestPath } from "../../http/request-path.js";
import type { Admit, HeaderList, HttpHead, HttpReply, HttpRequest, HttpRoute, HttpServerOptions, SocketRoute } from "../../transport/types.js";
import { CLOSE, type FeedHub } from "../feed/hub.js";
import { MAX_BODY_BYTES } from "../ingest/body.js";
import { type AnyAnswer, type AnyHandler, detail, type Handlers, sendAnswer } from "./answer.js";
import { DOCS_CSS, DOCS_JS } from "./docs-assets.js";
import { queryValues, validateParams } from "./params.js";
import { PAGE_POLICY, type StaticFiles } from "./static.js";

export interface RouteOptions {
  readonly routes: TraceRoutes;
  readonly handlers: Handlers;
  readonly path: RequestPath;
  readonly token: BearerToken;
  readonly hub: FeedHub;
  readonly ui: StaticFiles;
  /** Refuses what changes something: the instance only shows. */
  readonly readOnly: boolean;
  readonly onError: (error: unknown, path: string) => void;
}

const HEADERS = ["accept-encoding", "content-type", "content-encoding", "if-none-match", "access-control-request-method", "access-control-request-headers"];
const CHANGING: ReadonlySet<string> = new Set(["deleteRun", "ingestEvents", "ingestSpans", "registerTools"]);
const TAKES_BODY: ReadonlySet<string> = new Set(["ingestEvents", "ingestSpans", "registerTools"]);
/** Answered without a token although no operation says so. */
const PUBLIC_PATHS = /^\/$|^\/ui(\/|$)|^\/docs\.(css|js)$/;

export function httpRoutes(options: RouteOptions): Pick<HttpServerOptions, "routes" | "notFound" | "notFoundHeaders"> {
  const operations = Object.entries(options.routes);
  const headers = options.path.headers(HEADERS);
  const patterns = operations.map(([, route]) => ({ route, pattern: route.path.replace(/\{(\w+)\}/g, ":$1") }));
  const served: HttpRoute[] = operations.map(([id, route], index) => ({
    method: route.method,
    pattern: patterns[index]?.pattern ?? route.path,
    headers,
    bodyLimitBytes: TAKES_BODY.has(id) ? MAX_BODY_BYTES : 0,
    admit: operationAdmit(id, route, options),
  }));
  const page = (method: "GET", pattern: string, answer: (request: HttpRequest) => AnyAnswer): HttpRoute => ({
    method, pattern, headers, admit: admit(options, true, answer),
  });
  const pages: HttpRoute[] = [
    page("GET", "/", () => redirect("ui/")),
    page("GET", "/ui", (request) => redirect(`${request.path.slice(1)}/`)),
    page("GET", "/ui/*", (request) => uiAnswer(options.ui, request)),
    page("GET", "/docs.css", () => ({ status: 200, type: "text/css; charset=utf-8", bytes: DOCS_CSS, headers: [["cache-control", "no-cache"]] })),
    page("GET", "/docs.js", () => ({ status: 200, type: "text/javascript; charset=utf-8", bytes: DOCS_JS, headers: [["cache-control", "no-cache"]] })),
  ];
  const preflight: HttpRoute = { method: "OPTIONS", pattern: "/*", headers, admit: preflightAdmit(options, patterns) };
  const other = (request: HttpRequest): AnyAnswer => otherAnswer(patterns, request);
  const known = admit(options, true, other);
  const unknown = admit(options, false, other);
  const notFound: Admit = (head) => (isPublicPath(patterns, head.path) ? known : unknown)(head);
  return { routes: [...served, ...pages, preflight], notFound: { admit: notFound }, notFoundHeaders: headers };
}

function operationAdmit(id: string, route: TraceRoute, options: RouteOptions): Admit {
  const handler = options.handlers[id as keyof Handlers] as AnyHandler | undefined;
  if (handler === undefined) throw new Error(`no handler for the operation ${id}`);
  const work = admit(options, route.public, (request) => {
    // An encoded slash is part of no id.
    if (request.params.some((param) => param.includes("/"))) return { status: 404, body: detail("Not Found") };
    const checked = validateParams(route, request.params, request.query);
    if ("invalid" in checked) return { status: 422, body: { detail: checked.invalid } };
    return handler(checked.values, request);
  });
  if (!options.readOnly || !CHANGING.has(id)) return work;
  return async (head) => {
    const admission = await work(head);
    return typeof admission === "function" ? options.path.refusal(head, 403, "read_only", "This instance is read-only") : admission;
  };
}

/** The request path, then an answer, and what becomes of an answer that fails. */
function admit(options: RouteOptions, isPublic: boolean, work: (request: HttpRequest) => AnyAnswer | Promise<AnyAnswer>): Admit {
  const handler = async (request: HttpRequest, reply: HttpReply): Promise<void> => {
    const shared: HeaderList = [["vary", "Origin"], ...allowOrigin(options, request)];
    const send = (answer: AnyAnswer): Promise<void> => sendAnswer(answer, withPolicy(answer, shared), header(request, "accept-encoding"), reply);
    try {
      return await send(await work(request));
    } catch (error) {
      options.onError(error, request.path);
      return send({ status: 503, body: detail("the store can't answer now"), headers: [["retry-after", "1"]] });
    }
  };
  return options.path.admit(() => handler, { isPublic });
}

function allowOrigin({ path }: RouteOptions, head: HttpHead): HeaderList {
  return path.cors(head).filter(([name]) => name === "access-control-allow-origin");
}

function header(request: HttpHead, name: string): string {
  return request.header(name);
}

/** Of answers that no route gives, such as 413: nothing is known there of who asks. */
export function errorHeaders(): HeaderList {
  return [["vary", "Origin"], ...SECURITY_HEADERS];
}

/** The security headers, where the answer has none of its own. */
function withPolicy(answer: AnyAnswer, shared: HeaderList): HeaderList {
  return [...shared, ...SECURITY_HEADERS.filter(([name]) => answer.headers?.some(([given]) => given === name) !== true)];
}

interface Pattern {
  readonly route: TraceRoute;
  readonly pattern: string;
}

/** A path that needs no token, whatever the method. */
function isPublicPath(patterns: readonly Pattern[], path: string): boolean {
  return PUBLIC_PATHS.test(path) || patterns.some(({ route, pattern }) => route.public && matches(pattern, path));
}

/** What no route answers: a slash too many, another method, or nothing at all. */
function otherAnswer(patterns: readonly Pattern[], request: HttpRequest): AnyAnswer {
  const bare = request.path.replace(/\/+$/, "");
  const query = request.query === "" ? "" : `?${request.query}`;
  if (bare !== request.path && bare !== "" && patterns.some(({ pattern }) => matches(pattern, bare))) {
    return { ...redirect(`${"../".repeat(1)}${bare.slice(bare.lastIndexOf("/") + 1)}${query}`), body: undefined, type: "text/plain", bytes: "" };
  }
  const methods = patterns.filter(({ pattern }) => matches(pattern, request.path)).map(({ route }) => route.method);
  if (methods.length === 0) return { status: 404, body: detail("Not Found") };
  return { status: 405, body: detail("Method Not Allowed"), headers: [["allow", [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)].join(", ")]] };
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split("/");
  const given = path.split("/");
  return parts.length === given.length && parts.every((part, index) => (part.startsWith(":") ? given[index] !== "" : part === given[index]));
}

/** Relative, so that it works behind a proxy that adds a prefix. */
function redirect(location: string): AnyAnswer {
  return { status: 307, type: "text/plain", bytes: "", headers: [["location", location]] };
}

function uiAnswer(ui: StaticFiles, request: HttpRequest): AnyAnswer {
  const path = request.path.slice("/ui/".length);
  return ui.answer(path, header(request, "if-none-match")) ?? { status: 404, body: detail(path === "" ? "The user interface is not part of this installation" : "Not Found"), headers: [["content-security-policy", PAGE_POLICY]] };
}

function preflightAdmit(options: RouteOptions, patterns: readonly Pattern[]): Admit {
  const other = admit(options, true, (request) => otherAnswer(patterns, request));
  const preflight = options.path.admit(() => (request, reply) => {
    const headers: HeaderList = [
      ["content-type", "text/plain"],
      ["vary", "Origin"],
      ["x-content-type-options", "nosniff"],
      ["referrer-policy", "no-referrer"],
      ...allowOrigin(options, request),
      ["access-control-max-age", "600"],
      ["access-control-allow-methods", "GET, POST, DELETE, OPTIONS"],
      ["access-control-allow-headers", header(request, "access-control-request-headers").replace(/[^\w\-, ]/g, "") || "authorization, content-type"],
    ];
    reply.send(200, headers, "OK");
  }, { isPublic: true });
  return (head) => (header(head, "origin") === "" || header(head, "access-control-request-method") === "" ? other : preflight)(head);
}

// ---- WebSockets ---------------------------------------------------------------------------------------------

type SocketState =
  | { readonly kind: "refused" }
  | { readonly kind: "trace"; readonly id: string; readonly extended: boolean; readonly since: number }
  | { readonly kind: "runs"; readonly extended: boolean; readonly pings: boolean };

/** Frames of clients are read and ignored; they need not be long. */
const CLIENT_FRAME_BYTES = 64 * 1024;

export function socketRoutes(options: RouteOptions, socketBytes: number): readonly SocketRoute<never>[] {
  const route = (pattern: string, accept: (request: HttpHead, query: { readonly [name: string]: string }) => SocketState): SocketRoute<SocketState> => ({
    pattern,
    headers: ["host", "origin", "sec-websocket-protocol"],
    maxMessageBytes: CLIENT_FRAME_BYTES,
    maxBufferedBytes: socketBytes,
    binary: "ignore",
    upgrade(request) {
      const refusal = options.path.checkHostAndOrigin(request);
      if (refusal !== null) return refusal;
      const query = queryValues(request.query);
      const protocols = header(request, "sec-websocket-protocol");
      // A browser fails a connection whose answer names none of the protocols that it offered.
      const protocol = protocols.split(",")[0]?.trim() ?? "";
      const echo = protocol === "" ? {} : { protocol };
      if (!options.token.authorizesSocket(query["token"] ?? null, protocols)) return { state: { kind: "refused" }, ...echo };
      return { state: accept(request, query), ...echo };
    },
    open(peer, state) {
      switch (state.kind) {
        case "refused":
          peer.close(CLOSE.unauthorized, "Unauthorized");
          return;
        case "trace":
          options.hub.openTrace(peer, state.id, state.extended, state.since);
          return;
        case "runs":
          options.hub.openRuns(peer, state.extended, state.pings);
          return;
        default:
          state satisfies never;
      }
    },
    message: (peer) => options.hub.heard(peer),
    drain: (peer) => options.hub.drained(peer),
    close: (peer) => options.hub.closed(peer),
  });
  const isOn = (value: string | undefined): boolean => value === "1" || value === "true";
  const sockets = [
    route("/ws/trace/:run_id", (request, query) => ({
      kind: "trace", id: request.params[0] ?? "", extended: isOn(query["extended"]), since: /^\d{1,15}$/.test(query["since"] ?? "") ? Number(query["since"]) : 0,
    })),
    route("/ws/runs", (_, query) => ({ kind: "runs", extended: isOn(query["extended"]), pings: query["ping"] !== "0" && query["ping"] !== "false" })),
  ];
  return sockets as unknown as readonly SocketRoute<never>[];
}
