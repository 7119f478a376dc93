/**
 * The quickstart from the outside, on whatever Node runs this file: fill the store, start the committed server, list
 * and call with the official client. CI runs this file on every supported Node.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { repo } from "./lib/repo.js";
import { startHttp } from "./lib/served.js";
import { suite } from "./lib/suite.js";

const test = suite("smoke");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-smoke-"));
const envFile = join(folder, ".env");
writeFileSync(envFile, `MOVIES_DB=${join(folder, "movies.db")}\n`);
test.after(() => rmSync(folder, { recursive: true }));

const CATALOG = repo("specs/examples/quickstart/tools.yaml");
const SERVER = repo("out/server.js");

test("the films are loaded and the catalog compiles to what is committed", async () => {
  const load = await toolsrv(
    "load", CATALOG, repo("node_modules/vega-datasets/data/movies.json"), "--connection", "movies", "--collection", "movies", "--snake-case",
    "--types", "release_date:datetime,title:keyword", "--text", "title,major_genre,creative_type,source,director,distributor", "--env-file", envFile,
  );
  assert.equal(load.code, 0, load.stderr);
  const validate = await toolsrv("validate", CATALOG, "--strict");
  assert.equal(validate.code, 0, validate.stderr);
  const check = await toolsrv("build", CATALOG, "--out", repo("out"), "--check");
  assert.equal(check.code, 0, check.stdout + check.stderr);
}, { timeoutMs: 60_000 });

test("the compiled server lists and calls its tools over stdio", async () => {
  await session(new StdioClientTransport({ command: process.execPath, args: ["--", SERVER, "--env-file", envFile], stderr: "ignore" }));
}, { timeoutMs: 30_000 });

const noBinary = uwsProblem();
if (noBinary === null) {
  test("the compiled server lists and calls its tools over HTTP", async () => {
    const server = await startHttp(SERVER, ["--env-file", envFile]);
    try {
      await session(new StreamableHTTPClientTransport(new URL(server.url)));
      server.child.kill("SIGTERM");
      assert.equal(await server.ended, 0);
    } finally {
      await server.kill();
    }
  }, { timeoutMs: 30_000 });
} else {
  test.skip("the compiled server lists and calls its tools over HTTP", noBinary);
  test("without a uWebSockets.js binary, HTTP ends with a message that says what to install", async () => {
    const { code, stderr } = await run(process.execPath, ["--", SERVER, "--http", "127.0.0.1:0", "--auth", "none"]);
    assert.notEqual(code, 0);
    assert.ok(code < 128, `a crash: ${code}`);
    assert.match(stderr, /no uWebSockets\.js binary for .*install @uwsjs\//);
    assert.doesNotMatch(stderr, /\n\s+at /);
  });
}

/** A whole session of the official client. */
async function session(transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<void> {
  const client = new Client({ name: "smoke", version: "1.0.0" });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    for (const name of ["search_movies", "search_paramount_movies", "get_movie", "list_available_tools", "run_tool"]) assert.ok(names.includes(name), name);
    const found = await client.callTool({ name: "search_movies", arguments: { query: "night of the living dead", limit: 3 } });
    assert.ok(JSON.stringify(found.structuredContent).includes("Night of the Living Dead"));
    const fenced = await client.callTool({ name: "run_tool", arguments: { name: "search_paramount_movies", arguments: { query: "night of the living dead" } } });
    assert.notEqual(fenced.isError, true);
    assert.ok(!JSON.stringify(fenced.structuredContent).includes("Night of the Living Dead"));
  } finally {
    await client.close();
  }
}

/** Why this machine has no HTTP, or `null` when it has. */
function uwsProblem(): string | null {
  const name = `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split(".")[0]}`;
  try {
    createRequire(import.meta.url)(name);
    return null;
  } catch (error) {
    return `${name}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`;
  }
}

function toolsrv(...args: readonly string[]): Promise<Ended> {
  return run(process.execPath, ["--", repo("bin/toolsrv"), ...args]);
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(program, [...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 255, stdout, stderr });
    });
    child.stdin?.end();
  });
}

test.run();
