/** Every view in a real browser: what it shows, by pointer and by keys. */
import assert from "node:assert/strict";
import { WAYS } from "../../../runtime/trace-ui/model/ways.js";
import type { Json } from "../lib.js";
import { finish, pageSuite, withPages } from "./browser.js";
import { fillSample } from "./sample.js";

const { test, openPage } = pageSuite("trace ui: views");
const NOW = Date.now();

test("a successful run opens at its root, a failed one at the end of its failing path", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/ok-1`);
  const { page } = watched;
  await page.locator(".inspector h2", { hasText: "support_agent" }).waitFor();
  assert.match(await page.locator(".run-summary").innerText(), /Asked[^]*Where is my order 4711[^]*Answered[^]*Slowest[^]*1 retry/);
  assert.deepEqual(await page.locator(".run-summary strong").allInnerTexts(), ["Monday", "4711", "tomorrow before noon"], "markdown as elements");
  await page.goto(`${trace.url}/ui/#/runs/bad-1`);
  await page.locator(".inspector .failure", { hasText: "502 Bad Gateway" }).waitFor();
  assert.deepEqual(await page.locator(".path button").allInnerTexts(), ["support_agent", "carrier_status", "http_request"]);
  assert.match(await page.locator('.span[data-fatal="true"]').innerText(), /http_request[^]*502 Bad/);
  await page.locator(".path button").nth(1).click();
  await page.locator(".inspector h2", { hasText: "carrier_status" }).waitFor();
  await finish(watched);
}));

test("the question and the answer of a run open to the whole text, and close again", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/ok-1`);
  const { page } = watched;
  const answered = page.locator(".said", { hasText: "Answered" });
  await answered.getByRole("button", { name: "All of it" }).click();
  await answered.locator("ol li").nth(1).waitFor();
  assert.match(await answered.innerText(), /You can follow it with NP-90210/);
  await answered.getByRole("button", { name: "Less" }).click();
  await answered.getByRole("button", { name: "All of it" }).waitFor();
  assert.equal(await answered.locator(".said-whole").count(), 0);
  await finish(watched);
}));

test("a call that hangs grows and says what it waits for", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/hang-1`);
  const { page } = watched;
  await page.locator(".run-summary", { hasText: "waiting 25 m" }).waitFor();
  assert.match(await page.locator(".run-summary").innerText(), /waiting 25 m \d\d s on logistics\/\s*carrier_status/);
  assert.match(await page.locator(".span", { hasText: "carrier_status" }).innerText(), /waiting 25 m/);
  await finish(watched);
}));

test("repeated siblings are a group with its durations, opened by a key", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/crawl-1`);
  const { page } = watched;
  const group = page.locator('.span[data-group="true"]');
  await group.filter({ hasText: "× 820" }).waitFor();
  assert.match(await group.innerText(), /worker[^]*× 820[^]*farm[^]*p50 \d+ ms · p95 \d+ ms · 1 failed/);
  assert.equal(await page.locator(".span").count(), 4, "root, group, the failed worker, the model");
  await page.locator(".waterfall").focus();
  for (const key of ["Home", "j", "Enter"]) await page.keyboard.press(key);
  await page.locator('.waterfall[aria-rowcount="823"]').waitFor();
  assert.ok((await page.locator(".span").count()) < 80);
  await page.keyboard.press("ArrowLeft");
  await page.locator('.waterfall[aria-rowcount="4"]').waitFor();
  await finish(watched);
}));

test("a model's call is a chat: new messages open, earlier ones folded, calls with their results, markdown as elements", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/ok-1`);
  const { page } = watched;
  await page.locator(".span", { hasText: "ChatOpenAI" }).last().click();
  await page.locator(".inspector .markdown strong", { hasText: "4711" }).waitFor();
  assert.equal(await page.locator(".inspector .markdown ol li").count(), 2);
  assert.match(await page.locator(".call").innerText(), /carrier_status[^]*parcel[^]*NP-90210[^]*Result[^]*sorted in Oslo/);
  assert.equal(await page.locator(".bubble").count(), 2, "the turn's own call and the answer");
  await page.getByRole("button", { name: "Show 3 earlier messages" }).click();
  assert.equal(await page.locator(".bubble").count(), 5);
  await page.getByRole("button", { name: "Data", exact: true }).click();
  await page.getByLabel("Search in the data").fill("parcel");
  await page.getByText("1 found").waitFor();
  await page.getByRole("button", { name: "Raw", exact: true }).click();
  assert.match(await page.locator(".raw").first().innerText(), /"messages": \[/);
  await finish(watched);
}));

test("a side of a call that holds no message is data beside the chat, so that no answer is missing", () => withPages({}, async (trace) => {
  await trace.ingest([
    { run_id: "half", event_type: "chain_start", agent_name: "half", payload: { messages: [{ role: "user", content: "Where is it?" }] } },
    { run_id: "other", parent_run_id: "half", event_type: "chat_model_start", agent_name: "m", payload: { temperature: 0.25 } },
    { run_id: "other", parent_run_id: "half", event_type: "llm_end", payload: { choices: [{ message: { role: "assistant", content: "Here." } }] } },
    { run_id: "half", event_type: "chain_end", payload: { output: "It is in Oslo." } },
  ]);
  const watched = await openPage(`${trace.url}/ui/#/runs/half`);
  const { page } = watched;
  await page.locator(".inspector").getByRole("region", { name: "Output" }).getByText("It is in Oslo.").waitFor();
  assert.deepEqual([await page.locator(".bubble").innerText(), await page.locator(".inspector").getByRole("region", { name: "Input" }).count()].map((part) => String(part).replace(/\s+/g, " ")), ["User Where is it?", "0"]);
  await page.locator(".span", { hasText: /^m/ }).click();
  await page.locator(".inspector").getByRole("region", { name: "Input" }).getByText("0.25").waitFor();
  await page.locator(".bubble", { hasText: "Here." }).waitFor();
  await finish(watched);
}));

test("the question and the answer of a run are markdown that executes nothing", () => withPages({}, async (trace) => {
  const evil = "**bold** <img src=x onerror=window.hit=1> [click](javascript:window.hit=1) ![p](http://127.0.0.1:1/pixel.png)";
  await trace.ingest([{ run_id: "x", event_type: "chain_start", agent_name: "a", payload: { question: evil } }, { run_id: "x", event_type: "chain_end", agent_name: "a", payload: { answer: evil } }] as unknown as Json[]);
  const watched = await openPage(`${trace.url}/ui/#/runs/x`);
  const { page } = watched;
  await page.locator(".run-summary strong").nth(1).waitFor();
  assert.equal(await page.locator(".run-summary img, .run-summary a").count(), 0);
  assert.equal(await page.evaluate(`"hit" in window`), false);
  await finish(watched);
}));

test("markdown and payloads of strangers execute nothing, load nothing and keep the layout", () => withPages({}, async (trace) => {
  const evil = [
    "[click](javascript:window.hit=1) [data](data:text/html,<script>window.hit=1</script>) <img src=x onerror=window.hit=1> ![p](http://127.0.0.1:1/pixel.png) <svg onload=window.hit=1></svg>",
    "<a href='javascript:window.hit=1'>x</a> <iframe src='http://127.0.0.1:1/'></iframe> <style>body{display:none}</style> [vb]: vbscript:x [ok](https://example.org/?a=1)",
    "# heading\n\n* list\n> quote\n\n```html\n<script>window.hit=1</script>\n```",
    `\u202eright to left \u0000 null 👩‍👩‍👧‍👦 ${"x".repeat(5000)}`,
  ].join("\n\n");
  const content = [{ type: "text", text: evil }, { type: "image_url", image_url: { url: "http://127.0.0.1:1/pixel.png" } }, { type: "image_url", image_url: { url: "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+" } }, { type: "<b>x</b>", x: evil }];
  await trace.ingest([
    { run_id: "x", event_type: "chat_model_start", agent_name: "m", tags: Array.from({ length: 100 }, (_, index) => `tag ${index}`), payload: { messages: [{ role: evil, content }, { role: "user", content }] } },
    { run_id: "x", event_type: "llm_end", agent_name: "m", payload: { choices: [{ message: { role: "assistant", content: evil, tool_calls: [{ id: evil, function: { name: evil, arguments: evil } }] } }] } },
  ] as unknown as Json[]);
  const watched = await openPage(`${trace.url}/ui/#/runs/x`);
  const { page } = watched;
  await page.locator(".markdown").first().waitFor();
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(`"hit" in window`), false);
  assert.equal(await page.locator("#app img, #app script, #app iframe, #app style, .markdown svg").count(), 0);
  assert.deepEqual(await page.locator(".markdown a").evaluateAll((links) => [...new Set(links.map((link) => `${link.getAttribute("href") ?? ""} ${link.getAttribute("rel") ?? ""}`))]), ["https://example.org/?a=1 noopener noreferrer nofollow"]);
  assert.equal(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth && document.querySelector(".inspector-body").scrollWidth <= document.querySelector(".inspector-body").clientWidth`), true);
  await finish(watched);
}));

test("a text of 5 MB, many tags and a message that is none break neither the page nor its layout", () => withPages({}, async (trace) => {
  const noise = Array.from({ length: 400_000 }, (_, index) => Math.sin(index).toString(36).slice(3, 12)).join(" ").padEnd(5_000_000, "x");
  await trace.ingest([
    { run_id: "x", event_type: "chain_start", agent_name: "a", tags: Array.from({ length: 60 }, (_, index) => `tag ${index}`), payload: { messages: [{ role: 5, content: { type: "text" } }, null, "x", { role: "user", content: [[[]]], tool_calls: "none" }] } },
    { run_id: "x", event_type: "chain_end", agent_name: "a", payload: { choices: [{ message: { role: "assistant", content: noise } }] } },
  ] as unknown as Json[]);
  const watched = await openPage(`${trace.url}/ui/#/runs/x`);
  const { page } = watched;
  await page.getByRole("button", { name: "48 more tags" }).waitFor();
  await page.getByRole("button", { name: /^Load the payload/ }).click();
  for (const tab of ["Data", "Raw", "Chat"]) {
    await page.getByRole("button", { name: tab, exact: true }).click();
    await page.waitForTimeout(50);
    assert.equal(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth && document.querySelector(".inspector-body").scrollWidth <= document.querySelector(".inspector-body").clientWidth`), true, tab);
    assert.ok(Number(await page.evaluate(`document.querySelectorAll("*").length`)) < 3000, tab);
  }
  await page.getByRole("button", { name: /^Show .* more characters/ }).waitFor();
  await finish(watched);
}));

test("the overview zooms by dragging, and zoom buttons bring the whole run back", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/ok-1`);
  const { page } = watched;
  const box = await page.locator(".overview").boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + box.width * 0.5, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await page.locator(".overview-window").waitFor();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.getByRole("button", { name: "Whole run" }).click();
  await page.locator(".overview-window").waitFor({ state: "detached" });
  await finish(watched);
}));

test("panes are resized by pointer and by keys, and stay so", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/ok-1`);
  const { page } = watched;
  await page.locator(".inspector h2").waitFor();
  const width = async (): Promise<number> => Math.round((await page.locator(".inspector").boundingBox())?.width ?? 0);
  const before = await width();
  await page.getByRole("separator", { name: "Width of the step" }).focus();
  for (let count = 0; count < 3; count++) await page.keyboard.press("ArrowLeft");
  assert.equal(await width(), before + 72);
  await page.reload();
  await page.locator(".inspector h2").waitFor();
  assert.equal(await width(), before + 72);
  await finish(watched);
}));

test("no pane is cut off beside another one, however narrow it is made, and a sentence of a notice is one text", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/bad-1`, { viewport: { width: 1260, height: 850 }, expected: /404 \(Not Found\)/ });
  const { page } = watched;
  const cutOff = (): Promise<unknown> => page.evaluate(`[...document.querySelectorAll(".panes > section, .panes > section > .filters, .panes > section > footer")].filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.className)`);
  await page.locator(".inspector").waitFor();
  assert.deepEqual(await cutOff(), []);
  await page.getByRole("separator", { name: "Width of the list" }).focus();
  for (let press = 0; press < 30; press += 1) await page.keyboard.press("ArrowLeft");
  assert.deepEqual(await cutOff(), []);
  await page.goto(`${trace.url}/ui/#/runs/nope`);
  const notice = page.locator(".notice", { hasText: "No such run" });
  await notice.waitFor();
  assert.match(await notice.innerText(), /^No such run\n+No run has the id nope\. It may have been deleted/);
  await finish(watched);
}));

test("the list is narrowed by values and time, ordered, and compared by selecting two", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  const foot = (text: string): Promise<void> => page.locator(".list-foot span", { hasText: text }).first().waitFor();
  await page.locator(".histogram-failed").first().waitFor();
  await page.getByRole("button", { name: "Narrow by value" }).click();
  await page.locator(".facet", { hasText: "Name" }).getByRole("button", { name: /support_agent/ }).click();
  await foot("4 runs");
  assert.match(page.url(), /name=support_agent/);
  await page.locator(".facet", { hasText: "Tool" }).getByRole("button", { name: /carrier_status/ }).click();
  await foot("4 runs");
  await page.getByRole("button", { name: "All names" }).click();
  await page.locator(".facet", { hasText: "Server" }).getByRole("button", { name: /logistics/ }).click();
  await foot("4 runs");
  assert.match(page.url(), /tool=carrier_status&server=logistics/);
  await page.getByRole("button", { name: "All servers" }).click();
  await page.getByLabel("Started").selectOption("60");
  await foot("2 runs");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Order").selectOption("tokens");
  await page.locator(".run-row").first().filter({ hasText: "crawler" }).waitFor();
  await page.getByLabel("Order").selectOption("started");
  await page.getByRole("button", { name: "Select", exact: true }).click();
  await page.getByRole("checkbox", { name: "Select support_agent" }).nth(0).click();
  await page.getByRole("checkbox", { name: "Select support_agent" }).nth(2).click();
  await page.getByText("2 selected").waitFor();
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.locator(".deltas").waitFor();
  assert.match(page.url(), /#\/compare\?a=bad-1&b=ok-1/);
  await finish(watched);
}));

test("two runs are compared by sums, texts and calls, and one key compares with the run before", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/runs/bad-1`);
  const { page } = watched;
  await page.locator(".inspector h2").waitFor();
  await page.keyboard.press("c");
  await page.locator(".compare .deltas").waitFor();
  assert.match(page.url(), /a=hang-1&b=bad-1/);
  await page.getByText("still running").waitFor();
  await page.goto(`${trace.url}/ui/#/compare?a=ok-1&b=bad-1`);
  await page.locator('.call-row[data-change="only_b"]', { hasText: "http_request" }).waitFor();
  await page.locator('.call-row[data-change="changed"]', { hasText: "carrier_status" }).click();
  await page.locator(".line-diff ins").first().waitFor();
  assert.match(await page.locator(".deltas").innerText(), /Tokens in\s+1,552\s+942\s+−610 \(−39 %\)/);
  await page.getByRole("button", { name: "Open in B" }).click();
  await page.locator(".run h1", { hasText: "support_agent" }).waitFor();
  await finish(watched);
}));

test("the topology draws servers around their tools, and a node leads to its steps by keys", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  await trace.settle();
  const watched = await openPage(`${trace.url}/ui/#/topology`);
  const { page } = watched;
  await page.locator(".server-group", { hasText: "logistics" }).waitFor();
  const node = page.getByRole("button", { name: /carrier_status/ });
  await node.focus();
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".inspector").innerText(), /carrier_status[^]*Called by[^]*support_agent/);
  await page.getByRole("button", { name: "Steps of this node" }).click();
  await page.locator(".hit-row", { hasText: "carrier_status" }).first().waitFor();
  await finish(watched);
}));

test("sessions are threads, tools are by server, stats are drawn", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/sessions`);
  const { page } = watched;
  await page.locator(".turn").nth(3).waitFor();
  assert.match(await page.locator(".thread").innerText(), /Where is my order 4711[^]*left our warehouse[^]*502 Bad Gateway/);
  await page.keyboard.press("4");
  await page.locator(".card", { hasText: "farm" }).getByRole("row", { name: /worker\s+820\s+1/ }).waitFor();
  await page.keyboard.press("5");
  await page.locator(".chart canvas").nth(2).waitFor();
  assert.match(await page.locator(".figures").first().innerText(), /5, 1 running, 1 failed/);
  await finish(watched);
}));

test("an empty service shows ways to send, and a sample that can be loaded", () => withPages({}, async (trace) => {
  const watched = await openPage(`${trace.url}/ui/`, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = watched;
  for (const { name, text } of WAYS) {
    await page.getByRole("button", { name, exact: true }).click();
    assert.equal(await page.locator(".onboarding pre").innerText(), text(`${trace.url}/`), name);
  }
  await page.getByRole("button", { name: "Copy the code" }).click();
  assert.match(String(await page.evaluate("navigator.clipboard.readText()")), /curl http/);
  await page.getByRole("button", { name: "Load a sample" }).click();
  await page.locator(".run-row").nth(4).waitFor();
  assert.equal(await page.locator(".run-row", { hasText: "film_expert" }).count(), 4);
  await page.locator(".run-row", { hasText: "nightly_report" }).locator(".status-running").waitFor();
  await finish(watched);
}));

test("times are shown in UTC when that is chosen, and the choice stays", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/#/settings`, { timezoneId: "Asia/Tokyo" });
  const { page } = watched;
  await page.getByRole("region", { name: "Prices of models" }).getByRole("row", { name: /^gpt-4o-mini 0\.15 0\.6 list/ }).waitFor();
  await page.getByRole("button", { name: "UTC", exact: true }).click();
  await page.goto(`${trace.url}/ui/#/runs/ok-1`);
  await page.reload();
  await page.locator(".facts", { hasText: new Date(NOW - 3_600_000).toISOString().slice(0, 19).replace("T", " ") }).waitFor();
  await finish(watched);
}));

test("hits of a search are below their runs, and keys lead from one to its step", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  await trace.settle();
  // Tall enough for all hits: only those in view are elements.
  const watched = await openPage(`${trace.url}/ui/#/?in=steps&q=parcel`, { viewport: { width: 1440, height: 2400 } });
  const { page } = watched;
  const first = page.locator(".hit-run-row").first();
  await first.filter({ hasText: "support_agent" }).waitFor();
  assert.match(await first.innerText(), /support_agent[^]*bad-1[^]*\d+ matches/);
  assert.equal(await page.locator(".hit-run-row").count(), 4, "each run once");
  assert.match((await page.locator(".hit-hit-row .hit-text").first().innerText()).toLowerCase(), /parcel/);
  assert.equal(await page.locator(".hit-hit-row mark").first().isVisible(), true);
  const before = await page.locator(".hit-hit-row").count();
  await page.locator(".hit-more-row").first().click();
  assert.ok((await page.locator(".hit-hit-row").count()) > before);
  await page.locator(".rows").focus();
  for (const key of ["k", "j", "j"]) await page.keyboard.press(key);
  assert.equal(await page.locator('.hit-row[data-active="true"]').count(), 1);
  await first.click();
  await page.locator(".run h1", { hasText: "support_agent" }).waitFor();
  assert.match(page.url(), /#\/runs\/bad-1\//);
  await finish(watched);
}));

test("a reader without a pointer gets from the list to a payload and back, with the focus in sight", () => withPages({}, async (trace) => {
  await fillSample(trace, NOW);
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  await page.locator(".run-row").nth(3).waitFor();
  const focused = (): Promise<unknown> => page.evaluate(`(() => { const element = document.activeElement; const box = element.getBoundingClientRect(); return element === document.body || (box.width > 0 && box.height > 0); })()`);
  const onList = (): Promise<unknown> => page.evaluate(`document.activeElement.matches("[data-keys=list]")`);
  let tabs = 0;
  while ((await onList()) !== true) {
    await page.keyboard.press("Tab");
    tabs += 1;
    assert.equal(await focused(), true, `Tab ${tabs}`);
    assert.ok(tabs < 40, "the list is reached by Tab");
  }
  for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key);
  await page.locator(".run h1").waitFor();
  await page.locator(".inspector h2").waitFor();
  for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key);
  await page.locator(".inspector-body").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".inspector").count(), 0);
  await page.keyboard.press("Escape");
  await page.locator('.panes[data-view="list"]').waitFor();
  for (const [key, view] of [["2", "Sessions"], ["3", "Topology"], ["4", "Tools"], ["5", "Stats"]] as const) {
    await page.keyboard.press(key);
    await page.getByRole("heading", { name: view }).waitFor();
  }
  await page.keyboard.press("Escape");
  await page.locator(".run-row").first().waitFor();
  await finish(watched);
}));

test.run();
