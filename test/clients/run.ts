/**
 * `make clients`: whole sessions of clients we did not write with the committed server, over stdio and over HTTP. The
 * official SDKs are part of the ordinary tests (test/e2e/clients.test.ts); here are those that are programs of their
 * own: the MCP Inspector's command line, and FastMCP's Python client. Skipped, with the reason, where they can't be had.
 */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { CALLS, FAILING, loadMovies, SERVER } from "../e2e/quickstart.js";
import { installed } from "../lib/npm.js";
import { repo } from "../lib/repo.js";
import { startHttp } from "../lib/served.js";

type Json = ReturnType<typeof JSON.parse>;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const cache = repo(".cache/clients");
const names = Object.keys(CALLS).sort();

interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function finish(file: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Finished> {
  return new Promise((resolve) => {
    execFile(file, [...args], { env, timeout: 120_000, maxBuffer: 1 << 26 }, (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }));
  });
}

/** The command that starts the server for a client, or its URL. */
interface Target {
  readonly transport: "stdio" | "http";
  readonly words: readonly string[];
}

/** The Inspector starts anew for each request: every line is a session of its own. It knows no ping. */
async function inspector(cli: string, era: "legacy" | "modern", { transport, words }: Target, home: string): Promise<string> {
  // Its own settings stay out of the user's home.
  const env = { ...process.env, HOME: home, MCP_CATALOG_PATH: join(home, "mcp.json"), MCP_CLIENT_CONFIG_PATH: join(home, "client.json") };
  const ask = async (...method: readonly string[]): Promise<{ readonly code: number; readonly result: Json; readonly err: string }> => {
    const { code, out, err } = await finish(process.execPath, [cli, "--cli", "--quiet", "--format", "json", "--protocol-era", era, ...method, ...words], env);
    assert.notEqual(out.trim(), "", `${method.join(" ")}: ${err}`);
    return { code, result: JSON.parse(out).result, err };
  };
  const { result: hello } = await ask("--method", "initialize");
  assert.equal(hello.serverInfo.name, "toolsrv");
  const { result: list } = await ask("--method", "tools/list");
  assert.deepEqual(list.tools.map(({ name }: Json) => name).sort(), names);
  for (const [tool, args] of Object.entries(CALLS)) {
    const { code, result } = await ask("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));
    assert.deepEqual([code, result.structuredContent.rows.length > 0], [0, true], tool);
  }
  const failed = await ask("--method", "tools/call", "--tool-name", FAILING.tool, "--tool-args-json", JSON.stringify(FAILING.args));
  assert.deepEqual([failed.code, failed.result.isError, JSON.parse(failed.result.content[0].text).error.code], [5, true, FAILING.code]);
  return `${transport}, protocol ${hello.protocolVersion}: initialize, tools/list of ${list.tools.length}, ${names.length} tools called, an error (its command line has no ping)`;
}

async function fastmcp(python: string, mode: string, { transport, words }: Target): Promise<string> {
  const { code, out, err } = await finish(python, [repo("test/clients/fastmcp_session.py"), mode, JSON.stringify({ calls: CALLS, failing: FAILING }), ...words]);
  assert.equal(code, 0, err);
  const seen: Json = JSON.parse(out.trim().split("\n").at(-1) ?? "");
  assert.deepEqual([seen.server, seen.tools.sort(), seen.failed, seen.code], ["toolsrv", names, true, FAILING.code]);
  assert.deepEqual(Object.entries(seen.rows).filter(([, rows]) => !(Number(rows) > 0)), [], "every tool finds something");
  assert.notEqual(seen.ping, false);
  return `${transport}, protocol ${seen.protocol}: ${seen.ping === true ? "initialize" : "server/discover"}, tools/list of ${seen.tools.length}, ${names.length} tools called, an error${seen.ping === true ? ", ping" : ""}`;
}

/** A Python with FastMCP; `null`, with a reason, where there is none. */
function pythonWith(version: string): { readonly path: string } | { readonly path: null; readonly why: string } {
  const venv = join(cache, "fastmcp");
  const python = join(venv, "bin/python");
  const check = (): boolean => spawnSync(python, ["-c", `import importlib.metadata as m; assert m.version("fastmcp") == "${version}"`]).status === 0;
  if (existsSync(python) && check()) return { path: python };
  const made = spawnSync("python3", ["-m", "venv", venv], { encoding: "utf8" });
  if (made.status !== 0) return { path: null, why: `python3 -m venv failed: ${(made.error?.message ?? made.stderr).trim().split("\n").at(-1)}` };
  const pip = spawnSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `fastmcp==${version}`], { encoding: "utf8" });
  return check() ? { path: python } : { path: null, why: `pip install fastmcp==${version} failed: ${pip.stderr.trim().split("\n").at(-1)}` };
}

async function main(): Promise<number> {
  const versions = parse(readFileSync(repo("test/clients/versions.yaml"), "utf8")) as { readonly inspector: string; readonly fastmcp: string };
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-clients-"));
  const envFile = await loadMovies(folder);
  const server = await startHttp(SERVER, ["--env-file", envFile]);
  const stdio: Target = { transport: "stdio", words: [process.execPath, SERVER, "--env-file", envFile] };
  const http: Target = { transport: "http", words: [server.url] };
  let failures = 0;
  const session = async (client: string, run: () => Promise<string>): Promise<void> => {
    try {
      say(`clients: ${client}, ${await run()}`);
    } catch (error) {
      failures += 1;
      say(`clients: ${client} FAILED: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  try {
    const cli = installed(cache, "@modelcontextprotocol/inspector", versions.inspector);
    const inspectorName = `MCP Inspector ${versions.inspector}`;
    if (cli.path === null) say(`clients: ${inspectorName} skipped; ${cli.why}`);
    else {
      const bin = join(cache, "node_modules/.bin/mcp-inspector");
      for (const [era, target] of [["legacy", stdio], ["legacy", http], ["modern", http]] as const) await session(inspectorName, () => inspector(bin, era, target, folder));
    }
    const python = pythonWith(versions.fastmcp);
    const pythonName = `FastMCP ${versions.fastmcp}`;
    if (python.path === null) say(`clients: ${pythonName} skipped; ${python.why}`);
    else {
      const { path } = python;
      for (const [mode, target] of [["auto", stdio], ["legacy", http], ["auto", http]] as const) await session(pythonName, () => fastmcp(path, mode, target));
    }
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main();
