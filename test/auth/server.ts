/** A server of the fixture program in this process, with a mode of --auth and a clock of the test's. */
import type { Program } from "../../runtime/abi/call.js";
import type { AuthOptions, AuthService } from "../../runtime/auth/service.js";
import { createEngine } from "../../runtime/call/engine.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { createLog } from "../../runtime/observe/log.js";
import { createAuth } from "../../runtime/serve/authentication.js";
import { serveHttp, type HttpServing } from "../../runtime/serve/mcp-http/server.js";
import { routingOf, servedProjects } from "../../runtime/serve/projects.js";
import { fixtureProgram } from "../mcp/program.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";

export interface AuthServerOptions {
  readonly programs?: { readonly [name: string]: Program };
  readonly publicUrl?: string | null;
  readonly routeByClaim?: string | null;
  readonly defaultProject?: string | null;
  readonly env?: ReadonlyMap<string, string>;
  readonly keepAliveMs?: number;
}

export interface AuthServer {
  readonly port: number;
  readonly auth: AuthService;
  /** Milliseconds since the epoch, as the mode sees them; tests move it. */
  readonly clock: { now: number };
  /** What was logged so far, one JSON object a line. */
  logged(): Promise<readonly { readonly [name: string]: unknown }[]>;
  /** POST /mcp with a JSON-RPC request. */
  ask(method: string, params?: object, headers?: { readonly [name: string]: string }): Promise<Said>;
  get(path: string, headers?: { readonly [name: string]: string }): Promise<RawAnswer>;
  close(): Promise<void>;
}

export type Said = RawAnswer & { readonly json: ReturnType<typeof JSON.parse> };

/** Starts a server with an authentication that was made already, or with the options of a mode. */
export async function authServer(mode: AuthOptions | AuthService, { programs = { tools: fixtureProgram() }, publicUrl = null, routeByClaim = null, defaultProject = null, env = new Map(), keepAliveMs }: AuthServerOptions = {}): Promise<AuthServer> {
  const lines: string[] = [];
  const log = createLog({ format: "json", level: "info", write: (text) => void lines.push(text) });
  const clock = { now: Date.now() };
  const auth = "authenticator" in mode ? mode : await createAuth(mode, { log, now: () => clock.now });
  const projects = Object.entries(programs).map(([name, program]) => ({ name, program }));
  const info = { name: "t", title: "t", version: "0" };
  const served = projects.map(({ name, program }) => ({ name, mcp: createMcpServer({ engine: createEngine(program, { env, metaTools: true }), info, log }) }));
  const server: HttpServing = await serveHttp(servedProjects(served, routingOf(projects, defaultProject, routeByClaim)), {
    address: { host: "127.0.0.1", port: 0 }, allowOrigins: [], liveEmbed: false, auth, publicUrl, metrics: null, log, now: () => performance.now(), ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
  });
  const { port } = server.address;
  return {
    port, auth, clock,
    async logged() {
      await log.flush();
      return lines.join("").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as { readonly [name: string]: unknown });
    },
    async ask(method, params = {}, headers = {}) {
      const answer = await rawHttp(port, rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), { accept: "application/json", "mcp-protocol-version": "2025-11-25", ...headers }));
      return { ...answer, json: answer.body === "" ? null : JSON.parse(answer.body) };
    },
    get: (path, headers = {}) => rawHttp(port, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`),
    async close() {
      await server.drain(0);
      await auth.close();
      await Promise.all(served.map(({ mcp }) => mcp.engine.close()));
    },
  };
}
