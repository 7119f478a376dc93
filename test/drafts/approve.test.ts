/** `toolsrv drafts` and `toolsrv approve`, from their words to the two files. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { EXIT } from "../../generator/cli/exit.js";
import { readDrafts, withRecord } from "../../generator/drafts/drafts-file.js";
import { recordOf } from "../../generator/drafts/define.js";
import { examine } from "../../generator/drafts/examine.js";
import { PLACEHOLDER, type DraftRecord } from "../../generator/drafts/record.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { suite } from "../lib/suite.js";
import { baseFrom, CATALOG, DRAFTS_FILE, goodSpec, inProject, type Project } from "./catalog.js";

const test = suite("drafts and approve");
const NAME = "movies_by_genre";

const draftIn = ({ read }: Project): DraftRecord => {
  const [record] = readDrafts(read(DRAFTS_FILE), DRAFTS_FILE).records;
  if (record === undefined) throw new Error("no draft");
  return record;
};

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
    assert.deepEqual(readdirSync(project.folder).sort(), [DRAFTS_FILE, "tools.yaml"], "a lock or a half-written file is left");
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
    const host: Host = { ...nodeHost(), write: refuse, replace: refuse, create: refuse };
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
    assert.deepEqual(readdirSync(project.folder).sort(), [DRAFTS_FILE, "tools.yaml"]);
  }));

const BAD: { readonly [what: string]: readonly [text: string, why: RegExp] } = {
  "no YAML": ["drafts: [\n", /tools\.drafts\.yaml:\d+:\d+: /],
  "a list": ["- a\n", /:1:1: a drafts file is a mapping/],
  "another version of the format": ["version: 2\ndrafts: []\n", /:1:1: the file has a version/],
  "a key that it does not have": ["drafts: []\ndraft: []\n", /:2:1: 'draft' is not a key/],
  "drafts that are no list": ["drafts: {}\n", /'drafts' is not a list/],
  "a draft that is no mapping": ["drafts:\n  - a\n", /:2:5: a draft is a mapping/],
  "a state that does not exist": ["drafts:\n  - status: done\n    tool: { name: a_tool }\n", /:2:13: 'status' is one of pending/],
  "a misspelt key": ["drafts:\n  - status: pending\n    tols: {}\n", /:3:5: a draft has no key 'tols'/],
  "a tool that is no mapping": ["drafts:\n  - status: pending\n    tool: x\n", /:3:11: 'tool' is not a mapping/],
  "no tool": ["drafts:\n  - status: pending\n", /'tool' is not a mapping/],
  "a hash that is none": ["drafts:\n  - status: pending\n    hash: abc\n    tool: { name: a_tool }\n", /:3:11: 'hash' is not 64 hex digits/],
  "issues that are none": ["drafts:\n  - status: pending\n    issues: [x]\n    tool: { name: a_tool }\n", /'issues' is not a list of issues/],
  "nesting without end": [`drafts: ${"[".repeat(20_000)}`, /tools\.drafts\.yaml: nested too deeply/],
  "lists in lists without end": [`drafts:\n  ${"- ".repeat(20_000)}a\n`, /tools\.drafts\.yaml: nested too deeply/],
};
for (const [what, [text, why]] of Object.entries(BAD)) {
  test(`a drafts file with ${what} is refused with its place and stays as it is`, () =>
    inProject(async ({ toolsrv, define, write, read }) => {
      write(DRAFTS_FILE, text);
      for (const words of [["drafts", "list"], ["drafts", "reject", "a_tool"], ["approve", "a_tool"], ["approve", "a_tool", "--dry-run"]]) {
        const { code, err } = await toolsrv(...words);
        assert.equal(code, EXIT.USAGE);
        assert.match(err, why);
        assert.doesNotMatch(err, /internal error/);
      }
      await assert.rejects(define(), why);
      assert.equal(read(DRAFTS_FILE), text);
    }));
}

test("bytes that are no text are refused", () =>
  inProject(async ({ toolsrv, path }) => {
    writeFileSync(path(DRAFTS_FILE), Buffer.from([0x64, 0xff, 0xfe]));
    assert.match((await toolsrv("drafts", "list")).err, /not UTF-8/);
  }));

test("a draft that was edited after it was proposed is refused", () =>
  inProject(async (project) => {
    await project.define();
    project.write(DRAFTS_FILE, project.read(DRAFTS_FILE).replace("value: live", "value: secret"));
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /was edited after it was proposed/);
    assert.equal(project.read("tools.yaml"), CATALOG);
  }));

test("comments of the drafts file survive a change", () =>
  inProject(async (project) => {
    await project.define();
    project.write(DRAFTS_FILE, `# reviewed by ana\n${project.read(DRAFTS_FILE)}# more to come\n`);
    await project.toolsrv("drafts", "reject", NAME);
    assert.match(project.read(DRAFTS_FILE), /^# reviewed by ana\n[\s\S]*status: rejected[\s\S]*# more to come\n$/);
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

test("a proposal that was no tool is kept as a placeholder with its own issues, and is never approved", () =>
  inProject(async (project) => {
    const proposed = { name: 5, kind: "search", target: "movies" };
    const record = recordOf(proposed, examine(baseFrom(CATALOG), proposed), { created_by: "discover" }, 0);
    assert.deepEqual(record.tool, PLACEHOLDER);
    project.write(DRAFTS_FILE, withRecord(null, record));
    assert.match((await project.toolsrv("drafts", "list")).out, /^pending {4}draft_invalid_tool .*has errors/);
    const { code, err } = await project.toolsrv("approve", "draft_invalid_tool");
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /^ERROR VB2001 name: 'name' must be text/m);
    assert.match(err, /^ERROR TS0201 target\.connection: there is no connection 'invalid'/m, "the placeholder itself compiles in no catalog");
    assert.equal(project.read("tools.yaml"), CATALOG);
  }));

test("a catalog with errors of its own takes no tool", () =>
  inProject(async (project) => {
    await project.define();
    const broken = CATALOG.replace("collection: movies", "collction: movies");
    project.write("tools.yaml", broken);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /tools\.yaml:15:\d+[\s\S]*the catalog has errors of its own/);
    assert.equal(project.read("tools.yaml"), broken);
  }));

test("a catalog that changed since the proposal is judged as it is now", () =>
  inProject(async (project) => {
    await project.define();
    const taken = CATALOG.replace("name: search_movies", `name: ${NAME}`);
    project.write("tools.yaml", taken);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /ERROR TS0202 name: the tool 'movies_by_genre' is declared twice/);
    assert.equal(project.read("tools.yaml"), taken);
  }));

test("approve reads no values of the environment: references stay as they are written", () =>
  inProject(async (project) => {
    await project.define();
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.match(project.read("tools.yaml"), /path: "\$\{MOVIES_DB\}"/);
    assert.doesNotMatch(err, /\/secret\/place/);
  }, { catalog: CATALOG.replace("path: ./data.db", 'path: "${MOVIES_DB}"'), env: { USER: "ana", MOVIES_DB: "/secret/place.db" } }));

test("two drafts of one name are for a person to sort out", () =>
  inProject(async (project) => {
    await project.define();
    const text = project.read(DRAFTS_FILE);
    project.write(DRAFTS_FILE, `${text}${text.replace("drafts:\n", "")}`);
    for (const words of [["approve", NAME], ["drafts", "reject", NAME]]) assert.match((await project.toolsrv(...words)).err, /2 pending drafts named 'movies_by_genre'/);
  }));

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

/** The machine refuses to write a file of this name. */
const failing = (name: string, code: string): Host => ({
  ...nodeHost(),
  replace: (path, data, mode) => (path.endsWith(name) ? Promise.reject(Object.assign(new Error(`${code}: no, write`), { code, syscall: "write", path })) : nodeHost().replace(path, data, mode)),
  create: (path, text) => (path.endsWith(`${name}.lock`) && code === "EACCES" ? Promise.reject(Object.assign(new Error("EACCES: permission denied, open"), { code, syscall: "open", path })) : nodeHost().create(path, text)),
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
        assert.deepEqual(readdirSync(project.folder).sort(), [DRAFTS_FILE, "tools.yaml"]);
      }, { host });
    });
  }
});

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

test("a pipeline gets the guard of its connection, and its certificate shows it", () =>
  inProject(async (project) => {
    const spec = { kind: "pipeline", steps: [{ retrieve: { target: { connection: "main", collection: "movies" }, query: { required: true } } }, { sort: { by: "year" } }], output: { fields: ["title"] } };
    assert.deepEqual((await project.define({ spec })).rows, []);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.match(err, /"branch": "retrieve:search",\s+"guards": \[\s+"status eq \\"live\\"",\s+"hidden ne true"\s+\]/);
    assert.equal((await project.toolsrv("validate", "tools.yaml")).code, EXIT.OK);
  }));

test("a version 1 catalog takes a draft too", () =>
  inProject(async (project) => {
    assert.deepEqual((await project.define()).rows, []);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.match(project.read("tools.yaml"), /static_filters:\n {6}- path: status\n {8}op: eq\n {8}value: live\n/);
    assert.equal((await project.toolsrv("validate", "tools.yaml")).code, EXIT.OK);
  }, { catalog: CATALOG.replace("tds_version: '2'\n", "").replaceAll(/\{ must: (\[[^\]]*\]), must_not: \[[^\]]*\] \}/g, "$1") }));

test("a guard that takes values of the environment cannot be written into a tool: the draft is refused", () =>
  inProject(async (project) => {
    const { rows } = await project.define();
    assert.ok(rows.some(({ code, message }) => code === "TS0602" && message.includes("values come from the environment")), JSON.stringify(rows));
  }, { catalog: CATALOG.replace("value: live }], must_not", 'value: "${STATE}" }], must_not') }));

test("a collection that nothing in the catalog reads is shown to the approver", () =>
  inProject(async (project) => {
    const { count } = await project.define({ name: "people_by_name", spec: goodSpec({ target: { connection: "other", collection: "people" } }) });
    assert.equal(count, 0);
    const { code, err } = await project.toolsrv("approve", "people_by_name", "--dry-run");
    assert.equal(code, EXIT.OK, err);
    assert.match(err, /a collection that nothing in the catalog reads: \{\\"connection\\":\\"other\\",\\"collection\\":\\"people\\"\}/);
  }));

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

test.run();
