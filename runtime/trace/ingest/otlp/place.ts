/** What each span of a request counts as: its kind of call, its server, its depth below the root. */
import { familyOf, type SpanFamily } from "./conventions.js";
import { countOf, type FactReader, type Facts, rawOf, textOf } from "./facts.js";
import type { Attributes, Span } from "./spans.js";

export interface Placed {
  readonly span: Span;
  /** Id of its events' run, and of its parent's: that of the span within its trace. */
  readonly key: string;
  readonly parentKey: string;
  readonly facts: Facts;
  /** Of all spans of the same resource. */
  readonly resource: Resource;
  family: SpanFamily;
  server: string | null;
  depth: number;
}

export interface Resource {
  readonly facts: Facts;
  readonly json: string;
}

const HEX_32 = /^[0-9a-f]{32}$/;
const HEX_16 = /^[0-9a-f]{16}$/;
const NO_ID = /^0*$/;
/** The last microsecond of the year 9999. */
const MAX_US = 253_402_300_799_000_000;
const TOOL_NAME = /^(?:tools\/call|execute_tool) (.+)$/;

/** Why a span can't be taken; `null` when it can. */
export function spanProblem(span: Span): string | null {
  if (!HEX_32.test(span.traceId) || NO_ID.test(span.traceId)) return "a span has no valid trace id";
  if (!HEX_16.test(span.spanId) || NO_ID.test(span.spanId)) return "a span has no valid span id";
  if (span.parentId !== "" && !HEX_16.test(span.parentId)) return "a span has no valid parent span id";
  return span.startUs <= 0 || span.startUs > MAX_US || span.endUs > MAX_US ? "a span has no valid start time" : null;
}

/**
 * One call of an MCP tool may be seen three times: by the agent, the client and the server. The outermost span counts
 * as the call and learns the server's name from the others, which become steps inside it.
 */
export function placeSpans(spans: readonly Span[], reader: FactReader): readonly Placed[] {
  const resources = new Map<Attributes, Resource>();
  const byKey = new Map<string, Placed>();
  const all = spans.map((span): Placed => {
    let resource = resources.get(span.resource);
    if (resource === undefined) {
      resource = { facts: reader.read(span.resource), json: JSON.stringify(span.resource) };
      resources.set(span.resource, resource);
    }
    const facts = reader.read(span.attributes);
    const placed: Placed = {
      span, key: `${span.traceId}-${span.spanId}`, parentKey: span.parentId === "" ? "" : `${span.traceId}-${span.parentId}`, facts, resource, family: familyOf(span, facts),
      server: serverOf(span, facts, resource), depth: -1,
    };
    byKey.set(placed.key, placed);
    return placed;
  });
  for (const placed of all) if (rawOf(placed.facts, "mcpMethod") === "tools/call") foldCall(placed, byKey);
  for (const placed of all) setDepth(placed, byKey);
  return all;
}

/** Makes a call inside the same call a step of it. */
function foldCall(placed: Placed, byKey: ReadonlyMap<string, Placed>): void {
  const parent = byKey.get(placed.parentKey);
  if (parent === undefined || parent === placed || !isSameCall(parent, placed)) return;
  placed.family = "chain";
  const { server } = placed;
  if (server === null) return;
  // Up to the span that counts as the call.
  let at: Placed | undefined = parent;
  const seen = new Set<Placed>();
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    if (at.server === null || rawOf(at.facts, "mcpMethod") === undefined) at.server = server;
    const above: Placed | undefined = byKey.get(at.parentKey);
    at = above !== undefined && isSameCall(above, placed) ? above : undefined;
  }
}

function isSameCall(outer: Placed, inner: Placed): boolean {
  return familyOf(outer.span, outer.facts) === "tool" && toolOf(outer) === toolOf(inner);
}

/** Steps up to a root or out of the request; a cycle ends the count. */
function setDepth(placed: Placed, byKey: ReadonlyMap<string, Placed>): void {
  const path: Placed[] = [];
  const onPath = new Set<Placed>();
  let at: Placed | undefined = placed;
  while (at !== undefined && at.depth < 0 && !onPath.has(at)) {
    path.push(at);
    onPath.add(at);
    at = byKey.get(at.parentKey);
  }
  let depth = at?.depth ?? -1;
  for (const visited of path.reverse()) visited.depth = depth += 1;
}

/** The tool that a span calls. */
export function toolOf({ span, facts }: Pick<Placed, "span" | "facts">): string {
  return textOf(facts, "tool") ?? TOOL_NAME.exec(span.name)?.[1] ?? span.name;
}

function serverOf(span: Span, facts: Facts, resource: Resource): string | null {
  const named = textOf(facts, "server");
  if (named !== null || rawOf(facts, "mcpMethod") === undefined) return named;
  if (span.kind === 2) return textOf(resource.facts, "service");
  const address = textOf(facts, "address");
  const port = countOf(facts, "port");
  return address === null ? null : port === null ? address : `${address}:${port}`;
}
