/** The pages in a real browser, over the real service: what a reader sees of runs, and does. */
import assert from "node:assert/strict";
import type { Json } from "../lib.js";
import { at, failedRun, finish, pageSuite, startPrefixProxy, withPages } from "./browser.js";

const { test, openPage } = pageSuite("trace ui: runs");

test("an empty service says what to do, and a run appears without a reload", () => withPages({}, async (trace) => {
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  await page.getByText("No runs yet").waitFor();
  await page.locator('.connection[data-state="live"]').waitFor();
  await trace.ingest([{ run_id: "first", event_type: "chain_start", agent_name: "newcomer" }]);
  const row = page.locator(".run-row", { hasText: "newcomer" });
  await row.locator(".status-running").waitFor();
  await trace.ingest([{ run_id: "first", event_type: "chain_end", agent_name: "newcomer" }]);
  await row.locator(".status-completed").waitFor();
  assert.equal(await page.locator(".list-foot > span").first().innerText(), "1 run");
  await finish(watched);
}));

test("a failed run opens at the cause of its error", () => withPages({}, async (trace) => {
  await trace.ingest(failedRun("r1"));
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  const row = page.locator(".run-row");
  assert.match(await row.innerText(), /checkout_agent[^]*step 2 failed/);
  await row.click();
  await page.locator(".inspector h2", { hasText: "http_request" }).waitFor();
  assert.match(await page.locator(".failure").innerText(), /ConnectTimeout after 800 ms/);
  const spans = page.locator(".span");
  assert.deepEqual(await spans.evaluateAll((rows) => rows.map((element) => [element.getAttribute("aria-level"), element.querySelector(".span-text")?.textContent, element.getAttribute("data-state")])), [
    ["1", "checkout_agent", "error"], ["2", "ChatModel", "ok"], ["2", "carrier_status", "error"], ["3", "http_request", "error"],
  ]);
  assert.match(await spans.nth(1).innerText(), /m-1[^]*1\.2 k→34[^]*800 ms/);
  assert.match(await spans.nth(2).innerText(), /logistics/);
  const boxes = await page.locator(".bar").evaluateAll((bars) => bars.map((bar) => { const { left, right } = bar.getBoundingClientRect(); return [left, right] as const; }));
  const [root, model, tool, http] = boxes;
  assert.ok(root !== undefined && model !== undefined && tool !== undefined && http !== undefined);
  assert.ok(root[0] < model[0] && model[1] < tool[0] && tool[0] < http[0] && http[1] < tool[1] && tool[1] < root[1], JSON.stringify(boxes));
  await finish(watched);
}));

test("a payload is read on demand, shown as a tree and copied", () => withPages({}, async (trace) => {
  await trace.ingest(failedRun("r1"));
  const watched = await openPage(`${trace.url}/ui/#/runs/r1`, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = watched;
  const asked: string[] = [];
  page.on("request", (request) => request.url().endsWith("/full") && asked.push(request.url()));
  await page.locator(".inspector").waitFor();
  assert.deepEqual(asked, [], "the failed call has no payload");
  await page.locator(".span", { hasText: "carrier_status" }).click();
  const line = page.locator(".json-line", { hasText: "order" });
  assert.match(await line.innerText(), /order\s*4711/);
  assert.equal(asked.length, 1);
  await line.hover();
  await line.getByRole("button", { name: "Copy order" }).click();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), "4711");
  await page.locator(".json-line", { hasText: "input" }).getByRole("button", { name: "Fold input" }).click();
  assert.equal(await line.count(), 0);
  await finish(watched);
}));

test("a new step of an open run comes in live, each once, also after the connection was cut", () => withPages({}, async (trace) => {
  await trace.ingest([{ run_id: "live", event_type: "chain_start", agent_name: "worker" }]);
  const proxy = await startPrefixProxy(trace, "/p");
  try {
    const watched = await openPage(`${proxy.url}/ui/#/runs/live`);
    const { page } = watched;
    const resumed: string[] = [];
    page.on("websocket", (socket) => socket.url().includes("/ws/trace/") && resumed.push(new URL(socket.url()).searchParams.get("since") ?? ""));
    await page.locator(".span", { hasText: "worker" }).waitFor();
    await page.locator('.connection[data-state="live"]').waitFor();
    await trace.ingest([{ run_id: "t1", parent_run_id: "live", event_type: "tool_start", tool_name: "fetch_page" }]);
    await page.locator(".span", { hasText: "fetch_page" }).getByText("running").waitFor();
    // The sums of a run are those of now also while it goes on.
    await page.locator(".facts", { hasText: "2 calls" }).waitFor();
    proxy.cut();
    await trace.ingest([
      { run_id: "t1", parent_run_id: "live", event_type: "tool_end", tool_name: "fetch_page" },
      { run_id: "t2", parent_run_id: "live", event_type: "tool_start", tool_name: "parse_page" },
      { run_id: "t2", parent_run_id: "live", event_type: "tool_end", tool_name: "parse_page" },
    ]);
    await page.locator('.span[data-state="ok"]', { hasText: "parse_page" }).waitFor();
    await trace.ingest([{ run_id: "live", event_type: "chain_end", agent_name: "worker" }]);
    await page.locator(".run-title .status-completed").waitFor();
    await page.locator('.span[data-state="ok"]', { hasText: "worker" }).waitFor();
    assert.deepEqual(await page.locator(".span-text").allInnerTexts(), ["worker", "fetch_page", "parse_page"]);
    assert.equal(await page.locator(".facts", { hasText: "3 calls" }).count(), 1);
    assert.ok(resumed.some((since) => Number(since) >= 2), `resumed at ${resumed.join(", ")}`);
    await finish(watched);
  } finally {
    proxy.close();
  }
}));

test("a step that is stored between the answers that open a run and its feed is in the sums of the run", () => withPages({}, async (trace) => {
  await trace.ingest([{ run_id: "early", event_type: "chain_start", agent_name: "worker" }]);
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  const runIsRead = page.waitForResponse(/\/api\/runs\/early\?/);
  await page.route(/\/api\/runs\/early\/journey/, async (route) => {
    await runIsRead;
    const response = await route.fetch();
    await trace.ingest([{ run_id: "t1", parent_run_id: "early", event_type: "tool_start", tool_name: "fetch_page" }]);
    await route.fulfill({ response });
  }, { times: 1 });
  await page.goto(`${trace.url}/ui/#/runs/early`);
  await page.locator(".span", { hasText: "fetch_page" }).waitFor();
  await page.locator(".facts", { hasText: "2 calls" }).waitFor();
  await finish(watched);
}));

test("a page whose first answer is late is seen without it", () => withPages({}, async (trace) => {
  await trace.ingest([{ run_id: "r", event_type: "chain_start", agent_name: "worker" }]);
  const watched = await openPage(`${trace.url}/ui/#/settings`);
  const { page } = watched;
  let answer = (): void => undefined;
  const seen = new Promise<void>((resolve) => (answer = resolve));
  await page.route(/\/api\/runs\?/, async (route) => {
    await seen;
    await route.continue();
  });
  await page.goto("about:blank");
  await page.goto(`${trace.url}/ui/`);
  await page.locator("#search").waitFor();
  assert.equal(await page.locator(".run-row").count(), 0);
  answer();
  await page.locator(".run-row").waitFor();
  await finish(watched);
}));

test("filters are the service's own, live in the address and survive a reload", () => withPages({}, async (trace) => {
  await trace.ingest([...failedRun("r1"), ...Array.from({ length: 150 }, (_, index) => [
    { run_id: `ok-${index}`, event_type: "chain_start", timestamp: at(10_000 + index), agent_name: `job_${index}`, tags: [index % 2 === 0 ? "even" : "odd"] },
    { run_id: `ok-${index}`, event_type: "chain_end", timestamp: at(20_000 + index), agent_name: `job_${index}` },
  ]).flat()]);
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  const foot = (text: string): Promise<void> => page.locator(".list-foot span", { hasText: text }).waitFor();
  await foot("50 of 151 runs loaded");
  assert.ok((await page.locator(".run-row").count()) < 60, "only rows in view are elements");
  await page.locator(".rows").evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await foot("151 runs");
  await page.getByRole("button", { name: "Failed" }).click();
  await foot("1 run");
  assert.match(page.url(), /status=failed/);
  await page.reload();
  await foot("1 run");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("job_14");
  await foot("11 runs");
  await page.locator("#search").fill("");
  await page.locator("#tag").fill("EVEN");
  await foot("75 runs");
  await finish(watched);
}));

test("a key that is typed just after the filter was applied stays in the field", () => withPages({}, async (trace) => {
  await trace.ingest(failedRun("r1"));
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  await page.clock.install();
  await page.reload();
  await page.locator(".run-row").waitFor();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.locator("#search").pressSequentially("check");
  // The filter is applied by the last timer that runs here; frames after it wait.
  await page.clock.runFor(180);
  assert.match(page.url(), /q=check$/);
  await page.locator("#search").pressSequentially("x");
  await page.clock.runFor(100);
  assert.equal(await page.locator("#search").inputValue(), "checkx");
  await page.clock.runFor(180);
  assert.match(page.url(), /q=checkx$/);
  await finish(watched);
}));

test("one run is one run in the header, and its small cost is readable in the list", () => withPages({}, async (trace) => {
  const model = { run_id: "r1-model", parent_run_id: "r1", agent_name: "gpt-4o-mini", model: "gpt-4o-mini" };
  await trace.ingest([
    { run_id: "r1", event_type: "chain_start", timestamp: at(0), agent_name: "asker" }, { ...model, event_type: "chat_model_start", timestamp: at(1) },
    { ...model, event_type: "llm_end", timestamp: at(2), token_input: 42, token_output: 58 }, { run_id: "r1", event_type: "chain_end", timestamp: at(3), agent_name: "asker" },
  ]);
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  const cost = page.locator(".run-cost", { hasText: "<$0.0001" });
  await cost.waitFor();
  assert.equal(await cost.evaluate((element) => element.scrollWidth - element.clientWidth), 0);
  await page.locator(".counters li", { hasText: /^1 run$/ }).waitFor();
  await finish(watched);
}));

test("full-text search finds a word of a payload and opens its step", () => withPages({}, async (trace) => {
  await trace.ingest(failedRun("r1"));
  await trace.settle();
  const watched = await openPage(`${trace.url}/ui/#/?in=steps&q=4711`);
  const { page } = watched;
  assert.equal(await page.locator(".hit-row mark").first().innerText(), "4711");
  await page.locator(".hit-hit-row").first().click();
  await page.locator(".inspector h2", { hasText: "carrier_status" }).waitFor();
  await page.locator('.span[aria-selected="true"]', { hasText: "carrier_status" }).waitFor();
  await finish(watched);
}));

test("everything works by keys", () => withPages({}, async (trace) => {
  await trace.ingest([...failedRun("r1"), { run_id: "later", event_type: "chain_start", timestamp: at(9e6), agent_name: "later" }]);
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  await page.locator(".run-row").nth(1).waitFor();
  for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key);
  await page.locator(".run h1", { hasText: "checkout_agent" }).waitFor();
  await page.locator(".inspector h2", { hasText: "http_request" }).waitFor();
  await page.keyboard.press("Home");
  await page.locator(".inspector h2", { hasText: "checkout_agent" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator(".span").count(), 1, "folded");
  await page.keyboard.press("e");
  await page.locator(".inspector h2", { hasText: "http_request" }).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".inspector").count(), 0);
  const active = await page.locator(".waterfall").getAttribute("aria-activedescendant");
  assert.equal(await page.locator(`#${active ?? "none"} .span-text`).innerText(), "http_request");
  await page.keyboard.press("K");
  await page.locator(".run h1", { hasText: "later" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator('.panes[data-view="list"]').waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
  await finish(watched);
}));

test("a run that does not exist is said so, and shown once it does", () => withPages({}, async (trace) => {
  const watched = await openPage(`${trace.url}/ui/#/runs/not%20yet`, { expected: /404/ });
  const { page } = watched;
  await page.getByText("No such run").waitFor();
  await trace.ingest([{ run_id: "not yet", event_type: "chain_start", agent_name: "late_one" }]);
  await page.locator(".span", { hasText: "late_one" }).waitFor();
  await page.locator(".run h1", { hasText: "late_one" }).waitFor();
  await finish(watched);
}));

/** Opens the first run and measures, in the page, until its first rows are drawn. Text: the compiler of these tests knows no document. */
const FIRST_ROWS = `new Promise((resolve) => {
  const started = performance.now();
  new MutationObserver((_, observer) => {
    if (document.querySelectorAll(".span").length < 20) return;
    observer.disconnect();
    requestAnimationFrame(() => resolve(performance.now() - started));
  }).observe(document.body, { childList: true, subtree: true });
  document.querySelector(".run-row").click();
})`;

test("a run of 50,000 steps is drawn at once, and only what is in view is an element", () => withPages({ per_run_event_cap: 100_000 }, async (trace) => {
  const events: Json[] = [{ run_id: "big", event_type: "chain_start", timestamp: at(0), agent_name: "big" }];
  for (let index = 0; index < 25_000; index++) {
    events.push({ run_id: `t${index}`, parent_run_id: "big", event_type: "tool_start", timestamp: at(index * 2 + 1), tool_name: `step_${index % 5000}` });
    events.push({ run_id: `t${index}`, parent_run_id: "big", event_type: index === 20_000 ? "tool_error" : "tool_end", timestamp: at(index * 2 + 2), tool_name: index === 20_000 ? "the_bad_one" : `step_${index % 5000}`, ...(index === 20_000 ? { error_message: "bad" } : {}) });
  }
  for (let from = 0; from < events.length; from += 10_000) await trace.ingest(events.slice(from, from + 10_000));
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  await page.locator(".run-row").waitFor();
  const firstMs = Number(await page.evaluate(FIRST_ROWS));
  process.stdout.write(`  50,000 steps: first rows after ${Math.round(firstMs)} ms\n`);
  assert.ok(firstMs < 3000, `${firstMs} ms; 300 ms on a machine with nothing else to do`);
  await page.locator('.waterfall[aria-busy="false"][aria-rowcount="25001"]').waitFor({ timeout: 60_000 });
  await page.keyboard.press("e");
  await page.locator('.span[aria-selected="true"][data-state="error"]').waitFor();
  assert.ok((await page.locator(".span").count()) < 120);
  await finish(watched);
}));

test.run();
