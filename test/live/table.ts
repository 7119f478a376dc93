/**
 * Prints the table of `make live`: a row for each case of the contract, a column for each backend. A run that found another
 * store or another outcome than test/live/runs.json says is a failure; UPDATE=1 writes that record, and with `make gen` the
 * page docs/reference/backends.md. Arguments: the folder of outcomes, then BACKEND=REASON for those that did not run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { countsOf, type LiveRun } from "../../generator/reference/backends.js";
import { repo } from "../lib/repo.js";
import { OWN_STORE, readOutcomes } from "./outcomes.js";

const RECORD = repo("test/live/runs.json");
const [folder = "", ...skips] = process.argv.slice(2);
const all = await readOutcomes(folder);
const recorded = JSON.parse(readFileSync(RECORD, "utf8")) as readonly LiveRun[];
const names = [...new Set(all.flatMap(({ cases }) => cases.map(([name]) => name)))];
const width = Math.max(...names.map((name) => name.length), 10);
const marks = new Map(all.map(({ backend, cases }) => [backend, new Map(cases)]));
const cell = (backend: string, name: string): string => {
  const outcome = marks.get(backend)?.get(name) ?? "-";
  return outcome.startsWith("ok") || outcome === "FAILED" || outcome === "-" ? outcome : `(${outcome})`;
};
const columns = all.map(({ backend }) => ({ backend, width: Math.max(backend.length, ...names.map((name) => cell(backend, name).length)) }));
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const line = (first: string, rest: (column: (typeof columns)[number]) => string): void => print([first.padEnd(width), ...columns.map((column) => rest(column).padEnd(column.width))].join("  ").trimEnd());

line("case", ({ backend }) => backend);
for (const name of names) line(name, ({ backend }) => cell(backend, name));
for (const { backend, store, filters, cases } of all) {
  const { passed, applied, others } = countsOf(cases);
  print(`${backend}: ${store}; ${passed} of ${applied} cases passed${others === 0 ? "" : `, ${others} not applicable`}, ${filters} random filters`);
}
for (const skip of skips) print(skip.replace("=", ": skipped, "));
const isFailed = all.some(({ cases }) => cases.some(([, outcome]) => outcome === "FAILED"));

/** How a run differs from the record; null where there is none, as of a store of the user's own. */
function differenceOf(run: LiveRun): string | null {
  const before = recorded.find(({ backend }) => backend === run.backend);
  if (before === undefined || run.cases.some(([, outcome]) => outcome === OWN_STORE)) return null;
  if (before.store !== run.store) return `the record is of ${before.store}`;
  const known = new Map(before.cases);
  const changed = run.cases.filter(([name, outcome]) => known.get(name) !== outcome).map(([name]) => name);
  const gone = before.cases.filter(([name]) => !run.cases.some(([own]) => own === name)).map(([name]) => name);
  return changed.length + gone.length === 0 ? null : `another outcome of: ${[...changed, ...gone].join("; ")}`;
}

if (process.env["UPDATE"] === "1" && !isFailed) {
  const own = all.filter((run) => !run.cases.some(([, outcome]) => outcome === OWN_STORE));
  const kept = recorded.filter(({ backend }) => !own.some((run) => run.backend === backend));
  writeFileSync(RECORD, `${JSON.stringify([...kept, ...own].sort((a, b) => (a.backend < b.backend ? -1 : 1)), null, 1)}\n`);
  print("recorded in test/live/runs.json; run make gen");
} else {
  const differences = all.flatMap((run) => differenceOf(run) ?? []).length;
  for (const run of all) {
    const difference = differenceOf(run);
    if (difference !== null) print(`${run.backend}: not as in test/live/runs.json: ${difference}; make live FILTERS=2000 UPDATE=1 records it anew`);
  }
  if (isFailed || differences > 0) process.exitCode = 1;
}
