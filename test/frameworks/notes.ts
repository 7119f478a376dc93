/** A catalog with a tenant, roles and a guard over a filled store, as an agent framework and as an MCP client see it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { compile, type CallContext, type CatalogSource, type ToolDefinition } from "../../generator/index.js";
import { programOf } from "../../generator/program.js";
import type { Principal } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type Peer } from "../../runtime/mcp/server.js";
import { HANDSHAKE_VERSIONS, versionNamed } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { memoryIo } from "../lib/io.js";

const TARGET = { connection: "store", collection: "notes" };

export const CATALOG = {
  tds_version: "2",
  connections: { store: { backend: "sqlite", path: "./store.db" } },
  defaults: { embedding: "local/hashing-256" },
  security: {
    tenancy: { mode: "claim", claim: "org", path: "org", enforce: "strict" },
    rbac: { enabled: true, default_role: "reader", role_claim: "groups", roles: { reader: { allow: ["search_notes", "count_notes"] }, owner: { allow: ["*"] } }, deny_tools: ["hidden_notes"] },
  },
  tools: [
    {
      name: "search_notes", description: "Search notes by their words. Use when the user looks for a note.", query: { required: true }, target: TARGET,
      parameters: [{ name: "colour", path: "colour", enum: ["red", "green"] }, { name: "since", path: "written", op: "gte", dtype: "datetime" }],
      static_filters: [{ path: "public", value: true }], output: { fields: ["text", "colour"], limit_default: 5, limit_max: 20 },
    },
    { name: "count_notes", kind: "count", description: "Count the notes of the store. Use for questions after a number.", target: TARGET },
    { name: "list_notes", kind: "scroll", description: "List the notes of the store. Use to look through them.", target: TARGET },
    { name: "hidden_notes", kind: "count", description: "Count the notes that nobody sees. Use never, it is denied.", target: TARGET },
  ],
} as const satisfies CatalogSource;

const ROWS = [
  { id: "a", text: "red apples", colour: "red", public: true, org: "north", written: "2024-03-01T00:00:00Z" },
  { id: "b", text: "green apples", colour: "green", public: true, org: "north", written: "2024-04-01T00:00:00Z" },
  { id: "c", text: "secret apples", colour: "red", public: false, org: "north", written: "2024-05-01T00:00:00Z" },
  { id: "d", text: "southern apples", colour: "red", public: true, org: "south", written: "2024-05-01T00:00:00Z" },
];

export const NORTH: CallContext = { principal: "ann", tenant: "north" };
export const SOUTH: CallContext = { principal: "sam", tenant: "south" };

/** The same project for all tests of a file: filled once, removed at the end. */
export class NotesProject {
  readonly folder = mkdtempSync(join(tmpdir(), "toolsrv-frameworks-"));
  readonly catalog = join(this.folder, "tools.yaml");

  async fill(): Promise<void> {
    writeFileSync(this.catalog, JSON.stringify(CATALOG));
    writeFileSync(join(this.folder, "rows.jsonl"), ROWS.map((row) => JSON.stringify(row)).join("\n"));
    const io = memoryIo({ cwd: this.folder });
    assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "notes", "--id", "id"], io), EXIT.OK, io.err());
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a client with these claims gets over MCP. */
export interface McpView {
  list(claims: Principal["claims"]): Promise<readonly ToolDefinition[]>;
  /** The text of the result. */
  call(name: string, args: unknown, claims: Principal["claims"]): Promise<{ readonly text: string; readonly isError: boolean }>;
  close(): Promise<void>;
}

export async function overMcp(project: NotesProject): Promise<McpView> {
  const { plans } = await compile(project.catalog);
  const engine = createEngine(programOf(plans, { base: pathToFileURL(`${project.folder}/`) }), { env: new Map() });
  const mcp = createMcpServer({ engine, info: { name: "notes", title: "notes", version: "0" }, log: createLog({ format: "text", level: "error", write: () => undefined }) });
  const ask = (method: string, params: object, claims: Principal["claims"]): Promise<{ readonly result: never }> => new Promise((resolve) => {
    dispatch(mcp, JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })), peerOf({ id: "ann", claims, headers: {} }), { answer: (answered) => resolve(JSON.parse(Buffer.from(answered?.body ?? "").toString())) });
  });
  return {
    async list(claims) {
      const { result } = await ask("tools/list", {}, claims);
      const { tools } = result as { readonly tools: readonly ToolDefinition[] };
      return tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema }));
    },
    async call(name, args, claims) {
      const { result } = await ask("tools/call", { name, arguments: args }, claims);
      const { content, isError } = result as { readonly content: readonly [{ readonly text: string }]; readonly isError: boolean };
      return { text: content[0].text, isError };
    },
    close: () => engine.close(),
  };
}

function peerOf(principal: Principal): Peer {
  return {
    transport: "stdio", principal, session: null, version: versionNamed(HANDSHAKE_VERSIONS.at(-1), "handshake"), logLevel: null,
    agree: () => undefined, begin: () => true, signal: () => new AbortController().signal, end: () => undefined, cancel: () => undefined,
    setLogLevel: () => undefined, notify: () => undefined,
  };
}

/** A result text without what differs from call to call. */
export function steady(text: string): string {
  return text.replace(/"latency_ms":\d+/, '"latency_ms":0');
}

/** Rows of a result text, by id. */
export function idsOf(text: string): readonly unknown[] {
  const { rows } = JSON.parse(text) as { readonly rows: readonly { readonly _id: string }[] };
  return rows.map(({ _id }) => _id).sort();
}

/** Calls that a model gets wrong, and one that a date without a time and a null make unusual. */
export const CALLS: readonly (readonly [name: string, args: unknown])[] = [
  ["search_notes", { query: "apples" }],
  ["search_notes", { query: "apples", colour: null, since: "2024-03-15" }],
  ["search_notes", {}],
  ["search_notes", { query: "apples", colour: "blue" }],
  ["search_notes", { query: "apples", since: "yesterday" }],
  ["search_notes", { query: "x".repeat(100_000) }],
  ["search_notes", { query: 5 }],
  ["count_notes", {}],
];
