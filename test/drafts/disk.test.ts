/** A disk that refuses, and editors that save meanwhile: approve, reject and define_tool lose nothing. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { EXIT } from "../../generator/cli/exit.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { suite } from "../lib/suite.js";
import { CATALOG, DRAFTS_FILE, draftIn, inProject } from "./catalog.js";

const test = suite("drafts on a disk that refuses");
const NAME = "movies_by_genre";

test("a save of the catalog while approve looks at it is not lost", () =>
  inProject(async (project) => {
    await project.define();
    const drafts = project.read(DRAFTS_FILE);
    let reads = 0;
    const host: Host = {
      ...nodeHost(),
      async read(path) {
        const bytes = await nodeHost().read(path);
        if (path.endsWith("tools.yaml") && (reads += 1) === 1) writeFileSync(path, `${CATALOG}# saved by an editor\n`);
        return bytes;
      },
    };
    await inProject(async (other) => {
      other.write(DRAFTS_FILE, drafts);
      const { code, err } = await other.toolsrv("approve", NAME);
      assert.equal(code, EXIT.USAGE);
      assert.match(err, /tools\.yaml was changed meanwhile; nothing was written/);
      assert.equal(other.read("tools.yaml"), `${CATALOG}# saved by an editor\n`);
      assert.equal(other.read(DRAFTS_FILE), drafts);
    }, { host });
  }));

/** Without the locks, which are empty and stay. */
const filesOf = (folder: string): readonly string[] => readdirSync(folder).filter((name) => !name.endsWith(".lock")).sort();

/** The machine refuses to write a file of this name. */
const failing = (name: string, code: string): Host => ({
  ...nodeHost(),
  replace: (path, data, mode) => (path.endsWith(name) ? Promise.reject(Object.assign(new Error(`${code}: no, write`), { code, syscall: "write", path })) : nodeHost().replace(path, data, mode)),
  lock: (path) => (path.endsWith(name) && code === "EACCES" ? Promise.reject(Object.assign(new Error("EACCES: permission denied, open"), { code, syscall: "open", path })) : nodeHost().lock(path)),
});

test("a folder that takes no files and a full disk are one line and exit 2; nothing is lost", async () => {
  for (const [host, why] of [[failing("tools.yaml", "EACCES"), /permission denied/], [failing("tools.yaml", "ENOSPC"), /no space left/], [failing(DRAFTS_FILE, "EACCES"), /permission denied/]] as const) {
    await inProject(async (first) => {
      await first.define();
      const drafts = first.read(DRAFTS_FILE);
      await inProject(async (project) => {
        project.write(DRAFTS_FILE, drafts);
        const { code, err } = await project.toolsrv("approve", NAME);
        assert.equal(code, EXIT.USAGE);
        assert.match(err, why);
        assert.deepEqual([project.read("tools.yaml"), project.read(DRAFTS_FILE)], [CATALOG, drafts]);
        assert.deepEqual(filesOf(project.folder), [DRAFTS_FILE, "tools.yaml"]);
      }, { host });
    });
  }
});

test("a full disk keeps define_tool and reject from writing; the drafts file stays as it was, and nothing is left beside it", () =>
  inProject(async (first) => {
    await first.define();
    const drafts = first.read(DRAFTS_FILE);
    await inProject(async (project) => {
      project.write(DRAFTS_FILE, drafts);
      await assert.rejects(project.define({ name: "another_tool" }), { code: "ENOSPC" });
      const { code, err } = await project.toolsrv("drafts", "reject", NAME);
      assert.equal(code, EXIT.USAGE);
      assert.match(err, /no space left/);
      assert.equal(project.read(DRAFTS_FILE), drafts);
      assert.deepEqual(filesOf(project.folder), [DRAFTS_FILE, "tools.yaml"]);
    }, { host: failing(DRAFTS_FILE, "ENOSPC") });
  }));

test("a disk that is full in the middle of a write: the files are the old ones, and the half-written one is gone", () =>
  inProject(async (project) => {
    await project.define();
    const drafts = project.read(DRAFTS_FILE);
    for (const name of ["tools.yaml", DRAFTS_FILE]) {
      const before = project.read(name);
      // The size of a file is what the system limits here; the shell's block is 1 KiB, and both texts are made longer.
      const script = `ulimit -f 1; trap '' XFSZ; exec "$0" "$@"`;
      const long = JSON.stringify("x".repeat(5_000));
      const program = `import { nodeHost } from ${JSON.stringify(new URL("../../generator/host.js", import.meta.url).href)}; await nodeHost().replace(${JSON.stringify(project.path(name))}, ${long}).then(() => process.exit(9), (error) => process.stdout.write(error.code));`;
      const { stdout, stderr } = spawnSync("sh", ["-c", script, process.execPath, ...process.execArgv.map((flag) => (flag === "tsx" ? import.meta.resolve(flag) : flag)), "--input-type=module", "-e", program], { encoding: "utf8" });
      assert.match(stdout, /EFBIG|ENOSPC/, stderr);
      assert.equal(project.read(name), before);
    }
    assert.equal(project.read(DRAFTS_FILE), drafts);
    assert.deepEqual(filesOf(project.folder), [DRAFTS_FILE, "tools.yaml"]);
  }), { timeoutMs: 30_000 });

test("a draft that could not be marked is marked by running approve again", () =>
  inProject(async (first) => {
    await first.define();
    const drafts = first.read(DRAFTS_FILE);
    await inProject(async (project) => {
      project.write(DRAFTS_FILE, drafts);
      const { code, err } = await project.toolsrv("approve", NAME);
      assert.equal(code, EXIT.USAGE);
      assert.match(err, /tools\.yaml has the tool now, but the draft could not be marked[\s\S]*no space left/);
      first.write("tools.yaml", project.read("tools.yaml"));
    }, { host: failing(DRAFTS_FILE, "ENOSPC") });
    const { code, err } = await first.toolsrv("approve", NAME);
    assert.deepEqual([code, err], [EXIT.OK, "tools.yaml has the tool already; the draft is marked as approved\n"]);
    const { status, catalog_version: version } = draftIn(first);
    assert.deepEqual([status, version], ["approved", "1"]);
    assert.equal(first.read("tools.yaml").match(/name: movies_by_genre/g)?.length, 1);
  }));

test.run();
