/** `trace diff`: two runs beside each other, first in numbers, then call by call as the service aligns them. */
import type { components } from "../../runtime/trace/api.types.gen.js";
import type { Invocation, Io } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import { duration, fit, fitEnd, visible } from "./format.js";
import { type CommandReader, TraceCommandError } from "./open.js";

type Comparison = components["schemas"]["Comparison"];
type Row = Comparison["rows"][number];
type Call = NonNullable<Row["a"]>;

const MARKS: { readonly [change in Row["change"]]: string } = { same: " ", changed: "≠", only_a: "-", only_b: "+" };
const COLUMN = 12;
const MIN_NAME = 20;
const MAX_NAME = 60;

export async function diffRuns(reader: CommandReader, { args }: Invocation, io: Io): Promise<number> {
  const [a = "", b = ""] = args.slice(1);
  for (const id of [a, b]) if ((await reader.run(id)) === null) throw new TraceCommandError(`no run ${id}`);
  const comparison = await reader.compare(a, b);
  if (comparison === null) throw new TraceCommandError(`no run ${a} or ${b}`);
  const width = Math.min(MAX_NAME, Math.max(MIN_NAME, (io.stdout.isTTY ? io.stdout.columns : 100) - 2 * COLUMN - 6));
  const line = (mark: string, name: string, left: string, right: string): void => io.stdout.write(`${`${mark} ${fit(name, width).padEnd(width)}  ${left.padStart(COLUMN)}  ${right.padStart(COLUMN)}`.trimEnd()}\n`);
  line(" ", "", fitEnd(a, COLUMN), fitEnd(b, COLUMN));
  for (const [name, left, right] of facts(comparison)) line(left === right ? " " : "≠", name, left, right);
  io.stdout.write(`${toolSets(comparison)}\n`);
  for (const row of comparison.rows) {
    line(MARKS[row.change], `${"  ".repeat(row.depth)}${row.a?.node ?? row.b?.node ?? "call"}`, timeOf(row.a), timeOf(row.b));
    for (const [side, call] of [["a", row.a], ["b", row.b]] as const) if (call?.error_message != null && row.change !== "same") io.stdout.write(`    ${side}: ✗ ${fit(call.error_message, width + 2 * COLUMN)}\n`);
  }
  const only = (change: Row["change"]): number => comparison.rows.filter((row) => row.change === change).length;
  io.stdout.write(`\n${only("same")} calls alike, ${only("changed")} changed (≠), ${only("only_a")} only in the first (-), ${only("only_b")} only in the second (+)${comparison.truncated ? "; only the first 2,000 calls of each were compared" : ""}\n`);
  return EXIT.OK;
}

function facts({ a, b, rows }: Comparison): readonly (readonly [name: string, a: string, b: string])[] {
  const both = (name: string, of: (run: Comparison["a"]) => string): readonly [string, string, string] => [name, of(a), of(b)];
  const calls = (side: "a" | "b"): string => String(rows.filter((row) => isTool(row[side])).length);
  return [
    both("status", ({ status }) => status), both("duration", (run) => (run.duration_ms === null ? "…" : duration(run.duration_ms))),
    both("calls", (run) => (run.call_count === null ? "unknown" : String(run.call_count))), both("events", (run) => String(run.total_steps)),
    both("tok_in", (run) => String(run.total_tokens_input)), both("tok_out", (run) => String(run.total_tokens_output)),
    both("cost", (run) => (run.cost_usd === null ? "-" : `$${run.cost_usd.toFixed(4)}`)), ["tool_calls", calls("a"), calls("b")], both("errors", (run) => String(run.errors)),
  ];
}

/** Tools that only one of the runs called; "" where both called the same. */
function toolSets({ rows }: Comparison): string {
  const names = (side: "a" | "b"): readonly string[] => [...new Set(rows.flatMap((row) => (isTool(row[side]) ? (row[side]?.node ?? "").slice("tool:".length) : [])))].sort();
  const [a, b] = [names("a"), names("b")];
  const only = (which: string, own: readonly string[], others: readonly string[]): string => {
    const found = own.filter((name) => !others.includes(name));
    return found.length === 0 ? "" : `≠ tools only in the ${which}: ${visible(found.join(", "))}\n`;
  };
  return only("first", a, b) + only("second", b, a);
}

function isTool(call: Call | null): boolean {
  return call?.node?.startsWith("tool:") === true;
}

function timeOf(call: Call | null): string {
  if (call === null) return "";
  const time = call.duration_ms === null ? "…" : duration(call.duration_ms);
  return call.error_message === null ? time : `✗ ${time}`;
}
