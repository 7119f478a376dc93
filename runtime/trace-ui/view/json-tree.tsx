/** A payload to unfold; long levels and long texts are cut until asked for. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { formatCount, formatNumber } from "../model/format.js";
import { copyText, foldedText, type Json, jsonRows, type JsonRow, TEXT_LIMIT } from "../model/payload.js";
import { CopyButton } from "./parts.js";

export function JsonTree({ value, label }: { value: Json; label: string }): JSX.Element {
  const toggled = useSignal<ReadonlySet<string>>(new Set());
  const wide = useSignal<ReadonlySet<string>>(new Set());
  const flip = (set: typeof toggled, path: string): void => {
    const next = new Set(set.value);
    if (!next.delete(path)) next.add(path);
    set.value = next;
  };
  // The payload is an object of the service's making: its entries stand at the top.
  const rows = jsonRows(value, toggled.value, wide.value).slice(1);
  return (
    <div class="json" role="tree" aria-label={label}>
      {rows.map((row) => ("more" in row
        ? <button key={`${row.path}…`} type="button" class="link json-more" style={{ marginLeft: `${row.depth * 14}px` }} onClick={() => flip(wide, row.path)}>{formatNumber(row.more)} more</button>
        : <JsonLine key={row.path} row={row} whole={wide.value.has(row.path)} onToggle={() => flip(toggled, row.path)} onWhole={() => flip(wide, row.path)} />))}
    </div>
  );
}

function JsonLine({ row, whole, onToggle, onWhole }: { row: JsonRow; whole: boolean; onToggle: () => void; onWhole: () => void }): JSX.Element {
  const folds = row.size !== null && row.size > 0;
  return (
    <div class="json-line" role="treeitem" aria-level={row.depth} aria-expanded={folds ? row.open : undefined} style={{ paddingLeft: `${(row.depth - 1) * 14}px` }}>
      {folds ? (
        <button type="button" class="twist" aria-label={`${row.open ? "Fold" : "Unfold"} ${row.key ?? ""}`} data-open={row.open} onClick={onToggle}>
          <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><path d="m6 4 4 4-4 4" /></svg>
        </button>
      ) : <span class="twist" />}
      <span class="json-key">{row.key}</span>
      {row.size !== null ? <span class="json-folded">{foldedText(row.value)}</span> : <Scalar value={row.value} whole={whole} onWhole={onWhole} />}
      <CopyButton label={`Copy ${row.key ?? "all"}`} text={() => copyText(row.value)} />
    </div>
  );
}

function Scalar({ value, whole, onWhole }: { value: Json; whole: boolean; onWhole: () => void }): JSX.Element {
  if (typeof value !== "string") return <span class={`json-value json-${value === null ? "null" : typeof value}`}>{String(value)}</span>;
  const cut = value.length > TEXT_LIMIT && !whole;
  return (
    <span class="json-value json-string">
      <bdi>{cut ? value.slice(0, TEXT_LIMIT) : value}</bdi>
      {value.length > TEXT_LIMIT && <button type="button" class="link" onClick={onWhole}>{cut ? `… ${formatCount(value.length - TEXT_LIMIT)} more characters` : " less"}</button>}
    </span>
  );
}
