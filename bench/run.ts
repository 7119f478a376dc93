/**
 * `node dist/bench/run.js [--no-page] [NAME…]`: runs the cases with one of these names, or with the word in their name,
 * one after the other, prints each figure beside its goal, and writes docs/benchmarks.md. Ends with exit code 1 when a
 * goal is missed or a case fails.
 */
import { isMet, type BenchCase, type Row } from "./lib/case.js";
import { hasWrk } from "./lib/load.js";
import { machineLine } from "./lib/machine.js";
import { othersText, printed, writePage } from "./lib/page.js";
import { withUsage } from "./lib/usage.js";
import { adapters } from "./cases/adapters.js";
import { auth } from "./cases/auth.js";
import { authoring } from "./cases/authoring.js";
import { call } from "./cases/call.js";
import { connect } from "./cases/connect.js";
import { counts } from "./cases/counts.js";
import { lists } from "./cases/lists.js";
import { embedded } from "./cases/embedded.js";
import { limits } from "./cases/limits.js";
import { observe } from "./cases/observe.js";
import { latency } from "./cases/latency.js";
import { memory } from "./cases/memory.js";
import { peers } from "./cases/peers.js";
import { scale } from "./cases/scale.js";
import { search } from "./cases/search.js";
import { soak } from "./cases/soak.js";
import { start } from "./cases/start.js";
import { toolsCall } from "./cases/tools-call.js";
import { toolsList } from "./cases/tools-list.js";
import { traceFeed } from "./cases/trace-feed.js";
import { traceIngest } from "./cases/trace-ingest.js";
import { traceOtlp } from "./cases/trace-otlp.js";
import { traceQuery } from "./cases/trace-query.js";
import { traceUi } from "./cases/trace-ui.js";

const CASES: readonly BenchCase[] = [toolsList, toolsCall, auth, limits, observe, peers, latency, soak, memory, counts, call, adapters, connect, search, embedded, lists, start, authoring, scale, traceIngest, traceOtlp, traceFeed, traceQuery, traceUi];

/** For a run that is no measurement, such as under a profiler. */
const NO_PAGE = "--no-page";

const words = process.argv.slice(2).filter((word) => word !== NO_PAGE);
const writesPage = words.length === process.argv.length - 2;
const named = (word: string): readonly BenchCase[] => {
  const exact = CASES.filter((entry) => entry.name === word);
  return exact.length > 0 ? exact : CASES.filter((entry) => entry.name.includes(word));
};
const wanted = new Set(words.flatMap(named));
const chosen = CASES.filter((entry) => words.length === 0 || wanted.has(entry));
if (chosen.length === 0) {
  process.stderr.write(`no case is named like that; there are: ${CASES.map((entry) => entry.name).join(", ")}\n`);
  process.exit(2);
}
const machine = `${machineLine()}; load: ${hasWrk ? "wrk" : "built-in generator (wrk is not installed: bare handlers outrun it)"}`;
process.stdout.write(`${machine}\n`);
let missed = 0;
for (const entry of chosen) {
  process.stdout.write(`\n${entry.name}: ${entry.summary}\n`);
  const started = performance.now();
  const { result: rows, usage } = await withUsage(process.pid, () =>
    // The other cases still run.
    entry.run().catch((error: unknown): readonly Row[] => [{ what: entry.name, failed: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) }]),
  );
  const others = usage.othersNs / 1e6 / (performance.now() - started);
  for (const row of rows) {
    process.stdout.write(`${printed(row)}\n`);
    if (!isMet(row)) missed += 1;
  }
  process.stdout.write(`${othersText(others)}\n`);
  if (writesPage) writePage(machine, entry, { rows, others }, CASES);
}
process.exit(missed === 0 ? 0 : 1);
