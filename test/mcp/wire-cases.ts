/** The exchanges whose bytes are recorded under test/golden/wire, and a server over HTTP that they are put to. */
import type { Program } from "../../runtime/abi/call.js";
import type { Authenticator } from "../../runtime/auth/authenticate.js";
import { createEngine, type EngineOptions } from "../../runtime/call/engine.js";
import { errorBody, SECURITY_HEADERS } from "../../runtime/http/errors.js";
import { createHostRules } from "../../runtime/http/host-rules.js";
import { RequestPath } from "../../runtime/http/request-path.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import type { ProtocolVersion } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { InFlight } from "../../runtime/serve/in-flight.js";
import { createRoutes, type RouteParts } from "../../runtime/serve/mcp-http/routes.js";
import { Subscriptions } from "../../runtime/serve/mcp-http/subscriptions.js";
import { createHttpServer } from "../../runtime/transport/uws.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";

export interface Exchange {
  readonly name: string;
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
  /** Replaces the whole body. */
  readonly body?: string;
}

export const EXCHANGES: readonly Exchange[] = [
  { name: "initialize", method: "initialize", params: { protocolVersion: "VERSION", capabilities: {}, clientInfo: { name: "golden", version: "1" } } },
  { name: "initialize, unsupported", method: "initialize", params: { protocolVersion: "1999-01-01" } },
  { name: "server/discover", method: "server/discover" },
  { name: "ping", method: "ping" },
  { name: "tools/list", method: "tools/list" },
  { name: "tools/list, foreign cursor", method: "tools/list", params: { cursor: "x" } },
  { name: "tools/call", method: "tools/call", params: { name: "echo", arguments: { text: 'é"\n' } } },
  { name: "tools/call, through run_tool", method: "tools/call", params: { name: "run_tool", arguments: { name: "echo", arguments: { text: "x" } } } },
  { name: "tools/call, list_available_tools", method: "tools/call", params: { name: "list_available_tools" } },
  { name: "tools/call, run_tool without a name", method: "tools/call", params: { name: "run_tool", arguments: {} } },
  { name: "tools/call, wrong argument", method: "tools/call", params: { name: "echo", arguments: { text: 5 } } },
  { name: "tools/call, unknown tool", method: "tools/call", params: { name: "ecko", arguments: {} } },
  { name: "tools/call, store down", method: "tools/call", params: { name: "store_down" } },
  { name: "tools/call, refused", method: "tools/call", params: { name: "forbidden" } },
  { name: "tools/call, rate limit", method: "tools/call", params: { name: "limited" } },
  { name: "tools/call, bug", method: "tools/call", params: { name: "bug" } },
  { name: "tools/call, no name", method: "tools/call", params: {} },
  { name: "unknown method", method: "resources/list" },
  { name: "notification", method: "", body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' },
  { name: "batch", method: "", body: '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]' },
  { name: "no JSON-RPC", method: "", body: '{"id":1}' },
  { name: "no JSON", method: "", body: "{" },
];

/** What depends on roles. */
export const BY_ROLE: readonly Exchange[] = [
  { name: "initialize", method: "initialize", params: { protocolVersion: "VERSION", capabilities: {}, clientInfo: { name: "golden", version: "1" } } },
  { name: "server/discover", method: "server/discover" },
  { name: "tools/list", method: "tools/list" },
  { name: "tools/call", method: "tools/call", params: { name: "echo", arguments: { text: "x" } } },
  { name: "tools/call, through run_tool", method: "tools/call", params: { name: "run_tool", arguments: { name: "echo", arguments: { text: "x" } } } },
  { name: "tools/call, list_available_tools", method: "tools/call", params: { name: "list_available_tools" } },
  { name: "tools/call, list_available_tools through run_tool", method: "tools/call", params: { name: "run_tool", arguments: { name: "list_available_tools" } } },
  { name: "tools/call, another role's", method: "tools/call", params: { name: "wait", arguments: { ms: 0 } } },
  { name: "tools/call, another role's through run_tool", method: "tools/call", params: { name: "run_tool", arguments: { name: "wait", arguments: { ms: 0 } } } },
  { name: "tools/call, denied to everyone", method: "tools/call", params: { name: "bug" } },
  { name: "tools/call, unknown tool", method: "tools/call", params: { name: "ecko", arguments: {} } },
];

export const RBAC = { default_role: "viewer", role_claim: "roles", deny_tools: ["bug"], roles: { viewer: { allow: ["echo"] }, admin: { allow: ["*"] } } };

/** Claims of the callers whose answers are recorded, by the name of the file. */
export const CALLERS: { readonly [name: string]: { readonly roles?: readonly string[] } } = { anonymous: {}, admin: { roles: ["admin"] }, nobody: { roles: [] } };

export const PING = '{"jsonrpc":"2.0","id":"golden","method":"ping"}';
export const NEWEST = '{"jsonrpc":"2.0","id":"golden","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}';

/** What HTTP refuses before, or beside, any protocol version. */
export const REFUSALS: { readonly [name: string]: string } = {
  "unknown path": "GET /nothing HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
  "GET /mcp": "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
  "DELETE /mcp": "DELETE /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
  "POST /healthz": rawPost("/healthz", "{}"),
  "foreign Origin": rawPost("/mcp", PING, { origin: "https://evil.example" }),
  "foreign Host": rawPost("/mcp", PING, { host: "evil.example" }),
  "another content type": rawPost("/mcp", PING, { "content-type": "text/plain" }),
  "nothing acceptable": rawPost("/mcp", PING, { accept: "image/png" }),
  "unsupported version": rawPost("/mcp", PING, { "mcp-protocol-version": "1999-01-01" }),
  "2026-07-28 without Mcp-Method": rawPost("/mcp", NEWEST, { "mcp-protocol-version": "2026-07-28" }),
  "2026-07-28 with another Mcp-Method": rawPost("/mcp", NEWEST, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" }),
  "2026-07-28 with another version header": rawPost("/mcp", NEWEST, { "mcp-protocol-version": "2025-11-25", "mcp-method": "tools/list" }),
  "as an event stream": rawPost("/mcp", PING, { accept: "text/event-stream", "mcp-protocol-version": "2025-11-25" }),
  preflight: "OPTIONS /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: http://localhost:3000\r\naccess-control-request-method: POST\r\n\r\n",
};

/** An answer as it is recorded: the headers that are ours, and the body. */
export function shown(name: string, { status, headers, body }: RawAnswer): string {
  const ours = Object.entries(headers).filter(([header]) => !["date", "uwebsockets", "content-length"].includes(header));
  return `=== ${name}: ${status}\n${ours.map(([header, value]) => `${header}: ${value}\n`).join("")}${body}\n`;
}

/** The request of an exchange in a protocol version. */
export function messageOf({ method, params = {} }: Exchange, version: ProtocolVersion): object {
  const envelope = { _meta: { "io.modelcontextprotocol/protocolVersion": version.name, "io.modelcontextprotocol/clientCapabilities": {} } };
  const asked = params["protocolVersion"] === "VERSION" ? { ...params, protocolVersion: version.name } : params;
  return { jsonrpc: "2.0", id: "golden", method, params: version.era === "stateless" ? { ...asked, ...envelope } : asked };
}

/** The answers of one version as text: a line with name and status, the headers that are ours, the body. */
export async function record(port: number, version: ProtocolVersion, exchanges: readonly Exchange[]): Promise<string> {
  const parts: string[] = [];
  for (const exchange of exchanges) {
    const { name, method, params = {}, body } = exchange;
    const message = messageOf(exchange, version);
    const mirror: { readonly [header: string]: string } =
      version.era === "stateless" && body === undefined ? { "mcp-method": method, ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}) } : {};
    const answer = await rawHttp(port, rawPost("/mcp", body ?? JSON.stringify(message), { accept: "application/json", "mcp-protocol-version": version.name, ...mirror }));
    parts.push(shown(name, answer));
  }
  return parts.join("\n");
}

interface ServerParts extends Partial<RouteParts> {
  readonly stopping?: boolean;
  readonly engine?: Partial<EngineOptions>;
}

/** Runs `use` with the port of a server of the program. */
export async function withServer(program: Program, authenticator: Authenticator, use: (port: number) => Promise<void>, { stopping = false, engine: options = {}, ...more }: ServerParts = {}): Promise<void> {
  const engine = createEngine(program, { env: new Map(), metaTools: true, ...options });
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const mcp = createMcpServer({ engine, info: { name: "golden", title: "toolsrv", version: "0.0.0" }, log });
  const rules = createHostRules({ boundToLoopback: true, allowedOrigins: [], loopbackOrigins: true, publicUrl: null, setting: "--allow-origin" });
  const { routes, notFound, notFoundHeaders } = createRoutes({
    projects: { of: () => mcp }, inFlight: new InFlight(), path: new RequestPath({ rules, authenticator, errorBody, stopping: () => stopping }),
    subscriptions: new Subscriptions(), paramHeaders: mcp.paramHeaders.keys,
    readiness: { ask: () => Promise.reject(new Error("not asked here")) }, metrics: null,
    ...more,
  });
  const server = createHttpServer({ routes, notFound, notFoundHeaders, errorHeaders: SECURITY_HEADERS, onError: () => undefined });
  const { port } = await server.listen("127.0.0.1", 0);
  try {
    await use(port);
  } finally {
    server.close();
    await engine.close();
  }
}
