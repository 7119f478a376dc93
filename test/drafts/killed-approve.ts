/**
 * `toolsrv approve` in a process of its own that kills itself at one of its changes of the disk: before it, in the middle
 * of a write, or after it. Usage: killed-approve FOLDER NAME STEP before|middle|after. STEP 0 kills nothing and prints how
 * many changes there were.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";

const [folder = "", name = "", stepText = "0", when = "before"] = process.argv.slice(2);
const step = Number(stepText);
let changes = 0;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Runs one change of the disk, or dies at it. */
async function change(middle: (() => Promise<unknown>) | null, whole: () => Promise<unknown>): Promise<unknown> {
  changes += 1;
  if (changes !== step) return whole();
  if (when === "middle" && middle !== null) await middle();
  if (when === "after") await whole();
  process.kill(process.pid, "SIGKILL");
  // The signal comes before any other code of this process runs.
  return new Promise(() => undefined);
}

const half = (data: unknown): unknown => (typeof data === "string" ? data.slice(0, data.length / 2) : data instanceof Uint8Array ? data.subarray(0, data.length / 2) : data);

// The same object that `import … from "node:fs/promises"` sees after the sync.
const fs = createRequire(import.meta.url)("node:fs/promises") as { [name: string]: Call };
for (const method of ["rename", "rm", "writeFile"]) {
  const real = fs[method] as Call;
  fs[method] = (...args) => change(method === "writeFile" ? () => real(args[0], half(args[1]), args[2]) : null, () => real(...args));
}
const open = fs["open"] as Call;
fs["open"] = async (...args) => {
  const file = (await change(null, () => open(...args))) as { [name: string]: Call };
  for (const method of ["writeFile", "chmod", "sync"]) {
    const real = (file[method] as Call).bind(file);
    file[method] = (...words) => change(method === "writeFile" ? () => real(half(words[0])) : null, () => real(...words));
  }
  return file;
};
syncBuiltinESMExports();

const { run } = await import("../../generator/cli/main.js");
const { memoryIo } = await import("../lib/io.js");
const io = memoryIo({ cwd: folder, env: { USER: "ana" } });
const code = await run(["approve", name], io);
process.stderr.write(io.err());
process.stdout.write(`${changes}\n`);
process.exitCode = code;
