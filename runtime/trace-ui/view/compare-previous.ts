/** One key from a run to its comparison with the one before it. */
import type { RunPage } from "../model/types.js";
import type { App } from "../state/app.js";
import type { RunStore } from "../state/run.js";

/** Opens the comparison with the previous run of the same name. Returns why it can't, or `null`. */
export async function compareWithPrevious(app: App, store: RunStore): Promise<string | null> {
  const run = store.run.peek();
  if (run === null) return null;
  const page = await app.api.get<RunPage>("runs", { extended: 1, limit: 1, name: run.name, to: run.started_at });
  const [previous] = page.runs;
  if (previous === undefined) return "There is no earlier run of this name.";
  app.show("compare", { pair: [previous.run_id, run.run_id] });
  return null;
}
