/** docs/reference is printed from the tables of the program, and all of them are on it. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { tdsSchema } from "../../generator/1-parse/schema.gen.js";
import { COMMANDS } from "../../generator/cli/commands.js";
import type { LiveRun } from "../../generator/reference/backends.js";
import { referencePages } from "../../generator/reference/gen-reference.js";
import { CODES } from "../../runtime/abi/codes.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("reference");
const pages = referencePages(JSON.parse(readFileSync(repo("test/live/runs.json"), "utf8")) as readonly LiveRun[]);

test("the pages in docs/reference are the generated ones, and there are no others", () => {
  assert.deepEqual(readdirSync(repo("docs/reference")).sort(), [...pages.keys()].sort());
  for (const [name, text] of pages) assert.equal(readFileSync(repo("docs/reference", name), "utf8"), text, `run make gen: ${name}`);
});

test("every code has an anchor, once", () => {
  const anchors = [...(pages.get("codes.md") ?? "").matchAll(/^### (.+)$/gm)].map(([, name]) => name);
  assert.deepEqual([...anchors].sort(), Object.keys(CODES).sort());
});

test("every key of every mapping of the schema has a row, and every link a section", () => {
  const page = pages.get("keys.md") ?? "";
  const sections = new Set([...page.matchAll(/^## (.+)$/gm)].map(([, title]) => (title ?? "").toLowerCase()));
  for (const [name, { properties, oneOf }] of Object.entries(tdsSchema.definitions)) {
    if (properties !== undefined && oneOf === undefined) assert.ok(sections.has(name.toLowerCase()), name);
  }
  for (const [, target] of page.matchAll(/\]\(#([^)]+)\)/g)) assert.ok(sections.has(target ?? ""), target);
  for (const key of Object.keys(tdsSchema.properties ?? {})) assert.match(page, new RegExp(`^\\| (?:\\*\\*)?${key}(?:\\*\\*)? \\|`, "m"));
});

test("every command has a section", () => {
  for (const { name } of COMMANDS) assert.match(pages.get("cli.md") ?? "", new RegExp(`^## ${name}$`, "m"));
});

test.run();
