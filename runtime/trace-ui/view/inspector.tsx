/** One call beside the run: what went in, what came out, what failed, and its ids. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { formatBytes, formatClock, formatCost, formatDuration, formatNumber } from "../model/format.js";
import { copyText } from "../model/payload.js";
import type { Span } from "../model/spans.js";
import type { Step } from "../model/types.js";
import type { RunStore } from "../state/run.js";
import { useApp } from "./context.js";
import { KindIcon, kindWord } from "./icons.js";
import { JsonTree } from "./json-tree.js";
import { CopyButton, Foreign, IconButton, Notice } from "./parts.js";

/** Payloads up to here (compressed) are read as soon as their step is shown; larger ones wait for a click. */
const SMALL_BYTES = 64_000;

export function Inspector({ store, stepId }: { store: RunStore; stepId: string }): JSX.Element {
  const app = useApp();
  store.tree.value;
  const span = store.spanOfEvent(stepId);
  return (
    <aside class="inspector" aria-label="Step" tabIndex={-1}>
      <header class="inspector-head">
        {span !== null && <KindIcon kind={span.kind} />}
        <h2>{span === null ? "Step" : <Foreign text={span.name} />}</h2>
        <IconButton name="close" label="Close" shortcut="Esc" onClick={() => app.select(null)} />
      </header>
      {span !== null ? <SpanDetails key={span.id} store={store} span={span} />
        : store.loading.value ? <Notice title="Loading…" />
          : <Notice title="No such step">The run has no step with this id.</Notice>}
    </aside>
  );
}

function SpanDetails({ store, span }: { store: RunStore; span: Span }): JSX.Element {
  const zeroMs = store.tree.value.startMs;
  const running = store.run.value?.status === "running";
  const only = span.start ?? span.end;
  return (
    <div class="inspector-body">
      <dl class="summary">
        <Fact term="Kind">{kindWord(span.kind)}</Fact>
        <Fact term="State"><span class={`state state-${span.state}`}>{stateText(span, running)}</span></Fact>
        {span.durationMs !== null && span.state !== "mark" && <Fact term="Duration">{formatDuration(span.durationMs)}</Fact>}
        <Fact term="Start">+{formatDuration(Math.max(0, span.startMs - zeroMs))} <i>{formatClock(span.startMs)}</i></Fact>
        {span.model !== null && <Fact term="Model"><Foreign text={span.model} /></Fact>}
        {span.server !== null && <Fact term="MCP server"><Foreign text={span.server} /></Fact>}
        {(span.tokensIn !== null || span.tokensOut !== null) && <Fact term="Tokens">{formatNumber(span.tokensIn ?? 0)} in, {formatNumber(span.tokensOut ?? 0)} out</Fact>}
        {span.costUsd !== null && <Fact term="Cost">{formatCost(span.costUsd)}</Fact>}
      </dl>
      {span.error !== null && (
        <section class="failure" aria-label="Error">
          <h3>Error <CopyButton label="Copy the error" text={() => span.error ?? ""} /></h3>
          <pre><bdi>{span.error}</bdi></pre>
        </section>
      )}
      {span.start !== null && span.kind !== "mark" && <StepPart store={store} step={span.start} title="Input" />}
      {span.end !== null && <StepPart store={store} step={span.end} title={span.state === "error" ? "Result" : "Output"} />}
      {span.kind === "mark" && only !== null && <StepPart store={store} step={only} title="Event" />}
      <Ids span={span} />
    </div>
  );
}

function stateText(span: Span, running: boolean): string {
  switch (span.state) {
    case "open": return running ? "running" : "no end was recorded";
    case "ok": return "ok";
    case "error": return "failed";
    case "mark": return "event";
    default: return span.state satisfies never;
  }
}

function Fact({ term, children }: { term: string; children: ComponentChildren }): JSX.Element {
  return <div><dt>{term}</dt><dd>{children}</dd></div>;
}

/** A step's summary, and its payload where it has one. */
function StepPart({ store, step, title }: { store: RunStore; step: Step; title: string }): JSX.Element | null {
  const state = store.payloads.value.get(step.event_id);
  const has = step.blob_path !== null;
  const small = (step.payload_bytes ?? 0) <= SMALL_BYTES;
  useEffect(() => {
    if (has && small) void store.loadPayload(step);
  }, [step.event_id, has]);
  // A summary that only repeats the name or the error says nothing.
  const summary = step.summary === step.tool_name || step.summary === step.agent_name || (step.error_message !== null && step.summary.endsWith(step.error_message)) ? "" : step.summary;
  if (!has && summary === "") return null;
  return (
    <section class="part" aria-label={title}>
      <h3>
        {title}
        {step.payload_bytes !== null && <span class="size">{formatBytes(step.payload_bytes)}</span>}
        {state?.kind === "ready" && <CopyButton label={`Copy the ${title.toLowerCase()} as JSON`} text={() => copyText(state.value)} />}
      </h3>
      {state?.kind !== "ready" && summary !== "" && <p class="step-summary"><bdi>{summary}</bdi></p>}
      {state?.kind === "loading" && <p class="quiet">Loading…</p>}
      {state?.kind === "failed" && <p class="bad">{state.message} <button type="button" class="link" onClick={() => void store.loadPayload(step)}>Try again</button></p>}
      {has && state === undefined && !small && <button type="button" onClick={() => void store.loadPayload(step)}>Load the payload ({formatBytes(step.payload_bytes ?? 0)} compressed)</button>}
      {state?.kind === "ready" && <JsonTree value={state.value} label={title} />}
    </section>
  );
}

function Ids({ span }: { span: Span }): JSX.Element {
  const attributes = Object.entries({ ...span.start?.attributes, ...span.end?.attributes });
  const rows: readonly (readonly [string, string])[] = [
    ["run_id", span.runId],
    ...(span.parentRunId === null ? [] : [["parent_run_id", span.parentRunId] as const]),
    ...(span.start === null ? [] : [[span.start.event_type, span.start.event_id] as const]),
    ...(span.end === null ? [] : [[span.end.event_type, span.end.event_id] as const]),
    ...attributes.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const),
  ];
  return (
    <section class="part ids" aria-label="Ids">
      <h3>Ids and attributes</h3>
      <dl>
        {rows.map(([name, value], index) => (
          <div key={index}><dt><bdi>{name}</bdi></dt><dd class="mono"><bdi>{value}</bdi></dd><CopyButton label={`Copy ${name}`} text={() => value} /></div>
        ))}
      </dl>
    </section>
  );
}
