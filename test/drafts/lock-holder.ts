/**
 * A process that locks a file. Usage: lock-holder FILE keep|count. "keep" has the lock until the process is killed and says
 * when it has it; "count" says that it runs, then adds 1 to the number in the file 50 times, each time under the lock.
 */
import { readFile, writeFile } from "node:fs/promises";
import { withLock } from "../../generator/drafts/lock.js";
import { nodeHost } from "../../generator/host.js";

const [path = "", does = "keep"] = process.argv.slice(2);
const host = nodeHost();

if (does === "keep") {
  await withLock(host, path, async () => {
    process.stdout.write("locked\n");
    await host.sleep(600_000);
  });
} else {
  process.stdout.write("runs\n");
  for (let times = 0; times < 50; times += 1) {
    await withLock(host, path, async () => writeFile(path, String(Number(await readFile(path, "utf8")) + 1)), 60_000);
  }
}
