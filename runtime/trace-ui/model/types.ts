/**
 * The view model of the trace pages: pure functions from what the service answers to what is drawn. Nothing in this
 * folder touches the document, the network or the clock, so every rule of the views is tested without a browser.
 * Shapes come from the generated types of the API; there are no copies of them.
 */
import type { components } from "../../trace/api.types.gen.js";

type Schemas = components["schemas"];

export type Run = Schemas["RunExtended"];
export type RunStatus = Schemas["RunStatus"];
export type RunPage = Schemas["RunListExtended"];
export type Step = Schemas["StepExtended"];
export type EventType = Schemas["EventType"];
export type JourneyPage = Schemas["JourneyExtended"];
export type StepPayload = Schemas["StepPayload"];
export type SearchHit = Schemas["SearchHit"];
export type SearchPage = Schemas["SearchResult"];
export type Topology = Schemas["TopologyExtended"];
export type TopologyNode = Topology["nodes"][number];
export type PriceList = Schemas["PriceList"];
export type NodeRuns = Schemas["NodeRuns"];
export type ToolInventory = Schemas["ToolInventory"];
export type Session = Schemas["Session"];
export type SessionList = Schemas["SessionList"];
export type Comparison = Schemas["Comparison"];
export type ComparedRow = Schemas["ComparedRow"];
export type RunOverview = Schemas["RunOverview"];
export type Stats = Schemas["StatsExtended"];
export type Health = Schemas["Health"];
export type NodeKind = Schemas["TopologyNode"]["type"];
/** A frame of either socket, as `extended=1` sends it. */
export type Frame = WithExtended<Schemas["WSMessage"]>;

/** `extended=1` widens the plain runs and steps of a frame. */
type WithExtended<Message> = Message extends { msg_type: "event" }
  ? Omit<Message, "payload"> & { payload: Step }
  : Message extends { msg_type: "run_update" }
    ? Omit<Message, "payload"> & { payload: { run: Run } }
    : Message extends { msg_type: "catchup" }
      ? Omit<Message, "payload"> & { payload: { steps: Step[]; last_seq: number } }
      : Message;
