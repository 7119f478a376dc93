/** What a large store answers, and how fast, while more comes in. */
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { SCHEMA_VERSION } from "../../runtime/trace/store/sqlite/schema.js";
import { repo } from "../../test/lib/repo.js";
import { atMost, type BenchCase, type Comparison, median } from "../lib/case.js";
import { ask, askJson, loadTrace, peakBytes, percentile, startTrace, temporaryDirectory, traceStats } from "../lib/trace.js";

const EVENTS = 1_000_000;
const ROUNDS = 30;
/** Events a second that come in meanwhile. */
const RATE = 5_000;

const QUERIES: readonly (readonly [what: string, path: string, goalMs: number])[] = [
  ["run list", "/api/runs", 10], ["run list by status", "/api/runs?status=completed", 10], ["run list by tag, 5,000 runs deep", "/api/runs?tag=bench&cursor={cursor}", 10],
  ["one run", "/api/runs/{run}", 5], ["journey, first page", "/api/runs/{run}/journey?limit=100", 20], ["topology, all", "/api/topology", 50],
  ["topology, last 1,000 runs", "/api/topology?scope=last_n:1000", 100], ["tools, all", "/api/tools", 20], ["stats", "/api/stats", 5],
  ["search, common word", "/api/search?q=words", 100], ["search, two words", "/api/search?q=question+day", 100],
];

/** A store of a million events in ten thousand runs, all of them in its index; made once and copied. */
async function millionStore(): Promise<string> {
  const kept = repo(`.cache/bench/trace-${EVENTS}-v${SCHEMA_VERSION}`);
  if (!existsSync(kept)) {
    const making = `${kept}.${process.pid}`;
    await mkdir(making, { recursive: true });
    const service = await startTrace(making);
    await loadTrace(service.url, { events: EVENTS });
    for (let indexed = 0; indexed < EVENTS; ) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      indexed = (await traceStats(service.url))["events_indexed"] ?? 0;
    }
    await service.stop(true);
    await rename(making, kept).catch(() => rm(making, { recursive: true, force: true }));
  }
  const directory = await temporaryDirectory();
  await cp(kept, directory, { recursive: true });
  return directory;
}

async function queries(): Promise<Comparison[]> {
  const service = await startTrace(await millionStore());
  try {
    const page = await askJson<{ runs: readonly { readonly run_id: string }[]; next_cursor: string }>(service.url, "/api/runs?limit=1&offset=5000&extended=1");
    const fill = (path: string): string => path.replace("{run}", page.runs[0]?.run_id ?? "").replace("{cursor}", page.next_cursor);
    const busy = loadTrace(service.url, { events: RATE * 12, connections: 1, rate: RATE });
    const times = new Map<string, number[]>(QUERIES.map(([what]) => [what, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [what, path] of QUERIES) {
        const started = performance.now();
        await ask(service.url, fill(path));
        times.get(what)?.push(performance.now() - started);
      }
    }
    await busy;
    return [
      ...QUERIES.map(([what, , goal]) => {
        const all = times.get(what) ?? [];
        return atMost(`${what}, at 1 M events while ingesting`, median(all), goal, "ms", [`p95 ${percentile(all, 0.95).toFixed(1)} ms`]);
      }),
      atMost("peak memory of the service over all of that", peakBytes(service.pid) / 1e6, 250, "MB"),
    ];
  } finally {
    await service.stop();
  }
}

export const traceQuery: BenchCase = {
  name: "trace-query",
  summary: "a store of 1,000,000 events in 10,000 runs, asked while 5,000 events/s come in",
  method: "Every query is asked 30 times in turn, over HTTP on a kept connection; the figure is the median. The store is made once and kept beside the build.",
  run: queries,
};
