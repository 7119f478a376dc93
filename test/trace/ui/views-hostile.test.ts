/** Every view in a real browser over what strangers may send: markup in every field, odd characters, circles, no ends. */
import assert from "node:assert/strict";
import type { Json, RunningTrace } from "../lib.js";
import { finish, pageSuite, withPages } from "./browser.js";

const { test, openPage } = pageSuite("trace ui: hostile input");
const NOW = Date.now();

const MARKUP = [`<img src=x onerror="window.hit=1">`, `<script>window.hit=1</script>`, `"><svg onload=window.hit=1>`, `[x](javascript:window.hit=1)`, `';window.hit=1;//`].join(" ");
const ODD = `\u202eright to left\u202c \u0000 null \u001b[31m 👩‍👩‍👧‍👦 שלום ${"w".repeat(150)}`;

/** Every text field of an event has the text; two runs of one name and session. */
function runsOf(text: string, id: string): Json[] {
  const time = (ms: number): string => new Date(NOW - 60_000 + ms).toISOString();
  return ["1", "2"].flatMap((number) => {
    const run = `${id}${number}`;
    const all = { agent_name: text, model: text, session_id: text, user_id: text, tags: [text, `${text} two`], attributes: { [text.slice(0, 40)]: text } };
    const plan = { source: text, printed: text, guard: [text], certificate: text, calls: [{ when: text, queries: [{ title: text, lines: [text] }] }] };
    const call = { run_id: `${run}-t`, parent_run_id: run, tool_name: text, mcp_server: text };
    return [
      { run_id: run, event_type: "chain_start", timestamp: time(0), ...all, summary: text, payload: { messages: [{ role: "user", content: text }, { role: text, content: [{ type: text, [text]: text }] }] } },
      { ...call, event_id: "in", event_type: "tool_start", timestamp: time(10), summary: text, payload: { tools: [{ name: `${text} ${number}` }], input: { [text]: `${text} ${number}` } }, attributes: { "toolsrv.plan": plan } },
      { ...call, event_id: "out", event_type: "tool_error", timestamp: time(20), error_message: text, payload: { output: text } },
      { run_id: run, event_type: "chain_error", timestamp: time(30), agent_name: text, error_message: text, payload: { answer: text } },
    ];
  }) as unknown as Json[];
}

/** The innermost elements that end beyond the window. */
const WIDE = `[...document.querySelectorAll("#app *")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && element.children.length === 0).map((element) => element.parentElement.className + " > " + element.tagName + "." + element.className).slice(0, 6).join(", ")`;

/** Views of two runs, and what shows that they are drawn. */
const views = (id: string): readonly (readonly [string, string])[] => [
  ["#/", ".run-row"], ["#/?in=steps&q=window*%20hit", ".hit-row, .notice"], ["#/?in=steps&q=null", ".hit-row, .notice"], [`#/runs/${id}1`, ".span"], ["#/sessions", ".turn"], ["#/topology", ".node"], [`#/topology?scope=run%3A${id}1&calls=each`, ".node"],
  ["#/tools", ".card"], ["#/stats", ".figures"], ["#/settings", ".card"], [`#/compare?a=${id}1&b=${id}2`, ".call-row"], [`#/compare?a=${id}1&b=${id}2&sa=${id}1-t%3Ain&sb=${id}2-t%3Ain`, ".text-diff"],
];

for (const [what, text, id] of [["markup", MARKUP, "m"], ["odd characters", ODD, "o"]] as const) {
  for (const width of [1440, 360]) {
    test(`${what} in every field is text in every view at ${width} px`, () => withPages({}, async (trace) => {
      const told = await trace.ingest(runsOf(text, id));
      assert.deepEqual(told["rejected"], []);
      await trace.settle();
      const watched = await openPage(`${trace.url}/ui/`, { viewport: { width, height: 800 } });
      const { page } = watched;
      const problems: string[] = [];
      for (const [hash, drawn] of views(id)) {
        await page.goto(`${trace.url}/ui/${hash}`);
        await page.locator(drawn).first().waitFor();
        if (hash === "#/") {
          await page.getByRole("button", { name: "Narrow by value" }).click();
          await page.locator(".facet").first().waitFor();
        }
        if (hash === `#/runs/${id}1`) {
          await page.locator(".span").last().click();
          await page.getByRole("button", { name: "Plan", exact: true }).click();
          await page.locator(".plan-note").waitFor();
        }
        if (await page.evaluate(`"hit" in window`)) problems.push(`${hash}: executed`);
        if ((await page.locator("#app img, #app script, #app iframe, #app a[href^='javascript']").count()) > 0) problems.push(`${hash}: markup`);
        if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) problems.push(`${hash}: scrolls sideways, ${String(await page.evaluate(WIDE))}`);
      }
      assert.deepEqual(problems, []);
      await finish(watched);
    }));
  }
}

async function fillOdd(trace: RunningTrace): Promise<void> {
  await trace.ingest([
    // A circle of parents, a call that is its own parent, a parent that never comes, ends without a start, no end.
    { run_id: "c", event_type: "chain_start", agent_name: "circle" }, { run_id: "c1", parent_run_id: "c2", root_run_id: "c", event_type: "chain_start", agent_name: "one" }, { run_id: "c2", parent_run_id: "c1", root_run_id: "c", event_type: "chain_start", agent_name: "two" },
    { run_id: "self", parent_run_id: "self", root_run_id: "c", event_type: "tool_start", tool_name: "own_parent" }, { run_id: "lost", parent_run_id: "nobody", root_run_id: "c", event_type: "tool_end", tool_name: "lost" },
  ] as unknown as Json[]);
}

test("circles, lost parents and calls without an end are drawn, each call once", () => withPages({}, async (trace) => {
  await fillOdd(trace);
  const watched = await openPage(`${trace.url}/ui/#/runs/c`);
  const { page } = watched;
  await page.locator(".span", { hasText: "lost" }).waitFor();
  assert.deepEqual((await page.locator(".span-text").allInnerTexts()).sort(), ["circle", "lost", "one", "own_parent", "two"]);
  await page.goto(`${trace.url}/ui/#/topology?scope=run%3Ac&calls=each`);
  await page.locator(".node").nth(4).waitFor();
  assert.deepEqual((await page.locator(".node-name").allTextContents()).sort(), ["circle", "lost", "one", "own_parent", "two"]);
  await page.goto(`${trace.url}/ui/#/topology`);
  await page.locator(".node").first().waitFor();
  await finish(watched);
}));

test.run();
