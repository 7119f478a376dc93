/** Writes proposed scenarios as a file that people read; never over a file that somebody wrote. */
import { resolve } from "node:path";
import { stringify } from "yaml";
import { UsageError, type Io } from "../cli/command.js";
import { writeOutput } from "../cli/write-output.js";
import { visible } from "../drafts/untrusted.js";

const MARK = "# Proposed by toolsrv eval";

/** @throws UsageError when there is another file in the place. */
export async function writeProposals(path: string, how: string, scenarios: readonly object[], notes: readonly string[], io: Io): Promise<void> {
  await refuseForeign(path, io);
  const head = [`${MARK} ${how}. Read each one, change it as you like, and move what you keep to a file of your own:`, "# this one is written over by the next run.", ...notes.map((note) => `# ${visible(note)}`)];
  await writeOutput(path, `${head.join("\n")}\n${stringify({ scenarios }, { lineWidth: 120, aliasDuplicateObjects: false, version: "1.1" })}`, io);
}

/** Asked before the work as well, so that it is not done in vain. */
export async function refuseForeign(path: string, io: Io): Promise<void> {
  const bytes = await io.host.read(resolve(io.cwd, path));
  if (bytes !== null && !Buffer.from(bytes).toString("utf8").startsWith(MARK)) throw new UsageError(`'${path}' is not a file of proposals; name another one with --out`);
}
