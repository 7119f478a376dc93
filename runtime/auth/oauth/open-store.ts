/** Opens the store that the options name; its package is loaded for it alone. */
import type { Log } from "../../observe/log.js";
import type { BuiltinOptions } from "../service.js";
import type { AuthStore } from "./store.js";

export type StoreOptions = BuiltinOptions["store"];

/** @throws StoreUnavailable, or StartError when a package is missing. */
export async function openStore(options: StoreOptions, log: Log, now: () => number): Promise<AuthStore> {
  switch (options.kind) {
    case "sqlite":
      return (await import("./sqlite-store.js")).openSqliteStore(options.file, now);
    case "redis":
      return (await import("./redis-store.js")).openRedisStore(options.url, log, now);
    default:
      return options satisfies never;
  }
}
