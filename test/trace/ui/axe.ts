/** Accessibility of a page, as axe finds it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Findings of axe above minor, as lines. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate(`axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }).then((result) => result.violations.filter((violation) => violation.impact !== "minor").flatMap((violation) => violation.nodes.slice(0, 4).map((node) => violation.id + " (" + violation.impact + ") " + node.html.slice(0, 140) + " — " + (node.any[0]?.message ?? node.all[0]?.message ?? "").slice(0, 160))))`)) as string[];
  return found;
}
