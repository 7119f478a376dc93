/** Lines between the nodes of a graph: their shape, where their texts have room, and which one is under the pointer. */
import type { Point } from "./graph.js";

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A line as an SVG path, with round corners; between two points it leaves and arrives level. */
export function pathOf(points: readonly Point[]): string {
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

const SAMPLES = 12;

/** Points on the line that `pathOf` draws, from its start to its end. */
export function samplesOf(points: readonly Point[]): readonly Point[] {
  const [first, second] = points;
  if (first === undefined || second === undefined) return points;
  if (points.length === 2) {
    return Array.from({ length: SAMPLES + 1 }, (_, index) => {
      const t = index / SAMPLES;
      const level = t * t * (3 - 2 * t);
      // Both control points are half way, so x is a cubic of its own.
      const along = 1.5 * t * (1 - t) + t * t * t;
      return { x: first.x + (second.x - first.x) * along, y: first.y + (second.y - first.y) * level };
    });
  }
  const found: Point[] = [first];
  let from = first;
  for (let index = 1; index < points.length - 1; index++) {
    const [at, next] = [points[index], points[index + 1]];
    if (at === undefined || next === undefined) continue;
    const to = { x: (at.x + next.x) / 2, y: (at.y + next.y) / 2 };
    for (const t of [0.25, 0.5, 0.75, 1]) found.push({ x: (1 - t) ** 2 * from.x + 2 * t * (1 - t) * at.x + t * t * to.x, y: (1 - t) ** 2 * from.y + 2 * t * (1 - t) * at.y + t * t * to.y });
    from = to;
  }
  const last = points.at(-1);
  return last === undefined ? found : [...found, last];
}

const HEAD = { length: 8, width: 3.2 } as const;

/** The head of an arrow at the end of a line, as an SVG path. */
export function headOf(samples: readonly Point[]): string {
  const [before, end] = samples.slice(-2);
  if (before === undefined || end === undefined) return "";
  const length = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [x, y] = [(end.x - before.x) / length, (end.y - before.y) / length];
  const [backX, backY] = [end.x - x * HEAD.length, end.y - y * HEAD.length];
  return `M${end.x} ${end.y}L${round(backX - y * HEAD.width)} ${round(backY + x * HEAD.width)}L${round(backX + y * HEAD.width)} ${round(backY - x * HEAD.width)}Z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Index of the line that passes a point most closely, no further than `within`; -1 without one. */
export function nearestLine(lines: readonly (readonly Point[])[], { x, y }: Point, within: number): number {
  let nearest = -1;
  let least = within * within;
  lines.forEach((samples, line) => {
    for (let index = 1; index < samples.length; index++) {
      const [a, b] = [samples[index - 1], samples[index]];
      if (a === undefined || b === undefined) continue;
      const [dx, dy] = [b.x - a.x, b.y - a.y];
      const part = Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1)));
      const distance = (a.x + part * dx - x) ** 2 + (a.y + part * dy - y) ** 2;
      if (distance > least) continue;
      least = distance;
      nearest = line;
    }
  });
  return nearest;
}

/** The texts of a line: one above it, one below it, either may be empty. */
export interface Label {
  readonly samples: readonly Point[];
  readonly above: string;
  readonly below: string;
  /** No other line ends at its node: the text is just before that, where lines that begin at one node are apart. */
  readonly alone: boolean;
}

const CHAR = 6.1;
const LINE = 14;
/** Between the end of a text and the node, or the box of its server. */
const GAP = 30;
/** Places along a line, as parts of it, the best one first. */
const PLACES = { alone: [0.75, 0.65, 0.55, 0.45, 0.85, 0.35, 0.25], shared: [0.4, 0.3, 0.5, 0.2, 0.6, 0.7, 0.8] } as const;

/**
 * Where the texts are, by label: the middle of the text, on its line. Labels come in the order of their importance: one
 * that has no place without covering an obstacle or an earlier text is `null`. Of several places the one that the fewest
 * `lines` cross is taken.
 */
export function placeLabels(labels: readonly Label[], obstacles: readonly Box[], lines: readonly (readonly Point[])[] = []): readonly (Point | null)[] {
  const taken = [...obstacles];
  return labels.map((label) => {
    const free = placesOf(label).map((point) => ({ point, box: boxAt(label, point) })).filter(({ box }) => !taken.some((other) => overlap(other, box)));
    let best: (typeof free)[number] | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const place of free) {
      const crossing = lines.reduce((count, line) => count + (line !== label.samples && passes(line, place.box) ? 1 : 0), 0);
      if (crossing >= least) continue;
      [best, least] = [place, crossing];
      if (crossing === 0) break;
    }
    if (best === undefined) return null;
    taken.push(best.box);
    return best.point;
  });
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
}

/** Whether a line goes through a box, near enough: between two samples by their middle. */
function passes(samples: readonly Point[], box: Box): boolean {
  return samples.some(({ x, y }, index) => {
    const next = samples[index + 1] ?? { x, y };
    return [{ x, y }, { x: (x + next.x) / 2, y: (y + next.y) / 2 }].some((at) => at.x > box.left && at.x < box.right && at.y > box.top && at.y < box.bottom);
  });
}

/** The best place for a text, whatever it covers. */
export function firstPlace(label: Label): Point | null {
  return placesOf(label)[0] ?? null;
}

function widthOf({ above, below }: Label): number {
  return Math.max([...above].length, [...below].length) * CHAR + 4;
}

function boxAt(label: Label, { x, y }: Point): Box {
  const half = widthOf(label) / 2;
  return { left: x - half, right: x + half, top: label.above === "" ? y : y - LINE - 3, bottom: label.below === "" ? y : y + LINE + 2 };
}

function placesOf(label: Label): readonly Point[] {
  const { samples, alone } = label;
  const [start, end] = [samples[0], samples.at(-1)];
  if (start === undefined || end === undefined) return [];
  const before = alone && end.x > start.x ? samples.findLast(({ x }) => x <= end.x - GAP - widthOf(label) / 2) : undefined;
  const along = PLACES[alone ? "alone" : "shared"].flatMap((part) => samples[Math.round((samples.length - 1) * part)] ?? []);
  return before === undefined ? along : [before, ...along];
}
