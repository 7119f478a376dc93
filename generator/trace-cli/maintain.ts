/** The state of a data directory: counters, what takes room, and whether the files are sound. */
import Database from "better-sqlite3";
import { readInstance } from "../../runtime/trace/service.js";
import type { Candidate } from "../../runtime/trace/store/postgres/examine.js";
import { type Layout, SCHEMA_VERSION } from "../../runtime/trace/store/sqlite/schema.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import { type CommandReader, type CommandWriter, nameOfPlace, type Place, TraceCommandError, withDatabase } from "./open.js";
import { wholeNumber } from "./show.js";

/** `trace stats` */
export async function printStats(reader: CommandReader, { options }: Invocation, io: Io): Promise<number> {
  const stats = await reader.stats();
  if (options["json"] === true) io.stdout.write(`${JSON.stringify(stats)}\n`);
  else for (const [name, value] of Object.entries(stats)) io.stdout.write(`${name.padEnd(20)} ${typeof value === "number" && !Number.isInteger(value) ? value.toFixed(1) : String(value ?? "-")}\n`);
  return EXIT.OK;
}

interface Limits {
  readonly maxRuns: number;
  readonly maxPayloadBytes: number;
  readonly before: number;
}

export function limitsOf({ options }: Invocation, io: Io): Limits {
  const positive = (flag: string): number | null => {
    const given = options[flag];
    if (given === undefined) return null;
    const value = Number(given);
    if (!(value > 0)) throw new UsageError(`--${flag} takes a number above 0, not '${String(given)}'`);
    return value;
  };
  const gigabytes = positive("max-blob-size-gb");
  const days = positive("max-age-days");
  return {
    maxRuns: wholeNumber(options["max-runs"] ?? "10000", "--max-runs", 0, Number.MAX_SAFE_INTEGER),
    maxPayloadBytes: gigabytes === null ? Number.MAX_SAFE_INTEGER : gigabytes * 1e9,
    before: days === null ? 0 : (io.host.now() - days * 86_400_000) * 1000,
  };
}

/** `trace gc`: deletes what is beyond the limits and overwrites it. */
export async function collect(writer: CommandWriter, limits: Limits, io: Io): Promise<number> {
  let deleted = 0;
  for (let count = await writer.retain(limits); count > 0; count = await writer.retain(limits)) deleted += count;
  await writer.settle();
  io.stdout.write(`deleted ${deleted} run${deleted === 1 ? "" : "s"}\n`);
  return EXIT.OK;
}

/** `trace gc --dry-run`: what it would delete, newest first kept. */
export async function previewCollect(place: Place, limits: Limits, io: Io): Promise<number> {
  const { runs, total } = place.kind === "database" ? await withDatabase(place, ({ database }) => database.candidates()) : candidatesIn(place.layout);
  let bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  let left = total;
  const doomed = runs.filter((run) => {
    const goes = left > limits.maxRuns || run.started_at < limits.before || bytes > limits.maxPayloadBytes;
    if (goes) {
      left -= 1;
      bytes -= run.bytes;
    }
    return goes;
  });
  for (const run of doomed) io.stdout.write(`${run.run_id}\n`);
  io.stdout.write(`would delete ${doomed.length} of ${total} runs\n`);
  return EXIT.OK;
}

function candidatesIn(layout: Layout): { readonly runs: readonly Candidate[]; readonly total: number } {
  const db = new Database(layout.traces, { readonly: true });
  try {
    const runs = db
      .prepare<[], Candidate>("SELECT run_id, started_at, coalesce((SELECT sum(payload) FROM events WHERE root = key), 0) AS bytes FROM runs WHERE status <> 0 ORDER BY started_at, run_id")
      .all();
    return { runs, total: db.prepare<[], number>("SELECT count(*) FROM runs").pluck().get() ?? 0 };
  } finally {
    db.close();
  }
}

/** `trace doctor`: is everything there, whole and consistent? Exit code 1 when something is not. */
export async function examine(place: Place, io: Io): Promise<number> {
  if (place.kind === "directory" && !(await io.host.exists(place.layout.directory))) throw new TraceCommandError(`${place.layout.directory} does not exist; name another one with --data-dir`);
  const problems: string[] = [];
  const tell = (ok: boolean, what: string, help = ""): void => {
    io.stdout.write(`${ok ? "ok     " : "problem"}  ${what}${ok || help === "" ? "" : `\n         ${help}`}\n`);
    if (!ok) problems.push(what);
  };
  const verdict = (): number => {
    io.stdout.write(problems.length === 0 ? "everything is in order\n" : `${problems.length} problem${problems.length === 1 ? "" : "s"}\n`);
    return problems.length === 0 ? EXIT.OK : EXIT.FINDINGS;
  };
  if (place.kind === "database") {
    tell(true, nameOfPlace(place));
    for (const { ok, what } of await withDatabase(place, ({ database }) => database.examine())) tell(ok, what);
    return verdict();
  }
  const { layout } = place;
  const instance = await readInstance(layout.instance);
  if (instance !== null) tell(true, `a service uses it: ${instance.url ?? "no address"}, process ${instance.pid}`);
  const helps = {
    traces: "keep a copy of the file; what is readable can be taken over with: toolsrv trace export --all, then import into another directory",
    payloads: "delete the file to keep the runs without their payloads",
    index: "delete the file: it is made again from the other two at the next start",
  } as const;
  const sound: { [file: string]: boolean } = {};
  for (const file of ["traces", "payloads", "index"] as const) {
    const found = await io.host.exists(layout[file]);
    const said = found ? integrity(layout[file]) : "it is missing";
    sound[file] = said === "ok";
    tell(said === "ok", `${layout[file]}: ${said}`, found || file === "traces" ? helps[file] : "it is made again at the next start");
  }
  if (sound["traces"] === true) examineRuns(layout, sound["payloads"] === true, sound["index"] === true, tell);
  return verdict();
}

function integrity(path: string): string {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true });
    return String(db.pragma("integrity_check(1)", { simple: true })).split("\n")[0] ?? "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    db?.close();
  }
}

function examineRuns(layout: Layout, payloads: boolean, index: boolean, tell: (ok: boolean, what: string, help?: string) => void): void {
  const db = new Database(layout.traces, { readonly: true });
  try {
    const version = db.pragma("user_version", { simple: true });
    tell(version === SCHEMA_VERSION, `format ${String(version)}, this release knows ${SCHEMA_VERSION}`);
    if (version !== SCHEMA_VERSION) return;
    const one = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0;
    tell(true, `${one("SELECT count(*) FROM runs")} runs, ${one("SELECT count(*) FROM events")} events`);
    const lost = one("SELECT count(*) FROM events WHERE root NOT IN (SELECT key FROM runs UNION SELECT root FROM doomed)");
    tell(lost === 0, `${lost} events without a run`);
    const steps = one("SELECT count(*) FROM (SELECT key, steps FROM runs WHERE steps <> (SELECT count(*) FROM events WHERE root = key))");
    tell(steps === 0, `${steps} runs whose count of events is wrong`);
    const undescribed = one("SELECT count(*) FROM events WHERE details = 1 AND root IN (SELECT key FROM runs) AND block NOT IN (SELECT block FROM details)");
    tell(undescribed === 0, `${undescribed} events whose summary is missing`);
    if (payloads) {
      db.prepare("ATTACH ? AS p").run(layout.payloads);
      const live = "root IN (SELECT key FROM runs)";
      const missing = one(
        `SELECT count(*) FROM events WHERE payload IS NOT NULL AND ${live} AND seq NOT IN (SELECT seq FROM p.payloads) AND (block IS NULL OR block NOT IN (SELECT block FROM p.blocks))`,
      );
      tell(missing === 0, `${missing} events whose payload is missing`, "these payloads can't be shown any more");
      const orphans = one(
        "SELECT (SELECT count(*) FROM p.payloads WHERE seq NOT IN (SELECT seq FROM events)) + " +
          "(SELECT count(*) FROM p.blocks WHERE block NOT IN (SELECT block FROM events WHERE block IS NOT NULL UNION SELECT block FROM spent))",
      );
      tell(orphans === 0, `${orphans} payloads without an event`, "they go at the next start");
    }
    if (index) {
      db.prepare("ATTACH ? AS i").run(layout.index);
      const behind = one("SELECT max(0, coalesce((SELECT max(seq) FROM events), 0) - coalesce((SELECT seq FROM i.progress WHERE name = 'text'), 0))");
      tell(true, `search is ${behind} events behind`);
    }
  } finally {
    db.close();
  }
}
