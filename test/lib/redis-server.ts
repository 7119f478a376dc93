/** A Redis of its own for a test: started on a free port, without files, stopped and started again at will. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createClient } from "redis";

/** Why there is no Redis, for the message of a skipped test; `null` where there is one. */
export const NO_REDIS: string | null = spawnSync("redis-server", ["--version"]).status === 0 ? null : "there is no redis-server (Debian: apt-get install redis-server)";

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Ends it at once, with every connection. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  start(): Promise<void>;
  /** Stops and continues its process: connections stay, and nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Everything that is stored, as text. */
  dump(): Promise<string>;
}

export async function startRedis(password?: string): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | null = null;
  const server: RedisServer = {
    port,
    url: `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${port}`,
    async start() {
      const words = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...(password === undefined ? [] : ["--requirepass", password])];
      const started = spawn("redis-server", words, { stdio: ["ignore", "pipe", "inherit"] });
      child = started;
      let said = "";
      await new Promise<void>((resolve, reject) => {
        started.stdout.setEncoding("utf8").on("data", (text: string) => {
          said += text;
          if (said.includes("Ready to accept connections")) resolve();
        });
        started.once("exit", () => reject(new Error(`redis-server ended: ${said}`)));
      });
    },
    async kill() {
      child?.kill("SIGCONT");
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    async dump() {
      const client = await createClient({ url: server.url }).connect();
      const text = String(await client.eval(DUMP));
      client.destroy();
      return text;
    },
  };
  await server.start();
  return server;
}

/** Keys and values of every type that the product stores. */
const DUMP = `
local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', key).ok, ''
  if kind == 'string' then value = redis.call('GET', key)
  elseif kind == 'hash' then value = table.concat(redis.call('HGETALL', key), ' ')
  elseif kind == 'list' then value = table.concat(redis.call('LRANGE', key, 0, -1), ' ')
  elseif kind == 'zset' then value = table.concat(redis.call('ZRANGE', key, 0, -1), ' ') end
  table.insert(all, key .. ' ' .. value)
end
return table.concat(all, '\\n')
`;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
