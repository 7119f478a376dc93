/** What the contract found, for the table that `make live` prints: a file for each backend. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Folder of the files; outcomes are not kept where it is not set. */
const FOLDER = process.env["TOOLSRV_LIVE_OUTCOMES"];

export interface Outcomes {
  readonly backend: string;
  /** Server and version. */
  readonly store: string;
  /** Cases in order: `ok`, `FAILED`, or why the case says nothing here. */
  readonly cases: readonly (readonly [name: string, outcome: string])[];
}

export async function writeOutcomes(backend: string, store: string, cases: ReadonlyMap<string, string>): Promise<void> {
  if (FOLDER === undefined) return;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, `${backend}.json`), JSON.stringify({ backend, store, cases: [...cases] } satisfies Outcomes));
}

export async function readOutcomes(folder: string): Promise<readonly Outcomes[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith(".json")).sort();
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), "utf8")) as Outcomes));
}
