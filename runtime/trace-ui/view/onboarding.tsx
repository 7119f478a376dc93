/** The list without runs: how to send the first one, by what the reader uses. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Sample, sampleEvents } from "../../trace/sample.js";
import { messageOf } from "../data/api.js";
import { WAYS } from "../model/ways.js";
import { useApp } from "./context.js";
import { CopyButton } from "./parts.js";

export function Onboarding(): JSX.Element {
  const app = useApp();
  const chosen = useSignal(0);
  const problem = useSignal<string | null>(null);
  const base = new URL("../", location.href.replace(/#.*/, "")).href;
  const code = WAYS[chosen.value]?.text(base) ?? "";
  const loadSample = async (): Promise<void> => {
    problem.value = null;
    try {
      // It is a file beside the page: most readers never need it.
      const answer = await fetch(new URL("sample.json", location.href));
      if (!answer.ok) throw new Error(`the sample can't be read: ${answer.status}`);
      const now = app.now();
      await app.api.post("ingest", sampleEvents((await answer.json()) as Sample, now, `sample-${now}`));
    } catch (failure) {
      problem.value = messageOf(failure);
    }
  };
  return (
    <div class="notice onboarding">
      <strong>No runs yet</strong>
      <p>Runs appear here as soon as they start. How do you want to send them?</p>
      <div class="switch ways" role="group" aria-label="Way to send">{WAYS.map(({ name }, index) => <button key={name} type="button" aria-pressed={chosen.value === index} onClick={() => (chosen.value = index)}>{name}</button>)}</div>
      <div class="code"><CopyButton label="Copy the code" text={() => code} /><pre tabIndex={0}>{code}</pre></div>
      <p><button type="button" onClick={() => void loadSample()}>Load a sample</button> <span class="quiet">five runs of an agent, to look around; delete them like any other</span></p>
      {problem.value !== null && <p class="bad" role="alert">{problem.value}</p>}
    </div>
  );
}
