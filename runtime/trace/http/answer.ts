/** What handlers return, checked against the generated operations, and how it is sent. */
import { gzip } from "node:zlib";
import type { ErrorBody } from "../../http/errors.js";
import type { HeaderList, HttpReply, HttpRequest } from "../../transport/types.js";
import type { ParamsOf } from "../../abi/trace.js";
import type { operations } from "../api.types.gen.js";
import type { Json } from "../store/store.js";

type ResponsesOf<Id extends keyof operations> = operations[Id]["responses"];
type ContentOf<Response> = Response extends { content: { "application/json": infer Body } } ? Body : never;

/** An answer that the operation documents: a status with a body of its shape, or text of a type that it lists. */
export type Answer<Id extends keyof operations> = {
  [Status in keyof ResponsesOf<Id>]:
    | { readonly status: Status; readonly body: ContentOf<ResponsesOf<Id>[Status]>; readonly headers?: HeaderList }
    | { readonly status: Status; readonly json: Json<ContentOf<ResponsesOf<Id>[Status]>>; readonly headers?: HeaderList }
    | { readonly status: Status; readonly type: TypesOf<ResponsesOf<Id>[Status]>; readonly bytes: string | Uint8Array; readonly headers?: HeaderList }
    | { readonly status: Status; readonly type: TypesOf<ResponsesOf<Id>[Status]>; readonly parts: AsyncIterable<string>; readonly headers?: HeaderList };
}[keyof ResponsesOf<Id>];

type TypesOf<Response> = Response extends { content: infer Content } ? keyof Content & string : never;

export type Handler<Id extends keyof operations> = (params: ParamsOf<operations[Id]>, request: HttpRequest) => Answer<Id> | Promise<Answer<Id>>;

/** One handler for each operation of the document. */
export type Handlers = { readonly [Id in keyof operations]: Handler<Id> };

/** Any answer, when its operation no longer matters. */
export interface AnyAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly json?: string;
  readonly type?: string;
  readonly bytes?: string | Uint8Array;
  readonly parts?: AsyncIterable<string>;
  readonly headers?: HeaderList;
}

export type AnyHandler = (params: { readonly [name: string]: string | number | undefined }, request: HttpRequest) => AnyAnswer | Promise<AnyAnswer>;

/** Smaller bodies are not worth compressing. */
const GZIP_FROM_BYTES = 16 * 1024;
const JSON_TYPE = "application/json";

/** Sends an answer; large ones compressed when the client takes that. */
export async function sendAnswer(answer: AnyAnswer, shared: HeaderList, acceptEncoding: string, reply: HttpReply): Promise<void> {
  const type = answer.type ?? JSON_TYPE;
  const headers: HeaderList = [["content-type", type], ...shared, ...(answer.headers ?? [])];
  if (answer.parts !== undefined) {
    const stream = reply.stream(answer.status, headers);
    for await (const part of answer.parts) if (!(await stream.write(part))) return;
    stream.end();
    return;
  }
  const body = answer.json ?? answer.bytes ?? JSON.stringify(answer.body);
  if (body.length < GZIP_FROM_BYTES || !/\bgzip\b/.test(acceptEncoding) || answer.headers?.some(([name]) => name === "content-encoding") === true) {
    reply.send(answer.status, headers, body);
    return;
  }
  const packed = await new Promise<Buffer>((resolve, reject) => gzip(body, { level: 3 }, (error, data) => (error === null ? resolve(data) : reject(error))));
  reply.send(answer.status, [...headers, ["content-encoding", "gzip"]], packed);
}

/** `{"detail": …}`, the body of every error. */
export function detail(text: string): { readonly detail: string } {
  return { detail: text };
}

/** The same for errors that come before a handler; the code is for the other server. */
export const detailBody: ErrorBody = (_code, message) => JSON.stringify(detail(message));

/** An answer whose status is one of several; TypeScript would not take the union apart on its own. */
export function withStatus<Status extends number, Rest extends object>(status: Status, rest: Rest): Status extends unknown ? { readonly status: Status } & Rest : never {
  return { status, ...rest } as Status extends unknown ? { readonly status: Status } & Rest : never;
}
