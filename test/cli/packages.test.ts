/** Optional packages as the commands look for them: in the project of the catalog, in folders above it, in toolsrv. */
import * as assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { findPackages } from "../../generator/compile.js";
import { nodeHost } from "../../generator/host.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("optional packages");

const CATALOG = `tds_version: "2"
connections:
  main: { backend: sqlite, path: ./main.db }
defaults: { embedding: BAAI/bge-small-en-v1.5 }
tools:
  - name: search_things
    description: Search the things of the store by their texts, for anything.
    target: { connection: main, collection: things }
    query: { param: query, required: true }
    rerank: { enabled: true, provider: cross_encoder }
`;
const TRANSFORMERS = "@huggingface/transformers";

async function inProject(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-packages-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function install(folder: string, name: string): void {
  mkdirSync(join(folder, "node_modules", name), { recursive: true });
  writeFileSync(join(folder, "node_modules", name, "package.json"), "{}");
}

/** Codes about packages that a command prints for tools.yaml. */
async function reported(folder: string, command: string, catalog = CATALOG): Promise<readonly string[]> {
  writeFileSync(join(folder, "tools.yaml"), catalog);
  const io = memoryIo({ cwd: folder });
  await run([command, "tools.yaml"], io);
  return [...io.err().matchAll(/^(?:ERROR|WARNING) (VB2019|VB4032)/gm)].map(([, code]) => code ?? "").sort();
}

for (const command of ["validate", "build", "serve"]) {
  test(`${command} reports a package that is missing, and not one that is there`, () =>
    inProject(async (folder) => {
      assert.deepEqual(await reported(folder, command), ["VB2019", "VB4032"]);
      install(folder, TRANSFORMERS);
      assert.deepEqual(await reported(folder, command), []);
    }));
}

test("a package counts where Node finds it: in the folder, above it, in another one; not in one below", () =>
  inProject(async (folder) => {
    const [project, below, other] = [join(folder, "project"), join(folder, "project", "catalogs"), join(folder, "other")];
    for (const each of [below, other]) mkdirSync(each, { recursive: true });
    install(project, TRANSFORMERS);
    install(other, "pg");
    const host = nodeHost();
    assert.equal((await findPackages(host, [project]))(TRANSFORMERS), true);
    assert.equal((await findPackages(host, [below]))(TRANSFORMERS), true);
    assert.equal((await findPackages(host, [folder]))(TRANSFORMERS), false);
    const both = await findPackages(host, [below, other]);
    assert.deepEqual([TRANSFORMERS, "pg", "pgvector", "no-such-package"].map(both), [true, true, false, false]);
  }));

test.run();
