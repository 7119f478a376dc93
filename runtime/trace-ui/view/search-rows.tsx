/** What a full-text search found: the runs, the newest hit first, and below each its steps; one opens its run at that step. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatAgo, formatMoment, formatNumber, shortId } from "../model/format.js";
import { groupHits, rowsWithin, type SearchRow } from "../model/search-groups.js";
import { snippetParts } from "../model/snippet.js";
import { stepKey } from "../model/spans.js";
import type { SearchHit } from "../model/types.js";
import { useApp } from "./context.js";
import { StatusIcon } from "./icons.js";
import { COMMAND, type Command } from "./keys.js";
import { Foreign, Notice } from "./parts.js";
import { useRows } from "./rows.js";

/** Height of a unit of the list; a hit has two. */
const UNIT = 30;

export function SearchRows(): JSX.Element {
  const app = useApp();
  const hits = app.search.hits.value;
  const opened = useSignal<ReadonlySet<string>>(new Set());
  const found = useMemo(() => groupHits(hits, opened.value), [hits, opened.value]);
  const active = useSignal<string | null>(null);
  const list = useRows(found.height, UNIT);
  const { from, to } = list.window;
  useEffect(() => {
    if (to > found.height - 60) void app.search.more();
  }, [to, hits.length]);
  const open = (row: SearchRow): void => {
    active.value = row.key;
    if (row.kind === "hit") app.openRun(row.runId, stepKey(row.hit.step));
    if (row.kind === "run") app.openRun(row.runId);
    if (row.kind === "more") opened.value = toggled(opened.value, row.runId);
  };
  const at = found.rows.findIndex((row) => row.key === active.value);
  const onCommand = (command: Command): void => {
    const chosen = found.rows[at];
    if (command === "enter" && chosen !== undefined) open(chosen);
    const by = command === "down" ? 1 : command === "up" ? -1 : 0;
    const next = by === 0 ? undefined : found.rows[Math.max(0, Math.min(found.rows.length - 1, at + by))];
    if (next === undefined) return;
    active.value = next.key;
    // The last unit first: both ends of a hit must be in view.
    list.reveal(next.top + next.height - 1);
    list.reveal(next.top);
  };
  const handler = useRef(onCommand);
  handler.current = onCommand;
  useEffect(() => {
    const element = list.ref.current;
    const listen = (event: Event): void => handler.current((event as CustomEvent<Command>).detail);
    element?.addEventListener(COMMAND, listen);
    return () => element?.removeEventListener(COMMAND, listen);
  }, []);
  const shown = rowsWithin(found, from, to);
  const { stepId } = app.route.value;
  return (
    <div class="rows" ref={list.ref} data-keys="list" tabIndex={0} role="listbox" aria-label="Found steps by run" aria-busy={app.search.loading.value === "first"}
      aria-activedescendant={shown.some((row) => row.key === active.value) ? `hit-${at}` : undefined}>
      {hits.length === 0 ? <Nothing /> : (
        <div class="rows-body" role="presentation" style={{ height: `${found.height * UNIT}px` }}>
          {shown.map((row) => (
            <div key={row.key} id={`hit-${found.rows.indexOf(row)}`} class={`hit-row hit-${row.kind}-row`} role="option" aria-selected={row.kind === "hit" && row.key === stepId} data-active={row.key === active.value}
              style={{ top: `${row.top * UNIT}px`, height: `${row.height * UNIT}px` }} onClick={() => open(row)}>
              <RowContent row={row} />
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function toggled(set: ReadonlySet<string>, value: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

function RowContent({ row }: { row: SearchRow }): JSX.Element {
  const app = useApp();
  switch (row.kind) {
    case "run": {
      const startedMs = Date.parse(row.run.started_at);
      return (
        <>
          <StatusIcon status={row.run.status} />
          <span class="hit-name"><Foreign text={row.run.name ?? row.runId} /></span>
          <span class="hit-type" title={row.runId}><span class="mono">{shortId(row.runId)}</span> · {formatNumber(row.count)} {row.count === 1 ? "match" : "matches"}</span>
          <time class="run-ago" datetime={row.run.started_at} title={formatMoment(startedMs, app.utc.value)}>{formatAgo(startedMs, app.clock.value)}</time>
        </>
      );
    }
    case "hit": return <HitContent hit={row.hit} />;
    case "more": return <span class="hit-more">{row.open ? "Show fewer" : `${formatNumber(row.count)} more in this run`}</span>;
    default: return row satisfies never;
  }
}

function HitContent({ hit: { step, snippet } }: { hit: SearchHit }): JSX.Element {
  const app = useApp();
  const at = Date.parse(step.timestamp);
  return (
    <>
      <span class="hit-name"><Foreign text={step.tool_name ?? step.agent_name ?? step.model ?? step.event_type} /></span>
      <span class="hit-type" data-error={step.error_message !== null}>{step.event_type.replaceAll("_", " ")}</span>
      <time class="run-ago" datetime={step.timestamp} title={formatMoment(at, app.utc.value)}>{formatAgo(at, app.clock.value)}</time>
      <span class="hit-text"><bdi>{snippetParts(snippet).map((part, index) => (part.match ? <mark key={index}>{part.text}</mark> : part.text))}</bdi></span>
    </>
  );
}

function Nothing(): JSX.Element {
  const app = useApp();
  const { error, loading, behind } = app.search;
  if (error.value !== null) return <Notice title="The search failed" tone="error">{error.value}</Notice>;
  if (app.route.value.filters.q.trim() === "") return <Notice title="Search in every step">Words of summaries, names, errors and payloads. All words must occur; <code>"quoted words"</code> stand together; <code>pre*</code> finds words that begin so.</Notice>;
  if (loading.value !== "no") return <Notice title="Searching…" />;
  return <Notice title="Nothing found">{behind.value > 0 ? `${formatNumber(behind.value)} of the newest events are not searchable yet; try again in a moment.` : "No step contains all these words."}</Notice>;
}
