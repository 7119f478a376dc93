/** A tool added to a catalog's text: what stays, what is refused, and the way back. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appendTool, Uneditable } from "../../generator/drafts/append.js";
import { unifiedDiff } from "../../generator/edit/unified-diff.js";
import { readStockYaml } from "../../generator/proof/stock-yaml.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { CATALOG } from "./catalog.js";

const test = suite("a tool is appended to a catalog");

const TOOL = { name: "movies_by_genre", description: "List movies: \"one\" genre, # not a comment. Use it.", kind: "search", target: { connection: "main", collection: "on" }, parameters: [{ name: "genre", enum: ["no", "1:30", "0144", "2024-01-01", "~", "null", "- x", "y"], required: true }] };

const HEAD = "tds_version: '2'\nconnections: { main: { backend: sqlite, path: ./a.db } }\n";
const ONE = "name: count_them\n    kind: count\n    description: Count the articles. Use when the user asks how many.\n    target: { connection: main, collection: articles }\n";
const LAYOUTS: { readonly [name: string]: string } = {
  "comments around the list": CATALOG,
  "a list without indentation": `${HEAD}tools:\n- ${ONE.replaceAll("    ", "  ")}# the end\n`,
  "a deep list": `${HEAD}tools:\n      - ${ONE.replaceAll("    ", "        ")}\ndefaults: {}\n`,
  "keys after the list": `${HEAD}tools:\n  - ${ONE}\n\n# of the defaults\ndefaults: { embedding: local/hashing-256 }\n`,
  "no list": `${HEAD}# the end\n`,
  "an empty list": `${HEAD}tools: []\n`,
  "an empty list with a comment": `${HEAD}tools: [] # none yet\ndefaults: {}\n`,
  "an empty list at the end": `${HEAD}tools: []`,
  "a key without a value": `${HEAD}tools:\n`,
  "a null": `${HEAD}tools: null # none yet\n`,
  "a flow list": `${HEAD}tools: [ { name: count_them, kind: count, description: "Count the articles. Use for how many.", target: { connection: main, collection: articles } } ] # x\n`,
  "no line end at the end": `${HEAD}tools:\n  - ${ONE.trimEnd()}`,
  "line ends of Windows": `${HEAD}tools:\n  - ${ONE}`.replaceAll("\n", "\r\n"),
  "a block text at the end": `${HEAD}tools:\n  - ${ONE.replace("    description: Count the articles. Use when the user asks how many.\n", "").trimEnd()}\n    description: |+\n      Count the articles.\n      Use when the user asks.\n\n\n# the end\n`,
  "a folded text at the end": `${HEAD}tools:\n  - ${ONE.replace("    description: Count the articles. Use when the user asks how many.\n", "").trimEnd()}\n    description: >-\n      Count the articles.\n      Use when the user asks.\n# the end\n`,
  "meta with a version": `meta: { tool_catalog_version: "1.9" } # counted\n${HEAD}tools:\n  - ${ONE}`,
  "meta with other keys": `${HEAD}meta:\n  deprecated: []\ntools:\n  - ${ONE}`,
  "meta without a value": `${HEAD}meta:\ntools:\n  - ${ONE}`,
  "meta null version": `${HEAD}meta: { tool_catalog_version: null }\ntools:\n  - ${ONE}`,
  "JSON": JSON.stringify({ tds_version: "2", connections: { main: { backend: "sqlite", path: "./a.db" } }, tools: [{ name: "count_them", kind: "count", description: "Count the articles. Use for how many.", target: { connection: "main", collection: "a" } }] }, null, 2),
  "JSON without tools": JSON.stringify({ tds_version: "2", connections: { main: { backend: "sqlite", path: "./a.db" } } }),
  "no version key": `connections: { main: { backend: sqlite, path: ./a.db } }\ntools:\n  - ${ONE}`,
  "an end mark": `${HEAD}tools:\n  - ${ONE}...\n`,
};

/** What `git apply -R` makes of the changed text: the change taken out by hand. */
function takenBack(before: string, after: string): string {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-append-"));
  try {
    writeFileSync(join(folder, "tools.yaml"), after);
    writeFileSync(join(folder, "change"), unifiedDiff({ path: "tools.yaml", text: before }, { path: "tools.yaml", text: after }));
    execFileSync("git", ["apply", "-R", "--whitespace=nowarn", "change"], { cwd: folder });
    return readFileSync(join(folder, "tools.yaml"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const [name, text] of Object.entries(LAYOUTS)) {
  test(`${name}: the tool is read back as it was, and taken out again the file is the original byte for byte`, () => {
    const { text: changed, version } = appendTool(text, TOOL);
    const [before, after] = [readStockYaml(text), readStockYaml(changed)] as { readonly tools?: readonly unknown[]; readonly meta?: { readonly tool_catalog_version?: string } }[];
    assert.deepEqual(after?.tools, [...(before?.tools ?? []), TOOL]);
    assert.equal(after?.meta?.tool_catalog_version, version.after);
    const added = changed.split(/\r?\n/);
    for (const line of text.split(/\r?\n/)) if (!/meta|tds_version|tools|^\{|^\s*[\]}]|count_them/.test(line)) assert.ok(added.includes(line), `the line is gone: ${line}`);
    assert.equal(takenBack(text, changed), text);
    assert.equal(changed.includes("\r\n"), text.includes("\r\n"));
    if (text.includes("\r\n")) assert.doesNotMatch(changed, /[^\r]\n/);
  });
}

test("comments of the last tool stay with it, and comments of the file stay at its end", () => {
  const { text } = appendTool(CATALOG, TOOL);
  const at = (part: string): number => text.indexOf(part);
  assert.ok(at("# about search_movies") < at("movies_by_genre") && at("movies_by_genre") < at("# the end"));
});

test("a version counts up in its own quotes", () => {
  const text = LAYOUTS["meta with a version"] ?? "";
  const { text: changed, version } = appendTool(text, TOOL);
  assert.deepEqual(version, { before: "1.9", after: "1.10" });
  assert.ok(changed.startsWith('meta: { tool_catalog_version: "1.10" } # counted\n'));
});

test("a list that is shared or comes by an alias or a merge key is refused, not changed", () => {
  const refused = [
    `${HEAD}x-list: &list\n  - ${ONE}tools: *list\n`,
    `${HEAD}tools: &list\n  - ${ONE}x-copy: *list\n`,
    `${HEAD}x-base: &base { tools: [] }\n<<: *base\n`,
    `${HEAD}x-meta: &meta { tool_catalog_version: "1" }\nmeta: *meta\ntools: []\n`,
    `${HEAD}meta: &meta { tool_catalog_version: "1" }\nx-copy: *meta\ntools: []\n`,
  ];
  for (const text of refused.filter((_, index) => index !== 2)) assert.throws(() => appendTool(text, TOOL), Uneditable, text);
  // The file's own list wins over the merged one, which was empty.
  assert.deepEqual((readStockYaml(appendTool(refused[2] ?? "", TOOL).text) as { readonly tools: unknown }).tools, [TOOL]);
});

test("every catalog of the examples takes a tool and gives it back", () => {
  const files = readdirSync(repo("specs", "examples"), { recursive: true, encoding: "utf8" }).filter((name) => /\.ya?ml$/.test(name) && /tools/.test(name));
  assert.ok(files.length > 1, files.join());
  for (const file of files) {
    const text = readFileSync(repo("specs", "examples", file), "utf8");
    const { text: changed } = appendTool(text, TOOL);
    assert.equal(takenBack(text, changed), text, file);
  }
});

test.run();
