/**
 * The exact bytes of each protocol version and, where the catalog checks roles, of each set of roles: what a client sees
 * may change only together with a file under test/golden/wire. UPDATE=1 writes the files.
 */
import * as assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import type { Program } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { VERSIONS, type ProtocolVersion } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import type { Authenticator } from "../../runtime/auth/authenticate.js";
import { NO_AUTHENTICATION } from "../../runtime/auth/none.js";
import { errorBody, SECURITY_HEADERS } from "../../runtime/http/errors.js";
import { InFlight } from "../../runtime/serve/in-flight.js";
import { createHostRules } from "../../runtime/http/host-rules.js";
import { RequestPath } from "../../runtime/http/request-path.js";
import { createRoutes, type RouteParts } from "../../runtime/serve/mcp-http/routes.js";
import { Subscriptions } from "../../runtime/serve/mcp-http/subscriptions.js";
import { createHttpServer } from "../../runtime/transport/uws.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "./program.js";

const test = suite("wire");

const FOLDER = repo("test/golden/wire");

interface Exchange {
  readonly name: string;
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
  /** Replaces the whole body. */
  readonly body?: string;
}

const EXCHANGES: readonly Exchange[] = [
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
const BY_ROLE: readonly Exchange[] = [
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

const RBAC = { default_role: "viewer", role_claim: "roles", deny_tools: ["bug"], roles: { viewer: { allow: ["echo"] }, admin: { allow: ["*"] } } };

/** Claims of the callers whose answers are recorded, by the name of the file. */
const CALLERS: { readonly [name: string]: { readonly roles?: readonly string[] } } = { anonymous: {}, admin: { roles: ["admin"] }, nobody: { roles: [] } };

const PING = '{"jsonrpc":"2.0","id":"golden","method":"ping"}';
const NEWEST = '{"jsonrpc":"2.0","id":"golden","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}';

/** What HTTP refuses before, or beside, any protocol version. */
const REFUSALS: { readonly [name: string]: string } = {
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
function shown(name: string, { status, headers, body }: RawAnswer): string {
  const ours = Object.entries(headers).filter(([header]) => !["date", "uwebsockets", "content-length"].includes(header));
  return `=== ${name}: ${status}\n${ours.map(([header, value]) => `${header}: ${value}\n`).join("")}${body}\n`;
}

/** The answers of one version as text: a line with name and status, the headers that are ours, the body. */
async function record(port: number, version: ProtocolVersion, exchanges: readonly Exchange[]): Promise<string> {
  const envelope = { _meta: { "io.modelcontextprotocol/protocolVersion": version.name, "io.modelcontextprotocol/clientCapabilities": {} } };
  const parts: string[] = [];
  for (const { name, method, params = {}, body } of exchanges) {
    const asked = params["protocolVersion"] === "VERSION" ? { ...params, protocolVersion: version.name } : params;
    const message = { jsonrpc: "2.0", id: "golden", method, params: version.era === "stateless" ? { ...asked, ...envelope } : asked };
    const mirror: { readonly [header: string]: string } =
      version.era === "stateless" && body === undefined ? { "mcp-method": method, ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}) } : {};
    const answer = await rawHttp(port, rawPost("/mcp", body ?? JSON.stringify(message), { accept: "application/json", "mcp-protocol-version": version.name, ...mirror }));
    parts.push(shown(name, answer));
  }
  return parts.join("\n");
}

/** Runs `use` with the port of a server of the fixture. */
async function withServer(settings: Program["settings"], authenticator: Authenticator, use: (port: number) => Promise<void>, { stopping = false, ...more }: Partial<RouteParts> & { readonly stopping?: boolean } = {}): Promise<void> {
  const engine = createEngine(fixtureProgram(settings), { env: new Map(), metaTools: true });
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
  }
}

function hold(name: string, recorded: string): void {
  const file = `${FOLDER}/${name}.txt`;
  mkdirSync(FOLDER, { recursive: true });
  if (process.env["UPDATE"] === "1") writeFileSync(file, recorded);
  assert.equal(recorded, readFileSync(file, "utf8"), name);
}

test("every version answers with the recorded bytes", () =>
  withServer({}, NO_AUTHENTICATION, async (port) => {
    for (const version of VERSIONS) hold(version.name, await record(port, version, EXCHANGES));
  }));

test("every version answers each set of roles with the recorded bytes", async () => {
  for (const [caller, claims] of Object.entries(CALLERS)) {
    const principal = { id: caller, claims, headers: {} };
    const authenticator: Authenticator = { headers: [], authenticate: () => principal };
    await withServer({ security: { rbac: RBAC } }, authenticator, async (port) => {
      for (const version of VERSIONS) hold(`${version.name}-${caller}`, await record(port, version, BY_ROLE));
    });
  }
});

test("what is refused in every version is refused with the recorded bytes", async () => {
  const parts: string[] = [];
  await withServer({}, NO_AUTHENTICATION, async (port) => {
    for (const [name, request] of Object.entries(REFUSALS)) parts.push(shown(name, await rawHttp(port, request)));
  });
  const call = rawPost("/mcp", PING, { "mcp-protocol-version": "2025-11-25" });
  await withServer({}, NO_AUTHENTICATION, async (port) => void parts.push(shown("while draining", await rawHttp(port, call))), { stopping: true });
  await withServer({}, NO_AUTHENTICATION, async (port) => void parts.push(shown("a caller of no catalog", await rawHttp(port, call))), { projects: { of: () => null } });
  await withServer({}, NO_AUTHENTICATION, async (port) => void parts.push(shown("a caller of no catalog, 2026-07-28", await rawHttp(port, rawPost("/mcp", NEWEST, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" })))), { projects: { of: () => null } });
  hold("refusals", parts.join("\n"));
});

test("no record is left over", () => {
  const names = ["refusals", ...VERSIONS.flatMap(({ name }) => [name, ...Object.keys(CALLERS).map((caller) => `${name}-${caller}`)])];
  assert.deepEqual(readdirSync(FOLDER).sort(), names.map((name) => `${name}.txt`).sort());
});

test.run();
