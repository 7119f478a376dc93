/** The whole run above the rows: how busy it was and where it failed. Dragging over it zooms. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { formatDuration } from "../model/format.js";
import { overviewOf } from "../model/summary.js";
import type { Axis } from "../model/timeline.js";
import type { Tree } from "../model/tree.js";

const PARTS = 240;
const HEIGHT = 28;
/** A shorter drag is a click. */
const MIN_DRAG = 0.005;

export function OverviewStrip({ tree, bounds, axis, zoomed, onZoom }: { tree: Tree; bounds: Axis; axis: Axis; zoomed: boolean; onZoom: (axis: Axis | null) => void }): JSX.Element {
  const extent = bounds.endMs - bounds.startMs;
  // A running run moves its end all the time; the picture is made anew with the steps only.
  const overview = useMemo(() => overviewOf(tree, bounds.startMs, bounds.endMs, PARTS), [tree]);
  const drag = useSignal<{ readonly from: number; readonly to: number } | null>(null);
  const at = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const path = overview.density.map((value, index) => `L${index} ${(HEIGHT - 2 - value * (HEIGHT - 6)).toFixed(1)}L${index + 1} ${(HEIGHT - 2 - value * (HEIGHT - 6)).toFixed(1)}`).join("");
  const from = drag.value === null ? (axis.startMs - bounds.startMs) / extent : Math.min(drag.value.from, drag.value.to);
  const to = drag.value === null ? (axis.endMs - bounds.startMs) / extent : Math.max(drag.value.from, drag.value.to);
  return (
    <div class="overview-row">
      <div class="overview" title="Drag to zoom, double-click for the whole run" aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.value = { from: at(event), to: at(event) };
        }}
        onPointerMove={(event) => drag.value !== null && (drag.value = { from: drag.value.from, to: at(event) })}
        onPointerUp={() => {
          const done = drag.value;
          drag.value = null;
          if (done === null || Math.abs(done.to - done.from) < MIN_DRAG) return;
          onZoom({ startMs: bounds.startMs + extent * Math.min(done.from, done.to), endMs: bounds.startMs + extent * Math.max(done.from, done.to) });
        }}
        onPointerCancel={() => (drag.value = null)}
        onDblClick={() => onZoom(null)}>
        <svg viewBox={`0 0 ${PARTS} ${HEIGHT}`} preserveAspectRatio="none" width="100%" height={HEIGHT}>
          <path class="overview-density" d={`M0 ${HEIGHT}${path}L${PARTS} ${HEIGHT}Z`} />
          {overview.errors.map((failed, index) => failed && <rect key={index} class="overview-error" x={index} y={0} width={1.5} height={HEIGHT} />)}
        </svg>
        {(zoomed || drag.value !== null) && <span class="overview-window" style={{ left: `${from * 100}%`, width: `${Math.max(0, to - from) * 100}%` }} />}
        {drag.value !== null && <span class="overview-label" style={{ left: `${to * 100}%` }}>{formatDuration((to - from) * extent)}</span>}
      </div>
    </div>
  );
}
