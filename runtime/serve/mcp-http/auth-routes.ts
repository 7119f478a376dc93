/** The routes of an authentication mode as routes of the server. */
import type { AuthRoute } from "../../auth/service.js";
import { errorBody } from "../../http/errors.js";
import type { RequestPath } from "../../http/request-path.js";
import type { HeaderList, HttpHandler, HttpReply, HttpRoute } from "../../transport/types.js";

/** Answers hold nothing that belongs to the page's user: no cookie is read, and no credentials are let through. */
const ANY_ORIGIN: HeaderList = [["access-control-allow-origin", "*"]];

/** In the order given; behind the routes of a path, what other methods get there. */
export function authRoutes(path: RequestPath, routes: readonly AuthRoute[]): readonly HttpRoute[] {
  const patterns = [...new Set(routes.map(({ pattern }) => pattern))];
  return [...routes.map((route) => routeOf(path, route)), ...patterns.flatMap((pattern) => otherMethods(path, pattern, routes.filter((route) => route.pattern === pattern)))];
}

function routeOf(path: RequestPath, { method, pattern, headers, readsQuery, bodyLimitBytes, anyOrigin, handler }: AuthRoute): HttpRoute {
  const admitted: HttpHandler = anyOrigin ? (request, reply) => handler(request, new OpenReply(reply)) : handler;
  return { method, pattern, headers: path.headers(headers), readsQuery, bodyLimitBytes, admit: path.admit(() => admitted, { isPublic: true, whileStopping: true, anyOrigin }) };
}

function otherMethods(path: RequestPath, pattern: string, routes: readonly AuthRoute[]): readonly HttpRoute[] {
  const allow = routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
  const anyOrigin = routes.some((route) => route.anyOrigin);
  const names = [...new Set(["Content-Type", "Authorization", "MCP-Protocol-Version", ...routes.flatMap(({ headers }) => headers)])].join(", ");
  const preflight: HttpHandler = (_, reply) => reply.send(204, [...ANY_ORIGIN, ["access-control-allow-methods", allow], ["access-control-allow-headers", names], ["access-control-max-age", "86400"]], "");
  const refused: HttpHandler = (_, reply) => reply.send(405, [["content-type", "application/json"], ["allow", allow], ...(anyOrigin ? ANY_ORIGIN : [])], errorBody("method_not_allowed", `use ${allow}`));
  const open = (handler: HttpHandler): Pick<HttpRoute, "pattern" | "headers" | "ignoresBody"> & { readonly admit: ReturnType<RequestPath["admit"]> } => ({
    pattern, headers: path.headers(), ignoresBody: true, admit: path.admit(() => handler, { isPublic: true, whileStopping: true, anyOrigin }),
  });
  const isOwn = routes.some(({ method }) => method === "OPTIONS");
  return [...(anyOrigin && !isOwn ? [{ method: "OPTIONS" as const, ...open(preflight) }] : []), { method: "ANY" as const, ...open(refused) }];
}

/** A reply that pages of every origin may read. */
class OpenReply implements HttpReply {
  constructor(private readonly reply: HttpReply) {}

  get aborted(): boolean {
    return this.reply.aborted;
  }

  get unsent(): Promise<void> | null {
    return this.reply.unsent;
  }

  onAborted(listener: () => void): void {
    this.reply.onAborted(listener);
  }

  send(status: number, headers: HeaderList, body: string | Uint8Array): void {
    this.reply.send(status, [...headers, ...ANY_ORIGIN], body);
  }

  stream(status: number, headers: HeaderList): ReturnType<HttpReply["stream"]> {
    return this.reply.stream(status, [...headers, ...ANY_ORIGIN]);
  }

  fail(error: unknown): void {
    this.reply.fail(error);
  }
}
