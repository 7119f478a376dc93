/** What calls what: every node once over many runs, or each call of one run. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { formatNumber } from "../model/format.js";
import { type Graph, graphOf } from "../model/graph.js";
import { scopeParams } from "../model/scope.js";
import type { Topology } from "../model/types.js";
import { CallTopology } from "./call-topology.js";
import { useApp } from "./context.js";
import { type Chosen, Drawing } from "./drawing.js";
import { useLayout } from "./graph-layout.js";
import { EdgeDetails, NodeDetails } from "./graph-details.js";
import { useLoaded } from "./load.js";
import { Notice } from "./parts.js";
import { ScopeSelect } from "./scope.js";

export default function TopologyView(): JSX.Element {
  const app = useApp();
  const { expanded, scope } = app.route.value;
  return (
    <section class="view topology" aria-label="Topology">
      <header class="view-head">
        <h1>Topology</h1>
        <ScopeSelect />
        <div class="switch" role="group" aria-label="Calls">
          <button type="button" aria-pressed={!expanded} title="Every agent, model and tool once" onClick={() => app.show("topology", { expanded: false })}>Aggregated</button>
          <button type="button" aria-pressed={expanded} title="Each call of one run, below the call that made it" onClick={() => app.show("topology", { expanded: true })}>Expanded</button>
        </div>
      </header>
      {expanded ? <CallTopology key={scope} scope={scope} /> : <Aggregated key={scope} scope={scope} />}
    </section>
  );
}

function Aggregated({ scope }: { scope: string }): JSX.Element {
  const app = useApp();
  const params = scopeParams(scope, app.now());
  const { value, error, loading } = useLoaded<Topology>("topology", { ...params, extended: 1 }, 15_000).value;
  const graph = useMemo(() => (value === null ? null : graphOf(value)), [value]);
  const layout = useLayout(graph);
  const chosen = useSignal<Chosen | null>(null);
  if (error !== null) return <Notice title="The topology can't be read" tone="error">{error}</Notice>;
  if (value === null || graph === null) return <Notice title={loading ? "Loading…" : "Drawing…"} />;
  if (graph.nodes.length === 0) return <Notice title="Nothing was called yet">{scope === "all" ? "Agents, models and tools appear here with the first run." : "No run of this scope called anything; choose another scope."}</Notice>;
  const choose = (next: Chosen): void => void (chosen.value = JSON.stringify(next) === JSON.stringify(chosen.value) ? null : next);
  return (
    <>
      <p class="graph-note quiet" role="status">{noteOf(graph, value)}</p>
      <div class="topology-body">
        <Drawing graph={graph} layout={layout} chosen={chosen.value} onChoose={choose} />
        <Picked graph={graph} chosen={chosen.value} topology={value} params={params} onChoose={choose} onClose={() => (chosen.value = null)} />
      </div>
    </>
  );
}

function noteOf(graph: Graph, { counted_runs, total_runs }: Topology): string {
  const parts = [`${formatNumber(graph.nodes.length)} nodes, ${formatNumber(graph.edges.length)} edges`];
  if (graph.left > 0) parts.push(`${formatNumber(graph.left)} nodes that were called least are left out`);
  if (counted_runs < total_runs) parts.push(`durations of edges are of the newest ${formatNumber(counted_runs)} of ${formatNumber(total_runs)} runs`);
  return parts.join(" · ");
}

/** What was chosen, as long as the graph has it. */
function Picked({ graph, chosen, topology, params, onChoose, onClose }: { graph: Graph; chosen: Chosen | null; topology: Topology; params: { readonly [name: string]: string }; onChoose: (chosen: Chosen) => void; onClose: () => void }): JSX.Element | null {
  if (chosen === null) return null;
  if (chosen.kind === "edge") {
    const edge = graph.edges.find(({ source, target }) => source === chosen.source && target === chosen.target);
    return edge === undefined ? null : <EdgeDetails edge={edge} graph={graph} params={params} onChoose={onChoose} onClose={onClose} />;
  }
  const node = topology.nodes.find(({ id }) => id === chosen.id);
  return node === undefined ? null : <NodeDetails node={node} graph={graph} params={params} onChoose={onChoose} onClose={onClose} />;
}
