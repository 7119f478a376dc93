/**
 * The protocol without a handshake (2026-07-28): each request names its version and the client's capabilities in
 * `params._meta`, mirrors method and name in headers, and is answered from nothing but itself.
 */
import { answer, type Answer } from "./answer.js";
import { callTool } from "./call.js";
import { internalError, listTools, notFound, unsupportedVersion } from "./dispatch.js";
import { CAPABILITIES_KEY, errorText, INVALID_PARAMS, INVALID_REQUEST, isObject, metaOf, METHOD_NOT_FOUND, readMessage, type Request, type RequestId } from "./jsonrpc.js";
import type { McpServer, Peer } from "./server.js";
import { versionNamed, type ProtocolVersion } from "./versions.js";

/** Headers that are missing, or do not say what the body says. */
const HEADER_MISMATCH = -32020;

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** The request headers that repeat what is in the body; "" when absent. */
export interface MirrorHeaders {
  /** MCP-Protocol-Version */
  readonly version: string;
  /** Mcp-Method */
  readonly method: string;
  /** Mcp-Name, as sent */
  readonly name: string;
}

/** A request that is answered with a stream for as long as the client listens. */
export interface ListenRequest {
  readonly id: RequestId;
  /** The caller asked for tools/list_changed. */
  readonly toolsListChanged: boolean;
}

export type EnvelopeOutcome = { readonly listen: ListenRequest } | { readonly answer: Answer | null | Promise<Answer | null> };

/** Whether a parsed body, or the version header beside it, belongs to this era. */
export function isEnvelopeEra(value: unknown, versionHeader: string): boolean {
  if (versionHeader !== "" && versionNamed(versionHeader, "envelope") !== null) return true;
  return isObject(value) && isObject(value["params"]) && VERSION_KEY in metaOf(value["params"]);
}

/** Answers one parsed body. `peer.version` is not asked: the body says what it speaks. Never throws. */
export function dispatchEnvelope(mcp: McpServer, value: unknown, headers: MirrorHeaders, peer: Peer): EnvelopeOutcome {
  const message = Array.isArray(value) ? ({ kind: "invalid", id: null, code: INVALID_REQUEST, message: "a body holds one message" } as const) : readMessage(value);
  if (message.kind === "notification" || message.kind === "response") return { answer: null };
  if (message.kind === "invalid") return { answer: answer(errorText(message.id, message.code, message.message), 400) };
  try {
    const version = acceptedVersion(message, headers);
    return "status" in version ? { answer: version } : request(mcp, message, peer, version);
  } catch (error) {
    mcp.log.error("dispatch failed", { error });
    return { answer: internalError(message) };
  }
}

/** The version of a request that may go on, or the refusal of one that may not. */
function acceptedVersion(message: Request, headers: MirrorHeaders): ProtocolVersion | Answer {
  const meta = metaOf(message.params);
  const asked = meta[VERSION_KEY];
  if (typeof asked !== "string") return refuse(message, INVALID_PARAMS, `params._meta needs '${VERSION_KEY}'`);
  const version = versionNamed(asked, "envelope");
  const mismatch = headerMismatch("MCP-Protocol-Version", headers.version, asked);
  if (mismatch !== null) return refuse(message, HEADER_MISMATCH, mismatch);
  if (version === null) return unsupportedVersion({ jsonrpc: "2.0", id: message.id, method: message.method }, asked);
  const problem = headerMismatch("Mcp-Method", headers.method, message.method) ?? nameMismatch(message, headers.name);
  if (problem !== null) return refuse(message, HEADER_MISMATCH, problem);
  if (!isObject(meta[CAPABILITIES_KEY])) return refuse(message, INVALID_PARAMS, `params._meta needs '${CAPABILITIES_KEY}'`);
  return version;
}

function request(mcp: McpServer, message: Request, peer: Peer, version: ProtocolVersion): EnvelopeOutcome {
  const { id, method, params } = message;
  switch (method) {
    case "tools/call":
      return { answer: callTool(mcp, message, peer, version) };
    case "tools/list":
      return { answer: listTools(mcp, message, peer, version) };
    case "server/discover":
      return { answer: mcp.discover(version).answer(id) };
    case "subscriptions/listen": {
      const wanted = params["notifications"];
      if (!isObject(wanted)) return { answer: refuse(message, INVALID_PARAMS, "params.notifications names what to listen for") };
      return { listen: { id, toolsListChanged: wanted["toolsListChanged"] === true } };
    }
    default:
      return { answer: answer(errorText(id, METHOD_NOT_FOUND, notFound(method)), 404) };
  }
}

function nameMismatch({ method, params }: Request, header: string): string | null {
  if (method !== "tools/call") return null;
  const name = params["name"];
  return headerMismatch("Mcp-Name", decodeMirror(header), typeof name === "string" ? name : "");
}

function headerMismatch(header: string, sent: string | null, body: string): string | null {
  if (sent === null) return `header ${header} is not valid base64`;
  if (sent === "") return `header ${header} is missing`;
  return sent === body ? null : `header ${header} '${sent.slice(0, 100)}' does not match '${body.slice(0, 100)}' in the body`;
}

/** A mirrored value: plain, or `=?base64?…?=` around UTF-8; `null` when that is broken. */
function decodeMirror(header: string): string | null {
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(header)?.[1];
  if (encoded === undefined) return header;
  const bytes = Buffer.from(encoded, "base64");
  // Buffer skips what is not base64; only what comes out the same again was valid.
  return bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "") ? bytes.toString() : null;
}

function refuse({ id }: Request, code: number, message: string): Answer {
  return answer(errorText(id, code, message), 400);
}
