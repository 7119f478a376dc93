/** `toolsrv drafts` and `toolsrv approve`, from their words to the two files. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync, renameSync, statSync, symlinkSync } from "node:fs";
import { EXIT } from "../../generator/cli/exit.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { suite } from "../lib/suite.js";
import { CATALOG, DRAFTS_FILE, draftIn, inProject } from "./catalog.js";

const test = suite("drafts and approve");
const NAME = "movies_by_genre";

test("approve adds the tool, counts the version up, and notes who approved it, when, and what", () =>
  inProject(async (project) => {
    await project.define();
    const before = draftIn(project);
    const { code, out, err } = await project.toolsrv("approve", NAME, "--approver", "bo");
    assert.equal(code, EXIT.OK, err);
    assert.equal(out, "");
    assert.match(err, /tools\.yaml: added movies_by_genre; catalog version none → 1\n$/);
    assert.match(project.read("tools.yaml"), /meta: \{ tool_catalog_version: '1' \}/);
    const { status, hash, provenance, catalog_version: version, tool } = draftIn(project);
    assert.deepEqual([status, hash, version, tool], ["approved", before.hash, "1", before.tool]);
    assert.equal(provenance?.["approved_by"], "bo");
    assert.equal(provenance?.["hash"], hash);
    assert.match(String(provenance?.["approved_at"]), /^\d{4}-\d\d-\d\dT[\d:.]{15}\+00:00$/);
    assert.equal(provenance?.["conversation_hint"], "List movies of one genre. Use when the user names a genre.");
    assert.equal((await project.toolsrv("validate", "tools.yaml")).code, EXIT.OK);
    assert.deepEqual(readdirSync(project.folder).sort(), [".tools.drafts.yaml.lock", ".tools.yaml.lock", DRAFTS_FILE, "tools.yaml"], "a lock or a half-written file is left");
  }));

test("the approver is --approver, else USER, else local-user", async () => {
  const table = [[["--approver", "bo"], { USER: "ana" }, "bo"], [[], { USER: "ana" }, "ana"], [[], {}, "local-user"], [[], { USER: "" }, "local-user"]] as const;
  for (const [words, env, want] of table) {
    await inProject(async (project) => {
      await project.define();
      await project.toolsrv("approve", NAME, ...words);
      assert.equal(draftIn(project).provenance?.["approved_by"], want);
    }, { env });
  }
});

test("the summary has what an approver decides on: kind, target, parameters, guardrails, provenance, version, class and certificate", () =>
  inProject(async ({ define, toolsrv }) => {
    await define();
    const { err } = await toolsrv("approve", NAME, "--dry-run");
    const summary = JSON.parse(err.slice(0, err.lastIndexOf("}") + 1)) as { readonly [key: string]: unknown };
    assert.deepEqual(Object.keys(summary), ["action", "tool", "description", "kind", "target", "parameters", "guardrails", "returns", "settings", "catalog_version", "class", "changes", "certificate", "read_closely", "provenance"]);
    assert.deepEqual([summary["action"], summary["tool"], summary["kind"], summary["target"]], ["approve_read_only_tool", NAME, "search", { connection: "main", collection: "movies" }]);
    assert.deepEqual(summary["guardrails"], { must: [{ path: "status", op: "eq", value: "live" }], must_not: [{ path: "hidden", op: "eq", value: true }] });
    assert.deepEqual(summary["catalog_version"], { before: null, after: "1" });
    assert.deepEqual((summary["certificate"] as { readonly branches: readonly { readonly guards: unknown }[] }).branches.map(({ guards }) => guards), [['status eq "live"', "hidden ne true"]]);
  }));

test("--dry-run prints the change and leaves both files as they are, also where nothing may be written", () =>
  inProject(async (project) => {
    await project.define();
    const drafts = project.read(DRAFTS_FILE);
    const host: Host = { ...nodeHost(), write: refuse, replace: refuse, lock: refuse };
    await inProject(async (other) => {
      other.write(DRAFTS_FILE, drafts);
      const { code, out, err } = await other.toolsrv("approve", NAME, "--dry-run");
      assert.equal(code, EXIT.OK, err);
      assert.match(out, /^--- a\/tools\.yaml\n\+\+\+ b\/tools\.yaml\n/);
      assert.match(out, /^\+ {2}- name: movies_by_genre$/m);
      assert.match(err, /dry run: tools\.yaml and tools\.drafts\.yaml are as they were\n$/);
      assert.deepEqual([other.read("tools.yaml"), other.read(DRAFTS_FILE)], [CATALOG, drafts]);
    }, { host });
  }));

function refuse(): Promise<never> {
  return Promise.reject(Object.assign(new Error("EROFS: read-only file system, open 'x'"), { code: "EROFS", syscall: "open", path: "x" }));
}

test("what --dry-run prints and git applies is what approve writes; git takes it back byte for byte", () =>
  inProject(async (project) => {
    await project.define();
    const { out } = await project.toolsrv("approve", NAME, "--dry-run");
    await project.toolsrv("approve", NAME);
    project.write("change", out);
    const approved = project.read("tools.yaml");
    execFileSync("git", ["apply", "-R", "change"], { cwd: project.folder });
    assert.equal(project.read("tools.yaml"), CATALOG);
    execFileSync("git", ["apply", "change"], { cwd: project.folder });
    assert.equal(project.read("tools.yaml"), approved);
  }));

test("a link, the permissions and a byte order mark of the catalog stay", () =>
  inProject(async (project) => {
    project.write("tools.yaml", `\uFEFF${CATALOG}`);
    chmodSync(project.path("tools.yaml"), 0o640);
    renameSync(project.path("tools.yaml"), project.path("real.yaml"));
    symlinkSync("real.yaml", project.path("tools.yaml"));
    await project.define();
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.ok(lstatSync(project.path("tools.yaml")).isSymbolicLink());
    assert.equal(statSync(project.path("real.yaml")).mode & 0o777, 0o640);
    assert.ok(project.read("real.yaml").startsWith("\uFEFF# The movies.") && project.read("real.yaml").includes(NAME));
    assert.equal(statSync(project.path(DRAFTS_FILE)).mode & 0o777, 0o600);
  }));

test("a draft is approved or rejected once", () =>
  inProject(async (project) => {
    await project.define();
    assert.equal((await project.toolsrv("approve", NAME)).code, EXIT.OK);
    const files = [project.read("tools.yaml"), project.read(DRAFTS_FILE)];
    for (const words of [["approve", NAME], ["drafts", "reject", NAME]]) {
      const { code, err } = await project.toolsrv(...words);
      assert.equal(code, EXIT.USAGE);
      assert.match(err, /the draft 'movies_by_genre' is approved, not pending/);
    }
    assert.deepEqual([project.read("tools.yaml"), project.read(DRAFTS_FILE)], files);
  }));

test("reject changes the state and nothing else; the name is free again", () =>
  inProject(async (project) => {
    await project.define();
    const pending = project.read(DRAFTS_FILE);
    const { code, err } = await project.toolsrv("drafts", "reject", NAME);
    assert.deepEqual([code, err], [EXIT.OK, `rejected ${NAME}\n`]);
    assert.equal(project.read(DRAFTS_FILE), pending.replace("status: pending", "status: rejected"));
    assert.match((await project.toolsrv("approve", NAME)).err, /is rejected, not pending/);
    assert.equal((await project.define()).count, 0);
    assert.deepEqual((await project.toolsrv("drafts", "list")).out.split("\n").map((line) => line.slice(0, 26)), ["rejected   movies_by_genre", "pending    movies_by_genre", ""]);
    assert.equal((await project.toolsrv("approve", NAME)).code, EXIT.OK);
  }));

test("drafts list has one line a draft: the state in ten columns, a space, the name", () =>
  inProject(async (project) => {
    assert.deepEqual(await project.toolsrv("drafts", "list"), { code: EXIT.OK, out: "", err: "no drafts\n" });
    await project.define();
    const { code, out } = await project.toolsrv("drafts", "list");
    assert.equal(code, EXIT.OK);
    assert.match(out, /^pending {4}movies_by_genre {2}search main\/movies, proposed \d{4}-\d\d-\d\d\n$/);
  }));

test("what is not there, and words that mean nothing, are exit 2 and write nothing", () =>
  inProject(async (project) => {
    const table: readonly (readonly [words: readonly string[], why: RegExp])[] = [
      [["approve", NAME], /there is no tools\.drafts\.yaml here/],
      [["drafts", "reject", NAME], /there is no tools\.drafts\.yaml here/],
      [["drafts", "reject"], /needs the name of a draft/],
      [["drafts", "list", "x"], /takes no name/],
      [["drafts", "show"], /there is no 'drafts show'/],
      [["drafts"], /COMMAND/],
      [["approve"], /NAME/],
    ];
    for (const [words, why] of table) {
      const { code, err } = await project.toolsrv(...words);
      assert.equal(code, EXIT.USAGE, words.join(" "));
      assert.match(err, why);
    }
    await project.define();
    for (const words of [["approve", "other_name"], ["drafts", "reject", "other_name"], ["approve", NAME, "--file", "none.yaml"]]) {
      const { code, err } = await project.toolsrv(...words);
      assert.equal(code, EXIT.USAGE);
      assert.match(err, /has no draft 'other_name'|cannot read 'none\.yaml'/);
    }
    assert.deepEqual(readdirSync(project.folder).sort(), [".tools.drafts.yaml.lock", ".tools.yaml.lock", DRAFTS_FILE, "tools.yaml"]);
  }));

test("a pipeline gets the guard of its connection, and its certificate shows it", () =>
  inProject(async (project) => {
    const spec = { kind: "pipeline", steps: [{ retrieve: { target: { connection: "main", collection: "movies" }, query: { required: true } } }, { sort: { by: "year" } }], output: { fields: ["title"] } };
    assert.deepEqual((await project.define({ spec })).rows, []);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.match(err, /"branch": "retrieve:search",\s+"guards": \[\s+"status eq \\"live\\"",\s+"hidden ne true"\s+\]/);
    assert.equal((await project.toolsrv("validate", "tools.yaml")).code, EXIT.OK);
  }));

test("a guard that takes values of the environment cannot be written into a tool: the draft is refused", () =>
  inProject(async (project) => {
    const { rows } = await project.define();
    assert.ok(rows.some(({ code, message }) => code === "TS0602" && message.includes("values come from the environment")), JSON.stringify(rows));
  }, { catalog: CATALOG.replace("value: live }], must_not", 'value: "${STATE}" }], must_not') }));

const COUNTED = CATALOG.replace(/ {4}query: \{ required: true \}\n/, "    kind: count\n").replace(/ {4}output:.*\n/, "");

test("rows where callers had only their number are the approver's decision, and are called what they are", () =>
  inProject(async (project) => {
    assert.equal((await project.define()).count, 0);
    const { code, err } = await project.toolsrv("approve", NAME, "--dry-run");
    assert.equal(code, EXIT.OK, err);
    assert.match(err, /"class": "isolation-weakening"/);
    assert.match(err, /reads what no tool gave them before: rows of 'movies'/);
  }, { catalog: COUNTED }));

test("where roles are checked such a draft is refused, because it may undo a denial", () =>
  inProject(async (project) => {
    const { rows } = await project.define();
    assert.ok(rows.some(({ code }) => code === "TS0604"), JSON.stringify(rows));
  }, { catalog: `${COUNTED}security: { rbac: { enabled: true, default_role: all, roles: { all: { allow: ["*"] } } } }\n` }));

test("a draft that was edited after it was proposed is refused", () =>
  inProject(async (project) => {
    await project.define();
    project.write(DRAFTS_FILE, project.read(DRAFTS_FILE).replace("value: live", "value: secret"));
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /was edited after it was proposed/);
    assert.equal(project.read("tools.yaml"), CATALOG);
  }));

test("a drafts file of an existing server is read: null keys, no provenance, dates in quotes", () =>
  inProject(async (project) => {
    project.write(DRAFTS_FILE, `drafts:
- status: pending
  created_at: '2026-11-01T10:00:00.000000+00:00'
  hash: ${"a".repeat(64)}
  tool:
    name: movies_by_year
    kind: search
    description: List movies of one year. Use when the user names a year.
    target: {connection: main, collection: movies}
    query: null
    parameters:
    - {name: year, path: year, dtype: integer, op: eq, required: true, description: null, enum: null, default: null, max: null, resolve: null}
    static_filters:
    - {path: status, op: eq, value: live}
    steps: null
    rerank: null
    output: {fields: [title], limit_default: 10, limit_max: 50, redact: []}
  issues: []
`);
    const { code, err } = await project.toolsrv("approve", "movies_by_year");
    assert.equal(code, EXIT.OK, err);
    assert.match(err, /"verified": false/);
    assert.match(err, /"path": "hidden"/, "the connection's must_not is added");
    assert.match(project.read("tools.yaml"), /name: movies_by_year/);
  }));

test.run();
