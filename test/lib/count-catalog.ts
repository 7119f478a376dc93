import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "./io.js";

/** The smallest catalog that has something to guard: one counting tool over an embedded store. */
export const COUNT_CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: ./store.db }
tools:
  - name: count_things
    kind: count
    description: Count the things of the store. Use for questions after a number.
    target: { connection: store, collection: things }
    static_filters: [{ path: owner, value: me }]
`;

/** How a command ended, and what it wrote. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with the catalog as tools.yaml, and `toolsrv build` run in it. */
export async function inProject(use: (folder: string, build: (...words: readonly string[]) => Promise<Ended>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-build-"));
  writeFileSync(join(folder, "tools.yaml"), COUNT_CATALOG);
  try {
    await use(folder, async (...words) => {
      const io = memoryIo({ cwd: folder });
      return { code: await run(["build", ...words], io), out: io.out(), err: io.err() };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
