/**
 * `toolsrv trace …`: the service, and what can be done with a data directory without it. Reading commands work beside
 * a running service; importing and collecting need the directory for themselves.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { processIo } from "../../runtime/serve/io.js";
import { runTrace } from "../../runtime/serve/trace.js";
import { createIdSource } from "../../runtime/base/id-source.js";
import { readEvent } from "../../runtime/trace/ingest/event.js";
import { layoutOf } from "../../runtime/trace/store/sqlite/schema.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import { demoEvents } from "./demo.js";
import { collect, examine, limitsOf, previewCollect, printStats } from "./maintain.js";
import { type CommandReader, nameOfPlace, type Place, placeFor, redactorFor, TraceCommandError, withReader, withWriter } from "./open.js";
import { diffRuns } from "./diff.js";
import { runList, showRun, watchRun } from "./show.js";
import { exportRuns, type Imported, importFrom } from "./transfer.js";

const reading = async (invocation: Invocation, io: Io, command: (reader: CommandReader, invocation: Invocation, io: Io) => Promise<number>): Promise<number> =>
  withReader(await placeFor(invocation, io), io, (reader) => command(reader, invocation, io));

type Command = (invocation: Invocation, io: Io) => Promise<number>;

/** By name; the table of the command line (generator/cli/trace-options.ts) says which words follow. */
const COMMANDS: { readonly [name: string]: Command } = {
  serve,
  demo,
  runs: (invocation, io) => reading(invocation, io, runList),
  show: (invocation, io) => reading(invocation, io, showRun),
  watch: (invocation, io) => reading(invocation, io, watchRun),
  diff: (invocation, io) => reading(invocation, io, diffRuns),
  stats: (invocation, io) => reading(invocation, io, printStats),
  export: (invocation, io) => reading(invocation, io, exportRuns),
  import: importCommand,
  gc: collectCommand,
  doctor: (invocation, io) => placeFor(invocation, io).then((place) => examine(place, io)),
  view,
};

export async function runTraceCommand(invocation: Invocation, io: Io): Promise<number> {
  const [name = ""] = invocation.args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`trace takes ${Object.keys(COMMANDS).join(", ")}, not '${name}'`);
  try {
    return await command(invocation, io);
  } catch (error) {
    if (!(error instanceof TraceCommandError) && !(error instanceof Error && error.name === "StoreOpenError")) throw error;
    io.stderr.write(`toolsrv trace: ${error.message}\n`);
    return EXIT.FINDINGS;
  }
}

/** Options that are settings of the service, as the words that it takes. */
function settingWords({ options }: Invocation): string[] {
  const own = new Set(["status", "limit", "offset", "tag", "json", "color", "reverse", "interval", "once", "all", "output", "format", "dry-run", "check"]);
  return Object.entries(options).flatMap(([name, value]) => {
    if (own.has(name) || value === true) return [];
    return value === false ? [`--no-${name}`] : [`--${name}=${value}`];
  });
}

function serve(invocation: Invocation, io: Io): Promise<number> {
  return runTrace(null, settingWords(invocation), io.env, { ...processIo(io.signal), print: (text) => io.stdout.write(text), note: (text) => io.stderr.write(text) });
}

async function importCommand(invocation: Invocation, io: Io): Promise<number> {
  const given = invocation.args[1];
  const source = given === undefined || given === "-" ? null : resolve(io.cwd, given);
  if (source !== null && !(await io.host.exists(source))) throw new TraceCommandError(`${given ?? ""} does not exist`);
  const place = await placeFor(invocation, io);
  const redactor = redactorFor(invocation, io);
  const counts = await withWriter(place, io, (writer) => importFrom(writer, source, redactor, io));
  refuseGarbage(counts, given ?? "standard input");
  io.stdout.write(`imported ${counts.runs} runs, ${counts.events} events (${counts.skipped} skipped) into ${nameOfPlace(place)}\n`);
  return EXIT.OK;
}

/** @throws TraceCommandError when nothing could be read. What was there before is skipped as well, and is no mistake. */
function refuseGarbage({ runs, events, skipped, unreadable }: Imported, name: string): void {
  if (unreadable > 0 && runs + events + skipped === unreadable) throw new TraceCommandError(`${name} is no export: nothing in it is a run or an event that can be read`);
}

async function collectCommand(invocation: Invocation, io: Io): Promise<number> {
  const place = await placeFor(invocation, io);
  const limits = limitsOf(invocation, io);
  if (place.kind === "directory" && !(await io.host.exists(place.layout.traces))) throw new TraceCommandError(`${place.layout.directory} holds no traces; name another one with --data-dir`);
  return invocation.options["dry-run"] === true ? previewCollect(place, limits, io) : withWriter(place, io, (writer) => collect(writer, limits, io));
}

/** Records sample runs, then shows them. */
async function demo(invocation: Invocation, io: Io): Promise<number> {
  const place = await placeFor(invocation, io, "trace-demo");
  const runs = await seedDemo(place, io);
  io.stdout.write(`seeded demo runs ${runs[0] ?? ""} to ${runs.at(-1) ?? ""} into ${nameOfPlace(place)}\n`);
  if (invocation.options["check"] === true) return EXIT.OK;
  return serve({ args: ["serve"], options: { ...invocation.options, ...(place.kind === "directory" ? { "data-dir": place.layout.directory } : {}) } }, io);
}

/** Ids of the runs that were recorded. */
async function seedDemo(place: Place, io: Io): Promise<readonly string[]> {
  const newId = createIdSource(io.host.now);
  const given = await demoEvents(`demo-${newId().slice(-8)}`, io.host.now());
  await withWriter(place, io, async (writer) => {
    const events = given.map((fields) => readEvent(fields, { summaryChars: 500, newId, nowUs: () => io.host.now() * 1000 }));
    await writer.write(events.filter((event) => typeof event !== "string"));
    await writer.settle();
  });
  return [...new Set(given.map((event) => String(event["root_run_id"])))];
}

/** Serves an export without keeping it. */
async function view(invocation: Invocation, io: Io): Promise<number> {
  const file = resolve(io.cwd, invocation.args[1] ?? "");
  if (!(await io.host.exists(file))) throw new TraceCommandError(`${invocation.args[1] ?? ""} does not exist`);
  const redactor = redactorFor(invocation, io);
  const directory = await mkdtemp(join(tmpdir(), "toolsrv-trace-view-"));
  try {
    refuseGarbage(await withWriter({ kind: "directory", layout: layoutOf(directory) }, io, (writer) => importFrom(writer, file, redactor, io)), invocation.args[1] ?? "");
    // The file is served from a directory, whatever store is set.
    const kept = <T>(values: { readonly [name: string]: T }): { [name: string]: T } => Object.fromEntries(Object.entries(values).filter(([name]) => !/^(TRACE_SERVICE_|)store(_url|_schema|-url|-schema)?$/i.test(name)));
    return await serve({ args: ["serve"], options: { ...kept(invocation.options), "data-dir": directory, "read-only": true } }, { ...io, env: kept(io.env) });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
