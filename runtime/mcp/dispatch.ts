/**
 * One message in, one answer out: where both transports end. What a method answers depends on the row of the
 * protocol version that the peer speaks, never on the transport, save for the HTTP status beside the answer.
 */
import { CODES, type CodeEntry } from "../abi/codes.js";
import { answer, type Answer, type Reply } from "./answer.js";
import { callTool } from "./call.js";
import { errorText, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, isRequestId, METHOD_NOT_FOUND, PARSE_ERROR, readMessage, resultText, type Message, type Request, type RequestId, UNSUPPORTED_VERSION } from "./jsonrpc.js";
import { SEVERITIES } from "./notify.js";
import { INTRICATE } from "../base/parse-json.js";
import type { McpServer, Peer } from "./server.js";
import { HANDSHAKE_VERSIONS, HTTP_VERSIONS, newestHandshake, versionNamed, type ProtocolVersion } from "./versions.js";

/** Messages in one batch; each may be a call. */
const MAX_BATCH = 100;

/** Text that is not JSON, or not UTF-8. */
export function parseError(): Answer {
  return answer(errorText(null, PARSE_ERROR, "the message is not JSON in UTF-8"), 400);
}

/** The refusal of a message that is JSON and has more in it than any client sends. */
export function intricateError(): Answer {
  return answer(errorText(null, INVALID_REQUEST, INTRICATE), 400);
}

/** The refusal of a caller who sees none of the catalogs that are served. */
export function strangerError(value: unknown, era: ProtocolVersion["era"]): Answer {
  const message = readMessage(value);
  const { http, rpc }: CodeEntry = CODES.auth_error;
  const id = message.kind === "request" || message.kind === "invalid" ? message.id : null;
  const number = era === "stateless" ? http : rpc;
  return answer(errorText(id, number ?? INTERNAL_ERROR, "the caller belongs to none of the catalogs of this server", { code: "auth_error" }), http);
}

/** The refusal of a request whose transport names a version that is not supported. */
export function unsupportedVersion(value: unknown, asked: string): Answer {
  const message = readMessage(value);
  const id = message.kind === "request" || message.kind === "invalid" ? message.id : null;
  return answer(versionError(id, asked, HTTP_VERSIONS), 400);
}

/**
 * Answers one parsed message, or a batch where the peer's version has them, before or after it returns. Replies, not
 * promises: most answers are there at once, and each promise of the way costs every call. Never throws.
 */
export function dispatch(mcp: McpServer, value: unknown, peer: Peer, reply: Reply): void {
  if (Array.isArray(value)) dispatchBatch(mcp, value, peer, reply);
  else guarded(mcp, readMessage(value), peer, reply);
}

function guarded(mcp: McpServer, message: Message, peer: Peer, reply: Reply): void {
  try {
    dispatchOne(mcp, message, peer, reply);
  } catch (error) {
    mcp.log.error("dispatch failed", { error });
    reply.answer(internalError(message));
  }
}

export function internalError(message: Message): Answer {
  return answer(errorText(message.kind === "request" ? message.id : null, INTERNAL_ERROR, "internal error"));
}

function dispatchOne(mcp: McpServer, message: Message, peer: Peer, reply: Reply): void {
  switch (message.kind) {
    case "request":
      if (message.method === "tools/call" && peer.version !== null) callTool(mcp, message, peer, peer.version, reply);
      else reply.answer(request(mcp, message, peer));
      return;
    case "notification":
      if (message.method === "notifications/cancelled") {
        const id = message.params["requestId"];
        if (isRequestId(id)) peer.cancel(id);
      }
      reply.answer(null);
      return;
    case "response":
      reply.answer(null);
      return;
    case "invalid":
      reply.answer(answer(errorText(message.id, message.code, message.message), 400));
      return;
    default:
      message satisfies never;
  }
}

/** The answer to a request that is answered at once: everything but a call. */
function request(mcp: McpServer, message: Request, peer: Peer): Answer {
  const { id, method } = message;
  if (method === "initialize") return initialize(mcp, message, peer);
  if (method === "ping") return answer(resultText(id, "{}"));
  const { version } = peer;
  if (version === null) return answer(errorText(id, ...beforeInitialize(method)));
  switch (method) {
    case "tools/list":
      return listTools(mcp, message, peer, version);
    case "logging/setLevel":
      return setLogLevel(message, peer);
    default:
      return mcp.skills?.answer(message, version, peer.principal) ?? answer(errorText(id, METHOD_NOT_FOUND, notFound(method)));
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

/**
 * Echoes the version that was asked for. One that is not supported is refused with those that are; only with
 * `--negotiate` is a later one replaced by the newest.
 */
function initialize(mcp: McpServer, { id, params }: Request, peer: Peer): Answer {
  const asked = params["protocolVersion"];
  const version = versionNamed(asked, "handshake") ?? (mcp.negotiate ? newestHandshake(asked) : null);
  if (version === null) {
    mcp.log.warn("a client was turned away for its protocol version", {
      client: clientName(params["clientInfo"]), requested: requestedVersion(asked), supported: HANDSHAKE_VERSIONS.join(", "),
      ...(newestHandshake(asked) === null ? {} : { advice: `start the server with --negotiate to answer with ${HANDSHAKE_VERSIONS.at(-1)}` }),
    });
    return answer(versionError(id, asked, HANDSHAKE_VERSIONS));
  }
  peer.agree(version);
  return mcp.initialize(version).answer(id);
}

/** Name and version as the client gives them, bounded; `null` for none. */
function clientName(info: unknown): string | null {
  if (typeof info !== "object" || info === null) return null;
  const { name, version } = info as { readonly name?: unknown; readonly version?: unknown };
  return typeof name === "string" ? `${name} ${typeof version === "string" ? version : ""}`.trim().slice(0, 100) : null;
}

function versionError(id: RequestId | null, asked: unknown, supported: readonly string[]): string {
  const requested = requestedVersion(asked);
  const what = requested === null ? "protocolVersion is missing" : `protocol version '${requested}' is not supported`;
  return errorText(id, UNSUPPORTED_VERSION, what, { requested, supported });
}

/** The version as the client sent it, whatever its type, cut to a bounded size; `null` for none. */
function requestedVersion(asked: unknown): string | number | boolean | null {
  if (asked === undefined || asked === null) return null;
  if (typeof asked === "number" || typeof asked === "boolean") return asked;
  return (typeof asked === "string" ? asked : JSON.stringify(asked)).slice(0, 100);
}

function dispatchBatch(mcp: McpServer, values: readonly unknown[], peer: Peer, reply: Reply): void {
  const refuse = (message: string): void => reply.answer(answer(errorText(null, INVALID_REQUEST, message), 400));
  if (peer.version?.batching !== true) return refuse("batches belong to protocol version 2025-03-26 only");
  if (values.length === 0) return refuse("a batch holds at least one message");
  if (values.length > MAX_BATCH) return refuse(`a batch holds at most ${MAX_BATCH} messages`);
  const texts: (string | null)[] = values.map(() => null);
  let open = values.length;
  for (const [place, value] of values.entries()) {
    const one: Reply = {
      // Bytes are valid until the next dispatch: they are copied here, before this function lets another one run.
      answer(answered) {
        texts[place] = answered === null ? null : bodyText(answered);
        open -= 1;
        if (open === 0) reply.answer(joined(texts));
      },
    };
    const message = readMessage(value);
    if (message.kind === "request" && message.method === "initialize") {
      one.answer(answer(errorText(message.id, INVALID_REQUEST, "initialize is never part of a batch")));
    } else guarded(mcp, message, peer, one);
  }
}

/** The answer to a batch; none, where none of its messages has one. */
function joined(texts: readonly (string | null)[]): Answer | null {
  const answers = texts.filter((text) => text !== null);
  return answers.length === 0 ? null : answer(`[${answers.join(",")}]`);
}

/** The body of an answer as text of its own. */
export function bodyText({ body }: Answer): string {
  return typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}
