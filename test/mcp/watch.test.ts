/** `toolsrv serve` over a real file that is edited while it is served. */
import * as assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repo } from "../lib/repo.js";
import { Lines, start } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("watch");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-watch-"));
test.after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "tools.yaml");

function catalogWith(tool: string): string {
  return `tds_version: '2'
connections:
  main:
    backend: sqlite
    path: ./data.db
tools:
  - name: ${tool}
    kind: count
    description: Count the articles. Use when the user asks how many there are.
    target: { connection: main, collection: articles }
`;
}

test("a save is served, a broken one is refused with its place, and --no-watch sees neither", async () => {
  writeFileSync(file, catalogWith("count_before"));
  const [watched, fixed] = [start(repo("bin/toolsrv"), ["serve", file]), start(repo("bin/toolsrv"), ["serve", file, "--no-watch"])];
  try {
    const lines = { watched: new Lines(watched), fixed: new Lines(fixed) };
    await watched.sees(/watching tools\.yaml/);
    await lines.watched.initialize();
    await lines.fixed.initialize();
    const names = async (of: Lines, id: number): Promise<readonly string[]> => ((await of.ask(id, "tools/list"))["result"] as { tools: { name: string }[] }).tools.map((tool) => tool.name);

    // As editors save: another file takes the name.
    writeFileSync(`${file}.new`, catalogWith("count_after"));
    renameSync(`${file}.new`, file);
    assert.equal((await lines.watched.next())?.["method"], "notifications/tools/list_changed");
    assert.ok((await names(lines.watched, 1)).includes("count_after"));
    assert.match(watched.stderr(), /reloaded tools\.yaml — 1 tool$/m);

    writeFileSync(file, catalogWith("count_after").replace("kind: count", "kind: cuont"));
    await watched.sees(/tools\.yaml has errors; still serving the last good one/);
    assert.match(watched.stderr(), /tools\.yaml:8:\d+/);
    assert.ok((await names(lines.watched, 2)).includes("count_after"));
    assert.ok((await names(lines.fixed, 3)).includes("count_before"));
    assert.doesNotMatch(fixed.stderr(), /watching|reloaded/);
  } finally {
    await watched.kill();
    await fixed.kill();
  }
}, { timeoutMs: 20_000 });

test.run();
