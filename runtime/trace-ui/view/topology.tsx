/** What calls what, over many runs: layers from callers to called, MCP servers around their tools. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatCount, formatDuration, formatNumber } from "../model/format.js";
import { errorShare, type Graph, graphOf, type GraphNode, type Layout, type LayoutRequest, MAX_GRAPH_NODES } from "../model/graph.js";
import type { Topology, TopologyNode } from "../model/types.js";
import { useApp } from "./context.js";
import { KindIcon, kindWord } from "./icons.js";
import { useLoaded } from "./load.js";
import { Foreign, IconButton, Notice } from "./parts.js";
import { ScopeSelect } from "./scope.js";

export default function TopologyView(): JSX.Element {
  const app = useApp();
  const { scope } = app.route.value;
  const { value, error, loading } = useLoaded<Topology>("topology", { scope }, 15_000).value;
  const graph = useMemo(() => (value === null ? null : graphOf(value)), [value]);
  const layout = useLayout(graph);
  const chosen = useSignal<string | null>(null);
  const picked = graph?.nodes.find(({ node }) => node.id === chosen.value)?.node ?? null;
  return (
    <section class="view topology" aria-label="Topology">
      <header class="view-head">
        <h1>Topology</h1>
        <ScopeSelect />
        {graph !== null && <span class="quiet">{formatNumber(graph.nodes.length)} nodes, {formatNumber(graph.edges.length)} edges{graph.nodes.length === MAX_GRAPH_NODES && ", the most called ones"}</span>}
      </header>
      {error !== null ? <Notice title="The topology can't be read" tone="error">{error}</Notice>
        : graph === null || (layout === null && graph.nodes.length > 0) ? <Notice title={loading ? "Loading…" : "Drawing…"} />
          : graph.nodes.length === 0 ? <Notice title="Nothing was called yet">Agents, models and tools appear here with the first run.</Notice>
            : layout !== null && <div class="topology-body"><Drawing graph={graph} layout={layout} chosen={chosen.value} onChoose={(id) => (chosen.value = chosen.value === id ? null : id)} />{picked !== null && <Details node={picked} graph={graph} onClose={() => (chosen.value = null)} onChoose={(id) => (chosen.value = id)} />}</div>}
    </section>
  );
}

/** The newest layout; while a new one is made, the last one stays. */
function useLayout(graph: Graph | null): Layout | null {
  const layout = useSignal<Layout | null>(null);
  const worker = useRef<Worker | null>(null);
  const asked = useRef(0);
  useEffect(() => () => worker.current?.terminate(), []);
  // The same nodes and edges lie at the same places, whatever their counts are now.
  const shape = graph === null ? "" : JSON.stringify([graph.nodes.map(({ node }) => node.id), graph.edges.map(({ source, target }) => [source, target])]);
  useEffect(() => {
    if (graph === null || graph.nodes.length === 0) return;
    worker.current ??= new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
    const id = ++asked.current;
    worker.current.onmessage = (event: MessageEvent<Layout>) => {
      if (event.data.id === asked.current) layout.value = event.data;
    };
    const request: LayoutRequest = { id, nodes: graph.nodes.map(({ node, width, height, group }) => ({ id: node.id, width, height, group })), edges: graph.edges };
    worker.current.postMessage(request);
  }, [shape]);
  return layout.value;
}

interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

function Drawing({ graph, layout, chosen, onChoose }: { graph: Graph; layout: Layout; chosen: string | null; onChoose: (id: string) => void }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal<View>({ x: 0, y: 0, scale: 1 });
  const drag = useRef<{ readonly x: number; readonly y: number; readonly from: View } | null>(null);
  const fit = (): void => {
    const size = box.current?.getBoundingClientRect();
    if (size === undefined || layout.width === 0) return;
    const scale = Math.min(1.2, size.width / (layout.width + 20), size.height / (layout.height + 20));
    // Text that can't be read helps nobody: a large graph is scrolled.
    const shown = Math.max(0.45, scale);
    view.value = { scale: shown, x: Math.max(10, (size.width - layout.width * shown) / 2), y: Math.max(10, (size.height - layout.height * shown) / 2) };
  };
  useEffect(fit, [layout]);
  const zoom = (factor: number, at?: { readonly x: number; readonly y: number }): void => {
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
  const near = new Set(chosen === null ? [] : graph.edges.flatMap(({ source, target }) => (source === chosen || target === chosen ? [source, target] : [])));
  const { x, y, scale } = view.value;
  return (
    <div class="drawing" ref={box}
      onPointerDown={(event) => { if (!(event.target as Element).closest(".node, button")) { drag.current = { x: event.clientX, y: event.clientY, from: view.value }; event.currentTarget.setPointerCapture(event.pointerId); } }}
      onPointerMove={(event) => { const from = drag.current; if (from !== null) view.value = { ...from.from, x: from.from.x + event.clientX - from.x, y: from.from.y + event.clientY - from.y }; }}
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
          {layout.edges.map((edge, index) => <Edge key={`${edge.source} ${edge.target}`} edge={edge} count={graph.edges[index]?.count ?? 0} place={places.get(edge.source)} lit={chosen !== null && (edge.source === chosen || edge.target === chosen)} dim={chosen !== null && edge.source !== chosen && edge.target !== chosen} />)}
          {graph.nodes.map((item) => {
            const place = places.get(item.node.id);
            return place === undefined ? null : <NodeShape key={item.node.id} item={item} x={place.x} y={place.y} chosen={item.node.id === chosen} dim={chosen !== null && item.node.id !== chosen && !near.has(item.node.id)} onChoose={() => onChoose(item.node.id)} />;
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

function Edge({ edge, count, place, lit, dim }: { edge: Layout["edges"][number]; count: number; place: { readonly x: number; readonly y: number } | undefined; lit: boolean; dim: boolean }): JSX.Element | null {
  const self = edge.source === edge.target && place !== undefined;
  if (edge.points.length < 2 && !self) return null;
  const points = edge.points;
  const middle = self ? { x: place.x, y: place.y - 46 } : (points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 });
  const path = self ? `M${place.x - 14} ${place.y - 22}C${place.x - 30} ${place.y - 56} ${place.x + 30} ${place.y - 56} ${place.x + 14} ${place.y - 23}` : curve(points);
  return (
    <g class="edge" data-lit={lit} data-dim={dim}>
      <path d={path} stroke-width={Math.min(5, 1 + Math.log10(1 + count))} marker-end="url(#arrow)" />
      {count > 1 && <text x={middle.x} y={middle.y - 4}>× {formatCount(count)}</text>}
    </g>
  );
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

function NodeShape({ item: { node, width, height }, x, y, chosen, dim, onChoose }: { item: GraphNode; x: number; y: number; chosen: boolean; dim: boolean; onChoose: () => void }): JSX.Element {
  const share = errorShare(node);
  const [left, top] = [x - width / 2, y - height / 2];
  const name = [...node.name].length > 26 ? `${[...node.name].slice(0, 25).join("")}…` : node.name;
  return (
    <g class={`node node-${node.type}`} data-chosen={chosen} data-dim={dim} data-failing={share > 0} role="button" tabindex={0} aria-pressed={chosen}
      onClick={onChoose}
      onKeyDown={(event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); onChoose(); } }}>
      <title>{`${node.type} ${node.name}: ${node.invocation_count} calls, ${node.error_count} failed, ${formatDuration(node.avg_duration_ms)} on average`}</title>
      <path class="node-shape" d={shapeOf(node.type, left, top, width, height)} />
      {share > 0 && <rect class="node-errors" x={left + 10} y={top + height - 5} width={Math.max(3, (width - 20) * share)} height={3} rx={1.5} />}
      <text class="node-name" x={x} y={y - 2}>{name}</text>
      <text class="node-count" x={x} y={y + 13}>{formatCount(node.invocation_count)} · {formatDuration(node.avg_duration_ms)}{node.error_count > 0 ? ` · ${formatCount(node.error_count)} failed` : ""}</text>
    </g>
  );
}

/** Kinds differ by shape as well as by colour. */
function shapeOf(type: TopologyNode["type"], x: number, y: number, w: number, h: number): string {
  switch (type) {
    case "agent": return `M${x + 12} ${y}H${x + w - 12}L${x + w} ${y + h / 2}L${x + w - 12} ${y + h}H${x + 12}L${x} ${y + h / 2}Z`;
    case "llm": return `M${x + h / 2} ${y}H${x + w - h / 2}A${h / 2} ${h / 2} 0 0 1 ${x + w - h / 2} ${y + h}H${x + h / 2}A${h / 2} ${h / 2} 0 0 1 ${x + h / 2} ${y}Z`;
    case "retriever": return `M${x} ${y}H${x + w}L${x + w - 14} ${y + h}H${x + 14}Z`;
    case "chain": return `M${x} ${y}H${x + w}V${y + h}H${x}Z`;
    case "tool":
    case "mcp": return `M${x + 8} ${y}H${x + w - 8}A8 8 0 0 1 ${x + w} ${y + 8}V${y + h - 8}A8 8 0 0 1 ${x + w - 8} ${y + h}H${x + 8}A8 8 0 0 1 ${x} ${y + h - 8}V${y + 8}A8 8 0 0 1 ${x + 8} ${y}Z`;
    default: return type satisfies never;
  }
}

function Details({ node, graph, onClose, onChoose }: { node: TopologyNode; graph: Graph; onClose: () => void; onChoose: (id: string) => void }): JSX.Element {
  const app = useApp();
  const nameOf = (id: string): string => graph.nodes.find((item) => item.node.id === id)?.node.name ?? id;
  const list = (title: string, edges: readonly { readonly id: string; readonly count: number }[]): JSX.Element | null => edges.length === 0 ? null : (
    <section class="part"><h3>{title}</h3><ul class="neighbours">{edges.map(({ id, count }) => <li key={id}><button type="button" class="link" onClick={() => onChoose(id)}><Foreign text={nameOf(id)} /></button> <span class="quiet">× {formatNumber(count)}</span></li>)}</ul></section>
  );
  return (
    <aside class="inspector" aria-label="Node" tabIndex={-1}>
      <header class="inspector-head">
        {node.type !== "mcp" && <KindIcon kind={node.type} />}
        <h2><Foreign text={node.name} /></h2>
        <IconButton name="close" label="Close" onClick={onClose} />
      </header>
      <div class="inspector-body" tabIndex={0} role="region" aria-label="Details of the node">
        <dl class="summary">
          <div><dt>Kind</dt><dd>{node.type === "mcp" ? "MCP server" : kindWord(node.type)}</dd></div>
          {node.source !== null && <div><dt>MCP server</dt><dd><Foreign text={node.source} /></dd></div>}
          <div><dt>Calls</dt><dd>{formatNumber(node.invocation_count)}</dd></div>
          <div><dt>Failed</dt><dd class={node.error_count > 0 ? "bad" : ""}>{formatNumber(node.error_count)}</dd></div>
          <div><dt>Average</dt><dd>{formatDuration(node.avg_duration_ms)}</dd></div>
          {node.p99_duration_ms != null && <div><dt>p99</dt><dd>{formatDuration(node.p99_duration_ms)}</dd></div>}
        </dl>
        <p><button type="button" onClick={() => { app.show("runs"); app.setFilters({ q: `"${node.name.slice(0, 190).replaceAll('"', " ")}"`, inSteps: true }); }}>Steps of this node</button></p>
        {list("Calls", graph.edges.filter(({ source }) => source === node.id).map(({ target, count }) => ({ id: target, count })))}
        {list("Called by", graph.edges.filter(({ target }) => target === node.id).map(({ source, count }) => ({ id: source, count })))}
      </div>
    </aside>
  );
}
