/** Filters, and below them the runs that pass, or the steps that a search found. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatNumber } from "../model/format.js";
import { type Filters, MAX_FILTER, NO_FILTERS, type Sort } from "../model/route.js";
import { useApp } from "./context.js";
import { Icon } from "./icons.js";
import { ListOverview } from "./list-overview.js";
import { RunRows } from "./run-rows.js";
import { Foreign, IconButton } from "./parts.js";
import { SelectionTools } from "./selection.js";
import { SearchRows } from "./search-rows.js";

const STATUSES: readonly (readonly [Filters["status"], string])[] = [["all", "All"], ["running", "Running"], ["completed", "Completed"], ["failed", "Failed"]];

const TIMES: readonly (readonly [string, string])[] = [["0", "Any time"], ["15", "15 minutes"], ["60", "1 hour"], ["1440", "1 day"], ["10080", "7 days"], ["43200", "30 days"]];
const ORDERS: readonly (readonly [Sort, string])[] = [["started", "Newest"], ["duration", "Longest"], ["tokens", "Most tokens"], ["cost", "Most expensive"], ["errors", "Most errors"], ["calls", "Most calls"]];
const CHOSEN = [["session", "session", "All sessions"], ["name", "name", "All names"], ["model", "model", "All models"], ["user", "user", "All users"], ["tool", "tool", "All tools"], ["server", "server", "All servers"]] as const;

export function ListPane(): JSX.Element {
  const app = useApp();
  const { filters } = app.route.value;
  const list = app.list.list.value;
  const narrow = app.route.value.runId !== null;
  const shown = filters.inSteps ? app.search.hits.value.length : list.runs.length;
  const total = filters.inSteps ? app.search.total.value : list.total;
  return (
    <section class="list" aria-label={filters.inSteps ? "Search" : "Runs"}>
      {app.route.value.runId === null && <h1 class="hidden">{filters.inSteps ? "Search in steps" : "Runs"}</h1>}
      <div class="filters" role="search">
        <div class="search-line">
          <FilterInput id="search" value={filters.q} placeholder={filters.inSteps ? "Search steps and payloads" : "Name, id, error, tag, user…"} label="Search" icon onChange={(q) => app.setFilters({ q })} />
          <div class="switch" role="group" aria-label="Search in">
            <button type="button" aria-pressed={!filters.inSteps} onClick={() => app.setFilters({ inSteps: false })}>Runs</button>
            <button type="button" aria-pressed={filters.inSteps} onClick={() => app.setFilters({ inSteps: true })}>Steps</button>
          </div>
        </div>
        {!filters.inSteps && (
          <div class="filter-line">
            <div class="switch" role="group" aria-label="Status">
              {STATUSES.map(([status, word]) => (
                <button key={status} type="button" aria-pressed={filters.status === status} onClick={() => app.setFilters({ status })}>{word}</button>
              ))}
            </div>
            <Select label="Started" value={String(filters.minutes)} options={TIMES} onChange={(minutes) => app.setFilters({ minutes: Number(minutes) })} />
            <Select label="Order" value={filters.sort} options={ORDERS} onChange={(sort) => app.setFilters({ sort: sort as Sort })} />
            <FilterInput id="tag" value={filters.tag} placeholder="Tag" label="Tag contains" onChange={(tag) => app.setFilters({ tag })} />
            {CHOSEN.map(([name, word, all]) => filters[name] !== "" && (
              <span key={name} class="chip removable" title={filters[name]}>
                {word} <Foreign text={filters[name]} />
                <IconButton name="close" label={all} onClick={() => app.setFilters({ [name]: "" })} />
              </span>
            ))}
          </div>
        )}
      </div>
      {!filters.inSteps && !narrow && <ListOverview />}
      {filters.inSteps ? <SearchRows /> : <RunRows />}
      <footer class="list-foot">
        <span role="status">{footText(filters, shown, total)}</span>
        <span class="spacer" />
        {!filters.inSteps && total > 0 && <SelectionTools />}
        {hasFilters(filters) && <button type="button" class="link" onClick={() => app.setFilters({ ...NO_FILTERS, inSteps: filters.inSteps, sort: filters.sort })}>Clear filters</button>}
      </footer>
    </section>
  );
}

function footText(filters: Filters, shown: number, total: number): string {
  if (filters.inSteps) return filters.q.trim() === "" ? "" : total >= 10_000 ? "10,000 matches or more" : `${formatNumber(total)} ${total === 1 ? "match" : "matches"}`;
  const word = total === 1 ? "run" : "runs";
  return shown < total ? `${formatNumber(shown)} of ${formatNumber(total)} ${word} loaded` : `${formatNumber(total)} ${word}`;
}

export function hasFilters(filters: Filters): boolean {
  return filters.q !== "" || filters.tag !== "" || filters.session !== "" || filters.name !== "" || filters.model !== "" || filters.user !== "" || filters.tool !== "" || filters.server !== "" || filters.minutes !== 0 || filters.status !== "all";
}

function Select({ label, value, options, onChange }: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }): JSX.Element {
  const known = options.some(([option]) => option === value) ? options : [...options, [value, `${value} minutes`] as const];
  return <select aria-label={label} title={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>{known.map(([option, word]) => <option key={option} value={option}>{word}</option>)}</select>;
}

const TYPING_MS = 180;

/** A text that filters shortly after typing stops. */
function FilterInput({ id, value, placeholder, label, icon, onChange }: { id: string; value: string; placeholder: string; label: string; icon?: boolean; onChange: (value: string) => void }): JSX.Element {
  const text = useSignal(value);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const cancel = (): void => {
    if (timer.current !== null) clearTimeout(timer.current);
  };
  // A filter may also be set by a tag, by the address or by going back. This runs before the next key is handled: an
  // effect after the frame would replace what was typed meanwhile with the filter of a moment ago.
  useLayoutEffect(() => {
    if (value === text.value) return;
    cancel();
    text.value = value;
  }, [value]);
  const change = (next: string, at: number): void => {
    cancel();
    text.value = next;
    timer.current = setTimeout(() => onChange(next), at);
  };
  return (
    <span class={icon === true ? "field with-icon" : "field"}>
      {icon === true && <Icon name="search" />}
      <input id={id} type="text" inputmode="search" value={text.value} placeholder={placeholder} aria-label={label} maxLength={MAX_FILTER} autocomplete="off" autocapitalize="off" spellcheck={false}
        onInput={(event) => change(event.currentTarget.value, TYPING_MS)}
        onKeyDown={(event) => event.key === "Enter" && change(event.currentTarget.value, 0)} />
      {text.value !== "" ? <IconButton name="close" label="Clear" onClick={() => change("", 0)} /> : icon === true && <kbd>/</kbd>}
    </span>
  );
}
