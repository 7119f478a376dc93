/** Runs for people: the list, one run as a tree, the difference of two, and a run as it goes on. */
import type { RunExtended, StepExtended } from "../../runtime/trace/model.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import { duration, fit, visible } from "./format.js";
import { type CommandReader, TraceCommandError } from "./open.js";

const GLYPHS: readonly (readonly [RegExp, string])[] = [[/^tool/, "▭"], [/^(llm|chat_model)/, "◯"], [/^retriever/, "⌭"], [/^run_/, "•"], [/^retry/, "↻"], [/^agent/, "⬡"]];
const MAX_NAME = 48;
const MAX_ERROR = 80;
/** Deeper levels are not indented further, and say which level they are. */
const MAX_INDENT = 16;
const RED = "\u001b[31m";
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";

function glyphOf(step: Pick<StepExtended, "event_type" | "node">): string {
  if (step.node?.startsWith("agent:") === true) return "⬡";
  return GLYPHS.find(([type]) => type.test(step.event_type))?.[1] ?? "◇";
}

function nameOf(step: StepExtended): string {
  const name = visible(step.tool_name ?? step.agent_name ?? step.event_type);
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
}

async function requireRun(reader: CommandReader, runId: string): Promise<RunExtended> {
  const run = await reader.run(runId);
  if (run === null) throw new TraceCommandError(`no run ${runId}`);
  return run;
}

async function stepsOf(reader: CommandReader, runId: string): Promise<StepExtended[]> {
  const steps: unknown[] = [];
  for await (const step of reader.steps(runId)) steps.push(step);
  return steps as StepExtended[];
}

/** `trace runs` */
export async function runList(reader: CommandReader, { options }: Invocation, io: Io): Promise<number> {
  const status = options["status"] ?? "all";
  if (status !== "all" && status !== "running" && status !== "completed" && status !== "failed") throw new UsageError(`--status takes running, completed, failed or all, not '${String(status)}'`);
  const limit = wholeNumber(options["limit"] ?? "50", "--limit", 1, 200);
  const offset = wholeNumber(options["offset"] ?? "0", "--offset", 0, Number.MAX_SAFE_INTEGER);
  const tag = options["tag"];
  const page = await reader.runs({ status, limit, offset, tag: typeof tag === "string" ? tag : undefined, extended: true });
  if (options["json"] === true) {
    for (const run of page.runs) io.stdout.write(`${JSON.stringify(run)}\n`);
    io.stderr.write(`# ${page.runs.length} of ${page.total} runs, offset ${offset}\n`);
    return EXIT.OK;
  }
  for (const run of page.runs as readonly unknown[] as readonly RunExtended[]) io.stdout.write(io.stdout.isTTY ? runBlock(run, io) : `${runLine(run)}\n`);
  io.stdout.write(page.total === 0 ? "no runs\n" : `${page.runs.length} of ${page.total} runs\n`);
  return EXIT.OK;
}

export function wholeNumber(value: string | boolean, flag: string, min: number, max: number): number {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw new UsageError(`${flag} takes a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}, not '${String(value)}'`);
  return number;
}

/** For a terminal: two lines that fit its width, what people look for first. */
function runBlock(run: RunExtended, io: Io): string {
  const color = io.env["NO_COLOR"] === undefined;
  const { columns } = io.stdout;
  const facts = `${(run.duration_ms === null ? "…" : duration(run.duration_ms)).padStart(9)}  ${sizeOf(run).padStart(11)}  ${run.started_at.slice(0, 19).replace("T", " ")}`;
  const room = Math.max(12, columns - facts.length - 4);
  const failed = run.status === "failed";
  const mark = failed ? "✗" : run.status === "running" ? "…" : "✓";
  const name = run.name ?? "";
  // A summary repeats the name in front.
  const preview = run.preview?.startsWith(name) === true ? run.preview.slice(name.length).trim() : (run.preview ?? "");
  const rest = run.error_message ?? (preview === "" ? run.tags.join(" ") : preview);
  const under = fit(`${run.run_id}${rest === "" ? "" : `  ${rest}`}`, columns - 2);
  return `${failed && color ? RED : ""}${mark} ${fit(name, room).padEnd(room)}${failed && color ? PLAIN : ""}  ${facts}\n  ${color ? DIM : ""}${under}${color ? PLAIN : ""}\n`;
}

function runLine(run: RunExtended): string {
  const length = run.duration_ms === null ? "…" : duration(run.duration_ms);
  const error = run.error_message === null ? "" : `  ✗ ${firstLine(run.error_message)}`;
  const tags = run.tags.length === 0 ? "" : `  [${visible(run.tags.join(", "))}]`;
  return `${run.run_id}  ${run.status.padEnd(9)}  ${run.started_at}  ${length.padStart(9)}  ${sizeOf(run).padStart(11)}  ${visible(run.name ?? "")}${tags}${error}`;
}

/** Calls, which people count; events where an earlier release counted these alone. */
function sizeOf({ call_count: calls, total_steps: events }: RunExtended): string {
  return calls === null ? `${events} events` : `${calls} ${calls === 1 ? "call" : "calls"}`;
}

function firstLine(text: string): string {
  return visible(text.split("\n", 1)[0] ?? "").slice(0, MAX_ERROR);
}

interface Call {
  readonly start: StepExtended;
  end: StepExtended | null;
  readonly children: Call[];
}

/** `trace show`: the calls of a run as a tree. */
export async function showRun(reader: CommandReader, { args, options }: Invocation, io: Io): Promise<number> {
  const run = await requireRun(reader, args[1] ?? "");
  const color = options["color"] !== false && io.stdout.isTTY && io.env["NO_COLOR"] === undefined;
  const tokens = run.total_tokens_input + run.total_tokens_output === 0 ? "" : `  ↑${run.total_tokens_input} ↓${run.total_tokens_output}`;
  const head = `${run.run_id}  ${run.status}  ${sizeOf(run)}${tokens}`;
  const all = run.tags.length === 0 ? "" : `[${visible(run.tags.join(", "))}]`;
  const tags = io.stdout.isTTY ? fit(all, io.stdout.columns) : all;
  // On a line of their own where they would not fit.
  io.stdout.write(`${head}${tags === "" ? "" : `${head.length + tags.length + 2 > io.stdout.columns ? "\n" : "  "}${tags}`}\n`);
  const roots = callTree(await stepsOf(reader, run.run_id));
  for (const { call, indent, last, depth } of treeLines(roots, options["reverse"] === true)) {
    const level = depth > MAX_INDENT ? `${depth} ` : "";
    io.stdout.write(`${indent}${last ? "└─ " : "├─ "}${level}${callLine(call, color, io.stdout.isTTY ? io.stdout.columns - indent.length - level.length - 3 : null)}\n`);
  }
  return EXIT.OK;
}

interface TreeLine {
  readonly call: Call;
  readonly indent: string;
  readonly last: boolean;
  /** 1 at the top. */
  readonly depth: number;
}

/** Calls in the order in which they are printed. Not recursive: runs nest deeply. */
function* treeLines(roots: readonly Call[], reverse: boolean): Generator<TreeLine> {
  const waiting: TreeLine[] = [];
  const add = (calls: readonly Call[], indent: string, depth: number): void => {
    const lines = (reverse ? [...calls].reverse() : calls).map((call, index) => ({ call, indent, last: index === calls.length - 1, depth }));
    for (const line of lines.reverse()) waiting.push(line);
  };
  add(roots, "", 1);
  for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
    yield line;
    add(line.call.children, line.depth < MAX_INDENT ? `${line.indent}${line.last ? "   " : "│  "}` : line.indent, line.depth + 1);
  }
}

function callTree(steps: readonly StepExtended[]): Call[] {
  const byRun = new Map<string, Call>();
  /** Calls of a run id that have not ended, the last one last. */
  const open = new Map<string, Call[]>();
  const calls: Call[] = [];
  for (const step of steps) {
    if (/_start$/.test(step.event_type) && step.event_type !== "run_start") {
      const call: Call = { start: step, end: null, children: [] };
      calls.push(call);
      byRun.set(step.run_id, byRun.get(step.run_id) ?? call);
      const others = open.get(step.run_id);
      if (others === undefined) open.set(step.run_id, [call]);
      else others.push(call);
    } else if (/_(end|error)$/.test(step.event_type) && step.event_type !== "run_end") {
      const ended = open.get(step.run_id)?.pop();
      if (ended === undefined) calls.push({ start: step, end: step, children: [] });
      else ended.end = step;
    }
  }
  const parentOf = (call: Call): Call | undefined => byRun.get(call.start.parent_run_id ?? "");
  const cut = circleCuts(calls, parentOf);
  const roots: Call[] = [];
  for (const call of calls) {
    const parent = parentOf(call);
    if (parent === undefined || cut.has(call)) roots.push(call);
    else parent.children.push(call);
  }
  return roots;
}

/** One call of each circle of parents, above which it is cut. Each call is walked once. */
function circleCuts(calls: readonly Call[], parentOf: (call: Call) => Call | undefined): ReadonlySet<Call> {
  const walks = new Map<Call, number>();
  const cut = new Set<Call>();
  calls.forEach((call, walk) => {
    let at: Call | undefined = call;
    while (at !== undefined && !walks.has(at)) {
      walks.set(at, walk);
      at = parentOf(at);
    }
    // This walk has come back to itself; `call`, the first of its calls, need not be part of the circle.
    if (at !== undefined && walks.get(at) === walk) cut.add(at);
  });
  return cut;
}

/** `columns` is `null` where nothing is cut. */
function callLine({ start, end }: Call, color: boolean, columns: number | null): string {
  const tokens = end?.token_input == null && end?.token_output == null ? "" : `  ↑${end.token_input ?? 0} ↓${end.token_output ?? 0}`;
  const server = start.mcp_server === null ? "" : `  mcp:${visible(start.mcp_server)}`;
  const length = end === null ? "…" : end.duration_ms === null ? "" : duration(end.duration_ms);
  const name = `${glyphOf(start)} ${nameOf(start)}`;
  const used = name.length + length.length + tokens.length + server.length + 6;
  const message = end?.error_message == null ? null : columns === null ? firstLine(end.error_message) : fit(firstLine(end.error_message), Math.max(20, columns - used));
  const error = message === null ? "" : `  ${color ? RED : ""}✗ ${message}${color ? PLAIN : ""}`;
  return `${name}  ${color ? DIM : ""}${length}${color ? PLAIN : ""}${tokens}${server}${error}`.replace(/ {2}$/, "");
}

/** `trace watch`: prints steps as they come, until the run ends. */
export async function watchRun(reader: CommandReader, { args, options }: Invocation, io: Io): Promise<number> {
  const runId = args[1] ?? "";
  await requireRun(reader, runId);
  const seconds = Number(options["interval"] ?? "1");
  if (!(seconds > 0)) throw new UsageError(`--interval takes seconds above 0, not '${String(options["interval"])}'`);
  let since = 0;
  for (;;) {
    // Status first: what ended it is then among the steps that are read after it.
    const { status } = await requireRun(reader, runId);
    for await (const fields of reader.steps(runId, { sinceSeq: since })) {
      const step = fields as unknown as StepExtended;
      since = Math.max(since, step.seq);
      io.stdout.write(`[${step.timestamp.slice(11, 19)}] ${glyphOf(step)} ${step.event_type} ${nameOf(step)}${step.duration_ms === null ? "" : `  ${duration(step.duration_ms)}`}${step.error_message === null ? "" : `  ✗ ${firstLine(step.error_message)}`}\n`);
    }
    if (status !== "running" || options["once"] === true || io.signal.aborted) return EXIT.OK;
    await pause(seconds * 1000, io.signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
