/** Filters, and below them the runs that pass, or the steps that a search found. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatNumber } from "../model/format.js";
import { type Filters, MAX_FILTER, NO_FILTERS } from "../model/route.js";
import { useApp } from "./context.js";
import { Icon } from "./icons.js";
import { RunRows } from "./run-rows.js";
import { Foreign, IconButton } from "./parts.js";
import { SearchRows } from "./search-rows.js";

const STATUSES: readonly (readonly [Filters["status"], string])[] = [["all", "All"], ["running", "Running"], ["completed", "Completed"], ["failed", "Failed"]];

export function ListPane(): JSX.Element {
  const app = useApp();
  const { filters } = app.route.value;
  const list = app.list.list.value;
  const shown = filters.inSteps ? app.search.hits.value.length : list.runs.length;
  const total = filters.inSteps ? app.search.total.value : list.total;
  return (
    <section class="list" aria-label={filters.inSteps ? "Search" : "Runs"}>
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
            <FilterInput id="tag" value={filters.tag} placeholder="Tag" label="Tag contains" onChange={(tag) => app.setFilters({ tag })} />
            {filters.session !== "" && (
              <span class="chip removable" title={filters.session}>
                session <Foreign text={filters.session} />
                <IconButton name="close" label="All sessions" onClick={() => app.setFilters({ session: "" })} />
              </span>
            )}
          </div>
        )}
      </div>
      {filters.inSteps ? <SearchRows /> : <RunRows />}
      <footer class="list-foot">
        <span role="status">{footText(filters, shown, total)}</span>
        {hasFilters(filters) && <button type="button" class="link" onClick={() => app.setFilters({ ...NO_FILTERS, inSteps: filters.inSteps })}>Clear filters</button>}
      </footer>
    </section>
  );
}

function footText(filters: Filters, shown: number, total: number): string {
  if (filters.inSteps) return filters.q.trim() === "" ? "" : total >= 10_000 ? "10,000 steps or more" : `${formatNumber(total)} ${total === 1 ? "step" : "steps"}`;
  const word = total === 1 ? "run" : "runs";
  return shown < total ? `${formatNumber(shown)} of ${formatNumber(total)} ${word} loaded` : `${formatNumber(total)} ${word}`;
}

export function hasFilters(filters: Filters): boolean {
  return filters.q !== "" || filters.tag !== "" || filters.session !== "" || filters.status !== "all";
}

const TYPING_MS = 180;

/** A text that filters shortly after typing stops. */
function FilterInput({ id, value, placeholder, label, icon, onChange }: { id: string; value: string; placeholder: string; label: string; icon?: boolean; onChange: (value: string) => void }): JSX.Element {
  const text = useSignal(value);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  // A filter may also be set by a tag, by the address or by going back.
  useEffect(() => void (text.value = value), [value]);
  const change = (next: string, at: number): void => {
    text.value = next;
    if (timer.current !== null) clearTimeout(timer.current);
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
