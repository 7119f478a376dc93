/** Two servers under the same load, round by round in turn, so that a noisy machine disturbs both alike. */
import { inTurn, median, type Rounds, type Sides } from "./case.js";
import { load, type LoadOptions, type LoadResult } from "./load.js";
import { startServer, type BenchServer } from "./process.js";
import { withUsage, type Usage } from "./usage.js";

export interface Side {
  /** `peers/raw-uws.js`, or an absolute path. */
  readonly file: string;
  readonly args?: readonly string[];
  /** The load belongs to a session, which is opened by a handshake first. */
  readonly session?: true;
  /** Beside those of both sides. */
  readonly headers?: LoadOptions["headers"];
}

export interface CompareOptions {
  readonly ours: Side;
  readonly peer: Side;
  readonly body: string;
  readonly headers: LoadOptions["headers"];
  readonly connections: number;
  /** Of one second a side: short, so that what is slow for a moment hits both sides of a round. */
  readonly rounds: number;
}

export interface Compared {
  /** Requests answered a second, round by round. */
  readonly perSecond: Rounds;
  /** What else the rounds showed, a sentence each: latencies at full load, CPU time a request, time without a core. */
  readonly notes: readonly string[];
}

const ROUND_S = 1;

/** What one side did in one round. */
interface Measured extends LoadResult {
  readonly usage: Usage;
}

/** @throws Error when a server answered with errors: a wrong answer is not a fast one. */
export async function compare(options: CompareOptions): Promise<Compared> {
  const { body, headers, connections, rounds } = options;
  const ours = await startServer(options.ours.file, options.ours.args);
  const peer = await startServer(options.peer.file, options.peer.args);
  try {
    const sides = { ours: await targetOf(options.ours, ours, headers), peer: await targetOf(options.peer, peer, headers) };
    assertSame(await ask(sides.ours, body), await ask(sides.peer, body));
    const run = async ({ pid, ...target }: Target): Promise<Measured> => {
      const { result, usage } = await withUsage(pid, () => load({ ...target, body, connections, seconds: ROUND_S }));
      return { ...result, usage };
    };
    await run(sides.ours);
    await run(sides.peer);
    const results = await inTurn(rounds, { ours: () => run(sides.ours), peer: () => run(sides.peer) });
    const errors = [...results.ours, ...results.peer].reduce((sum, round) => sum + round.errors, 0);
    if (errors > 0) throw new Error(`${errors} requests failed under load`);
    return { perSecond: { ours: results.ours.map((round) => round.perSecond), peer: results.peer.map((round) => round.perSecond) }, notes: notesOf(results) };
  } finally {
    await ours.stop();
    await peer.stop();
  }
}

function notesOf({ ours, peer }: Sides<readonly Measured[]>): readonly string[] {
  const both = (pick: (round: Measured) => number, digits: number): Sides<string> => ({ ours: median(ours.map(pick)).toFixed(digits), peer: median(peer.map(pick)).toFixed(digits) });
  const p99 = both((round) => round.p99Ms, 2);
  const latencies = `p99 at full load ${p99.ours} ms, peer ${p99.peer} ms`;
  const spentUs = ({ usage, requests }: Measured): number => usage.ranNs / requests / 1000;
  if (spentUs(ours[0] as Measured) === 0) return [latencies];
  const spent = both(spentUs, 1);
  const ratios = ours.map((round, index) => spentUs(peer[index] as Measured) / spentUs(round));
  const elapsedNs = ({ requests, perSecond }: Measured): number => (requests / perSecond) * 1e9;
  const waited = both((round) => (100 * round.usage.waitedNs) / elapsedNs(round), 1);
  const others = both((round) => (100 * round.usage.othersNs) / elapsedNs(round), 0);
  return [
    latencies,
    `CPU time a request ${spent.ours} µs, peer ${spent.peer} µs: by that alone the ratio is ${median(ratios).toFixed(2)} [${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}]`,
    `ready to run but without a core ${waited.ours} % of the time, peer ${waited.peer} %; others had ${others.ours} % of a core, beside the peer ${others.peer} %`,
  ];
}

/** Where a side is, and what every request to it says. */
type Target = Pick<LoadOptions, "port" | "headers"> & Pick<BenchServer, "pid">;

async function targetOf({ session, headers: more = {} }: Side, { port, pid }: BenchServer, both: LoadOptions["headers"]): Promise<Target> {
  const headers = { ...both, ...more };
  if (session === undefined) return { port, pid, headers };
  const post = (message: object, added: LoadOptions["headers"]): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers: { ...headers, ...added }, body: JSON.stringify(message) });
  const params = { protocolVersion: headers["MCP-Protocol-Version"], capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const opened = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, {});
  const id = opened.headers.get("mcp-session-id");
  if (id === null) throw new Error(`no session was opened: ${await opened.text()}`);
  const own = { "Mcp-Session-Id": id };
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, own);
  return { port, pid, headers: { ...headers, ...own } };
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
