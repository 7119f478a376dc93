/** Whose calls a view shows: all, those of the newest runs, of a time, of one name, or of one run. */
import type { JSX } from "preact";
import type { RunOverview } from "../model/types.js";
import { useApp } from "./context.js";
import { useLoaded } from "./load.js";

const NEWEST: readonly (readonly [string, string])[] = [["last_n:5", "Last 5 runs"], ["last_n:20", "Last 20 runs"], ["last_n:100", "Last 100 runs"], ["last_n:1000", "Last 1,000 runs"]];
const TIMES: readonly (readonly [string, string])[] = [["minutes:60", "Last hour"], ["minutes:1440", "Last day"], ["minutes:10080", "Last 7 days"], ["minutes:43200", "Last 30 days"]];
/** Names that are offered, those with the most runs. */
const NAMES = 20;

export function ScopeSelect(): JSX.Element {
  const app = useApp();
  const { scope, view, expanded } = app.route.value;
  const { value } = useLoaded<RunOverview>(app.drawn.value ? "overview" : null, { buckets: 1 }).value;
  const names = (value?.facets.name ?? []).slice(0, NAMES).filter((entry) => entry.value.trim() !== "" && entry.value.length <= 190).map((entry) => [`name:${entry.value}`, entry.value] as const);
  const known = [["all", "All runs"] as const, ...NEWEST, ...TIMES, ...names].some(([own]) => own === scope);
  const option = ([own, word]: readonly [string, string]): JSX.Element => <option key={own} value={own}>{word.slice(0, 60)}</option>;
  return (
    <label class="select">
      <span>Scope</span>
      <select value={scope} onChange={(event) => app.show(view, { scope: event.currentTarget.value, expanded })}>
        {option(["all", "All runs"])}
        {!known && option([scope, wordOf(scope)])}
        <optgroup label="Newest">{NEWEST.map(option)}</optgroup>
        <optgroup label="Started in the">{TIMES.map(option)}</optgroup>
        {names.length > 0 && <optgroup label="Runs of the name">{names.map(option)}</optgroup>}
      </select>
    </label>
  );
}

function wordOf(scope: string): string {
  if (scope.startsWith("run:")) return `Run ${scope.slice(4)}`;
  return scope.startsWith("name:") ? scope.slice(5) : scope;
}
