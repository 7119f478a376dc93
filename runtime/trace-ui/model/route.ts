/** What is shown, as the fragment of the address: it survives a reload, and a link to it shows the same. */
import type { RunStatus } from "./types.js";

export interface Filters {
  readonly status: RunStatus | "all";
  readonly q: string;
  readonly tag: string;
  readonly session: string;
  /** Search in steps and payloads instead of in runs. */
  readonly inSteps: boolean;
}

export interface Route {
  readonly filters: Filters;
  readonly runId: string | null;
  /** Event id of the selected step. */
  readonly stepId: string | null;
}

export const NO_FILTERS: Filters = { status: "all", q: "", tag: "", session: "", inSteps: false };
const STATUSES: readonly Filters["status"][] = ["all", "running", "completed", "failed"];
/** Longest text the service takes in a filter. */
export const MAX_FILTER = 200;

/** Reads `#/runs/RUN/STEP?status=…`; what it does not understand is left out. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const [, room, runId = "", stepId = ""] = path.split("/").map(decode);
  const params = new URLSearchParams(query);
  const text = (name: string): string => (params.get(name) ?? "").slice(0, MAX_FILTER);
  const status = STATUSES.find((known) => known === params.get("status")) ?? "all";
  return {
    filters: { status, q: text("q"), tag: text("tag"), session: text("session"), inSteps: params.get("in") === "steps" },
    runId: room === "runs" && runId !== "" ? runId : null,
    stepId: room === "runs" && runId !== "" && stepId !== "" ? stepId : null,
  };
}

/** The fragment of a route. `parseRoute` reads it back. */
export function printRoute({ filters, runId, stepId }: Route): string {
  const path = runId === null ? "/" : `/runs/${encodeURIComponent(runId)}${stepId === null ? "" : `/${encodeURIComponent(stepId)}`}`;
  const params = new URLSearchParams();
  if (filters.status !== "all") params.set("status", filters.status);
  if (filters.q !== "") params.set("q", filters.q);
  if (filters.tag !== "") params.set("tag", filters.tag);
  if (filters.session !== "") params.set("session", filters.session);
  if (filters.inSteps) params.set("in", "steps");
  const query = params.toString();
  return `#${path}${query === "" ? "" : `?${query}`}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
