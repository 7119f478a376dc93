/** What the contract found, for the table that `make live` prints and the record of docs/reference/backends.md: a file for each backend. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LiveRun } from "../../generator/reference/backends.js";

/** Folder of the files; outcomes are not kept where it is not set. */
const FOLDER = process.env["TOOLSRV_LIVE_OUTCOMES"];
/** Outcome of the case that knows the store, where the user brought one. */
export const OWN_STORE = "a store of the user's own";
/** Random filters that are compared with the oracle on each store. */
export const FILTERS = Number(process.env["TOOLSRV_FILTERS"] ?? 500);

export async function writeOutcomes(backend: string, store: string, cases: ReadonlyMap<string, string>): Promise<void> {
  if (FOLDER === undefined) return;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, `${backend}.json`), JSON.stringify({ backend, store, filters: FILTERS, cases: [...cases].map(([name, outcome]) => [name.replace(`${FILTERS} random`, "random"), outcome] as const) } satisfies LiveRun));
}

export async function readOutcomes(folder: string): Promise<readonly LiveRun[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith(".json")).sort();
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), "utf8")) as LiveRun));
}
