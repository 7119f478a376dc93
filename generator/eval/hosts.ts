/**
 * What a host shows its model of tools/list: the list as the server sends it for a protocol version, names as the host
 * writes them. The list comes from the same code that serves it, so descriptions and schemas are the bytes of the wire.
 */
import type { Engine } from "../../runtime/abi/call.js";
import { isRecord } from "../../runtime/base/paths.js";
import { RUN_TOOL } from "../../runtime/call/meta-tools.js";
import { dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type Peer } from "../../runtime/mcp/server.js";
import { HANDSHAKE_VERSIONS, versionNamed } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import type { Choice } from "./checks.js";

export interface HostProfile {
  readonly summary: string;
  /** Protocol version that the host asks for. */
  readonly version: string;
  /** Whether the host's model sees the meta tools. */
  readonly metaTools: boolean;
  /** What stands before each name. */
  readonly prefix: (server: string) => string;
}

const NEWEST = HANDSHAKE_VERSIONS.at(-1) ?? "";
const OLDEST = HANDSHAKE_VERSIONS[0] ?? "";

/** Profiles by the name of --host-profile. */
export const HOST_PROFILES: { readonly [name: string]: HostProfile } = {
  plain: { summary: "names as they are, newest protocol, with the meta tools", version: NEWEST, metaTools: true, prefix: () => "" },
  compiled: { summary: "as plain, without the meta tools (--no-meta-tools)", version: NEWEST, metaTools: false, prefix: () => "" },
  prefixed: { summary: "names as mcp__SERVER__tool", version: NEWEST, metaTools: true, prefix: (server) => `mcp__${server.replace(/[^A-Za-z0-9_-]/g, "_")}__` },
  oldest: { summary: "the oldest protocol: no titles, annotations or output schemas", version: OLDEST, metaTools: true, prefix: () => "" },
};

/** A tool as a model sees it. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly [key: string]: unknown };
}

/** The list that the profile's host shows, in the order of the wire; the engine serves the meta tools where the profile has them. */
export async function shownTools(engine: Engine, profile: HostProfile, server: string): Promise<readonly ShownTool[]> {
  const log = createLog({ format: "text", level: "error", write: () => undefined });
  const mcp = createMcpServer({ engine, info: { name: server, title: server, version: "0" }, log });
  const found: ShownTool[] = [];
  for (let cursor: unknown = undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: cursor === undefined ? {} : { cursor } };
    const text = await new Promise<string>((resolve) => dispatch(mcp, message, peerOf(profile), { answer: (answered) => resolve(answered === null ? "{}" : Buffer.from(answered.body as string).toString()) }));
    const answer: unknown = JSON.parse(text);
    const result = isRecord(answer) && isRecord(answer["result"]) ? answer["result"] : {};
    if (!Array.isArray(result["tools"])) throw new Error("tools/list has no answer");
    for (const { name, description, inputSchema } of result["tools"] as readonly ShownTool[]) found.push({ name: `${profile.prefix(server)}${name}`, description, inputSchema });
    cursor = result["nextCursor"];
  }
  return found;
}

/** A host without an identity. */
function peerOf({ version }: HostProfile): Peer {
  return {
    transport: "stdio", principal: { id: null, claims: {}, headers: {} }, session: null, version: versionNamed(version, "handshake"), logLevel: null,
    agree: () => undefined, begin: () => true, signal: () => new AbortController().signal, end: () => undefined, cancel: () => undefined,
    setLogLevel: () => undefined, notify: () => undefined,
  };
}

/** The tool that a model's call means: without the host's prefix, and through run_tool the tool that it names. */
export function meantTool(name: string, args: { readonly [name: string]: unknown }, profile: HostProfile, server: string): Choice {
  const prefix = profile.prefix(server);
  const tool = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  if (tool !== RUN_TOOL || typeof args["name"] !== "string") return { tool, arguments: args };
  return { tool: args["name"], arguments: isRecord(args["arguments"]) ? args["arguments"] : {} };
}
