/** Two runs side by side: what changed in all, and call by call; or two of their steps. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { deltasOf, mismatchOf, onlyIn } from "../model/comparison.js";
import { diffLines, diffWords } from "../model/diff.js";
import { formatDuration, formatMoment, formatNumber } from "../model/format.js";
import { previewOf, titleOf } from "../model/run-list.js";
import { stepKey } from "../model/spans.js";
import type { ComparedRow, Comparison, Run, RunPage, StepPayload } from "../model/types.js";
import { DeltaTable, Parts } from "./compare-parts.js";
import { CompareSteps } from "./compare-steps.js";
import { useApp } from "./context.js";
import { StatusIcon } from "./icons.js";
import { useLoaded } from "./load.js";
import { Foreign, IconButton, Notice } from "./parts.js";
import { useRows } from "./rows.js";

const ROW = 30;

export default function CompareView(): JSX.Element {
  const app = useApp();
  const { pair, steps } = app.route.value;
  const swapped = (two: readonly [string, string] | null): readonly [string, string] | null => (two === null ? null : [two[1], two[0]]);
  return (
    <section class="view compare" aria-label="Compare">
      <header class="view-head">
        <h1>{steps === null ? "Compare" : "Compare steps"}</h1>
        {pair !== null && <button type="button" onClick={() => app.show("compare", { pair: swapped(pair), steps: swapped(steps) })}>Swap</button>}
        {pair !== null && steps !== null && pair[0] !== pair[1] && <button type="button" onClick={() => app.show("compare", { pair })}>Compare the runs</button>}
      </header>
      {pair === null ? <PickPair /> : steps === null ? <CompareRuns pair={pair} /> : <CompareSteps key={`${pair.join(" ")} ${steps.join(" ")}`} pair={pair} steps={steps} />}
    </section>
  );
}

function CompareRuns({ pair }: { pair: readonly [string, string] }): JSX.Element {
  const { value, error } = useLoaded<Comparison>("compare", { a: pair[0], b: pair[1] }).value;
  const shown = value !== null && value.a.run_id === pair[0] && value.b.run_id === pair[1] ? value : null;
  if (error !== null) return <Notice title="The runs can't be compared" tone="error">{error}</Notice>;
  return shown === null ? <Notice title="Loading…" /> : <Sides comparison={shown} />;
}

/** Two runs chosen from the newest ones. */
function PickPair(): JSX.Element {
  const app = useApp();
  const { value } = useLoaded<RunPage>("runs", { extended: 1, limit: 100 }).value;
  const a = useSignal("");
  const b = useSignal("");
  const select = (label: string, chosen: typeof a): JSX.Element => (
    <label class="select"><span>{label}</span>
      <select value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
        <option value="">Choose a run</option>
        {(value?.runs ?? []).map((run) => <option key={run.run_id} value={run.run_id}>{titleOf(run).slice(0, 60)} · {formatMoment(Date.parse(run.started_at), app.utc.value)} · {run.status}</option>)}
      </select>
    </label>
  );
  return (
    <Notice title="Which runs?">
      <p>Choose two of the newest runs here, select two in the list, or press <kbd>c</kbd> in a run for the one before it of the same name.</p>
      <p class="pick">{select("Run A", a)}{select("Run B", b)}<button type="button" class="primary" disabled={a.value === "" || b.value === ""} onClick={() => app.show("compare", { pair: [a.value, b.value] })}>Compare</button></p>
    </Notice>
  );
}

function Sides({ comparison }: { comparison: Comparison }): JSX.Element {
  const warning = mismatchOf(comparison);
  const { a, b, rows } = comparison;
  const chosen = useSignal<number | null>(null);
  const changes = useSignal(false);
  const shown = useMemo(() => rows.filter((row) => !changes.value || row.change !== "same"), [rows, changes.value]);
  const list = useRows(shown.length, ROW);
  const picked = chosen.value === null ? null : (shown[chosen.value] ?? null);
  return (
    <div class="compare-body" data-picked={picked !== null}>
      <div class="compare-all" tabIndex={0} role="region" aria-label="Differences of the runs">
        {warning !== null && <p class="notice-line warn" role="status">{warning}</p>}
        <div class="sides"><Side run={a} name="A" /><Side run={b} name="B" /></div>
        <DeltaTable deltas={deltasOf(comparison)} />
        <TextDiff title="Asked" a={previewOf(a)} b={previewOf(b)} />
        <TextDiff title="Answered" a={a.answer ?? a.error_message ?? ""} b={b.answer ?? b.error_message ?? ""} />
        <OnlyIn comparison={comparison} />
      </div>
      <div class="compare-calls">
        <p class="compare-tools"><strong>{formatNumber(shown.length)} calls</strong><label><input type="checkbox" checked={changes.value} onChange={(event) => { changes.value = event.currentTarget.checked; chosen.value = null; }} /> Only changes</label></p>
        <div class="rows" ref={list.ref} tabIndex={0} role="listbox" aria-label="Calls of both runs"
          onKeyDown={(event) => {
            const by = event.key === "ArrowDown" || event.key === "j" ? 1 : event.key === "ArrowUp" || event.key === "k" ? -1 : 0;
            if (by === 0) return;
            event.preventDefault();
            event.stopPropagation();
            chosen.value = Math.max(0, Math.min(shown.length - 1, (chosen.value ?? -1) + by));
            list.reveal(chosen.value);
          }}>
          <div class="rows-body" role="presentation" style={{ height: `${shown.length * ROW}px` }}>
            {shown.slice(list.window.from, list.window.to).map((row, offset) => {
              const index = list.window.from + offset;
              return <CallRow key={index} row={row} top={index * ROW} selected={index === chosen.value} onSelect={() => (chosen.value = index)} />;
            })}
          </div>
        </div>
      </div>
      {picked !== null && <PickedCall row={picked} runs={[a.run_id, b.run_id]} onClose={() => (chosen.value = null)} />}
    </div>
  );
}

function Side({ run, name }: { run: Run; name: string }): JSX.Element {
  const app = useApp();
  return (
    <p class="side"><b>{name}</b><StatusIcon status={run.status} /><button type="button" class="link" onClick={() => app.openRun(run.run_id)}><Foreign text={titleOf(run)} /></button><span class="quiet">{formatMoment(Date.parse(run.started_at), app.utc.value)}</span></p>
  );
}

function TextDiff({ title, a, b }: { title: string; a: string; b: string }): JSX.Element | null {
  const parts = useMemo(() => diffWords(a, b), [a, b]);
  if (a === "" && b === "") return null;
  return <div class="text-diff"><h2>{title}{a === b && <span class="quiet"> the same</span>}</h2><p><Parts parts={parts} /></p></div>;
}

function OnlyIn({ comparison }: { comparison: Comparison }): JSX.Element | null {
  const sides = [["A", onlyIn(comparison, "a")], ["B", onlyIn(comparison, "b")]] as const;
  if (sides.every(([, nodes]) => nodes.length === 0)) return null;
  return <>{sides.map(([name, nodes]) => nodes.length > 0 && <p key={name}>Only in {name}: {nodes.slice(0, 30).map(([node, count]) => <span key={node} class="chip"><Foreign text={node} />{count > 1 && ` × ${count}`}</span>)}</p>)}</>;
}

const SIGNS: { readonly [change in ComparedRow["change"]]: readonly [string, string] } = { same: ["", "same"], changed: ["≠", "changed"], only_a: ["−", "only in A"], only_b: ["+", "only in B"] };

function CallRow({ row, top, selected, onSelect }: { row: ComparedRow; top: number; selected: boolean; onSelect: () => void }): JSX.Element {
  const [sign, word] = SIGNS[row.change];
  const name = (row.a ?? row.b)?.node?.replace(/^\w+:/, "") ?? "";
  const time = (call: ComparedRow["a"]): string => (call === null ? "" : call.duration_ms === null ? "open" : formatDuration(call.duration_ms));
  return (
    <div class="call-row" role="option" aria-selected={selected} data-change={row.change} style={{ top: `${top}px` }} onClick={onSelect}>
      <span class="sign" title={word}>{sign}<span class="hidden">{word}</span></span>
      <span class="call-title" style={{ paddingLeft: `${Math.min(row.depth, 12) * 14}px` }}><Foreign text={name} /></span>
      <span class={row.a?.status === "failed" ? "num bad" : "num"}>{time(row.a)}</span>
      <span class={row.b?.status === "failed" ? "num bad" : "num"}>{time(row.b)}</span>
    </div>
  );
}

/** The payloads of an aligned pair of calls, line by line. */
function PickedCall({ row, runs, onClose }: { row: ComparedRow; runs: readonly [string, string]; onClose: () => void }): JSX.Element {
  const app = useApp();
  const texts = useSignal<readonly [string, string] | null>(null);
  const key = [row.a, row.b].map((call) => (call === null ? "" : stepKey(call))).join(" ");
  useEffect(() => {
    let current = true;
    texts.value = null;
    const read = async (call: ComparedRow["a"]): Promise<string> => {
      if (call === null) return "";
      if (call.payload_bytes === null) return call.summary;
      const payload = await app.api.get<StepPayload>(`runs/${encodeURIComponent(call.run_id)}/steps/${encodeURIComponent(call.event_id)}/full`).then((answer) => answer.full_payload, () => null);
      return payload === null ? call.summary : JSON.stringify(payload, null, 2).slice(0, 200_000);
    };
    void Promise.all([read(row.a), read(row.b)]).then((read) => current && (texts.value = read));
    return () => void (current = false);
  }, [key]);
  const parts = useMemo(() => (texts.value === null ? null : diffLines(texts.value[0], texts.value[1])), [texts.value]);
  return (
    <aside class="inspector" aria-label="Call" tabIndex={-1}>
      <header class="inspector-head"><h2><Foreign text={(row.a ?? row.b)?.node ?? "call"} /></h2><IconButton name="close" label="Close" onClick={onClose} /></header>
      <div class="inspector-body" tabIndex={0} role="region" aria-label="Difference of the call">
        <p class="picked-links">
          {row.a !== null && row.b !== null && <button type="button" onClick={() => row.a !== null && row.b !== null && app.show("compare", { pair: runs, steps: [stepKey(row.a), stepKey(row.b)] })}>Compare the steps</button>}
          {row.a !== null && <button type="button" onClick={() => app.openRun(runs[0], row.a === null ? null : stepKey(row.a))}>Open in A</button>}
          {row.b !== null && <button type="button" onClick={() => app.openRun(runs[1], row.b === null ? null : stepKey(row.b))}>Open in B</button>}
        </p>
        {[["A", row.a], ["B", row.b]].map(([name, call]) => typeof call === "object" && call !== null && call.error_message !== null && <p key={String(name)} class="bad">{String(name)}: <Foreign text={call.error_message} /></p>)}
        {parts === null ? <p class="quiet">Loading…</p> : <pre class="line-diff"><Parts parts={parts} /></pre>}
      </div>
    </aside>
  );
}
