/** A thousand clients at once for a minute: nothing fails, and nothing is kept. */
import { atMost, median, type BenchCase } from "../lib/case.js";
import { serverFile } from "../lib/files.js";
import { load } from "../lib/load.js";
import { residentBytes, startServer } from "../lib/process.js";
import { CALL, HEADERS } from "../lib/program.js";

const CLIENTS = 1000;
const SECONDS = 60;
const SAMPLE_MS = 500;

export const soak: BenchCase = {
  name: "soak",
  summary: "1,000 concurrent clients for 60 seconds",
  method: "Each client sends its next call when it has the answer. Memory is sampled twice a second; flat means that the median of the last third is at most 5 % above that of the middle third.",
  async run() {
    const server = await startServer(serverFile("toolsrv"));
    const samples: number[] = [];
    const timer = setInterval(() => samples.push(residentBytes(server.pid) / 1e6), SAMPLE_MS);
    try {
      const { errors, perSecond, p99Ms } = await load({ port: server.port, body: CALL, headers: HEADERS, connections: CLIENTS, seconds: SECONDS });
      clearInterval(timer);
      const third = Math.floor(samples.length / 3);
      const [before, after] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
      return [
        atMost("errors, 1,000 clients for 60 s", errors, 0, "errors", [`${Math.round(perSecond).toLocaleString("en-US")} calls/s, p99 ${p99Ms.toFixed(0)} ms`]),
        atMost("memory, last 20 s over the 20 s before", after / before, 1.05, "×", [`${before.toFixed(0)} MB, then ${after.toFixed(0)} MB`]),
      ];
    } finally {
      clearInterval(timer);
      await server.stop();
    }
  },
};
