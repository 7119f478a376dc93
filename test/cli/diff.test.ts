/** `toolsrv diff`, from its words to its exit code. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import type { Ended } from "../lib/count-catalog.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv diff");

const FENCED = `tds_version: '2'
connections: { store: { backend: sqlite, path: './\${DIR}/s.db' } }
tools:
  - name: count_things
    kind: count
    description: Count the things of the store. Use for questions after a number.
    target: { connection: store, collection: things }
    static_filters: [{ path: owner, value: me }]
`;
const OPEN = FENCED.replace(/    static_filters.*\n/, "");

async function inProject(use: (folder: string, toolsrv: (...words: readonly string[]) => Promise<Ended>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-diff-"));
  writeFileSync(join(folder, "old.yaml"), FENCED);
  writeFileSync(join(folder, "new.yaml"), OPEN);
  try {
    await use(folder, async (...words) => {
      const io = memoryIo({ cwd: folder });
      return { code: await run(words, io), out: io.out(), err: io.err() };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FINDING = "isolation-weakening\n  count_things · guard: owner eq \"me\" is no longer always ANDed (new.yaml:4)\n\n1 isolation-weakening\n";

test("two catalogs: the finding with its place, exit 0; with --fail-on exit 1", () =>
  inProject(async (_folder, toolsrv) => {
    assert.deepEqual(await toolsrv("diff", "old.yaml", "new.yaml"), { code: EXIT.OK, out: FINDING, err: "" });
    assert.equal((await toolsrv("diff", "old.yaml", "new.yaml", "--fail-on", "breaking,isolation-weakening")).code, EXIT.FINDINGS);
    assert.equal((await toolsrv("diff", "old.yaml", "new.yaml", "--fail-on", "breaking")).code, EXIT.OK);
    assert.deepEqual(await toolsrv("diff", "old.yaml", "old.yaml", "--fail-on", "additive"), { code: EXIT.OK, out: "no difference\n", err: "" });
  }));

test("comments, order of keys and quotes make no difference", () =>
  inProject(async (folder, toolsrv) => {
    writeFileSync(join(folder, "new.yaml"), `# said otherwise\n${FENCED.replace("kind: count\n", "kind: 'count' # one number\n")}`);
    assert.equal((await toolsrv("diff", "old.yaml", "new.yaml")).out, "no difference\n");
  }));

test("a build is compared by its manifest, with a catalog or another build", () =>
  inProject(async (folder, toolsrv) => {
    assert.equal((await toolsrv("build", "old.yaml", "--out", "a")).code, EXIT.OK);
    assert.equal((await toolsrv("build", "new.yaml", "--out", "b")).code, EXIT.OK);
    assert.equal((await toolsrv("diff", "a/manifest.json", "new.yaml")).out, FINDING);
    assert.equal((await toolsrv("diff", "a/manifest.json", "b/manifest.json")).out, FINDING);
    assert.equal((await toolsrv("diff", "old.yaml", "a/manifest.json")).out, "no difference\n");
    appendFileSync(join(folder, "a", "plans.ts"), "// edited\n");
    const edited = await toolsrv("diff", "a/manifest.json", "new.yaml");
    assert.deepEqual(edited, { code: EXIT.USAGE, out: "", err: "toolsrv diff: plans.ts beside a/manifest.json is not the one that was built; run: toolsrv build\n" });
    writeFileSync(join(folder, "b", "manifest.json"), '{"name":"an app"}');
    assert.match((await toolsrv("diff", "b/manifest.json", "new.yaml")).err, /is not a manifest that build wrote/);
  }));

test("git:REF:PATH is read from the repository, relative to the working directory", () =>
  inProject(async (folder, toolsrv) => {
    const git = (...words: readonly string[]): void => void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], { cwd: folder, stdio: "pipe" });
    git("init", "-q", "-b", "main");
    mkdirSync(join(folder, "deep"));
    writeFileSync(join(folder, "deep", "tools.yaml"), FENCED);
    writeFileSync(join(folder, "tools.yaml"), FENCED);
    await toolsrv("build", "tools.yaml");
    git("add", ".");
    git("commit", "-q", "-m", "first");
    writeFileSync(join(folder, "tools.yaml"), OPEN);
    assert.equal((await toolsrv("diff", "git:main:tools.yaml", "tools.yaml")).out, FINDING.replace("new.yaml", "tools.yaml"));
    assert.equal((await toolsrv("diff", "git:HEAD:./deep/tools.yaml", "tools.yaml")).out, FINDING.replace("new.yaml", "tools.yaml"));
    assert.equal((await toolsrv("diff", "git:HEAD:out/manifest.json", "tools.yaml")).out, FINDING.replace("new.yaml", "tools.yaml"));
    const table: readonly (readonly [side: string, want: RegExp])[] = [
      ["git:nowhere:tools.yaml", /git:nowhere:tools\.yaml: .*nowhere/],
      ["git:HEAD:absent.yaml", /git:HEAD:absent\.yaml: .*absent\.yaml/],
      ["git:HEAD", /is not git:REF:PATH/],
      ["git:--output=x:tools.yaml", /is not a git revision/],
    ];
    for (const [side, want] of table) {
      const { code, out, err } = await toolsrv("diff", side, "tools.yaml");
      assert.deepEqual([code, out], [EXIT.USAGE, ""], side);
      assert.match(err, want);
    }
  }));

test("the formats for programs always yield a whole document", () =>
  inProject(async (_folder, toolsrv) => {
    const json = JSON.parse((await toolsrv("diff", "old.yaml", "new.yaml", "--format", "json")).out) as unknown;
    assert.deepEqual(json, [{ class: "isolation-weakening", tool: "count_things", subject: "guard", message: 'owner eq "me" is no longer always ANDed', file: "new.yaml", line: 4 }]);
    assert.equal((await toolsrv("diff", "old.yaml", "old.yaml", "--format", "json")).out, "[]\n");
    const sarif = JSON.parse((await toolsrv("diff", "old.yaml", "new.yaml", "--format", "sarif")).out) as { readonly runs: readonly { readonly results: readonly { readonly ruleId: string; readonly locations: unknown }[] }[] };
    assert.equal(sarif.runs[0]?.results[0]?.ruleId, "isolation-weakening");
    assert.deepEqual(sarif.runs[0]?.results[0]?.locations, [{ physicalLocation: { artifactLocation: { uri: "new.yaml" }, region: { startLine: 4 } } }]);
    assert.equal((await toolsrv("diff", "old.yaml", "new.yaml", "--format", "github")).out, '::error file=new.yaml,line=4,title=isolation-weakening::count_things: guard: owner eq "me" is no longer always ANDed\n');
  }));

test("a catalog with errors on either side exits 2 with its diagnostics", () =>
  inProject(async (folder, toolsrv) => {
    writeFileSync(join(folder, "bad.yaml"), FENCED.replace("connection: store", "connection: stor"));
    for (const words of [["bad.yaml", "new.yaml"], ["new.yaml", "bad.yaml"], ["absent.yaml", "new.yaml"]] as const) {
      const { code, out, err } = await toolsrv("diff", ...words);
      assert.deepEqual([code, out], [EXIT.USAGE, ""]);
      assert.match(err, /ERROR TS\d{4}/);
    }
  }));

test("words that do not fit exit 2", () =>
  inProject(async (_folder, toolsrv) => {
    for (const words of [["old.yaml"], ["old.yaml", "new.yaml", "--fail-on", "bad"], ["old.yaml", "new.yaml", "--format", "xml"]]) {
      assert.equal((await toolsrv("diff", ...words)).code, EXIT.USAGE, words.join(" "));
    }
  }));

test("no value of the environment is needed, and none is shown", () =>
  inProject(async (folder, toolsrv) => {
    writeFileSync(join(folder, "new.yaml"), FENCED.replace("${DIR}", "${OTHER:-hidden-default}"));
    const { out } = await toolsrv("diff", "old.yaml", "new.yaml");
    assert.equal(out, "isolation-weakening\n  catalog · connection store: connection 'store' is set another way (path); other rows may be behind the same guards\n\n1 isolation-weakening\n");
    assert.equal(readFileSync(join(folder, "old.yaml"), "utf8"), FENCED);
  }));

test.run();
