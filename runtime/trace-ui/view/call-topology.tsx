/** The calls of one run as a graph: each below the call that made it, many alike together. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { type CallGraph, callGraphOf } from "../model/call-graph.js";
import { formatCost, formatCount, formatDuration, formatMoment, formatNumber } from "../model/format.js";
import type { GraphNode } from "../model/graph.js";
import { previewOf, titleOf } from "../model/run-list.js";
import { scopeParams } from "../model/scope.js";
import type { Node } from "../model/tree.js";
import type { RunPage } from "../model/types.js";
import type { RunStore } from "../state/run.js";
import { useApp } from "./context.js";
import { type Chosen, Drawing } from "./drawing.js";
import { useLayout } from "./graph-layout.js";
import { Fact, GraphPane } from "./graph-details.js";
import { KindIcon, kindWord, StatusIcon } from "./icons.js";
import { useLoaded } from "./load.js";
import { Foreign, Notice } from "./parts.js";

export function CallTopology({ scope }: { scope: string }): JSX.Element {
  const app = useApp();
  const store = useSignal<RunStore | null>(null);
  const runId = scope.startsWith("run:") ? scope.slice("run:".length) : null;
  useEffect(() => {
    if (runId === null) return;
    const opened = app.watchRun(runId);
    store.value = opened;
    return () => opened.close();
  }, [runId]);
  if (runId === null) return <PickRun scope={scope} />;
  return store.value === null ? <Notice title="Loading…" /> : <Calls store={store.value} />;
}

/** Expanded is one run: the newest ones of the scope are offered. */
function PickRun({ scope }: { scope: string }): JSX.Element {
  const app = useApp();
  const { from = "" } = scopeParams(scope, app.now());
  const { value, error } = useLoaded<RunPage>("runs", { extended: 1, limit: 20, from, name: scope.startsWith("name:") ? scope.slice("name:".length) : "" }).value;
  if (error !== null) return <Notice title="The runs can't be read" tone="error">{error}</Notice>;
  if (value === null) return <Notice title="Loading…" />;
  if (value.runs.length === 0) return <Notice title="No runs in this scope" />;
  return (
    <div class="view-body" tabIndex={0} role="region" aria-label="Runs to choose from">
      <p>Each call of one run, below the call that made it. Which run?</p>
      <ul class="runs-behind">
        {value.runs.map((run) => (
          <li key={run.run_id}>
            <StatusIcon status={run.status} />
            <button type="button" class="link" onClick={() => app.show("topology", { scope: `run:${run.run_id}`, expanded: true })}><Foreign text={titleOf(run)} /></button>
            <span class="quiet">{formatMoment(Date.parse(run.started_at), app.utc.value)}</span>
            <span class="run-line"><Foreign text={previewOf(run)} /></span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Calls({ store }: { store: RunStore }): JSX.Element {
  const app = useApp();
  const tree = store.tree.value;
  const graph = useMemo(() => (tree.nodes.length === 0 ? null : callGraphOf(tree)), [tree]);
  const layout = useLayout(graph);
  const chosen = useSignal<Chosen | null>(null);
  if (store.error.value !== null) return <Notice title="The run can't be read" tone="error">{store.error.value}</Notice>;
  if (store.missing.value) return <Notice title="No such run">No run has the id <code><Foreign text={store.id} /></code>.</Notice>;
  if (graph === null) return <Notice title={store.loading.value ? "Loading…" : "Drawing…"} />;
  // An edge of this graph is the call of its child.
  const pickedId = chosen.value === null ? null : chosen.value.kind === "node" ? chosen.value.id : chosen.value.target;
  const picked = graph.nodes.find(({ id }) => id === pickedId) ?? null;
  const choose = (next: Chosen): void => void (chosen.value = JSON.stringify(next) === JSON.stringify(chosen.value) ? null : next);
  return (
    <>
      <p class="graph-note quiet" role="status">
        <button type="button" class="link" onClick={() => app.openRun(store.id)}><Foreign text={store.run.value === null ? store.id : titleOf(store.run.value)} /></button>
        {" "}{formatNumber(graph.nodes.length)} nodes of {formatNumber(tree.nodes.length)} calls{graph.left > 0 && `, ${formatNumber(graph.left)} deeper ones are left out`}
      </p>
      <div class="topology-body">
        <Drawing graph={graph} layout={layout} chosen={chosen.value} onChoose={choose} />
        {picked !== null && <CallDetails store={store} graph={graph} node={picked} onClose={() => (chosen.value = null)} />}
      </div>
    </>
  );
}

/** Calls of a group that are listed; failed ones first, then the longest. */
const SHOWN = 12;

function CallDetails({ store, graph, node, onClose }: { store: RunStore; graph: CallGraph; node: GraphNode; onClose: () => void }): JSX.Element {
  const calls = graph.calls.get(node.id) ?? [];
  const sum = (value: (call: Node) => number): number => calls.reduce((total, call) => total + value(call), 0);
  const [tokensIn, tokensOut, cost] = [sum((call) => call.tokensIn), sum((call) => call.tokensOut), sum((call) => call.costUsd)];
  return (
    <GraphPane title={node.name} label="Call" icon={<KindIcon kind={node.kind} />} onClose={onClose}>
      <dl class="summary">
        <Fact term="Kind">{kindWord(node.kind)}</Fact>
        {node.server !== null && <Fact term="MCP server"><Foreign text={node.server} /></Fact>}
        {calls.length > 1 && <Fact term="Calls">{formatNumber(calls.length)}</Fact>}
        {node.errors > 0 && <Fact term="Failed"><span class="bad">{formatNumber(node.errors)}</span></Fact>}
        {node.p50 !== null && <Fact term={calls.length > 1 ? "p50" : "Duration"}>{formatDuration(node.p50)}</Fact>}
        {calls.length > 1 && node.p95 !== null && <Fact term="p95">{formatDuration(node.p95)}</Fact>}
        {tokensIn + tokensOut > 0 && <Fact term="Tokens">{formatCount(tokensIn)} in, {formatCount(tokensOut)} out</Fact>}
        {cost > 0 && <Fact term="Cost">{formatCost(cost)}</Fact>}
      </dl>
      <CallList store={store} calls={calls} />
    </GraphPane>
  );
}

function CallList({ store, calls }: { store: RunStore; calls: readonly Node[] }): JSX.Element {
  const app = useApp();
  const failed = (call: Node): number => Number(call.span.state === "error");
  const shown = [...calls].sort((a, b) => failed(b) - failed(a) || (b.span.durationMs ?? 0) - (a.span.durationMs ?? 0)).slice(0, SHOWN);
  return (
    <section class="part" aria-label="Steps">
      <h3>{calls.length === 1 ? "Step" : "Steps, failed and longest first"}</h3>
      <ul class="runs-behind">
        {shown.map(({ span }) => (
          <li key={span.id}>
            <button type="button" class="link" onClick={() => app.openRun(store.id, span.id)}>Open in the run</button>
            <span class="quiet">{span.durationMs === null ? "open" : formatDuration(span.durationMs)}</span>
            {span.error !== null && <span class="bad run-line"><Foreign text={span.error} /></span>}
          </li>
        ))}
      </ul>
      {calls.length > shown.length && <p class="quiet">and {formatNumber(calls.length - shown.length)} more</p>}
    </section>
  );
}
