/** An output folder against what a build would write there; nothing is written. */
import type { Host } from "../host.js";
import { unifiedDiff } from "../edit/unified-diff.js";
import { foreignModules } from "./foreign.js";
import { scriptPaths, transpile, withScripts } from "./transpile.js";
import { readPresent, type Texts } from "./write.js";

export interface OutputCheck {
  /** Missing, edited and stale files by path, as unified diffs. */
  readonly drift: ReadonlyMap<string, string>;
  /** What imports can reach in the folder and is not of the build. */
  readonly foreign: readonly string[];
  /** Texts of the files in the folder. */
  readonly present: Texts;
}

/** Compares bytes. Scripts count only where they are present: they are not reviewed and usually not committed. */
export async function checkOutput(host: Pick<Host, "read" | "exists" | "entries">, out: string, files: Texts, resolved?: RegExp): Promise<OutputCheck> {
  const { texts, own } = await readPresent(host, out, files);
  const expected = new Map([...files, ...(await transpile(new Map([...files].filter(([path]) => scriptPaths(path).some((made) => texts.has(made))))))]);
  const drift = new Map<string, string>();
  for (const path of new Set([...withScripts(files.keys()), ...own])) {
    const [before, after] = [texts.get(path) ?? null, expected.get(path) ?? null];
    const absentScript = before === null && !files.has(path);
    if (!absentScript && before !== after) drift.set(path, unifiedDiff({ path, text: before }, { path, text: after }));
  }
  return { drift, foreign: await foreignModules(host, out, files.keys(), resolved), present: texts };
}
