/**
 * The graph of calls as sums: what a set of events adds to each node and each edge. The same sums are added to the
 * stored aggregates when events come in, taken off when a run is deleted, and shown alone for a narrower scope.
 */
import { type EventKind, eventKind } from "../model.js";
import { bucketOf } from "./durations.js";

export type Family = "runnable" | "tool" | "llm" | "retriever";

export interface NodeName {
  readonly family: Family;
  readonly name: string;
  /** MCP server of a tool; `null` is local, and for every other family. */
  readonly source: string | null;
}

export interface NodeSum {
  /** Events counted at the node. */
  events: number;
  invocations: number;
  errors: number;
  durationMs: number;
  /** Events that had a duration. */
  timed: number;
  maxMs: number;
  /** Microseconds; 0 before the first. */
  lastAt: number;
  /** It called something, or was declared an agent. */
  agent: boolean;
  buckets: Map<number, number>;
}

export interface EdgeSum {
  readonly source: string;
  readonly target: string;
  count: number;
  lastAt: number;
}

/** Fields of an event that decide its node. */
export interface NodeEvent {
  readonly type: number;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly server: string | null;
}

/** Whether an event with the name of a tool is counted at that tool: models and retrievers are nodes of their own. */
export function isToolCall({ call }: EventKind): boolean {
  return call === "tool" || call === "chain";
}

/** Key of the node that an event is counted at; `null` for events that belong to no call or have no name. */
export function nodeKey(event: NodeEvent): string | null {
  const kind = eventKind(event.type);
  if (kind.call === null) return null;
  if (!isToolCall(kind)) return event.agent === null ? null : `${kind.call}\n\n${escaped(event.agent)}`;
  if (event.tool !== null) return toolKey(event.server ?? "", event.tool);
  return event.agent === null ? null : `runnable\n\n${escaped(event.agent)}`;
}

/** Key of a tool's node; a local tool has the server "". */
export function toolKey(server: string, tool: string): string {
  return `${toolKeyPrefix(server)}${escaped(tool)}`;
}

/** What the keys of a server's tools begin with. */
export function toolKeyPrefix(server: string): string {
  return `tool\n${escaped(server)}\n`;
}

/** Keys are parts joined by line feeds, pairs of keys are joined by a carriage return. */
const SEPARATORS: { readonly [char: string]: string } = { "\u001a": "\u001as", "\n": "\u001an", "\r": "\u001ar" };
const CHARS: { readonly [escape: string]: string } = Object.fromEntries(Object.entries(SEPARATORS).map(([char, escape]) => [escape, char]));

/** A name without separators. The escape is a control character: earlier releases stored none in names. */
function escaped(name: string): string {
  return /[\n\r\u001a]/.test(name) ? name.replace(/[\n\r\u001a]/g, (char) => SEPARATORS[char] ?? char) : name;
}

function unescaped(part: string): string {
  return part.includes("\u001a") ? part.replace(/\u001a[snr]/g, (escape) => CHARS[escape] ?? escape) : part;
}

/** The parts of a node's key. */
export function nodeName(key: string): NodeName {
  const first = key.indexOf("\n");
  const second = key.indexOf("\n", first + 1);
  return { family: key.slice(0, first) as Family, source: unescaped(key.slice(first + 1, second)) || null, name: unescaped(key.slice(second + 1)) };
}

export class Tally {
  readonly nodes = new Map<string, NodeSum>();
  readonly edges = new Map<string, EdgeSum>();

  event(key: string, kind: EventKind, at: number, durationMs: number | null, isAgent: boolean): void {
    const sum = this.node(key);
    sum.events += 1;
    if (kind.side === "start") sum.invocations += 1;
    if (kind.side === "error") sum.errors += 1;
    if (at > sum.lastAt) sum.lastAt = at;
    if (isAgent) sum.agent = true;
    if (durationMs === null) return;
    sum.durationMs += durationMs;
    sum.timed += 1;
    if (durationMs > sum.maxMs) sum.maxMs = durationMs;
    const bucket = bucketOf(durationMs);
    sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + 1);
  }

  edge(source: string, target: string, count: number, lastAt: number): void {
    this.node(source).agent = true;
    const key = `${source}\r${target}`;
    const edge = this.edges.get(key);
    if (edge === undefined) {
      this.edges.set(key, { source, target, count, lastAt });
      return;
    }
    edge.count += count;
    edge.lastAt = Math.max(edge.lastAt, lastAt);
  }

  /** Adds all sums of another one, which stays as it is. */
  add(other: Tally): void {
    for (const [key, sum] of other.nodes) {
      const own = this.node(key);
      own.events += sum.events;
      own.invocations += sum.invocations;
      own.errors += sum.errors;
      own.durationMs += sum.durationMs;
      own.timed += sum.timed;
      own.maxMs = Math.max(own.maxMs, sum.maxMs);
      own.lastAt = Math.max(own.lastAt, sum.lastAt);
      own.agent ||= sum.agent;
      for (const [bucket, count] of sum.buckets) own.buckets.set(bucket, (own.buckets.get(bucket) ?? 0) + count);
    }
    for (const edge of other.edges.values()) this.edge(edge.source, edge.target, edge.count, edge.lastAt);
  }

  node(key: string): NodeSum {
    let sum = this.nodes.get(key);
    if (sum === undefined) {
      sum = { events: 0, invocations: 0, errors: 0, durationMs: 0, timed: 0, maxMs: 0, lastAt: 0, agent: false, buckets: new Map() };
      this.nodes.set(key, sum);
    }
    return sum;
  }
}

const CHAIN_NAME = /^runnable|^(?:LangGraph|StrOutputParser)$|outputparser$|prompttemplate$/i;

/** Whether a runnable of that name is plumbing of a framework, whatever it calls. */
export function isChainName(name: string): boolean {
  return CHAIN_NAME.test(name);
}
