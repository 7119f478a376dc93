/** The shipped dashboard and alert rules: every series and label they name exists, and every series is watched. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { METRICS } from "../../runtime/observe/metrics.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("observe/operations");

interface Dashboard {
  readonly panels: readonly { readonly id: number; readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string; readonly annotations: { readonly [name: string]: string } }[] }[];
}

const dashboard = JSON.parse(readFileSync(repo("specs/operations/dashboard.json"), "utf8")) as Dashboard;
const rules = (parse(readFileSync(repo("specs/operations/alerts.yaml"), "utf8")) as Rules).groups.flatMap((group) => group.rules);
const page = readFileSync(repo("docs/operations.md"), "utf8");
const panelExpressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const expressions = [...panelExpressions, ...rules.map(({ expr }) => expr)];

/** Labels that Prometheus adds, and the one of buckets. */
const SERVER_LABELS = ["job", "instance", "le"];
const SUFFIXES = ["_bucket", "_sum", "_count"];

/** The metric that a series belongs to; a histogram alone has series with suffixes. */
function metricOf(series: string): keyof typeof METRICS | null {
  const histogram = "toolsrv_tool_latency_seconds";
  if (SUFFIXES.some((suffix) => series === `${histogram}${suffix}`)) return histogram;
  return series !== histogram && series in METRICS ? (series as keyof typeof METRICS) : null;
}

const seriesOf = (expr: string): readonly string[] => [...expr.matchAll(/toolsrv_\w+/g)].map(([name]) => name);

test("every series that the dashboard and the alert rules name exists", () => {
  const queries = dashboard.templating.list.map(({ query }) => (typeof query === "string" ? query : query.query));
  const named = [...expressions, ...queries].flatMap(seriesOf);
  assert.ok(named.length > 15);
  assert.deepEqual(named.filter((series) => metricOf(series) === null), []);
});

test("every metric has a panel and an alert rule", () => {
  const watched = (list: readonly string[]): readonly string[] => [...new Set(list.flatMap(seriesOf).map(metricOf))].map(String).sort();
  assert.deepEqual(watched(panelExpressions), Object.keys(METRICS).sort());
  assert.deepEqual(watched(rules.map(({ expr }) => expr)), Object.keys(METRICS).sort());
});

test("labels that are compared or grouped by are labels of the metrics in the expression", () => {
  for (const expr of expressions) {
    const labels = new Set<string>([...SERVER_LABELS, ...seriesOf(expr).flatMap((series) => METRICS[metricOf(series) ?? "toolsrv_tool_calls_total"].labels)]);
    const named = [
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(",").map((label) => label.trim())),
      ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = ""]) => [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = ""]) => label)),
    ];
    assert.deepEqual(named.filter((label) => !labels.has(label)), [], expr);
  }
});

test("statuses that are compared are statuses that calls have", () => {
  const statuses = expressions.flatMap((expr) => [...expr.matchAll(/status=~?"([^"]*)"/g)].flatMap(([, list = ""]) => list.split("|")));
  assert.ok(statuses.length > 0);
  assert.deepEqual(statuses.filter((status) => !["ok", "error", "timeout", "cancelled", "refused"].includes(status)), []);
});

test("panels have ids of their own, and alerts a summary and a description", () => {
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
  for (const { alert, annotations } of rules) assert.ok(annotations["summary"] && annotations["description"], alert);
});

test("docs/operations.md has every metric, every label and every alert, and no other", () => {
  const rows = [...page.matchAll(/^\| `(toolsrv_\w+)` \| ([^|]*) \|/gm)].map(([, name = "", labels = ""]) => [name, [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label)]);
  assert.deepEqual(rows, Object.entries(METRICS).map(([name, { labels }]) => [name, [...labels]]));
  const alerts = [...page.matchAll(/^\| (Toolsrv\w+) \|/gm)].map(([, name]) => name);
  assert.deepEqual(alerts, rules.map(({ alert }) => alert));
});

test("the shipped files are part of the package", () => {
  const { files } = JSON.parse(readFileSync(repo("package.json"), "utf8")) as { readonly files: readonly string[] };
  assert.ok(files.includes("specs") && files.includes("docs/*.md"));
});

test.run();
