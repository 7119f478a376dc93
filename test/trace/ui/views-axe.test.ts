/** Every view in both themes and three widths: axe finds nothing above minor, nothing scrolls sideways; with pictures on demand. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findings } from "./axe.js";
import { finish, pageSuite, withPages } from "./browser.js";
import { fillSample } from "./sample.js";

const { test, openPage } = pageSuite("trace ui: every view");
const NOW = Date.now();

const VIEWS: readonly (readonly [string, string, string])[] = [
  ["list", "#/", ".run-row"], ["search", "#/?in=steps&q=carrier", ".hit-row"], ["run", "#/runs/bad-1", ".span"], ["chat", "#/runs/ok-1", ".span"], ["compare", "#/compare?a=ok-1&b=bad-1", ".call-row"], ["steps", "#/compare?a=ok-1&b=bad-1&sa=ok-1-m1%3Aok-1-m1-end&sb=bad-1-m2%3Abad-1-m2-end", ".text-diff"],
  ["topology", "#/topology", ".node"], ["calls", "#/topology?scope=run%3Aok-1&calls=each", ".node"], ["sessions", "#/sessions", ".turn"], ["tools", "#/tools", ".card"], ["stats", "#/stats", ".chart canvas"], ["settings", "#/settings", ".card"],
];
/** What is opened in a view before it is looked at. */
const OPENED: { readonly [view: string]: (page: Page) => Promise<void> } = {
  list: (page) => page.getByRole("button", { name: "Narrow by value" }).click(),
  chat: async (page) => {
    await page.locator(".span", { hasText: "ChatOpenAI" }).last().click();
    await page.locator(".bubble").first().waitFor();
    await page.keyboard.press("m");
    await page.locator(".marked-step").waitFor();
  },
  compare: (page) => page.getByRole("button", { name: "Cancel" }).click(),
  topology: async (page) => {
    await page.getByRole("button", { name: /carrier_status/ }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".runs-behind li").first().waitFor();
  },
  calls: async (page) => {
    await page.getByRole("button", { name: /carrier_status/ }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".runs-behind li").first().waitFor();
  },
};
const SHOTS = process.env["UI_SCREENSHOTS"] ?? null;

for (const [width, scheme] of [[1440, "light"], [1440, "dark"], [360, "light"], [2560, "dark"]] as const) {
  test(`every view at ${width} px in ${scheme}: axe finds nothing above minor, nothing scrolls sideways`, () => withPages({}, async (trace) => {
    await fillSample(trace, NOW);
    await trace.settle();
    const watched = await openPage(`${trace.url}/ui/`, { viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: "reduce" });
    const { page } = watched;
    const problems: string[] = [];
    for (const [name, hash, wanted] of VIEWS) {
      await page.goto(`${trace.url}/ui/${hash}`);
      await page.locator(wanted).first().waitFor();
      await OPENED[name]?.(page);
      await page.waitForTimeout(150);
      if (SHOTS !== null) {
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot({ path: join(SHOTS, `${name}-${width}-${scheme}.png`) });
      }
      for (const finding of await findings(page)) problems.push(`${name}: ${finding}`);
      if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) problems.push(`${name}: scrolls sideways`);
    }
    assert.deepEqual(problems, []);
    await finish(watched);
  }));
}

test.run();
