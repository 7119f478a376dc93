/** The connection to Redis: the package is optional, commands fail at once while it is away, and none waits long. */
import { isRedisUrl } from "../../base/redis.js";
import { within } from "../../base/within.js";
import { EXIT, StartError } from "../../config/exit.js";
import type { Log } from "../../observe/log.js";
import { StoreUnavailable } from "./store.js";

const CONNECT_MS = 5000;
const ANSWER_MS = 2000;
const MAX_RECONNECT_MS = 2000;
const QUIET_MS = 60_000;

export interface RedisLink {
  /** Runs a script atomically. @throws StoreUnavailable */
  run(script: string, values: readonly string[]): Promise<unknown>;
  /** @throws StoreUnavailable */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** @throws StoreUnavailable when it does not answer, StartError when the package is missing or the address is none. */
export async function connect(url: string, log: Log): Promise<RedisLink> {
  const { createClient } = await loadRedis();
  if (!isRedisUrl(url)) throw new StartError("--redis-url is redis://HOST:PORT or rediss://HOST:PORT");
  let wasConnected = false;
  // A wrong address ends the start with its reason; an outage later is waited out.
  const reconnectStrategy = (tries: number, cause: Error): number | Error => (wasConnected ? Math.min(50 * 2 ** tries, MAX_RECONNECT_MS) : cause);
  const client = createClient({ url, disableOfflineQueue: true, socket: { connectTimeout: CONNECT_MS, reconnectStrategy } });
  client.on("error", quietly(log));
  await within(CONNECT_MS, client.connect()).catch((error: unknown) => {
    client.destroy();
    throw unavailable(error);
  });
  wasConnected = true;
  // The command may have been run all the same: the operations allow a repetition.
  const ask = <T>(answer: Promise<T>): Promise<T> => within(ANSWER_MS, answer).catch((error: unknown) => Promise.reject(unavailable(error)));
  return {
    run: (script, values) => ask(client.eval(script, { keys: [], arguments: [...values] })),
    ping: async () => void (await ask(client.ping())),
    close: async () => client.destroy(),
  };
}

async function loadRedis(): Promise<typeof import("redis")> {
  try {
    return await import("redis");
  } catch {
    throw new StartError("--auth-store redis needs the package redis; run: npm i redis", EXIT.USAGE);
  }
}

/** The address may have a password, so messages never name it. */
function unavailable(error: unknown): StoreUnavailable {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new StoreUnavailable(`Redis cannot be used: ${code || (error instanceof Error ? error.message : String(error))}`, { cause: error });
}

/** The package reports every attempt to reconnect. */
function quietly(log: Log): (error: unknown) => void {
  let until = 0;
  return (error) => {
    const at = performance.now();
    if (at < until) return;
    until = at + QUIET_MS;
    log.warn("the connection to Redis failed; trying again", { reason: unavailable(error).message });
  };
}
