/** The lines of a graph, each one element; those that are chosen or pointed at are drawn once more, over the others. */
import type { JSX } from "preact";
import { firstPlace, type Label, type Box, headOf, pathOf, placeLabels, samplesOf } from "../model/edge-lines.js";
import { formatCount, formatDuration } from "../model/format.js";
import { type Graph, type GraphEdge, type Layout, MAX_LABELLED, MAX_TIMED, type Point } from "../model/graph.js";

/** An edge with its line. */
export interface Line {
  readonly edge: GraphEdge;
  readonly path: string;
  readonly samples: readonly Point[];
  readonly alone: boolean;
}

/** The lines of all edges that the layout knows. */
export function linesOf(graph: Graph, layout: Layout): readonly Line[] {
  const places = new Map(layout.nodes.map((place) => [place.id, place]));
  const facts = new Map(graph.edges.map((edge) => [keyOf(edge), edge]));
  const incoming = new Map<string, number>();
  for (const { target } of graph.edges) incoming.set(target, (incoming.get(target) ?? 0) + 1);
  return layout.edges.flatMap(({ source, target, points }) => {
    const edge = facts.get(keyOf({ source, target }));
    const place = places.get(source);
    if (edge === undefined || place === undefined) return [];
    const alone = incoming.get(target) === 1;
    if (source === target) return [{ edge, ...loopAt(place), alone }];
    return points.length < 2 ? [] : [{ edge, path: pathOf(points), samples: samplesOf(points), alone }];
  });
}

function keyOf({ source, target }: Pick<GraphEdge, "source" | "target">): string {
  return `${source.length} ${source}${target}`;
}

/** A node that calls itself. */
function loopAt({ x, y }: Point): { readonly path: string; readonly samples: readonly Point[] } {
  return {
    path: `M${x - 14} ${y - 22}C${x - 30} ${y - 56} ${x + 30} ${y - 56} ${x + 14} ${y - 23}`,
    samples: [{ x: x - 14, y: y - 22 }, { x: x - 15, y: y - 40 }, { x, y: y - 47 }, { x: x + 15, y: y - 40 }, { x: x + 14, y: y - 23 }],
  };
}

/** All lines; their texts, as far as they have room. */
export function Edges({ lines, obstacles, dim }: { lines: readonly Line[]; obstacles: readonly Box[]; dim: boolean }): JSX.Element {
  const timed = lines.length <= MAX_TIMED;
  return (
    <g class="edges" data-dim={dim} data-dense={lines.length > MAX_LABELLED}>
      {lines.map(({ edge, path }) => <path key={keyOf(edge)} class="edge" d={path} stroke-width={widthOf(edge)} />)}
      <path class="arrows" d={lines.map(({ samples }) => headOf(samples)).join("")} />
      {lines.length <= MAX_LABELLED && <Labels lines={lines} obstacles={obstacles} timed={timed} />}
    </g>
  );
}

/** Lines over the others, with their texts. */
export function LitEdges({ lines, obstacles, name }: { lines: readonly Line[]; obstacles: readonly Box[]; name: string }): JSX.Element {
  return (
    <g class={name}>
      {lines.map(({ edge, path }) => <path key={keyOf(edge)} class="edge-lit" d={path} stroke-width={widthOf(edge)} />)}
      <path class="arrows" d={lines.map(({ samples }) => headOf(samples)).join("")} />
      <Labels lines={lines} obstacles={obstacles} timed />
    </g>
  );
}

function widthOf({ count }: GraphEdge): number {
  return Math.round(Math.min(5, 1 + Math.log10(1 + count)) * 10) / 10;
}

function Labels({ lines, obstacles, timed }: { lines: readonly Line[]; obstacles: readonly Box[]; timed: boolean }): JSX.Element {
  const labels = lines.map((line) => ({ line, label: labelOf(line, timed) })).filter(({ label }) => label.above !== "" || label.below !== "");
  // Failures first, then what was called most.
  labels.sort((a, b) => b.line.edge.errors - a.line.edge.errors || b.line.edge.count - a.line.edge.count);
  // A single text covers what it must.
  const places = labels.length === 1 ? labels.map(({ label }) => firstPlace(label)) : placeLabels(labels.map(({ label }) => label), obstacles, labels.length <= MAX_TIMED ? lines.map(({ samples }) => samples) : []);
  return <>{labels.map(({ line, label }, index) => <Text key={keyOf(line.edge)} edge={line.edge} label={label} place={places[index] ?? null} />)}</>;
}

function labelOf({ edge, samples, alone }: Line, timed: boolean): Label {
  return { samples, alone, above: [timesOf(edge), failedOf(edge)].filter((part) => part !== "").join(" "), below: timed ? timesText(edge) : "" };
}

function timesOf({ count }: GraphEdge): string {
  return count > 1 ? `× ${formatCount(count)}` : "";
}

function failedOf({ count, errors }: GraphEdge): string {
  return errors === 0 ? "" : count === 1 ? "failed" : `${formatCount(errors)} failed`;
}

function Text({ edge, label, place }: { edge: GraphEdge; label: Label; place: Point | null }): JSX.Element | null {
  if (place === null) return null;
  return (
    <g class="edge-text">
      {label.above !== "" && <text x={place.x} y={place.y - 5}>{timesOf(edge)}{edge.errors > 0 && <tspan class="edge-failed"> {failedOf(edge)}</tspan>}</text>}
      {label.below !== "" && <text class="edge-times" x={place.x} y={place.y + 12}>{label.below}</text>}
    </g>
  );
}

/** `120 ms · p95 1.2 s`; one time where both are the same. */
export function timesText({ p50, p95 }: Pick<GraphEdge, "p50" | "p95">): string {
  if (p50 === null) return "";
  return p95 === null || p95 === p50 ? formatDuration(p50) : `${formatDuration(p50)} · p95 ${formatDuration(p95)}`;
}

/** What is said of an edge while the pointer is on it. */
export function edgeTitle({ count, errors, p50, p95 }: GraphEdge): string {
  return `${count} ${count === 1 ? "call" : "calls"}, ${errors} failed${p50 === null ? "" : `, p50 ${formatDuration(p50)}`}${p95 === null ? "" : `, p95 ${formatDuration(p95)}`}`;
}
