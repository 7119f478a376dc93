/** One call beside the run: what went in, what came out, what failed, and its ids. As a conversation, as data, or raw. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { type Chat, chatOf } from "../model/chat.js";
import { formatBytes, formatClock, formatCost, formatDuration, formatNumber } from "../model/format.js";
import { copyText, type Json, TEXT_LIMIT } from "../model/payload.js";
import { PLAN_ATTRIBUTE, planOf } from "../model/plan.js";
import { type Span, stepKey } from "../model/spans.js";
import type { Step } from "../model/types.js";
import type { RunStore } from "../state/run.js";
import { ChatView } from "./chat.js";
import { useApp } from "./context.js";
import { KindIcon, kindWord } from "./icons.js";
import { JsonTree } from "./json-tree.js";
import { markStep } from "./mark-step.js";
import { CopyButton, Foreign, IconButton, Notice } from "./parts.js";
import { PlanView } from "./plan.js";

/** Payloads up to here (compressed) are read as soon as their step is shown; larger ones wait for a click. */
const SMALL_BYTES = 64_000;

export function Inspector({ store, stepId }: { store: RunStore; stepId: string }): JSX.Element {
  const app = useApp();
  store.tree.value;
  const span = store.spanOfStep(stepId);
  return (
    <aside class="inspector" aria-label="Step" tabIndex={-1}>
      <h1 class="hidden narrow-only">Step of the run</h1>
      <header class="inspector-head">
        {span !== null && <KindIcon kind={span.kind} />}
        <h2>{span === null ? "Step" : <Foreign text={span.name} />}</h2>
        {span !== null && <IconButton name="compare" label={app.marked.value === null ? "Compare this step with another" : app.marked.value.stepId === span.id ? "Don't compare this step" : `Compare with ${app.marked.value.name}`} shortcut="m" pressed={app.marked.value?.stepId === span.id} onClick={() => markStep(app)} />}
        <IconButton name="close" label="Close" shortcut="Esc" onClick={() => app.select(null)} />
      </header>
      {span !== null ? <SpanDetails key={span.id} store={store} span={span} />
        : store.loading.value ? <Notice title="Loading…" />
          : <Notice title="No such step">The run has no step with this id.</Notice>}
    </aside>
  );
}

type Tab = "chat" | "data" | "raw" | "plan";
const TABS: readonly (readonly [Tab, string])[] = [["chat", "Chat"], ["data", "Data"], ["raw", "Raw"]];
/** Only for calls that a tool server of ours has recorded. */
const PLAN: (typeof TABS)[number] = ["plan", "Plan"];

function SpanDetails({ store, span }: { store: RunStore; span: Span }): JSX.Element {
  const app = useApp();
  const zeroMs = store.tree.value.startMs;
  const running = store.run.value?.status === "running";
  usePayload(store, span.start);
  usePayload(store, span.end);
  const input = valueOf(store, span.start);
  const output = valueOf(store, span.end);
  const chat = useMemo(() => chatOf(input, output, span.kind), [input, output, span.kind]);
  const chosen = useSignal<Tab | null>(null);
  const plan = useMemo(() => planOf(span.start?.attributes), [span.start]);
  const tab: Tab = chosen.value ?? (chat === null ? "data" : "chat");
  const tabs = plan === null ? TABS : [...TABS, PLAN];
  return (
    <div class="inspector-body" tabIndex={0} role="region" aria-label="Details of the step">
      <dl class="summary">
        <Fact term="Kind">{kindWord(span.kind)}</Fact>
        <Fact term="State"><span class={`state state-${span.state}`}>{stateText(span, running)}</span></Fact>
        {span.durationMs !== null && span.state !== "mark" && <Fact term="Duration">{formatDuration(span.durationMs)}</Fact>}
        <Fact term="Start">+{formatDuration(Math.max(0, span.startMs - zeroMs))} <i>{formatClock(span.startMs, app.utc.value)}</i></Fact>
        {span.model !== null && <Fact term="Model"><Foreign text={span.model} /></Fact>}
        {span.server !== null && <Fact term="MCP server"><Foreign text={span.server} /></Fact>}
        {(span.tokensIn !== null || span.tokensOut !== null) && <Fact term="Tokens">{formatNumber(span.tokensIn ?? 0)} in, {formatNumber(span.tokensOut ?? 0)} out</Fact>}
        {span.costUsd !== null && <Fact term="Cost">{formatCost(span.costUsd)}</Fact>}
      </dl>
      {span.error !== null && (
        <section class="failure" aria-label="Error">
          <h3>Error <CopyButton label="Copy the error" text={() => span.error ?? ""} /></h3>
          <pre tabIndex={0}><bdi>{span.error}</bdi></pre>
        </section>
      )}
      <div class="switch tabs" role="group" aria-label="Show as">
        {tabs.map(([name, word]) => <button key={name} type="button" aria-pressed={tab === name} disabled={name === "chat" && chat === null} title={name === "chat" && chat === null ? "The payloads hold no messages" : undefined} onClick={() => (chosen.value = name)}>{word}</button>)}
      </div>
      {tab === "plan" && plan !== null ? <PlanView plan={plan} input={input} /> : tab === "chat" && chat !== null ? <Conversation store={store} span={span} chat={chat} open={span.state === "open" && running} /> : <Payloads store={store} span={span} raw={tab === "raw"} />}
      <Ids span={span} />
    </div>
  );
}

/** Reads the payload of a step when it is small. */
function usePayload(store: RunStore, step: Step | null): void {
  const wanted = step !== null && step.blob_path !== null && (step.payload_bytes ?? 0) <= SMALL_BYTES;
  useEffect(() => {
    if (wanted && step !== null) void store.loadPayload(step);
  }, [step === null ? null : stepKey(step), wanted]);
}

function valueOf(store: RunStore, step: Step | null): Json {
  const state = step === null ? undefined : store.payloads.value.get(stepKey(step));
  return state?.kind === "ready" ? state.value : null;
}

/** The messages of a call, and as data what holds none; payloads that are large or could not be read are below. */
function Conversation({ store, span, chat, open }: { store: RunStore; span: Span; chat: Chat; open: boolean }): JSX.Element {
  const part = (step: Step | null, title: string, wanted: (ready: boolean) => boolean): JSX.Element | null => {
    if (step === null || step.blob_path === null || !wanted(store.payloads.value.get(stepKey(step))?.kind === "ready")) return null;
    return <StepPart key={title} store={store} step={step} title={title} raw={false} needle="" />;
  };
  return (
    <>
      {part(span.start, "Input", (ready) => ready && chat.unread.input)}
      <ChatView chat={chat} open={open} />
      {part(span.start, "Input", (ready) => !ready)}
      {part(span.end, endTitle(span), (ready) => !ready || chat.unread.output)}
    </>
  );
}

function endTitle(span: Span): string {
  return span.state === "error" ? "Result" : "Output";
}

function Payloads({ store, span, raw }: { store: RunStore; span: Span; raw: boolean }): JSX.Element {
  const needle = useSignal("");
  const only = span.start ?? span.end;
  const searchable = !raw && [span.start, span.end].some((step) => step?.blob_path != null);
  return (
    <>
      {searchable && (
        <span class="field data-search">
          <input type="text" inputmode="search" aria-label="Search in the data" placeholder="Search keys and values" value={needle.value} autocomplete="off" spellcheck={false} onInput={(event) => (needle.value = event.currentTarget.value)} />
          {needle.value !== "" && <IconButton name="close" label="Clear" onClick={() => (needle.value = "")} />}
        </span>
      )}
      {span.start !== null && span.kind !== "mark" && <StepPart store={store} step={span.start} title="Input" raw={raw} needle={needle.value} />}
      {span.end !== null && <StepPart store={store} step={span.end} title={endTitle(span)} raw={raw} needle={needle.value} />}
      {span.kind === "mark" && only !== null && <StepPart store={store} step={only} title="Event" raw={raw} needle={needle.value} />}
    </>
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
function StepPart({ store, step, title, raw, needle }: { store: RunStore; step: Step; title: string; raw: boolean; needle: string }): JSX.Element | null {
  const state = store.payloads.value.get(stepKey(step));
  const has = step.blob_path !== null;
  const value = state?.kind === "ready" ? state.value : undefined;
  const text = useMemo(() => (value === undefined ? "" : JSON.stringify(value, null, 2)), [value]);
  const bytes = useMemo(() => (value === undefined ? 0 : new Blob([JSON.stringify(value)]).size), [value]);
  // A summary that only repeats the name or the error says nothing.
  const summary = step.summary === step.tool_name || step.summary === step.agent_name || (step.error_message !== null && step.summary.endsWith(step.error_message)) ? "" : step.summary;
  if (!has && summary === "") return null;
  return (
    <section class="part" aria-label={title}>
      <h3>
        {title}
        {state?.kind === "ready" ? <span class="size">{formatBytes(bytes)}</span> : step.payload_bytes !== null && <span class="size">{formatBytes(step.payload_bytes)} compressed</span>}
        {state?.kind === "ready" && <CopyButton label={`Copy the ${title.toLowerCase()} as JSON`} text={() => copyText(state.value)} />}
      </h3>
      {state?.kind !== "ready" && summary !== "" && <p class="step-summary"><bdi>{summary}</bdi></p>}
      {state?.kind === "loading" && <p class="quiet">Loading…</p>}
      {state?.kind === "failed" && <p class="bad">{state.message} <button type="button" class="link" onClick={() => void store.loadPayload(step)}>Try again</button></p>}
      {has && state === undefined && (step.payload_bytes ?? 0) > SMALL_BYTES && <button type="button" onClick={() => void store.loadPayload(step)}>Load the payload ({formatBytes(step.payload_bytes ?? 0)} compressed)</button>}
      {state?.kind === "ready" && (raw ? <RawText text={text} label={title} /> : <JsonTree value={state.value} label={title} needle={needle} />)}
    </section>
  );
}

const RAW_STEP = 50 * TEXT_LIMIT;

/** The payload as it was stored, wrapped or not; a long one in parts. */
function RawText({ text, label }: { text: string; label: string }): JSX.Element {
  const shown = useSignal(RAW_STEP);
  const wrap = useSignal(true);
  return (
    <>
      <label class="wrap-choice"><input type="checkbox" checked={wrap.value} onChange={(event) => (wrap.value = event.currentTarget.checked)} /> Wrap lines</label>
      <pre class="raw" data-wrap={wrap.value} tabIndex={0} aria-label={`${label} as JSON`}><bdi>{text.slice(0, shown.value)}</bdi></pre>
      {text.length > shown.value && <button type="button" class="link" onClick={() => (shown.value += RAW_STEP)}>Show more, {formatBytes(text.length - shown.value)} left</button>}
    </>
  );
}

function Ids({ span }: { span: Span }): JSX.Element {
  const attributes = Object.entries({ ...span.start?.attributes, ...span.end?.attributes }).filter(([name]) => name !== PLAN_ATTRIBUTE);
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
          <div key={index}><dt><bdi>{name}</bdi></dt><dd class="mono"><bdi>{value}</bdi></dd><dd><CopyButton label={`Copy ${name}`} text={() => value} /></dd></div>
        ))}
      </dl>
    </section>
  );
}
