/** One catalog as an MCP server: what every message that concerns it is answered from. */
import type { Engine, Principal } from "../abi/call.js";
import type { Severity } from "../abi/extra-tools.js";
import { createIdSource } from "../base/id-source.js";
import type { Log } from "../observe/log.js";
import { FixedResult } from "./answer.js";
import type { RequestId } from "./jsonrpc.js";
import { createLists, LIST_TTL_MS, type ToolLists } from "./list.js";
import { META_TOOLS } from "../call/meta-tools.js";
import { CALLER_KEY } from "./stated-caller.js";
import { createParamHeaders, type ParamHeaders } from "./param-headers.js";
import { createFixedResults, finishResult } from "./result.js";
import { createSkills, SKILLS_EXTENSION, type Skills } from "./skills.js";
import { HTTP_VERSIONS, VERSIONS, type ProtocolVersion } from "./versions.js";

export interface ServerInfo {
  /** `--name`; should match the host's key for this server. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

export interface McpServer {
  readonly engine: Engine;
  readonly lists: ToolLists;
  /** Result of a payload that is returned again, see result.ts. */
  readonly fixedResult: (payload: object, version: ProtocolVersion) => string;
  /** Arguments that are repeated in HTTP headers. */
  readonly paramHeaders: ParamHeaders;
  /** The agent skill; `null` where the catalog asks for none. */
  readonly skills: Skills | null;
  readonly log: Log;
  /** `--negotiate`: a client that asks for a later version gets the newest of the handshake. */
  readonly negotiate: boolean;
  /** `--embedded`: the program that started the server states the caller of each call. */
  readonly embedded: boolean;
  /** Makes request ids. */
  readonly newId: () => string;
  /** Who answers, as JSON text. */
  readonly infoText: string;
  /** Result of initialize in a version of the handshake era. */
  initialize(version: ProtocolVersion): FixedResult;
  /** Result of server/discover. */
  discover(version: ProtocolVersion): FixedResult;
}

/** The other end: an HTTP request with its principal, or the stdio connection. */
export interface Peer {
  readonly transport: "stdio" | "http";
  readonly principal: Principal;
  /** Name of a connection that lasts; `null` where requests are independent. */
  readonly session: string | null;
  /** What its request's header of this name holds; absent where there are no headers. */
  readonly traceparent?: string | null;
  /** What the peer speaks; `null` before initialize. */
  readonly version: ProtocolVersion | null;
  /** initialize has settled on a version. */
  agree(version: ProtocolVersion): void;
  /** A call begins; false when a call with this id is running, because the two could not be distinguished. */
  begin(id: RequestId): boolean;
  /** Aborts when the peer cancels the running call with this id, or goes away; made on first use. */
  signal(id: RequestId): AbortSignal;
  /** The call is over and its answer written, or dropped. */
  end(id: RequestId): void;
  /** Aborts the call with this id of this peer, if it is running. */
  cancel(id: RequestId): void;
  /** The least severity of the events that the peer wants; `null` while it has not said. */
  readonly logLevel: Severity | null;
  setLogLevel(level: Severity): void;
  /** Sends a notification that belongs to a running call, if this peer can receive anything before its answer. Never waits. */
  notify(text: string): void;
}

export interface McpOptions {
  readonly engine: Engine;
  readonly info: ServerInfo;
  readonly log: Log;
  /** False unless given. */
  readonly negotiate?: boolean;
  /** False unless given; never over HTTP, where requests are authenticated. */
  readonly embedded?: boolean;
}

/** @throws ToolError tds_invalid for a tool whose schema asks for a header that cannot be. */
export function createMcpServer({ engine, info, log, negotiate = false, embedded = false }: McpOptions): McpServer {
  // The global and its origin are getters, which would be run for each id.
  const clock = performance;
  const { timeOrigin } = clock;
  const infoText = JSON.stringify(info);
  const withMetaTools = engine.metaTools && !META_TOOLS.some(({ name }) => engine.access.isDenied(name));
  const skills = createSkills({ engine, infoText });
  const capabilities = { tools: { listChanged: true }, ...(skills === null ? {} : { resources: {}, extensions: { [SKILLS_EXTENSION]: {} } }) };
  // Log messages are sent outside answers, which only a client with a handshake can ask for.
  const handshakeCapabilities = { ...capabilities, logging: {}, ...(embedded ? { experimental: { [CALLER_KEY]: {} } } : {}) };
  return {
    engine, negotiate, embedded, skills,
    lists: createLists({ engine, infoText }),
    fixedResult: createFixedResults(),
    paramHeaders: createParamHeaders(engine.program),
    log,
    newId: createIdSource(() => timeOrigin + clock.now()),
    infoText,
    initialize: oncePerVersion((version) =>
      JSON.stringify({ protocolVersion: version.name, capabilities: handshakeCapabilities, serverInfo: info, instructions: instructions(withMetaTools) }),
    ),
    discover: oncePerVersion((version) => {
      const result = { supportedVersions: HTTP_VERSIONS, capabilities, instructions: instructions(withMetaTools), ttlMs: LIST_TTL_MS, cacheScope: "public" };
      return finishResult(JSON.stringify(result), version, infoText);
    }),
  };
}

/** Whether two servers show a caller the same tools. */
export function listedAlike(a: McpServer, b: McpServer, principal: Principal): boolean {
  return a === b || VERSIONS.every((version) => a.lists.tools(version, principal)?.text === b.lists.tools(version, principal)?.text);
}

function oncePerVersion(make: (version: ProtocolVersion) => string): (version: ProtocolVersion) => FixedResult {
  const made = new Map<ProtocolVersion, FixedResult>();
  return (version) => {
    const before = made.get(version);
    if (before !== undefined) return before;
    const result = new FixedResult(make(version));
    made.set(version, result);
    return result;
  };
}

function instructions(metaTools: boolean): string {
  const what = "The tools of this server search and read data; none of them changes anything. Give the arguments that a tool's schema names; filters that belong to the data set are applied by the server.";
  return metaTools ? `${what} If a tool you expect is not in your list, call list_available_tools for the current list and run_tool to use one of them.` : what;
}
