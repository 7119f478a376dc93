/** Data directories as the commands use them: opened for reading beside a running service, for writing only without one. */
import { join, resolve } from "node:path";
import { readInstance } from "../../runtime/trace/service.js";
import { environmentSettings } from "../../runtime/trace/settings.js";
import { Indexer } from "../../runtime/trace/store/sqlite/indexer.js";
import { createWriteLock } from "../../runtime/trace/store/sqlite/lock.js";
import { SqliteReader } from "../../runtime/trace/store/sqlite/reader.js";
import { type Layout, layoutOf } from "../../runtime/trace/store/sqlite/schema.js";
import { SqliteWriter } from "../../runtime/trace/store/sqlite/writer.js";
import type { Invocation, Io } from "../cli/command.js";

/** A command can't do its work for a reason that the user can mend: one line, exit code 1. */
export class TraceCommandError extends Error {
  override readonly name = "TraceCommandError";
}

/** The directory of `--data-dir`, the variable, or the default. Nothing else of the settings matters to a command that only reads. */
export function layoutFor({ options }: Pick<Invocation, "options">, io: Pick<Io, "env" | "cwd">, fallback = "trace"): Layout {
  const given = environmentSettings(io.env);
  const flag = options["data-dir"];
  const directory = typeof flag === "string" ? flag : (textOf(given["data_dir"]) ?? join(io.env["HOME"] ?? io.cwd, ".toolsrv", fallback));
  return layoutOf(resolve(io.cwd, directory), textOf(given["db_filename"]), textOf(given["blob_subdir"]));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** @throws TraceCommandError when the directory holds no traces. */
export async function withReader<T>(layout: Layout, io: Pick<Io, "host">, work: (reader: SqliteReader) => Promise<T> | T): Promise<T> {
  if (!(await io.host.exists(layout.traces))) throw new TraceCommandError(`${layout.directory} holds no traces; name another one with --data-dir`);
  const reader = new SqliteReader(layout);
  try {
    return await work(reader);
  } finally {
    reader.close();
  }
}

export interface LocalWriter {
  readonly writer: SqliteWriter;
  /** Brings the index up to date and overwrites what was deleted. */
  settle(): void;
}

/** @throws TraceCommandError when a service uses the directory. */
export async function withWriter<T>(layout: Layout, io: Pick<Io, "host">, work: (local: LocalWriter) => Promise<T> | T): Promise<T> {
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
    const settle = (): void => {
      step();
      while (writer.erase(500));
      step();
    };
    try {
      return await work({ writer, settle });
    } finally {
      indexer.close();
      writer.close();
    }
  } finally {
    lock.release();
  }
}

/** Every step of a run, in the order of its journey. */
export function* eachStep(reader: SqliteReader, runId: string, options: { readonly payloads?: boolean; readonly sinceSeq?: number } = {}): Generator<{ readonly [field: string]: unknown }> {
  let cursor: string | null = null;
  do {
    const page: ReturnType<SqliteReader["steps"]> = reader.steps({
      runId, cursor, limit: 1000, extended: true, payloads: options.payloads === true, separator: "\n", sinceSeq: options.sinceSeq ?? 0, untilSeq: Number.MAX_SAFE_INTEGER,
    });
    for (const line of page?.text.split("\n") ?? []) if (line !== "") yield JSON.parse(line) as { [field: string]: unknown };
    cursor = page?.next ?? null;
  } while (cursor !== null);
}
