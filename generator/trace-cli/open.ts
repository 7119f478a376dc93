/**
 * Traces as the commands use them, in a data directory or a database. A directory is opened for reading beside a running
 * service, for writing only without one; a database can be read and written beside any number of services.
 */
import { resolve } from "node:path";
import { readInstance } from "../../runtime/trace/service.js";
import { settingsOf } from "../../runtime/serve/trace.js";
import { createRedactor, type Detector, type Redactor } from "../../runtime/trace/ingest/redact.js";
import { defaultDirectory, environmentSettings, flagOf, NO_DATA_DIRECTORY, PREFIX, resolveSettings, SettingError, type SettingName, type Settings } from "../../runtime/trace/settings.js";
import type { components } from "../../runtime/trace/api.types.gen.js";
import type { Incoming, Run, RunExtended } from "../../runtime/trace/model.js";
import type { DatabaseOptions } from "../../runtime/trace/store/postgres/driver.js";
import type { OpenDatabase } from "../../runtime/trace/store/postgres/command.js";
import type { RunFacts } from "../../runtime/trace/record/run-state.js";
import { Indexer } from "../../runtime/trace/store/sqlite/indexer.js";
import { localReader } from "../../runtime/trace/store/sqlite/local-reader.js";
import { createWriteLock } from "../../runtime/trace/store/sqlite/lock.js";
import { SqliteReader } from "../../runtime/trace/store/sqlite/reader.js";
import { type Layout, layoutOf } from "../../runtime/trace/store/sqlite/schema.js";
import { SqliteWriter } from "../../runtime/trace/store/sqlite/writer.js";
import type { BatchOutcome, Retention, RunListQuery, StoreStats, TraceReader } from "../../runtime/trace/store/store.js";
import { type Invocation, type Io, UsageError } from "../cli/command.js";

/** A command can't do its work for a reason that the user can mend: one line, exit code 1. */
export class TraceCommandError extends Error {
  override readonly name = "TraceCommandError";
}

/** Where traces are. */
export type Place = { readonly kind: "directory"; readonly layout: Layout } | { readonly kind: "database"; readonly database: DatabaseOptions; readonly name: string };

/**
 * Some of the service's settings, from flags, variables and the settings file; the others have their defaults, as a
 * command must not fail because of a setting that does not concern it. @throws UsageError
 */
function settingsFor({ options }: Pick<Invocation, "options">, { env, cwd }: Pick<Io, "env" | "cwd">, names: readonly SettingName[]): Settings {
  const config = textOf(options["config"]) ?? textOf(env[`${PREFIX}CONFIG`]);
  const pick = (value: (name: string) => unknown): { [name: string]: unknown } => Object.fromEntries(names.flatMap((name) => (value(name) === undefined ? [] : [[name, value(name)]])));
  return usable(() => {
    const variables = environmentSettings(env);
    const file = config === undefined ? {} : settingsOf(resolve(cwd, config));
    return resolveSettings(
      { from: flagOf, given: pick((name) => options[name.replaceAll("_", "-")]) },
      { from: (name) => `${PREFIX}${name.toUpperCase()}`, given: pick((name) => variables[name]) },
      { from: (name) => `${name} in ${config ?? ""}`, given: pick((name) => file[name]) },
    );
  });
}

/** What takes secrets out of imported events, as the service does at ingestion; `null` when nothing is looked for. @throws UsageError */
export function redactorFor(invocation: Pick<Invocation, "options">, io: Pick<Io, "env" | "cwd">): Redactor | null {
  const { redact_patterns, redact_detectors, redact_replacement } = settingsFor(invocation, io, ["redact_patterns", "redact_detectors", "redact_replacement"]);
  return createRedactor({ patterns: redact_patterns, detectors: redact_detectors as readonly Detector[], replacement: redact_replacement });
}

/** What `--store`, `--store-url`, `--store-schema` and `--data-dir`, their variables, the settings file or defaults name. @throws UsageError for a store that can't be one */
export async function placeFor(invocation: Pick<Invocation, "options">, io: Pick<Io, "env" | "cwd">, fallback?: string): Promise<Place> {
  const { options } = invocation;
  const { store, store_url, store_schema, db_filename, blob_subdir } = settingsFor(invocation, io, ["store", "store_url", "store_schema", "db_filename", "blob_subdir"]);
  if (store === "postgres") {
    const database = { url: store_url ?? "", schema: store_schema };
    const { placeOf } = await import("../../runtime/trace/store/postgres/driver.js");
    return { kind: "database", database, name: placeOf(database) };
  }
  const config = textOf(options["config"]) ?? textOf(io.env[`${PREFIX}CONFIG`]);
  const inFile = config === undefined ? undefined : textOf(settingsOf(resolve(io.cwd, config))["data_dir"]);
  const directory = textOf(options["data-dir"]) ?? textOf(io.env[`${PREFIX}DATA_DIR`]) ?? inFile ?? defaultDirectory(fallback, io.env["HOME"]);
  if (directory === null) throw new UsageError(NO_DATA_DIRECTORY);
  return { kind: "directory", layout: layoutOf(resolve(io.cwd, directory), db_filename, blob_subdir) };
}

function usable<T>(settings: () => T): T {
  try {
    return settings();
  } catch (error) {
    if (error instanceof SettingError) throw new UsageError(error.message);
    throw error;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A place for a person. */
export function nameOfPlace(place: Place): string {
  return place.kind === "directory" ? place.layout.directory : place.name;
}

/** The reads that commands need, parsed. */
export class CommandReader {
  constructor(private readonly reader: TraceReader) {}

  async runs(query: RunListQuery): Promise<{ readonly runs: readonly Run[]; readonly total: number }> {
    return JSON.parse(await this.reader.runs(query)) as { runs: Run[]; total: number };
  }

  async run(runId: string): Promise<RunExtended | null> {
    return JSON.parse((await this.reader.run(runId, true)) ?? "null") as RunExtended | null;
  }

  /** `null` when one of the runs is not there. */
  async compare(a: string, b: string): Promise<components["schemas"]["Comparison"] | null> {
    return JSON.parse((await this.reader.compare(a, b)) ?? "null") as components["schemas"]["Comparison"] | null;
  }

  stats(): Promise<StoreStats> {
    return this.reader.stats(true);
  }

  runIds(): Promise<readonly string[]> {
    return this.reader.runIds();
  }

  /** Every step of a run, in the order of its journey. */
  async *steps(runId: string, options: { readonly payloads?: boolean; readonly sinceSeq?: number } = {}): AsyncGenerator<{ readonly [field: string]: unknown }> {
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<TraceReader["steps"]>> = await this.reader.steps({
        runId, cursor, limit: 1000, extended: true, payloads: options.payloads === true, separator: "\n", sinceSeq: options.sinceSeq ?? 0, untilSeq: Number.MAX_SAFE_INTEGER,
      });
      for (const line of page?.text.split("\n") ?? []) if (line !== "") yield JSON.parse(line) as { [field: string]: unknown };
      cursor = page?.next ?? null;
    } while (cursor !== null);
  }
}

/** @throws TraceCommandError when there are no traces. */
export async function withReader<T>(place: Place, io: Pick<Io, "host">, work: (reader: CommandReader) => Promise<T>): Promise<T> {
  if (place.kind === "database") return withDatabase(place, async ({ reader }) => work(reader));
  const { layout } = place;
  if (!(await io.host.exists(layout.traces))) throw new TraceCommandError(`${layout.directory} holds no traces; name another one with --data-dir`);
  const reader = new SqliteReader(layout);
  try {
    return await work(new CommandReader(localReader(reader)));
  } finally {
    reader.close();
  }
}

/** The writes that commands need. */
export interface CommandWriter {
  write(events: readonly Incoming[]): Promise<BatchOutcome>;
  /** Sets what an export says of a run and its steps alone do not; false when there is no such run. */
  restore(runId: string, facts: RunFacts): Promise<boolean>;
  registerTools(server: string, tools: readonly string[]): Promise<number>;
  retain(limits: Retention): Promise<number>;
  /** Brings the index up to date and deletes what is left of deleted runs. */
  settle(): Promise<void>;
}

/** @throws TraceCommandError when a service uses the directory. */
export async function withWriter<T>(place: Place, io: Pick<Io, "host">, work: (writer: CommandWriter) => Promise<T>): Promise<T> {
  if (place.kind === "database") return withDatabase(place, ({ writer }) => work(writer), io.host.now);
  const { layout } = place;
  let lock;
  try {
    lock = createWriteLock(layout);
  } catch (error) {
    const instance = await readInstance(layout.instance);
    if (instance === null) throw error;
    throw new TraceCommandError(`${layout.directory} is in use by the service at ${instance.url ?? "no address"} (process ${instance.pid}); stop it first`);
  }
  try {
    const writer = new SqliteWriter({ layout, sampleRate: 1, eventCap: Number.MAX_SAFE_INTEGER, prices: {}, now: io.host.now });
    const indexer = new Indexer(layout, { merged: (seq) => writer.merged(seq), unindexed: (root) => writer.unindexed(root), copied: () => writer.restartLogs() });
    const step = (): void => {
      while (indexer.step(true));
    };
    const later = <A extends unknown[], R>(method: (...args: A) => R) => (...args: A): Promise<R> => Promise.resolve().then(() => method(...args));
    try {
      return await work({
        write: later((events: readonly Incoming[]) => writer.write(events)),
        restore: later((runId: string, facts: RunFacts) => writer.restore(runId, facts)),
        registerTools: later((server: string, tools: readonly string[]) => writer.registerTools(server, tools)),
        retain: later((limits: Retention) => writer.retain(limits)),
        settle: later(() => {
          step();
          while (writer.erase(500));
          step();
        }),
      });
    } finally {
      indexer.close();
      writer.close();
    }
  } finally {
    lock.release();
  }
}

/** A database for a command. With `now` it is written, and its tables are made when there are none. @throws TraceCommandError when it holds no traces */
export async function withDatabase<T>(
  { database, name }: Extract<Place, { kind: "database" }>, work: (open: { readonly reader: CommandReader; readonly writer: CommandWriter; readonly database: OpenDatabase }) => Promise<T>, now?: () => number,
): Promise<T> {
  const { openForCommand } = await import("../../runtime/trace/store/postgres/command.js");
  const open = await openForCommand(database, now);
  if (open === null) throw new TraceCommandError(`${name} holds no traces; name another one with --store-schema`);
  try {
    return await work({ reader: new CommandReader(open.reader), writer: open, database: open });
  } finally {
    await open.close();
  }
}
