/**
 * The HTTP server: our routes on uWebSockets.js. With its siblings uws-*.ts this is the only place that names the
 * library; everything above speaks transport/types.ts. What a request holds is copied before the library's callback
 * returns, every handler runs inside one guard (a throw that reaches the library ends the process), and bodies are
 * counted, because the library has no limit of its own.
 */
import { BodyReader } from "./body.js";
import type { HttpRequest, HttpRoute, HttpServer, HttpServerOptions } from "./types.js";
import type { UwsApp, UwsHandler, UwsListenToken, UwsModule, UwsRequest, UwsResponse } from "./uws-api.js";
import { loadUws } from "./uws-load.js";
import { UwsReply } from "./uws-reply.js";
import { socketBehavior } from "./uws-sockets.js";

/** What is read and thrown away of a body over its limit, so that the client gets to read the 413. */
const DISCARD_BYTES = 16 * 1024 * 1024;
const NO_BODY = Buffer.alloc(0);
const NO_HEADERS: readonly string[] = [];
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
      // The log itself failed: nobody is left to tell, and a throw from here would end the process.
    }
  };
  for (const route of options.sockets ?? []) {
    const shape = routeShape(route.pattern, route.headers ?? NO_HEADERS);
    app.ws(route.pattern, socketBehavior(
      uws,
      route,
      (res, req) => new CopiedRequest("GET", req, res, shape),
      (error) => report(error, { method: "GET", path: route.pattern }),
    ));
  }
  const errorBody = options.errorBody ?? defaultErrorBody;
  for (const route of options.routes) register(app, route, report, errorBody);
  register(app, { method: "ANY", pattern: "/*", handler: options.notFound, bodyLimitBytes: 0 }, report, errorBody);
  return new UwsServer(uws, app);
}

type ErrorBody = NonNullable<HttpServerOptions["errorBody"]>;

function defaultErrorBody(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } });
}

function register(app: UwsApp, route: HttpRoute, onError: HttpServerOptions["onError"], errorBody: ErrorBody): void {
  const { pattern } = route;
  const handle = requestHandler(route, onError, errorBody);
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

function requestHandler(route: HttpRoute, onError: HttpServerOptions["onError"], errorBody: ErrorBody): UwsHandler {
  const shape = routeShape(route.pattern, route.headers ?? NO_HEADERS);
  const limitBytes = route.bodyLimitBytes ?? 0;

  /** The one guard around handlers: nothing they throw or reject with passes it. */
  const run = (request: CopiedRequest, reply: UwsReply): void => {
    try {
      const pending = route.handler(request, reply);
      if (pending !== undefined) pending.catch((error: unknown) => fail(error, request, reply));
    } catch (error) {
      fail(error, request, reply);
    }
  };
  const fail = (error: unknown, request: CopiedRequest, reply: UwsReply): void => {
    reply.send(500, JSON_HEADERS, errorBody("internal", "internal error"));
    onError(error, request);
  };

  return (res, req) => {
    const method = req.getMethod().toUpperCase();
    const reply = new UwsReply(res, method === "HEAD");
    const request = new CopiedRequest(method, req, res, shape);
    res.onAborted(() => {
      try {
        reply.abort();
      } catch (error) {
        onError(error, request);
      }
    });
    const length = req.getHeader("content-length");
    if (length !== "" && hasConflictingLengths(req)) {
      reply.sendAndClose(400, JSON_HEADERS, errorBody("bad_request", "two different Content-Length headers"));
      return;
    }
    const hasBody = length === "" || length === "0" ? req.getHeader("transfer-encoding") !== "" : true;
    if (!hasBody) {
      run(request, reply);
      reply.corked = false;
      return;
    }
    readBody(res, reply, { limitBytes, errorBody }, Number(length || 0), (body) => {
      request.body = body;
      reply.corked = true;
      run(request, reply);
      reply.corked = false;
    });
    reply.corked = false;
  };
}

/** Reads the body, or answers 413. `declaredBytes` is 0 for a chunked body. */
function readBody(res: UwsResponse, reply: UwsReply, limit: BodyLimit, declaredBytes: number, done: (body: Buffer) => void): void {
  const { limitBytes } = limit;
  if (declaredBytes > limitBytes + DISCARD_BYTES) {
    refuseBody(reply, limit);
    return;
  }
  const reader = new BodyReader(limitBytes);
  res.onData((chunk, isLast) => {
    if (reply.aborted || reply.answered) return;
    reader.push(chunk);
    if (reader.over) {
      if (isLast || reader.seenBytes > limitBytes + DISCARD_BYTES) refuseBody(reply, limit);
      return;
    }
    if (isLast) done(reader.finish());
  });
}

interface BodyLimit {
  readonly limitBytes: number;
  readonly errorBody: ErrorBody;
}

function refuseBody(reply: UwsReply, { limitBytes, errorBody }: BodyLimit): void {
  const message = limitBytes === 0 ? "this path takes no body" : `the body is larger than ${limitBytes} bytes`;
  reply.sendAndClose(413, JSON_HEADERS, errorBody("body_too_large", message));
}

/** A proxy before us may have believed the other one: where two lengths disagree, the request's end is a matter of opinion. */
function hasConflictingLengths(req: UwsRequest): boolean {
  let first: string | null = null;
  let conflict = false;
  req.forEach((name, value) => {
    if (name !== "content-length") return;
    if (first === null) first = value;
    else if (first !== value) conflict = true;
  });
  return conflict;
}

interface RouteShape {
  readonly paramCount: number;
  readonly headers: readonly string[];
}

function routeShape(pattern: string, headers: readonly string[]): RouteShape {
  return { paramCount: pattern.split("/").filter((segment) => segment.startsWith(":")).length, headers };
}

/** A request that outlives the library's: all that its route asked for is copied when it is made. */
class CopiedRequest implements HttpRequest {
  readonly path: string;
  readonly query: string;
  readonly params: readonly string[];
  readonly headers: { readonly [name: string]: string };
  body: Buffer = NO_BODY;
  private address: string | null = null;

  constructor(
    readonly method: string,
    req: UwsRequest,
    private readonly res: UwsResponse,
    shape: RouteShape,
  ) {
    this.path = req.getUrl();
    this.query = req.getQuery() ?? "";
    this.params = shape.paramCount === 0 ? NO_HEADERS : copyParams(req, shape.paramCount);
    const headers: { [name: string]: string } = {};
    for (const name of shape.headers) headers[name] = req.getHeader(name);
    this.headers = headers;
  }

  /** Asked of the socket on first use; "" when that comes after the answer. */
  get remoteAddress(): string {
    if (this.address === null) {
      try {
        this.address = Buffer.from(this.res.getRemoteAddressAsText()).toString("latin1");
      } catch {
        this.address = "";
      }
    }
    return this.address;
  }
}

function copyParams(req: UwsRequest, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const raw = req.getParameter(index) ?? "";
    try {
      return decodeURIComponent(raw);
    } catch {
      return raw;
    }
  });
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
          reject(new Error(`cannot listen on ${host}:${port}: the address is in use or not of this machine`));
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
