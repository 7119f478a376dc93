import type { JSX } from "preact";
import { formatCost, formatCount, formatDuration, formatNumber } from "../model/format.js";
import { type Axis, barOf } from "../model/timeline.js";
import type { Group, Node, Row } from "../model/tree.js";
import { KindIcon, kindWord } from "./icons.js";
import { Foreign } from "./parts.js";

const INDENT = 14;
/** Deeper levels are not indented further: the outline stays readable at any depth. */
const MAX_INDENT = 16;
/** A bar that ends before this fraction of the axis has room for its error beside it. */
const ERROR_ROOM = 0.7;
/** A longer text of a bar that ends beyond is drawn over it. */
const LABEL_ROOM = 0.7;
const SHORT_LABEL = 10;

export interface SpanRowProps {
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  readonly axis: Axis;
  readonly openEndMs: number;
  readonly running: boolean;
  /** Every step is loaded: what has no end now has none. */
  readonly settled: boolean;
  readonly active: boolean;
  readonly selected: boolean;
  /** The call that made the run fail. */
  readonly fatal: boolean;
  readonly nowMs: number;
  readonly onToggle: () => void;
  readonly onSelect: () => void;
}

export function SpanRow({ row, index, top, axis, openEndMs, running, settled, active, selected, fatal, nowMs, onToggle, onSelect }: SpanRowProps): JSX.Element {
  const { span, group } = row;
  const bar = barOf(group ?? span, axis, openEndMs);
  const label = group === null ? labelOf(row, running, settled, nowMs) : groupLabel(group);
  // Beyond the axis there is room for a duration, not for more.
  const inside = bar !== null && label.length > SHORT_LABEL && bar.left + bar.width > LABEL_ROOM;
  const state = group === null ? span.state : group.errors > 0 ? "ok" : group.endMs === null ? "open" : "ok";
  return (
    <div id={`span-${index}`} class="span" role="row" aria-level={row.depth + 1} aria-posinset={row.position} aria-setsize={row.siblings} aria-rowindex={index + 1}
      aria-expanded={row.children > 0 ? !row.collapsed : undefined} aria-selected={selected} data-active={active} data-state={state} data-below={row.failedBelow} data-group={group !== null} data-fatal={fatal}
      style={{ top: `${top}px` }} onClick={onSelect}>
      <span class="span-name" role="gridcell" style={{ paddingLeft: `${8 + Math.min(row.depth, MAX_INDENT) * INDENT}px` }}>
        {row.children > 0 ? (
          <button type="button" class="twist" tabIndex={-1} aria-label={row.collapsed ? "Unfold" : "Fold"} data-open={!row.collapsed} onClick={(event) => { event.stopPropagation(); onToggle(); }}>
            <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><path d="m6 4 4 4-4 4" /></svg>
          </button>
        ) : <span class="twist" />}
        <KindIcon kind={span.kind} />
        {row.depth > MAX_INDENT && <span class="depth" title={`Level ${row.depth + 1}`}>{row.depth + 1}</span>}
        <span class="span-text" title={`${kindWord(span.kind)} ${span.name}`}><Foreign text={span.name} /></span>
        {group !== null && <span class="times">× {formatNumber(group.nodes.length)}</span>}
        {span.server !== null && <span class="server" title={`MCP server ${span.server}`}><Foreign text={span.server} /></span>}
        {group === null && span.model !== null && span.model !== span.name && <span class="model"><Foreign text={span.model} /></span>}
        {group === null && row.collapsed && <span class="hidden-count">{formatCount(row.children)}</span>}
        {span.orphan && <span class="orphan" title={`Its parent ${span.parentRunId ?? ""} is not part of what was recorded`}>no parent</span>}
        {fatal && span.error !== null && <span class="span-error" title={span.error}><Foreign text={span.error} /></span>}
      </span>
      <TokenCell row={row} />
      <span class="lane" role="gridcell">
        {span.state === "error" && group === null && <span class="hidden">failed</span>}
        {bar !== null && (
          <>
            <span class={`bar kind-${span.kind}`} data-critical={group === null ? row.node.critical : group.nodes.some((node) => node.critical)} data-open={bar.open && (running || !settled)} style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }} />
            <span class="bar-label" data-inside={inside} style={inside ? undefined : { left: `${(bar.left + bar.width) * 100}%` }}>
              {label}
              {group === null && span.error !== null && !fatal && bar.left + bar.width < ERROR_ROOM && <em><Foreign text={span.error} /></em>}
            </span>
          </>
        )}
      </span>
    </div>
  );
}

/** An open call that is shown as waiting, not just as running. */
const WAITING_MS = 10_000;

function labelOf({ span, node }: Row, running: boolean, settled: boolean, nowMs: number): string {
  if (span.state === "mark") return "";
  if (span.state !== "open") return formatDuration(span.durationMs ?? 0);
  if (!running) return settled ? "no end" : "";
  const openMs = nowMs - span.startMs;
  return openMs < WAITING_MS || node.children.some((child) => child.span.state === "open") ? "running" : `waiting ${formatDuration(openMs)}`;
}

function groupLabel(group: Group): string {
  const times = group.p50 === null ? "" : `p50 ${formatDuration(group.p50)} · p95 ${formatDuration(group.p95 ?? group.p50)}`;
  return [times, group.errors > 0 ? `${formatNumber(group.errors)} failed` : "", group.endMs === null ? "running" : ""].filter((part) => part !== "").join(" · ");
}

/** Tokens of the call itself; of one that has none, those of everything below it. */
function TokenCell({ row: { span, node, group } }: { row: Row }): JSX.Element {
  const own = (span.tokensIn ?? 0) + (span.tokensOut ?? 0) > 0 && group === null;
  const nodes = group === null ? [node] : group.nodes;
  const sum = (pick: (of: Node) => number): number => nodes.reduce((total, of) => total + pick(of), 0);
  const [tokensIn, tokensOut, cost] = own ? [span.tokensIn ?? 0, span.tokensOut ?? 0, span.costUsd ?? 0] : [sum((of) => of.tokensIn), sum((of) => of.tokensOut), sum((of) => of.costUsd)];
  if (tokensIn + tokensOut === 0) return <span class="span-tokens" role="gridcell" />;
  return (
    <span class="span-tokens" role="gridcell" data-sum={!own} title={`${formatNumber(tokensIn)} tokens in, ${formatNumber(tokensOut)} out${cost > 0 ? `, ${formatCost(cost)}` : ""}${own ? "" : ", below it"}`}>
      {formatCount(tokensIn)}<i>→</i>{formatCount(tokensOut)}
    </span>
  );
}
