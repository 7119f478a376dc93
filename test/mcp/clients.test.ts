/** Clients that we did not write, each through a whole session, over both transports. */
import * as assert from "node:assert/strict";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { fixtureServer } from "./files.js";
import { fixtureProgram, stages } from "./program.js";

const test = suite("clients");

/** What both generations of the SDK have in common. */
interface AnyClient {
  listTools(): Promise<{ tools: readonly { name: string; title?: string | undefined; outputSchema?: unknown }[] }>;
  callTool(params: { name: string; arguments?: { [name: string]: unknown } }): Promise<unknown>;
  ping?(): Promise<unknown>;
  getServerVersion(): { name: string } | undefined;
  close(): Promise<void>;
}

const stdio = { command: process.execPath, args: [...process.execArgv, "--", fixtureServer], stderr: "ignore" as const };
const info = { name: "test", version: "1.0.0" };

const CONNECT: { readonly [name: string]: (url: URL) => Promise<AnyClient> } = {
  "SDK v1 over stdio": async () => {
    const client = new ClientV1(info);
    await client.connect(new StdioV1(stdio));
    return client as AnyClient;
  },
  "SDK v1 over HTTP": async (url) => {
    const client = new ClientV1(info);
    await client.connect(new HttpV1(url) as Parameters<ClientV1["connect"]>[0]);
    return client as AnyClient;
  },
  "SDK v2 over stdio": async () => {
    const client = new ClientV2(info);
    await client.connect(new StdioV2(stdio));
    return client as AnyClient;
  },
  "SDK v2 over HTTP": async (url) => {
    const client = new ClientV2(info);
    await client.connect(new HttpV2(url));
    return client as AnyClient;
  },
  "SDK v2 over HTTP, newest protocol": async (url) => {
    const client = new ClientV2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new HttpV2(url));
    return client as AnyClient;
  },
  "SDK v2 over HTTP, choosing for itself": async (url) => {
    const client = new ClientV2(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(new HttpV2(url));
    return client as AnyClient;
  },
  "SDK v2 over stdio, choosing for itself": async () => {
    const client = new ClientV2(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StdioV2(stdio));
    return client as AnyClient;
  },
};

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: { readonly rows: readonly unknown[] };
}

for (const [name, connect] of Object.entries(CONNECT)) {
  test(`${name}: initialize, list, call, fail, run_tool, close`, async () => {
    const served = await startHttp(fixtureServer);
    let client: AnyClient | null = null;
    try {
      client = await connect(new URL(served.url));
      assert.equal(client.getServerVersion()?.name, "toolsrv");
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), ["list_available_tools", "run_tool", ...fixtureProgram({}, { stages }).tools.map((tool) => tool.name)]);
      // The client checks structured content against the advertised schema, and rejects what does not fit.
      for (const tool of ["echo", "run_tool"] as const) {
        const args = tool === "echo" ? { text: "hé" } : { name: "echo", arguments: { text: "hé" } };
        const result = (await client.callTool({ name: tool, arguments: args })) as Result;
        assert.deepEqual(result.structuredContent?.rows, [{ _id: 1, text: "hé" }]);
      }
      assert.equal(((await client.callTool({ name: "list_available_tools" })) as Result).structuredContent?.rows.length, 8);
      assert.equal(((await client.callTool({ name: "run_tool", arguments: {} })) as Result).isError, false);
      const failed = (await client.callTool({ name: "store_down" })) as Result;
      assert.equal(failed.isError, true);
      assert.equal(JSON.parse(failed.content[0]?.text ?? "{}").error.code, "backend_unreachable");
      // The newest protocol has no ping.
      if (!name.includes("HTTP, ")) await client.ping?.();
      await assert.rejects(client.callTool({ name: "bug" }), /internal error/);
    } finally {
      await client?.close();
      await served.kill();
    }
  }, { timeoutMs: 20_000 });
}

test.run();
