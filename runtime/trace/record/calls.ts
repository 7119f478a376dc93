/**
 * The calls of one run: which start an end belongs to, how long it took, who called whom, and where errors began. Fed
 * with every event of the run in order of arrival; parents may come after their children.
 */
import { type CallKind, type EventKind, eventKind } from "../model.js";
import { nodeKey } from "./tally.js";

/** What `observe` needs of an event; `node` is the key of its graph node. */
export interface CallEvent {
  readonly runId: string;
  readonly parentId: string | null;
  readonly at: number;
  readonly node: string | null;
}

/** What a start said and its end may leave out. */
export interface Names {
  readonly agent: string | null;
  readonly tool: string | null;
  readonly server: string | null;
  readonly model: string | null;
}

interface Open {
  readonly kind: CallKind;
  readonly at: number;
}

interface Call {
  parentId: string | null;
  known: boolean;
  /** One of its events opens or closes it. */
  counted: boolean;
  names: Names | null;
  /** Nodes of its start events; one, as a rule. */
  nodes: string[];
  /** Starts below it, by node: times of the last ones and how many. */
  children: Map<string, { count: number; last: number }> | null;
  open: Open[];
  failed: boolean;
  /** A call below it failed. */
  failedBelow: boolean;
}

/** A stored event, as far as calls and sums need it. */
export interface RecordedEvent extends Names {
  readonly runId: string;
  readonly parentId: string | null;
  readonly type: number;
  readonly at: number;
  readonly durationMs: number | null;
}

export type EdgeSink = (source: string, target: string, count: number, last: number) => void;

export class RunCalls {
  readonly #calls = new Map<string, Call>();
  #open = 0;
  #counted = 0;
  #causes = 0;

  get size(): number {
    return this.#calls.size;
  }

  /** Calls that have started and not ended. */
  get openCount(): number {
    return this.#open;
  }

  /** Calls with an event that opens or closes them. */
  get count(): number {
    return this.#counted;
  }

  /** Failed calls below which nothing failed: an error that callers pass on is one. */
  get causes(): number {
    return this.#causes;
  }

  ids(): Iterable<string> {
    return this.#calls.keys();
  }

  /** Whether the run has events of its own here, not only children. */
  has(runId: string): boolean {
    return this.#calls.get(runId)?.known === true;
  }

  parentOf(runId: string): string | null {
    return this.#calls.get(runId)?.parentId ?? null;
  }

  namesOf(runId: string): Names | null {
    return this.#calls.get(runId)?.names ?? null;
  }

  isOpen(runId: string, kind: CallKind): boolean {
    return this.#calls.get(runId)?.open.some((open) => open.kind === kind) ?? false;
  }

  /** Remembers where a call belongs whose events are not kept. */
  place(runId: string, parentId: string | null): void {
    this.#known(runId, parentId);
  }

  /** Takes an event in and returns its duration in whole milliseconds, or `null` when it has none. */
  observe(event: CallEvent, kind: EventKind, names: Names, edge: EdgeSink): number | null {
    const call = this.#known(event.runId, event.parentId);
    if (kind.call === null) {
      // An agent that finishes ends nothing: the chain that it belongs to ends after it.
      const chain = kind.name === "agent_finish" ? call.open.find((open) => open.kind === "chain") : undefined;
      return chain === undefined ? null : elapsed(chain.at, event.at);
    }
    if (!call.counted) this.#counted += 1;
    call.counted = true;
    if (kind.side === "start") {
      call.names ??= names;
      call.open.push({ kind: kind.call, at: event.at });
      this.#open += 1;
      if (event.node !== null) this.#link(call, event.node, event.parentId, event.at, edge);
      return null;
    }
    if (kind.side === "error") this.#fail(call);
    const index = call.open.findIndex((open) => open.kind === kind.call);
    const open = call.open[index];
    if (open === undefined) return null;
    call.open.splice(index, 1);
    this.#open -= 1;
    return elapsed(open.at, event.at);
  }

  /** Takes events that are counted already. */
  recall(events: Iterable<RecordedEvent>): this {
    for (const event of events) {
      this.observe({ runId: event.runId, parentId: event.parentId, at: event.at, node: nodeKey(event) }, eventKind(event.type), event, () => undefined);
    }
    return this;
  }

  /** Takes over the calls of a run that turned out to be part of this one. */
  absorb(other: RunCalls): void {
    for (const [id, call] of other.#calls) {
      const own = this.#calls.get(id);
      this.#counted -= Number(own?.counted === true);
      this.#causes -= Number(own !== undefined && isCause(own));
      if (own !== undefined) join(own, call);
      else this.#calls.set(id, call);
      const joined = own ?? call;
      this.#counted += Number(joined.counted);
      this.#causes += Number(isCause(joined));
    }
    for (const id of other.#calls.keys()) {
      const call = this.#call(id);
      if (call.failed || call.failedBelow) this.#failAbove(call);
    }
    this.#open += other.#open;
  }

  #link(call: Call, node: string, parentId: string | null, at: number, edge: EdgeSink): void {
    for (const [child, { count, last }] of call.children ?? []) if (child !== node) edge(node, child, count, last);
    call.nodes.push(node);
    if (parentId === null) return;
    const parent = this.#call(parentId);
    for (const source of parent.nodes) if (source !== node) edge(source, node, 1, at);
    addChild(parent, node, 1, at);
  }

  /** The call of an event, which may be the first to name its parent. */
  #known(runId: string, parentId: string | null): Call {
    const call = this.#call(runId);
    call.known = true;
    if (call.parentId !== null || parentId === null) return call;
    call.parentId = parentId;
    if (call.failed || call.failedBelow) this.#failAbove(call);
    return call;
  }

  #fail(call: Call): void {
    if (call.failed) return;
    call.failed = true;
    if (isCause(call)) this.#causes += 1;
    this.#failAbove(call);
  }

  /** Whatever failed above the call only passed its error on. */
  #failAbove(call: Call): void {
    for (let id = call.parentId; id !== null; ) {
      const above = this.#call(id);
      if (above.failedBelow) return;
      above.failedBelow = true;
      if (above.failed) this.#causes -= 1;
      id = above.parentId;
    }
  }

  #call(runId: string): Call {
    let call = this.#calls.get(runId);
    if (call === undefined) {
      call = { parentId: null, known: false, counted: false, names: null, nodes: [], children: null, open: [], failed: false, failedBelow: false };
      this.#calls.set(runId, call);
    }
    return call;
  }
}

function isCause({ failed, failedBelow }: Call): boolean {
  return failed && !failedBelow;
}

/** Two records of one call. */
function join(own: Call, other: Call): void {
  own.counted ||= other.counted;
  own.known ||= other.known;
  own.parentId ??= other.parentId;
  own.names ??= other.names;
  own.failed ||= other.failed;
  own.failedBelow ||= other.failedBelow;
  own.open.push(...other.open);
  own.nodes.push(...other.nodes);
  for (const [node, child] of other.children ?? []) addChild(own, node, child.count, child.last);
}

function addChild(call: Call, node: string, count: number, last: number): void {
  call.children ??= new Map();
  const child = call.children.get(node);
  if (child === undefined) {
    call.children.set(node, { count, last });
    return;
  }
  child.count += count;
  child.last = Math.max(child.last, last);
}

function elapsed(from: number, to: number): number {
  return Math.max(0, Math.floor((to - from) / 1000));
}
