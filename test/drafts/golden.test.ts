/** Whole approvals: a catalog and a proposal, and the drafts file, the summary and the catalog that come of them. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { defineTool } from "../../generator/drafts/define.js";
import { DRAFTS_FILE } from "../../generator/drafts/record.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { baseFrom, proposal } from "./catalog.js";

const test = suite("approvals as whole files");
const HOME = repo("test", "golden", "drafts");
const NOW = Date.parse("2026-11-22T12:00:00Z");

for (const name of readdirSync(HOME).sort()) {
  test(`${name}: the drafts file, the summary and the catalog are what they should be`, async () => {
    const given = (file: string): string => readFileSync(join(HOME, name, file), "utf8");
    const folder = mkdtempSync(join(tmpdir(), "toolsrv-golden-"));
    const host: Host = { ...nodeHost(), now: () => NOW };
    const read = (file: string): string => readFileSync(join(folder, file), "utf8");
    try {
      writeFileSync(join(folder, "tools.yaml"), given("tools.yaml"));
      const proposed = proposal(JSON.parse(given("proposal.json")) as Parameters<typeof proposal>[0]);
      const saved = await defineTool(host, folder, baseFrom(given("tools.yaml")), proposed);
      assert.equal(saved.count, 0, JSON.stringify(saved));
      const drafts = read(DRAFTS_FILE);
      const io = memoryIo({ cwd: folder, host, env: { USER: "ana" } });
      assert.equal(await run(["approve", proposed.name], io), 0, io.err());
      const made: { readonly [file: string]: string } = { "drafted.yaml": drafts, "summary.txt": io.err(), "approved.yaml": read("tools.yaml"), "marked.yaml": read(DRAFTS_FILE) };
      for (const [file, text] of Object.entries(made)) {
        if (process.env["UPDATE"] === "1") writeFileSync(join(HOME, name, file), text);
        assert.ok(existsSync(join(HOME, name, file)), `${file} is missing; UPDATE=1 writes it`);
        assert.equal(text, given(file), file);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test.run();
