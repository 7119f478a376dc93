/** Both generations of the official SDK against the committed server: every tool is listed and called, on both transports. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("clients of the quickstart");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-clients-"));
const envFile = join(folder, ".env");
test.after(() => rmSync(folder, { recursive: true }));

const SERVER = repo("out/server.js");
const stdio = { command: process.execPath, args: ["--", SERVER, "--env-file", envFile], stderr: "ignore" as const };
const info = { name: "test", version: "1.0.0" };

/** Arguments with which each tool finds something. */
const CALLS: { readonly [tool: string]: { readonly [name: string]: unknown } } = {
  list_available_tools: {},
  run_tool: { name: "count_movies", arguments: { genre: ["Western"] } },
  search_movies: { query: "night of the living dead" },
  search_paramount_movies: { query: "star trek" },
  get_movie: { title: "Jurassic Park" },
  count_movies: {},
  list_movies: { director: "Steven Spielberg" },
  search_box_office: { query: "titanic" },
};

interface AnyClient {
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: { readonly [name: string]: unknown } }): Promise<unknown>;
  close(): Promise<void>;
}

test.before(async () => {
  writeFileSync(envFile, `MOVIES_DB=${join(folder, "movies.db")}\n`);
  const io = memoryIo({ cwd: folder });
  const words = [
    "load", repo("specs/examples/quickstart/tools.yaml"), repo("node_modules/vega-datasets/data/movies.json"), "--connection", "movies", "--collection", "movies",
    "--snake-case", "--types", "release_date:datetime,title:keyword", "--text", "title,major_genre,creative_type,source,director,distributor", "--env-file", envFile,
  ];
  assert.equal(await run(words, io), 0, io.err());
});

async function callEveryTool(client: AnyClient): Promise<void> {
  try {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), Object.keys(CALLS).sort());
    for (const { name } of tools) {
      const result = (await client.callTool({ name, arguments: CALLS[name] ?? {} })) as { isError?: boolean; structuredContent?: { rows?: readonly unknown[] } };
      assert.ok(result.isError !== true, name);
      assert.ok((result.structuredContent?.rows ?? []).length > 0, `${name} finds something`);
    }
  } finally {
    await client.close();
  }
}

test("SDK v1 and v2 list and call every tool over stdio", async () => {
  const v1 = new ClientV1(info);
  await v1.connect(new StdioV1(stdio));
  await callEveryTool(v1 as AnyClient);
  const v2 = new ClientV2(info);
  await v2.connect(new StdioV2(stdio));
  await callEveryTool(v2 as AnyClient);
}, { timeoutMs: 30_000 });

test("SDK v1 and v2 list and call every tool over HTTP", async () => {
  const server = await startHttp(SERVER, ["--env-file", envFile]);
  try {
    const v1 = new ClientV1(info);
    await v1.connect(new HttpV1(new URL(server.url)) as Parameters<ClientV1["connect"]>[0]);
    await callEveryTool(v1 as AnyClient);
    const v2 = new ClientV2(info);
    await v2.connect(new HttpV2(new URL(server.url)));
    await callEveryTool(v2 as AnyClient);
  } finally {
    await server.kill();
  }
}, { timeoutMs: 30_000 });

test.run();
