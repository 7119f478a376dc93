/**
 * docs/benchmarks.md, written from what the cases found. Each run of a case replaces what was recorded of it, so that
 * cases may be run one by one; results of another machine or another Node are dropped, never mixed in.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { repo } from "../../test/lib/repo.js";
import { isMet, type BenchCase, type Comparison, type Row } from "./case.js";

const RECORD = repo(".cache/bench/results.json");
const PAGE = repo("docs/benchmarks.md");

interface Recorded {
  readonly machine: string;
  /** Rows by the name of their case. */
  readonly cases: { readonly [name: string]: readonly Row[] };
  /** By the name of a case: what others had of the machine while it ran, in cores. */
  readonly others?: { readonly [name: string]: number };
}

/** What one run of a case found. */
export interface Found {
  readonly rows: readonly Row[];
  /** What others had of the machine meanwhile, in cores. */
  readonly others: number;
}

/** Records the rows of a case, and rewrites the page with all recorded rows. */
export function writePage(machine: string, entry: BenchCase, { rows, others }: Found, cases: readonly BenchCase[]): void {
  const before = readRecord();
  const kept: Omit<Recorded, "machine"> = before?.machine === machine ? before : { cases: {} };
  const record: Recorded = { machine, cases: { ...kept.cases, [entry.name]: rows }, others: { ...kept.others, [entry.name]: others } };
  mkdirSync(dirname(RECORD), { recursive: true });
  writeFileSync(RECORD, `${JSON.stringify(record, null, 1)}\n`);
  writeFileSync(PAGE, pageOf(record, cases));
}

/** `null` when nothing usable was recorded: the file is a cache of ours, and any other content is ignored. */
function readRecord(): Recorded | null {
  try {
    const record = JSON.parse(readFileSync(RECORD, "utf8")) as Partial<Recorded> | null;
    return typeof record?.machine === "string" && typeof record.cases === "object" ? (record as Recorded) : null;
  } catch {
    return null;
  }
}

/** The page as Markdown: every case in the order of the runner, cases that were not run left out. */
export function pageOf({ machine, cases: found, others = {} }: Recorded, cases: readonly BenchCase[]): string {
  const sections = cases.flatMap((entry) => (found[entry.name] === undefined ? [] : [sectionOf(entry, found[entry.name] ?? [], others[entry.name])]));
  return `# Benchmarks

Written by \`make bench\`, which measures on the machine it runs on; \`make bench CASES="…"\` replaces the rows of those
cases, and \`make profile CASE="…"\` tells where the time of one goes.

**Machine.** ${machine}.

**Method.** Servers are processes of their own, and so is the load. Two sides are measured in the same run, in turn,
round by round, after a warm-up; every figure is the median over the rounds, and a ratio is the median of the rounds'
ratios with the lowest and the highest beside it. Absolute figures belong to the machine above; goals are ratios, save
in rows without a peer. Of two sides, who goes first alternates. Each case says how much of a core processes had meanwhile
that have no part in it, and the hypervisor: where that is much, times and rates are the machine's as well as ours. A
wrong answer under load ends the run: it is not a fast one.

${sections.join("\n\n")}
`;
}

function sectionOf(entry: BenchCase, rows: readonly Row[], others: number | undefined): string {
  const head = `## ${entry.name}\n\nMeasures ${entry.summary}.${entry.method === undefined ? "" : ` ${entry.method}`}${others === undefined ? "" : ` ${othersText(others)}`}`;
  const table = ["| What | toolsrv | Peer | Ratio | Lowest–highest | Goal | |", "|---|---:|---:|---:|---:|---:|---|", ...rows.map(lineOf)];
  const notes = rows.flatMap((row) => (!("notes" in row) ? [] : (row.notes ?? []).map((note) => `- ${row.what}: ${note}`)));
  return [head, table.join("\n"), ...(notes.length === 0 ? [] : [notes.join("\n")])].join("\n\n");
}

/** Whether the machine was ours alone: time of a machine that others use is theirs too. */
export function othersText(cores: number): string {
  return `Meanwhile others had ${(100 * cores).toFixed(cores < 0.1 ? 1 : 0)} % of a core.`;
}

function lineOf(row: Row): string {
  if ("skipped" in row) return `| ${row.what} | | | | | | not measured: ${row.skipped} |`;
  if ("failed" in row) return `| ${row.what} | | | | | | **missed**: ${row.failed} |`;
  const peer = row.against === undefined ? "" : `${row.against}: ${figure(row.peer, row.unit)}`;
  const { spread } = row;
  const range = spread === undefined ? "" : `${short(spread.lowest)}–${short(spread.highest)} (${spread.rounds})`;
  return `| ${row.what} | ${figure(row.ours, row.unit)} | ${peer} | ${row.against === undefined ? "" : short(row.ratio)} | ${range} | ${goalText(row)} | ${verdict(row)} |`;
}

/** A row as it is printed while the cases run. */
export function printed(row: Row): string {
  if ("skipped" in row) return `${row.what}: not measured: ${row.skipped}`;
  if ("failed" in row) return `${row.what}: missed: ${row.failed}`;
  const peer = row.against === undefined ? "" : `, ${row.against} ${figure(row.peer, row.unit)}, ratio ${short(row.ratio)}`;
  const spread = row.spread === undefined ? "" : ` [${short(row.spread.lowest)}–${short(row.spread.highest)}]`;
  const goal = row.goal === undefined ? "" : ` (goal ${goalText(row)}, ${verdict(row)})`;
  return [`${row.what}: ${figure(row.ours, row.unit)}${peer}${spread}${goal}`, ...(row.notes ?? []).map((note) => `  ${note}`)].join("\n");
}

function goalText({ goal, against, peer, unit }: Comparison): string {
  if (goal === undefined) return "";
  const [sign, bound] = "atLeast" in goal ? ["≥", goal.atLeast] : ["≤", goal.atMost];
  return `${sign} ${against === undefined ? figure(peer * bound, unit) : bound}`;
}

function verdict(row: Comparison): string {
  if (row.goal === undefined) return "";
  return isMet(row) ? "met" : "**missed**";
}

function figure(value: number, unit: string): string {
  return unit === "" ? short(value) : `${short(value)} ${unit}`;
}

function short(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(value < 10 ? 2 : 1);
}
