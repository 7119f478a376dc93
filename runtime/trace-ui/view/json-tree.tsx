/** A value of JSON as an outline that folds. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { formatCount, formatNumber } from "../model/format.js";
import { copyText, foldedText, type Json, jsonRows, type JsonRow, searchJson, TEXT_LIMIT, withParsedTexts } from "../model/payload.js";
import { CopyButton } from "./parts.js";

/** `needle`: only what contains the text, and what leads there. */
export function JsonTree({ value, label, needle = "" }: { value: Json; label: string; needle?: string }): JSX.Element {
  const toggled = useSignal<ReadonlySet<string>>(new Set());
  const wide = useSignal<ReadonlySet<string>>(new Set());
  const flip = (set: typeof toggled, path: string): void => {
    const next = new Set(set.value);
    if (!next.delete(path)) next.add(path);
    set.value = next;
  };
  const read = useMemo(() => withParsedTexts(value), [value]);
  const wanted = needle.trim().toLowerCase();
  const hits = useMemo(() => (wanted === "" ? null : searchJson(read.value, wanted)), [read, wanted]);
  // The payload is an object of the service's making: its entries are the top level.
  const rows = jsonRows(read.value, { toggled: toggled.value, wide: wide.value, only: hits?.paths ?? null }).slice(1);
  return (
    <>
      {hits !== null && <p class="quiet" role="status">{hits.found === 0 ? "Nothing contains this text" : `${hits.found >= 500 ? "500 or more" : hits.found} found`}</p>}
      <div class="json" role="tree" aria-label={label}>
        {rows.map((row) => ("more" in row
          ? <button key={`${row.path}…`} type="button" class="link json-more" style={{ marginLeft: `${row.depth * 14}px` }} onClick={() => flip(wide, row.path)}>{formatNumber(row.more)} more</button>
          : <JsonLine key={row.path} row={row} isText={read.texts.has(row.path)} whole={wide.value.has(row.path)} onToggle={() => flip(toggled, row.path)} onWhole={() => flip(wide, row.path)} />))}
      </div>
    </>
  );
}

function JsonLine({ row, isText, whole, onToggle, onWhole }: { row: JsonRow; isText: boolean; whole: boolean; onToggle: () => void; onWhole: () => void }): JSX.Element {
  const folds = row.size !== null && row.size > 0;
  return (
    <div class="json-line" role="treeitem" aria-level={row.depth} aria-expanded={folds ? row.open : undefined} style={{ paddingLeft: `${Math.min(row.depth - 1, 24) * 14}px` }}>
      {folds ? (
        <button type="button" class="twist" aria-label={`${row.open ? "Fold" : "Unfold"} ${row.key ?? ""}`} onClick={onToggle} data-open={row.open}>
          <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><path d="m6 4 4 4-4 4" /></svg>
        </button>
      ) : <span class="twist" />}
      <span class="json-key"><bdi>{row.key}</bdi></span>
      {isText && <span class="json-was-text" title="The payload has this as JSON in a text">text</span>}
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
