/** `toolsrv dev` as a process, while its catalog and scenarios are edited. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { Lines, start, type Served } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("dev");

const here = fileURLToPath(import.meta.url);
const toolsrvFile = join(here, `../../e2e/toolsrv${extname(here)}`);

const CATALOG = `tds_version: "2"
connections:
  main: { backend: sqlite, path: notes.db }
defaults: { embedding: { model: hashing-256 } }
tools:
  - name: open_notes
    kind: scroll
    description: List the notes that are open, by their ids. Use for open notes.
    target: { connection: main, collection: notes }
    static_filters: [{ path: state, value: open }]
    output: { fields: [state, text] }
  - name: count_notes
    kind: count
    description: Count all notes of the team. Use when a number is asked for.
    target: { connection: main, collection: notes }
`;
const SCENARIOS = `scenarios:
  - { name: two are open, call: { tool: open_notes }, expect: { exact_rows: 2, row_field_equals: { state: open } } }
  - { name: all are three, call: { tool: count_notes }, expect: { count: 3 } }
`;

/** A folder with a store, a catalog and scenarios. */
async function inProject(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-dev-"));
  try {
    writeFileSync(join(folder, "tools.yaml"), CATALOG);
    writeFileSync(join(folder, "rows.jsonl"), [["1", "open"], ["2", "done"], ["3", "open"]].map(([id, state]) => JSON.stringify({ id, state, text: `note ${id}` })).join("\n"));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "notes", "--id", "id", "--text", "text"], io), EXIT.OK, io.err());
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As editors save: another file takes the name. */
function save(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, `${name}.new`), text);
  renameSync(join(folder, `${name}.new`), join(folder, name));
}

async function withDev(folder: string, words: readonly string[], use: (served: Served, lines: Lines) => Promise<void>): Promise<void> {
  const served = start(toolsrvFile, ["dev", "tools.yaml", ...words], { cwd: folder });
  try {
    await use(served, new Lines(served));
  } finally {
    await served.kill();
  }
}

/** What was printed after the last text that matches. */
const after = (served: Served, mark: string): string => served.stderr().slice(served.stderr().lastIndexOf(mark));

test("an edit is served, built, classed, and tested by the scenarios of the tools that it changes alone", () =>
  inProject(async (folder) => {
    save(folder, "scenarios.yaml", SCENARIOS);
    await withDev(folder, [], async (served, lines) => {
      await served.sees(/watching tools\.yaml/);
      await lines.initialize();
      await served.sees(/evals: 2 of 2 scenario\(s\)\n.*PASS.*\n.*PASS.*\n2 passed, 0 failed\n/);
      assert.match(served.stderr(), /built 2 tools of tools\.yaml/);
      const plans = () => readFileSync(join(folder, "out/plans.ts"), "utf8");
      assert.match(plans(), /"open"/);

      save(folder, "tools.yaml", CATALOG.replace("value: open", "value: done"));
      assert.match((await served.sees(/edited tools\.yaml\n[^]*?evals: (\d of \d) scenario/))[0], /isolation-weakening\n {2}open_notes · /);
      await served.sees(/FAIL {2}two are open[^]*exact_rows: 2 expected, 1 found[^]*0 passed, 1 failed\n/);
      assert.match(after(served, "edited tools.yaml"), /written +out\/plans\.ts\n[^]*built 2 tools[^]*evals: 1 of 2 scenario\(s\)\n/);
      assert.match(plans(), /"done"/);
      const { result } = await lines.ask(1, "tools/call", { name: "open_notes", arguments: {} });
      assert.equal((result as { structuredContent: { count: number } }).structuredContent.count, 1, "the edit is served");

      save(folder, "scenarios.yaml", SCENARIOS.replace("count: 3", "count: 4"));
      await served.sees(/evals: 1 of 2 scenario\(s\)\nFAIL {2}all are three[^]*?still failing: "two are open"\n/);

      save(folder, "tools.yaml", CATALOG);
      await served.sees(/PASS {2}two are open[^\n]*\n1 passed, 0 failed\nstill failing: "all are three"\n/);
      served.child.kill("SIGINT");
      assert.equal(await served.ended, 0);
    });
  }), { timeoutMs: 90_000 });

test("a broken edit shows its place and changes nothing that is served or built; the next good one is compared with the last good one", () =>
  inProject(async (folder) => {
    await withDev(folder, ["--out", "made"], async (served, lines) => {
      await served.sees(/built 2 tools/);
      await lines.initialize();
      const before = readFileSync(join(folder, "made/manifest.json"), "utf8");
      save(folder, "tools.yaml", CATALOG.replace("kind: scroll", "kind: scrol"));
      await served.sees(/tools\.yaml has errors; still serving the last good one/);
      assert.match(served.stderr(), /tools\.yaml:7:\d+/);
      assert.doesNotMatch(served.stderr(), /edited tools\.yaml/);
      const names = async (id: number) => ((await lines.ask(id, "tools/list"))["result"] as { tools: readonly { name: string }[] }).tools.map(({ name }) => name);
      assert.ok((await names(1)).includes("open_notes"));
      assert.equal(readFileSync(join(folder, "made/manifest.json"), "utf8"), before);
      save(folder, "tools.yaml", CATALOG.replace("name: open_notes", "name: notes_that_are_open"));
      await served.sees(/reloaded tools\.yaml — 2 tools/);
      assert.match(after(served, "edited tools.yaml"), /breaking\n {2}open_notes · tool: the tool is gone[^]*additive\n {2}notes_that_are_open/);
      await served.sees(/edited tools\.yaml[^]*built 2 tools/);
      assert.equal(existsSync(join(folder, "out")), false);
      assert.doesNotMatch(served.stderr(), /evals:/, "there are no scenarios");
      lines.end();
      assert.equal(await served.ended, 0);
    });
  }), { timeoutMs: 90_000 });

test("scenarios that cannot be read are reported with their place, and are run once they can", () =>
  inProject(async (folder) => {
    save(folder, "mine.yaml", SCENARIOS.replace("tool: open_notes", "tool: open_note"));
    await withDev(folder, ["mine.yaml"], async (served) => {
      await served.sees(/mine\.yaml:2:\d+/);
      assert.doesNotMatch(served.stderr(), /evals:/);
      save(folder, "mine.yaml", SCENARIOS);
      await served.sees(/evals: 2 of 2 scenario\(s\)[^]*2 passed, 0 failed/);
      served.child.kill("SIGTERM");
      assert.equal(await served.ended, 0);
    });
  }), { timeoutMs: 60_000 });

test("a build that is refused says why, and the catalog is served and tested all the same", () =>
  inProject(async (folder) => {
    save(folder, "scenarios.yaml", SCENARIOS);
    mkdirSync(join(folder, "out"));
    writeFileSync(join(folder, "out/plans.ts"), "mine\n");
    await withDev(folder, [], async (served, lines) => {
      await served.sees(/toolsrv build: out\/plans\.ts was not written by a build[^]*2 passed, 0 failed/);
      await lines.initialize();
      assert.equal(readFileSync(join(folder, "out/plans.ts"), "utf8"), "mine\n");
    });
  }), { timeoutMs: 60_000 });

test("standard output has the protocol and nothing else", () =>
  inProject(async (folder) => {
    save(folder, "scenarios.yaml", SCENARIOS);
    await withDev(folder, [], async (served, lines) => {
      await served.sees(/2 passed, 0 failed/);
      assert.equal((await lines.ask(1, "ping"))["id"], 1, "the first line is the answer");
      lines.end();
      assert.equal(await lines.next(), null);
    });
  }), { timeoutMs: 60_000 });

const REFUSED: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [["dev"], /TOOLS\.yaml/],
  [["dev", "tools.yaml", "--http", "127.0.0.1:0"], /unknown option --http/],
  [["dev", "tools.yaml", "--no-watch"], /unknown option --no-watch/],
  [["dev", "broken.yaml"], /broken\.yaml:7:\d+/],
  [["dev", "none.yaml"], /none\.yaml/],
];

test("what dev cannot serve ends with exit 2", () =>
  inProject(async (folder) => {
    save(folder, "broken.yaml", CATALOG.replace("kind: scroll", "kind: scrol"));
    for (const [words, says] of REFUSED) {
      const io = memoryIo({ cwd: folder });
      assert.equal(await run([...words], io), EXIT.USAGE, words.join(" "));
      assert.match(io.err(), says);
    }
    assert.equal(existsSync(join(folder, "out")), false);
  }));

test.run();
