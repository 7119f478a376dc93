/** What `build --check` decides. */
import type { Host } from "../host.js";
import type { PrintedCatalog, Unproven } from "../proof/printed.js";

/** What `--check` finds in an output folder. */
export interface Judgement {
  /** Files that differ from what a build would write, as diffs. */
  readonly drift: ReadonlyMap<string, string>;
  readonly foreign: readonly string[];
  readonly unproven: readonly Unproven[];
  /** Nothing of it: exit code 0, if the types are right. */
  readonly isSame: boolean;
}

/** Everything that `--check` decides about the output: its bytes, what imports can reach, and what its plans show. */
export async function judgeOutput(host: Pick<Host, "read" | "exists" | "entries">, out: string, files: ReadonlyMap<string, string>, plans: readonly PrintedCatalog[], readCatalog?: (text: string) => unknown): Promise<Judgement> {
  const { checkOutput } = await import("../5-emit/check-output.js");
  const { problemsOf } = await import("../proof/printed.js");
  const { drift, foreign, present } = await checkOutput(host, out, files);
  // What was printed has been proven; only other bytes need a proof of their own.
  const unproven = problemsOf(plans.filter(({ path }) => drift.has(path)), (path) => present.get(path) ?? null, readCatalog);
  return { drift, foreign, unproven, isSame: drift.size === 0 && foreign.length === 0 };
}
