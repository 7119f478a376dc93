/** Both generations of the official SDK against the committed server: whole sessions, on both transports. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { CALLS, FAILING, loadMovies, SERVER } from "./quickstart.js";

const test = suite("clients of the quickstart");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-clients-"));
let envFile = "";
test.before(async () => {
  envFile = await loadMovies(folder);
});
test.after(() => rmSync(folder, { recursive: true }));

const stdio = (): { command: string; args: string[]; stderr: "ignore" } => ({ command: process.execPath, args: ["--", SERVER, "--env-file", envFile], stderr: "ignore" });
const info = { name: "test", version: "1.0.0" };

interface AnyClient {
  ping(): Promise<unknown>;
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: { readonly [name: string]: unknown } }): Promise<unknown>;
  close(): Promise<void>;
}

interface Result {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text: string }[];
  readonly structuredContent?: { readonly rows?: readonly unknown[] };
}

/** What a client does that has connected: ping, list, call every tool, fail, leave. */
async function session(client: AnyClient): Promise<void> {
  try {
    await client.ping();
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), Object.keys(CALLS).sort());
    for (const { name } of tools) {
      const result = (await client.callTool({ name, arguments: CALLS[name] ?? {} })) as Result;
      assert.ok(result.isError !== true, name);
      assert.ok((result.structuredContent?.rows ?? []).length > 0, `${name} finds something`);
    }
    const failed = (await client.callTool({ name: FAILING.tool, arguments: FAILING.args })) as Result;
    assert.deepEqual([failed.isError, JSON.parse(failed.content?.[0]?.text ?? "{}").error.code], [true, FAILING.code]);
  } finally {
    await client.close();
  }
}

test("SDK v1 and v2 complete a session over stdio", async () => {
  const v1 = new ClientV1(info);
  await v1.connect(new StdioV1(stdio()));
  await session(v1 as AnyClient);
  const v2 = new ClientV2(info);
  await v2.connect(new StdioV2(stdio()));
  await session(v2 as AnyClient);
}, { timeoutMs: 30_000 });

test("SDK v1 and v2 complete a session over HTTP", async () => {
  const server = await startHttp(SERVER, ["--env-file", envFile]);
  try {
    const v1 = new ClientV1(info);
    await v1.connect(new HttpV1(new URL(server.url)) as Parameters<ClientV1["connect"]>[0]);
    await session(v1 as AnyClient);
    const v2 = new ClientV2(info);
    await v2.connect(new HttpV2(new URL(server.url)));
    await session(v2 as AnyClient);
  } finally {
    await server.kill();
  }
}, { timeoutMs: 30_000 });

test.run();
