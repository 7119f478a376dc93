/** Two servers under the same load, round by round in turn, so that a noisy machine disturbs both alike. */
import { median, type Rounds } from "./case.js";
import { load, type LoadOptions, type LoadResult } from "./load.js";
import { startServer } from "./process.js";

export interface Side {
  /** `peers/raw-uws.js`, or an absolute path. */
  readonly file: string;
  readonly args?: readonly string[];
  /** The load belongs to a session, which is opened by a handshake first. */
  readonly session?: true;
}

export interface CompareOptions {
  readonly ours: Side;
  readonly peer: Side;
  readonly body: string;
  readonly headers: LoadOptions["headers"];
  readonly connections: number;
  readonly rounds: number;
  readonly secondsPerRound: number;
}

export interface Compared {
  /** Requests answered a second, round by round. */
  readonly perSecond: Rounds;
  /** "p99 1.20 ms, peer 0.80 ms": medians at full load. */
  readonly latencies: string;
}

/** @throws Error when a server answered with errors: a wrong answer is not a fast one. */
export async function compare(options: CompareOptions): Promise<Compared> {
  const { body, headers, connections, rounds, secondsPerRound } = options;
  const ours = await startServer(options.ours.file, options.ours.args);
  const peer = await startServer(options.peer.file, options.peer.args);
  try {
    const sides = { ours: await targetOf(options.ours, ours.port, headers), peer: await targetOf(options.peer, peer.port, headers) };
    assertSame(await ask(sides.ours, body), await ask(sides.peer, body));
    const run = (side: Target, seconds: number): Promise<LoadResult> => load({ ...side, body, connections, seconds });
    await run(sides.ours, 1);
    await run(sides.peer, 1);
    const results: { readonly ours: LoadResult; readonly peer: LoadResult }[] = [];
    for (let round = 0; round < rounds; round++) {
      results.push({ ours: await run(sides.ours, secondsPerRound), peer: await run(sides.peer, secondsPerRound) });
    }
    const errors = results.reduce((sum, round) => sum + round.ours.errors + round.peer.errors, 0);
    if (errors > 0) throw new Error(`${errors} requests failed under load`);
    const p99 = (side: "ours" | "peer"): string => median(results.map((round) => round[side].p99Ms)).toFixed(2);
    return {
      perSecond: { ours: results.map((round) => round.ours.perSecond), peer: results.map((round) => round.peer.perSecond) },
      latencies: `p99 at full load ${p99("ours")} ms, peer ${p99("peer")} ms`,
    };
  } finally {
    await ours.stop();
    await peer.stop();
  }
}

/** Where a side is, and what every request to it says. */
type Target = Pick<LoadOptions, "port" | "headers">;

async function targetOf({ session }: Side, port: number, headers: LoadOptions["headers"]): Promise<Target> {
  if (session === undefined) return { port, headers };
  const post = (message: object, more: LoadOptions["headers"]): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(message) });
  const params = { protocolVersion: headers["MCP-Protocol-Version"], capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const opened = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, {});
  const id = opened.headers.get("mcp-session-id");
  if (id === null) throw new Error(`no session was opened: ${await opened.text()}`);
  const own = { "Mcp-Session-Id": id };
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, own);
  return { port, headers: { ...headers, ...own } };
}

interface Asked {
  readonly result?: { readonly structuredContent?: unknown; readonly tools?: readonly unknown[] };
}

/** The answer to one request, also where it comes as an event. */
async function ask({ port, headers }: Target, body: string): Promise<Asked> {
  const text = await (await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", body, headers })).text();
  const data = /^data: (.*)$/m.exec(text)?.[1];
  return JSON.parse(data ?? text) as Asked;
}

function assertSame(ours: Asked, peer: Asked): void {
  const [mine, theirs] = [ours.result, peer.result];
  const same = mine?.tools === undefined ? JSON.stringify(mine?.structuredContent) === JSON.stringify(theirs?.structuredContent) : theirs?.tools !== undefined;
  if (mine === undefined || !same) throw new Error(`different answers:\n${JSON.stringify(ours)}\n${JSON.stringify(peer)}`);
}
