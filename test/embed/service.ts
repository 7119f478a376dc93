/** A service on this machine that answers as the test says, and keeps what it was asked. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly [key: string]: unknown };
}

/** One answer: a body with status 200, or what the function does with the response. */
export type Answer = { readonly [key: string]: unknown } | readonly unknown[] | ((response: ServerResponse, asked: Asked) => void);

export interface Service {
  readonly url: string;
  readonly asked: Asked[];
  /** Answers of the next requests; the last one is repeated. */
  answer(...answers: readonly Answer[]): void;
  close(): void;
}

/** Status, optional headers and body. */
export function status(code: number, body: unknown = { error: { message: "no" } }, headers: { readonly [name: string]: string } = {}): (response: ServerResponse) => void {
  return (response) => void response.writeHead(code, { "content-type": "application/json", ...headers }).end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Never answers. */
export const silent: Answer = () => undefined;

/** Ends the connection in the middle of an answer. */
export const reset: Answer = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"data": [');
  response.socket?.resetAndDestroy();
};

export async function startService(): Promise<Service> {
  const asked: Asked[] = [];
  let answers: Answer[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one: Asked = { path: request.url ?? "", headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as Asked["body"] };
      asked.push(one);
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? status(500);
      (typeof answer === "function" ? answer : status(200, answer))(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: (...next) => void (answers = [...next], asked.length = 0),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
