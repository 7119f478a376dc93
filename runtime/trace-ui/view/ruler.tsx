import type { JSX } from "preact";
import { type Axis, ticksOf } from "../model/timeline.js";

const TICKS = 6;

/** The time axis, at the top of the outline. */
export function Ruler({ axis, zeroMs }: { axis: Axis; zeroMs: number }): JSX.Element {
  return (
    <div class="ruler" role="row">
      <span role="columnheader" class="ruler-name">Step</span>
      <span role="columnheader" class="ruler-tokens" title="Tokens in and out">Tokens</span>
      <span role="columnheader" class="ruler-lane" aria-label="Time since the start">
        {ticksOf(axis, zeroMs, TICKS).map(({ at, label }) => <i key={label} style={{ left: `${at * 100}%` }} aria-hidden="true">{label}</i>)}
      </span>
    </div>
  );
}

/** Lines of the axis behind the bars; they stay where they are while the rows scroll. */
export function GridLines({ axis, zeroMs, height }: { axis: Axis; zeroMs: number; height: number }): JSX.Element {
  return (
    <div class="grid-lines" aria-hidden="true">
      <span class="grid-lane" style={{ height: `${Math.max(0, height)}px` }}>
        {ticksOf(axis, zeroMs, TICKS).map(({ at, label }) => <span key={label} style={{ left: `${at * 100}%` }} />)}
      </span>
    </div>
  );
}
