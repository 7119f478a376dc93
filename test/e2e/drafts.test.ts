/**
 * A tool from a proposal to a call, over the films of the quickstart: an MCP client looks at a collection and proposes,
 * a person lists and approves, the running server serves the tool, and the build knows that it is behind.
 */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { loadMovies } from "./quickstart.js";

const test = suite("a draft from its proposal to a call");
const here = fileURLToPath(import.meta.url);
const toolsrvFile = join(here, `../toolsrv${extname(here)}`);

type Rows = { readonly rows: readonly { readonly [key: string]: unknown }[]; readonly count: number; readonly message?: string };

test("describe, define, list, approve, call: the server that runs serves the approved tool, and build --check is red until the next build", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-e2e-drafts-"));
  const toolsrv = async (...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
    const io = memoryIo({ cwd: folder, env: { USER: "ana" } });
    return { code: await run(words, io), out: io.out(), err: io.err() };
  };
  const client = new Client({ name: "author", version: "1.0.0" });
  try {
    copyFileSync(repo("specs/examples/quickstart/tools.yaml"), join(folder, "tools.yaml"));
    const envFile = await loadMovies(folder);
    const original = readFileSync(join(folder, "tools.yaml"), "utf8");
    assert.equal((await toolsrv("build", "--no-trace")).code, 0);
    assert.equal((await toolsrv("build", "--no-trace", "--check")).code, 0);

    const changed = new Promise<void>((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()));
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [...process.execArgv, toolsrvFile, "serve", "tools.yaml", "--enable-define", "--env-file", envFile], cwd: folder, stderr: "ignore" }));
    const names = async (): Promise<readonly string[]> => (await client.listTools()).tools.map(({ name }) => name);
    const call = async (name: string, args: { readonly [key: string]: unknown }): Promise<Rows> => (await client.callTool({ name, arguments: args })).structuredContent as Rows;

    assert.deepEqual((await names()).slice(-2), ["describe_collection", "define_tool"]);
    const { rows: fields } = await call("describe_collection", { connection: "movies", collection: "movies" });
    assert.ok(fields.some(({ path, dtype }) => path === "mpaa_rating" && dtype === "keyword"));
    const refused = await call("define_tool", { name: "movies_by_rating", description: "Films", spec: { target: { connection: "movies", collection: "movies" } } });
    assert.ok(refused.count > 0, "a proposal with a mistake is answered with it");
    const spec = { kind: "scroll", target: { connection: "movies", collection: "movies" }, parameters: [{ name: "rating", path: "mpaa_rating", dtype: "keyword", op: "eq", required: true }], output: { fields: ["title", "mpaa_rating"], limit_default: 5 } };
    const saved = await call("define_tool", { name: "movies_by_rating", description: "List films of one MPAA rating. Use when the user names a rating such as PG-13.", spec });
    assert.equal(saved.count, 0, JSON.stringify(saved));
    assert.ok(!(await names()).includes("movies_by_rating"), "a draft cannot be called");

    assert.match((await toolsrv("drafts", "list")).out, /^pending {4}movies_by_rating /);
    const dry = await toolsrv("approve", "movies_by_rating", "--dry-run");
    assert.equal(dry.code, 0, dry.err);
    assert.match(dry.out, /^\+ {2}- name: movies_by_rating$/m);
    assert.equal(readFileSync(join(folder, "tools.yaml"), "utf8"), original);
    const approved = await toolsrv("approve", "movies_by_rating");
    assert.equal(approved.code, 0, approved.err);

    await changed;
    assert.ok((await names()).includes("movies_by_rating"));
    const { rows } = await call("movies_by_rating", { rating: "PG-13" });
    assert.equal(rows.length, 5);
    assert.ok(rows.every((row) => row["mpaa_rating"] === "PG-13"));

    assert.equal((await toolsrv("build", "--no-trace", "--check")).code, 1, "the build is behind");
    assert.equal((await toolsrv("build", "--no-trace")).code, 0);
    assert.equal((await toolsrv("build", "--no-trace", "--check")).code, 0);
    assert.match((await toolsrv("drafts", "list")).out, /^approved {3}movies_by_rating /);
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 60_000 });

test.run();
