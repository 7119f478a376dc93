/** Where bars and ticks lie on the time axis of a run. Positions are fractions of the axis, 0 to 1. */
import type { Span } from "./spans.js";

/** The part of time that is shown. */
export interface Axis {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Bar {
  readonly left: number;
  readonly width: number;
  /** The call has not ended: the bar is open at the right. */
  readonly open: boolean;
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** A running run without a step for so long is called quiet. */
export const QUIET_MS = 60_000;

/** The axis of a run: to its last end, or to now while it is running, also when nothing arrives: a call that hangs grows. */
export function axisOf(startMs: number, endMs: number, lastMs: number, running: boolean, nowMs: number): Axis {
  const recorded = Math.max(endMs, lastMs, startMs);
  if (!running) return { startMs, endMs: Math.max(recorded, startMs + 1) };
  const room = Math.max((recorded - startMs) * 0.05, 1);
  return { startMs, endMs: Math.max(recorded + room, nowMs, startMs + 1) };
}

/** The bar of a span; `null` when it lies outside the axis. An open call reaches to `openEndMs`. */
export function barOf(span: Pick<Span, "startMs" | "endMs">, axis: Axis, openEndMs: number): Bar | null {
  const extent = axis.endMs - axis.startMs;
  const end = span.endMs ?? Math.max(openEndMs, span.startMs);
  if (extent <= 0 || span.startMs > axis.endMs || end < axis.startMs) return null;
  const left = clamp((span.startMs - axis.startMs) / extent);
  const right = clamp((end - axis.startMs) / extent);
  return { left, width: right - left, open: span.endMs === null };
}

/** Round moments of the axis, at most `most` of them, counted from its zero. */
export function ticksOf(axis: Axis, zeroMs: number, most: number): readonly Tick[] {
  const extent = axis.endMs - axis.startMs;
  if (extent <= 0 || most < 1) return [];
  const step = roundStep(extent / most);
  const ticks: Tick[] = [];
  for (let count = Math.ceil((axis.startMs - zeroMs) / step); ; count++) {
    const at = (zeroMs + count * step - axis.startMs) / extent;
    if (at > 1) break;
    ticks.push({ at, label: tickLabel(count * step, step) });
  }
  return ticks;
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000];

function roundStep(least: number): number {
  const found = STEPS.find((step) => step >= least);
  return found ?? Math.ceil(least / 86_400_000) * 86_400_000;
}

function tickLabel(ms: number, step: number): string {
  if (ms === 0) return "0";
  if (step < 1000 && ms < 1000) return `${ms} ms`;
  if (step < 60_000 && ms < 60_000) return `${trim(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}:${String(Math.floor((ms % 60_000) / 1000)).padStart(2, "0")}`;
  if (ms < 86_400_000) return `${trim(ms / 3_600_000)} h`;
  return `${trim(ms / 86_400_000)} d`;
}

function trim(value: number): string {
  return String(Number(value.toFixed(3)));
}

function clamp(fraction: number): number {
  return Math.min(1, Math.max(0, fraction));
}

/** A narrower (factor < 1) or wider axis around a point that stays where it is, within the bounds. */
export function zoomAxis(axis: Axis, bounds: Axis, around: number, factor: number): Axis {
  const extent = axis.endMs - axis.startMs;
  const whole = bounds.endMs - bounds.startMs;
  const wanted = Math.min(whole, Math.max(1, extent * factor));
  const fixed = axis.startMs + extent * around;
  return panAxis({ startMs: fixed - wanted * around, endMs: fixed + wanted * (1 - around) }, bounds, 0);
}

/** The axis moved by a fraction of itself, within the bounds. */
export function panAxis(axis: Axis, bounds: Axis, by: number): Axis {
  const extent = axis.endMs - axis.startMs;
  const startMs = Math.min(Math.max(axis.startMs + extent * by, bounds.startMs), Math.max(bounds.startMs, bounds.endMs - extent));
  return { startMs, endMs: startMs + extent };
}
