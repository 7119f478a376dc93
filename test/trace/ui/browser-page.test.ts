/** What the pages are beside what they show: who may see them, where they work, how they look, and what they never do. */
import assert from "node:assert/strict";
import { failedRun, finish, pageSuite, startPages, startPrefixProxy, withPages } from "./browser.js";

const { test, openPage } = pageSuite("trace ui: page");

/** With characters that no sub-protocol may have. */
const TOKEN = "open/sesame;1=";

test("a service with a token asks for it once, refuses a wrong one, and is live with the right one", () => withPages({ auth_token: TOKEN }, async (trace) => {
  const sent = await trace.send("POST", "/api/ingest?wait=1", failedRun("r1"), { authorization: `Bearer ${TOKEN}` });
  assert.equal(sent.status, 200, sent.text);
  const watched = await openPage(`${trace.url}/ui/`, { expected: /401/ });
  const { page } = watched;
  const input = page.getByLabel("Token", { exact: true });
  await input.fill("wrong");
  await input.press("Enter");
  await page.getByText("did not accept this token").waitFor();
  assert.equal(await page.locator(".run-row").count(), 0);
  await input.fill(TOKEN);
  await input.press("Enter");
  await page.locator(".run-row", { hasText: "checkout_agent" }).waitFor();
  await page.locator('.connection[data-state="live"]').waitFor();
  assert.equal(await page.evaluate(`JSON.stringify([localStorage.length, sessionStorage.getItem("toolsrv.token")])`), JSON.stringify([0, TOKEN]));
  await page.reload();
  await page.locator('.connection[data-state="live"]').waitFor();
  await page.locator(".run-row", { hasText: "checkout_agent" }).waitFor();
  await finish(watched);
}));

test("a token that fits is a sub-protocol of the sockets, and in no address", () => withPages({ auth_token: "plain-token" }, async (trace) => {
  const watched = await openPage(`${trace.url}/ui/`, { expected: /401/ });
  const { page } = watched;
  const sockets: string[] = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  await page.getByLabel("Token", { exact: true }).fill("plain-token");
  await page.keyboard.press("Enter");
  await page.locator('.connection[data-state="live"]').waitFor();
  assert.ok(sockets.length > 0);
  assert.deepEqual(sockets.filter((url) => url.includes("plain-token")), []);
  await finish(watched);
}));

test("hostile names and payloads are text", () => withPages({}, async (trace) => {
  const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`;
  const told = await trace.ingest([
    { run_id: "x1", event_type: "chain_start", agent_name: evil, tags: [evil, "\u202egnp.exe"], session_id: evil, user_id: evil, model: evil, payload: { [evil]: evil, ["__proto__"]: { polluted: evil }, link: "javascript:window.hit=1" } },
    { run_id: "x2", parent_run_id: "x1", event_type: "tool_start", tool_name: evil, mcp_server: evil },
    { run_id: "x2", parent_run_id: "x1", event_type: "tool_error", tool_name: evil, mcp_server: evil, error_message: evil, summary: evil },
    { run_id: "x1", event_type: "chain_error", agent_name: evil, error_message: evil },
  ]);
  assert.deepEqual(told["rejected"], []);
  await trace.settle();
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  // Beside the tags: those are filters.
  await page.locator(".run-row .run-name").click();
  await page.locator(".failure").waitFor();
  await page.locator(".span").first().click();
  await page.locator(".json-line").first().waitFor();
  await page.locator(".ids").waitFor();
  await page.getByRole("button", { name: "Steps", exact: true }).click();
  await page.locator("#search").fill("onerror");
  await page.locator(".hit-row").first().waitFor();
  assert.equal(await page.locator("#app img, #app script").count(), 0);
  assert.equal(await page.evaluate(`"hit" in window`), false);
  await finish(watched);
}));

test("the policy of the pages refuses inline scripts, inline styles and other services", () => withPages({}, async (trace) => {
  const watched = await openPage(`${trace.url}/ui/`);
  const { page } = watched;
  await page.locator('.connection[data-state="live"]').waitFor();
  await page.evaluate(`document.body.append(Object.assign(document.createElement("script"), { textContent: "window.hit = 1" }), Object.assign(document.createElement("style"), { textContent: "body { color: red }" }))`);
  await page.evaluate(`fetch("http://127.0.0.1:1/").catch(() => null)`);
  assert.equal(await page.evaluate(`"hit" in window`), false);
  for (const rule of ["script-src-elem", "style-src-elem", "connect-src"]) assert.ok(watched.faults.some((fault) => fault.includes(`policy: ${rule}`)), `${rule}: ${watched.faults.join("\n")}`);
  await watched.close();
}));

test("the theme follows the system until one is chosen, and the choice stays", () => withPages({}, async (trace) => {
  const watched = await openPage(`${trace.url}/ui/`, { colorScheme: "dark" });
  const { page } = watched;
  const ground = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const dark = await ground();
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground();
  assert.notEqual(dark, light);
  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  assert.equal(await ground(), dark);
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  assert.equal(await ground(), dark);
  await finish(watched);
}));

test("a phone shows one thing at a time and never scrolls sideways", () => withPages({}, async (trace) => {
  await trace.ingest(failedRun("r1"));
  const watched = await openPage(`${trace.url}/ui/`, { viewport: { width: 390, height: 800 } });
  const { page } = watched;
  const sideways = async (): Promise<number> =>
    Number(await page.evaluate(`Math.max(...[...document.querySelectorAll(".page, .panes, .list, .run, .inspector-body, .rows")].map((element) => element.scrollWidth - element.clientWidth))`));
  await page.locator(".run-row").waitFor();
  assert.ok((await sideways()) <= 0);
  await page.locator(".run-row").click();
  await page.locator('.span[data-active="true"]', { hasText: "http_request" }).waitFor();
  assert.equal(await page.locator(".list").isVisible(), false);
  assert.equal(await page.locator(".inspector").count(), 0, "the cause is marked, and not put before the run");
  assert.ok((await sideways()) <= 0);
  await page.locator('.span[data-active="true"]').click();
  await page.locator(".inspector .failure").waitFor();
  assert.equal(await page.locator(".run").isVisible(), false);
  assert.ok((await sideways()) <= 0);
  await page.goBack();
  await page.locator(".waterfall").waitFor();
  await page.getByRole("button", { name: "All runs" }).click();
  await page.locator(".run-row").waitFor();
  await finish(watched);
}));

test("the pages work below any path of a proxy", () => withPages({}, async (trace) => {
  await trace.ingest(failedRun("r1"));
  const proxy = await startPrefixProxy(trace, "/tools/trace");
  try {
    const watched = await openPage(`${proxy.url}/ui/`);
    const { page } = watched;
    await page.locator('.connection[data-state="live"]').waitFor();
    await page.locator(".run-row").click();
    await page.locator(".inspector .failure").waitFor();
    await trace.ingest([{ run_id: "second", event_type: "chain_start", agent_name: "through_the_proxy" }]);
    await page.locator(".run-row", { hasText: "through_the_proxy" }).waitFor();
    await finish(watched);
  } finally {
    proxy.close();
  }
}));

test("a service that goes away is said so", async () => {
  const trace = await startPages();
  try {
    await trace.ingest(failedRun("r1"));
    const watched = await openPage(`${trace.url}/ui/`, { expected: /WebSocket|ERR_CONNECTION|Failed to load/ });
    const { page } = watched;
    await page.locator('.connection[data-state="live"]').waitFor();
    await trace.stop();
    await page.getByText("Offline, again in").waitFor();
    assert.equal(await page.locator(".run-row").count(), 1, "what was read stays");
    await page.locator("#search").fill("checkout");
    await page.locator(".list").getByText("does not answer").waitFor();
    assert.equal(await page.locator(".run-row").count(), 1, "what passes stays");
    await page.locator("#search").fill("nothing like it");
    await page.locator(".run-row").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Steps", exact: true }).click();
    await page.getByText("The search failed").waitFor();
    await page.evaluate(`location.hash = "#/runs/r1"`);
    await page.locator(".run").getByText("does not answer").waitFor();
    await finish(watched);
  } finally {
    await trace.dispose();
  }
});

test.run();
