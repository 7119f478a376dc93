/** The runs, only those in view as elements; more are loaded before the reader gets to the end. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatAgo, formatCost, formatCount, formatDuration, formatMoment, formatNumber, shortId } from "../model/format.js";
import { previewOf, titleOf } from "../model/run-list.js";
import type { Run } from "../model/types.js";
import { useApp } from "./context.js";
import { StatusIcon } from "./icons.js";
import { COMMAND, type Command } from "./keys.js";
import { hasFilters } from "./list-pane.js";
import { Foreign, Notice } from "./parts.js";
import { useRows } from "./rows.js";

const ROW = 58;

export function RunRows(): JSX.Element {
  const app = useApp();
  const { runs, total } = app.list.list.value;
  const active = useSignal<string | null>(null);
  const rows = useRows(runs.length, ROW);
  const anchor = useRef<{ readonly id: string; readonly index: number } | null>(null);
  const openId = app.route.value.runId;
  const { from, to } = rows.window;

  // Runs that come in above the reader must not move what is read.
  useLayoutEffect(() => {
    const element = rows.ref.current;
    const before = anchor.current;
    if (element !== null && before !== null && element.scrollTop > 0) {
      const index = runs.findIndex((run) => run.run_id === before.id);
      if (index >= 0 && index !== before.index) element.scrollTop += (index - before.index) * ROW;
    }
  }, [runs]);
  useLayoutEffect(() => {
    const index = Math.floor((rows.ref.current?.scrollTop ?? 0) / ROW);
    const run = runs[index];
    anchor.current = run === undefined ? null : { id: run.run_id, index };
  });
  useEffect(() => {
    if (to > runs.length - 30) void app.list.loadMore();
  }, [to, runs.length]);
  useEffect(() => {
    if (openId === null) return;
    active.value = openId;
    rows.reveal(runs.findIndex((run) => run.run_id === openId));
  }, [openId]);

  const move = (index: number): void => {
    const run = runs[Math.max(0, Math.min(runs.length - 1, index))];
    if (run === undefined) return;
    active.value = run.run_id;
    rows.reveal(runs.indexOf(run));
  };
  const onCommand = (command: Command): void => {
    const at = runs.findIndex((run) => run.run_id === active.value);
    const page = Math.max(1, Math.floor(rows.height / ROW) - 1);
    if (command === "down") move(at + 1);
    if (command === "up") move(at < 0 ? 0 : at - 1);
    if (command === "home") move(0);
    if (command === "end") move(runs.length - 1);
    if (command === "page-down") move(at + page);
    if (command === "page-up") move(at - page);
    if (command === "enter" && active.value !== null) app.openRun(active.value);
  };
  const handler = useRef(onCommand);
  handler.current = onCommand;
  useEffect(() => {
    const element = rows.ref.current;
    const listen = (event: Event): void => handler.current((event as CustomEvent<Command>).detail);
    element?.addEventListener(COMMAND, listen);
    return () => element?.removeEventListener(COMMAND, listen);
  }, []);

  const activeIndex = runs.findIndex((run) => run.run_id === active.value);
  return (
    <div class="rows" data-costs={runs.some((run) => run.cost_usd !== null)} ref={rows.ref} data-keys="list" tabIndex={0} role="grid" aria-label="Runs" aria-rowcount={total} aria-busy={app.list.loading.value === "first"}
      aria-activedescendant={activeIndex >= from && activeIndex < to ? `run-${activeIndex}` : undefined}>
      {runs.length === 0 ? <NoRuns /> : (
        <div class="rows-body" role="presentation" style={{ height: `${runs.length * ROW}px` }}>
          {runs.slice(from, to).map((run, offset) => (
            <RunRow key={run.run_id} run={run} index={from + offset} active={run.run_id === active.value} open={run.run_id === openId} />
          ))}
        </div>
      )}
      {runs.length > 0 && app.list.error.value !== null && <ListError />}
    </div>
  );
}

function RunRow({ run, index, active, open }: { run: Run; index: number; active: boolean; open: boolean }): JSX.Element {
  const app = useApp();
  const startedMs = Date.parse(run.started_at);
  const nowMs = app.clock.value;
  const duration = run.duration_ms ?? (run.status === "running" ? Math.max(0, nowMs - startedMs) : null);
  const preview = previewOf(run);
  const tokens = run.total_tokens_input + run.total_tokens_output;
  return (
    <div id={`run-${index}`} class="run-row" role="row" aria-selected={open} aria-rowindex={index + 1} data-active={active} data-status={run.status}
      style={{ transform: `translateY(${index * ROW}px)` }} onClick={() => app.openRun(run.run_id)}>
      <span role="gridcell" class="run-status"><StatusIcon status={run.status} /></span>
      <span role="gridcell" class="run-name"><Foreign text={titleOf(run)} /></span>
      <span role="gridcell" class="run-line">
        {run.error_message !== null && run.status === "failed" ? <span class="run-error"><Foreign text={run.error_message} /></span>
          : preview !== "" ? <Foreign text={preview} />
            : <span class="mono">{shortId(run.run_id)}</span>}
      </span>
      <span role="gridcell" class="run-tags">
        {run.tags.slice(0, 3).map((tag) => (
          <button key={tag} type="button" class="chip" tabIndex={-1} title={`Only runs with the tag ${tag}`} onClick={(event) => { event.stopPropagation(); app.setFilters({ tag: tag.slice(0, 200) }); }}><Foreign text={tag} /></button>
        ))}
        {run.tags.length > 3 && <span class="more" title={run.tags.slice(3).join(", ")}>+{run.tags.length - 3}</span>}
        {run.errors > 0 && run.status !== "failed" && <span class="run-errors" title={`${formatNumber(run.errors)} failed steps that the run survived`}>{formatCount(run.errors)} {run.errors === 1 ? "error" : "errors"}</span>}
      </span>
      <span role="gridcell" class="run-id mono" title={run.run_id}>{shortId(run.run_id)}</span>
      <time role="gridcell" class="run-ago" datetime={run.started_at} title={formatMoment(startedMs)}>{formatAgo(startedMs, nowMs)}</time>
      <span role="gridcell" class="run-duration">{duration === null ? "–" : formatDuration(duration)}</span>
      <span role="gridcell" class="run-steps" title={`${formatNumber(run.total_steps)} steps`}>{formatCount(run.total_steps)} <i>steps</i></span>
      <span role="gridcell" class="run-tokens" title={`${formatNumber(run.total_tokens_input)} tokens in, ${formatNumber(run.total_tokens_output)} out`}>{tokens === 0 ? "" : <>{formatCount(tokens)} <i>tokens</i></>}</span>
      <span role="gridcell" class="run-cost">{run.cost_usd === null ? "" : formatCost(run.cost_usd)}</span>
    </div>
  );
}

function NoRuns(): JSX.Element {
  const app = useApp();
  if (app.list.error.value !== null) return <ListError />;
  if (app.list.loading.value === "first") return <div class="skeleton" aria-hidden="true">{Array.from({ length: 8 }, (_, index) => <div key={index} />)}</div>;
  if (hasFilters(app.route.value.filters)) return <Notice title="No run matches">No stored run passes these filters. New ones appear here by themselves.</Notice>;
  return (
    <Notice title="No runs yet">
      <p>Runs appear here as soon as they start. Send OpenTelemetry spans to <code>/v1/traces</code>, or events as JSON:</p>
      <pre>{`curl ${new URL("../api/ingest", location.href.replace(/#.*/, "")).href} \\
  -H 'content-type: application/json' \\
  -d '[{"run_id":"r1","event_type":"chain_start","agent_name":"hello"},
       {"run_id":"r1","event_type":"chain_end"}]'`}</pre>
    </Notice>
  );
}

function ListError(): JSX.Element {
  const app = useApp();
  return (
    <Notice title="The runs can't be read" tone="error">
      <p>{app.list.error.value}</p>
      <button type="button" onClick={() => app.retry()}>Try again</button>
    </Notice>
  );
}
