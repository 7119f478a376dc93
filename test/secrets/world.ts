/** Surroundings of a provider of credentials, and small HTTP servers that answer as the documented APIs do. */
import { createServer as createHttp, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import type { SecretWorld } from "../../runtime/secrets/source.js";

export interface TestWorld extends SecretWorld {
  readonly seen: string[];
}

export function world(variables: { readonly [name: string]: string } = {}, files: { readonly [path: string]: string } = {}): TestWorld {
  const seen: string[] = [];
  return {
    seen,
    variable: (name) => variables[name],
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`ENOENT ${path}`);
      return text;
    },
    find: (name) => import(name),
    learned: (secret) => void seen.push(secret),
  };
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface SecretServer {
  readonly port: number;
  readonly url: string;
  readonly asked: Asked[];
  /** What the next requests are answered. */
  answer: RequestListener;
  close(): Promise<void>;
}

/** @param tls makes it an HTTPS server. */
export async function secretServer(answer: RequestListener, tls?: { readonly key: string; readonly cert: string }): Promise<SecretServer> {
  const asked: Asked[] = [];
  const listener: RequestListener = (request, response) => {
    asked.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers });
    served.answer(request, response);
  };
  const server = tls === undefined ? createHttp(listener) : createHttps(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const served: SecretServer = {
    port, asked, answer,
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
  return served;
}

/** Answers a JSON body. */
export const json = (body: unknown, status = 200): RequestListener => (_, response) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};
