/** The login page in a real browser: without scripts, by keyboard, in both themes, for axe, and back at a client. */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import * as assert from "uvu/assert";
import { suite } from "../../lib/suite.js";
import { authorizeAddress, pkce, PUBLIC, registered, serveOauth, type ServedOauth } from "./served-oauth.js";

const CHROMIUM = "/usr/bin/chromium";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const reason = existsSync(CHROMIUM) ? null : `there is no ${CHROMIUM}`;

const all = suite("oauth: the login page in a browser");
let browser: Browser | null = null;
let client: Server;
let callback = "";
/** Addresses at which the browser came back to the client. */
const visits: URL[] = [];

all.before(async () => {
  if (reason !== null) return;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  client = createServer((request, answer) => {
    if (request.url?.startsWith("/callback") === true) visits.push(new URL(request.url, callback));
    answer.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Client</title>You may close this window");
  });
  await new Promise<void>((resolve) => client.listen(0, "127.0.0.1", resolve));
  callback = `http://127.0.0.1:${(client.address() as AddressInfo).port}/callback`;
});
all.after(async () => {
  await browser?.close();
  client?.close();
});

interface Opened {
  readonly served: ServedOauth;
  readonly page: Page;
  /** What the browser refused or complained about. */
  readonly complaints: readonly string[];
}

function test(name: string, options: BrowserContextOptions, body: (opened: Opened) => Promise<void>): void {
  if (reason !== null) {
    all.skip(name, reason);
    return;
  }
  all(name, async () => {
    const served = await serveOauth();
    const context = await (browser as Browser).newContext(options);
    try {
      // The browser believes in the https address; a certificate is not what is tested here.
      await context.route(`${PUBLIC}/**`, async (route) => {
        const request = route.request();
        const { origin: _, ...headers } = await request.allHeaders();
        const origin = await request.headerValue("origin");
        const post = request.postData();
        const answer = await served.fetch(request.url(), { method: request.method(), headers: { ...Object.fromEntries(Object.entries(headers).filter(([key]) => !key.startsWith(":"))), ...(origin === null ? {} : { origin }) }, ...(post === null ? {} : { body: post }) });
        await route.fulfill({ status: answer.status, headers: Object.fromEntries(answer.headers), body: Buffer.from(await answer.arrayBuffer()) });
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (line) => complaints.push(line.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
      const { client_id: id } = await registered(served, { redirect_uris: [callback], client_name: "Desk assistant" });
      await page.goto(authorizeAddress(id, pkce().challenge, { redirect_uri: callback, state: "from the test" }));
      await body({ served, page, complaints });
    } finally {
      await context.close();
      await served.stop();
    }
  }, { timeoutMs: 90_000 });
}

/** What the browser says of a wrong secret: the status of the answer. */
const isExpected = (line: string): boolean => /status of 401/.test(line);

test("without scripts and by keyboard alone: a wrong secret is said, the right one leads back to the client", { javaScriptEnabled: false }, async ({ served, page }) => {
  visits.length = 0;
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").innerText(), /not the access secret/);
  await page.getByLabel("Access secret").fill(served.secret);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${callback}**`);
  assert.is(visits.length, 1);
  assert.match(visits[0]?.searchParams.get("code") ?? "", /^tsac_/);
  assert.is(visits[0]?.searchParams.get("state"), "from the test");
});

test("cancelling leads back too, by the page's own policy", {}, async ({ page, complaints }) => {
  visits.length = 0;
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForURL(`${callback}**`);
  assert.is(visits[0]?.searchParams.get("error"), "access_denied");
  assert.equal(complaints.filter((line) => !isExpected(line)), []);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [320, 1280]) {
    test(`${colorScheme}, ${width} px wide: axe finds nothing, and nothing scrolls sideways`, { colorScheme, viewport: { width, height: 700 }, bypassCSP: true }, async ({ page }) => {
      await page.getByLabel("Access secret").fill("wrong");
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByRole("alert").waitFor();
      await page.addScriptTag({ content: AXE });
      const found = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map(({ id, impact, nodes }) => `${id} (${impact}) ${nodes[0].html.slice(0, 100)}`))")) as string[];
      assert.equal(found, []);
      assert.ok((await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")) as boolean);
    });
  }
}

all.run();
