/** Steps that a full-text search found, newest first; one opens its run at that step. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatAgo, formatMoment, formatNumber, shortId } from "../model/format.js";
import { stepKey } from "../model/spans.js";
import { snippetParts } from "../model/snippet.js";
import { useApp } from "./context.js";
import { COMMAND, type Command } from "./keys.js";
import { Foreign, Notice } from "./parts.js";
import { useRows } from "./rows.js";

const ROW = 74;

export function SearchRows(): JSX.Element {
  const app = useApp();
  const { hits, loading, error, behind } = app.search;
  const active = useSignal(0);
  const rows = useRows(hits.value.length, ROW);
  const { from, to } = rows.window;
  const { q } = app.route.value.filters;
  const { stepId } = app.route.value;
  useEffect(() => {
    if (to > hits.value.length - 30) void app.search.more();
  }, [to, hits.value.length]);
  const open = (index: number): void => {
    const hit = hits.value[index];
    if (hit !== undefined) app.openRun(hit.run_id, stepKey(hit.step));
  };
  const onCommand = (command: Command): void => {
    if (command === "enter") open(active.value);
    const by = command === "down" ? 1 : command === "up" ? -1 : 0;
    if (by === 0) return;
    active.value = Math.max(0, Math.min(hits.value.length - 1, active.value + by));
    rows.reveal(active.value);
  };
  const handler = useRef(onCommand);
  handler.current = onCommand;
  useEffect(() => {
    const element = rows.ref.current;
    const listen = (event: Event): void => handler.current((event as CustomEvent<Command>).detail);
    element?.addEventListener(COMMAND, listen);
    return () => element?.removeEventListener(COMMAND, listen);
  }, []);
  const nothing = (): JSX.Element => {
    if (error.value !== null) return <Notice title="The search failed" tone="error">{error.value}</Notice>;
    if (q.trim() === "") return <Notice title="Search in every step">Words of summaries, names, errors and payloads. All words must occur; <code>"quoted words"</code> stand together; <code>pre*</code> finds words that begin so.</Notice>;
    if (loading.value !== "no") return <Notice title="Searching…" />;
    return <Notice title="Nothing found">{behind.value > 0 ? `${formatNumber(behind.value)} of the newest events are not searchable yet; try again in a moment.` : "No step contains all these words."}</Notice>;
  };
  return (
    <div class="rows" ref={rows.ref} data-keys="list" tabIndex={0} role="listbox" aria-label="Found steps" aria-busy={loading.value === "first"}
      aria-activedescendant={active.value >= from && active.value < to ? `hit-${active.value}` : undefined}>
      {hits.value.length === 0 ? nothing() : (
        <div class="rows-body" role="presentation" style={{ height: `${hits.value.length * ROW}px` }}>
          {hits.value.slice(from, to).map((hit, offset) => {
            const index = from + offset;
            const { step } = hit;
            return (
              <div key={stepKey(step)} id={`hit-${index}`} class="hit-row" role="option" aria-selected={stepKey(step) === stepId} data-active={index === active.value} style={{ transform: `translateY(${index * ROW}px)` }}
                onClick={() => { active.value = index; open(index); }}>
                <span class="hit-name"><Foreign text={step.tool_name ?? step.agent_name ?? step.model ?? step.event_type} /></span>
                <span class="hit-type" data-error={step.error_message !== null}>{step.event_type.replaceAll("_", " ")}</span>
                <time class="run-ago" datetime={step.timestamp} title={formatMoment(Date.parse(step.timestamp), app.utc.value)}>{formatAgo(Date.parse(step.timestamp), app.clock.value)}</time>
                <span class="hit-text"><bdi>{snippetParts(hit.snippet).map((part, at) => (part.match ? <mark key={at}>{part.text}</mark> : part.text))}</bdi></span>
                <span class="hit-run mono">{shortId(hit.run_id)}</span>
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}
