/**
 * Two servers under the same load at the same time, of which one is always stopped, with its load: they take turns of a
 * tenth of a second. What makes the machine slow for a moment hits both alike, and neither works in the other's turn.
 */
import { median, type Rounds, type Sides } from "./case.js";
import { startLoad, type LoadOptions, type RunningLoad } from "./load.js";
import { startServer, type BenchServer } from "./process.js";
import { serverUsage, type ServerUsage } from "./usage.js";

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
  /** Of two seconds a side. */
  readonly rounds: number;
}

export interface Compared {
  /** Requests answered a second, round by round. */
  readonly perSecond: Rounds;
  /** What else the rounds showed, a sentence each: latency at full load, CPU time a request, time without a core. */
  readonly notes: readonly string[];
}

const ROUND_S = 2;
/** Long beside what a change of turns costs, short beside what disturbs a machine. */
const TURN_MS = 100;

/** What one side did in one round. */
interface Measured {
  readonly requests: number;
  readonly errors: number;
  readonly p50Ms: number;
  /** How long it was its turn. */
  readonly activeMs: number;
  readonly usage: ServerUsage;
}

/** @throws Error when a server answered with errors: a wrong answer is not a fast one. */
export async function compare(options: CompareOptions): Promise<Compared> {
  const { body, headers, connections, rounds } = options;
  const ours = await startServer(options.ours.file, options.ours.args);
  const peer = await startServer(options.peer.file, options.peer.args);
  try {
    const sides = { ours: await targetOf(options.ours, ours, headers), peer: await targetOf(options.peer, peer, headers) };
    assertSame(await ask(sides.ours, body), await ask(sides.peer, body));
    const results: Sides<Measured[]> = { ours: [], peer: [] };
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round += 1) {
      const measured = await measureRound(sides, { body, connections, first: round % 2 === 0 ? "ours" : "peer" });
      if (round > 0) for (const side of SIDES) results[side].push(measured[side]);
    }
    const errors = [...results.ours, ...results.peer].reduce((sum, round) => sum + round.errors, 0);
    if (errors > 0) throw new Error(`${errors} requests failed under load`);
    return { perSecond: { ours: results.ours.map(perSecond), peer: results.peer.map(perSecond) }, notes: notesOf(results) };
  } finally {
    for (const { pid } of [ours, peer]) process.kill(pid, "SIGCONT");
    await ours.stop();
    await peer.stop();
  }
}

const SIDES = ["ours", "peer"] as const;
type SideName = (typeof SIDES)[number];

/** One load on each server, in turns until both have ended. */
async function measureRound(targets: Sides<Target>, { body, connections, first }: { readonly body: string; readonly connections: number; readonly first: SideName }): Promise<Sides<Measured>> {
  const seconds = SIDES.length * ROUND_S;
  const order = first === "ours" ? SIDES : [...SIDES].reverse();
  const turns = { ours: new Turns(targets.ours, { body, connections, seconds }), peer: new Turns(targets.peer, { body, connections, seconds }) };
  while (!turns.ours.ended || !turns.peer.ended) for (const side of order) await turns[side].take();
  return { ours: await turns.ours.measured(), peer: await turns.peer.measured() };
}

/** A server and its load, both stopped but in their turns. */
class Turns {
  activeMs = 0;
  ended = false;
  private readonly load: RunningLoad;
  private readonly before: ServerUsage;
  private readonly end: Promise<void>;

  constructor(
    private readonly target: Target,
    options: Pick<LoadOptions, "body" | "connections" | "seconds">,
  ) {
    const { pid, ...where } = target;
    this.before = serverUsage(pid);
    this.load = startLoad({ ...where, ...options });
    const onEnd = (): void => void (this.ended = true);
    this.end = this.load.result.then(onEnd, onEnd);
    this.signal("SIGSTOP");
  }

  /** Runs for a turn, or until the load has ended. */
  async take(): Promise<void> {
    if (this.ended) return;
    const before = performance.now();
    this.signal("SIGCONT");
    await Promise.race([this.end, new Promise((resolve) => setTimeout(resolve, TURN_MS))]);
    this.signal("SIGSTOP");
    this.activeMs += performance.now() - before;
  }

  async measured(): Promise<Measured> {
    const { before, activeMs, target: { pid } } = this;
    const { requests, errors, p50Ms } = await this.load.result;
    const after = serverUsage(pid);
    return { requests, errors, p50Ms, activeMs, usage: { ranNs: after.ranNs - before.ranNs, waitedNs: after.waitedNs - before.waitedNs } };
  }

  private signal(name: "SIGSTOP" | "SIGCONT"): void {
    process.kill(this.target.pid, name);
    if (!this.ended) signalLoad(this.load.pid, name);
  }
}

/** A load that has just ended is not there any more, though nobody has heard of its end yet. */
function signalLoad(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function perSecond({ requests, activeMs }: Measured): number {
  return (requests / activeMs) * 1000;
}

function notesOf({ ours, peer }: Sides<readonly Measured[]>): readonly string[] {
  const both = (pick: (round: Measured) => number, digits: number): Sides<string> => ({ ours: median(ours.map(pick)).toFixed(digits), peer: median(peer.map(pick)).toFixed(digits) });
  const p50 = both((round) => round.p50Ms, 2);
  const latencies = `median latency at full load ${p50.ours} ms, peer ${p50.peer} ms`;
  const spentUs = ({ usage, requests }: Measured): number => usage.ranNs / requests / 1000;
  if (spentUs(ours[0] as Measured) === 0) return [latencies];
  const spent = both(spentUs, 1);
  const ratios = ours.map((round, index) => spentUs(peer[index] as Measured) / spentUs(round));
  const waited = both((round) => round.usage.waitedNs / round.activeMs / 1e4, 1);
  return [
    latencies,
    `CPU time a request ${spent.ours} µs, peer ${spent.peer} µs: by that alone the ratio is ${median(ratios).toFixed(2)} [${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}]`,
    `ready to run but without a core ${waited.ours} % of the time, peer ${waited.peer} %`,
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
