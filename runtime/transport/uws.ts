/**
 * The HTTP server: our routes on uWebSockets.js. With its siblings uws-*.ts this is the only place that names the
 * library; everything above speaks transport/types.ts. What a request holds is copied before the library's callback
 * returns, every handler runs inside one guard (a throw that reaches the library ends the process), and bodies are
 * counted, because the library has no limit of its own.
 */
import { bindFailure } from "./bind-failure.js";
import { BodyReader, copyBytes } from "./body.js";
import type { HeaderList, HttpRequest, HttpRoute, HttpServer, HttpServerOptions } from "./types.js";
import type { UwsApp, UwsHandler, UwsListenToken, UwsModule, UwsRequest, UwsResponse } from "./uws-api.js";
import { loadUws } from "./uws-load.js";
import { UwsReply, type Guard } from "./uws-reply.js";
import { socketBehavior } from "./uws-sockets.js";

/** What is read and thrown away of a body over its limit, so that the client gets to read the 413. */
const DISCARD_BYTES = 16 * 1024 * 1024;
const NO_BODY = Buffer.alloc(0);
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
      // The log itself failed: nobody is left to tell, and a throw from here would end the process.
    }
  };
  const { errorBody = defaultErrorBody, errorHeaders = [] } = options;
  const own: OwnAnswers = { body: errorBody, headers: [...JSON_HEADERS, ...errorHeaders] };
  const guard: Guard = { headers: own.headers, body: own.body("internal", "internal error"), report, checked: null };
  for (const route of options.sockets ?? []) {
    app.ws(route.pattern, socketBehavior(uws, route, headReader({ method: "GET", pattern: route.pattern, headers: route.headers ?? NONE }), guard));
  }
  for (const route of options.routes) register(app, route, own, guard);
  const { notFoundHeaders = NONE } = options;
  register(app, { method: "ANY", pattern: "/*", headers: notFoundHeaders, handler: options.notFound, ignoresBody: true }, own, guard);
  return new UwsServer(uws, app);
}

/** How the errors look that are answered here, before or instead of a handler. */
interface OwnAnswers {
  readonly body: NonNullable<HttpServerOptions["errorBody"]>;
  readonly headers: HeaderList;
}

function defaultErrorBody(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } });
}

function register(app: UwsApp, route: HttpRoute, own: OwnAnswers, guard: Guard): void {
  const { pattern } = route;
  const handle = requestHandler(route, own, guard);
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

function requestHandler(route: HttpRoute, own: OwnAnswers, guard: Guard): UwsHandler {
  const readHead = headReader(route);
  const limit: BodyLimit = { limitBytes: route.bodyLimitBytes ?? 0, ignored: route.ignoresBody === true, own };

  /** The one guard around handlers: nothing they throw or reject with passes it. */
  const run = (request: CopiedRequest, reply: UwsReply): void => {
    reply.corked = true;
    try {
      const pending = route.handler(request, reply);
      if (pending !== undefined) pending.catch((error: unknown) => reply.fail(error));
    } catch (error) {
      reply.fail(error);
    }
    reply.corked = false;
  };

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
    if (request.length === CONFLICTING) {
      reply.sendAndClose(400, own.headers, own.body("bad_request", "two different Content-Length headers"));
      return;
    }
    const coding = request.length === "" || request.length === "0" ? req.getHeader("transfer-encoding") : "";
    if (coding !== "" && coding.toLowerCase() !== "chunked") {
      // The library takes whatever ends in "chunked"; a proxy before us may have found another end of such a body.
      reply.sendAndClose(501, own.headers, own.body("not_implemented", "the only Transfer-Encoding is chunked"));
      return;
    }
    const hasBody = coding !== "" || (request.length !== "" && request.length !== "0");
    if (hasBody) readBody(res, request, reply, limit, run);
    else run(request, reply);
  };
}

/** Reads the body and runs the handler, or answers 413. */
function readBody(res: UwsResponse, request: CopiedRequest, reply: UwsReply, limit: BodyLimit, run: (request: CopiedRequest, reply: UwsReply) => void): void {
  const { limitBytes } = limit;
  if (Number(request.length) > limitBytes + DISCARD_BYTES) {
    refuseBody(reply, limit);
    return;
  }
  let reader: BodyReader | null = null;
  let ignoredBytes = 0;
  res.onData((chunk, isLast) => {
    if (reply.aborted || reply.answered) return;
    if (limit.ignored) {
      ignoredBytes += chunk.byteLength;
      if (isLast) run(request, reply);
      else if (ignoredBytes > DISCARD_BYTES) refuseBody(reply, limit);
      return;
    }
    if (reader === null && isLast && chunk.byteLength <= limitBytes) {
      request.borrow(chunk);
      run(request, reply);
      request.keep();
      return;
    }
    reader ??= new BodyReader(limitBytes);
    reader.push(chunk);
    if (reader.over) {
      if (isLast || reader.seenBytes > limitBytes + DISCARD_BYTES) refuseBody(reply, limit);
      return;
    }
    if (!isLast) return;
    request.own(reader.finish());
    run(request, reply);
  });
}

interface BodyLimit {
  readonly limitBytes: number;
  readonly ignored: boolean;
  readonly own: OwnAnswers;
}

function refuseBody(reply: UwsReply, { limitBytes, own }: BodyLimit): void {
  const message = limitBytes === 0 ? "this path takes no body" : `the body is larger than ${limitBytes} bytes`;
  reply.sendAndClose(413, own.headers, own.body("body_too_large", message));
}

/** In place of a length: there are two that differ. A proxy before us may have believed the other one. */
const CONFLICTING = "conflicting";

/** A request that outlives the library's: all that its route asked for has been copied into it. */
class CopiedRequest implements HttpRequest {
  private bytes: Buffer | null = NO_BODY;
  /** Memory of the library, until `keep`. */
  private borrowed: ArrayBuffer | null = null;
  private decoded: string | null | undefined = undefined;
  private address: string | null = null;
  private named: { readonly [name: string]: string } | null = null;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly query: string,
    readonly params: readonly string[],
    private readonly wanted: readonly string[],
    /** `null` for one that was not sent. */
    readonly values: readonly (string | null)[],
    /** Content-Length as sent, "" without one, or CONFLICTING. */
    readonly length: string,
    private readonly res: UwsResponse,
  ) {}

  get body(): Buffer {
    return (this.bytes ??= this.borrowed === null ? NO_BODY : copyBytes(this.borrowed));
  }

  text(): string | null {
    if (this.decoded === undefined) {
      this.decoded = decodeUtf8(this.bytes ?? this.borrowed ?? NO_BODY);
    }
    return this.decoded;
  }

  /** Bytes that are valid only until the library's callback returns. */
  borrow(chunk: ArrayBuffer): void {
    this.bytes = null;
    this.borrowed = chunk;
  }

  /** The callback is about to return: what a handler may still ask for is copied, unless it has taken the text. */
  keep(): void {
    if (this.decoded === undefined) this.bytes = this.body;
    this.borrowed = null;
  }

  own(bytes: Buffer): void {
    this.bytes = bytes;
  }

  get headers(): { readonly [name: string]: string } {
    return (this.named ??= Object.fromEntries(this.wanted.map((name) => [name, this.header(name)])));
  }

  header(name: string): string {
    return this.values[this.wanted.indexOf(name)] ?? "";
  }

  has(name: string): boolean {
    return (this.values[this.wanted.indexOf(name)] ?? null) !== null;
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

/** Keeps a byte order mark, which is no JSON. It has no state between two texts. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** `null` when the bytes are not UTF-8. */
function decodeUtf8(bytes: ArrayBuffer | Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

const LENGTH = "content-length";

/** A header that a route reads, and where in the values of a request it is. */
interface Wanted {
  readonly name: string;
  readonly place: number;
}

/**
 * What copies the heads of one route's requests. The headers are walked once: the wanted ones are kept (several with
 * one name as one list, which is what HTTP means by them), and two lengths that disagree are noticed. Names are told
 * apart by their length first, because each comes as a new string, which a map would have to hash.
 */
function headReader(route: Pick<HttpRoute, "pattern" | "headers" | "readsQuery"> & { readonly method: string }): (res: UwsResponse, req: UwsRequest) => CopiedRequest {
  const { pattern } = route;
  const readsQuery = route.readsQuery !== false;
  const paramCount = pattern.split("/").filter((segment) => segment.startsWith(":")).length;
  const fixedPath = paramCount === 0 && !pattern.endsWith("*") ? pattern : null;
  const fixedMethod = route.method === "GET" || route.method === "ANY" ? null : route.method;
  const wanted = [...new Set(route.headers ?? NONE)];
  const absent: readonly null[] = wanted.map(() => null);
  const longest = Math.max(LENGTH.length, ...wanted.map((name) => name.length));
  const ofLength: readonly (readonly Wanted[])[] = Array.from({ length: longest + 1 }, (_, length) =>
    wanted.map((name, place) => ({ name, place })).filter(({ name }) => name.length === length),
  );

  let values: (string | null)[] = [];
  let bodyLength = "";
  const visit = (name: string, value: string): void => {
    const { length } = name;
    if (length > longest) return;
    for (const candidate of ofLength[length] as readonly Wanted[]) {
      if (candidate.name !== name) continue;
      const before = values[candidate.place] ?? null;
      values[candidate.place] = before === null ? value : `${before}, ${value}`;
      break;
    }
    if (length !== LENGTH.length || name !== LENGTH) return;
    bodyLength = bodyLength === "" || bodyLength === value ? value : CONFLICTING;
  };
  return (res, req) => {
    values = absent.slice();
    bodyLength = "";
    req.forEach(visit);
    return new CopiedRequest(
      fixedMethod ?? req.getMethod().toUpperCase(),
      fixedPath ?? req.getUrl(),
      readsQuery ? (req.getQuery() ?? "") : "",
      paramCount === 0 ? NONE : copyParams(req, paramCount),
      wanted,
      values,
      bodyLength,
      res,
    );
  };
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
