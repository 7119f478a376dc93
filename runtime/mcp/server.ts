/** One catalog as an MCP server: what every message that concerns it is answered from. */
import type { Engine, Principal } from "../abi/call.js";
import type { Log } from "../observe/log.js";
import { FixedResult } from "./answer.js";
import type { AuthoringTools } from "./authoring.js";
import type { RequestId } from "./jsonrpc.js";
import { createLists, type ToolLists } from "./list.js";
import type { ProtocolVersion } from "./versions.js";

export interface ServerInfo {
  /** `--name`; should match the host's key for this server. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

export interface McpServer {
  readonly engine: Engine;
  readonly lists: ToolLists;
  readonly metaTools: boolean;
  readonly authoring: AuthoringTools | null;
  readonly log: Log;
  /** Result of initialize in a version. */
  initialize(version: ProtocolVersion): FixedResult;
}

/** The other end: an HTTP request with its principal, or the stdio connection. */
export interface Peer {
  readonly transport: "stdio" | "http";
  readonly principal: Principal;
  /** What the peer speaks; `null` before initialize. */
  readonly version: ProtocolVersion | null;
  /** initialize has settled on a version. */
  agree(version: ProtocolVersion): void;
  /** A call begins; false when a call with this id is running, because the two could not be told apart. */
  begin(id: RequestId): boolean;
  /** Aborts when the peer cancels the running call with this id, or goes away; made on first use. */
  signal(id: RequestId): AbortSignal;
  /** The call is over and its answer written, or dropped. */
  end(id: RequestId): void;
  /** Aborts the call with this id of this peer, if it is running. */
  cancel(id: RequestId): void;
}

export interface McpOptions {
  readonly engine: Engine;
  readonly info: ServerInfo;
  readonly metaTools: boolean;
  readonly authoring?: AuthoringTools;
  readonly log: Log;
}

export function createMcpServer({ engine, info, metaTools, authoring, log }: McpOptions): McpServer {
  const results = new Map<ProtocolVersion, FixedResult>();
  return {
    engine,
    lists: createLists({ engine, metaTools, authoring: authoring?.definitions ?? [] }),
    metaTools,
    authoring: authoring ?? null,
    log,
    initialize(version) {
      let result = results.get(version);
      if (result === undefined) {
        result = new FixedResult(JSON.stringify({
          protocolVersion: version.name,
          capabilities: { tools: { listChanged: true } },
          serverInfo: info,
          instructions: instructions(metaTools),
        }));
        results.set(version, result);
      }
      return result;
    },
  };
}

function instructions(metaTools: boolean): string {
  const what = "The tools of this server search and read data; none of them changes anything. Give the arguments that a tool's schema names; filters that belong to the data set are applied by the server.";
  return metaTools ? `${what} If a tool you expect is not in your list, call list_available_tools for the current list and run_tool to use one of them.` : what;
}
