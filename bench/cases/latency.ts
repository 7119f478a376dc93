/** How long a call takes on a server that is busy but not full: a constant rate, at 70 % of what it can do. */
import { atMost, median, versus, type BenchCase, type Row, type Sides } from "../lib/case.js";
import { serverFile } from "../lib/files.js";
import { load } from "../lib/load.js";
import { loadAtRate, prepareOpenLoop, type OpenLoopResult } from "../lib/open-loop.js";
import { startServer, type BenchServer } from "../lib/process.js";
import { CALL, HEADERS } from "../lib/program.js";
import { withUsage, type Usage } from "../lib/usage.js";

const LOAD = { body: CALL, headers: HEADERS } as const;
const SHARE = 0.7;
const ROUNDS = 7;
const ROUND_S = 2;
/** A round in which the generator's own part was more, in the 99th percentile, measured the generator. */
const OWN_MS = 1;
/**
 * A round measured the host when others had more of a core and the server's main thread was kept waiting for longer,
 * both as a share of the round: as much as the 99th percentile leaves out. That the server waits for its own threads
 * is no reason.
 */
const OTHERS = 0.01;
const WAITED = 0.01;
/** So many rounds of both sides together may be done again for that. */
const AGAIN = 30;
const WHAT = "p99 of tools/call at 70 % of saturation";
const BESIDE = "the same, beside the bare handler at such rates";

export const latency: BenchCase = {
  name: "latency",
  summary: "the latency of tools/call at a constant rate, 70 % of what the server answers when it is full",
  method: `Before each round saturation is measured anew, by a second of closed-loop load with 64 connections, because the machine has another speed a minute later. Then bench/lib/open-loop.c sends at 70 % of that over 128 connections, ${ROUNDS} rounds of ${ROUND_S} seconds to us and, in turn, to the bare uWebSockets.js handler, which shows what the machine does at such a rate: a request is due when the rate says so, whatever became of those before it, and its latency counts from then on, so that a stall is charged for all that waited (no coordinated omission). A round is thrown away and done again when it measured the host: when the generator, which tells how much of each latency may be its own because it sent or read late, had more than ${OWN_MS} ms of it in the 99th percentile, or when processes that have no part in this and the hypervisor had more than ${100 * OTHERS} % of a core and the server was ready to run but had none for more than ${100 * WAITED} % of the time. That is done up to ${AGAIN} times in all; without enough rounds that count, the goal is missed. Time in which no connection was free is the server's, never the generator's.`,
  async run() {
    const why = prepareOpenLoop();
    if (why !== null) return [{ what: WHAT, skipped: why }];
    const ours = await startServer(serverFile("toolsrv"));
    const peer = await startServer(serverFile("raw-uws"));
    try {
      for (const { port } of [ours, peer]) await load({ port, connections: 64, seconds: 1, ...LOAD });
      return await atRates({ ours, peer });
    } finally {
      await ours.stop();
      await peer.stop();
    }
  },
};

interface Measured extends OpenLoopResult {
  readonly usage: Usage;
}

async function atRates(servers: Sides<BenchServer>): Promise<readonly Row[]> {
  const good: Sides<Measured[]> = { ours: [], peer: [] };
  const thrown = { late: 0, crowded: 0 };
  for (const side of turns()) {
    for (let counts = false; !counts; ) {
      if (thrown.late + thrown.crowded > AGAIN) return [{ what: WHAT, failed: `the machine is too busy to tell: ${good.ours.length} of ${ROUNDS} rounds counted; ${thrownText(thrown)}` }];
      const full = await load({ port: servers.ours.port, connections: 64, seconds: 1, ...LOAD });
      const rate = Math.round(full.perSecond * SHARE);
      const { port, pid } = servers[side];
      const { result, usage } = await withUsage(pid, () => loadAtRate({ port, connections: 128, rate, seconds: ROUND_S, ...LOAD }));
      const isLate = result.ownP99Ms > OWN_MS;
      counts = !isLate && (usage.othersNs <= OTHERS * ROUND_S * 1e9 || usage.waitedNs <= WAITED * ROUND_S * 1e9);
      if (counts) good[side].push({ ...result, usage });
      else thrown[isLate ? "late" : "crowded"] += 1;
    }
  }
  return rowsOf(good, thrownText(thrown));
}

function thrownText({ late, crowded }: { readonly late: number; readonly crowded: number }): string {
  return `${late + crowded} rounds were thrown away, ${late} because the generator was late, ${crowded} because others had the machine`;
}

/** Who is measured, in order; who goes first alternates. */
function turns(): readonly (keyof Sides<unknown>)[] {
  return Array.from({ length: ROUNDS }, (_, round) => (round % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const))).flat();
}

function rowsOf({ ours, peer }: Sides<readonly Measured[]>, away: string): readonly Row[] {
  const p99 = (results: readonly Measured[]): readonly number[] => results.map((result) => result.p99Ms);
  const unanswered = ours.reduce((sum, result) => sum + result.unanswered, 0);
  return [
    atMost(WHAT, p99(ours), 5, "ms", [
      summary(ours),
      `the bare handler: ${summary(peer)}`,
      away,
    ]),
    versus(BESIDE, "raw-uws", "ms", { ours: p99(ours), peer: p99(peer) }, null),
    atMost("requests that got no answer at those rates", unanswered, 0, "requests"),
  ];
}

function summary(results: readonly Measured[]): string {
  const of = (pick: (result: Measured) => number): number => median(results.map(pick));
  const share = (pick: (usage: Usage) => number): string => `${of(({ usage }) => pick(usage) / (ROUND_S * 1e7)).toFixed(1)} %`;
  return `${Math.round(of((r) => r.perSecond)).toLocaleString("en-US")}/s answered, p50 ${of((r) => r.p50Ms).toFixed(2)} ms, p99.9 ${of((r) => r.p999Ms).toFixed(2)} ms, longest ${of((r) => r.maxMs).toFixed(1)} ms; ready to run but without a core ${share((usage) => usage.waitedNs)} of the time, others had ${share((usage) => usage.othersNs)} of a core, the generator's own part ${of((r) => r.ownP99Ms).toFixed(2)} ms in the 99th percentile`;
}
