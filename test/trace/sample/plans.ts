/**
 * Agent and tool server each record a call as runs of their own. In the sample the agent's step has the plan of its tool
 * too, as the server records it, so that one run shows all that there is to see.
 */
import { pathToFileURL } from "node:url";
import type { ExplainedTools } from "../../../runtime/abi/explained.js";
import type { TraceEvent } from "../../../runtime/tracer/index.js";
import { repo } from "../../lib/repo.js";
import { SERVER_NAME } from "./agent.js";

type Played = readonly { readonly ageMs: number; readonly events: readonly TraceEvent[] }[];

/** The starts of calls of the compiled quickstart, with what its server says of them. */
export async function withPlans(played: Played): Promise<Played> {
  const { explained } = (await import(pathToFileURL(repo("out/trace.plans.js")).href)) as { readonly explained: ExplainedTools };
  const { catalog } = (await import(pathToFileURL(repo("out/plans.js")).href)) as { readonly catalog: { readonly hash: string; readonly version?: string } };
  const planned = (event: TraceEvent): TraceEvent => {
    const plan = event["event_type"] === "tool_start" && event["mcp_server"] === SERVER_NAME ? explained[String(event["tool_name"])] : undefined;
    if (plan === undefined) return event;
    const version = catalog.version === undefined ? {} : { "toolsrv.catalog.version": catalog.version };
    return { ...event, attributes: { "toolsrv.catalog.hash": catalog.hash, ...version, "toolsrv.plan": plan } };
  };
  return played.map(({ ageMs, events }) => ({ ageMs, events: events.map(planned) }));
}
