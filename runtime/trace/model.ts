/**
 * Types shared by the rooms of the trace service: kinds of events, and the shapes that travel between rooms.
 * An event comes in as anything, is read into an `Incoming`, waits in the queue, is recorded by `record/` into rows
 * and changes of aggregates, stored by `store/`, and sent to sockets by `feed/`. Only `http/` and `handlers/` know HTTP.
 */
import type { components } from "./api.types.gen.js";
import type { Block } from "./block.js";

export type Run = components["schemas"]["Run"];
export type RunExtended = components["schemas"]["RunExtended"];
export type StoredEvent = components["schemas"]["StoredEvent"];
export type StepExtended = components["schemas"]["StepExtended"];
export type EventType = components["schemas"]["EventType"];
export type RunStatus = components["schemas"]["RunStatus"];
export type Stats = components["schemas"]["Stats"];
export type StatsExtended = components["schemas"]["StatsExtended"];
export type Topology = components["schemas"]["Topology"];
export type TopologyNode = components["schemas"]["TopologyNode"];
export type TopologyEdge = components["schemas"]["TopologyEdge"];
export type ToolInventory = components["schemas"]["ToolInventory"];

/** What a call is: it decides which start an end belongs to and which node of the graph a step is counted at. */
export type CallKind = "chain" | "tool" | "llm" | "retriever";

export interface EventKind {
  readonly name: EventType;
  /** The kind of call it opens or closes; `null` for events that do neither. */
  readonly call: CallKind | null;
  /** `start` and `end` open and close a call, `error` closes it as failed; `note` does neither. */
  readonly side: "start" | "end" | "error" | "note";
  /** Its payload is stored in full. */
  readonly payload: boolean;
}

/** Position in this list is the number stored for an event type: only ever append. */
export const EVENT_KINDS: readonly EventKind[] = [
  { name: "run_start", call: null, side: "note", payload: false },
  { name: "run_end", call: null, side: "note", payload: false },
  { name: "chain_start", call: "chain", side: "start", payload: true },
  { name: "chain_end", call: "chain", side: "end", payload: true },
  { name: "chain_error", call: "chain", side: "error", payload: true },
  { name: "agent_action", call: null, side: "note", payload: false },
  { name: "agent_finish", call: null, side: "note", payload: true },
  { name: "tool_start", call: "tool", side: "start", payload: true },
  { name: "tool_end", call: "tool", side: "end", payload: true },
  { name: "tool_error", call: "tool", side: "error", payload: true },
  { name: "llm_start", call: "llm", side: "start", payload: true },
  { name: "chat_model_start", call: "llm", side: "start", payload: true },
  { name: "llm_end", call: "llm", side: "end", payload: true },
  { name: "llm_error", call: "llm", side: "error", payload: true },
  { name: "retriever_start", call: "retriever", side: "start", payload: true },
  { name: "retriever_end", call: "retriever", side: "end", payload: true },
  { name: "retriever_error", call: "retriever", side: "error", payload: true },
  { name: "retry", call: null, side: "note", payload: false },
];

const NUMBERS: ReadonlyMap<string, number> = new Map(EVENT_KINDS.map((kind, index) => [kind.name, index]));

/** Number of an event type, or `undefined` when there is no such type. */
export function eventNumber(name: string): number | undefined {
  return NUMBERS.get(name);
}

/** The row of an event type's number. */
export function eventKind(number: number): EventKind {
  const kind = EVENT_KINDS[number];
  if (kind === undefined) throw new Error(`no event type has the number ${number}`);
  return kind;
}

export const STATUSES: readonly RunStatus[] = ["running", "completed", "failed"];
export const RUNNING = 0;
export const COMPLETED = 1;
export const FAILED = 2;

/** An event that was read, checked, redacted and cut; what the queue holds. Times in microseconds. */
export interface Incoming {
  readonly eventId: string;
  /** Made here, so it can't be a repetition. */
  readonly fresh: boolean;
  readonly runId: string;
  readonly parentId: string | null;
  /** As the sender gave it; with `null` it is found through the parents. */
  readonly rootId: string | null;
  /** Index into EVENT_KINDS. */
  readonly type: number;
  readonly at: number;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly server: string | null;
  readonly summary: string;
  /** JSON text of an object. */
  readonly payload: string | null;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly error: string | null;
  readonly tags: readonly string[] | null;
  readonly session: string | null;
  readonly user: string | null;
  readonly model: string | null;
  readonly graph: string | null;
  /** JSON text of an object. */
  readonly attributes: string | null;
  /** The sender says that this is an agent, whatever it calls. */
  readonly isAgent: boolean;
  /** As the sender gave it (imports do); with `null` it is measured from the start. */
  readonly durationMs: number | null;
  /** Billionths of a dollar as an export has them; without it the price of the model counts. Only imports set it: it does not travel between threads. */
  readonly costNano?: number;
  /** Its texts are in a block, ready to be stored; read them by the functions of `block.ts`. */
  readonly packed: Packed | null;
}

/** The place of an event's texts in a block. */
export interface Packed {
  readonly block: Block;
  readonly line: number;
  /** Share of the compressed payloads; `null` for an event without one. */
  readonly bytes: number | null;
}
