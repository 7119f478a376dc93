/** An OpenTelemetry collector for tests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { spansOfProtobuf } from "../../runtime/trace/ingest/otlp/spans-protobuf.js";

export interface Collector {
  readonly url: string;
  readonly requests: { readonly headers: IncomingMessage["headers"]; readonly path: string; readonly body: Buffer }[];
  close(): Promise<void>;
}

/** A collector that answers as told, and keeps what it got. */
export async function collector(answer: (response: ServerResponse, nth: number) => void): Promise<Collector> {
  const requests: { headers: IncomingMessage["headers"]; path: string; body: Buffer }[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ headers: request.headers, path: request.url ?? "", body: Buffer.concat(chunks) });
      answer(response, requests.length);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    requests,
    close: () => new Promise((done) => {
      server.closeAllConnections();
      server.close(() => done());
    }),
  };
}

export const ok = (response: ServerResponse): void => void response.writeHead(200).end();
/** Of all requests, in their order. */
export const spansOf = ({ requests }: Collector) => requests.flatMap(({ body }) => spansOfProtobuf(body));
