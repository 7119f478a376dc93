/**
 * The HTTP server: our routes on uWebSockets.js. With uws-*.ts this is the only place that knows the library;
 * everything above uses transport/types.ts. The head of a request is copied before the library's callback returns, and
 * decides whether the body is read; every handler runs inside one try/catch (an exception that reaches the library ends
 * the process); bodies are counted, because the library has no limit of its own.
 */
import { bindFailure } from "./bind-failure.js";
import { BodyBudget } from "./body-budget.js";
import type { Admission, Admit, HttpRoute, HttpServer, HttpServerOptions, Refusal } from "./types.js";
import type { UwsApp, UwsHandler, UwsListenToken, UwsModule, UwsRequest, UwsResponse } from "./uws-api.js";
import { bodyTooLarge, DISCARD_BYTES, holdBody, ownRefusal, readBody, refuseAndClose, type BodyRules, type OwnAnswers } from "./uws-body.js";
import { loadUws } from "./uws-load.js";
import { UwsReply, type Guard } from "./uws-reply.js";
import { BAD_LENGTH, type CopiedRequest, headReader, transferCodings } from "./uws-request.js";
import { socketBehavior } from "./uws-sockets.js";

/** Bound of all bodies in memory where the options name none. */
const BODY_BUDGET_BYTES = 256 * 1024 * 1024;
const NONE: readonly string[] = [];
const JSON_HEADERS = [["content-type", "application/json"]] as const;

/**
 * Creates a server; nothing is bound before `listen`.
 * @throws Error naming what to install, when this machine has no uWebSockets.js binary.
 */
export function createHttpServer(options: HttpServerOptions, uws: UwsModule = loadUws()): HttpServer {
  const app = uws.App();
  const report: HttpServerOptions["onError"] = (error, request) => {
    try {
      options.onError(error, request);
    } catch {
      // The log itself failed: there is nowhere to report it, and a throw from here would end the process.
    }
  };
  const { errorBody = defaultErrorBody, errorHeaders = [] } = options;
  const own: OwnAnswers = { body: errorBody, headers: [...JSON_HEADERS, ...errorHeaders] };
  const guard: Guard = { headers: own.headers, body: own.body("internal", "internal error"), report, checked: null };
  for (const route of options.sockets ?? []) {
    app.ws(route.pattern, socketBehavior(uws, route, headReader({ method: "GET", pattern: route.pattern, headers: route.headers ?? NONE }), guard));
  }
  const budget = new BodyBudget(options.bodyBudgetBytes ?? BODY_BUDGET_BYTES);
  const { notFoundHeaders = NONE, closesWithoutLength = false } = options;
  const shared: Shared = { own, guard, budget, closesWithoutLength };
  for (const route of options.routes) register(app, route, shared);
  register(app, { method: "ANY", pattern: "/*", headers: notFoundHeaders, ignoresBody: true, ...options.notFound }, shared);
  return new UwsServer(uws, app);
}

function defaultErrorBody(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } });
}

/** What the routes of a server share. */
interface Shared {
  readonly own: OwnAnswers;
  readonly guard: Guard;
  readonly budget: BodyBudget;
  readonly closesWithoutLength: boolean;
}

function register(app: UwsApp, route: HttpRoute, shared: Shared): void {
  const { pattern } = route;
  const handle = requestHandler(route, shared);
  switch (route.method) {
    case "GET":
      app.get(pattern, handle);
      app.head(pattern, handle);
      return;
    case "POST":
      app.post(pattern, handle);
      return;
    case "PUT":
      app.put(pattern, handle);
      return;
    case "DELETE":
      app.del(pattern, handle);
      return;
    case "OPTIONS":
      app.options(pattern, handle);
      return;
    case "ANY":
      app.any(pattern, handle);
      return;
    default:
      route.method satisfies never;
  }
}

function requestHandler(route: HttpRoute, { own, guard, budget, closesWithoutLength }: Shared): UwsHandler {
  const readHead = headReader(route);
  /** The only try/catch around handlers: no exception or rejection passes it. */
  const run: BodyRules["run"] = (handler, request, reply) => {
    try {
      const pending = handler(request, reply);
      if (pending !== undefined) pending.catch((error: unknown) => reply.fail(error));
    } catch (error) {
      reply.fail(error);
    }
  };
  const rules: BodyRules = { limitBytes: route.bodyLimitBytes ?? 0, ignored: route.ignoresBody === true, budget, own, run };

  return (res, req) => {
    const request = readHead(res, req);
    const reply = new UwsReply(res, request, guard);
    res.onAborted(() => {
      try {
        reply.abort();
      } catch (error) {
        guard.report(error, request);
      }
    });
    reply.corked = true;
    const problem = request.coded || request.length === BAD_LENGTH ? framingProblem(request, req, own) : null;
    // The library parses chunks and their extensions loosely; nothing after such a body may be read as a request.
    if (request.coded || (closesWithoutLength && request.length === "")) reply.closes = true;
    if (problem !== null) refuseAndClose(reply, problem);
    else if (route.handler !== undefined) proceed(res, request, reply, rules, route.handler);
    else admit(res, request, reply, rules, route.admit);
    reply.corked = false;
  };
}

/** Applies the route's decision about the head, now or when it is made. */
function admit(res: UwsResponse, request: CopiedRequest, reply: UwsReply, rules: BodyRules, decide: Admit): void {
  try {
    const admission = decide(request);
    if (typeof admission !== "function" && admission instanceof Promise) wait(res, request, reply, rules, admission);
    else proceed(res, request, reply, rules, admission);
  } catch (error) {
    reply.fail(error);
  }
}

/** RFC 9112 sections 6.1 and 6.3: what makes the end of a body uncertain is refused; `null` when nothing does. */
function framingProblem(request: CopiedRequest, req: UwsRequest, own: OwnAnswers): Refusal | null {
  if (request.length === BAD_LENGTH) return ownRefusal(own, 400, "bad_request", "Content-Length must be one number");
  const codings = transferCodings(req) ?? [];
  if (codings.length === 1 && codings[0] === "chunked") return null;
  if (codings.length === 0 || codings.filter((coding) => coding === "chunked").length > 1) return ownRefusal(own, 400, "bad_request", "Transfer-Encoding must be chunked, once");
  // The library accepts whatever ends in "chunked"; a proxy before us may have found another end of such a body.
  return ownRefusal(own, 501, "not_implemented", "the only Transfer-Encoding is chunked");
}

/** Continues with the result of the decision. */
function proceed(res: UwsResponse, request: CopiedRequest, reply: UwsReply, rules: BodyRules, admission: Admission): void {
  if (typeof admission !== "function") {
    refuseOnHead(res, request, reply, rules, admission);
    return;
  }
  if (!request.hasBody) {
    rules.run(admission, request, reply);
    return;
  }
  const { limitBytes, own } = rules;
  if (Number(request.length) > limitBytes + DISCARD_BYTES) refuseAndClose(reply, bodyTooLarge(own, limitBytes));
  else readBody(res, request, reply, rules, admission);
}

/** Refuses before the body: at once where its length is known, because the library then skips it by itself. */
function refuseOnHead(res: UwsResponse, request: CopiedRequest, reply: UwsReply, rules: BodyRules, refusal: Refusal): void {
  if (request.coded) holdBody(res, request, reply, rules).refuse(refusal);
  else if (Number(request.length) > DISCARD_BYTES) refuseAndClose(reply, refusal);
  else reply.refuse(refusal);
}

/** Waits for the decision with the socket paused. */
function wait(res: UwsResponse, request: CopiedRequest, reply: UwsReply, rules: BodyRules, pending: Promise<Admission>): void {
  const isTooLarge = Number(request.length) > rules.limitBytes + DISCARD_BYTES;
  const intake = request.hasBody && !isTooLarge ? holdBody(res, request, reply, rules) : null;
  if (request.hasBody) res.pause();
  const resume = (): void => {
    if (request.hasBody && !reply.aborted && !reply.answered) res.resume();
  };
  const decided = (admission: Admission): void => {
    resume();
    if (reply.aborted || reply.answered) return;
    if (isTooLarge) refuseAndClose(reply, typeof admission === "function" ? bodyTooLarge(rules.own, rules.limitBytes) : admission);
    else if (typeof admission !== "function") (intake ?? reply).refuse(admission);
    else if (intake !== null) intake.admit(admission);
    else rules.run(admission, request, reply);
  };
  pending.then(decided, (error: unknown) => {
    resume();
    reply.fail(error);
  }).catch((error: unknown) => reply.fail(error));
}

class UwsServer implements HttpServer {
  private token: UwsListenToken | null = null;

  constructor(
    private readonly uws: UwsModule,
    private readonly app: UwsApp,
  ) {}

  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }> {
    return new Promise((resolve, reject) => {
      this.app.listen(host, port, this.uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (token) => {
        if (token === false) {
          void bindFailure(host, port).then((why) => reject(new Error(`cannot listen on ${host}:${port}: ${why}`)));
          return;
        }
        this.token = token;
        resolve({ host, port: this.uws.us_socket_local_port(token) });
      });
    });
  }

  stopListening(): void {
    if (this.token === null) return;
    this.uws.us_listen_socket_close(this.token);
    this.token = null;
  }

  close(): void {
    this.token = null;
    this.app.close();
  }
}
