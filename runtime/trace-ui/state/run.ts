/** One run on the screen: its steps by pages, then live, each once; what is folded, filtered and in view. */
import { batch, computed, type ReadonlySignal, signal, type Signal } from "@preact/signals";
import { ApiError, type Api, messageOf, type Params } from "../data/api.js";
import { afterPaint, browserFeed } from "../data/browser.js";
import type { Feed, FeedState } from "../data/feed.js";
import { type Span, SpanStore, stepKey } from "../model/spans.js";
import { ancestors, buildTree, collapsible, isGroup, type Row, type Tree, visibleRows } from "../model/tree.js";
import type { Json } from "../model/payload.js";
import type { Frame, JourneyPage, Run, Step, StepPayload } from "../model/types.js";

export type PayloadState = { readonly kind: "loading" } | { readonly kind: "ready"; readonly value: Json } | { readonly kind: "failed"; readonly message: string };

export interface RunStore {
  readonly id: string;
  readonly run: Signal<Run | null>;
  readonly loading: Signal<boolean>;
  readonly error: Signal<string | null>;
  /** The service does not know the run; it is shown as soon as it appears. */
  readonly missing: Signal<boolean>;
  readonly feed: Signal<FeedState>;
  /** Why the last thing that was asked of the run could not be done. */
  readonly problem: Signal<string | null>;
  readonly tree: ReadonlySignal<Tree>;
  readonly rows: ReadonlySignal<readonly Row[]>;
  readonly needle: Signal<string>;
  readonly collapsed: Signal<ReadonlySet<string>>;
  /** Groups of repeated siblings that are open. */
  readonly opened: Signal<ReadonlySet<string>>;
  /** Keeps the newest call in view. */
  readonly follow: Signal<boolean>;
  readonly newest: Signal<Span | null>;
  /** Latest time of any step; 0 without one. */
  readonly lastMs: Signal<number>;
  /** By `stepKey`. */
  readonly payloads: Signal<ReadonlyMap<string, PayloadState>>;
  /** By a step's key or its event id. */
  spanOfStep(id: string): Span | null;
  toggle(spanId: string, folded?: boolean): void;
  foldAll(folded: boolean): void;
  /** Unfolds what hides a span. */
  reveal(spanId: string): void;
  loadPayload(step: Step): Promise<void>;
  /** Reads again what failed, or connects anew: a connection may be dead without a sign. */
  retry(): void;
  close(): void;
}

export interface RunStoreOptions {
  readonly api: Api;
  readonly runId: string;
  readonly socket: (path: string, params: Params) => { readonly url: string; readonly protocols: readonly string[] };
  readonly onUnauthorized: () => void;
  readonly onRun: (run: Run) => void;
  /** The service does not know the run, or not any more. */
  readonly onMissing: () => void;
  /** The first answer is in the page. */
  readonly onAnswer: () => void;
}

const FIRST_PAGE = 500;
const NEXT_PAGES = 5000;
const REFRESH_MS = 1000;
const NO_TREE: Tree = { nodes: [], byId: new Map(), causes: [], startMs: 0, endMs: 0 };

export function createRunStore(options: RunStoreOptions): RunStore {
  const { api, runId } = options;
  const path = `runs/${encodeURIComponent(runId)}`;
  const spans = new SpanStore();
  const version = signal(0);
  const run = signal<Run | null>(null);
  const loading = signal(true);
  const error = signal<string | null>(null);
  const missing = signal(false);
  const feedState = signal<FeedState>({ kind: "connecting" });
  const problem = signal<string | null>(null);
  const needle = signal("");
  const collapsed = signal<ReadonlySet<string>>(new Set());
  const opened = signal<ReadonlySet<string>>(new Set());
  const follow = signal(false);
  const newest = signal<Span | null>(null);
  const lastMs = signal(0);
  const payloads = signal<ReadonlyMap<string, PayloadState>>(new Map());
  const abort = new AbortController();
  let buildMs = 0;
  const tree = computed(() => {
    if (version.value === 0) return NO_TREE;
    const started = performance.now();
    const built = buildTree(spans.spans, (id) => spans.primary(id));
    buildMs = performance.now() - started;
    return built;
  });
  const rows = computed(() => visibleRows(tree.value, { collapsed: collapsed.value, opened: opened.value }, needle.value));

  let feed: Feed | null = null;
  /** Every step up to here has arrived. */
  let resumeAt = 0;
  let waiting: Step[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let refreshing: ReturnType<typeof setTimeout> | null = null;

  /** Steps come in bursts: they are drawn together, and the less often the longer drawing takes. */
  function flush(): void {
    timer = null;
    const steps = waiting;
    waiting = [];
    if (spans.add(steps) === 0) return;
    batch(() => {
      version.value = spans.version;
      lastMs.value = spans.lastMs;
      newest.value = spans.spans.at(-1) ?? null;
    });
  }
  function take(steps: readonly Step[]): void {
    for (const step of steps) waiting.push(step);
    timer ??= setTimeout(flush, Math.max(30, buildMs * 3));
  }
  function takeNow(steps: readonly Step[]): void {
    waiting.push(...steps);
    if (timer !== null) clearTimeout(timer);
    flush();
  }

  function onFrame(frame: Frame): void {
    if (frame.msg_type === "catchup") {
      take(frame.payload.steps);
      resumeAt = Math.max(resumeAt, frame.payload.last_seq);
      if (frame.payload.steps.length > 0) sumsChanged();
    } else if (frame.msg_type === "event") {
      take([frame.payload]);
      resumeAt = Math.max(resumeAt, frame.payload.seq);
      sumsChanged();
    } else if (frame.msg_type === "run_update" && frame.payload.run.run_id === runId) {
      setRun(frame.payload.run);
    } else if (frame.msg_type === "error") {
      void readAll();
    }
  }
  /** Frames have steps and no sums: those of a run that goes on are read again. */
  function sumsChanged(): void {
    if (run.value === null) void readRun();
    else if (run.value.status === "running") refreshing ??= setTimeout(refresh, REFRESH_MS);
  }
  function refresh(): void {
    refreshing = null;
    if (run.value?.status === "running") void readRun();
  }
  function setRun(next: Run): void {
    batch(() => {
      run.value = next;
      missing.value = false;
    });
    options.onRun(next);
  }
  async function readRun(): Promise<void> {
    try {
      setRun(await api.get<Run>(path, { extended: 1 }, abort.signal));
    } catch (failure) {
      if (abort.signal.aborted) return;
      if (failure instanceof ApiError && failure.status === 404) {
        missing.value = true;
        options.onMissing();
      } else error.value = messageOf(failure);
    }
  }
  function openFeed(): void {
    feed?.close();
    feed = browserFeed({
      address: () => options.socket(`trace/${encodeURIComponent(runId)}`, { extended: 1, since: resumeAt }),
      silenceMs: 0,
      onFrame: (frame) => onFrame(frame as Frame),
      onState: (state) => {
        feedState.value = state;
        if (state.kind === "refused") options.onUnauthorized();
      },
    });
  }
  async function readAll(): Promise<void> {
    loading.value = true;
    error.value = null;
    void readRun();
    try {
      let cursor: string | null = null;
      let first = true;
      do {
        const page: JourneyPage = await api.get<JourneyPage>(`${path}/journey`, { extended: 1, limit: first ? FIRST_PAGE : NEXT_PAGES, cursor }, abort.signal);
        cursor = page.next_cursor ?? null;
        if (first) {
          takeNow(page.steps);
          options.onAnswer();
          // The rest of a long run must not delay the picture of its start.
          if (cursor !== null) await afterPaint();
          if (abort.signal.aborted) return;
          // What is stored after this page was read comes by the feed.
          resumeAt = Math.max(resumeAt, page.last_seq);
          openFeed();
        } else take(page.steps);
        first = false;
      } while (cursor !== null);
      takeNow([]);
    } catch (failure) {
      if (abort.signal.aborted) return;
      if (failure instanceof ApiError && failure.status === 404) {
        missing.value = true;
        openFeed();
      } else error.value = messageOf(failure);
      options.onAnswer();
    }
    loading.value = false;
  }
  void readAll();

  return {
    id: runId, run, loading, error, missing, feed: feedState, problem, tree, rows, needle, collapsed, opened, follow, newest, lastMs, payloads,
    spanOfStep: (id) => spans.ofStep(id),
    toggle(spanId, folded) {
      if (isGroup(spanId)) {
        const groups = new Set(opened.value);
        if (folded ?? groups.has(spanId)) groups.delete(spanId);
        else groups.add(spanId);
        opened.value = groups;
        return;
      }
      const next = new Set(collapsed.value);
      if (folded ?? !next.has(spanId)) next.add(spanId);
      else next.delete(spanId);
      collapsed.value = next;
    },
    foldAll(folded) {
      batch(() => {
        collapsed.value = folded ? collapsible(tree.value) : new Set();
        if (folded) opened.value = new Set();
      });
    },
    reveal(spanId) {
      const above = ancestors(tree.value, spanId);
      const closed = above.filter((id) => isGroup(id) && !opened.value.has(id));
      if (closed.length > 0 && !rows.value.some((row) => row.id === spanId)) opened.value = new Set([...opened.value, ...closed]);
      const hiding = above.filter((id) => collapsed.value.has(id));
      if (hiding.length > 0) collapsed.value = new Set([...collapsed.value].filter((id) => !hiding.includes(id)));
      if (needle.value !== "" && !rows.value.some((row) => row.id === spanId)) needle.value = "";
    },
    async loadPayload(step) {
      const key = stepKey(step);
      const known = payloads.value.get(key);
      if (known !== undefined && known.kind !== "failed") return;
      const set = (state: PayloadState): void => void (payloads.value = new Map(payloads.value).set(key, state));
      set({ kind: "loading" });
      try {
        const answer = await api.get<StepPayload>(`runs/${encodeURIComponent(step.run_id)}/steps/${encodeURIComponent(step.event_id)}/full`, {}, abort.signal);
        set({ kind: "ready", value: answer.full_payload as Json });
      } catch (failure) {
        if (!abort.signal.aborted) set({ kind: "failed", message: messageOf(failure) });
      }
    },
    retry() {
      if (error.value !== null) void readAll();
      else feed?.retry();
    },
    close() {
      abort.abort();
      if (timer !== null) clearTimeout(timer);
      if (refreshing !== null) clearTimeout(refreshing);
      feed?.close();
    },
  };
}
