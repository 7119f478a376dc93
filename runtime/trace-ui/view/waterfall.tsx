/** The calls of a run as an outline beside their bars on the time axis; only rows in view are elements. */
import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatCount } from "../model/format.js";
import { type Axis, axisOf, panAxis, zoomAxis } from "../model/timeline.js";
import type { Summary } from "../model/summary.js";
import { nextCause } from "../model/tree.js";
import type { RunStore } from "../state/run.js";
import { useApp } from "./context.js";
import { compareWithPrevious } from "./compare-previous.js";
import { COMMAND, type Command } from "./keys.js";
import { IconButton } from "./parts.js";
import { useRows } from "./rows.js";
import { GridLines, Ruler } from "./ruler.js";
import { OverviewStrip } from "./overview.js";
import { SpanRow } from "./span-row.js";

const ROW = 28;
const RULER = 26;
/** Widths from which a step is shown beside the run, not over it. */
const WIDE = "(min-width: 900px)";

export function Waterfall({ store, summary }: { store: RunStore; summary: Summary }): JSX.Element {
  const app = useApp();
  const rowList = store.rows.value;
  const tree = store.tree.value;
  // What is not known yet is drawn as it was recorded: a run that ended would be drawn up to now, and then once more.
  const running = store.run.value?.status === "running";
  const rows = useRows(rowList.length, ROW, RULER);
  const active = useSignal<string | null>(null);
  const zoom = useSignal<Axis | null>(null);
  const nowMs = useNow(running);
  const bounds = axisOf(tree.startMs, tree.endMs, store.lastMs.value, running, nowMs);
  const axis = zoom.value === null ? bounds : panAxis(zoom.value, bounds, 0);
  const selected = useComputed(() => {
    const { stepId } = app.route.value;
    store.tree.value;
    return stepId === null ? null : (store.spanOfStep(stepId)?.id ?? null);
  });

  const goTo = (id: string): void => {
    store.reveal(id);
    active.value = id;
    rows.reveal(store.rows.peek().findIndex((row) => row.id === id));
  };
  const show = (id: string): void => {
    store.follow.value = false;
    goTo(id);
    app.select(id);
  };
  /** Moves the mark; an open inspector goes along. */
  const move = (index: number): void => {
    const row = rowList[Math.max(0, Math.min(rowList.length - 1, index))];
    if (row === undefined) return;
    store.follow.value = false;
    goTo(row.id);
    if (app.route.value.stepId !== null && row.group === null) app.select(row.id);
  };
  const jump = (step: 1 | -1): void => {
    const cause = nextCause(tree, active.value ?? selected.value, step);
    if (cause !== null) show(cause.span.id);
  };
  const onCommand = (command: Command): void => {
    const at = rowList.findIndex((row) => row.id === active.value);
    const row = rowList[at];
    const page = Math.max(1, Math.floor(rows.height / ROW) - 2);
    switch (command) {
      case "down": return move(at + 1);
      case "up": return move(at < 0 ? 0 : at - 1);
      case "home": return move(0);
      case "end": return move(rowList.length - 1);
      case "page-down": return move(at + page);
      case "page-up": return move(at - page);
      case "enter": return row === undefined ? undefined : row.group === null ? app.select(row.id) : store.toggle(row.id);
      case "left": {
        if (row === undefined) return;
        if (row.children > 0 && !row.collapsed) return store.toggle(row.id, true);
        const above = rowList.findLastIndex((candidate, index) => index < at && candidate.depth < row.depth);
        return above < 0 ? undefined : move(above);
      }
      case "right": return row === undefined ? undefined : row.collapsed ? store.toggle(row.id, false) : move(at + 1);
      case "next-error": return jump(1);
      case "previous-error": return jump(-1);
      case "follow": return void (store.follow.value = !store.follow.value);
      case "zoom-in": return zoomBy(0.5);
      case "zoom-out": return zoomBy(2);
      case "compare": return void compareWithPrevious(app, store);
      case "select": return undefined;
      case "zoom-all": return void (zoom.value = null);
      default: command satisfies never;
    }
  };
  const zoomBy = (factor: number, around?: number): void => {
    const bar = active.value === null ? null : tree.byId.get(active.value);
    const middle = bar == null ? 0.5 : Math.min(1, Math.max(0, (bar.span.startMs - axis.startMs) / (axis.endMs - axis.startMs)));
    const next = zoomAxis(axis, bounds, around ?? middle, factor);
    zoom.value = next.endMs - next.startMs >= (bounds.endMs - bounds.startMs) * 0.999 ? null : next;
  };
  const latest = useRef({ onCommand, zoomBy, axis, bounds });
  latest.current = { onCommand, zoomBy, axis, bounds };
  useEffect(() => {
    const element = rows.ref.current;
    if (element === null) return;
    const listen = (event: Event): void => latest.current.onCommand((event as CustomEvent<Command>).detail);
    const wheel = (event: WheelEvent): void => {
      const lane = element.querySelector(".ruler-lane")?.getBoundingClientRect();
      if (lane === undefined || !(event.ctrlKey || event.shiftKey) || event.clientX < lane.left) {
        store.follow.value = false;
        return;
      }
      event.preventDefault();
      if (event.ctrlKey) latest.current.zoomBy(Math.exp(event.deltaY / 300), (event.clientX - lane.left) / lane.width);
      else if (zoom.value !== null) zoom.value = panAxis(zoom.value, latest.current.bounds, (event.deltaX || event.deltaY) / 800);
    };
    element.addEventListener(COMMAND, listen);
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      element.removeEventListener(COMMAND, listen);
      element.removeEventListener("wheel", wheel);
    };
  }, []);

  // A step of the address, or what explains how the run ended, is shown once it is there.
  const placed = useRef(false);
  useLayoutEffect(() => {
    if (placed.current) return;
    const wanted = selected.value;
    if (wanted !== null) {
      placed.current = true;
      goTo(wanted);
    } else if (app.route.value.stepId === null && !store.loading.value && store.run.value !== null) {
      placed.current = true;
      if (running) {
        store.follow.value = true;
        return;
      }
      // Where the error came from that ended the run; of a run that went well, its root.
      const first = summary.failure.at(-1) ?? tree.nodes[0];
      if (first === undefined) return;
      if (matchMedia(WIDE).matches) show(first.span.id);
      else goTo(first.span.id);
    }
  });
  useEffect(() => {
    if (selected.value !== null && placed.current) goTo(selected.value);
  }, [selected.value]);
  useEffect(() => {
    const newest = store.newest.value;
    if (store.follow.value && newest !== null && placed.current) rows.reveal(rowList.findIndex((row) => row.id === newest.id));
  });

  const { from, to } = rows.window;
  const activeIndex = rowList.findIndex((row) => row.id === active.value);
  const fatalId = summary.failure.at(-1)?.span.id ?? null;
  const openEndMs = running ? bounds.endMs : Math.max(tree.endMs, store.lastMs.value);
  return (
    <>
      <Toolbar store={store} zoomed={zoom.value !== null} onZoom={(factor) => (factor === 0 ? (zoom.value = null) : zoomBy(factor))} onJump={jump} />
      <OverviewStrip tree={tree} bounds={bounds} axis={axis} zoomed={zoom.value !== null} onZoom={(next) => (zoom.value = next)} />
      <div class="waterfall" ref={rows.ref} data-keys="run" role="treegrid" aria-label="Steps" aria-rowcount={rowList.length} aria-colcount={3} tabIndex={0} aria-busy={store.loading.value}
        aria-activedescendant={activeIndex >= from && activeIndex < to ? `span-${activeIndex}` : undefined}>
        <Ruler axis={axis} zeroMs={tree.startMs} />
        <GridLines axis={axis} zeroMs={tree.startMs} height={rows.height - RULER} />
        <div class="waterfall-body" role="presentation" style={{ height: `${rowList.length * ROW}px` }}>
          {rowList.slice(from, to).map((row, offset) => (
            <SpanRow key={row.id} row={row} index={from + offset} top={(from + offset) * ROW} axis={axis} openEndMs={openEndMs} running={running} settled={!store.loading.value}
              active={row.id === active.value} selected={row.id === selected.value} fatal={row.id === fatalId} nowMs={nowMs}
              onToggle={() => store.toggle(row.id)}
              onSelect={() => {
                store.follow.value = false;
                active.value = row.id;
                if (row.group === null) app.select(row.id);
                else store.toggle(row.id);
              }} />
          ))}
        </div>
        {rowList.length === 0 && <p class="nothing">No step contains this text.</p>}
      </div>
    </>
  );
}

function Toolbar({ store, zoomed, onZoom, onJump }: { store: RunStore; zoomed: boolean; onZoom: (factor: number) => void; onJump: (step: 1 | -1) => void }): JSX.Element {
  const tree = store.tree.value;
  const running = store.run.value?.status === "running";
  const feed = store.feed.value;
  const causes = tree.causes.length;
  return (
    <div class="toolbar" role="toolbar" aria-label="Steps">
      <span class="field">
        <input type="text" inputmode="search" aria-label="Filter steps" placeholder="Filter steps" value={store.needle.value} autocomplete="off" spellcheck={false} onInput={(event) => (store.needle.value = event.currentTarget.value)} />
        {store.needle.value !== "" && <IconButton name="close" label="Clear" onClick={() => (store.needle.value = "")} />}
      </span>
      {causes > 0 && (
        <span class="error-jump" role="group" aria-label="Errors">
          <span>{formatCount(causes)} {causes === 1 ? "error" : "errors"}</span>
          <IconButton name="up" label="Previous error" shortcut="E" onClick={() => onJump(-1)} />
          <IconButton name="down" label="Next error" shortcut="e" onClick={() => onJump(1)} />
        </span>
      )}
      <span class="spacer" />
      {store.loading.value && tree.nodes.length > 0 && <span class="quiet" role="status">Loading… {formatCount(tree.nodes.length)}</span>}
      {store.error.value !== null && <button type="button" class="link bad" title={store.error.value} onClick={() => store.retry()}>Steps are missing: try again</button>}
      {running && feed.kind !== "live" && feed.kind !== "connecting" && <span class="warn" role="status">not live</span>}
      {running && <IconButton name="follow" label="Follow the newest step" shortcut="f" pressed={store.follow.value} onClick={() => (store.follow.value = !store.follow.value)} />}
      <span class="zoom" role="group" aria-label="Zoom">
        {zoomed && <button type="button" class="link" onClick={() => onZoom(0)}>Whole run</button>}
        <IconButton name="minus" label="Zoom out" shortcut="-" disabled={!zoomed} onClick={() => onZoom(2)} />
        <IconButton name="plus" label="Zoom in" shortcut="+" onClick={() => onZoom(0.5)} />
      </span>
      <IconButton name="fold" label="Fold all" onClick={() => store.foldAll(true)} />
      <IconButton name="unfold" label="Unfold all" onClick={() => store.foldAll(false)} disabled={store.collapsed.value.size === 0} />
    </div>
  );
}

/** The present, often enough for a bar that grows; it does not change when nothing runs. */
function useNow(running: boolean): number {
  const app = useApp();
  const tick = useSignal(0);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => (tick.value += 1), 250);
    return () => clearInterval(timer);
  }, [running]);
  tick.value;
  return running ? app.now() : app.clock.peek();
}

