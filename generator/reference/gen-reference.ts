/**
 * Writes docs/reference/*.md. Run by `make gen`; with `--check` it writes nothing and exits 1 when a page is stale.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tdsSchema } from "../1-parse/schema.gen.js";
import { COMMANDS } from "../cli/commands.js";
import { EXIT } from "../cli/exit.js";
import { backendsPage, type LiveRun } from "./backends.js";
import { capabilitiesPage } from "./capabilities.js";
import { cliPage } from "./cli.js";
import { codesPage } from "./codes.js";
import { keysPage } from "./keys.js";
import { providersPage } from "./providers.js";

/** Every page by its name in docs/reference/. @param runs What `make live UPDATE=1` recorded. */
export function referencePages(runs: readonly LiveRun[]): ReadonlyMap<string, string> {
  return new Map([
    ["backends.md", backendsPage(runs)],
    ["capabilities.md", capabilitiesPage()],
    ["cli.md", cliPage(COMMANDS, EXIT)],
    ["codes.md", codesPage()],
    ["keys.md", keysPage(tdsSchema)],
    ["providers.md", providersPage()],
  ]);
}

async function main(check: boolean): Promise<number> {
  const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
  const folder = join(root, "docs/reference");
  const runs = JSON.parse(await readFile(join(root, "test/live/runs.json"), "utf8")) as readonly LiveRun[];
  let stale = 0;
  if (!check) await mkdir(folder, { recursive: true });
  for (const [name, text] of referencePages(runs)) {
    const path = join(folder, name);
    if ((await readFile(path, "utf8").catch(() => "")) === text) continue;
    stale += 1;
    if (!check) await writeFile(path, text);
    process.stderr.write(`${check ? "stale" : "wrote"} docs/reference/${name}\n`);
  }
  return check && stale > 0 ? EXIT.FINDINGS : EXIT.OK;
}

if (basename(process.argv[1] ?? "") === basename(fileURLToPath(import.meta.url))) {
  process.exitCode = await main(process.argv.includes("--check"));
}
