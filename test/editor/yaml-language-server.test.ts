/** A catalog in an editor: the modeline of its first line brings completion and errors while typing. */
import * as assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { startEditor, type Editor } from "./language-server.js";

const test = suite("yaml-language-server");

const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolsrv-editor-")));
const MODELINE = `# yaml-language-server: $schema=${relative(folder, repo("specs", "tds.schema.json"))}`;
const HEAD = `${MODELINE}
tds_version: "2"
connections:
  main: { backend: sqlite, path: ./main.db }
`;
const TOOL = `tools:
  - name: search_things
    description: Search the things of the store by their texts, for anything.
    target: { connection: main, collection: things }
`;

let editor: Editor;
test.before(async () => {
  editor = await startEditor(folder);
});
test.after(async () => {
  await editor.close();
  rmSync(folder, { recursive: true });
});

const file = (name: string): string => join(folder, name);
/** The place after the last character of a text. */
const endOf = (text: string): readonly [line: number, character: number] => [text.split("\n").length - 1, text.length - text.lastIndexOf("\n") - 1];

async function offered(name: string, text: string): Promise<readonly string[]> {
  await editor.open(file(name), text);
  return editor.complete(file(name), ...endOf(text));
}

test("a catalog that is right has no error", async () => {
  assert.deepEqual(await editor.open(file("right.yaml"), HEAD + TOOL), []);
});

test("the keys of each level are offered, without those that are there", async () => {
  const top = await offered("top.yaml", HEAD);
  for (const key of ["tools", "defaults", "security", "observability"]) assert.ok(top.includes(key), `${key} in ${top.join(" ")}`);
  assert.ok(!top.includes("connections"));
  const keys = await offered("tool.yaml", `${HEAD}${TOOL}    `);
  for (const key of ["query", "parameters", "static_filters", "output", "rerank", "kind"]) assert.ok(keys.includes(key), `${key} in ${keys.join(" ")}`);
  assert.ok(!keys.includes("description"));
});

test("the values of a key are offered", async () => {
  const kinds = await offered("kind.yaml", `${HEAD}${TOOL}    kind: `);
  for (const kind of ["search", "lookup", "count", "scroll", "pipeline"]) assert.ok(kinds.includes(kind), `${kind} in ${kinds.join(" ")}`);
});

test("a wrong value is an error at its line and column", async () => {
  const found = await editor.open(file("wrong.yaml"), `${HEAD}${TOOL}    kind: serach\n    output: { limit_max: 9000 }\n`);
  assert.deepEqual(found.map(({ range }) => [range.start.line, range.start.character]), [[8, 10], [9, 25]]);
  assert.match(found[0]?.message ?? "", /search/);
  assert.match(found[1]?.message ?? "", /500/);
});

test("a tool that lacks a key is an error at the tool", async () => {
  const found = await editor.open(file("lacking.yaml"), `${HEAD}tools:\n  - name: search_things\n`);
  assert.deepEqual(found.map(({ range }) => range.start.line), [5, 5]);
  assert.match(found.map(({ message }) => message).join(" "), /description.*target/);
});

test("the example catalog begins with a modeline whose schema is there", async () => {
  const example = repo("specs", "examples", "quickstart", "tools.yaml");
  const text = readFileSync(example, "utf8");
  const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? "";
  assert.equal(join(example, "..", schema), repo("specs", "tds.schema.json"));
  assert.deepEqual(await editor.open(example, text), []);
  const found = await editor.open(join(example, "..", "wrong.yaml"), text.replace(/^tools:/m, "tools: none\nmeta:"));
  assert.ok(found.length > 0);
});

test.run();
