/** Comparing two chosen steps in a real browser: of two runs, of one run, and those that can't be compared. */
import assert from "node:assert/strict";
import type { Json, RunningTrace } from "../lib.js";
import { finish, pageSuite, withPages } from "./browser.js";
import { supportRun } from "./sample.js";

const { test, openPage } = pageSuite("trace ui: compare steps");
const NOW = Date.now();

/** A model call that offers tools, as a run of its own below an agent. */
function asking(id: string, at: number, question: string, answer: string, tools: readonly string[], tokens: number): Json[] {
  const time = (ms: number): string => new Date(at + ms).toISOString();
  const model = { run_id: `${id}-m`, parent_run_id: id, agent_name: "ChatOpenAI", model: "gpt-4o-mini" };
  return [
    { run_id: id, event_type: "chain_start", timestamp: time(0), agent_name: "agent" },
    { ...model, event_id: "in", event_type: "chat_model_start", timestamp: time(10), payload: { messages: [{ role: "system", content: "Be brief." }, { role: "user", content: question }], tools: tools.map((name) => ({ type: "function", function: { name } })) } },
    { ...model, event_id: "out", event_type: "llm_end", timestamp: time(10 + tokens), token_input: tokens, token_output: 7, payload: { choices: [{ message: { role: "assistant", content: answer } }] } },
    { run_id: id, event_type: "chain_end", timestamp: time(2000), agent_name: "agent" },
  ] as unknown as Json[];
}

async function fill(trace: RunningTrace): Promise<void> {
  await trace.ingest(asking("one", NOW - 90_000, "Where is the red bicycle of order 4711 now?", "It is in Oslo and comes tomorrow.", ["find_order", "cancel"], 100));
  await trace.ingest(asking("two", NOW - 60_000, "Where is the blue bicycle of order 4711 now?", "It is in Bergen and comes tomorrow.", ["find_order", "track"], 140));
}

test("two chosen steps show what changed in prompt, answer, tools, tokens and cost", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/#/runs/one`);
  const { page } = watched;
  await page.locator(".span", { hasText: "ChatOpenAI" }).click();
  await page.getByRole("button", { name: "Compare this step with another" }).click();
  await page.locator(".marked-step", { hasText: "ChatOpenAI" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.locator(".run-row").first().click();
  await page.locator(".span", { hasText: "ChatOpenAI" }).click();
  await page.locator(".inspector h2", { hasText: "ChatOpenAI" }).waitFor();
  await page.keyboard.press("m");
  await page.getByRole("heading", { name: "Compare steps" }).waitFor();
  const prompt = page.getByRole("region", { name: "Prompt" });
  await prompt.locator("ins").waitFor();
  assert.deepEqual([await prompt.locator("del").innerText(), await prompt.locator("ins").innerText()], ["red", "blue"]);
  assert.deepEqual(await page.getByRole("region", { name: "Answer" }).locator("del, ins").allInnerTexts(), ["Oslo", "Bergen"]);
  assert.match(await page.getByRole("region", { name: "Offered tools" }).innerText(), /Only in A:\s*cancel\s*Only in B:\s*track\s*In both:\s*find_order/);
  assert.match(await page.locator(".deltas").innerText(), /Duration\s+100 ms\s+140 ms\s+\+40 ms \(\+40 %\)[^]*Tokens in\s+100\s+140\s+\+40 \(\+40 %\)[^]*Tokens out\s+7\s+7\s+same[^]*Cost\s+\$0\.0000192\s+\$0\.0000252\s+\+\$0\.000006 \(\+31 %\)/);
  assert.equal(await page.locator(".notice-line").count(), 0, "nothing to warn of");
  assert.equal(await page.locator(".marked-step").count(), 0);
  const address = page.url();
  await page.reload();
  await prompt.locator("ins").waitFor();
  assert.equal(page.url(), address);
  await page.getByRole("button", { name: "Swap" }).click();
  await prompt.locator("ins", { hasText: "red" }).waitFor();
  await page.getByRole("button", { name: "Compare the runs" }).click();
  await page.locator('.call-row[data-change]').first().waitFor();
  await page.locator(".call-row", { hasText: "ChatOpenAI" }).click();
  await page.getByRole("button", { name: "Compare the steps" }).click();
  await prompt.locator("ins").waitFor();
  await finish(watched);
}));

test("two steps of one run are compared, and steps of different kinds are said to be incomparable", () => withPages({}, async (trace) => {
  await trace.ingest(supportRun("ok-1", NOW - 3_600_000));
  const watched = await openPage(`${trace.url}/ui/#/runs/ok-1`);
  const { page } = watched;
  const choose = async (row: ReturnType<typeof page.locator>, heading: RegExp): Promise<void> => {
    await row.click();
    await page.locator(".inspector h2", { hasText: heading }).waitFor();
    await page.keyboard.press("m");
  };
  const models = page.locator(".span", { hasText: "ChatOpenAI" });
  await choose(models.nth(0), /ChatOpenAI/);
  await choose(models.nth(1), /ChatOpenAI/);
  await page.getByRole("region", { name: "Prompt" }).locator("ins").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Compare the runs" }).count(), 0);
  assert.equal(await page.locator(".side").count(), 2);
  await page.locator(".side").first().getByRole("button").click();
  await choose(models.nth(0), /ChatOpenAI/);
  await choose(page.locator(".span", { hasText: "find_order" }), /find_order/);
  await page.locator(".notice-line", { hasText: "can't be compared: one is a call of a model (ChatOpenAI), the other of a tool (find_order)" }).waitFor();
  await finish(watched);
}));

test("a run without an earlier one of its name says so, by the key and by the button", () => withPages({}, async (trace) => {
  await trace.ingest(asking("one", NOW - 90_000, "Where?", "In Oslo.", ["find_order"], 100));
  const watched = await openPage(`${trace.url}/ui/#/runs/one`);
  const { page } = watched;
  for (const ask of [() => page.keyboard.press("c"), () => page.getByRole("button", { name: "Compare with the previous run of this name" }).click()]) {
    await page.locator(".run-head .actions").waitFor();
    await page.locator(".span").first().waitFor();
    await ask();
    await page.getByRole("alert").filter({ hasText: "There is no earlier run of this name." }).waitFor();
    await page.reload();
  }
  await finish(watched);
}));

test("runs are deleted together, also when one of them is gone already", () => withPages({}, async (trace) => {
  await fill(trace);
  await trace.ingest(asking("three", NOW - 30_000, "And now?", "Here.", [], 10));
  const watched = await openPage(`${trace.url}/ui/`, { expected: /404/ });
  const { page } = watched;
  await page.getByRole("button", { name: "Select", exact: true }).click();
  for (const index of [0, 1]) await page.getByRole("checkbox").nth(index).click();
  await page.getByText("2 selected").waitFor();
  await trace.send("DELETE", "/api/runs/three");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("0 selected").waitFor();
  assert.deepEqual([await page.locator(".run-row").count(), (await trace.get("/api/runs")).json["total"]], [1, 1]);
  await finish(watched);
}));

test("before runs are deleted it is said how many of them a filter hides", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  await page.getByRole("button", { name: "Select", exact: true }).click();
  for (const index of [0, 1]) await page.getByRole("checkbox").nth(index).click();
  await page.getByLabel("Search", { exact: true }).fill("two");
  await page.locator(".run-row").nth(1).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Delete with all payloads, 1 not in this list too?").waitFor();
  await page.getByRole("button", { name: "Keep" }).click();
  assert.equal((await trace.get("/api/runs")).json["total"], 2);
  await finish(watched);
}));

test("a run that was deleted elsewhere leaves the list when it is opened", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/`, { expected: /404/ });
  const { page } = watched;
  await page.locator(".run-row").nth(1).waitFor();
  await trace.send("DELETE", "/api/runs/two");
  await page.locator(".run-row").first().click();
  await page.getByText("No such run").waitFor();
  await page.locator(".run-row").nth(1).waitFor({ state: "detached" });
  assert.equal(await page.locator(".run-row").count(), 1);
  await finish(watched);
}));

test("a step that is marked is let go by the same key, and by Cancel", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/#/runs/one`);
  const { page } = watched;
  await page.locator(".inspector h2").waitFor();
  for (const state of ["visible", "detached", "visible"] as const) {
    await page.keyboard.press("m");
    await page.locator(".marked-step").waitFor({ state });
  }
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator(".marked-step").count(), 0);
  await finish(watched);
}));

test("a step or a run that does not exist is said so", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/#/compare?a=one&b=two&sa=one-m%3Aout&sb=none`, { expected: /404/ });
  const { page } = watched;
  await page.getByText("No step B").waitFor();
  await page.goto(`${trace.url}/ui/#/compare?a=one&b=gone&sa=one-m%3Aout&sb=none`);
  await page.getByText("No run for step B").waitFor();
  await finish(watched);
}));

test("a large payload waits for a click, and payloads of strangers are text", () => withPages({}, async (trace) => {
  const evil = `<img src=x onerror="window.hit=1"> \u202e`;
  const noise = Array.from({ length: 60_000 }, (_, index) => Math.sin(index).toString(36).slice(3)).join(" ");
  const call = (id: string, text: string): Json[] => [
    { run_id: id, event_type: "tool_start", event_id: "s", tool_name: evil, payload: { [evil]: evil } }, { run_id: id, event_type: "tool_end", event_id: "e", tool_name: evil, payload: { text } },
  ] as unknown as Json[];
  await trace.ingest([...call("a", evil), ...call("b", `${evil} ${noise}`)]);
  const watched = await openPage(`${trace.url}/ui/#/compare?a=a&b=b&sa=a%3As&sb=b%3As`);
  const { page } = watched;
  await page.getByRole("region", { name: "Input" }).waitFor();
  await page.getByRole("button", { name: /Load the output of B \(\d+ KB compressed\)/ }).click();
  await page.getByRole("region", { name: "Output" }).locator("ins").first().waitFor();
  assert.equal(await page.evaluate(`"hit" in window`), false);
  assert.equal(await page.locator("#app img, #app script").count(), 0);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
  await finish(watched);
}));

test.run();
