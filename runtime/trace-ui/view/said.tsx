/** What a run was asked or answered: one line, which opens to the whole text. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { isCutShort, saidSources, type Side, wholeText } from "../model/said.js";
import { stepKey } from "../model/spans.js";
import type { RunStore } from "../state/run.js";
import { CopyButton } from "./parts.js";
import { RichText, ShortText } from "./rich-text.js";

/** Payloads that are looked into: a run may have thousands of models, and the text is in one of the first. */
const LOOKED_AT = 3;

type Whole = { readonly kind: "closed" } | { readonly kind: "loading" } | { readonly kind: "open"; readonly text: string } | { readonly kind: "missing" };

export function Said({ term, line, side, store }: { term: string; line: string; side: Side; store: RunStore }): JSX.Element {
  const whole = useSignal<Whole>({ kind: "closed" });
  const state = whole.value;
  const toggle = async (): Promise<void> => {
    if (state.kind !== "closed") {
      whole.value = { kind: "closed" };
      return;
    }
    whole.value = { kind: "loading" };
    const text = await findWhole(store, side, line);
    if (whole.peek().kind === "loading") whole.value = text === null ? { kind: "missing" } : { kind: "open", text };
  };
  return (
    <div class="said" data-open={state.kind === "open"}>
      <dt>{term}</dt>
      <dd>{state.kind === "open" ? <div class="said-whole" tabIndex={0} role="region" aria-label={`${term}: the whole text`}><RichText text={state.text} label={term} /></div> : <ShortText text={line} />}</dd>
      {isCutShort(line) && (
        <dd class="said-more">
          {state.kind === "open" && <CopyButton label="Copy the text" text={() => state.text} />}
          {state.kind === "missing" ? <span class="quiet" role="status">the whole text is not stored</span> : <button type="button" class="link" aria-expanded={state.kind === "open"} onClick={() => void toggle()}>{state.kind === "open" ? "Less" : state.kind === "loading" ? "Loading…" : "All of it"}</button>}
        </dd>
      )}
    </div>
  );
}

/** Reads payloads until one holds the text. `null` when none does. */
async function findWhole(store: RunStore, side: Side, line: string): Promise<string | null> {
  for (const { step, kind } of saidSources(store.tree.peek(), side).slice(0, LOOKED_AT)) {
    await store.loadPayload(step);
    const state = store.payloads.peek().get(stepKey(step));
    const text = state?.kind === "ready" ? wholeText(state.value, side, kind, line) : null;
    if (text !== null) return text;
  }
  return null;
}
