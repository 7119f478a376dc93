/** The drafts file as it may be found: damaged, edited by hand, or written by an existing server. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { EXIT } from "../../generator/cli/exit.js";
import { withRecord } from "../../generator/drafts/drafts-file.js";
import { recordOf } from "../../generator/drafts/define.js";
import { examine } from "../../generator/drafts/examine.js";
import { PLACEHOLDER } from "../../generator/drafts/record.js";
import { suite } from "../lib/suite.js";
import { baseFrom, CATALOG, DRAFTS_FILE, inProject } from "./catalog.js";

const test = suite("the drafts file");
const NAME = "movies_by_genre";

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

test("brackets in the texts of drafts keep no other draft out", () =>
  inProject(async (project) => {
    const propose = (name: string, description: string) => project.define({ name, description });
    for (const name of ["one", "two", "three"]) assert.match((await propose(`movies_${name}`, `List movies. ${"[".repeat(200)}`)).message, /is pending/);
    assert.match((await propose("movies_four", "List movies of one genre [as the user names it].")).message, /is pending/);
    await assert.rejects(propose("movies_five", `List movies. ${"[".repeat(600)}`), /nested too deeply/);
    assert.equal((await project.toolsrv("drafts", "reject", "movies_one")).code, 0);
  }));

test("comments of the drafts file survive a change", () =>
  inProject(async (project) => {
    await project.define();
    project.write(DRAFTS_FILE, `# reviewed by ana\n${project.read(DRAFTS_FILE)}# more to come\n`);
    await project.toolsrv("drafts", "reject", NAME);
    assert.match(project.read(DRAFTS_FILE), /^# reviewed by ana\n[\s\S]*status: rejected[\s\S]*# more to come\n$/);
  }));

test("a proposal that was no tool is kept as a placeholder with its own issues, and is never approved", () =>
  inProject(async (project) => {
    const proposed = { name: 5, kind: "search", target: "movies" };
    const record = recordOf(proposed, examine(baseFrom(CATALOG), proposed), { created_by: "discover" }, Date.now());
    assert.deepEqual(record.tool, PLACEHOLDER);
    project.write(DRAFTS_FILE, withRecord(null, record));
    assert.match((await project.toolsrv("drafts", "list")).out, /^pending {4}draft_invalid_tool .*has errors/);
    const { code, err } = await project.toolsrv("approve", "draft_invalid_tool");
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /^ERROR VB2001 name: 'name' must be text/m);
    assert.match(err, /^ERROR TS0201 target\.connection: there is no connection 'invalid'/m, "the placeholder itself compiles in no catalog");
    assert.equal(project.read("tools.yaml"), CATALOG);
  }));

test("two drafts of one name are for a person to sort out", () =>
  inProject(async (project) => {
    await project.define();
    const text = project.read(DRAFTS_FILE);
    project.write(DRAFTS_FILE, `${text}${text.replace("drafts:\n", "")}`);
    for (const words of [["approve", NAME], ["drafts", "reject", NAME]]) assert.match((await project.toolsrv(...words)).err, /2 pending drafts named 'movies_by_genre'/);
  }));

test.run();
