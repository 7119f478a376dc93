/** What is shown, as the fragment of the address: it survives a reload, and a link to it shows the same. */
import type { RunStatus } from "./types.js";

export type Sort = "started" | "duration" | "tokens" | "cost" | "errors" | "calls";

export interface Filters {
  readonly status: RunStatus | "all";
  readonly q: string;
  readonly tag: string;
  readonly session: string;
  readonly name: string;
  readonly model: string;
  readonly user: string;
  readonly tool: string;
  readonly server: string;
  /** Runs that started in the last so many minutes; 0 is any time. */
  readonly minutes: number;
  readonly sort: Sort;
  /** Search in steps and payloads instead of in runs. */
  readonly inSteps: boolean;
}

export const VIEWS = ["runs", "sessions", "topology", "tools", "stats", "settings", "compare"] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  readonly view: View;
  readonly filters: Filters;
  readonly runId: string | null;
  /** Key of the selected step (`stepKey`), or its event id alone. */
  readonly stepId: string | null;
  /** The runs that are compared. */
  readonly pair: readonly [string, string] | null;
  /** Keys of the steps of these runs that are compared; `null` compares the runs. */
  readonly steps: readonly [string, string] | null;
  /** Whose calls the topology and the tools show, as the service names it. */
  readonly scope: string;
  /** The topology shows each call of a run, not each node once. */
  readonly expanded: boolean;
}

export const NO_FILTERS: Filters = { status: "all", q: "", tag: "", session: "", name: "", model: "", user: "", tool: "", server: "", minutes: 0, sort: "started", inSteps: false };
const STATUSES: readonly Filters["status"][] = ["all", "running", "completed", "failed"];
export const SORTS: readonly Sort[] = ["started", "duration", "tokens", "cost", "errors", "calls"];
const TEXTS = ["q", "tag", "session", "name", "model", "user", "tool", "server"] as const;
/** Longest text the service takes in a filter. */
export const MAX_FILTER = 200;
const MAX_MINUTES = 525_600;

/** Reads `#/runs/RUN/STEP?status=…` and `#/VIEW?…`; what it does not understand is left out. */
export function parseRoute(hash: string): Route {
  const legacy = legacyRun(hash);
  const [path = "", query = ""] = legacy ?? hash.replace(/^#/, "").split("?", 2);
  const [, room, runId = "", stepId = ""] = path.split("/").map(decode);
  const params = new URLSearchParams(query);
  const text = (name: string): string => (params.get(name) ?? "").slice(0, MAX_FILTER);
  const minutes = Number(params.get("minutes") ?? "0");
  const two = (first: string, second: string): readonly [string, string] | null => {
    const [a, b] = [params.get(first) ?? "", params.get(second) ?? ""];
    return room === "compare" && a !== "" && b !== "" ? [a, b] : null;
  };
  const texts = Object.fromEntries(TEXTS.map((name) => [name, text(name)])) as { readonly [name in (typeof TEXTS)[number]]: string };
  return {
    view: VIEWS.find((known) => known === room) ?? "runs",
    filters: {
      ...texts, status: STATUSES.find((known) => known === params.get("status")) ?? "all", inSteps: params.get("in") === "steps",
      minutes: Number.isInteger(minutes) && minutes > 0 && minutes <= MAX_MINUTES ? minutes : 0, sort: SORTS.find((known) => known === sortOf(params.get("sort"))) ?? "started",
    },
    runId: room === "runs" && runId !== "" ? runId : null,
    stepId: room === "runs" && runId !== "" && stepId !== "" ? stepId : null,
    pair: two("a", "b"),
    steps: two("a", "b") === null ? null : two("sa", "sb"),
    scope: params.get("scope") ?? "all",
    expanded: room === "topology" && params.get("calls") === "each",
  };
}

/** Links of earlier releases order by steps, which nobody counts. */
function sortOf(given: string | null): string | null {
  return given === "steps" ? "calls" : given;
}

/** `#run=ID&status=failed`: links of the system that this one replaces. */
function legacyRun(hash: string): [string, string] | null {
  if (!/^#(run|status)=/.test(hash)) return null;
  const params = new URLSearchParams(hash.slice(1));
  const run = params.get("run");
  const status = params.get("status");
  return [run === null || run === "" ? "/" : `/runs/${encodeURIComponent(run)}`, status === null ? "" : `status=${encodeURIComponent(status)}`];
}

/** The fragment of a route. `parseRoute` reads it back. */
export function printRoute({ view, filters, runId, stepId, pair, steps, scope, expanded }: Route): string {
  const params = new URLSearchParams();
  let path = view === "runs" ? "/" : `/${view}`;
  if (view === "runs" && runId !== null) path = `/runs/${encodeURIComponent(runId)}${stepId === null ? "" : `/${encodeURIComponent(stepId)}`}`;
  if (view === "compare" && pair !== null) for (const [index, name] of ["a", "b"].entries()) params.set(name, pair[index] ?? "");
  if (view === "compare" && steps !== null) for (const [index, name] of ["sa", "sb"].entries()) params.set(name, steps[index] ?? "");
  if (view === "topology" && expanded) params.set("calls", "each");
  if (filters.status !== "all") params.set("status", filters.status);
  for (const name of TEXTS) if (filters[name] !== "") params.set(name, filters[name]);
  if (filters.minutes !== 0) params.set("minutes", String(filters.minutes));
  if (filters.sort !== "started") params.set("sort", filters.sort);
  if (filters.inSteps) params.set("in", "steps");
  if (scope !== "all") params.set("scope", scope);
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
