/** The runs, only those in view as elements; more are loaded before the reader gets to the end. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { formatAgo, formatCost, formatCount, formatDuration, formatMoment, formatNumber, shortId } from "../model/format.js";
import { previewOf, sizeOf, titleOf, withoutMarks } from "../model/run-list.js";
import type { Run } from "../model/types.js";
import { useApp } from "./context.js";
import { StatusIcon } from "./icons.js";
import { COMMAND, type Command } from "./keys.js";
import { hasFilters } from "./list-pane.js";
import { Onboarding } from "./onboarding.js";
import { Foreign, Notice } from "./parts.js";
import { useRows } from "./rows.js";

const ROW = 58;
/** Loaded rows below those in view from which more are asked for. */
const AHEAD = 20;

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
    if (element !== null && before !== null && rows.scrollTop > 0) {
      const index = runs.findIndex((run) => run.run_id === before.id);
      if (index >= 0 && index !== before.index) element.scrollTop += (index - before.index) * ROW;
    }
  }, [runs]);
  useLayoutEffect(() => {
    // What was read last: asking the element would lay the page out before its frame.
    const index = Math.floor(rows.scrollTop / ROW);
    const run = runs[index];
    anchor.current = run === undefined ? null : { id: run.run_id, index };
  });
  useEffect(() => {
    if (to > runs.length - AHEAD) void app.list.loadMore();
  }, [to, runs.length]);
  useEffect(() => {
    if (openId === null) return;
    active.value = openId;
    rows.reveal(runs.findIndex((run) => run.run_id === openId));
  }, [openId]);

  const common = useMemo(() => commonTags(runs), [runs]);
  const toggleSelected = (id: string): void => {
    const next = new Set(app.selection.value ?? []);
    if (!next.delete(id)) next.add(id);
    app.selection.value = next;
  };
  // Runs above what is read: they came in while the reader was further down.
  const newest = useRef<string | null>(null);
  if (rows.scrollTop < ROW) newest.current = runs[0]?.run_id ?? null;
  const above = newest.current === null ? 0 : Math.max(0, runs.findIndex((run) => run.run_id === newest.current));
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
    if (command === "select" && active.value !== null) toggleSelected(active.value);
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
      {above > 0 && rows.scrollTop >= ROW && <button type="button" class="pill" onClick={() => rows.ref.current?.scrollTo({ top: 0 })}>{formatNumber(above)} new {above === 1 ? "run" : "runs"}</button>}
      {runs.length === 0 ? <NoRuns /> : (
        <div class="rows-body" role="presentation" style={{ height: `${runs.length * ROW}px` }}>
          {runs.slice(from, to).map((run, offset) => (
            <RunRow key={run.run_id} run={run} index={from + offset} active={run.run_id === active.value} open={run.run_id === openId} hidden={common} onSelect={() => toggleSelected(run.run_id)} />
          ))}
        </div>
      )}
      {runs.length > 0 && app.list.error.value !== null && <ListError />}
    </div>
  );
}

/** Tags that every loaded run has. */
function commonTags(runs: readonly Run[]): ReadonlySet<string> {
  const [first, ...rest] = runs;
  if (first === undefined || rest.length < 3) return new Set();
  return new Set(first.tags.filter((tag) => rest.every((run) => run.tags.includes(tag))));
}

function RunRow({ run, index, active, open, hidden, onSelect }: { run: Run; index: number; active: boolean; open: boolean; /** Tags of every row: they tell no run from another. */ hidden: ReadonlySet<string>; onSelect: () => void }): JSX.Element {
  const app = useApp();
  const selection = app.selection.value;
  const tags = run.tags.filter((tag) => !hidden.has(tag));
  const startedMs = Date.parse(run.started_at);
  const nowMs = app.clock.value;
  const duration = run.duration_ms ?? (run.status === "running" ? Math.max(0, nowMs - startedMs) : null);
  const preview = withoutMarks(previewOf(run));
  const tokens = run.total_tokens_input + run.total_tokens_output;
  return (
    <div id={`run-${index}`} class="run-row" role="row" aria-selected={open} aria-rowindex={index + 1} data-active={active} data-status={run.status}
      style={{ top: `${index * ROW}px` }} onClick={(event) => (selection !== null || event.ctrlKey || event.metaKey ? onSelect() : app.openRun(run.run_id))}>
      <span role="gridcell" class="run-status">
        {selection === null ? <StatusIcon status={run.status} /> : <input type="checkbox" tabIndex={-1} aria-label={`Select ${titleOf(run)}`} checked={selection.has(run.run_id)} onClick={(event) => { event.stopPropagation(); onSelect(); }} />}
      </span>
      <span role="gridcell" class="run-name"><Foreign text={titleOf(run)} /></span>
      <span role="gridcell" class="run-line">
        {run.error_message !== null && run.status === "failed" ? <span class="run-error"><Foreign text={run.error_message} /></span>
          : preview !== "" ? <Foreign text={preview} />
            : <span class="mono">{shortId(run.run_id)}</span>}
      </span>
      <span role="gridcell" class="run-tags">
        {tags.slice(0, 3).map((tag) => (
          <button key={tag} type="button" class="chip" tabIndex={-1} title={`Only runs with the tag ${tag}`} onClick={(event) => { event.stopPropagation(); app.setFilters({ tag: tag.slice(0, 200) }); }}><Foreign text={tag} /></button>
        ))}
        {tags.length > 3 && <span class="more" title={tags.slice(3).join(", ")}>+{tags.length - 3}</span>}
        {run.errors > 0 && run.status !== "failed" && <span class="run-errors" title={`${formatNumber(run.errors)} failed steps that the run survived`}>{formatCount(run.errors)} {run.errors === 1 ? "error" : "errors"}</span>}
      </span>
      <span role="gridcell" class="run-id mono" title={run.run_id}>{shortId(run.run_id)}</span>
      <time role="gridcell" class="run-ago" datetime={run.started_at} title={formatMoment(startedMs, app.utc.value)}>{formatAgo(startedMs, nowMs)}</time>
      <span role="gridcell" class="run-duration">{duration === null ? "–" : formatDuration(duration)}</span>
      <span role="gridcell" class="run-steps" title={`${formatNumber(run.total_steps)} events: starts, ends and notes of calls`}>{formatCount(sizeOf(run).count)} <i>{sizeOf(run).unit}</i></span>
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
  return <Onboarding />;
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
