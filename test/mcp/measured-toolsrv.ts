/** The command line as a process that says on SIGUSR2 what it holds: `node --expose-gc measured-toolsrv.js serve …`. */
import { readdirSync } from "node:fs";
import { main } from "../../generator/cli/main.js";

/** Polling may have begun to read a file again: that is no resource that is kept, so it is waited for. */
function measure(): void {
  if (process.getActiveResourcesInfo().includes("FSReqPromise")) return void setImmediate(measure);
  globalThis.gc?.();
  globalThis.gc?.();
  const fds = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  // Reading the folder holds a descriptor of its own, each time the same number.
  const held = { heap: process.memoryUsage().heapUsed, resources: process.getActiveResourcesInfo().filter((name) => name !== "Timeout" && name !== "Immediate").sort(), fds };
  process.stderr.write(`held ${JSON.stringify(held)}\n`);
}

process.on("SIGUSR2", measure);

await main();
