/** What the whole page shares: the address, the token, the feed of the list, the theme and the time. */
import { batch, computed, effect, type ReadonlySignal, signal, type Signal, untracked } from "@preact/signals";
import { socketAddress } from "../data/address.js";
import { type Api, ApiError, createApi, messageOf } from "../data/api.js";
import { afterPaint, browserFeed, now, readStored, writeStored } from "../data/browser.js";
import type { FeedState } from "../data/feed.js";
import { type Filters, parseRoute, printRoute, type Route, type View } from "../model/route.js";
import type { Frame, Health, Stats } from "../model/types.js";
import { createListStore, createSearchStore, type ListStore, type SearchStore } from "./list.js";
import { createRunStore, type RunStore } from "./run.js";

export type Theme = "system" | "light" | "dark";

export interface App {
  readonly api: Api;
  readonly route: Signal<Route>;
  readonly list: ListStore;
  readonly search: SearchStore;
  readonly run: ReadonlySignal<RunStore | null>;
  readonly feed: Signal<FeedState>;
  readonly health: Signal<Health | null>;
  readonly stats: Signal<Stats | null>;
  readonly theme: Signal<Theme>;
  /** The service wants a token; the text says why it asks. */
  readonly tokenWanted: Signal<string | null>;
  readonly hasToken: ReadonlySignal<boolean>;
  /** Milliseconds since the epoch, every second. */
  readonly clock: Signal<number>;
  /** What the page was opened for is drawn. Everything else is asked for then: it would only delay that. */
  readonly drawn: ReadonlySignal<boolean>;
  /** A view has its first answer, or knows that there is none. */
  answered(): void;
  /** The present, read anew. */
  now(): number;
  readonly help: Signal<boolean>;
  setFilters(filters: Partial<Filters>): void;
  openRun(runId: string, stepId?: string | null): void;
  /** Selects a step of the open run; `null` closes the inspector. */
  select(stepId: string | null): void;
  closeRun(): void;
  show(view: View, more?: Partial<Pick<Route, "pair" | "steps" | "scope" | "expanded">>): void;
  /** Another run beside the open one; who asks for it closes it. */
  watchRun(runId: string): RunStore;
  /** The step that waits for another one to be compared with. */
  readonly marked: Signal<{ readonly runId: string; readonly stepId: string; readonly name: string } | null>;
  giveToken(token: string): Promise<string | null>;
  forgetToken(): void;
  setTheme(theme: Theme): void;
  /** Times are shown in UTC, not in the time zone of the computer. */
  readonly utc: Signal<boolean>;
  setUtc(utc: boolean): void;
  /** Widths of panes in pixels, where the reader chose them. */
  readonly widths: Signal<{ readonly list: number | null; readonly inspector: number | null }>;
  setWidth(pane: "list" | "inspector", width: number | null): void;
  /** Runs that are selected in the list; `null` when nothing can be selected. */
  readonly selection: Signal<ReadonlySet<string> | null>;
  /** Connects everything that is not connected. */
  retry(): void;
}

const STATS_MS = 5000;
/** A first answer that takes longer does not keep the rest of the page waiting. */
const FIRST_ANSWER_MS = 2000;
/** The service pings after 15 s; three missed ones are a dead connection. */
const SILENCE_MS = 45_000;

export function createApp(): App {
  const page = (): string => location.href;
  const token = signal(readStored("session", "token"));
  const tokenWanted = signal<string | null>(null);
  const askForToken = (sent: string | null): void => {
    // An answer to a request with a token that was replaced meanwhile says nothing about the new one.
    if (sent === token.value) tokenWanted.value = sent === null ? "This service asks for a token." : "The service did not accept the token.";
  };
  const api = createApi({ page, token: () => token.value, onUnauthorized: askForToken });
  const socket = (path: string, params: { readonly [name: string]: string | number | null }): { url: string; protocols: readonly string[] } => socketAddress(page(), path, params, token.value);

  const route = signal(parseRoute(location.hash));
  const list = createListStore(api);
  const search = createSearchStore(api);
  const run = signal<RunStore | null>(null);
  const feed = signal<FeedState>({ kind: "connecting" });
  const health = signal<Health | null>(null);
  const stats = signal<Stats | null>(null);
  const theme = signal<Theme>(readTheme());
  const clock = signal(now());
  const help = signal(false);
  const utc = signal(readStored("local", "utc") === "1");
  const widths = signal({ list: readWidth("list"), inspector: readWidth("inspector") });
  const selection = signal<ReadonlySet<string> | null>(null);
  const drawn = signal(false);
  let hasAnswer = false;
  const answered = (): void => {
    if (hasAnswer) return;
    hasAnswer = true;
    void afterPaint().then(() => (drawn.value = true));
  };
  setTimeout(answered, FIRST_ANSWER_MS);

  addEventListener("hashchange", () => (route.value = parseRoute(location.hash)));
  const go = (next: Route, how: "push" | "replace"): void => {
    const hash = printRoute(next);
    if (how === "push" && hash !== location.hash) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
    route.value = next;
  };
  // pushState fires no event; going back does.
  addEventListener("popstate", () => (route.value = parseRoute(location.hash)));

  const filters = computed(() => route.value.filters);
  const filterKey = computed(() => JSON.stringify(filters.value));
  const runId = computed(() => route.value.runId);
  const watchRun = (id: string): RunStore => createRunStore({ api, runId: id, socket, onUnauthorized: () => askForToken(token.value), onRun: (changed) => list.take(changed), onMissing: () => list.forget(id), onAnswer: answered });
  const openRun = (): void => {
    run.peek()?.close();
    const id = runId.peek();
    run.value = id === null ? null : watchRun(id);
  };
  const loadList = (): void => {
    const wanted = filters.peek();
    void (wanted.inSteps ? search.search(wanted.q) : list.load(wanted)).then(answered);
  };
  // Beside an open run, or behind another view, the list can wait.
  const listWanted = computed(() => drawn.value || (runId.value === null && route.value.view === "runs"));
  effect(() => {
    filterKey.value;
    if (listWanted.value) untracked(loadList);
  });
  effect(() => {
    runId.value;
    untracked(openRun);
  });

  let wasLive = false;
  const listFeed = browserFeed({
    address: () => socket("runs", { extended: 1 }),
    silenceMs: SILENCE_MS,
    onFrame: (frame) => {
      const { msg_type: type, payload } = frame as Frame;
      if (type === "run_update") list.take((payload as Extract<Frame, { msg_type: "run_update" }>["payload"]).run);
    },
    onState: (state) => {
      feed.value = state;
      if (state.kind === "refused") askForToken(token.value);
      if (state.kind !== "live") return;
      if (wasLive) {
        void list.refresh();
        if (run.value !== null) run.value.retry();
      }
      wasLive = true;
    },
  });
  const readStats = async (): Promise<void> => {
    if (document.visibilityState === "hidden" || tokenWanted.value !== null || !drawn.value) return;
    try {
      stats.value = await api.get<Stats>("stats", { extended: 1 });
    } catch {
      // The connection's own sign says that the service is away.
    }
  };
  const readHealth = async (): Promise<void> => {
    health.value = await api.get<Health>("health").catch(() => health.value);
  };
  setInterval(() => (clock.value = now()), 1000);
  setInterval(() => void readStats(), STATS_MS);
  addEventListener("online", () => retry());
  effect(() => {
    if (!drawn.value) return;
    untracked(() => {
      void readStats();
      void readHealth();
    });
  });

  effect(() => {
    if (theme.value === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme.value;
  });
  effect(() => {
    const name = health.value?.project_name ?? null;
    const open = run.value?.run.value;
    document.title = [open?.name ?? run.value?.id ?? null, name, "Traces"].filter((part) => part !== null && part !== "").join(" · ");
  });

  const retry = (): void => {
    listFeed.retry();
    run.value?.retry();
    if (list.error.value !== null) loadList();
    void readHealth();
  };
  const restart = (): void => {
    loadList();
    openRun();
    listFeed.retry();
    void readStats();
  };
  const setToken = (value: string | null): void => {
    token.value = value;
    writeStored("session", "token", value);
  };

  return {
    api, route, list, search, run, feed, health, stats, theme, tokenWanted, clock, drawn, answered, help, utc, widths, selection, marked: signal(null), now, watchRun,
    hasToken: computed(() => token.value !== null),
    setFilters(changed) {
      go({ ...route.value, filters: { ...route.value.filters, ...changed } }, "replace");
    },
    openRun(id, stepId = null) {
      go({ ...route.value, view: "runs", pair: null, steps: null, expanded: false, runId: id, stepId }, "push");
    },
    select(stepId) {
      go({ ...route.value, stepId }, route.value.stepId === null && stepId !== null ? "push" : "replace");
    },
    show(view, more = {}) {
      go({ ...route.value, view, runId: null, stepId: null, pair: more.pair ?? null, steps: more.steps ?? null, scope: more.scope ?? route.value.scope, expanded: more.expanded ?? false }, "push");
    },
    closeRun() {
      go({ ...route.value, runId: null, stepId: null }, "push");
    },
    async giveToken(value) {
      const before = token.value;
      token.value = value;
      try {
        await api.get<Stats>("stats");
      } catch (failure) {
        token.value = before;
        return failure instanceof ApiError && failure.status === 401 ? "The service did not accept this token." : messageOf(failure);
      }
      batch(() => {
        setToken(value);
        tokenWanted.value = null;
      });
      restart();
      return null;
    },
    forgetToken() {
      setToken(null);
      restart();
    },
    setWidth(pane, width) {
      widths.value = { ...widths.value, [pane]: width };
      writeStored("local", `width.${pane}`, width === null ? null : String(width));
    },
    setUtc(value) {
      utc.value = value;
      writeStored("local", "utc", value ? "1" : null);
    },
    setTheme(value) {
      theme.value = value;
      writeStored("local", "theme", value === "system" ? null : value);
    },
    retry,
  };
}

function readWidth(pane: string): number | null {
  const width = Number(readStored("local", `width.${pane}`) ?? "");
  return Number.isInteger(width) && width >= 200 && width <= 1600 ? width : null;
}

function readTheme(): Theme {
  const stored = readStored("local", "theme");
  return stored === "light" || stored === "dark" ? stored : "system";
}
