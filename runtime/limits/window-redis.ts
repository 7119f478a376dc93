/**
 * Windows counted in Redis, for several replicas: one script, so one round trip, for all windows of a call. A window is
 * a list of the times of its calls by the clock of Redis, the oldest first. The client library is optional.
 */
import { BackendError, ToolError } from "../abi/errors.js";
import { within } from "../base/within.js";
import type { Window, WindowRefusal, WindowStore } from "./window.js";

/** Longest a call waits for its windows. */
const TAKE_MS = 250;
/** Longest the first calls wait for the connection. */
const CONNECT_MS = 1000;
/** A connection that has answered nothing for so long is given up for a new one. */
const SILENT_MS = 2000;
const MAX_RECONNECT_MS = 1000;
/** Calls that wait for one connection. */
const MAX_WAITING = 1000;

/**
 * KEYS: windows; ARGV: limit and milliseconds of each. Answers {0, 0} when the call is counted in all of them, else the
 * position of the window that is full the longest and the milliseconds until it has room; then nothing is counted.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local worst, wait = 0, 0
for i, key in ipairs(KEYS) do
  local limit, window = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local count = redis.call('LLEN', key)
  while count > 0 and tonumber(redis.call('LINDEX', key, 0)) + window <= now do
    redis.call('LPOP', key)
    count = count - 1
  end
  if count >= limit then
    local left = tonumber(redis.call('LINDEX', key, count - limit)) + window - now
    if left > wait then worst, wait = i, left end
  end
end
if worst > 0 then return {worst, wait} end
for i, key in ipairs(KEYS) do
  redis.call('RPUSH', key, now)
  redis.call('PEXPIRE', key, ARGV[2 * i])
end
return {0, 0}
`;

/** What is used of the client library. */
interface Client {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: "error" | "ready", listener: (error: unknown) => void): unknown;
  scriptLoad(script: string): Promise<string>;
  evalSha(sha: string, options: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>;
}

type CreateClient = (options: object) => Client;

export interface RedisWindowsOptions {
  /** redis:// or rediss://; a secret. */
  readonly url: string;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Called when the store stops answering, and when it answers again. */
  readonly changed: (state: "down" | "up", cause: unknown) => void;
  /** Imports the client library. */
  readonly find?: (name: string) => Promise<unknown>;
}

export class RedisWindows implements WindowStore {
  private create: Promise<CreateClient> | null = null;
  private client: Client | null = null;
  private ready: Promise<void> = Promise.resolve();
  private sha: string | null = null;
  private down = false;
  private closed = false;
  private waiting = 0;
  /** When the connection last answered, or was asked after a time without questions. */
  private heardAt = 0;

  constructor(private readonly options: RedisWindowsOptions) {}

  async take(windows: readonly Window[]): Promise<WindowRefusal | null> {
    try {
      const [position, retryAfterMs] = await this.ask(windows);
      this.report("up", null);
      const window = windows[position - 1];
      return window === undefined ? null : { window, retryAfterMs };
    } catch (cause) {
      if (cause instanceof ToolError) throw cause;
      this.report("down", cause);
      throw new BackendError("unreachable", "redis", "the store of the rate limits does not answer, so calls are refused until it does (security.rate_limit.on_store_error)", { cause });
    }
  }

  async prepare(): Promise<void> {
    await this.library();
    if (this.client === null) await this.open();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.drop();
  }

  private async ask(windows: readonly Window[]): Promise<readonly [position: number, retryAfterMs: number]> {
    if (this.closed) throw new Error("the counters are closed");
    if (this.client === null) await this.open();
    const { client } = this;
    if (client === null) throw new Error("the counters are closed");
    if (!client.isReady) await within(CONNECT_MS, this.ready);
    if (this.waiting >= MAX_WAITING) throw new Error(`${MAX_WAITING} calls wait for an answer`);
    if (this.waiting === 0) this.heardAt = this.options.now();
    this.waiting += 1;
    const asked = this.run(client, windows).finally(() => (this.waiting -= 1));
    try {
      const answer = await within(TAKE_MS, asked);
      this.heardAt = this.options.now();
      return readAnswer(answer);
    } catch (error) {
      // A connection whose other end has vanished without a word says nothing for a quarter of an hour.
      if (client === this.client && this.options.now() - this.heardAt > SILENT_MS) this.drop();
      throw error;
    }
  }

  /** By its digest; Redis may have forgotten the script, after a restart for one. */
  private async run(client: Client, windows: readonly Window[]): Promise<unknown> {
    const options = { keys: windows.map(({ key }) => key), arguments: windows.flatMap(({ limit, windowMs }) => [String(limit), String(windowMs)]) };
    if (this.sha === null) this.sha = await client.scriptLoad(SCRIPT);
    try {
      return await client.evalSha(this.sha, options);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return client.eval(SCRIPT, options);
    }
  }

  /** Makes the one connection of this process; the library opens it again whenever it breaks. */
  private async open(): Promise<void> {
    const create = await this.library();
    if (this.client !== null || this.closed) return;
    const client = create({
      url: this.options.url,
      // Without it calls would be counted when the store is back, long after their callers have gone.
      disableOfflineQueue: true,
      socket: { connectTimeout: CONNECT_MS, reconnectStrategy: (retries: number) => Math.min(50 * 2 ** retries, MAX_RECONNECT_MS) },
    });
    this.client = client;
    let lastError: unknown = new Error("no connection");
    client.on("error", (error) => (lastError = error));
    this.ready = new Promise((resolve, reject) => {
      client.on("ready", () => resolve());
      // Calls wait for the first attempt; while the store is down the later ones are refused at once.
      client.connect().then(() => resolve(), reject);
      setTimeout(() => reject(lastError), CONNECT_MS).unref();
    });
    this.ready.catch(() => undefined);
  }

  private drop(): void {
    const { client } = this;
    this.client = null;
    this.sha = null;
    try {
      client?.destroy();
    } catch {
      // It was closed already.
    }
  }

  private library(): Promise<CreateClient> {
    this.create ??= loadLibrary(this.options.find ?? ((name) => import(name)));
    return this.create;
  }

  private report(state: "down" | "up", cause: unknown): void {
    if (this.down === (state === "down") || this.closed) return;
    this.down = state === "down";
    this.options.changed(state, cause);
  }
}

async function loadLibrary(find: (name: string) => Promise<unknown>): Promise<CreateClient> {
  try {
    return ((await find("redis")) as { readonly createClient: CreateClient }).createClient;
  } catch (error) {
    throw new ToolError("tds_invalid", "security.rate_limit.store redis needs the package redis, which cannot be loaded; run: npm i redis", {}, { cause: error });
  }
}

function readAnswer(answer: unknown): readonly [position: number, retryAfterMs: number] {
  const [position, retryAfterMs] = Array.isArray(answer) ? (answer as readonly unknown[]).map(Number) : [];
  if (position === undefined || retryAfterMs === undefined || !Number.isInteger(position) || !Number.isFinite(retryAfterMs)) throw new Error("the script's answer is not understood");
  return [position, retryAfterMs];
}
