/** The runs of the list: pages by cursor, and what the live feed brings in between. */
import { batch, signal, type Signal } from "@preact/signals";
import { now } from "../data/browser.js";
import { type Api, messageOf, wasAborted } from "../data/api.js";
import { appendPage, compareRuns, mergeRuns, passes, type RunList } from "../model/run-list.js";
import type { Filters, Sort } from "../model/route.js";
import { startOf } from "../model/scope.js";
import type { Run, RunPage, SearchHit, SearchPage } from "../model/types.js";

export type Loading = "first" | "more" | "no";

export interface ListStore {
  readonly list: Signal<RunList>;
  readonly loading: Signal<Loading>;
  readonly error: Signal<string | null>;
  /** Every run that passes the filters is loaded. */
  readonly complete: Signal<boolean>;
  /** Starts anew with these filters. */
  load(filters: Filters): Promise<void>;
  loadMore(): Promise<void>;
  /** Reads the newest page again, after the feed was away. */
  refresh(): Promise<void>;
  /** Takes a run that the feed sent. */
  take(run: Run): void;
  forget(runId: string): void;
}

/** Runs of a page; the first one is what a tall window shows, and what the reader waits for. */
const FIRST_PAGE = 50;
const PAGE = 100;

export function createListStore(api: Api): ListStore {
  const list = signal<RunList>({ runs: [], total: 0 });
  const loading = signal<Loading>("first");
  const error = signal<string | null>(null);
  const complete = signal(false);
  let filters: Filters | null = null;
  /** The next page: a cursor of the newest-first order, else how many runs to leave out. */
  let cursor: string | number | null = null;
  const nextOf = (page: RunPage, seen: number): string | number | null => (filters === null || filters.sort === "started" ? (page.next_cursor ?? null) : seen < page.total && page.runs.length > 0 ? seen : null);
  let abort = new AbortController();
  let waiting: Run[] = [];
  let scheduled = false;

  const fetchPage = (at: string | number | null, signal: AbortSignal, limit = PAGE): Promise<RunPage> =>
    api.get<RunPage>("runs", { extended: 1, limit, ...(filters === null ? {} : filterParams(filters, now())), sort: wantedSort() === "started" ? "" : wantedSort(), ...(typeof at === "number" ? { offset: at } : { cursor: at }) }, signal);

  /** One request at a time; what the feed brings meanwhile is taken in after it. */
  async function read(kind: Loading, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    abort.abort();
    const own = (abort = new AbortController());
    loading.value = kind;
    error.value = null;
    try {
      await work(own.signal);
    } catch (failure) {
      if (own.signal.aborted || wasAborted(failure)) return;
      error.value = messageOf(failure);
    }
    if (abort !== own) return;
    batch(() => {
      loading.value = "no";
      flush();
    });
  }

  const wantedSort = (): Sort => filters?.sort ?? "started";

  function flush(): void {
    scheduled = false;
    if (filters === null || loading.value === "first" || waiting.length === 0) return;
    const changed = waiting;
    waiting = [];
    list.value = mergeRuns(list.value, changed, filters, complete.value, now());
  }

  return {
    list, loading, error, complete,
    load(wanted) {
      filters = wanted;
      // What doesn't pass goes at once, also when the service does not answer.
      const kept = list.peek().runs.filter((run) => passes(run, wanted, now()));
      if (kept.length < list.peek().runs.length) list.value = { runs: kept, total: kept.length };
      return read("first", async (signal) => {
        const page = await fetchPage(null, signal, FIRST_PAGE);
        cursor = nextOf(page, page.runs.length);
        batch(() => {
          list.value = { runs: page.runs, total: page.total };
          complete.value = cursor === null;
        });
      });
    },
    async loadMore() {
      if (loading.value !== "no" || cursor === null || error.value !== null) return;
      await read("more", async (signal) => {
        const page = await fetchPage(cursor, signal);
        cursor = nextOf(page, list.value.runs.length + page.runs.length);
        batch(() => {
          list.value = appendPage(list.value, page.runs, page.total);
          complete.value = cursor === null;
        });
      });
    },
    refresh() {
      if (filters === null || loading.value === "first") return filters === null ? Promise.resolve() : this.load(filters);
      return read("no", async (signal) => {
        const page = await fetchPage(null, signal);
        const last = page.runs.at(-1);
        // What is older than this page stays as it was loaded; what is newer and not in it is gone.
        const rest = last === undefined || wantedSort() !== "started" ? [] : list.value.runs.filter((run) => compareRuns(run, last) > 0);
        const whole = nextOf(page, page.runs.length) === null;
        if (rest.length === 0) cursor = nextOf(page, page.runs.length);
        batch(() => {
          list.value = { runs: whole ? page.runs : [...page.runs, ...rest], total: page.total };
          complete.value = cursor === null;
        });
      });
    },
    take(run) {
      waiting.push(run);
      if (scheduled) return;
      scheduled = true;
      setTimeout(flush, 60);
    },
    forget(runId) {
      const runs = list.value.runs.filter((run) => run.run_id !== runId);
      if (runs.length < list.value.runs.length) list.value = { runs, total: list.value.total - 1 };
    },
  };
}

/** The filters as the service takes them. */
export function filterParams({ status, q, inSteps, tag, session, name, model, user, tool, server, minutes }: Filters, nowMs: number): { readonly [name: string]: string } {
  return { status, q: inSteps ? "" : q, tag, session, name, model, user, tool, server, from: startOf(minutes, nowMs) };
}

export interface SearchStore {
  readonly hits: Signal<readonly SearchHit[]>;
  readonly total: Signal<number>;
  /** Steps that search has not read yet. */
  readonly behind: Signal<number>;
  readonly loading: Signal<Loading>;
  readonly error: Signal<string | null>;
  search(text: string): Promise<void>;
  more(): Promise<void>;
}

/** Full-text search over steps and payloads. */
export function createSearchStore(api: Api): SearchStore {
  const store = { hits: signal<readonly SearchHit[]>([]), total: signal(0), behind: signal(0), loading: signal<Loading>("no"), error: signal<string | null>(null) };
  let abort = new AbortController();
  let wanted = "";
  async function read(offset: number): Promise<void> {
    abort.abort();
    const own = (abort = new AbortController());
    store.error.value = null;
    if (wanted.trim() === "") {
      batch(() => {
        store.hits.value = [];
        store.total.value = 0;
        store.loading.value = "no";
      });
      return;
    }
    store.loading.value = offset === 0 ? "first" : "more";
    try {
      const page = await api.get<SearchPage>("search", { q: wanted, limit: PAGE, offset }, own.signal);
      batch(() => {
        store.hits.value = offset === 0 ? page.hits : [...store.hits.value, ...page.hits];
        store.total.value = page.total;
        store.behind.value = Math.max(0, page.last_seq - page.indexed_seq);
        store.loading.value = "no";
      });
    } catch (failure) {
      if (own.signal.aborted) return;
      batch(() => {
        if (offset === 0) {
          store.hits.value = [];
          store.total.value = 0;
        }
        store.error.value = messageOf(failure);
        store.loading.value = "no";
      });
    }
  }
  return {
    ...store,
    search(text) {
      wanted = text;
      return read(0);
    },
    async more() {
      if (store.loading.value === "no" && store.error.value === null && store.hits.value.length < Math.min(store.total.value, 10_000)) await read(store.hits.value.length);
    },
  };
}
