/** Choosing two steps to compare: the first one waits while the second is looked for. */
import type { JSX } from "preact";
import { useApp } from "./context.js";
import type { App } from "../state/app.js";
import { Foreign } from "./parts.js";

/** Marks the open step; with another one marked, compares both. Pressed on the marked step again, it is let go. */
export function markStep(app: App): void {
  const store = app.run.peek();
  const { stepId } = app.route.peek();
  const span = store === null || stepId === null ? null : store.spanOfStep(stepId);
  if (store === null || span === null) return;
  const marked = app.marked.peek();
  if (marked === null) {
    app.marked.value = { runId: store.id, stepId: span.id, name: span.name };
    return;
  }
  app.marked.value = null;
  if (marked.runId !== store.id || marked.stepId !== span.id) app.show("compare", { pair: [marked.runId, store.id], steps: [marked.stepId, span.id] });
}

/** Says which step waits, on every view. */
export function MarkedStep(): JSX.Element | null {
  const app = useApp();
  const marked = app.marked.value;
  if (marked === null) return null;
  return (
    <div class="marked-step" role="status">
      <span><button type="button" class="link" onClick={() => app.openRun(marked.runId, marked.stepId)}><Foreign text={marked.name} /></button> is compared with the next step: open it and press <kbd>m</kbd></span>
      <button type="button" onClick={() => (app.marked.value = null)}>Cancel</button>
    </div>
  );
}
