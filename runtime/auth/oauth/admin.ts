/** What an operator does with the login store from the command line. */
import { existsSync } from "node:fs";
import type { Log } from "../../observe/log.js";
import { rotateSecret } from "./access-secret.js";
import { openStore, type StoreOptions } from "./open-store.js";
import type { AuthStore, Login } from "./store.js";

export interface AdminOptions {
  readonly store: StoreOptions;
  /** Folder of the access-secret file. */
  readonly stateFolder: string;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Writes a new access secret and ends every login. @returns the file of the secret. @throws StoreUnavailable, StartError */
export function rotate(options: AdminOptions): Promise<string> {
  return withStore(options, (store) => rotateSecret(store, options.stateFolder));
}

/** Ends every login. False: there is no store yet, so there was nothing to end. @throws StoreUnavailable, StartError */
export async function revokeAll(options: AdminOptions): Promise<boolean> {
  if (!exists(options.store)) return false;
  await withStore(options, (store) => store.dropTokens());
  return true;
}

/** The latest logins, newest first; `null` when there is no store yet. @throws StoreUnavailable, StartError */
export async function latestLogins(options: AdminOptions, limit: number): Promise<readonly Login[] | null> {
  return exists(options.store) ? withStore(options, (store) => store.logins(limit)) : null;
}

/** Opening a file makes it; looking must not. */
function exists(store: StoreOptions): boolean {
  return store.kind !== "sqlite" || existsSync(store.file);
}

async function withStore<T>({ store: location, log, now }: AdminOptions, work: (store: AuthStore) => Promise<T>): Promise<T> {
  const store = await openStore(location, log, now);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
