/** Above the list: how many runs started when, and the values that narrow it. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { formatCount, formatDuration, formatMoment, formatNumber } from "../model/format.js";
import type { Filters } from "../model/route.js";
import type { RunOverview } from "../model/types.js";
import { filterParams } from "../state/list.js";
import { useApp } from "./context.js";
import { useLoaded } from "./load.js";
import { Foreign } from "./parts.js";

const BUCKETS = 80;
const FACETS = [["name", "Name"], ["model", "Model"], ["tool", "Tool"], ["server", "Server"], ["tag", "Tag"], ["user", "User"], ["session", "Session"]] as const satisfies readonly (readonly [keyof Filters & keyof RunOverview["facets"], string])[];
/** Values of a facet that are shown before asking for more. */
const SHOWN = 6;

export function ListOverview(): JSX.Element | null {
  const app = useApp();
  const { filters } = app.route.value;
  // After the rows, and to the minute, so that the same filters ask for the same.
  const { value, error } = useLoaded<RunOverview>(app.drawn.value ? "overview" : null, { ...filterParams(filters, Math.floor(app.now() / 60_000) * 60_000), buckets: BUCKETS }, 10_000).value;
  const open = useSignal(false);
  // Its room is kept, so that rows that are read do not move.
  if (value === null) return error === null && (app.list.loading.value === "first" || app.list.list.value.total > 1) ? <div class="list-overview" data-empty /> : null;
  if (value.total < 2) return null;
  const facets = FACETS.filter(([name]) => value.facets[name].length > (filters[name] === "" ? 1 : 0));
  return (
    <div class="list-overview">
      <Histogram overview={value} />
      {facets.length > 0 && <button type="button" class="link facets-button" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>{open.value ? "Hide values" : "Narrow by value"}</button>}
      {open.value && <div class="facets">{facets.map(([name, title]) => <Facet key={name} name={name} title={title} values={value.facets[name]} chosen={filters[name]} />)}</div>}
    </div>
  );
}

function Histogram({ overview }: { overview: RunOverview }): JSX.Element {
  const app = useApp();
  const { buckets } = overview;
  const most = buckets.reduce((high, bucket) => Math.max(high, bucket.runs), 1);
  const first = buckets[0]?.at;
  const last = buckets.at(-1)?.at;
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
  return (
    <figure class="histogram" role="img" aria-label={`${formatNumber(overview.counted)} runs over time, ${formatNumber(failed)} failed`}>
      <svg viewBox={`0 0 ${BUCKETS} 30`} preserveAspectRatio="none" width="100%" height="34" aria-hidden="true">
        {buckets.map((bucket, index) => bucket.runs > 0 && (
          <g key={index}>
            <title>{`${formatMoment(Date.parse(bucket.at), app.utc.value)}: ${bucket.runs} runs, ${bucket.failed} failed`}</title>
            <rect class="histogram-runs" x={index + 0.1} width={0.8} y={30 - (29 * bucket.runs) / most} height={(29 * bucket.runs) / most} />
            {bucket.failed > 0 && <rect class="histogram-failed" x={index + 0.1} width={0.8} y={30 - Math.max(2, (29 * bucket.failed) / most)} height={Math.max(2, (29 * bucket.failed) / most)} />}
          </g>
        ))}
      </svg>
      <figcaption><span>{first === undefined ? "" : formatMoment(Date.parse(first), app.utc.value)}</span><span>a bar is {formatDuration(overview.bucket_ms)}, up to {formatCount(most)} {most === 1 ? "run" : "runs"}</span><span>{last === undefined ? "" : formatMoment(Date.parse(last) + overview.bucket_ms, app.utc.value)}</span></figcaption>
    </figure>
  );
}

function Facet({ name, title, values, chosen }: { name: (typeof FACETS)[number][0]; title: string; values: RunOverview["facets"]["name"]; chosen: string }): JSX.Element {
  const app = useApp();
  const all = useSignal(false);
  return (
    <section class="facet" aria-label={title}>
      <h2>{title}</h2>
      {values.slice(0, all.value ? values.length : SHOWN).map(({ value, runs }) => (
        <button key={value} type="button" aria-pressed={chosen === value} onClick={() => app.setFilters({ [name]: chosen === value ? "" : value.slice(0, 200) })}><span><Foreign text={value} /></span><span class="quiet">{formatCount(runs)}</span></button>
      ))}
      {values.length > SHOWN && <button type="button" class="link" onClick={() => (all.value = !all.value)}>{all.value ? "Fewer" : `${values.length - SHOWN} more`}</button>}
    </section>
  );
}
