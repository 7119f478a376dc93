/** Two servers under the same load, round by round in turn, so that a noisy machine disturbs both alike. */
import { median, type Rounds } from "./case.js";
import { load, type LoadOptions, type LoadResult } from "./load.js";
import { startServer } from "./process.js";

export interface Side {
  /** `peers/raw-uws.js`. */
  readonly file: string;
  readonly args?: readonly string[];
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
    await assertSameAnswer(ours.port, peer.port, body, headers);
    const run = (port: number, seconds: number): Promise<LoadResult> => load({ port, body, headers, connections, seconds });
    await run(ours.port, 1);
    await run(peer.port, 1);
    const results: { readonly ours: LoadResult; readonly peer: LoadResult }[] = [];
    for (let round = 0; round < rounds; round++) {
      results.push({ ours: await run(ours.port, secondsPerRound), peer: await run(peer.port, secondsPerRound) });
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

async function assertSameAnswer(ours: number, peer: number, body: string, headers: LoadOptions["headers"]): Promise<void> {
  const ask = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", body, headers })).text();
  const [a, b] = [await ask(ours), await ask(peer)];
  const rows = (text: string): unknown => (JSON.parse(text) as { result?: { structuredContent?: { rows?: unknown }; tools?: unknown } }).result;
  const [mine, theirs] = [rows(a) as { structuredContent?: unknown; tools?: readonly unknown[] }, rows(b) as { structuredContent?: unknown; tools?: readonly unknown[] }];
  if (mine.tools === undefined && JSON.stringify(mine.structuredContent) !== JSON.stringify(theirs.structuredContent)) throw new Error(`different answers:\n${a}\n${b}`);
  if (mine.tools !== undefined && theirs.tools === undefined) throw new Error(`different answers:\n${a}\n${b}`);
}
