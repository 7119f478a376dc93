/** `toolsrv build --skill`: an agent skill that says what the typed client says, and nothing that the catalog hides. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { typecheck } from "../../generator/5-emit/typecheck.js";
import { EXIT } from "../../generator/cli/exit.js";
import { inProject, type Ended } from "../lib/count-catalog.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv build --skill");

/** Everything in capitals must not appear. */
const CATALOG = {
  tds_version: "2",
  defaults: { embedding: "local/hashing-256" },
  connections: {
    store: { backend: "sqlite", path: "./PATHCANARY.db" },
    far: { backend: "qdrant", url: "https://URLCANARY.example", api_key: "${KEYCANARY:-SECRETCANARY}" },
  },
  security: {
    tenancy: { mode: "claim", claim: "CLAIMCANARY", path: "TENANTPATHCANARY", enforce: "strict" },
    rbac: { enabled: true, default_role: "reader", roles: { reader: { allow: ["*"] } }, deny_tools: ["denied_notes"] },
  },
  tools: [
    {
      name: "search_notes", description: "Search notes by their words. Use when the user looks for a note.\n\n# Not a heading\n```\n---\nname: other\n---\n<script>", query: { required: true },
      target: { connection: "store", collection: "COLLECTIONCANARY" }, parameters: [{ name: "colour", path: "COLOURPATHCANARY", enum: ["red", "green"], description: "The colour */ ``` of the note." }, { name: "stars", path: "stars", dtype: "integer" }],
      static_filters: [{ path: "GUARDPATHCANARY", value: "GuardCanary" }], output: { fields: ["text", "stars"] },
    },
    { name: "denied_notes", kind: "count", description: "DENIEDCANARY counts what nobody may count at all.", target: { connection: "store", collection: "notes" } },
  ],
};

const SCENARIOS = {
  scenarios: [
    { name: "shown", request: "Which *red* notes are there?", call: { tool: "search_notes", arguments: { query: "notes", colour: "red" }, context: { principal: "PRINCIPALCANARY", tenant: "TENANTCANARY", claims: { CLAIMCANARY: "VALUECANARY" } } }, expect: { min_rows: 1, row_field_equals: { text: "ROWCANARY" } } },
    { name: "guard in the request", request: "Show GUARDCANARY notes", call: { tool: "search_notes", arguments: { query: "x" } } },
    { name: "guard in the arguments", request: "Show notes", call: { tool: "search_notes", arguments: { query: "of guardcanary" } } },
    { name: "fails", request: "ERRORCANARY", call: { tool: "search_notes", arguments: { query: "ERRORCANARY" } }, expect: { error: "auth_error" } },
    { name: "denied", request: "DENIEDCANARY", call: { tool: "denied_notes", arguments: {} } },
  ],
};

async function inNotes(use: (folder: string, build: (...words: readonly string[]) => Promise<Ended>) => Promise<void>): Promise<void> {
  await inProject(async (folder, build) => {
    writeFileSync(join(folder, "tools.yaml"), JSON.stringify(CATALOG));
    writeFileSync(join(folder, "scenarios.yaml"), JSON.stringify(SCENARIOS));
    await use(folder, build);
  });
}

const SKILL = ["--skill", "skills/my-notes", "--scenarios", "scenarios.yaml"];
const readSkill = (folder: string): string => readFileSync(join(folder, "skills", "my-notes", "SKILL.md"), "utf8");

test("the front matter is that of an agent skill: the folder's name, and a description of at most 1024 characters", () =>
  inNotes(async (folder, build) => {
    const { code, out, err } = await build(...SKILL);
    assert.equal(code, EXIT.OK, err);
    assert.match(out, /^written {3}skills\/my-notes\/SKILL\.md$/m);
    const [, front = ""] = /^---\n([^]*?)\n---\n/.exec(readSkill(folder)) ?? [];
    const { name, description, ...rest } = parse(front) as { readonly [key: string]: unknown };
    assert.deepEqual([name, Object.keys(rest)], ["my-notes", []]);
    assert.ok(typeof description === "string" && description.startsWith("Search notes by their words.") && description.includes("Use when") && description.length <= 1024, String(description));
  }));

test("signatures have the types of client.ts: they type-check, with a wrong use refused", () =>
  inNotes(async (folder, build) => {
    await build(...SKILL);
    const blocks = [...readSkill(folder).matchAll(/^```ts\n([^]*?)\n```$/gm)].map(([, code = ""]) => code);
    const result = blocks.find((code) => code.startsWith("interface Result")) ?? assert.fail();
    const signatures = blocks.filter((code) => code.startsWith("call("));
    const examples = blocks.filter((code) => code.startsWith("await tools.call("));
    assert.deepEqual([signatures.length, examples.length], [1, 1]);
    const module = [result, `declare const tools: {\n${signatures.map((signature) => `${signature};`).join("\n")}\n};`, ...examples, 'const stars: number | null | undefined = (await tools.call("search_notes", { query: "a" })).rows[0]?.stars;', "export { stars };"].join("\n");
    await typecheck(new Map([["skill.ts", module]]));
    await assert.rejects(typecheck(new Map([["skill.ts", module.replace('{ query: "a" }', "{ query: 5 }")]])), /skill\.ts/);
  }), { timeoutMs: 60_000 });

test("examples are calls of the scenarios that succeed, without their callers", () =>
  inNotes(async (folder, build) => {
    await build(...SKILL);
    assert.ok(readSkill(folder).includes('Which \\*red\\* notes are there?\n\n```ts\nawait tools.call("search_notes", { query: "notes", colour: "red" });\n```'), readSkill(folder));
  }));

test("no guard, tenant, caller, connection, secret, path or denied tool is in the skill", () =>
  inNotes(async (folder, build) => {
    process.env["KEYCANARY"] = "ENVCANARY";
    try {
      await build(...SKILL);
    } finally {
      delete process.env["KEYCANARY"];
    }
    assert.deepEqual(readSkill(folder).match(/\w*canary\w*/gi), null);
    assert.ok(!readSkill(folder).includes(folder));
  }));

test("a description cannot end a block, begin a heading or write front matter", () =>
  inNotes(async (folder, build) => {
    await build(...SKILL);
    const text = readSkill(folder);
    assert.deepEqual([...text.matchAll(/^#+ .*$/gm)].map(([line]) => line), ["# Code generated by toolsrv from tools.yaml; DO NOT EDIT.", "# my-notes", "## What a call returns", "## Tools", "### `search_notes`"]);
    assert.equal([...text.matchAll(/^---$/gm)].length, 2);
    assert.ok(!text.includes("<script>"));
    assert.ok(!/^```(?!ts$|$)/m.test(text));
  }));

test("--check finds a skill that differs and one that is missing; a second build changes nothing", () =>
  inNotes(async (folder, build) => {
    await build();
    const missing = await build(...SKILL, "--check");
    assert.equal(missing.code, EXIT.FINDINGS);
    assert.match(missing.out, /^\+\+\+ b\/skills\/my-notes\/SKILL\.md$/m);
    assert.match(missing.err, /1 file differs; run: toolsrv build tools\.yaml --out out --skill skills\/my-notes$/m);
    await build(...SKILL);
    assert.equal((await build(...SKILL, "--check")).code, EXIT.OK);
    assert.match((await build(...SKILL)).out, /^unchanged skills\/my-notes\/SKILL\.md$/m);
    writeFileSync(join(folder, "skills", "my-notes", "SKILL.md"), `${readSkill(folder)}edited\n`);
    assert.equal((await build(...SKILL, "--check")).code, EXIT.FINDINGS);
  }), { timeoutMs: 60_000 });

test("a folder, file or option that does not fit is refused, and nothing is overwritten", () =>
  inNotes(async (folder, build) => {
    mkdirSync(join(folder, "mine"));
    writeFileSync(join(folder, "mine", "SKILL.md"), "---\nname: mine\n---\n");
    writeFileSync(join(folder, "broken.yaml"), "scenarios: 5\n");
    const table: readonly (readonly [readonly string[], RegExp])[] = [
      [["--skill", "My_Notes"], /'My_Notes' is no name of a skill/],
      [["--skill", "a--b"], /no name of a skill/],
      [["--skill", "x".repeat(65)], /no name of a skill/],
      [["--skill", "out/notes"], /outside of --out/],
      [["--skill", "mine"], /mine\/SKILL\.md was not written by a build/],
      [["--scenarios", "scenarios.yaml"], /--skill DIR, or rows to --twin DIR; give one of them/],
      [["tools.yaml", "other.yaml", "--skill", "notes"], /one catalog/],
      [["--emit", "ir", "--skill", "notes"], /does not go with --skill/],
      [["--skill", "notes", "--scenarios", "broken.yaml"], /broken\.yaml:1/],
      [["--skill", "notes", "--scenarios", "nowhere.yaml"], /nowhere\.yaml/],
    ];
    for (const [words, message] of table) {
      const { code, err } = await build(...words);
      assert.deepEqual([code, message.test(err)], [EXIT.USAGE, true], `${words.join(" ")}: ${err}`);
    }
    assert.equal(readFileSync(join(folder, "mine", "SKILL.md"), "utf8"), "---\nname: mine\n---\n");
  }));

test.run();
