/** Beside the graph: what a node or an edge stands for, and the runs behind it. */
import type { ComponentChildren, JSX } from "preact";
import { formatAgo, formatDuration, formatMoment, formatNumber } from "../model/format.js";
import type { Graph, GraphEdge } from "../model/graph.js";
import { titleOf } from "../model/run-list.js";
import type { NodeRuns, TopologyNode } from "../model/types.js";
import { useApp } from "./context.js";
import type { Chosen } from "./drawing.js";
import { timesText } from "./edges.js";
import { KindIcon, kindWord, StatusIcon } from "./icons.js";
import { useLoaded } from "./load.js";
import { Foreign, IconButton } from "./parts.js";

interface DetailsProps {
  readonly graph: Graph;
  /** The scope, as the service takes it. */
  readonly params: { readonly [name: string]: string };
  readonly onChoose: (chosen: Chosen) => void;
  readonly onClose: () => void;
}

export function NodeDetails({ node, graph, params, onChoose, onClose }: DetailsProps & { node: TopologyNode }): JSX.Element {
  const app = useApp();
  return (
    <GraphPane title={node.name} label="Node" icon={node.type === "mcp" ? null : <KindIcon kind={node.type} />} onClose={onClose}>
      <dl class="summary">
        <Fact term="Kind">{node.type === "mcp" ? "MCP server" : kindWord(node.type)}</Fact>
        {node.source !== null && <Fact term="MCP server"><Foreign text={node.source} /></Fact>}
        <Fact term="Calls">{formatNumber(node.invocation_count)}</Fact>
        <Fact term="Failed"><span class={node.error_count > 0 ? "bad" : ""}>{formatNumber(node.error_count)}</span></Fact>
        <Fact term="Average">{formatDuration(node.avg_duration_ms)}</Fact>
        {node.p50_duration_ms !== null && <Fact term="p50">{formatDuration(node.p50_duration_ms)}</Fact>}
        {node.p95_duration_ms !== null && <Fact term="p95">{formatDuration(node.p95_duration_ms)}</Fact>}
        {node.p99_duration_ms !== null && <Fact term="p99">{formatDuration(node.p99_duration_ms)}</Fact>}
      </dl>
      <p><button type="button" onClick={() => { app.show("runs"); app.setFilters({ q: `"${node.name.slice(0, 190).replaceAll('"', " ")}"`, inSteps: true }); }}>Steps of this node</button></p>
      <Neighbours title="Calls" graph={graph} edges={graph.edges.filter(({ source }) => source === node.id)} end="target" onChoose={onChoose} />
      <Neighbours title="Called by" graph={graph} edges={graph.edges.filter(({ target }) => target === node.id)} end="source" onChoose={onChoose} />
      <RunsBehind key={node.id} params={{ ...params, node: node.id }} />
    </GraphPane>
  );
}

export function EdgeDetails({ edge, graph, params, onChoose, onClose }: DetailsProps & { edge: GraphEdge }): JSX.Element {
  const [caller, called] = [nameIn(graph, edge.source), nameIn(graph, edge.target)];
  return (
    <GraphPane title={`${caller} → ${called}`} label="Edge" icon={null} onClose={onClose}>
      <dl class="summary">
        <Fact term="Caller"><button type="button" class="link" onClick={() => onChoose({ kind: "node", id: edge.source })}><Foreign text={caller} /></button></Fact>
        <Fact term="Called"><button type="button" class="link" onClick={() => onChoose({ kind: "node", id: edge.target })}><Foreign text={called} /></button></Fact>
        <Fact term="Calls">{formatNumber(edge.count)}</Fact>
        <Fact term="Failed"><span class={edge.errors > 0 ? "bad" : ""}>{formatNumber(edge.errors)}</span></Fact>
        {edge.p50 !== null && <Fact term="p50">{formatDuration(edge.p50)}</Fact>}
        {edge.p95 !== null && <Fact term="p95">{formatDuration(edge.p95)}</Fact>}
      </dl>
      <RunsBehind key={`${edge.source} ${edge.target}`} params={{ ...params, node: edge.target, caller: edge.source }} />
    </GraphPane>
  );
}

/** The frame of the details; `icon` is that of the kind. */
export function GraphPane({ title, label, icon, onClose, children }: { title: string; label: string; icon: JSX.Element | null; onClose: () => void; children: ComponentChildren }): JSX.Element {
  return (
    <aside class="inspector" aria-label={label} tabIndex={-1}>
      <header class="inspector-head">{icon}<h2><Foreign text={title} /></h2><IconButton name="close" label="Close" onClick={onClose} /></header>
      <div class="inspector-body" tabIndex={0} role="region" aria-label={`Details of the ${label.toLowerCase()}`}>{children}</div>
    </aside>
  );
}

export function Fact({ term, children }: { term: string; children: ComponentChildren }): JSX.Element {
  return <div><dt>{term}</dt><dd>{children}</dd></div>;
}

function nameIn(graph: Graph, id: string): string {
  return graph.nodes.find((node) => node.id === id)?.name ?? id;
}

/** Neighbours of a node; each leads to the edge between. */
function Neighbours({ title, graph, edges, end, onChoose }: { title: string; graph: Graph; edges: readonly GraphEdge[]; end: "source" | "target"; onChoose: (chosen: Chosen) => void }): JSX.Element | null {
  if (edges.length === 0) return null;
  return (
    <section class="part">
      <h3>{title}</h3>
      <ul class="neighbours">
        {edges.map((edge) => (
          <li key={edge[end]}>
            <button type="button" class="link" onClick={() => onChoose({ kind: "edge", source: edge.source, target: edge.target })}><Foreign text={nameIn(graph, edge[end])} /></button>{" "}
            <span class="quiet">× {formatNumber(edge.count)} {timesText(edge)}</span>{edge.errors > 0 && <span class="bad"> {formatNumber(edge.errors)} failed</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Runs that are listed; the rest is a number. */
const SHOWN = 20;

function RunsBehind({ params }: { params: { readonly [name: string]: string } }): JSX.Element {
  const app = useApp();
  const { value, error } = useLoaded<NodeRuns>("topology/runs", { ...params, limit: SHOWN }).value;
  return (
    <section class="part" aria-label="Runs">
      <h3>Runs{value !== null && <span class="size">{formatNumber(value.total)}{value.counted_runs < value.total_runs && ` of the newest ${formatNumber(value.counted_runs)}`}</span>}</h3>
      {error !== null ? <p class="bad" role="alert">{error}</p> : value === null ? <p class="quiet">Loading…</p> : value.runs.length === 0 ? <p class="quiet">None of the runs that were looked at.</p> : (
        <ul class="runs-behind">
          {value.runs.map((run) => {
            const startedMs = Date.parse(run.started_at);
            return (
              <li key={run.run_id}>
                <StatusIcon status={run.status} />
                <button type="button" class="link" onClick={() => app.openRun(run.run_id)}><Foreign text={titleOf(run)} /></button>
                <span class="quiet">{run.duration_ms !== null && `${formatDuration(run.duration_ms)} · `}<time datetime={run.started_at} title={formatMoment(startedMs, app.utc.value)}>{formatAgo(startedMs, app.clock.value)}</time></span>
              </li>
            );
          })}
        </ul>
      )}
      {value !== null && value.total > value.runs.length && <p class="quiet">and {formatNumber(value.total - value.runs.length)} earlier ones</p>}
    </section>
  );
}
