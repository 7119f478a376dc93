/** What rate limits cost a call: counted in memory, and in a Redis beside the server, against none. */
import { versus, type BenchCase, type Row } from "../lib/case.js";
import { compare } from "../lib/compare.js";
import { serverFile } from "../lib/files.js";
import { CALL, HEADERS } from "../lib/program.js";
import { NO_REDIS, startRedis } from "../../test/lib/redis-server.js";

const LOAD = { body: CALL, headers: HEADERS, connections: 64 } as const;
const PEER = { file: serverFile("toolsrv"), args: ["6"] } as const;

export const limits: BenchCase = {
  name: "limits",
  summary: "tools/call with rate limits of the server, the caller and the tool, against none",
  method: "64 connections, rounds of two seconds a side in turns of a tenth of a second; both sides are toolsrv with the same tool without a store. Three windows are counted for each call, with limits that the load does not reach. Redis runs on the same machine and takes its share of it.",
  async run() {
    const memory = await compare({ ours: { file: serverFile("toolsrv-limited"), args: ["memory"] }, peer: PEER, rounds: 7, ...LOAD });
    return [versus("tools/call with limits in memory", "no limits", "/s", memory.perSecond, { atLeast: 0.97 }, memory.notes), await inRedis()];
  },
};

const IN_REDIS = "tools/call with limits in Redis";

async function inRedis(): Promise<Row> {
  if (NO_REDIS !== null) return { what: IN_REDIS, skipped: NO_REDIS };
  const redis = await startRedis();
  try {
    const { perSecond, notes } = await compare({ ours: { file: serverFile("toolsrv-limited"), args: ["redis", redis.url] }, peer: PEER, rounds: 3, ...LOAD });
    return versus(IN_REDIS, "no limits", "/s", perSecond, null, notes);
  } finally {
    await redis.kill();
  }
}
