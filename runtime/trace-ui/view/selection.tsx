/** What can be done with several runs at once. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { messageOf, removeRun } from "../data/api.js";
import { saveFile } from "../data/browser.js";
import { formatNumber } from "../model/format.js";
import type { Run } from "../model/types.js";
import { useApp } from "./context.js";

/** A filter may have hidden some of the runs since they were selected. */
function question(ids: readonly string[], runs: readonly Run[]): string {
  const shown = new Set(runs.map((run) => run.run_id));
  const hidden = ids.filter((id) => !shown.has(id)).length;
  return `Delete with all payloads${hidden === 0 ? "" : `, ${formatNumber(hidden)} not in this list too`}?`;
}

export function SelectionTools(): JSX.Element {
  const app = useApp();
  const selected = app.selection.value;
  const sure = useSignal(false);
  const busy = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null);
  if (selected === null) return <button type="button" class="link" onClick={() => (app.selection.value = new Set())}>Select</button>;
  const ids = [...selected];
  const each = async (word: string, work: (id: string) => Promise<void>): Promise<void> => {
    problem.value = null;
    try {
      for (const [index, id] of ids.entries()) {
        busy.value = `${word} ${index + 1} of ${ids.length}`;
        await work(id);
      }
    } catch (failure) {
      problem.value = messageOf(failure);
    }
    busy.value = null;
  };
  const exportAll = async (): Promise<void> => {
    const parts: Blob[] = [];
    await each("Reading", async (id) => void parts.push(await app.api.download(`runs/${encodeURIComponent(id)}/export`, { include: "payloads" })));
    if (problem.value === null) saveFile(`runs-${ids.length}.jsonl`, new Blob(parts));
  };
  const removeAll = async (): Promise<void> => {
    sure.value = false;
    await each("Deleting", async (id) => {
      await removeRun(app.api, id);
      app.list.forget(id);
      // What is gone is selected no more, so that a second try after an error goes on where this one ended.
      app.selection.value = new Set([...(app.selection.value ?? [])].filter((other) => other !== id));
    });
  };
  if (busy.value !== null) return <span role="status">{busy.value}</span>;
  return (
    <span class="selection" role="group" aria-label="Selected runs">
      {problem.value !== null && <span class="bad" role="alert">{problem.value}</span>}
      <b role="status">{formatNumber(ids.length)} selected</b>
      {sure.value ? (
        <><span>{question(ids, app.list.list.value.runs)}</span><button type="button" class="danger" onClick={() => void removeAll()}>Delete</button><button type="button" onClick={() => (sure.value = false)}>Keep</button></>
      ) : (
        <>
          <button type="button" disabled={ids.length !== 2} title={ids.length === 2 ? undefined : "Select two runs"} onClick={() => { const [a, b] = ids; if (a !== undefined && b !== undefined) app.show("compare", { pair: [a, b] }); }}>Compare</button>
          <button type="button" disabled={ids.length === 0} onClick={() => void exportAll()}>Export</button>
          <button type="button" disabled={ids.length === 0} onClick={() => (sure.value = true)}>Delete</button>
          <button type="button" onClick={() => (app.selection.value = null)}>Done</button>
        </>
      )}
    </span>
  );
}
