/** What the runs of a batch were asked and what they answered. Payloads are read once a run and batch, not once an event. */
import { hasPayload, payloadOf, summaryOf } from "../block.js";
import type { EventKind, Incoming } from "../model.js";
import type { Hints } from "../messages/normalise.js";
import { answerOf, PREVIEW_CHARS, questionOf } from "../messages/preview.js";
import type { RunState } from "./run-state.js";

/** Events whose payloads may hold the answer of a run: that of its root goes before that of a model inside it. */
interface Answers {
  root: Incoming | null;
  rootKind: Hints["kind"];
  model: Incoming | null;
}

export class Previews {
  readonly #answers = new Map<RunState, Answers>();

  /** Takes an event of a run in; `name` is what its summary begins with. */
  observe(run: RunState, event: Incoming, kind: EventKind, root: boolean, name: string | null): void {
    if (kind.side === "start") this.#start(run, event, kind, root, name);
    if (kind.side !== "end" || kind.call === null || !(root || kind.call === "llm") || !hasPayload(event)) return;
    const answers = this.#answers.get(run) ?? { root: null, rootKind: "chain", model: null };
    if (root) {
      answers.root = event;
      answers.rootKind = kind.call;
    } else answers.model = event;
    this.#answers.set(run, answers);
  }

  /** Sets the answers of all runs of the batch. */
  finish(): void {
    for (const [run, { root, rootKind, model }] of this.#answers) {
      const answer = read(root, answerOf, rootKind) ?? read(model, answerOf, "llm");
      if (answer !== null) run.answer = answer;
    }
    this.#answers.clear();
  }

  #start(run: RunState, event: Incoming, kind: EventKind, root: boolean, name: string | null): void {
    if (kind.call === null) return;
    if (!root) {
      // What the first model was asked stands in for a root that says nothing.
      if (run.preview === null && kind.call === "llm") run.preview = read(event, questionOf, "llm");
      return;
    }
    const asked = read(event, questionOf, kind.call);
    if (asked !== null) {
      run.preview = asked;
      return;
    }
    const summary = summaryOf(event);
    const rest = name !== null && summary.startsWith(name) ? summary.slice(name.length).trim() : summary;
    if (rest !== "") run.preview ??= rest.slice(0, PREVIEW_CHARS);
  }
}

/** What the payload of an event says, if it has one. */
function read(event: Incoming | null, says: (payload: string, kind: Hints["kind"]) => string | null, kind: Hints["kind"]): string | null {
  const payload = event === null ? null : payloadOf(event);
  return payload === null ? null : says(payload, kind);
}
