/** What the runs that pass some filters are together: a histogram over time, and the values that narrow them further. */
import type { components } from "../api.types.gen.js";
import { FAILED } from "../model.js";
import { formatTime } from "../time.js";
import { namesOf } from "./rows.js";

type Overview = components["schemas"]["RunOverview"];

/** Runs that are looked at, newest first; a look at all of many would take too long. */
export const MAX_OVERVIEW_RUNS = 20_000;
const MAX_VALUES = 50;

/** Columns that `overviewOf` reads. */
export const OVERVIEW_COLUMNS = 'status, started_at, completed_at, tags, tokens_in, tokens_out, cost_nano, name, session, "user", models, tools, servers';

export interface OverviewRecord {
  readonly status: number;
  readonly started_at: number;
  readonly completed_at: number | null;
  readonly tags: string;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_nano: number;
  readonly name: string | null;
  readonly session: string | null;
  readonly user: string | null;
  readonly models: string;
  readonly tools: string | null;
  readonly servers: string | null;
}

interface Part {
  runs: number;
  failed: number;
  tokensIn: number;
  tokensOut: number;
  costNano: number;
  readonly durations: number[];
}

const FACETS = ["name", "model", "tool", "server", "user", "session", "tag"] as const;

/** `records` are the newest runs, at most MAX_OVERVIEW_RUNS of `total`; the histogram has `parts` equal parts. */
export function overviewOf(records: readonly OverviewRecord[], total: number, parts: number): Overview {
  const from = records.reduce((least, record) => Math.min(least, record.started_at), Number.POSITIVE_INFINITY);
  const to = records.reduce((most, record) => Math.max(most, record.started_at), 0);
  const width = records.length === 0 ? 1 : Math.max(1, Math.ceil((to - from + 1) / parts));
  const buckets: Part[] = Array.from({ length: records.length === 0 ? 0 : parts }, () => ({ runs: 0, failed: 0, tokensIn: 0, tokensOut: 0, costNano: 0, durations: [] }));
  const counts = new Map<string, Map<string, number>>(FACETS.map((facet) => [facet, new Map<string, number>()]));
  const count = (facet: (typeof FACETS)[number], value: string | null): void => {
    const values = counts.get(facet);
    if (value !== null && value !== "" && values !== undefined) values.set(value, (values.get(value) ?? 0) + 1);
  };
  // Many runs have the same few lists.
  const lists = new Map<string | null, readonly string[]>();
  const listed = (json: string | null): readonly string[] => {
    const known = lists.get(json) ?? namesOf(json);
    lists.set(json, known);
    return known;
  };
  for (const record of records) {
    const bucket = buckets[Math.min(parts - 1, Math.floor((record.started_at - from) / width))];
    if (bucket !== undefined) add(bucket, record);
    count("name", record.name);
    count("user", record.user);
    count("session", record.session);
    for (const model of listed(record.models)) count("model", model);
    for (const tool of listed(record.tools)) count("tool", tool);
    for (const server of listed(record.servers)) count("server", server);
    for (const tag of listed(record.tags)) count("tag", tag);
  }
  const facet = (name: (typeof FACETS)[number]): Overview["facets"]["name"] =>
    [...(counts.get(name) ?? [])].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_VALUES).map(([value, runs]) => ({ value, runs }));
  return {
    total,
    counted: records.length,
    bucket_ms: width / 1000,
    buckets: buckets.map((bucket, index) => bucketOf(bucket, from + index * width)),
    facets: { name: facet("name"), model: facet("model"), tool: facet("tool"), server: facet("server"), user: facet("user"), session: facet("session"), tag: facet("tag") },
  };
}

function add(bucket: Part, record: OverviewRecord): void {
  bucket.runs += 1;
  if (record.status === FAILED) bucket.failed += 1;
  bucket.tokensIn += record.tokens_in;
  bucket.tokensOut += record.tokens_out;
  bucket.costNano += record.cost_nano;
  if (record.completed_at !== null) bucket.durations.push(Math.max(0, Math.floor((record.completed_at - record.started_at) / 1000)));
}

function bucketOf(part: Part, at: number): Overview["buckets"][number] {
  const sorted = part.durations.sort((a, b) => a - b);
  const rank = (fraction: number): number | null => sorted[Math.max(0, Math.ceil(sorted.length * fraction) - 1)] ?? null;
  return {
    at: formatTime(at), runs: part.runs, failed: part.failed, tokens_input: part.tokensIn, tokens_output: part.tokensOut,
    cost_usd: part.costNano === 0 ? null : part.costNano / 1e9, p50_duration_ms: rank(0.5), p95_duration_ms: rank(0.95),
  };
}

/** The order of a list of runs, in SQL; newest first between equals. */
export const RUN_ORDERS: { readonly [sort: string]: string } = {
  started: "started_at DESC, run_id DESC",
  duration: "coalesce(completed_at - started_at, -1) DESC, started_at DESC, run_id DESC",
  tokens: "tokens_in + tokens_out DESC, started_at DESC, run_id DESC",
  cost: "CASE WHEN unpriced > 0 OR cost_nano = 0 THEN -1 ELSE cost_nano END DESC, started_at DESC, run_id DESC",
  errors: "errors DESC, started_at DESC, run_id DESC",
  // Steps where an earlier release counted these alone, as the pages and the command line show them.
  calls: "coalesce(calls, steps) DESC, started_at DESC, run_id DESC",
  steps: "steps DESC, started_at DESC, run_id DESC",
};
