/** Two steps side by side, of one run or of two: sums, offered tools, and what their texts have and have not in common. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { formatBytes, formatMoment } from "../model/format.js";
import type { Json } from "../model/payload.js";
import { titleOf } from "../model/run-list.js";
import { type Span, stepKey } from "../model/spans.js";
import { stepDeltas, type StepSide, stepWarnings, textChanges, type TextChange, toolSetChange } from "../model/step-comparison.js";
import type { Step } from "../model/types.js";
import type { RunStore } from "../state/run.js";
import { DeltaTable, Parts } from "./compare-parts.js";
import { useApp } from "./context.js";
import { KindIcon } from "./icons.js";
import { Foreign, Notice } from "./parts.js";

/** Payloads up to here (compressed) are read at once; larger ones wait for a click. */
const SMALL_BYTES = 256_000;

interface Side {
  readonly name: "A" | "B";
  readonly store: RunStore;
  readonly stepId: string;
}

export function CompareSteps({ pair, steps }: { pair: readonly [string, string]; steps: readonly [string, string] }): JSX.Element {
  const app = useApp();
  const stores = useSignal<readonly [RunStore, RunStore] | null>(null);
  useEffect(() => {
    const a = app.watchRun(pair[0]);
    const b = pair[1] === pair[0] ? a : app.watchRun(pair[1]);
    stores.value = [a, b];
    return () => {
      a.close();
      if (b !== a) b.close();
    };
  }, [pair[0], pair[1]]);
  if (stores.value === null) return <Notice title="Loading…" />;
  const [a, b] = stores.value;
  return <BothSteps a={{ name: "A", store: a, stepId: steps[0] }} b={{ name: "B", store: b, stepId: steps[1] }} />;
}

function BothSteps({ a, b }: { a: Side; b: Side }): JSX.Element {
  const [spanA, spanB] = [spanOf(a), spanOf(b)];
  useSmallPayloads(a, spanA);
  useSmallPayloads(b, spanB);
  for (const [side, span] of [[a, spanA], [b, spanB]] as const) {
    if (span !== null) continue;
    if (side.store.error.value !== null) return <Notice title={`The run of step ${side.name} can't be read`} tone="error">{side.store.error.value}</Notice>;
    if (side.store.missing.value) return <Notice title={`No run for step ${side.name}`}>No run has the id <code><Foreign text={side.store.id} /></code>. It may have been deleted.</Notice>;
    if (!side.store.loading.value) return <Notice title={`No step ${side.name}`}>The run has no step with this id.</Notice>;
  }
  if (spanA === null || spanB === null) return <Notice title="Loading…" />;
  return <Comparison a={a} b={b} sideA={withPayloads(a, spanA)} sideB={withPayloads(b, spanB)} />;
}

function spanOf({ store, stepId }: Side): Span | null {
  // The spans change with the tree.
  store.tree.value;
  return store.spanOfStep(stepId);
}

function stepsOf(span: Span | null): readonly Step[] {
  return [span?.start ?? null, span?.end ?? null].filter((step) => step !== null && step.blob_path !== null) as Step[];
}

function useSmallPayloads({ store }: Side, span: Span | null): void {
  const wanted = stepsOf(span).filter((step) => (step.payload_bytes ?? 0) <= SMALL_BYTES);
  useEffect(() => {
    for (const step of wanted) void store.loadPayload(step);
  }, [wanted.map(stepKey).join(" ")]);
}

function withPayloads({ store }: Side, span: Span): StepSide {
  const value = (step: Step | null): Json => {
    const state = step === null ? undefined : store.payloads.value.get(stepKey(step));
    return state?.kind === "ready" ? state.value : null;
  };
  return { span, input: value(span.start), output: value(span.end) };
}

function Comparison({ a, b, sideA, sideB }: { a: Side; b: Side; sideA: StepSide; sideB: StepSide }): JSX.Element {
  const warnings = stepWarnings(sideA, sideB);
  const changes = useMemo(() => textChanges(sideA, sideB), [sideA.input, sideA.output, sideB.input, sideB.output, sideA.span, sideB.span]);
  return (
    <div class="view-body compare-steps" tabIndex={0} role="region" aria-label="Differences of the steps">
      {warnings.map((warning) => <p key={warning} class="notice-line warn" role="status">{warning}</p>)}
      <div class="sides"><SideHead side={a} span={sideA.span} /><SideHead side={b} span={sideB.span} /></div>
      <DeltaTable deltas={stepDeltas(sideA, sideB)} />
      <ToolSet a={sideA} b={sideB} />
      <Missing side={a} span={sideA.span} /><Missing side={b} span={sideB.span} />
      {changes.map((change) => <Change key={change.title} change={change} />)}
      {changes.length === 0 && <p class="quiet">Neither step has a payload.</p>}
    </div>
  );
}

function SideHead({ side: { name, store, stepId }, span }: { side: Side; span: Span }): JSX.Element {
  const app = useApp();
  const run = store.run.value;
  return (
    <p class="side">
      <b>{name}</b><KindIcon kind={span.kind} /><button type="button" class="link" onClick={() => app.openRun(store.id, stepId)}><Foreign text={span.name} /></button>
      {span.model !== null && <span class="quiet"><Foreign text={span.model} /></span>}
      <span class="quiet">of <Foreign text={run === null ? store.id : titleOf(run)} />, {formatMoment(span.startMs, app.utc.value)}</span>
    </p>
  );
}

function ToolSet({ a, b }: { a: StepSide; b: StepSide }): JSX.Element | null {
  const change = useMemo(() => toolSetChange(a, b), [a.input, b.input]);
  if (change === null) return null;
  const chips = (names: readonly string[]): JSX.Element[] => names.slice(0, 60).map((name) => <span key={name} class="chip"><Foreign text={name} /></span>);
  return (
    <section aria-label="Offered tools">
      <h2 class="part-title">Tools that the model was offered</h2>
      {change.onlyA.length > 0 && <p>Only in A: {chips(change.onlyA)}</p>}
      {change.onlyB.length > 0 && <p>Only in B: {chips(change.onlyB)}</p>}
      {change.both.length > 0 && <p class="quiet">In both: {chips(change.both)}</p>}
    </section>
  );
}

/** Payloads that are not part of the comparison yet, or can't be. */
function Missing({ side: { name, store }, span }: { side: Side; span: Span }): JSX.Element | null {
  const open = stepsOf(span).filter((step) => store.payloads.value.get(stepKey(step))?.kind !== "ready");
  if (open.length === 0) return null;
  return (
    <p>
      {open.map((step) => {
        const state = store.payloads.value.get(stepKey(step));
        const what = `${step === span.start ? "input" : "output"} of ${name}`;
        if (state?.kind === "loading") return <span key={step.event_id} class="quiet">Loading the {what}… </span>;
        return <button key={step.event_id} type="button" onClick={() => void store.loadPayload(step)}>{state?.kind === "failed" ? `The ${what} can't be read (${state.message}): try again` : `Load the ${what} (${formatBytes(step.payload_bytes ?? 0)} compressed)`}</button>;
      })}
    </p>
  );
}

function Change({ change: { title, same, parts } }: { change: TextChange }): JSX.Element {
  return (
    <section class="text-diff" aria-label={title}>
      {same ? <details><summary>{title}: the same</summary><pre class="line-diff"><Parts parts={parts} /></pre></details> : <><h2>{title}</h2><pre class="line-diff"><Parts parts={parts} /></pre></>}
    </section>
  );
}
