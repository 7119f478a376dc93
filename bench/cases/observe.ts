/** What records of calls cost: audit, metrics and spans, all of them on against none. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../runtime/call/engine.js";
import { createLog } from "../../runtime/observe/log.js";
import { LearnedSecrets } from "../../runtime/observe/credentials.js";
import { createObservability } from "../../runtime/serve/observability.js";
import { atMost, median, versus, type BenchCase, type Row } from "../lib/case.js";
import { countRequests, whyNotCounted } from "../lib/callgrind.js";
import { compare } from "../lib/compare.js";
import { serverFile } from "../lib/files.js";
import { observedBench, startNullCollector, type ObservedPlaces } from "../lib/observed.js";
import { CALL, HEADERS } from "../lib/program.js";

const LOAD = { body: CALL, headers: HEADERS, connections: 64 } as const;
const ALL = "audit,metrics,tracing";
const PEER = { file: serverFile("toolsrv"), args: ["6"] } as const;
const CALLS = 5000;
const ROUNDS = 9;

export const observe: BenchCase = {
  name: "observe",
  summary: "tools/call with audit records, metrics and spans, against none of them",
  method: "64 connections, rounds of two seconds a side in turns of a tenth of a second; both sides are toolsrv with the same tool without a store. Audit records go to a file, spans to a collector on the same machine that takes everything; what it does itself takes its share of the machine. Instructions are those of all threads of the process, counted by callgrind.",
  async run() {
    const collector = await startNullCollector();
    const folder = mkdtempSync(join(tmpdir(), "toolsrv-observe-"));
    const args = (kinds: string): readonly string[] => [kinds, collector.url, folder];
    try {
      const all = await compare({ ours: { file: serverFile("toolsrv-observed"), args: args(ALL) }, peer: PEER, rounds: 5, ...LOAD });
      const chained = await compare({ ours: { file: serverFile("toolsrv-observed"), args: args(`${ALL},chain`) }, peer: { file: serverFile("toolsrv-observed"), args: args(ALL) }, rounds: 3, ...LOAD });
      return [
        versus("tools/call with audit, metrics and spans", "none of them", "/s", all.perSecond, { atLeast: 0.8 }, all.notes),
        versus("tools/call with a chain of audit records", "no chain", "/s", chained.perSecond, { atLeast: 0.9 }, chained.notes),
        await inProcess({ collector: collector.url, auditFile: join(folder, "in-process.jsonl") }),
        await counted(args(ALL)),
      ];
    } finally {
      await collector.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function inProcess(places: ObservedPlaces): Promise<Row> {
  const program = observedBench(ALL, places);
  const io = { note: () => undefined, environment: {}, now: () => performance.now(), takeStdout: () => process.stdout };
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const observability = await createObservability({ projects: [{ name: "bench", program }], name: "bench", reloads: false, env: new Map(), log, logFormat: "text", logCalls: false, transport: "http", trace: null, audit: null, learned: new LearnedSecrets(), io, wallNow: () => Date.now() });
  const engine = createEngine(program, { env: new Map(), observing: observability.observe(program, "bench") });
  const caller = { requestId: "bench", principal: { id: "ada", claims: {}, headers: {} } };
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = performance.now();
    for (let n = 0; n < CALLS; n += 1) await engine.call("tool_0", { text: "star wars", limit: 5 }, caller);
    rounds.push(((performance.now() - before) * 1000) / CALLS);
    // Queues empty between rounds, as they do between the calls of an application.
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await engine.close();
  await observability.close();
  return atMost("engine.call of an echo tool with audit, metrics and spans", rounds, 15, "µs");
}

async function counted(args: readonly string[]): Promise<Row> {
  const what = "tools/call: instructions a request, with audit, metrics and spans";
  const why = whyNotCounted();
  if (why !== null) return { what, skipped: why };
  const request = { body: CALL, headers: HEADERS };
  const ours = await countRequests(serverFile("toolsrv-observed"), request, args);
  const peer = await countRequests(serverFile("toolsrv"), request);
  const total = ({ rounds, besides }: typeof ours): readonly number[] => rounds.map(({ instructions }, round) => instructions + (besides[round] ?? 0));
  return versus(what, "none of them", "", { ours: total(ours), peer: total(peer) }, null, [`of them ${median(ours.besides).toFixed(0)} by other threads than the main one, peer ${median(peer.besides).toFixed(0)}`]);
}
