/** The layout of a graph, made by a worker that is started before there is a graph: it has much to load. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Graph, type Layout, type LayoutRequest, MAX_TIMED } from "../model/graph.js";

/** The newest layout; while a new one is made, the last one stays. */
export function useLayout(graph: Graph | null): Layout | null {
  const layout = useSignal<Layout | null>(null);
  const worker = useRef<Worker | null>(null);
  /** One layout is made at a time; of those asked for meanwhile the last one follows. */
  const busy = useRef(false);
  const waiting = useRef<LayoutRequest | null>(null);
  const send = (request: LayoutRequest): void => {
    busy.current = true;
    worker.current?.postMessage(request);
  };
  useLayoutEffect(() => {
    const started = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
    started.onmessage = (event: MessageEvent<Layout>) => {
      layout.value = event.data;
      busy.current = false;
      const next = waiting.current;
      waiting.current = null;
      if (next !== null) send(next);
    };
    worker.current = started;
    return () => started.terminate();
  }, []);
  // The same nodes and edges lie at the same places, whatever their counts are now.
  const shape = graph === null ? "" : JSON.stringify([graph.nodes.map(({ id }) => id), graph.edges.map(({ source, target }) => [source, target])]);
  useLayoutEffect(() => {
    if (graph === null || graph.nodes.length === 0) return;
    const request: LayoutRequest = { nodes: graph.nodes.map(({ id, width, height, group }) => ({ id, width, height, group })), edges: graph.edges.map(({ source, target }) => ({ source, target })), labelled: graph.edges.length <= MAX_TIMED };
    if (busy.current) waiting.current = request;
    else send(request);
  }, [shape]);
  return layout.value;
}
