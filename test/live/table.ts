/** Prints the table of `make live`: a row for each case of the contract, a column for each backend. Arguments: the folder of outcomes, then BACKEND=REASON for those that did not run. */
import { readOutcomes } from "./outcomes.js";

const [folder = "", ...skips] = process.argv.slice(2);
const all = await readOutcomes(folder);
const names = [...new Set(all.flatMap(({ cases }) => cases.map(([name]) => name)))];
const width = Math.max(...names.map((name) => name.length), 10);
const marks = new Map(all.map(({ backend, cases }) => [backend, new Map(cases)]));
const cell = (backend: string, name: string): string => {
  const outcome = marks.get(backend)?.get(name) ?? "-";
  return outcome.startsWith("ok") || outcome === "FAILED" || outcome === "-" ? outcome : `(${outcome})`;
};
const columns = all.map(({ backend }) => ({ backend, width: Math.max(backend.length, ...names.map((name) => cell(backend, name).length)) }));
const line = (first: string, rest: (column: (typeof columns)[number]) => string): void => void process.stdout.write(`${[first.padEnd(width), ...columns.map((column) => rest(column).padEnd(column.width))].join("  ").trimEnd()}\n`);

line("case", ({ backend }) => backend);
for (const name of names) line(name, ({ backend }) => cell(backend, name));
for (const { backend, store, cases } of all) process.stdout.write(`${backend}: ${store}; ${cases.filter(([, outcome]) => outcome.startsWith("ok")).length} of ${cases.length} cases passed\n`);
for (const skip of skips) process.stdout.write(`${skip.replace("=", ": skipped, ")}\n`);
process.exitCode = all.some(({ cases }) => cases.some(([, outcome]) => outcome === "FAILED")) ? 1 : 0;
