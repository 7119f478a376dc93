/** The compiled quickstart with --trace, looked at in a real browser while it is called. */
import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../../generator/cli/main.js";
import { memoryIo } from "../../lib/io.js";
import { repo } from "../../lib/repo.js";
import { Lines, start } from "../../lib/served.js";
import { temporaryDirectory } from "../lib.js";
import { findings } from "./axe.js";
import { finish, pageSuite } from "./browser.js";

const { test, openPage } = pageSuite("trace ui: calls of a server", existsSync(repo("out/server.js")) ? null : "out/server.js is not built: make out");

test("a call of the served quickstart appears in the open list, and its page shows its steps, plan and catalog", async () => {
  const directory = await temporaryDirectory();
  const envFile = join(directory, ".env");
  writeFileSync(envFile, `MOVIES_DB=${join(directory, "movies.db")}\n`);
  writeFileSync(join(directory, "films.jsonl"), ["Night of the Dead", "Day of the Dead", "Notting Hill"].map((title) => JSON.stringify({ title, major_genre: "Horror", distributor: "Paramount Pictures" })).join("\n"));
  const io = memoryIo();
  assert.equal(await run(["load", repo("specs/examples/quickstart/tools.yaml"), join(directory, "films.jsonl"), "--connection", "movies", "--collection", "movies", "--types", "title:keyword", "--env-file", envFile], io), 0, io.err());
  const server = start(repo("out/server.js"), ["--trace", "127.0.0.1:0", "--env-file", envFile, "--name", "films"], { env: { TRACE_SERVICE_DATA_DIR: join(directory, "trace"), TRACE_SERVICE_STARTUP_HEALTH_TIMEOUT_S: "60" } });
  try {
    const [, url = ""] = await server.sees(/trace on (\S+\/ui\/)/);
    const watched = await openPage(url);
    const { page } = watched;
    await page.locator('.connection[data-state="live"]').waitFor();
    const lines = new Lines(server);
    await lines.initialize();
    await lines.ask(1, "tools/call", { name: "search_paramount_movies", arguments: { query: "dead" } });
    const row = page.locator(".run-row", { hasText: "search_paramount_movies" });
    await row.locator(".status-completed").waitFor();
    assert.match(await row.innerText(), /dead/);
    // Beside the tags: those are filters.
    await row.locator(".run-name").click();
    await page.locator(".run-title .status-completed").waitFor();
    assert.deepEqual(await page.locator(".span-text").allInnerTexts(), ["search_paramount_movies", "embed local/hashing-512", "search movies/movies"]);
    const link = [...server.stderr().matchAll(/\/ui\/#\/runs\/(\S+)/g)].at(-1)?.[1] ?? "";
    const facts = await page.locator(".facts").innerText();
    assert.ok(facts.includes(link), "the request id of the log is on the page");
    assert.match(facts, /catalog:[0-9a-f]{12}[^]*version:1[^]*connection:movies[^]*plan:[0-9a-f]{12}/);
    await page.locator(".span", { hasText: "search_paramount_movies" }).click();
    const ids = await page.locator(".ids").innerText();
    for (const name of ["toolsrv.request_id", "toolsrv.catalog.hash", "toolsrv.plan.id", "toolsrv.connection"]) assert.ok(ids.includes(name), name);
    assert.match(await page.locator(".summary").innerText(), /films/);
    await page.getByRole("button", { name: "Plan", exact: true }).click();
    const section = (name: string): Promise<string> => page.getByRole("region", { name, exact: true }).innerText();
    assert.match(await section("Source"), /tools\.yaml:69[^]*plans\.ts:52[^]*sha256:/);
    assert.match(await section("Guard"), /distributor eq …[^]*sha256:/);
    assert.match(await section("Query 1"), /search on connection movies[^]*"<fixed distributor>"/);
    assert.match(await section("Arguments of the query"), /<genre>\s*not given/);
    assert.ok(!(await page.locator(".inspector").innerText()).includes("Paramount Pictures"));
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      assert.deepEqual(await findings(page), [], colorScheme);
    }
    await lines.ask(2, "tools/call", { name: "count_movies", arguments: { genre: ["Opera"] } });
    await page.locator(".run-row", { hasText: "count_movies" }).locator(".status-failed").waitFor();
    await page.locator(".chip", { hasText: "plan:" }).click();
    await page.locator(".list-foot", { hasText: "1 run" }).waitFor();
    await finish(watched);
    lines.end();
    assert.equal(await server.ended, 0);
  } finally {
    await server.kill();
    rmSync(directory, { recursive: true, force: true });
  }
});

test.run();
