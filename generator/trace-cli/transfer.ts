/** Traces as files: exports that can be read back with everything in them, and the data of the existing system. */
import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { createWriteStream } from "node:fs";
import { readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import Database from "better-sqlite3";
import { createIdSource } from "../../runtime/base/id-source.js";
import { makeFolder } from "../../runtime/base/make-folder.js";
import { nameOf, readEvent } from "../../runtime/trace/ingest/event.js";
import type { Redactor } from "../../runtime/trace/ingest/redact.js";
import { COMPLETED, FAILED, type Incoming, RUNNING } from "../../runtime/trace/model.js";
import type { RunFacts } from "../../runtime/trace/record/run-state.js";
import { parseTime } from "../../runtime/trace/time.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import { linesOf, MAX_LINE } from "./lines.js";
import { type CommandReader, type CommandWriter, TraceCommandError } from "./open.js";

type Fields = { readonly [name: string]: unknown };

const BATCH = 500;
/** Skipped lines that are named; the others are counted. */
const MAX_REPORTED = 20;

/** `trace export`: one JSON object a line, `_kind` first; payloads included, so that an import loses nothing. */
export async function exportRuns(reader: CommandReader, { args, options }: Invocation, io: Io): Promise<number> {
  const all = options["all"] === true;
  const runId = args[1];
  if (!all && runId === undefined) throw new UsageError("trace export takes a run, or --all");
  if (options["format"] !== undefined && options["format"] !== "jsonl") throw new UsageError(`--format takes jsonl, not '${String(options["format"])}'`);
  const ids = all ? await reader.runIds() : [runId ?? ""];
  const lines = exportLines(reader, ids, all);
  const output = options["output"] ?? "-";
  if (output === "-") for await (const line of lines) io.stdout.write(line);
  else await writeLines(resolve(io.cwd, String(output)), lines);
  return EXIT.OK;
}

/** One line at a time: a set of traces may be larger than memory. With `all`, a run that is deleted meanwhile is left out. */
async function* exportLines(reader: CommandReader, ids: readonly string[], all: boolean): AsyncGenerator<string> {
  for (const id of ids) {
    const run = await reader.run(id);
    if (run === null && all) continue;
    if (run === null) throw new TraceCommandError(`no run ${id}`);
    yield `${JSON.stringify({ _kind: "run", ...run })}\n`;
    for await (const step of reader.steps(id, { payloads: true })) yield `${JSON.stringify({ _kind: "event", ...step })}\n`;
  }
}

/** Writes a file beside its place first, so that an export that fails leaves what was there; a pipe or a device is written as it is. */
async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  try {
    const there = await stat(path).catch(() => null);
    if (there?.isDirectory() === true) throw new TraceCommandError(`${path} can't be written: it is a directory`);
    if (there !== null && !there.isFile()) return await pipeline(lines, createWriteStream(path));
    const target = there === null ? path : await realpath(path);
    const beside = `${target}.${randomUUID()}.new`;
    makeFolder(dirname(target));
    try {
      await pipeline(lines, createWriteStream(beside, there === null ? {} : { mode: there.mode & 0o777 }));
      await rename(beside, target);
    } catch (error) {
      await rm(beside, { force: true });
      throw error;
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined || error instanceof TraceCommandError ? error : new TraceCommandError(`${path} can't be written: ${message}`);
  }
}

/** Counts of an import. */
export interface Imported {
  runs: number;
  events: number;
  skipped: number;
  /** Those of the skipped ones that were not there before either. */
  unreadable: number;
}

/** `trace import`: an export of this service or of the existing one, or that one's data directory. */
export async function importFrom(writer: CommandWriter, source: string | null, redactor: Redactor | null, io: Io): Promise<Imported> {
  const importer = new Importer(writer, redactor, io);
  const isDirectory = source !== null && (await stat(source).catch(() => null))?.isDirectory() === true;
  if (isDirectory) await importDirectory(importer, source);
  else await importLines(importer, source, io);
  return importer.finish();
}

class Importer {
  readonly counts: Imported = { runs: 0, events: 0, skipped: 0, unreadable: 0 };
  readonly #runs = new Map<string, Fields>();
  #batch: Incoming[] = [];
  readonly #newId;

  constructor(
    private readonly writer: CommandWriter,
    private readonly redactor: Redactor | null,
    private readonly io: Io,
  ) {
    this.#newId = createIdSource(io.host.now);
  }

  run(run: Fields): void {
    const id = run["run_id"];
    if (typeof id === "string" && (run["root_run_id"] ?? id) === id) this.#runs.set(id, run);
  }

  async event(fields: Fields, where: string): Promise<void> {
    const payload = fields["full_payload"] ?? fields["payload"];
    // Exports name the node of a step instead of what the sender declared.
    const isAgent = fields["is_agent"] ?? String(fields["node"] ?? "").startsWith("agent:");
    const event = readEvent({ ...fields, payload, is_agent: isAgent }, { summaryChars: 100_000, newId: this.#newId, nowUs: () => this.io.host.now() * 1000 }, this.redactor);
    if (typeof event === "string") {
      this.skip(where, event);
      return;
    }
    const duration = fields["duration_ms"];
    const cost = nanoOf(fields["cost_usd"]);
    this.#batch.push({ ...event, durationMs: typeof duration === "number" ? duration : null, ...(cost === null ? {} : { costNano: cost }) });
    if (this.#batch.length >= BATCH) await this.flush();
  }

  async tools(server: string, names: readonly string[]): Promise<void> {
    await this.writer.registerTools(server, names);
  }

  skip(where: string, why: string): void {
    this.counts.skipped += 1;
    this.counts.unreadable += 1;
    // A long list would take what matters off the screen.
    if (this.counts.unreadable <= MAX_REPORTED) this.io.stderr.write(`skipped ${where}: ${why}\n`);
  }

  async flush(): Promise<void> {
    const outcome = await this.writer.write(this.#batch);
    this.counts.events += outcome.stored;
    this.counts.skipped += outcome.duplicates;
    this.#batch = [];
  }

  async finish(): Promise<Imported> {
    await this.flush();
    const clean = (text: string): string => this.redactor?.text(text) ?? text;
    for (const [id, run] of this.#runs) {
      if (await this.writer.restore(id, factsOf(run, clean))) this.counts.runs += 1;
      else this.skip(`run ${id}`, "it has no events");
    }
    await this.writer.settle();
    return this.counts;
  }
}

/** What the steps of a run may not show; a field that an export of another system lacks is left to them. */
function factsOf(run: Fields, clean: (text: string) => string): RunFacts {
  const text = (field: string): string | null => (typeof run[field] === "string" ? clean(run[field]) : null);
  const given = { startedAt: parseTime(run["started_at"]), name: nameOf(run["name"], clean), session: nameOf(run["session_id"], clean), user: nameOf(run["user_id"], clean), preview: text("preview"), answer: text("answer") };
  return {
    status: run["status"] === "completed" ? COMPLETED : run["status"] === "failed" ? FAILED : RUNNING,
    completedAt: parseTime(run["completed_at"]),
    tags: Array.isArray(run["tags"]) ? run["tags"].filter((tag): tag is string => typeof tag === "string").map(clean) : [],
    error: text("error_message"),
    graph: text("graph_definition"),
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as RunFacts),
  };
}

/** Billionths of a dollar; `null` for what is no cost. */
function nanoOf(dollars: unknown): number | null {
  return typeof dollars === "number" && dollars >= 0 && dollars < 1e6 ? Math.round(dollars * 1e9) : null;
}

async function importLines(importer: Importer, source: string | null, io: Io): Promise<void> {
  let number = 0;
  for await (const line of linesOf(source === null ? io.stdin : io.host.stream(source))) {
    number += 1;
    if (line?.trim() === "") continue;
    const where = `line ${number}`;
    if (line === null) {
      importer.skip(where, `it has more than ${MAX_LINE} characters`);
      continue;
    }
    const value = parseLine(line);
    if (value === null) importer.skip(where, "it is no JSON object");
    else if (value["_kind"] === "error") importer.skip(where, `the export was cut short: ${String(value["detail"])}`);
    // Exports over HTTP have no _kind: a run knows its steps, a step its event.
    else if (value["_kind"] === "run" || (value["_kind"] === undefined && "total_steps" in value)) importer.run(value);
    else if (value["_kind"] === "event" || (value["_kind"] === undefined && "event_type" in value)) await importer.event(value, where);
    else importer.skip(where, "it is neither a run nor an event");
  }
}

function parseLine(line: string): Fields | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

/** The existing system's directory: a database, and one file for each payload. */
async function importDirectory(importer: Importer, directory: string): Promise<void> {
  const path = join(directory, "traces.db");
  if (!(await stat(path).catch(() => null))?.isFile()) throw new UsageError(`${directory} is no data directory of the existing system: it has no traces.db`);
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    const tables = db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
    const columns = db.prepare<[], string>("SELECT name FROM pragma_table_info('events')").pluck().all();
    if (!tables.includes("runs") || !columns.includes("blob_path")) throw new TraceCommandError(`${directory} is no data directory of the existing system; use an export of it`);
    for (const run of db.prepare<[], Fields & { tags: string }>("SELECT * FROM runs WHERE run_id = root_run_id").iterate()) {
      importer.run({ ...run, tags: parseTags(run.tags) });
    }
    const blobs = await realpath(join(directory, "blobs")).catch(() => null);
    for (const event of db.prepare<[], Fields>("SELECT * FROM events ORDER BY timestamp, rowid").iterate()) {
      const full_payload = typeof event["blob_path"] === "string" && blobs !== null ? await readBlob(importer, blobs, event["blob_path"]) : undefined;
      await importer.event({ ...event, ...(full_payload === undefined ? {} : { full_payload }) }, `event ${String(event["event_id"])}`);
    }
    if (tables.includes("mcp_tools")) {
      for (const { server, tool_name } of db.prepare<[], { server: string; tool_name: string }>("SELECT server, tool_name FROM mcp_tools").all()) await importer.tools(server, [tool_name]);
    }
  } finally {
    db.close();
  }
}

function parseTags(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

/** A payload file inside the folder; anything else is reported and left out. */
async function readBlob(importer: Importer, blobs: string, path: string): Promise<unknown> {
  try {
    const file = await realpath(join(blobs, path));
    if (!file.startsWith(blobs + sep)) throw new Error("it leads out of the folder");
    return JSON.parse(gunzipSync(await readFile(file)).toString("utf8"));
  } catch (error) {
    importer.skip(`payload ${path}`, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
