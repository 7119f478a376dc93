/**
 * `node dist/bench/run.js [NAME…]`: runs the cases whose name contains one of the words, one after the other, and
 * prints each ratio beside its goal. Ends with exit code 1 when a goal is missed.
 */
import { isMet, type BenchCase, type Comparison } from "./lib/case.js";
import { hasWrk } from "./lib/load.js";
import { machineLine } from "./lib/machine.js";
import { call } from "./cases/call.js";
import { scale } from "./cases/scale.js";
import { search } from "./cases/search.js";
import { start } from "./cases/start.js";
import { toolsCall } from "./cases/tools-call.js";
import { toolsList } from "./cases/tools-list.js";
import { trace } from "./cases/trace.js";

const CASES: readonly BenchCase[] = [toolsList, toolsCall, call, search, start, scale, trace];

function row(result: Comparison): string {
  const figure = (value: number): string => `${value >= 1000 ? Math.round(value).toLocaleString("en-US") : value.toFixed(value < 10 ? 2 : 1)} ${result.unit}`;
  const goal = "atLeast" in result.goal ? `≥ ${result.goal.atLeast}` : `≤ ${result.goal.atMost}`;
  const verdict = isMet(result) ? "met" : "MISSED";
  return [`${result.what}: ${figure(result.ours)}, peer ${figure(result.peer)}, ratio ${result.ratio.toFixed(2)} (goal ${goal}, ${verdict})`, ...(result.notes ?? []).map((note) => `  ${note}`)].join("\n");
}

const words = process.argv.slice(2);
const chosen = CASES.filter((entry) => words.length === 0 || words.some((word) => entry.name.includes(word)));
if (chosen.length === 0) {
  process.stderr.write(`no case is named like that; there are: ${CASES.map((entry) => entry.name).join(", ")}\n`);
  process.exit(2);
}
process.stdout.write(`${machineLine()}; load: ${hasWrk ? "wrk" : "built-in generator (wrk is not installed: bare handlers outrun it)"}\n`);
let missed = 0;
for (const entry of chosen) {
  process.stdout.write(`\n${entry.name}: ${entry.summary}\n`);
  for (const result of await entry.run()) {
    process.stdout.write(`${row(result)}\n`);
    if (!isMet(result)) missed += 1;
  }
}
process.exit(missed === 0 ? 0 : 1);
