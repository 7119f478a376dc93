/** How the service and the recorded runs are doing, over time. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatBytes, formatCost, formatCount, formatDuration, formatMoment, formatNumber, formatTicks } from "../model/format.js";
import type { RunOverview, Stats } from "../model/types.js";
import { useApp } from "./context.js";
import { useLoaded } from "./load.js";
import { Notice } from "./parts.js";

const RANGES: readonly (readonly [number, string])[] = [[60, "1 hour"], [1440, "1 day"], [10_080, "7 days"], [43_200, "30 days"], [0, "All time"]];
/** Samples of the service's own counters that are kept, one every five seconds. */
const SAMPLES = 240;

export default function StatsView(): JSX.Element {
  const app = useApp();
  const minutes = useSignal(0);
  const from = minutes.value === 0 ? "" : new Date(Math.floor(app.now() / 60_000) * 60_000 - minutes.value * 60_000).toISOString();
  const { value, error } = useLoaded<RunOverview>("overview", { buckets: 60, from }, 15_000).value;
  const stats = app.stats.value;
  return (
    <section class="view" aria-label="Stats">
      <header class="view-head">
        <h1>Stats</h1>
        <label class="select"><span>Runs of</span><select value={String(minutes.value)} onChange={(event) => (minutes.value = Number(event.currentTarget.value))}>{RANGES.map(([value_, word]) => <option key={value_} value={String(value_)}>{word}</option>)}</select></label>
        {value !== null && value.counted < value.total && <span class="quiet">the newest {formatNumber(value.counted)} of {formatNumber(value.total)} runs</span>}
      </header>
      <div class="view-body" tabIndex={0} role="region" aria-label="Figures and charts">
        {stats !== null && <Figures stats={stats} />}
        {error !== null ? <Notice title="The runs can't be read" tone="error">{error}</Notice> : value === null ? <Notice title="Loading…" /> : value.buckets.length === 0 ? <Notice title="No runs in this time" /> : <RunCharts overview={value} />}
        <Throughput />
      </div>
    </section>
  );
}

function Figures({ stats }: { stats: Stats }): JSX.Element {
  const rows: readonly (readonly [string, string, boolean?])[] = [
    ["Runs", `${formatNumber(stats.total_runs)}, ${formatNumber(stats.running)} running, ${formatNumber(stats.failed)} failed`],
    ["Events stored", formatNumber(stats.total_events)],
    ["Tokens", `${formatNumber(stats.total_tokens_input)} in, ${formatNumber(stats.total_tokens_output)} out`],
    ["Queue", `${formatNumber(stats.queue_depth)} of ${formatNumber(stats.queue_max)}`, stats.queue_depth > stats.queue_max / 2],
    ["Dropped", formatNumber(stats.events_dropped), stats.events_dropped > 0],
    ["Beyond the cap of a run", formatNumber(stats.events_throttled), stats.events_throttled > 0],
    ["Sampled out", formatNumber(stats.events_sampled_out)],
    ["Batch write", `${stats.last_write_latency_ms === null ? "–" : formatDuration(stats.last_write_latency_ms)}, p99 ${stats.p99_write_latency_ms === null ? "–" : formatDuration(stats.p99_write_latency_ms)}`],
    ["On disk", `${formatBytes(stats.db_size_bytes)} events, ${formatBytes(stats.blob_size_bytes)} payloads`],
    ["Open sockets", formatNumber(stats.sockets)],
    ["Up for", formatDuration(stats.uptime_s * 1000)],
  ];
  return <dl class="figures">{rows.map(([term, text, bad]) => <div key={term}><dt>{term}</dt><dd class={bad === true ? "bad" : ""}>{text}</dd></div>)}</dl>;
}

interface Series {
  readonly label: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

function RunCharts({ overview }: { overview: RunOverview }): JSX.Element {
  const times = overview.buckets.map((bucket) => Date.parse(bucket.at) / 1000);
  const costs = overview.buckets.map((bucket) => bucket.cost_usd);
  return (
    <div class="charts">
      <Chart title="Runs" whole times={times} bars format={formatCount} series={[{ label: "Runs", color: "--accent", values: overview.buckets.map((bucket) => bucket.runs) }, { label: "Failed", color: "--bad", values: overview.buckets.map((bucket) => bucket.failed) }]} />
      <Chart title="Duration" times={times} format={formatDuration} series={[{ label: "p50", color: "--accent", values: overview.buckets.map((bucket) => bucket.p50_duration_ms) }, { label: "p95", color: "--warn", values: overview.buckets.map((bucket) => bucket.p95_duration_ms) }]} />
      <Chart title="Tokens" whole times={times} bars format={formatCount} series={[{ label: "In", color: "--llm", values: overview.buckets.map((bucket) => bucket.tokens_input) }, { label: "Out", color: "--retriever", values: overview.buckets.map((bucket) => bucket.tokens_output) }]} />
      {costs.some((cost) => cost !== null) && <Chart title="Cost" times={times} bars format={formatCost} series={[{ label: "Dollars", color: "--tool", values: costs }]} />}
    </div>
  );
}

/** The service's counters while this view is open: the service keeps no history of them. */
function Throughput(): JSX.Element | null {
  const app = useApp();
  const samples = useSignal<readonly { readonly at: number; readonly events: number; readonly dropped: number; readonly queue: number; readonly latency: number | null; readonly bytes: number }[]>([]);
  const stats = app.stats.value;
  useEffect(() => {
    if (stats === null) return;
    samples.value = [...samples.peek(), { at: app.now() / 1000, events: stats.events_processed, dropped: stats.events_dropped, queue: stats.queue_depth, latency: stats.p99_write_latency_ms, bytes: stats.db_size_bytes + stats.blob_size_bytes }].slice(-SAMPLES);
  }, [stats]);
  const list = samples.value;
  if (list.length < 3) return <p class="quiet">Throughput is drawn while this page is open.</p>;
  const rates = (pick: (sample: (typeof list)[number]) => number): (number | null)[] => list.map((sample, index) => {
    const before = list[index - 1];
    return before === undefined ? null : Math.max(0, (pick(sample) - pick(before)) / Math.max(0.001, sample.at - before.at));
  });
  const times = list.map((sample) => sample.at);
  return (
    <div class="charts">
      <Chart title="Events per second" times={times} format={(value) => formatCount(Math.round(value))} series={[{ label: "Stored", color: "--good", values: rates((sample) => sample.events) }, { label: "Dropped", color: "--bad", values: rates((sample) => sample.dropped) }]} />
      <Chart title="p99 of a batch write" times={times} format={formatDuration} series={[{ label: "p99", color: "--warn", values: list.map((sample) => sample.latency) }]} />
      <Chart title="Events that wait" whole times={times} format={formatCount} series={[{ label: "Queue", color: "--warn", values: list.map((sample) => sample.queue) }]} />
      <Chart title="On disk" times={times} format={formatBytes} series={[{ label: "Events and payloads", color: "--accent", values: list.map((sample) => sample.bytes) }]} />
    </div>
  );
}

const HEIGHT = 170;

interface ChartParts {
  readonly title: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly bars?: boolean;
  /** The values are counts: a mark between two of them says nothing. */
  readonly whole?: boolean;
}

function Chart({ title, times, series, format, bars = false, whole = false }: ChartParts): JSX.Element {
  const app = useApp();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = app.theme.value;
  const utc = app.utc.value;
  const data = [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const style = getComputedStyle(document.documentElement);
    // Canvas knows no light-dark(): the browser resolves it on an element.
    const probe = document.createElement("span");
    element.append(probe);
    const color = (name: string): string => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    const axis = { stroke: color("--text-2"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 }, font: `11px ${style.getPropertyValue("--font")}` };
    const made = new uPlot({
      width: Math.max(200, element.clientWidth), height: HEIGHT, legend: { live: true }, cursor: { y: false, points: { size: 6 } },
      scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.1, Number.EPSILON)] } },
      axes: [
        { ...axis, space: 70, values: (_, ticks) => formatTicks(ticks.map((seconds) => seconds * 1000), utc) },
        { ...axis, size: 64, values: (_, ticks) => ticks.map((value) => (whole && !Number.isInteger(value) ? "" : format(value))) },
      ],
      series: [{ label: "Time", value: (_: uPlot, seconds: number | null) => (seconds === null ? "–" : formatMoment(seconds * 1000, utc)) }, ...series.map((item) => ({
        label: item.label, stroke: color(item.color), width: 1.5, spanGaps: true, value: (_: uPlot, value: number | null) => (value === null ? "–" : format(value)),
        ...(bars ? { fill: color(item.color), paths: uPlot.paths.bars?.({ size: [0.8, 40] }) ?? undefined, points: { show: false } } : { points: { show: times.length < 80 } }),
      })) as uPlot.Series[]],
    }, data, element);
    probe.remove();
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [theme, utc, series.length]);
  useEffect(() => plot.current?.setData(data), [times, series]);
  const sum = series.map(({ label, values }) => `${label}: up to ${format(values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0))}`).join(", ");
  return <figure class="chart" role="img" aria-label={`${title}. ${sum}`}><figcaption>{title}</figcaption><div ref={box} /></figure>;
}
