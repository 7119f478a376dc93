/** Memory of an idle server: with a hundred tools, and with ten thousand open connections. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { repo } from "../../test/lib/repo.js";
import { atMost, versus, type BenchCase, type Row } from "../lib/case.js";
import { catalogOf } from "../lib/catalog.js";
import { serverFile } from "../lib/files.js";
import { residentBytes, startServer } from "../lib/process.js";

const TOOLS = 100;
const ROUNDS = 3;
const CONNECTIONS = 10_000;
const IDLE = "10,000 idle keep-alive connections, each";
/** Opened at once; more would overflow the queue of the listening socket. */
const AT_ONCE = 250;
/** Descriptors that each of the two processes needs beside its connections. */
const SPARE = 100;

export const memory: BenchCase = {
  name: "memory",
  summary: "resident memory of an idle HTTP server, with 100 tools and with 10,000 open connections",
  method: "A built catalog of 100 search tools is served on HTTP and left alone for two seconds, as is a Node that only waits. Connections are opened, answered once at /healthz, and left open; what the server grew by is divided by their number.",
  async run() {
    return [await idleServer(), await idleConnections()];
  },
};

async function idleServer(): Promise<Row> {
  // Inside the repository, so that what was built finds the runtime.
  const folder = repo(".cache/bench/tools-100");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tools.yaml"), catalogOf(TOOLS));
  const out = join(folder, "out");
  const { status, stderr } = spawnSync(process.execPath, ["--", repo("bin/toolsrv"), "build", join(folder, "tools.yaml"), "--out", out], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the catalog cannot be built: ${stderr}`);
  const rounds: { readonly ours: number[]; readonly peer: number[] } = { ours: [], peer: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer(join(out, "server.js"), ["--http", "127.0.0.1:0", "--auth", "none"]);
    const idle: ChildProcess = spawn(process.execPath, ["-e", "setInterval(()=>{},1e9)"], { stdio: "ignore" });
    await pause(2000);
    rounds.ours.push(residentBytes(server.pid) / 1e6);
    rounds.peer.push(residentBytes(idle.pid ?? 0) / 1e6);
    idle.kill("SIGKILL");
    await server.stop();
  }
  return versus("idle HTTP server with 100 tools", "node -e 'setInterval(()=>{},1e9)'", "MB", rounds, { atMost: 1.6 });
}

async function idleConnections(): Promise<Row> {
  const limit = Number(spawnSync("bash", ["-c", "ulimit -n"], { encoding: "utf8" }).stdout);
  if (limit < CONNECTIONS + SPARE) return { what: IDLE, skipped: `a process may open ${limit} files here (ulimit -n), ${CONNECTIONS + SPARE} are needed` };
  const server = await startServer(serverFile("toolsrv"));
  const sockets: Socket[] = [];
  try {
    // What the first requests cost once is no cost of a connection.
    for (let index = 0; index < AT_ONCE; index++) (await openAnswered(server.port)).destroy();
    await pause(500);
    const before = residentBytes(server.pid);
    while (sockets.length < CONNECTIONS) {
      sockets.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, CONNECTIONS - sockets.length) }, () => openAnswered(server.port)))));
    }
    const grown = residentBytes(server.pid) - before;
    const open = sockets.filter((socket) => !socket.destroyed && socket.readyState === "open").length;
    if (open < CONNECTIONS) return { what: IDLE, failed: `only ${open} connections were open at once: those opened first had been idle for too long` };
    return atMost(IDLE, grown / CONNECTIONS / 1024, 25, "KB", [`the server grew by ${(grown / 1e6).toFixed(1)} MB`]);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}

/** A connection that has been answered once. The server closes those whose request does not state its length. */
function openAnswered(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n"));
    socket.once("data", () => resolve(socket));
    socket.once("error", reject);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
