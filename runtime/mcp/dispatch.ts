/**
 * One message in, one answer out: where both transports end. What a method answers depends on the row of the
 * protocol version that the peer speaks, never on the transport, save for the HTTP status beside the answer.
 */
import { CODES, type CodeEntry } from "../abi/codes.js";
import { answer, type Answer } from "./answer.js";
import { callTool } from "./call.js";
import { errorText, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, isRequestId, METHOD_NOT_FOUND, PARSE_ERROR, readMessage, resultText, type Message, type Request, type RequestId, UNSUPPORTED_VERSION } from "./jsonrpc.js";
import { SEVERITIES } from "./notify.js";
import type { McpServer, Peer } from "./server.js";
import { HANDSHAKE_VERSIONS, HTTP_VERSIONS, versionNamed, type ProtocolVersion } from "./versions.js";

/** Messages in one batch; each may be a call. */
const MAX_BATCH = 100;

/** Text that is not JSON, or not UTF-8. */
export function parseError(): Answer {
  return answer(errorText(null, PARSE_ERROR, "the message is not JSON in UTF-8"), 400);
}

/** The refusal of a caller who sees none of the catalogs that are served. */
export function strangerError(value: unknown, era: ProtocolVersion["era"]): Answer {
  const message = readMessage(value);
  const { http, rpc }: CodeEntry = CODES.auth_error;
  const id = message.kind === "request" || message.kind === "invalid" ? message.id : null;
  const number = era === "envelope" ? http : rpc;
  return answer(errorText(id, number ?? INTERNAL_ERROR, "the caller belongs to none of the catalogs of this server", { code: "auth_error" }), http);
}

/** The refusal of a request whose transport names a version that is not supported. */
export function unsupportedVersion(value: unknown, asked: string): Answer {
  const message = readMessage(value);
  const id = message.kind === "request" || message.kind === "invalid" ? message.id : null;
  return answer(versionError(id, asked, HTTP_VERSIONS), 400);
}

/**
 * Answers one parsed message, or a batch where the peer's version has them.
 * @returns `null` when there is nothing to say: notifications, cancelled calls. Never throws or rejects.
 */
export function dispatch(mcp: McpServer, value: unknown, peer: Peer): Answer | null | Promise<Answer | null> {
  if (Array.isArray(value)) return dispatchBatch(mcp, value, peer);
  return guarded(mcp, readMessage(value), peer);
}

function guarded(mcp: McpServer, message: Message, peer: Peer): Answer | null | Promise<Answer | null> {
  try {
    return dispatchOne(mcp, message, peer);
  } catch (error) {
    mcp.log.error("dispatch failed", { error });
    return internalError(message);
  }
}

export function internalError(message: Message): Answer {
  return answer(errorText(message.kind === "request" ? message.id : null, INTERNAL_ERROR, "internal error"));
}

function dispatchOne(mcp: McpServer, message: Message, peer: Peer): Answer | null | Promise<Answer | null> {
  switch (message.kind) {
    case "request":
      return request(mcp, message, peer);
    case "notification":
      if (message.method === "notifications/cancelled") {
        const id = message.params["requestId"];
        if (isRequestId(id)) peer.cancel(id);
      }
      return null;
    case "response":
      return null;
    case "invalid":
      return answer(errorText(message.id, message.code, message.message), 400);
    default:
      return message satisfies never;
  }
}

function request(mcp: McpServer, message: Request, peer: Peer): Answer | null | Promise<Answer | null> {
  const { id, method } = message;
  if (method === "initialize") return initialize(mcp, message, peer);
  if (method === "ping") return answer(resultText(id, "{}"));
  const { version } = peer;
  if (version === null) return answer(errorText(id, ...beforeInitialize(method)));
  switch (method) {
    case "tools/call":
      return callTool(mcp, message, peer, version);
    case "tools/list":
      return listTools(mcp, message, peer, version);
    case "logging/setLevel":
      return setLogLevel(message, peer);
    default:
      return answer(errorText(id, METHOD_NOT_FOUND, notFound(method)));
  }
}

/** A page of the tools that the peer may call. */
export function listTools(mcp: McpServer, { id, params }: Request, peer: Peer, version: ProtocolVersion): Answer {
  const result = mcp.lists.tools(version, peer.principal, params["cursor"]);
  return result === null ? answer(errorText(id, INVALID_PARAMS, "this cursor is not from this list")) : result.answer(id);
}

function setLogLevel({ id, params }: Request, peer: Peer): Answer {
  const level = SEVERITIES.find((name) => name === params["level"]);
  if (level === undefined) return answer(errorText(id, INVALID_PARAMS, `params.level is one of ${SEVERITIES.join(", ")}`));
  peer.setLogLevel(level);
  return answer(resultText(id, "{}"));
}

/** Methods of newer protocols, which clients try first to learn that there are none here, are not found rather than early. */
function beforeInitialize(method: string): readonly [code: number, message: string] {
  if (method === "tools/call" || method === "tools/list") return [INVALID_REQUEST, "initialize comes first"];
  return [METHOD_NOT_FOUND, notFound(method)];
}

export function notFound(method: string): string {
  return `method not found: ${method.slice(0, 100)}`;
}

/** Echoes the version that was asked for. One that is not supported is refused with those that are, never replaced by another. */
function initialize(mcp: McpServer, { id, params }: Request, peer: Peer): Answer {
  const asked = params["protocolVersion"];
  const version = versionNamed(asked, "handshake");
  if (version === null) return answer(versionError(id, asked, HANDSHAKE_VERSIONS));
  peer.agree(version);
  return mcp.initialize(version).answer(id);
}

function versionError(id: RequestId | null, asked: unknown, supported: readonly string[]): string {
  const requested = typeof asked === "string" ? asked.slice(0, 100) : null;
  const what = requested === null ? "protocolVersion is missing" : `protocol version '${requested}' is not supported`;
  return errorText(id, UNSUPPORTED_VERSION, what, { requested, supported });
}

async function dispatchBatch(mcp: McpServer, values: readonly unknown[], peer: Peer): Promise<Answer | null> {
  const refuse = (message: string): Answer => answer(errorText(null, INVALID_REQUEST, message), 400);
  if (peer.version?.batching !== true) return refuse("batches belong to protocol version 2025-03-26 only");
  if (values.length === 0) return refuse("a batch holds at least one message");
  if (values.length > MAX_BATCH) return refuse(`a batch holds at most ${MAX_BATCH} messages`);
  const pending = values.map(async (value) => {
    const message = readMessage(value);
    if (message.kind === "request" && message.method === "initialize") {
      return errorText(message.id, INVALID_REQUEST, "initialize is never part of a batch");
    }
    const outcome = guarded(mcp, message, peer);
    // Bytes are valid until the next dispatch: they are copied before this function lets another one run.
    const settled = outcome instanceof Promise ? await outcome : outcome;
    return settled === null ? null : bodyText(settled);
  });
  const texts = (await Promise.all(pending)).filter((text) => text !== null);
  return texts.length === 0 ? null : answer(`[${texts.join(",")}]`);
}

/** The body of an answer as text of its own. */
export function bodyText({ body }: Answer): string {
  return typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}
