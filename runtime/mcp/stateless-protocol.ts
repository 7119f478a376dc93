/**
 * The protocol without a handshake (2026-07-28): each request names its version and the client's capabilities in
 * `params._meta`, mirrors method, name and annotated arguments in headers, and is answered from nothing but itself.
 */
import { isUtf8 } from "node:buffer";
import { answer, type Answer, type Reply } from "./answer.js";
import { callTool } from "./call.js";
import { internalError, listTools, notFound, unsupportedVersion } from "./dispatch.js";
import { CAPABILITIES_KEY, errorText, INVALID_PARAMS, INVALID_REQUEST, isObject, metaOf, METHOD_NOT_FOUND, readMessage, type Request, type RequestId } from "./jsonrpc.js";
import type { ParamHeader } from "./param-headers.js";
import type { McpServer, Peer } from "./server.js";
import { versionNamed, type ProtocolVersion } from "./versions.js";

/** Headers that are missing, or do not say what the body says. */
const HEADER_MISMATCH = -32020;

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** Where the headers are that repeat what is in the body. */
export interface MirrorHeaders {
  /** A header by its lower-case name, as sent; "" when it is absent. */
  header(name: string): string;
  /** Whether it was sent, be it empty. */
  has(name: string): boolean;
}

/** A request that is answered with a stream for as long as the client listens. */
export interface ListenRequest {
  readonly id: RequestId;
  /** The caller asked for tools/list_changed. */
  readonly toolsListChanged: boolean;
}

/** Whether a parsed body, or the version that the header beside it names, belongs to this era. */
export function isStateless(value: unknown, named: ProtocolVersion | null): boolean {
  if (named?.era === "stateless") return true;
  return isObject(value) && isObject(value["params"]) && VERSION_KEY in metaOf(value["params"]);
}

/**
 * Answers one parsed body as `dispatch` does. `peer.version` is not asked: the body says what it speaks. Never throws.
 * @returns what is to be listened for, where a stream is asked for and the reply is left to the caller; else `null`.
 */
export function dispatchStateless(mcp: McpServer, value: unknown, headers: MirrorHeaders, peer: Peer, reply: Reply): ListenRequest | null {
  const message = Array.isArray(value) ? ({ kind: "invalid", id: null, code: INVALID_REQUEST, message: "a body holds one message" } as const) : readMessage(value);
  if (message.kind === "notification" || message.kind === "response") {
    reply.answer(null);
    return null;
  }
  if (message.kind === "invalid") {
    reply.answer(answer(errorText(message.id, message.code, message.message), 400));
    return null;
  }
  try {
    return request(mcp, message, headers, peer, reply);
  } catch (error) {
    mcp.log.error("dispatch failed", { error });
    reply.answer(internalError(message));
    return null;
  }
}

function request(mcp: McpServer, message: Request, headers: MirrorHeaders, peer: Peer, reply: Reply): ListenRequest | null {
  const version = acceptedVersion(mcp, message, headers);
  if ("status" in version) {
    reply.answer(version);
    return null;
  }
  if (message.method === "subscriptions/listen" && isObject(message.params["notifications"])) {
    return { id: message.id, toolsListChanged: message.params["notifications"]["toolsListChanged"] === true };
  }
  if (message.method !== "tools/call") {
    reply.answer(answered(mcp, message, peer, version));
    return null;
  }
  const refusal = argumentRefusal(mcp, message, headers, peer);
  if (refusal === null) callTool(mcp, message, peer, version, reply);
  else reply.answer(refusal);
  return null;
}

/** The answer to a request that is answered at once. */
function answered(mcp: McpServer, message: Request, peer: Peer, version: ProtocolVersion): Answer {
  const { id, method } = message;
  switch (method) {
    case "tools/list":
      return listTools(mcp, message, peer, version);
    case "server/discover":
      return mcp.discover(version).answer(id);
    case "subscriptions/listen":
      return refuse(message, INVALID_PARAMS, "params.notifications names what to listen for");
    default:
      return mcp.skills?.answer(message, version, peer.principal) ?? answer(errorText(id, METHOD_NOT_FOUND, notFound(method)), 404);
  }
}

/** The version of a request that may go on, or the refusal of one that may not. */
function acceptedVersion(mcp: McpServer, message: Request, headers: MirrorHeaders): ProtocolVersion | Answer {
  const meta = metaOf(message.params);
  const asked = meta[VERSION_KEY];
  if (typeof asked !== "string") return refuse(message, INVALID_PARAMS, `params._meta needs '${VERSION_KEY}'`);
  const version = versionNamed(asked, "stateless");
  const mismatch = headerMismatch("MCP-Protocol-Version", headers.header("mcp-protocol-version"), asked);
  if (mismatch !== null) return refuse(message, HEADER_MISMATCH, mismatch);
  if (version === null) return unsupportedVersion({ jsonrpc: "2.0", id: message.id, method: message.method }, asked);
  const problem = headerMismatch("Mcp-Method", headers.header("mcp-method"), message.method) ?? nameMismatch(mcp, message, headers.header("mcp-name"));
  if (problem !== null) return refuse(message, HEADER_MISMATCH, problem);
  if (!isObject(meta[CAPABILITIES_KEY])) return refuse(message, INVALID_PARAMS, `params._meta needs '${CAPABILITIES_KEY}'`);
  return version;
}

/** Resources have a name only where there are any: elsewhere the method is unknown, whatever its headers are. */
function nameMismatch({ skills }: McpServer, { method, params }: Request, header: string): string | null {
  if (method !== "tools/call" && (method !== "resources/read" || skills === null)) return null;
  const name = params[method === "tools/call" ? "name" : "uri"];
  return headerMismatch("Mcp-Name", decodeMirror(header), typeof name === "string" ? name : "");
}

/** Arguments of run_tool are its own: what the tool that it names would have in headers stays in the body. */
function argumentRefusal({ paramHeaders, engine }: McpServer, message: Request, headers: MirrorHeaders, { principal }: Peer): Answer | null {
  const { name, arguments: args } = message.params;
  if (typeof name !== "string") return null;
  for (const expected of paramHeaders.of(name)) {
    const { key } = expected;
    const problem = argumentMismatch(expected, headers.has(key) ? headers.header(key) : null, args);
    // A caller without permission gets the refusal, not what the arguments are.
    if (problem !== null) return engine.access.refusal(name, principal) === null ? refuse(message, HEADER_MISMATCH, problem) : null;
  }
  return null;
}

/** @param raw the header as sent, `null` when it was not. */
function argumentMismatch({ header, path }: ParamHeader, raw: string | null, args: unknown): string | null {
  let value = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (value === undefined || value === null) return raw === null ? null : `header ${header} repeats '${path.join(".")}', which is not in the arguments`;
  if (raw === null) return `header ${header} is missing`;
  const sent = decodeMirror(raw);
  if (typeof value === "string") return valueMismatch(header, sent, value);
  if (typeof value === "boolean") return valueMismatch(header, sent, String(value));
  if (!Number.isSafeInteger(value)) return `argument '${path.join(".")}' cannot be repeated in a header: it is no text, boolean or integer within ±9007199254740991`;
  const equal = sent !== null && /^-?\d+(\.0+)?$/.test(sent) && Number(sent) === value;
  return equal ? null : valueMismatch(header, sent, String(value));
}

function headerMismatch(header: string, sent: string | null, body: string): string | null {
  return sent === "" ? `header ${header} is missing` : valueMismatch(header, sent, body);
}

/** @param sent `null` for what no mirrored value may hold. */
function valueMismatch(header: string, sent: string | null, body: string): string | null {
  if (sent === null) return `header ${header} is neither visible ASCII nor valid base64 of UTF-8`;
  return sent === body ? null : `header ${header} '${sent.slice(0, 100)}' does not match '${body.slice(0, 100)}' in the body`;
}

/** A mirrored value: visible ASCII, or `=?base64?…?=` around UTF-8; `null` when it is neither. */
function decodeMirror(header: string): string | null {
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(header)?.[1];
  if (encoded === undefined) return /^[\t\x20-\x7e]*$/.test(header) ? header : null;
  const bytes = Buffer.from(encoded, "base64");
  // Buffer skips what is not base64 and needs no padding; only what comes out the same again was valid.
  return bytes.toString("base64") === encoded && isUtf8(bytes) ? bytes.toString() : null;
}

function refuse({ id }: Request, code: number, message: string): Answer {
  return answer(errorText(id, code, message), 400);
}
