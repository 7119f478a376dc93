import type { JSX } from "preact";
import { formatCount, formatDuration, formatNumber } from "../model/format.js";
import type { Span } from "../model/spans.js";
import { type Axis, barOf } from "../model/timeline.js";
import type { Row } from "../model/tree.js";
import { KindIcon, kindWord } from "./icons.js";
import { Foreign } from "./parts.js";

const INDENT = 14;
/** Deeper levels are not indented further: the outline stays readable at any depth. */
const MAX_INDENT = 16;
/** A bar that ends before this fraction of the axis has room for its error beside it. */
const ERROR_ROOM = 0.7;

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
  readonly onToggle: () => void;
  readonly onSelect: () => void;
}

export function SpanRow({ row, index, top, axis, openEndMs, running, settled, active, selected, onToggle, onSelect }: SpanRowProps): JSX.Element {
  const { span } = row;
  const bar = barOf(span, axis, openEndMs);
  const label = span.state === "open" ? (running ? "running" : settled ? "no end" : "") : span.state === "mark" ? "" : formatDuration(span.durationMs ?? 0);
  const tokens = (span.tokensIn ?? 0) + (span.tokensOut ?? 0);
  return (
    <div id={`span-${index}`} class="span" role="row" aria-level={row.depth + 1} aria-posinset={row.position} aria-setsize={row.siblings} aria-rowindex={index + 1}
      aria-expanded={row.children > 0 ? !row.collapsed : undefined} aria-selected={selected} data-active={active} data-state={span.state} data-below={row.failedBelow}
      style={{ transform: `translateY(${top}px)` }} onClick={onSelect}>
      <span class="span-name" role="gridcell" style={{ paddingLeft: `${8 + Math.min(row.depth, MAX_INDENT) * INDENT}px` }}>
        {row.children > 0 ? (
          <button type="button" class="twist" tabIndex={-1} aria-label={row.collapsed ? "Unfold" : "Fold"} data-open={!row.collapsed} onClick={(event) => { event.stopPropagation(); onToggle(); }}>
            <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><path d="m6 4 4 4-4 4" /></svg>
          </button>
        ) : <span class="twist" />}
        <KindIcon kind={span.kind} />
        {row.depth > MAX_INDENT && <span class="depth" title={`Level ${row.depth + 1}`}>{row.depth + 1}</span>}
        <span class="span-text" title={titleOf(span)}><Foreign text={span.name} /></span>
        {span.server !== null && <span class="server" title={`MCP server ${span.server}`}><Foreign text={span.server} /></span>}
        {span.model !== null && span.model !== span.name && <span class="model"><Foreign text={span.model} /></span>}
        {row.collapsed && <span class="hidden-count">{formatCount(row.children)}</span>}
        {span.orphan && <span class="orphan" title={`Its parent ${span.parentRunId ?? ""} is not part of what was recorded`}>no parent</span>}
      </span>
      <span class="span-tokens" role="gridcell" title={tokens === 0 ? undefined : `${formatNumber(span.tokensIn ?? 0)} tokens in, ${formatNumber(span.tokensOut ?? 0)} out`}>
        {tokens > 0 && <>{formatCount(span.tokensIn ?? 0)}<i>→</i>{formatCount(span.tokensOut ?? 0)}</>}
      </span>
      <span class="lane" role="gridcell" aria-label={span.state === "error" ? `${label}, failed` : label}>
        {bar !== null && (
          <>
            <span class={`bar kind-${span.kind}`} data-open={bar.open && (running || !settled)} style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }} />
            <span class="bar-label" style={{ left: `${(bar.left + bar.width) * 100}%` }}>
              {label}
              {span.error !== null && bar.left + bar.width < ERROR_ROOM && <em><Foreign text={span.error} /></em>}
            </span>
          </>
        )}
      </span>
    </div>
  );
}

function titleOf(span: Span): string {
  return `${kindWord(span.kind)} ${span.name}`;
}
