/** A graph of calls as a picture: servers around their tools, kinds by shape and colour, what was chosen in front. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatCount, formatDuration } from "../model/format.js";
import { errorShare, type Graph, type GraphEdge, type GraphNode, labelPoint, type Layout, type LayoutRequest, MAX_LABELLED, type Point } from "../model/graph.js";
import { IconButton } from "./parts.js";

/** What is chosen: a node, or the calls between two. */
export type Chosen = { readonly kind: "node"; readonly id: string } | { readonly kind: "edge"; readonly source: string; readonly target: string };

/** The newest layout; while a new one is made, the last one stays. */
export function useLayout(graph: Graph | null): Layout | null {
  const layout = useSignal<Layout | null>(null);
  const worker = useRef<Worker | null>(null);
  /** One layout is made at a time; of those asked for meanwhile the last one follows. */
  const busy = useRef(false);
  const waiting = useRef<LayoutRequest | null>(null);
  useEffect(() => () => worker.current?.terminate(), []);
  const send = (request: LayoutRequest): void => {
    worker.current ??= new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
    worker.current.onmessage = (event: MessageEvent<Layout>) => {
      layout.value = event.data;
      busy.current = false;
      const next = waiting.current;
      waiting.current = null;
      if (next !== null) send(next);
    };
    busy.current = true;
    worker.current.postMessage(request);
  };
  // The same nodes and edges lie at the same places, whatever their counts are now.
  const shape = graph === null ? "" : JSON.stringify([graph.nodes.map(({ id }) => id), graph.edges.map(({ source, target }) => [source, target])]);
  useEffect(() => {
    if (graph === null || graph.nodes.length === 0) return;
    const request: LayoutRequest = { nodes: graph.nodes.map(({ id, width, height, group }) => ({ id, width, height, group })), edges: graph.edges.map(({ source, target }) => ({ source, target })), labelled: graph.edges.length <= MAX_LABELLED };
    if (busy.current) waiting.current = request;
    else send(request);
  }, [shape]);
  return layout.value;
}

interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export function Drawing({ graph, layout, chosen, onChoose }: { graph: Graph; layout: Layout; chosen: Chosen | null; onChoose: (chosen: Chosen) => void }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal<View>({ x: 0, y: 0, scale: 1 });
  const drag = useRef<{ readonly x: number; readonly y: number; readonly from: View } | null>(null);
  const moved = useRef(false);
  const fit = (): void => {
    moved.current = false;
    const size = box.current?.getBoundingClientRect();
    if (size === undefined || layout.width === 0) return;
    const scale = Math.min(1.2, size.width / (layout.width + 20), size.height / (layout.height + 20));
    // Text that can't be read helps nobody: a large graph is scrolled.
    const shown = Math.max(0.45, scale);
    view.value = { scale: shown, x: Math.max(10, (size.width - layout.width * shown) / 2), y: Math.max(10, (size.height - layout.height * shown) / 2) };
  };
  // What the reader moved stays where it is, also while a run grows.
  useEffect(() => {
    if (!moved.current) fit();
  }, [layout]);
  const zoom = (factor: number, at?: { readonly x: number; readonly y: number }): void => {
    moved.current = true;
    const { x, y, scale } = view.value;
    const next = Math.min(4, Math.max(0.1, scale * factor));
    const size = box.current?.getBoundingClientRect();
    const point = at ?? { x: (size?.width ?? 0) / 2, y: (size?.height ?? 0) / 2 };
    view.value = { scale: next, x: point.x - ((point.x - x) * next) / scale, y: point.y - ((point.y - y) * next) / scale };
  };
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const rect = element.getBoundingClientRect();
      latest.current(Math.exp(-event.deltaY / 400), { x: event.clientX - rect.left, y: event.clientY - rect.top });
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  const places = new Map(layout.nodes.map((place) => [place.id, place]));
  const isLit = (edge: { readonly source: string; readonly target: string }): boolean => chosen !== null && (chosen.kind === "node" ? edge.source === chosen.id || edge.target === chosen.id : edge.source === chosen.source && edge.target === chosen.target);
  const near = new Set(chosen === null ? [] : [...(chosen.kind === "node" ? [chosen.id] : []), ...graph.edges.flatMap((edge) => (isLit(edge) ? [edge.source, edge.target] : []))]);
  const facts = new Map(graph.edges.map((edge) => [`${edge.source.length} ${edge.source}${edge.target}`, edge]));
  const incoming = new Map<string, number>();
  for (const { target } of graph.edges) incoming.set(target, (incoming.get(target) ?? 0) + 1);
  const labelled = graph.edges.length <= MAX_LABELLED;
  const { x, y, scale } = view.value;
  return (
    <div class="drawing" ref={box}
      onPointerDown={(event) => { if (!(event.target as Element).closest(".node, .edge, button")) { drag.current = { x: event.clientX, y: event.clientY, from: view.value }; event.currentTarget.setPointerCapture(event.pointerId); } }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (from === null) return;
        moved.current = true;
        view.value = { ...from.from, x: from.from.x + event.clientX - from.x, y: from.from.y + event.clientY - from.y };
      }}
      onPointerUp={() => (drag.current = null)} onPointerCancel={() => (drag.current = null)}>
      <svg width="100%" height="100%" role="group" aria-label="Graph of calls">
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1 7 4 0 7Z" class="arrow" /></marker></defs>
        <g transform={`translate(${x} ${y}) scale(${scale})`}>
          {layout.groups.map((group) => (
            <g key={group.name} class="server-group">
              <rect x={group.x - group.width / 2} y={group.y - group.height / 2} width={group.width} height={group.height} rx={10} />
              <text x={group.x - group.width / 2 + 10} y={group.y - group.height / 2 + 18}>{group.name.length > 34 ? `${group.name.slice(0, 33)}…` : group.name}</text>
            </g>
          ))}
          {layout.edges.map((line) => {
            const edge = facts.get(`${line.source.length} ${line.source}${line.target}`);
            const lit = isLit(line);
            return edge === undefined ? null : <Edge key={`${line.source} ${line.target}`} edge={edge} points={line.points} place={places.get(line.source)} lit={lit} dim={chosen !== null && !lit} alone={incoming.get(line.target) === 1} timed={labelled || lit} onChoose={() => onChoose({ kind: "edge", source: line.source, target: line.target })} />;
          })}
          {graph.nodes.map((node) => {
            const place = places.get(node.id);
            return place === undefined ? null : <NodeShape key={node.id} node={node} x={place.x} y={place.y} chosen={chosen?.kind === "node" && chosen.id === node.id} dim={chosen !== null && !near.has(node.id)} onChoose={() => onChoose({ kind: "node", id: node.id })} />;
          })}
        </g>
      </svg>
      <div class="drawing-tools" role="group" aria-label="Zoom">
        <IconButton name="plus" label="Zoom in" onClick={() => zoom(1.25)} />
        <IconButton name="minus" label="Zoom out" onClick={() => zoom(0.8)} />
        <button type="button" onClick={fit}>Fit</button>
      </div>
    </div>
  );
}

/** A line that is chosen by the pointer; by keys the same is chosen in the lists of its nodes. */
function Edge({ edge, points, place, lit, dim, alone, timed, onChoose }: { edge: GraphEdge; points: readonly Point[]; place: Point | undefined; lit: boolean; dim: boolean; /** No other edge ends there. */ alone: boolean; timed: boolean; onChoose: () => void }): JSX.Element | null {
  const self = edge.source === edge.target && place !== undefined;
  if (points.length < 2 && !self) return null;
  const label = self ? { x: place.x, y: place.y - 46, anchor: "middle" as const } : labelPoint(points, alone);
  const path = self ? `M${place.x - 14} ${place.y - 22}C${place.x - 30} ${place.y - 56} ${place.x + 30} ${place.y - 56} ${place.x + 14} ${place.y - 23}` : curve(points);
  const times = timed ? timesText(edge) : "";
  return (
    <g class="edge" data-lit={lit} data-dim={dim} data-failing={edge.errors > 0} onClick={onChoose}>
      <title>{edgeTitle(edge)}</title>
      <path class="edge-area" d={path} />
      <path class="edge-line" d={path} stroke-width={Math.min(5, 1 + Math.log10(1 + edge.count))} marker-end="url(#arrow)" />
      {(edge.count > 1 || edge.errors > 0) && <text x={label.x} y={label.y - 5} text-anchor={label.anchor}>× {formatCount(edge.count)}{edge.errors > 0 && <tspan class="edge-failed"> {formatCount(edge.errors)} failed</tspan>}</text>}
      {times !== "" && <text class="edge-times" x={label.x} y={label.y + 12} text-anchor={label.anchor}>{times}</text>}
    </g>
  );
}

/** `120 ms · p95 1.2 s`; one time where both are the same. */
export function timesText({ p50, p95 }: Pick<GraphEdge, "p50" | "p95">): string {
  if (p50 === null) return "";
  return p95 === null || p95 === p50 ? formatDuration(p50) : `${formatDuration(p50)} · p95 ${formatDuration(p95)}`;
}

function edgeTitle({ count, errors, p50, p95 }: GraphEdge): string {
  return `${count} ${count === 1 ? "call" : "calls"}, ${errors} failed${p50 === null ? "" : `, p50 ${formatDuration(p50)}`}${p95 === null ? "" : `, p95 ${formatDuration(p95)}`}`;
}

/** A line through the points with round corners; between two it leaves and arrives level. */
function curve(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const [only] = rest;
  if (rest.length === 1 && only !== undefined) {
    const middle = (first.x + only.x) / 2;
    return `M${first.x} ${first.y}C${middle} ${first.y} ${middle} ${only.y} ${only.x} ${only.y}`;
  }
  let path = `M${first.x} ${first.y}`;
  for (let index = 0; index < rest.length - 1; index++) {
    const [at, next] = [rest[index], rest[index + 1]];
    if (at !== undefined && next !== undefined) path += `Q${at.x} ${at.y} ${(at.x + next.x) / 2} ${(at.y + next.y) / 2}`;
  }
  const last = rest.at(-1);
  return last === undefined ? path : `${path}L${last.x} ${last.y}`;
}

function NodeShape({ node, x, y, chosen, dim, onChoose }: { node: GraphNode; x: number; y: number; chosen: boolean; dim: boolean; onChoose: () => void }): JSX.Element {
  const { width, height } = node;
  const share = errorShare(node);
  const [left, top] = [x - width / 2, y - height / 2];
  const name = [...node.name].length > 26 ? `${[...node.name].slice(0, 25).join("")}…` : node.name;
  const time = node.p50 === null ? "" : formatDuration(node.p50);
  const count = node.calls === 1 && time !== "" ? "" : `× ${formatCount(node.calls)}`;
  return (
    <g class={`node node-${node.kind}`} data-chosen={chosen} data-dim={dim} data-failing={share > 0} role="button" tabindex={0} aria-pressed={chosen}
      onClick={onChoose}
      onKeyDown={(event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); onChoose(); } }}>
      <title>{`${node.kind} ${node.name}: ${node.calls} ${node.calls === 1 ? "call" : "calls"}, ${node.errors} failed${time === "" ? "" : `, p50 ${time}`}`}</title>
      <path class="node-shape" d={shapeOf(node.kind, left, top, width, height)} />
      {share > 0 && <rect class="node-errors" x={left + 10} y={top + height - 5} width={Math.max(3, (width - 20) * share)} height={3} rx={1.5} />}
      <text class="node-name" x={x} y={y - 2}>{name}</text>
      <text class="node-count" x={x} y={y + 13}>{[count, time, node.errors > 0 ? `${node.calls === 1 ? "" : `${formatCount(node.errors)} `}failed` : ""].filter((part) => part !== "").join(" · ")}</text>
    </g>
  );
}

/** Kinds differ by shape as well as by colour. */
function shapeOf(type: GraphNode["kind"], x: number, y: number, w: number, h: number): string {
  switch (type) {
    case "agent": return `M${x + 12} ${y}H${x + w - 12}L${x + w} ${y + h / 2}L${x + w - 12} ${y + h}H${x + 12}L${x} ${y + h / 2}Z`;
    case "llm": return `M${x + h / 2} ${y}H${x + w - h / 2}A${h / 2} ${h / 2} 0 0 1 ${x + w - h / 2} ${y + h}H${x + h / 2}A${h / 2} ${h / 2} 0 0 1 ${x + h / 2} ${y}Z`;
    case "retriever": return `M${x} ${y}H${x + w}L${x + w - 14} ${y + h}H${x + 14}Z`;
    case "chain":
    case "run": return `M${x} ${y}H${x + w}V${y + h}H${x}Z`;
    case "tool": return `M${x + 8} ${y}H${x + w - 8}A8 8 0 0 1 ${x + w} ${y + 8}V${y + h - 8}A8 8 0 0 1 ${x + w - 8} ${y + h}H${x + 8}A8 8 0 0 1 ${x} ${y + h - 8}V${y + 8}A8 8 0 0 1 ${x + 8} ${y}Z`;
    default: return type satisfies never;
  }
}

