/** How long a call takes on a server that is busy but not full: a constant rate, at 70 % of what it can do. */
import { atMost, median, type BenchCase, type Row } from "../lib/case.js";
import { serverFile } from "../lib/files.js";
import { load } from "../lib/load.js";
import { loadAtRate, prepareOpenLoop, type OpenLoopResult } from "../lib/open-loop.js";
import { startServer } from "../lib/process.js";
import { CALL, HEADERS } from "../lib/program.js";

const LOAD = { body: CALL, headers: HEADERS } as const;
const SHARE = 0.7;
const ROUNDS = 3;
const WHAT = "p99 of tools/call at 70 % of saturation";

export const latency: BenchCase = {
  name: "latency",
  summary: "the latency of tools/call at a constant rate, 70 % of what the server answers when it is full",
  method: "Saturation is the median of three rounds of closed-loop load with 64 connections. Then bench/lib/open-loop.c sends at 70 % of that over 128 connections, three times five seconds: a request is due when the rate says so, whatever became of those before it, and its latency counts from then on, so that a stall is charged for all that waited (no coordinated omission).",
  async run() {
    const why = prepareOpenLoop();
    if (why !== null) return [{ what: WHAT, skipped: why }];
    const server = await startServer(serverFile("toolsrv"));
    try {
      await load({ port: server.port, connections: 64, seconds: 1, ...LOAD });
      const full: number[] = [];
      for (let round = 0; round < ROUNDS; round++) full.push((await load({ port: server.port, connections: 64, seconds: 2, ...LOAD })).perSecond);
      const rate = Math.round(median(full) * SHARE);
      const at = (seconds: number): Promise<OpenLoopResult> => loadAtRate({ port: server.port, connections: 128, rate, seconds, ...LOAD });
      await at(1);
      const results: OpenLoopResult[] = [];
      for (let round = 0; round < ROUNDS; round++) results.push(await at(5));
      return rowsOf(rate, results);
    } finally {
      await server.stop();
    }
  },
};

function rowsOf(rate: number, results: readonly OpenLoopResult[]): readonly Row[] {
  const of = (pick: (result: OpenLoopResult) => number): number => median(results.map(pick));
  const unanswered = results.reduce((sum, result) => sum + result.unanswered, 0);
  return [
    atMost(WHAT, results.map((result) => result.p99Ms), 5, "ms", [
      `at ${rate.toLocaleString("en-US")}/s, of which ${Math.round(of((r) => r.perSecond)).toLocaleString("en-US")}/s were answered: p50 ${of((r) => r.p50Ms).toFixed(2)} ms, p99.9 ${of((r) => r.p999Ms).toFixed(2)} ms, longest ${of((r) => r.maxMs).toFixed(1)} ms`,
      `the generator sent ${of((r) => r.lateP99Ms).toFixed(2)} ms late in the 99th percentile, which is part of these figures`,
    ]),
    atMost("requests that got no answer at that rate", unanswered, 0, "requests"),
  ];
}
