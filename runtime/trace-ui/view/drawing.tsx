/** A graph of calls as a picture: servers around their tools, lines between nodes, what was chosen in front. */
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Box, nearestLine } from "../model/edge-lines.js";
import type { Graph, Layout, Point } from "../model/graph.js";
import { edgeTitle, Edges, type Line, linesOf, LitEdges } from "./edges.js";
import { isCut, Nodes, nodeTitle, type PlacedNode } from "./nodes.js";
import { IconButton, Notice } from "./parts.js";

/** What is chosen: a node, or the calls between two. */
export type Chosen = { readonly kind: "node"; readonly id: string } | { readonly kind: "edge"; readonly source: string; readonly target: string };

interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** What the pointer is on, where it is in the box, and what is said of it. */
interface Hover {
  readonly at: Point;
  readonly texts: readonly string[];
  readonly line: Line | null;
}

/** Text that can't be read helps nobody: a large graph is scrolled. */
const MIN_FIT = 0.45;
/** How far from a line, in pixels of the screen, the pointer is still on it. */
const REACH = 7;

/** Until there is a layout only the room for it is there, so that it is drawn once, at the right size. */
export function Drawing({ graph, layout, chosen, onChoose }: { graph: Graph; layout: Layout | null; chosen: Chosen | null; onChoose: (chosen: Chosen) => void }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal<View>({ x: 0, y: 0, scale: 1 });
  const hover = useSignal<Hover | null>(null);
  const { fit, zoom, ...moves } = useView(box, view, layout);
  const lines = useMemo(() => (layout === null ? [] : linesOf(graph, layout)), [graph, layout]);
  const nodes = useMemo(() => placedNodes(graph, layout), [graph, layout]);
  const names = useMemo(() => new Map(graph.nodes.map(({ id, name }) => [id, name])), [graph]);
  /** What is under the pointer: an index of a node, else a line. */
  const under = (event: MouseEvent): { readonly node: PlacedNode | null; readonly line: Line | null; readonly at: Point } => {
    const rect = box.current?.getBoundingClientRect();
    const at = { x: event.clientX - (rect?.left ?? 0), y: event.clientY - (rect?.top ?? 0) };
    const node = nodeOf(event.target, nodes);
    if (node !== null || (event.target as Element).closest("button") !== null) return { node, line: null, at };
    const { x, y, scale } = view.peek();
    return { node, line: lines[nearestLine(lines.map(({ samples }) => samples), { x: (at.x - x) / scale, y: (at.y - y) / scale }, REACH / scale)] ?? null, at };
  };
  const point = (event: PointerEvent): void => {
    const { node, line, at } = under(event);
    if (node !== null) hover.value = isCut(node.node.name) ? { at, texts: [nodeTitle(node.node)], line: null } : null;
    else hover.value = line === null ? null : { at, texts: [`${names.get(line.edge.source) ?? ""} → ${names.get(line.edge.target) ?? ""}`, edgeTitle(line.edge)], line };
  };
  const choose = (event: MouseEvent): void => {
    if (moves.wasDrag()) return;
    const { node, line } = under(event);
    if (node !== null) onChoose({ kind: "node", id: node.node.id });
    else if (line !== null) onChoose({ kind: "edge", source: line.edge.source, target: line.edge.target });
  };
  return (
    <div class="drawing" ref={box} onPointerDown={moves.start} onPointerMove={(event) => { if (!moves.move(event) && event.pointerType === "mouse") point(event); }} onPointerUp={moves.end} onPointerCancel={moves.end} onPointerLeave={() => (hover.value = null)} onClick={choose}
      onKeyDown={(event) => {
        const node = event.key === "Enter" || event.key === " " ? nodeOf(event.target, nodes) : null;
        if (node === null) return;
        event.preventDefault();
        event.stopPropagation();
        onChoose({ kind: "node", id: node.node.id });
      }}>
      {layout === null ? <Notice title="Drawing…" /> : <Picture view={view} hover={hover} layout={layout} lines={lines} nodes={nodes} chosen={chosen} />}
      <HoverText hover={hover} />
      <div class="drawing-tools" role="group" aria-label="Zoom">
        <IconButton name="plus" label="Zoom in" onClick={() => zoom(1.25)} />
        <IconButton name="minus" label="Zoom out" onClick={() => zoom(0.8)} />
        <button type="button" onClick={fit}>Fit</button>
      </div>
    </div>
  );
}

function placedNodes(graph: Graph, layout: Layout | null): readonly PlacedNode[] {
  const places = new Map(layout?.nodes.map((place) => [place.id, place]));
  return graph.nodes.flatMap((node) => {
    const place = places.get(node.id);
    return place === undefined ? [] : [{ node, place }];
  });
}

function nodeOf(target: EventTarget | null, nodes: readonly PlacedNode[]): PlacedNode | null {
  const element = (target as Element | null)?.closest(".node") ?? null;
  return element === null ? null : (nodes[Number(element.getAttribute("data-index"))] ?? null);
}

/** The part of the picture that is seen: by dragging, by the wheel and by buttons. */
function useView(box: { readonly current: HTMLDivElement | null }, view: Signal<View>, layout: Layout | null) {
  const size = useRef({ width: 0, height: 0 });
  const moved = useRef(false);
  const drag = useRef<{ readonly x: number; readonly y: number; readonly from: View; far: boolean } | null>(null);
  const dragged = useRef(false);
  const fit = (): void => {
    moved.current = false;
    const { width, height } = size.current;
    if (layout === null || layout.width === 0 || width === 0) return;
    const scale = Math.max(MIN_FIT, Math.min(1.2, width / (layout.width + 20), height / (layout.height + 20)));
    view.value = { scale, x: Math.max(10, (width - layout.width * scale) / 2), y: Math.max(10, (height - layout.height * scale) / 2) };
  };
  const zoom = (factor: number, at: Point = { x: size.current.width / 2, y: size.current.height / 2 }): void => {
    moved.current = true;
    const { x, y, scale } = view.value;
    const next = Math.min(4, Math.max(0.1, scale * factor));
    view.value = { scale: next, x: at.x - ((at.x - x) * next) / scale, y: at.y - ((at.y - y) * next) / scale };
  };
  const latest = useRef({ zoom, fit });
  latest.current = { zoom, fit };
  // The box is measured while it is empty: with a large graph in it, that would lay all of it out.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    size.current = { width: element.clientWidth, height: element.clientHeight };
    const observer = new ResizeObserver(() => {
      const next = { width: element.clientWidth, height: element.clientHeight };
      if (next.width === size.current.width && next.height === size.current.height) return;
      size.current = next;
      if (!moved.current) latest.current.fit();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // What the reader moved stays where it is, also while a run grows.
  useLayoutEffect(() => {
    if (!moved.current) fit();
  }, [layout]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const rect = element.getBoundingClientRect();
      latest.current.zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - rect.left, y: event.clientY - rect.top });
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  return {
    fit,
    zoom,
    start(event: PointerEvent): void {
      dragged.current = false;
      if ((event.target as Element).closest(".node, button") === null) drag.current = { x: event.clientX, y: event.clientY, from: view.value, far: false };
    },
    /** Whether the pointer drags the picture. */
    move(event: PointerEvent): boolean {
      const from = drag.current;
      if (from === null) return false;
      // A hand is never quite still.
      if (!from.far && Math.hypot(event.clientX - from.x, event.clientY - from.y) < 4) return true;
      if (!from.far) (event.currentTarget as Element).setPointerCapture(event.pointerId);
      from.far = dragged.current = moved.current = true;
      view.value = { ...from.from, x: from.from.x + event.clientX - from.x, y: from.from.y + event.clientY - from.y };
      return true;
    },
    end: (): void => void (drag.current = null),
    /** Whether the click that comes now ends a drag. */
    wasDrag: (): boolean => dragged.current,
  };
}

/** Moves and zooms; what is inside is not made anew for that. */
function Moved({ view, children }: { view: Signal<View>; children: ComponentChildren }): JSX.Element {
  const { x, y, scale } = view.value;
  return <g transform={`translate(${x} ${y}) scale(${scale})`}>{children}</g>;
}

function Picture({ view, hover, layout, lines, nodes, chosen }: { view: Signal<View>; hover: Signal<Hover | null>; layout: Layout; lines: readonly Line[]; nodes: readonly PlacedNode[]; chosen: Chosen | null }): JSX.Element {
  const obstacles = useMemo(() => obstaclesOf(layout, nodes), [layout, nodes]);
  const lit = useMemo(() => (chosen === null ? [] : lines.filter(({ edge }) => (chosen.kind === "node" ? edge.source === chosen.id || edge.target === chosen.id : edge.source === chosen.source && edge.target === chosen.target))), [lines, chosen]);
  const near = useMemo(() => (chosen === null ? null : new Set([...(chosen.kind === "node" ? [chosen.id] : []), ...lit.flatMap(({ edge }) => [edge.source, edge.target])])), [lit, chosen]);
  const edges = useMemo(() => <Edges lines={lines} obstacles={obstacles} dim={chosen !== null} />, [lines, obstacles, chosen === null]);
  const shapes = useMemo(() => <Nodes nodes={nodes} chosen={chosen?.kind === "node" ? chosen.id : null} near={near} />, [nodes, near]);
  return (
    <svg width="100%" height="100%" role="group" aria-label="Graph of calls">
      <Moved view={view}>
        {layout.groups.map((group) => (
          <g key={group.name} class="server-group">
            <rect x={group.x - group.width / 2} y={group.y - group.height / 2} width={group.width} height={group.height} rx={10} />
            <text x={group.x - group.width / 2 + 10} y={group.y - group.height / 2 + 18}>{group.name.length > 34 ? `${group.name.slice(0, 33)}…` : group.name}</text>
          </g>
        ))}
        {edges}
        {lit.length > 0 && <LitEdges lines={lit} obstacles={obstacles} name="edges-chosen" />}
        <HoverEdge hover={hover} />
        {shapes}
      </Moved>
    </svg>
  );
}

const GROUP_HEAD = 24;

/** What no text may cover: nodes, and the names of servers. */
function obstaclesOf(layout: Layout, nodes: readonly PlacedNode[]): readonly Box[] {
  return [
    ...nodes.map(({ node, place }) => ({ left: place.x - node.width / 2, right: place.x + node.width / 2, top: place.y - node.height / 2, bottom: place.y + node.height / 2 })),
    ...layout.groups.map(({ x, y, width, height }) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y - height / 2 + GROUP_HEAD })),
  ];
}

function HoverEdge({ hover }: { hover: Signal<Hover | null> }): JSX.Element | null {
  const line = hover.value?.line ?? null;
  return line === null ? null : <path class="edge-lit" d={line.path} stroke-width={3} />;
}

/** Beside the pointer; by keys the same is in the lists of the chosen node. */
function HoverText({ hover }: { hover: Signal<Hover | null> }): JSX.Element | null {
  if (hover.value === null) return null;
  const { at, texts } = hover.value;
  return <p class="hover-text" aria-hidden="true" style={{ left: `${at.x + 12}px`, top: `${at.y + 14}px` }}>{texts.map((text) => <bdi key={text}>{text}</bdi>)}</p>;
}
