/** The line between two panes, which can be moved by pointer and by keys; where it is outlives a reload. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { useApp } from "./context.js";

const STEP = 24;

/** `side` is the pane whose width it decides: the list before it, or the inspector behind it. */
export function Divider({ side, label, from, to }: { side: "list" | "inspector"; label: string; from: number; to: number }): JSX.Element {
  const app = useApp();
  const start = useRef<{ readonly x: number; readonly width: number } | null>(null);
  const width = app.widths.value[side];
  const clamp = (value: number): number => Math.min(to, Math.max(from, Math.round(value)));
  const sign = side === "list" ? 1 : -1;
  const current = (element: HTMLElement): number => {
    const pane = side === "list" ? element.previousElementSibling : element.nextElementSibling;
    return width ?? Math.round(pane?.getBoundingClientRect().width ?? from);
  };
  return (
    <div class="divider" data-side={side} role="separator" aria-orientation="vertical" aria-label={label} aria-valuemin={from} aria-valuemax={to} aria-valuenow={width ?? from} tabIndex={0}
      onPointerDown={(event) => {
        event.preventDefault();
        start.current = { x: event.clientX, width: current(event.currentTarget) };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => start.current !== null && app.setWidth(side, clamp(start.current.width + sign * (event.clientX - start.current.x)))}
      onPointerUp={() => (start.current = null)} onPointerCancel={() => (start.current = null)}
      onDblClick={() => app.setWidth(side, null)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowRight" ? STEP : event.key === "ArrowLeft" ? -STEP : 0;
        if (by === 0) return;
        event.preventDefault();
        event.stopPropagation();
        app.setWidth(side, clamp(current(event.currentTarget) + sign * by));
      }} />
  );
}
