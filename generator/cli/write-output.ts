/** Where commands put what they made. */
import { resolve } from "node:path";
import { UsageError, type Io } from "./command.js";

/** Writes a file that the user named. One that exists gets its content in one step: a full disk leaves the old content. */
export async function writeOutput(shown: string, text: string, { cwd, host }: Io): Promise<void> {
  const path = resolve(cwd, shown);
  // Devices and pipes have no size, and nothing can take their place.
  if ((await host.size(path)) === null) await host.write(path, text);
  else await host.replace(path, text);
}

/** Nothing is written over what the command reads: not the catalog, and not what it is compared with. @throws UsageError */
export async function refuseOverInputs(outs: readonly unknown[], inputs: readonly string[], { cwd, host }: Io): Promise<void> {
  const real = (shown: string): Promise<string> => host.realPath(resolve(cwd, shown));
  const read = new Set(await Promise.all(inputs.map(real)));
  for (const out of outs) if (typeof out === "string" && read.has(await real(out))) throw new UsageError(`'${out}' is read by this command and is not written; name another file`);
}
