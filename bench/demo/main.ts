/**
 * `make demo`: fills the quickstart, compiles it, serves it over HTTP, calls it with the official client and shows
 * what came back. Everything goes through the command line and the wire, as a user would. On a terminal the server
 * stays until Ctrl-C; otherwise the demo ends by itself.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { repo } from "../../test/lib/repo.js";
import { connectHosts } from "./hosts.js";
import { formatTable } from "./table.js";
import type { Column } from "./table.js";

const HOST = "127.0.0.1";
const PORT = 8080;
const START_LIMIT_MS = 15_000;

const CATALOG = "specs/examples/quickstart/tools.yaml";
const DATABASE = "specs/examples/quickstart/movies.db";
/** The demo has a trace directory of its own. */
const TRACES = repo(".cache/demo-traces");
const MOVIES = "node_modules/vega-datasets/data/movies.json";
const LOAD = [
  "load", CATALOG, MOVIES, "--connection", "movies", "--collection", "movies", "--snake-case", "--replace",
  "--types", "release_date:datetime,title:keyword",
  "--text", "title,major_genre,creative_type,source,director,distributor",
];

const TITLE: Column = { key: "title", title: "title" };
const RELEASED: Column = { key: "release_date", title: "released" };
const STUDIO: Column = { key: "distributor", title: "studio" };
const RATING: Column = { key: "imdb_rating", title: "rating", right: true };
const SCORE: Column = { key: "_score", title: "score", right: true };

interface Call {
  readonly says: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: unknown };
  readonly columns: readonly Column[];
}

const CALLS: readonly Call[] = [
  {
    says: "Horror films by words",
    tool: "search_movies",
    args: { query: "night of the living dead", genre: ["Horror"], limit: 5 },
    columns: [TITLE, RELEASED, STUDIO, RATING, SCORE],
  },
  {
    says: "The same words behind a fence: one studio's films, whatever is asked",
    tool: "search_paramount_movies",
    args: { query: "night of the living dead", genre: ["Horror"], limit: 5 },
    columns: [TITLE, RELEASED, STUDIO, RATING, SCORE],
  },
  {
    says: "Films of one director, without a search text",
    tool: "list_movies",
    args: { director: "Steven Spielberg", min_votes: 100_000, limit: 5 },
    columns: [TITLE, RELEASED, STUDIO, RATING, { key: "imdb_votes", title: "votes", right: true }],
  },
];

const width = Math.min(process.stdout.columns > 0 ? process.stdout.columns : 80, 100);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs toolsrv to its end; its own output is shown only when it fails or is worth reading. */
function toolsrv(args: readonly string[], show: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--", repo("bin/toolsrv"), ...args], { cwd: repo(), stdio: ["ignore", "pipe", show ? "inherit" : "pipe"] });
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve(output);
      reject(new Error(`toolsrv ${args[0] ?? ""} ended with ${code}\n${output.trimEnd()}`));
    });
  });
}

/** Loads the films unless this very file was loaded the same way before. */
async function load(): Promise<string> {
  const stampFile = repo(".cache/demo-loaded.json");
  const { size, mtimeMs } = statSync(repo(MOVIES));
  const stamp = (): string => JSON.stringify({ command: LOAD, size, mtimeMs, database: statSync(repo(DATABASE)).ino });
  const before = readOr(stampFile, "");
  if (before !== "" && readOr(repo(DATABASE), "") !== "" && before === stamp()) return "already loaded";
  await toolsrv(LOAD, process.stderr.isTTY);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp());
  return "loaded";
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return otherwise;
  }
}

/** The wanted port if it is free, else one that is. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE" && error.code !== "EACCES") return reject(error);
      resolve(freePort(0));
    });
    probe.listen(wanted, HOST, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

interface Started {
  readonly server: ChildProcess;
  /** Address of its trace service. */
  readonly traceUrl: string;
}

/** Starts the compiled server, recording its calls, and waits until it answers. */
async function start(port: number): Promise<Started> {
  const env = { ...process.env, TRACE_SERVICE_DATA_DIR: TRACES, TRACE_SERVICE_PRINT_RUN_URL: "false" };
  const server = spawn(process.execPath, ["--", repo("out/server.js"), "--http", `${HOST}:${port}`, "--auth", "none", "--trace"], { stdio: ["ignore", "ignore", "pipe"], env });
  let log = "";
  let ended = false;
  // However the demo ends, the server is stopped.
  process.once("exit", () => server.kill("SIGKILL"));
  server.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  server.once("close", () => (ended = true));
  const until = performance.now() + START_LIMIT_MS;
  while (!ended && performance.now() < until) {
    const up = await fetch(`http://${HOST}:${port}/healthz`).then((answer) => answer.ok, () => false);
    const [, traceUrl] = /trace on (\S+)\/ui\//.exec(log) ?? [];
    if (up && traceUrl !== undefined) return { server, traceUrl };
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  server.kill("SIGKILL");
  throw new Error(`node out/server.js did not start\n${log.trimEnd()}`);
}

async function callAll(url: string): Promise<void> {
  const client = new Client({ name: "toolsrv-demo", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    for (const { says, tool, args, columns } of CALLS) {
      const started = performance.now();
      const result = await client.callTool({ name: tool, arguments: args });
      const took = (performance.now() - started).toFixed(1);
      const rows = rowsOf(result.structuredContent);
      if (result.isError === true || rows === null || rows.length === 0) throw new Error(`${tool} returned no rows: ${JSON.stringify(result)}`);
      say(`\n${says}\n  ${tool}\n  ${JSON.stringify(args)}\n`);
      for (const line of formatTable(columns, rows, width - 2)) say(`  ${line}`);
      say(`  ${rows.length} rows in ${took} ms`);
    }
  } finally {
    await client.close();
  }
}

/** The first call as the trace service of the server recorded it: its steps, arguments redacted, no rows. */
async function showRecorded(traceUrl: string, since: string): Promise<void> {
  const until = performance.now() + START_LIMIT_MS;
  while (performance.now() < until) {
    const answer = await fetch(`${traceUrl}/api/runs?limit=${CALLS.length}`);
    const { runs } = (await answer.json()) as { readonly runs: readonly { readonly run_id: string; readonly status: string; readonly started_at: string }[] };
    const ours = runs.filter((run) => run.started_at >= since && run.status !== "running");
    const first = ours.at(-1);
    if (first !== undefined && ours.length === CALLS.length) {
      say(`\nWhat was recorded of the first call; all are on ${traceUrl}/ui/\n`);
      const tree = await toolsrv(["trace", "show", first.run_id, "--data-dir", TRACES, "--no-color"], false);
      for (const line of tree.trimEnd().split("\n")) say(`  ${line}`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the calls are not in the traces on ${traceUrl}`);
}

function rowsOf(envelope: unknown): readonly { readonly [key: string]: unknown }[] | null {
  if (typeof envelope !== "object" || envelope === null || !("rows" in envelope) || !Array.isArray(envelope.rows)) return null;
  return envelope.rows;
}

function stop(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null) return resolve();
    server.once("close", () => resolve());
    server.kill("SIGTERM");
  });
}

async function demo(): Promise<void> {
  let started = performance.now();
  const lap = (): string => {
    const took = `${((performance.now() - started) / 1000).toFixed(1)} s`;
    started = performance.now();
    return took;
  };
  say(`films    ${await load()} into ${DATABASE} (${lap()})`);
  await toolsrv(["build", CATALOG], false);
  say(`catalog  ${CATALOG} compiled to out/ (${lap()})`);
  const port = await freePort(PORT);
  if (port !== PORT) say(`server   port ${PORT} is taken, so this one is on ${port}`);
  const { server, traceUrl } = await start(port);
  try {
    const url = `http://${HOST}:${port}/mcp`;
    say(`server   node out/server.js --http ${HOST}:${port} --auth none --trace (${lap()})`);
    const since = new Date().toISOString();
    await callAll(url);
    await showRecorded(traceUrl, since);
    say("");
    say(connectHosts({ url, node: process.execPath, server: repo("out/server.js") }));
    if (process.stdin.isTTY && process.stdout.isTTY) {
      say(`Serving at ${url}, every call on ${traceUrl}/ui/; Ctrl-C stops.`);
      await new Promise<void>((resolve) => {
        process.once("SIGINT", () => resolve());
        process.once("SIGTERM", () => resolve());
        server.once("close", () => resolve());
      });
    }
  } finally {
    await stop(server);
  }
}

// `make demo | head`: the reader has seen enough.
process.stdout.on("error", () => process.exit(0));
try {
  await demo();
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
