/** The store that the settings name; the code of the other one is not loaded. */
import { rm, writeFile } from "node:fs/promises";
import { makeFolder } from "../../base/make-folder.js";
import { dataDirectory, type Settings } from "../settings.js";
import type { Prices } from "../record/prices.js";
import { layoutOf } from "./sqlite/schema.js";
import type { TraceStore } from "./store.js";

export interface OpenOptions {
  readonly log: (level: "warn" | "error", message: string) => void;
  /** The store's threads died: nothing works any more. */
  readonly onDeath: (error: Error) => void;
}

/** @throws StoreOpenError when the store can't be opened: what is wrong and what to do; SettingError without a place for it. */
export async function openStore(settings: Settings, { log, onDeath }: OpenOptions): Promise<TraceStore> {
  const recording = { sampleRate: settings.sample_rate, eventCap: settings.per_run_event_cap, prices: settings.model_prices as Prices };
  const shared = { ...recording, log, onDeath };
  if (settings.store === "postgres") {
    const { openPostgresStore } = await import("./postgres/index.js");
    return openPostgresStore({ ...shared, fullBatch: settings.worker_batch_size, url: settings.store_url ?? "", schema: settings.store_schema, connections: settings.db_pool_size });
  }
  const { openSqliteStore } = await import("./sqlite/index.js");
  return openSqliteStore({ ...shared, layout: layoutOf(dataDirectory(settings), settings.db_filename, settings.blob_subdir), readers: settings.db_pool_size });
}

/** Writes the pid and address of this service into its data directory, for a command that finds it in use; a database needs no such note. Returns what removes it. */
export async function leaveNote(settings: Settings, note: { readonly pid: number; readonly url: string | null }): Promise<() => Promise<void>> {
  if (settings.store !== "sqlite") return () => Promise.resolve();
  const { directory, instance } = layoutOf(dataDirectory(settings), settings.db_filename, settings.blob_subdir);
  makeFolder(directory, 0o700);
  await writeFile(instance, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  return () => rm(instance, { force: true });
}
