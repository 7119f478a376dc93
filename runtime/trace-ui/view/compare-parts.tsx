/** What comparisons of runs and of steps show alike: sums with their changes, and texts with what was removed and added. */
import type { JSX } from "preact";
import type { Delta } from "../model/comparison.js";
import type { DiffPart } from "../model/diff.js";
import { formatCost, formatDuration, formatNumber } from "../model/format.js";

export function DeltaTable({ deltas }: { deltas: readonly Delta[] }): JSX.Element {
  return (
    <table class="deltas">
      <thead><tr><td /><th scope="col" class="num">A</th><th scope="col" class="num">B</th><th scope="col" class="num">Change</th></tr></thead>
      <tbody>{deltas.map((delta) => <DeltaRow key={delta.term} delta={delta} />)}</tbody>
    </table>
  );
}

/** Small costs with the digits that tell them apart. */
function exactCost(dollars: number): string {
  return dollars > 0 && dollars < 0.0001 ? `$${dollars.toFixed(8).replace(/0+$/, "")}` : formatCost(dollars);
}

function DeltaRow({ delta: { term, unit, a, b } }: { delta: Delta }): JSX.Element {
  const show = (value: number): string => (unit === "ms" ? formatDuration(value) : unit === "usd" ? exactCost(value) : formatNumber(value));
  const change = a === null || b === null ? null : b - a;
  const share = a === null || a === 0 || change === null || change === 0 ? "" : ` (${change > 0 ? "+" : "−"}${Math.abs((100 * change) / a).toFixed(0)} %)`;
  return <tr><th scope="row">{term}</th><td class="num">{a === null ? "–" : show(a)}</td><td class="num">{b === null ? "–" : show(b)}</td><td class="num">{change === null ? "–" : change === 0 ? "same" : `${change > 0 ? "+" : "−"}${show(Math.abs(change))}${share}`}</td></tr>;
}

export function Parts({ parts }: { parts: readonly DiffPart[] }): JSX.Element {
  return <bdi>{parts.map((part, index) => (part.kind === "same" ? part.text : part.kind === "removed" ? <del key={index}>{part.text}</del> : <ins key={index}>{part.text}</ins>))}</bdi>;
}
