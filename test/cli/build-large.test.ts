/** A large catalog under a limit of memory: what `build` keeps grows with the tools, not with their square. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogOf, smallTool } from "../../bench/lib/catalog.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("cli: build, large catalogs");

const TOOLS = 600;
/** They take a third of it; with a copy of all tools for every tool it would be ten times as much. */
const HEAP_MB = 128;

test("600 tools are built in a heap of 128 MB, each with its plan, its queries and what traces show of it", () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-large-"));
  try {
    writeFileSync(join(folder, "tools.yaml"), catalogOf(TOOLS, smallTool));
    const { status, signal, stderr } = spawnSync(process.execPath, [`--max-old-space-size=${HEAP_MB}`, repo("bin/toolsrv"), "build", "tools.yaml"], { cwd: folder, encoding: "utf8" });
    assert.deepEqual([status, signal], [0, null], stderr.slice(-500));
    for (const file of ["plans.ts", "queries.md"]) {
      const text = readFileSync(join(folder, "out", file), "utf8");
      for (const index of [0, TOOLS - 1]) assert.ok(text.includes(`count_topic_${index}`), `${file} has tool ${index}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}, { timeoutMs: 120_000 });

test.run();
