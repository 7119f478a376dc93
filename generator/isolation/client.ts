/** Calls as a client makes them: a JSON-RPC message in, the text of the answer out, on the path that both transports use. */
import type { Envelope, Program } from "../../runtime/abi/call.js";
import { isRecord } from "../../runtime/base/paths.js";
import { createEngine } from "../../runtime/call/engine.js";
import { LIST_TOOL, RUN_TOOL } from "../../runtime/call/meta-tools.js";
import { dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type Peer } from "../../runtime/mcp/server.js";
import { createLog } from "../../runtime/observe/log.js";
import { HANDSHAKE_VERSIONS, versionNamed } from "../../runtime/mcp/versions.js";
import type { Env } from "../../runtime/abi/references.js";
import type { ProbeCaller } from "./callers.js";

export interface ProbeAnswer {
  /** As it was sent. */
  readonly text: string;
  /** `null` for a call that failed. */
  readonly envelope: Envelope | null;
  /** The error message of a failed call. */
  readonly failure: string | null;
}

export interface ProbeClient {
  call(tool: string, args: object, caller: ProbeCaller, through: "directly" | "through run_tool"): Promise<ProbeAnswer>;
  /** The text of list_available_tools. */
  list(caller: ProbeCaller): Promise<string>;
  /** Whether no caller may call the tool, whatever their roles. */
  isDenied(tool: string, callers: readonly ProbeCaller[]): boolean;
  close(): Promise<void>;
}

export function createProbeClient(program: Program, env: Env, metaTools: boolean): ProbeClient {
  const engine = createEngine(program, { env, metaTools });
  // A failed call is reported by the probe.
  const log = createLog({ format: "text", level: "error", write: () => undefined });
  const mcp = createMcpServer({ engine, info: { name: "probe", title: "probe", version: "0" }, log });
  const send = (name: string, args: object, { principal }: ProbeCaller): Promise<string> => new Promise((resolve) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
    dispatch(mcp, JSON.parse(JSON.stringify(message)), peerOf(principal), { answer: (answered) => resolve(answered === null ? "" : Buffer.from(answered.body as string).toString()) });
  });
  return {
    async call(tool, args, caller, through) {
      return answerOf(through === "directly" ? await send(tool, args, caller) : await send(RUN_TOOL, { name: tool, arguments: args }, caller));
    },
    list: (caller) => send(LIST_TOOL, {}, caller),
    isDenied: (tool, callers) => callers.every(({ principal }) => engine.access.refusal(tool, principal) !== null),
    close: () => engine.close(),
  };
}

/** A connection with a handshake, on which nothing is cancelled. */
function peerOf(principal: ProbeCaller["principal"]): Peer {
  return {
    transport: "http", principal, session: null, version: versionNamed(HANDSHAKE_VERSIONS.at(-1), "handshake"), logLevel: null,
    agree: () => undefined, begin: () => true, signal: () => new AbortController().signal, end: () => undefined, cancel: () => undefined,
    setLogLevel: () => undefined, notify: () => undefined,
  };
}

function answerOf(text: string): ProbeAnswer {
  const answer: unknown = JSON.parse(text);
  const result = isRecord(answer) && isRecord(answer["result"]) ? answer["result"] : {};
  const envelope = result["structuredContent"];
  if (result["isError"] !== true && isRecord(envelope) && Array.isArray(envelope["rows"])) return { text, envelope: envelope as unknown as Envelope, failure: null };
  const [content] = Array.isArray(result["content"]) ? (result["content"] as readonly unknown[]) : [];
  const told = isRecord(content) ? String(content["text"]) : text;
  return { text, envelope: null, failure: told.slice(0, 300) };
}
