/** /docs in a real browser: every schema, fields with choices, and operations that are tried with the token. */
import assert from "node:assert/strict";
import { DOCUMENT } from "../../../runtime/trace/api.gen.js";
import { findings } from "./axe.js";
import { finish, pageSuite, withPages } from "./browser.js";

const { test, openPage } = pageSuite("trace ui: docs");

const TOKEN = "docs-token-4711";
const document = JSON.parse(DOCUMENT) as { readonly components: { readonly schemas: { readonly [name: string]: unknown } }; readonly paths: { readonly [path: string]: object } };

test("every schema and every operation is on the page, and the navigation leads to each", () => withPages({ auth_token: TOKEN }, async (trace) => {
  const watched = await openPage(`${trace.url}/docs`);
  const { page } = watched;
  for (const name of Object.keys(document.components.schemas)) assert.equal(await page.locator(`#schema-${name}`).count(), 1, name);
  const text = async (name: string): Promise<string> => page.locator(`#schema-${name}`).innerText();
  assert.match(await text("Run"), /completed_at[^]*string or null \(date-time\)[^]*Null while running/);
  assert.match(await text("StoredEvent"), /event_type\s+EventType/);
  assert.match(await text("InFlightEvent"), /event_id[^]*may be absent[^]*1 to 200 characters/);
  assert.match(await text("EventType"), /"run_start"[^]*"retriever_error" "retry"/);
  assert.match(await text("WSMessage"), /One of:[^]*"event"[^]*StoredEvent or StepExtended[^]*"run_update"[^]*"catchup"[^]*"ping"/);
  assert.match(await text("RunExtended"), /Everything of Run, and:[^]*session_id/);
  const links = await page.locator("nav a").evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
  assert.ok(links.length > Object.keys(document.components.schemas).length + Object.keys(document.paths).length, String(links.length));
  for (const link of await page.locator('a[href^="#"]').evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""))) assert.equal(await page.locator(`[id="${link.slice(1)}"]`).count(), 1, link);
  await page.locator("nav a", { hasText: "WSMessage" }).click();
  assert.match(page.url(), /#schema-WSMessage$/);
  await page.locator("#schema-WSMessage h3").waitFor();
  await finish(watched);
}));

test("parameters with a few values are choices, and an operation is tried with the token", () => withPages({ auth_token: TOKEN }, async (trace) => {
  const watched = await openPage(`${trace.url}/docs`, { expected: /401/ });
  const { page } = watched;
  const runs = page.locator("#listRuns");
  assert.deepEqual(await runs.locator('select[name="status"] option').allInnerTexts(), ["", "running", "completed", "failed", "all"]);
  assert.deepEqual(await runs.locator('select[name="extended"] option').allInnerTexts(), ["", "0", "1", "true", "false"]);
  await runs.getByRole("button", { name: "Send" }).click();
  await runs.locator("pre", { hasText: "401" }).waitFor();
  await page.locator("#token").fill(TOKEN);
  const ingest = page.locator("#ingestEvents");
  assert.deepEqual(await ingest.locator('select[name="content-type"] option').allInnerTexts(), ["application/json", "application/x-ndjson"]);
  await ingest.locator('select[name="wait"]').selectOption("1");
  await ingest.getByRole("button", { name: "Send" }).click();
  await ingest.locator("pre", { hasText: '"accepted": 2' }).waitFor();
  await runs.locator('select[name="status"]').selectOption("running");
  await runs.getByRole("button", { name: "Send" }).click();
  await runs.locator("pre", { hasText: '"total": 1' }).waitFor();
  const one = page.locator("#getRun");
  await one.locator('input[name="run_id"]').fill("r1");
  await one.getByRole("button", { name: "Send" }).click();
  await one.locator("pre", { hasText: '"status": "running"' }).waitFor();
  await finish(watched);
}));

for (const [width, colorScheme] of [[1440, "light"], [1440, "dark"], [360, "light"]] as const) {
  test(`the page at ${width} px in ${colorScheme}: axe finds nothing above minor, nothing scrolls sideways, no policy is broken`, () => withPages({}, async (trace) => {
    const watched = await openPage(`${trace.url}/docs`, { viewport: { width, height: 900 }, colorScheme });
    const { page } = watched;
    assert.deepEqual(await findings(page), []);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
    const answer = await trace.get("/docs");
    assert.doesNotMatch(answer.headers.get("content-security-policy") ?? "", /unsafe-inline/);
    await finish(watched);
  }));
}

test.run();
