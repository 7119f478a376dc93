/** What the runs of a batch were asked and what they answered. Payloads are read once a run and batch, not once an event. */
import type { EventKind, Incoming } from "../model.js";
import type { Hints } from "../messages/normalise.js";
import { answerOf, PREVIEW_CHARS, questionOf } from "../messages/preview.js";
import type { RunState } from "./run-state.js";

/** Payloads that may hold the answer of a run: that of its root goes before that of a model inside it. */
interface Answers {
  root: string | null;
  rootKind: Hints["kind"];
  model: string | null;
}

export class Previews {
  readonly #answers = new Map<RunState, Answers>();

  /** Takes an event of a run in; `name` is what its summary begins with. */
  observe(run: RunState, event: Incoming, kind: EventKind, root: boolean, name: string | null): void {
    if (kind.side === "start") this.#start(run, event, kind, root, name);
    if (kind.side !== "end" || event.payload === null || kind.call === null || !(root || kind.call === "llm")) return;
    const answers = this.#answers.get(run) ?? { root: null, rootKind: "chain", model: null };
    if (root) {
      answers.root = event.payload;
      answers.rootKind = kind.call;
    } else answers.model = event.payload;
    this.#answers.set(run, answers);
  }

  /** Sets the answers of all runs of the batch. */
  finish(): void {
    for (const [run, { root, rootKind, model }] of this.#answers) {
      const answer = (root === null ? null : answerOf(root, rootKind)) ?? (model === null ? null : answerOf(model, "llm"));
      if (answer !== null) run.answer = answer;
    }
    this.#answers.clear();
  }

  #start(run: RunState, event: Incoming, kind: EventKind, root: boolean, name: string | null): void {
    if (kind.call === null) return;
    if (!root) {
      // What the first model was asked stands in for a root that says nothing.
      if (run.preview === null && kind.call === "llm" && event.payload !== null) run.preview = questionOf(event.payload, "llm");
      return;
    }
    const asked = event.payload === null ? null : questionOf(event.payload, kind.call);
    if (asked !== null) {
      run.preview = asked;
      return;
    }
    const rest = name !== null && event.summary.startsWith(name) ? event.summary.slice(name.length).trim() : event.summary;
    if (rest !== "") run.preview ??= rest.slice(0, PREVIEW_CHARS);
  }
}
