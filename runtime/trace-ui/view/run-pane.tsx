/** One run: what it is, and its calls over time. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { messageOf, removeRun } from "../data/api.js";
import { saveFile } from "../data/browser.js";
import { formatAgo, formatCost, formatCount, formatDuration, formatMoment, formatNumber } from "../model/format.js";
import { previewOf, sizeOf, titleOf } from "../model/run-list.js";
import { type Summary, summaryOf } from "../model/summary.js";
import { QUIET_MS } from "../model/timeline.js";
import type { Node } from "../model/tree.js";
import type { Run } from "../model/types.js";
import type { RunStore } from "../state/run.js";
import { compareWithPrevious } from "./compare-previous.js";
import { useApp } from "./context.js";
import { StatusIcon } from "./icons.js";
import { CopyButton, Foreign, IconButton, Notice } from "./parts.js";
import { Said } from "./said.js";
import { Waterfall } from "./waterfall.js";

export function RunPane({ store }: { store: RunStore }): JSX.Element {
  const run = store.run.value;
  const tree = store.tree.value;
  const [failed, running] = [run?.status === "failed", run?.status === "running"];
  const summary = useMemo(() => summaryOf(tree, failed, running), [tree, failed, running]);
  return (
    <section class="run" aria-label="Run">
      <RunHead store={store} run={run} summary={summary} />
      <RunBody store={store} summary={summary} />
    </section>
  );
}

function RunBody({ store, summary }: { store: RunStore; summary: Summary }): JSX.Element {
  const empty = store.tree.value.nodes.length === 0;
  if (store.error.value !== null && empty) {
    return (
      <Notice title="The run can't be read" tone="error">
        <p>{store.error.value}</p>
        <button type="button" onClick={() => store.retry()}>Try again</button>
      </Notice>
    );
  }
  if (store.missing.value && empty) return <Notice title="No such run">No run has the id <code><Foreign text={store.id} /></code>. It may have been deleted; if it is about to start, it appears here by itself.</Notice>;
  if (empty && store.loading.value) return <div class="skeleton" aria-hidden="true">{Array.from({ length: 10 }, (_, index) => <div key={index} />)}</div>;
  if (empty) return <Notice title="No steps yet">The run is known, its first step is on its way.</Notice>;
  return <Waterfall store={store} summary={summary} />;
}

function RunHead({ store, run, summary }: { store: RunStore; run: Run | null; summary: Summary }): JSX.Element {
  const app = useApp();
  return (
    <header class="run-head">
      <div class="run-title">
        <IconButton name="back" label="All runs" shortcut="Esc" onClick={() => app.closeRun()} />
        {run !== null && <StatusIcon status={run.status} />}
        <h1><Foreign text={run === null ? store.id : titleOf(run)} /></h1>
        <span class="spacer" />
        {run !== null && <RunActions run={run} store={store} />}
      </div>
      {run !== null && <RunFacts store={store} run={run} />}
      {run !== null && <RunSummary store={store} run={run} summary={summary} />}
    </header>
  );
}

/** Tags that are shown before asking for more. */
const TAGS = 12;

function RunFacts({ store, run }: { store: RunStore; run: Run }): JSX.Element {
  const app = useApp();
  const allTags = useSignal(false);
  const nowMs = app.clock.value;
  const startedMs = Date.parse(run.started_at);
  const running = run.status === "running";
  const quiet = running && store.lastMs.value > 0 && nowMs - store.lastMs.value > QUIET_MS;
  return (
    <ul class="facts" aria-label="Facts">
      <li title={run.run_id} class="mono fact-id"><bdi>{run.run_id}</bdi><CopyButton label="Copy the run id" text={() => run.run_id} /></li>
      <li title={formatMoment(startedMs, app.utc.value)}>{formatMoment(startedMs, app.utc.value)}</li>
      <li><b>{formatDuration(run.duration_ms ?? Math.max(0, nowMs - startedMs))}</b>{running && " so far"}</li>
      {quiet && <li class="warn">no step for {formatAgo(store.lastMs.value, nowMs)}</li>}
      <li title={`${formatNumber(run.total_steps)} events: starts, ends and notes of calls`}><b>{formatNumber(sizeOf(run).count)}</b> {sizeOf(run).unit}</li>
      {run.total_tokens_input + run.total_tokens_output > 0 && <li title={`${formatNumber(run.total_tokens_input)} in, ${formatNumber(run.total_tokens_output)} out`}><b>{formatCount(run.total_tokens_input)}</b> in <b>{formatCount(run.total_tokens_output)}</b> out</li>}
      {run.cost_usd !== null && <li><b>{formatCost(run.cost_usd)}</b></li>}
      {run.models.map((model) => <li key={model}><Foreign text={model} /></li>)}
      {run.session_id !== null && <li><button type="button" class="chip" title="Runs of this session" onClick={() => app.setFilters({ session: (run.session_id ?? "").slice(0, 200) })}>session <Foreign text={run.session_id} /></button></li>}
      {run.user_id !== null && <li>user <Foreign text={run.user_id} /></li>}
      {run.run_id !== run.root_run_id && <li><button type="button" class="chip" onClick={() => app.openRun(run.root_run_id)}>part of a larger run</button></li>}
      {run.tags.slice(0, allTags.value ? run.tags.length : TAGS).map((tag) => <li key={tag}><button type="button" class="chip" title="Runs with this tag" onClick={() => app.setFilters({ tag: tag.slice(0, 200) })}><Foreign text={tag} /></button></li>)}
      {run.tags.length > TAGS && <li><button type="button" class="link" aria-expanded={allTags.value} onClick={() => (allTags.value = !allTags.value)}>{allTags.value ? "Fewer tags" : `${formatNumber(run.tags.length - TAGS)} more tags`}</button></li>}
    </ul>
  );
}

/** Question and answer, why it failed, what it waits for, what took longest. */
function RunSummary({ store, run, summary }: { store: RunStore; run: Run; summary: Summary }): JSX.Element | null {
  const app = useApp();
  const asked = previewOf(run);
  const { failure, slowest, retries, waiting } = summary;
  const waitingMs = waiting === null ? 0 : app.clock.value - waiting.span.startMs;
  const step = (node: Node): JSX.Element => <button type="button" class="link" onClick={() => { store.follow.value = false; app.select(node.span.id); }}><Foreign text={node.span.name} /></button>;
  const parts = {
    asked: asked === "" ? null : <Said key="asked" term="Asked" line={asked} side="input" store={store} />,
    answered: run.answer === null || run.answer === "" ? null : <Said key={`answered ${run.answer}`} term={run.status === "running" ? "So far" : "Answered"} line={run.answer} side="output" store={store} />,
    failed: run.status !== "failed" ? null : (
      <div class="said run-failure" key="failed">
        <dt>Failed</dt>
        <dd>
          {failure.length > 0 && <nav aria-label="Failure path" class="path">{failure.map((node, index) => <span key={node.span.id}>{index > 0 && <i aria-hidden="true">›</i>}{step(node)}</span>)}</nav>}
          <span class="reason"><bdi>{failure.at(-1)?.span.error ?? run.error_message ?? "without a message"}</bdi></span>
        </dd>
      </div>
    ),
    waiting: waiting === null || waitingMs < 10_000 ? null : (
      <div class="said" key="waiting"><dt class="warn">Waiting</dt><dd class="warn">waiting {formatDuration(waitingMs)} on {waiting.span.server !== null && <><Foreign text={waiting.span.server} />/</>}{step(waiting)}</dd></div>
    ),
    slowest: slowest === null || slowest.ownMs < 1 ? null : <div class="said" key="slowest"><dt>Slowest</dt><dd>{step(slowest.node)} {formatDuration(slowest.ownMs)} in itself{retries > 0 && <>, {formatNumber(retries)} {retries === 1 ? "retry" : "retries"} in the run</>}</dd></div>,
  };
  const shown = [parts.asked, parts.answered, parts.failed, parts.waiting, parts.slowest].filter((part) => part !== null);
  return shown.length === 0 ? null : <dl class="run-summary" aria-label="Summary">{shown}</dl>;
}

function RunActions({ run, store }: { run: Run; store: RunStore }): JSX.Element {
  const app = useApp();
  const sure = useSignal(false);
  const { problem } = store;
  const path = `runs/${encodeURIComponent(run.run_id)}`;
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      problem.value = null;
      await work();
    } catch (failure) {
      problem.value = messageOf(failure);
    }
  };
  const save = (): Promise<void> => attempt(async () => saveFile(`${run.run_id.replace(/[^\w.-]+/g, "_")}.jsonl`, await app.api.download(`${path}/export`, { include: "payloads" })));
  const remove = (): Promise<void> => attempt(async () => {
    await removeRun(app.api, run.run_id);
    app.list.forget(run.run_id);
    app.closeRun();
  });
  return (
    <div class="actions">
      {problem.value !== null && <span class="bad" role="alert">{problem.value}</span>}
      {sure.value ? (
        <>
          <span>Delete with all payloads?</span>
          <button type="button" class="danger" onClick={() => void remove()}>Delete</button>
          <button type="button" onClick={() => (sure.value = false)}>Keep</button>
        </>
      ) : (
        <>
          <IconButton name="compare" label="Compare with the previous run of this name" shortcut="c" onClick={() => void compareWithPrevious(app, store)} />
          <IconButton name="graph" label="Topology of this run" onClick={() => app.show("topology", { scope: `run:${run.run_id}`, expanded: true })} />
          <IconButton name="export" label="Download as JSON lines, with payloads" onClick={() => void save()} />
          <IconButton name="remove" label="Delete this run" onClick={() => (sure.value = true)} />
        </>
      )}
    </div>
  );
}
