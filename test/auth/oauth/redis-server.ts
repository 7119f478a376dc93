/** A Redis server for one test file: on a free port, without files, ended with the file. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { createClient } from "redis";

/** Why there is none, or `null`. */
export const noRedis: string | null = spawnSync("redis-server", ["--version"]).status === 0 ? null : "redis-server is not installed (apt-get install redis-server)";

export interface TestRedis {
  readonly url: string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  restart(): Promise<void>;
  /** Stops answering, with connections open. */
  freeze(): void;
  thaw(): void;
  /** Everything that is stored, as text. */
  dump(): Promise<string>;
}

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child = await launch(port, url);
  return {
    url,
    async kill() {
      child.kill("SIGCONT");
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await ended;
    },
    async restart() {
      child = await launch(port, url);
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async dump() {
      const client = await createClient({ url }).connect();
      const script = "local all = {} for _, k in ipairs(redis.call('KEYS', '*')) do local t = redis.call('TYPE', k).ok local v = '' if t == 'string' then v = redis.call('GET', k) elseif t == 'hash' then v = table.concat(redis.call('HGETALL', k), ' ') elseif t == 'list' then v = table.concat(redis.call('LRANGE', k, 0, -1), ' ') elseif t == 'zset' then v = table.concat(redis.call('ZRANGE', k, 0, -1), ' ') end table.insert(all, k .. ' ' .. v) end return table.concat(all, '\\n')";
      const text = String(await client.eval(script));
      client.destroy();
      return text;
    },
  };
}

async function launch(port: number, url: string): Promise<ChildProcess> {
  const child = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], { stdio: "ignore" });
  const client = createClient({ url, socket: { reconnectStrategy: 20 } });
  client.on("error", () => undefined);
  await client.connect();
  await client.ping();
  client.destroy();
  return child;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
