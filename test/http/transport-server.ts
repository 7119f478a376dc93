/** A server on the transport alone, for one test. */
import { createHttpServer } from "../../runtime/transport/uws.js";
import type { HttpRoute, HttpServer, SocketRoute } from "../../runtime/transport/types.js";

export interface Running {
  readonly port: number;
  readonly server: HttpServer;
  readonly errors: unknown[];
}

export async function withServer(
  routes: readonly HttpRoute[],
  body: (running: Running) => Promise<void>,
  sockets: readonly SocketRoute<never>[] = [],
): Promise<void> {
  const errors: unknown[] = [];
  const server = createHttpServer({
    routes,
    sockets,
    notFound: { handler: (_, reply) => reply.send(404, [], "nothing here") },
    onError: (error) => errors.push(error),
  });
  const { port } = await server.listen("127.0.0.1", 0);
  try {
    await body({ port, server, errors });
  } finally {
    server.close();
  }
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
