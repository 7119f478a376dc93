/** The pages of the trace service in headless Chromium: large runs, long lists, live steps and a large graph. */
import type { Browser, Page } from "playwright-core";
import { framesDuring, heapBytes, lackOfBrowser, launch, nodeCount, openPage, rendererBytes, scriptBytes, timeToDraw } from "../lib/browser.js";
import { atMost, type BenchCase, type Comparison, median, type Row } from "../lib/case.js";
import { pause, percentile, sendEvents, startTrace, traceStats } from "../lib/trace.js";

const ROUNDS = 5;
const STEPS = 50_000;
const RUNS = 100_000;
const GRAPH_NODES = 400;
const BATCH = 10_000;

const LIVE_RATE = 500;
const LIVE_TICK_MS = 50;
const LIVE_MS = 10_000;
const SCROLL_MS = 5_000;

type Event = { readonly [field: string]: unknown };

const T0 = Date.UTC(2026, 0, 1);
const at = (ms: number): string => new Date(T0 + ms).toISOString();

/** One run of so many steps: two a call. */
function* bigRun(): Generator<Event> {
  yield { run_id: "big", event_type: "chain_start", timestamp: at(0), agent_name: "big_agent" };
  for (let index = 1; index < STEPS / 2; index++) {
    // Every tenth call is below the one before it, and names repeat as those of real agents do.
    const parent = index % 10 === 0 ? `big-${index - 1}` : "big";
    const call = { run_id: `big-${index}`, parent_run_id: parent, root_run_id: "big", tool_name: `tool_${index % 97}`, mcp_server: `server_${index % 7}` };
    yield { ...call, event_type: "tool_start", timestamp: at(index * 4), summary: `tool_${index % 97}(call ${index} of the run)` };
    yield index % 5_000 === 4_999
      ? { ...call, event_type: "tool_error", timestamp: at(index * 4 + 3), error_message: `call ${index} was refused` }
      : { ...call, event_type: "tool_end", timestamp: at(index * 4 + 3), summary: `tool_${index % 97} → 3 rows` };
  }
  yield { run_id: "big", event_type: "chain_end", timestamp: at(STEPS * 2 + 10), agent_name: "big_agent" };
}

function* manyRuns(): Generator<Event> {
  for (let index = 0; index < RUNS; index++) {
    const run = { run_id: `run-${index}`, agent_name: ["support_agent", "research_agent", "nightly_report"][index % 3], tags: index % 4 === 0 ? ["prod", "eu"] : ["dev"] };
    yield { ...run, event_type: "chain_start", timestamp: at(index * 100), summary: `question ${index} of the day` };
    yield index % 17 === 0 ? { ...run, event_type: "chain_error", timestamp: at(index * 100 + 900), error_message: "the model is busy" } : { ...run, event_type: "chain_end", timestamp: at(index * 100 + 900), summary: "answered" };
  }
}

/** A run of so many different callers, tools and models, each called by several others. */
function* wideRun(): Generator<Event> {
  const callers = GRAPH_NODES / 4;
  yield { run_id: "wide", event_type: "chain_start", timestamp: at(0), agent_name: "planner" };
  for (let caller = 1; caller < callers; caller++) {
    yield { run_id: `wide-${caller}`, parent_run_id: caller < 12 ? "wide" : `wide-${Math.floor(caller / 9)}`, root_run_id: "wide", event_type: "chain_start", timestamp: at(caller), agent_name: `caller_${caller}` };
  }
  for (let called = 0; called < GRAPH_NODES - callers; called++) {
    for (const shift of [0, 7, 31]) {
      const caller = 1 + ((called + shift) % (callers - 1));
      const kind = called % 15 === 0 ? { agent_name: `model_${called}`, model: `model_${called}`, event_type: "chat_model_start" } : { tool_name: `tool_${called}`, event_type: "tool_start", ...(called % 3 === 0 ? { mcp_server: `server_${called % 8}` } : {}) };
      yield { run_id: `wide-c${called}-${shift}`, parent_run_id: `wide-${caller}`, root_run_id: "wide", timestamp: at(1000 + called), ...kind };
    }
  }
}

async function send(url: string, events: Iterable<Event>): Promise<void> {
  let batch: Event[] = [];
  const flush = async (): Promise<void> => {
    // A full queue answers late, so one request at a time is never refused.
    await sendEvents(url, batch);
    batch = [];
  };
  for (const event of events) {
    batch.push(event);
    if (batch.length >= BATCH) await flush();
  }
  await flush();
}

/** Until everything that was sent is readable and in the index, so that nothing else runs while pages are measured. */
async function settled(url: string): Promise<void> {
  for (;;) {
    const { queue_depth: waiting = 0, total_events: stored = 0, events_indexed: indexed = 0 } = await traceStats(url);
    if (waiting === 0 && indexed >= stored) return;
    await pause(200);
  }
}

/** The median of several fresh pages; `pick` is the figure. */
async function fresh(browser: Browser, draw: (page: Page) => Promise<readonly [figure: number, ...others: number[]]>): Promise<readonly (readonly number[])[]> {
  const rounds: (readonly number[])[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const page = await openPage(browser);
    rounds.push(await draw(page));
    await page.context().close();
  }
  return rounds;
}

const column = (rounds: readonly (readonly number[])[], index: number): number[] => rounds.map((figures) => figures[index] ?? Number.NaN);
const ms = (value: number): string => `${value.toFixed(0)} ms`;

async function listRows(browser: Browser, url: string): Promise<readonly Comparison[]> {
  const rounds = await fresh(browser, async (page) => {
    const { allMs, afterDataMs } = await timeToDraw(page, `${url}/ui/#/`, ".run-row", 15, "/api/runs");
    return [allMs, afterDataMs];
  });
  return [atMost("list over 100,000 runs: from the request to its first rows", column(rounds, 0), 150, "ms", [`${ms(median(column(rounds, 1)))} of it after the answer`])];
}

/** Scrolls by a little in every frame, down and up again. */
const SCROLL = `new Promise((resolve) => {
  const element = document.querySelector(".waterfall");
  const until = performance.now() + ${SCROLL_MS};
  let step = 90;
  const next = () => {
    element.scrollTop += step;
    if (element.scrollTop <= 0 || element.scrollTop >= element.scrollHeight - element.clientHeight) step = -step;
    if (performance.now() < until) requestAnimationFrame(next); else resolve();
  };
  next();
})`;

async function bigRunRows(browser: Browser, url: string): Promise<readonly Comparison[]> {
  const rounds = await fresh(browser, async (page) => {
    const { afterDataMs } = await timeToDraw(page, `${url}/ui/#/runs/big`, ".span", 15, "/journey");
    const whole = await page.evaluate(`new Promise((resolve) => { const look = () => (document.querySelector('.waterfall[aria-busy="false"]') === null ? requestAnimationFrame(look) : resolve(performance.now())); look(); })`);
    const frames = await framesDuring(page, SCROLL);
    const nodes = await nodeCount(page);
    return [afterDataMs, percentile(frames, 0.95), nodes, (await heapBytes(page)) / 1e6, (await rendererBytes(browser)) / 1e6, Number(whole), Math.max(...frames)];
  });
  return [
    atMost("run of 50,000 steps: from its first answer to its first rows", column(rounds, 0), 300, "ms", [`all steps are there ${ms(median(column(rounds, 5)))} after the page was opened`]),
    atMost("scrolling it: 95th percentile of the frames", column(rounds, 1), 20, "ms", [`longest ${ms(median(column(rounds, 6)))}`]),
    atMost("elements and texts of its page", column(rounds, 2), 3_000, "nodes"),
    atMost("memory of its page", column(rounds, 4), 200, "MB", [`private memory of the process that draws it; script heap ${median(column(rounds, 3)).toFixed(0)} MB`]),
  ];
}

async function liveRows(browser: Browser, url: string): Promise<readonly Comparison[]> {
  const page = await openPage(browser);
  await sendEvents(url, [{ run_id: "live", event_type: "chain_start", agent_name: "live_agent" }]);
  await timeToDraw(page, `${url}/ui/#/runs/live`, ".span", 1, "/journey");
  await page.locator('.connection[data-state="live"]').waitFor();
  let sent = 0;
  const started = performance.now();
  const sending = (async () => {
    while (performance.now() - started < LIVE_MS) {
      const due = Math.floor(((performance.now() - started) / 1000) * LIVE_RATE);
      const events: Event[] = [];
      for (; sent < due; sent += 2) {
        const call = { run_id: `live-${sent}`, parent_run_id: "live", root_run_id: "live", tool_name: `tool_${sent % 20}` };
        events.push({ ...call, event_type: "tool_start" }, { ...call, event_type: "tool_end" });
      }
      if (events.length > 0) await sendEvents(url, events);
      await pause(LIVE_TICK_MS);
    }
  })();
  const frames = await framesDuring(page, `new Promise((resolve) => setTimeout(resolve, ${LIVE_MS}))`);
  await sending;
  // Frames count only where the page shows what came.
  await page.locator(".facts", { hasText: `${(sent / 2 + 1).toLocaleString("en-US")} calls` }).waitFor();
  await page.context().close();
  return [atMost("live at 500 events a second: longest frame", Math.max(...frames), 100, "ms", [`95th percentile ${ms(percentile(frames, 0.95))}, ${sent.toLocaleString("en-US")} events in 10 s`])];
}

async function graphRows(browser: Browser, url: string): Promise<readonly Comparison[]> {
  const rounds = await fresh(browser, async (page) => {
    const { afterDataMs, longestTaskMs } = await timeToDraw(page, `${url}/ui/#/topology?scope=${encodeURIComponent("run:wide")}`, ".node", GRAPH_NODES, "/topology");
    return [afterDataMs, longestTaskMs];
  });
  return [atMost("topology of 400 nodes: from the answer to the drawing", column(rounds, 0), 1_000, "ms", [`laid out in a worker; longest task of the page ${ms(median(column(rounds, 1)))}`])];
}

function weightRows(): readonly Comparison[] {
  const { all, first } = scriptBytes();
  return [atMost("JavaScript in all, compressed", all / 1000, 150, "KB"), atMost("JavaScript of the first view, compressed", first / 1000, 60, "KB")];
}

async function pages(): Promise<readonly Row[]> {
  const lack = lackOfBrowser();
  if (lack !== null) return [{ what: "the pages of the trace service", skipped: lack }];
  const service = await startTrace(undefined, ["--per-run-event-cap", "1000000"]);
  const browser = await launch();
  try {
    const { url } = service;
    for (const events of [bigRun(), wideRun(), manyRuns()]) await send(url, events);
    await settled(url);
    return [...(await bigRunRows(browser, url)), ...(await listRows(browser, url)), ...(await liveRows(browser, url)), ...(await graphRows(browser, url)), ...weightRows()];
  } finally {
    await browser.close();
    await service.stop();
  }
}

export const traceUi: BenchCase = {
  name: "trace-ui",
  summary: "the pages of the trace service in headless Chromium, over 100,000 runs and one of 50,000 steps",
  method: `Service and browser are processes of their own, without a graphics processor. Each figure but that of live steps is the median of ${ROUNDS} fresh pages with an empty cache; a page counts as drawn when a frame has ended after its elements were there.`,
  run: pages,
};
