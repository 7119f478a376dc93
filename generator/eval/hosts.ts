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
  /** The name that the model sees; a `refusal` is why the host does not show the tool. */
  readonly rename: (server: string, tool: string) => string | { readonly refusal: string };
  /** Tools that the host gives to its model, the first ones of the list. */
  readonly maxTools?: number;
  /** Characters of a description that the model sees. */
  readonly descriptionLength?: number;
  /** Members of enums must be texts. */
  readonly textEnums?: true;
}

const NEWEST = HANDSHAKE_VERSIONS.at(-1) ?? "";
const OLDEST = HANDSHAKE_VERSIONS[0] ?? "";
const plainName = (_: string, tool: string): string => tool;
const safe = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, "_");
const prefixed = (server: string, tool: string): string => `mcp__${safe(server)}__${tool}`;

/**
 * Profiles by the name of --host-profile. Those of products are what their documentation, sources and issues say in 2026;
 * each limit names where it was read.
 */
export const HOST_PROFILES: { readonly [name: string]: HostProfile } = {
  plain: { summary: "names as they are, newest protocol, with the meta tools", version: NEWEST, metaTools: true, rename: plainName },
  compiled: { summary: "as plain, without the meta tools (--no-meta-tools)", version: NEWEST, metaTools: false, rename: plainName },
  prefixed: { summary: "names as mcp__SERVER__tool", version: NEWEST, metaTools: true, rename: prefixed },
  oldest: { summary: "the oldest protocol: no titles, annotations or output schemas", version: OLDEST, metaTools: true, rename: plainName },
  // Names above 64 characters are refused: https://github.com/ChromeDevTools/chrome-devtools-mcp/issues/1169.
  // Descriptions are cut at 2 KB: https://github.com/ericbuess/claude-code-docs/blob/main/docs/mcp.md.
  "claude-code": {
    summary: "mcp__SERVER__tool of at most 64 characters, descriptions cut at 2,048", version: NEWEST, metaTools: true, descriptionLength: 2048,
    rename: (server, tool) => within(64, prefixed(server, tool)),
  },
  // Server and tool together stay below 60 characters: https://github.com/ComposioHQ/composio/issues/2788.
  // The first 40 tools are sent: https://github.com/bun913/mcp-testrail/issues/6.
  cursor: {
    summary: "mcp_SERVER_tool, server and tool below 60 characters together, the first 40 tools", version: NEWEST, metaTools: true, maxTools: 40,
    rename: (server, tool) => (server.length + tool.length < 60 ? `mcp_${safe(server)}_${tool}` : { refusal: `the names of server and tool have ${server.length + tool.length} characters together, and the host takes 59` }),
  },
  // A prefix of 18 characters at most, names cut at 64: McpToolName of microsoft/vscode, and its issue 243602.
  // 128 tools a request: https://github.com/postmanlabs/postman-mcp-server.
  vscode: {
    summary: "mcp_SERVER_tool cut at 64 characters, the server's part at 18, the first 128 tools", version: NEWEST, metaTools: true, maxTools: 128,
    rename: (server, tool) => `mcp_${server.toLowerCase().replace(/[^a-z0-9_.-]+/g, "_").slice(0, 13)}_${tool}`.replaceAll(".", "_").slice(0, 64),
  },
  // Names above 63 characters lose their middle: generateValidName of google-gemini/gemini-cli. The API takes text enums only (TS0503).
  gemini: {
    summary: "names of at most 63 characters, the middle of longer ones left out; enums of texts only", version: NEWEST, metaTools: true, textEnums: true,
    rename(_, tool) {
      const name = tool.replace(/[^a-zA-Z0-9_.-]/g, "_");
      return name.length > 63 ? `${name.slice(0, 28)}___${name.slice(-32)}` : name;
    },
  },
};

function within(most: number, name: string): string | { readonly refusal: string } {
  return name.length <= most ? name : { refusal: `its name there, '${name}', has ${name.length} characters, and the host takes ${most}` };
}

/** A tool as a model sees it. */
export interface ShownTool {
  /** As the host writes it. */
  readonly name: string;
  /** As the server has it. */
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: { readonly [key: string]: unknown };
}

/** What a host makes of a server's list. */
export interface ShownList {
  readonly tools: readonly ShownTool[];
  /** Tools that its model does not see, and why. */
  readonly leftOut: readonly { readonly tool: string; readonly why: string }[];
}

/** The list that the profile's host shows, in the order of the wire; the engine serves the meta tools where the profile has them. */
export async function shownTools(engine: Engine, profile: HostProfile, server: string): Promise<ShownList> {
  const tools: ShownTool[] = [];
  const leftOut: { readonly tool: string; readonly why: string }[] = [];
  for (const { name: tool, description, inputSchema } of await listedTools(engine, profile, server)) {
    const name = profile.rename(server, tool);
    const same = tools.find((one) => one.name === name);
    const why = typeof name !== "string" ? name.refusal
      : profile.maxTools !== undefined && tools.length >= profile.maxTools ? `the host takes ${profile.maxTools} tools`
      : profile.textEnums === true && hasOtherEnum(inputSchema) ? "its schema has an enum with members that are not texts, which the host's API refuses"
      : same !== undefined ? `the host would call it '${same.name}', as ${same.tool}` : null;
    if (why === null && typeof name === "string") tools.push({ name, tool, description: description.slice(0, profile.descriptionLength), inputSchema });
    else leftOut.push({ tool, why: why ?? "" });
  }
  return { tools, leftOut };
}

/** An enum anywhere in a schema that has a number, a boolean or null. */
function hasOtherEnum(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasOtherEnum);
  if (!isRecord(schema)) return false;
  const members: unknown = schema["enum"];
  return (Array.isArray(members) && members.some((member) => typeof member !== "string")) || Object.values(schema).some(hasOtherEnum);
}

/** Every page of tools/list, as the server sends it. */
async function listedTools(engine: Engine, profile: HostProfile, server: string): Promise<readonly Omit<ShownTool, "tool">[]> {
  const log = createLog({ format: "text", level: "error", write: () => undefined });
  const mcp = createMcpServer({ engine, info: { name: server, title: server, version: "0" }, log });
  const found: Omit<ShownTool, "tool">[] = [];
  for (let cursor: unknown = undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: cursor === undefined ? {} : { cursor } };
    const text = await new Promise<string>((resolve) => dispatch(mcp, message, peerOf(profile), { answer: (answered) => resolve(answered === null ? "{}" : Buffer.from(answered.body as string).toString()) }));
    const answer: unknown = JSON.parse(text);
    const result = isRecord(answer) && isRecord(answer["result"]) ? answer["result"] : {};
    if (!Array.isArray(result["tools"])) throw new Error("tools/list has no answer");
    found.push(...(result["tools"] as readonly Omit<ShownTool, "tool">[]));
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

/** The tool that a model's call means: by the host's name for it, and through run_tool the tool that it names. */
export function meantTool(name: string, args: { readonly [name: string]: unknown }, tools: readonly ShownTool[]): Choice {
  const tool = tools.find((one) => one.name === name)?.tool ?? name;
  if (tool !== RUN_TOOL || typeof args["name"] !== "string") return { tool, arguments: args };
  return { tool: args["name"], arguments: isRecord(args["arguments"]) ? args["arguments"] : {} };
}
