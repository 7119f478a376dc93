/** Chromium on the built pages of the trace service, and what it says of them while they work. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Browser, chromium, type Page } from "playwright-core";
import { repo } from "../../test/lib/repo.js";

const CHROMIUM = "/usr/bin/chromium";
const PAGES = repo("dist", "runtime", "trace-ui", "static");
/** A page that does not get there on a busy machine is broken. */
const PATIENCE_MS = 120_000;

/** Why pages can't be measured here; `null` when they can. */
export function lackOfBrowser(): string | null {
  if (!existsSync(join(PAGES, "index.html"))) return "the pages are not built: make ui";
  return existsSync(CHROMIUM) ? null : `there is no ${CHROMIUM}`;
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--enable-precise-memory-info"] });
}

/** A page of its own profile, with an empty cache. */
export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript({ content: WATCH });
  return page;
}

/**
 * In the page: `drawn(selector, count)` is the time when so many elements were there and a frame was drawn after it;
 * `frames()` starts to note the time between frames. Text, because this program's compiler knows no document.
 */
const WATCH = `(() => {
  const long = [];
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) long.push(entry.duration); }).observe({ type: "longtask", buffered: true });
  const drawn = (selector, count) => new Promise((resolve) => {
    const look = () => document.querySelectorAll(selector).length >= count;
    const done = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0));
    if (document.body !== null && look()) return done();
    const observer = new MutationObserver(() => { if (look()) { observer.disconnect(); done(); } });
    observer.observe(document, { childList: true, subtree: true });
  });
  const frames = () => {
    const gaps = [];
    let running = true;
    let last = performance.now();
    const next = (at) => { gaps.push(at - last); last = at; if (running) requestAnimationFrame(next); };
    requestAnimationFrame((at) => { last = at; requestAnimationFrame(next); });
    return { stop: () => { running = false; return gaps; } };
  };
  window.bench = { drawn, frames, long };
})();`;

export interface Drawn {
  /** From the end of the answer to the frame that shows it. */
  readonly afterDataMs: number;
  /** From the start of the request to that frame. */
  readonly allMs: number;
  /** The longest time that the page answered nobody. */
  readonly longestTaskMs: number;
}

/** Opens an address anew and waits until so many elements are drawn, which an answer of `request` is needed for. */
export async function timeToDraw(page: Page, url: string, selector: string, count: number, request: string): Promise<Drawn> {
  // Another document, so that nothing of the page before is there.
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "commit" });
  return (await page.evaluate(`bench.drawn(${JSON.stringify(selector)}, ${count}).then((at) => {
    const asked = performance.getEntriesByType("resource").find(({ name }) => new URL(name).pathname.endsWith(${JSON.stringify(request)}));
    return { afterDataMs: at - asked.responseEnd, allMs: at - asked.startTime, longestTaskMs: Math.max(0, ...bench.long) };
  })`)) as Drawn;
}

/** Times between frames while the page does what `script` says; it has a promise as its value. */
export async function framesDuring(page: Page, script: string): Promise<readonly number[]> {
  return (await page.evaluate(`(async () => { const watched = bench.frames(); await (${script}); return watched.stop(); })()`)) as number[];
}

/** Elements and texts of the document. */
export async function nodeCount(page: Page): Promise<number> {
  return (await page.evaluate("(() => { const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL); let count = 1; while (walker.nextNode() !== null) count += 1; return count; })()")) as number;
}

/** Bytes of the page's script heap, after a collection. */
export async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}

/** Bytes that belong to the processes that draw pages, and to nobody else. */
export async function rendererBytes(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.filter(({ type }) => type === "renderer").reduce((most, { id }) => Math.max(most, privateBytes(id)), 0);
}

function privateBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return [...text.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** Bytes of the scripts, compressed: all of them, and those that the first view loads. */
export function scriptBytes(): { readonly all: number; readonly first: number } {
  const weigh = (files: Iterable<string>): number => [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(PAGES, file))).length, 0);
  const scripts = readdirSync(PAGES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
  const first = new Set([...readFileSync(join(PAGES, "index.html"), "utf8").matchAll(/(?:src|href)="\.\/([^"]*\.js)"/g)].map((match) => match[1] ?? ""));
  // What those import by name is loaded with them.
  for (const file of first) for (const match of readFileSync(join(PAGES, file), "utf8").matchAll(/(?:import|from)"\.\/([^"]+\.js)"/g)) first.add(`assets/${match[1] ?? ""}`);
  return { all: weigh(scripts), first: weigh(first) };
}
