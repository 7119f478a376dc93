/** One key from a run to its comparison with the one before it. */
import { messageOf } from "../data/api.js";
import type { RunPage } from "../model/types.js";
import type { App } from "../state/app.js";
import type { RunStore } from "../state/run.js";

/** Opens the comparison with the previous run of the same name; why it can't is shown with the run. */
export async function compareWithPrevious(app: App, store: RunStore): Promise<void> {
  const run = store.run.peek();
  if (run === null) return;
  try {
    store.problem.value = null;
    const page = run.name === null ? null : await app.api.get<RunPage>("runs", { extended: 1, limit: 1, name: run.name, to: run.started_at });
    const previous = page?.runs[0];
    if (previous === undefined) store.problem.value = "There is no earlier run of this name.";
    else app.show("compare", { pair: [previous.run_id, run.run_id] });
  } catch (failure) {
    store.problem.value = messageOf(failure);
  }
}
