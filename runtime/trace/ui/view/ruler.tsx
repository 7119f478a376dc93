import type { JSX } from "preact";
import { type Axis, ticksOf } from "../model/timeline.js";

/** The time axis, at the top of the outline, with lines down through the bars. */
export function Ruler({ axis, zeroMs }: { axis: Axis; zeroMs: number }): JSX.Element {
  const ticks = ticksOf(axis, zeroMs, 6);
  return (
    <div class="ruler" role="row">
      <span role="columnheader" class="ruler-name">Step</span>
      <span role="columnheader" class="ruler-tokens" title="Tokens in and out">Tokens</span>
      <span role="columnheader" class="ruler-lane" aria-label="Time since the start">
        {ticks.map(({ at, label }) => (
          <span key={label} class="tick" data-last={at > 0.92} style={{ left: `${at * 100}%` }} aria-hidden="true"><i>{label}</i></span>
        ))}
      </span>
    </div>
  );
}
