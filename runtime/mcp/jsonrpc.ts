/**
 * JSON-RPC 2.0 as MCP uses it: what a message is, and how answers are written. This room knows the protocol and the
 * engine, and no transport: messages come in as parsed JSON and leave as JSON text, on every transport.
 */

export type RequestId = string | number;

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** A protocol version that is missing or not supported. */
export const UNSUPPORTED_VERSION = -32022;

export interface Request {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
}

export interface Notification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: Params;
}

/** An answer to a request of ours; we send none, so it is dropped. */
export interface Response {
  readonly kind: "response";
}

export interface Invalid {
  readonly kind: "invalid";
  /** `null` when the message has no usable id. */
  readonly id: RequestId | null;
  readonly code: number;
  readonly message: string;
}

export type Message = Request | Notification | Response | Invalid;

/** Members of `params`; own properties only, `{}` when there are none. */
export type Params = { readonly [key: string]: unknown };

const NO_PARAMS: Params = Object.freeze({});

/**
 * Decides what one parsed JSON value is. Never throws.
 * An id is a string or an integer that a double holds exactly: any other would come back as another id.
 */
export function readMessage(value: unknown): Message {
  if (!isObject(value)) return invalid(null, INVALID_REQUEST, "a message is a JSON object");
  const { id, method, params } = value;
  const usableId = isRequestId(id) ? id : null;
  if (value["jsonrpc"] !== "2.0") return invalid(usableId, INVALID_REQUEST, 'a message has "jsonrpc": "2.0"');
  if (typeof method !== "string") {
    if (method === undefined && ("result" in value || "error" in value)) return { kind: "response" };
    return invalid(usableId, INVALID_REQUEST, "a request names its method");
  }
  if ("id" in value && usableId === null) return invalid(null, INVALID_REQUEST, "an id is a string or an integer within ±9007199254740991");
  if (params !== undefined && !isObject(params)) {
    return usableId === null ? { kind: "notification", method, params: NO_PARAMS } : invalid(usableId, INVALID_PARAMS, "params is an object");
  }
  return usableId === null ? { kind: "notification", method, params: params ?? NO_PARAMS } : { kind: "request", id: usableId, method, params: params ?? NO_PARAMS };
}

/** Member of `params._meta` in which a request of the stateless protocol declares what its client can do. */
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** `params._meta`; empty when there is none. */
export function metaOf(params: Params): Params {
  const meta = params["_meta"];
  return isObject(meta) ? meta : NO_PARAMS;
}

/** A JSON object, not an array. */
export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** The id as JSON text. */
export function idText(id: RequestId | null): string {
  return typeof id === "string" ? JSON.stringify(id) : String(id);
}

/** An answer around a result that is JSON text already. */
export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}

export function errorText(id: RequestId | null, code: number, message: string, data?: { readonly [key: string]: unknown }): string {
  const error = JSON.stringify(data === undefined ? { code, message } : { code, message, data });
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${error}}`;
}

export function notificationText(method: string, params?: { readonly [key: string]: unknown }): string {
  return JSON.stringify(params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params });
}

function invalid(id: RequestId | null, code: number, message: string): Invalid {
  return { kind: "invalid", id, code, message };
}
