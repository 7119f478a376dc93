/** The topology in a real browser: every node once, each call of a run, scopes, and the way to the runs behind. */
import assert from "node:assert/strict";
import type { Json, RunningTrace } from "../lib.js";
import { finish, pageSuite, withPages } from "./browser.js";
import { supportRun, workersRun } from "./sample.js";

const { test, openPage } = pageSuite("trace ui: topology");
const NOW = Date.now();

async function fill(trace: RunningTrace): Promise<void> {
  for (const run of [supportRun("ok-1", NOW - 3 * 3_600_000), workersRun("crawl-1", NOW - 500_000), supportRun("bad-1", NOW - 60_000, "fails")]) await trace.ingest(run);
}

test("an edge shows its number, failures and percentiles, and leads to the runs behind it", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/#/topology`);
  const { page } = watched;
  const text = page.locator(".edge-text", { hasText: "× 820" });
  await text.waitFor();
  assert.match((await text.textContent()) ?? "", /^× 820 1 failed\d+ ms · p95 \d+ ms$/);
  const box = await text.boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator(".hover-text", { hasText: "crawler → worker" }).filter({ hasText: /820 calls, 1 failed, p50 \d+ ms, p95 \d+ ms/ }).waitFor();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator(".inspector h2", { hasText: "crawler → worker" }).waitFor();
  await page.getByRole("button", { name: /carrier_status/ }).click();
  const behind = page.locator(".runs-behind li");
  await behind.nth(1).waitFor();
  assert.equal(await behind.count(), 2);
  await page.locator(".neighbours").last().getByRole("button", { name: "support_agent" }).click();
  await page.locator(".inspector h2", { hasText: "support_agent → carrier_status" }).waitFor();
  assert.match(await page.locator(".inspector .summary").innerText(), /Calls\s+2\s+Failed\s+1\s+p50/);
  assert.equal(await page.locator(".edges-chosen .edge-lit").count(), 1);
  await behind.first().getByRole("button").click();
  await page.locator(".run h1", { hasText: "support_agent" }).waitFor();
  assert.match(page.url(), /#\/runs\/bad-1/);
  await finish(watched);
}));

test("the scope is a time, a name or a run, and stays in the address", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/#/topology`);
  const { page } = watched;
  const scope = page.getByLabel("Scope");
  const nodes = async (): Promise<readonly string[]> => (await page.locator(".node-name").allTextContents()).sort();
  await scope.locator("option", { hasText: "crawler" }).waitFor({ state: "attached" });
  await scope.selectOption("name:crawler");
  await page.locator(".graph-note", { hasText: "3 nodes" }).waitFor();
  assert.deepEqual(await nodes(), ["Summarizer", "crawler", "worker"]);
  await page.reload();
  await page.locator(".graph-note", { hasText: "3 nodes" }).waitFor();
  await scope.selectOption("minutes:60");
  await page.locator(".node", { hasText: "http_request" }).waitFor();
  assert.match(await page.locator(".node", { hasText: "support_agent" }).locator(".node-count").innerText().catch(async () => (await page.locator(".node", { hasText: "support_agent" }).locator(".node-count").textContent()) ?? ""), /1 failed|failed/);
  await page.goto(`${trace.url}/ui/#/runs/ok-1`);
  await page.getByRole("button", { name: "Topology of this run" }).click();
  await page.locator(".node", { hasText: "carrier_status" }).waitFor();
  assert.match(page.url(), /calls=each&scope=run%3Aok-1/);
  await finish(watched);
}));

test("expanded shows each call below the one that made it, many alike together, and leads to the step", () => withPages({}, async (trace) => {
  await fill(trace);
  const watched = await openPage(`${trace.url}/ui/#/topology`);
  const { page } = watched;
  await page.getByRole("button", { name: "Expanded" }).click();
  await page.locator(".runs-behind li").nth(2).waitFor();
  await page.locator(".runs-behind").getByRole("button", { name: "crawler" }).click();
  await page.locator(".node", { hasText: "× 820" }).waitFor();
  assert.equal(await page.locator(".node").count(), 3);
  await page.locator(".node", { hasText: "worker" }).focus();
  await page.keyboard.press("Enter");
  const first = page.locator(".inspector .runs-behind li").first();
  assert.match(await first.innerText(), /page 417 is empty/);
  await first.getByRole("button").click();
  await page.locator(".inspector .failure", { hasText: "page 417 is empty" }).waitFor();
  await page.goto(`${trace.url}/ui/#/topology?scope=run%3Abad-1&calls=each`);
  await page.locator(".node", { hasText: "carrier_status" }).waitFor();
  assert.equal(await page.locator(".node", { hasText: "http_request" }).count(), 2, "each call by itself");
  assert.equal(await page.locator(".edge").count(), (await page.locator(".node").count()) - 1, "a tree");
  await finish(watched);
}));

test("expanded follows a run that is still running", () => withPages({}, async (trace) => {
  await trace.ingest([{ run_id: "live", event_type: "chain_start", agent_name: "worker" }] as unknown as Json[]);
  const watched = await openPage(`${trace.url}/ui/#/topology?scope=run%3Alive&calls=each`);
  const { page } = watched;
  await page.locator(".node", { hasText: "worker" }).waitFor();
  await trace.ingest([{ run_id: "t1", parent_run_id: "live", event_type: "tool_start", tool_name: "fetch_page" }] as unknown as Json[]);
  await page.locator(".node", { hasText: "fetch_page" }).waitFor();
  await finish(watched);
}));

test("names of strangers are text in the graph, the scope and the details", () => withPages({}, async (trace) => {
  const evil = `<img src=x onerror="window.hit=1">`;
  await trace.ingest([
    { run_id: evil, event_type: "chain_start", agent_name: evil }, { run_id: "t", parent_run_id: evil, event_type: "tool_start", tool_name: evil, mcp_server: evil }, { run_id: "t", parent_run_id: evil, event_type: "tool_error", tool_name: evil, mcp_server: evil, error_message: evil },
  ] as unknown as Json[]);
  const watched = await openPage(`${trace.url}/ui/#/topology`);
  const { page } = watched;
  await page.locator(".node-tool").click();
  await page.locator(".runs-behind li").first().waitFor();
  await page.getByRole("button", { name: "Expanded" }).click();
  await page.locator(".runs-behind").getByRole("button").first().click();
  await page.locator(".node-tool").click();
  await page.locator(".inspector .runs-behind .bad").waitFor();
  assert.equal(await page.evaluate(`"hit" in window`), false);
  assert.equal(await page.locator("#app img, #app script").count(), 0);
  await finish(watched);
}));

test("four hundred nodes are laid out away from the main thread within a second or so", () => withPages({}, async (trace) => {
  const events: Json[] = [{ run_id: "r", event_type: "chain_start", agent_name: "root" } as unknown as Json];
  for (let index = 0; index < 400; index++) events.push({ run_id: `a${index}`, parent_run_id: index < 20 ? "r" : `a${Math.floor(index / 4)}`, event_type: "chain_start", agent_name: `agent_${index}` } as unknown as Json);
  await trace.ingest(events);
  const watched = await openPage(`${trace.url}/ui/#/topology`);
  const { page } = watched;
  const started = Date.now();
  await page.locator(".node").nth(400).waitFor({ timeout: 30_000 });
  process.stdout.write(`  401 nodes drawn after ${Date.now() - started} ms\n`);
  await finish(watched);
}));

test.run();
