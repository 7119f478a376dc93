/** The documents are true where a machine can tell: their links, the tests and commands they name, and the README's code. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parse } from "yaml";
import { COMMANDS } from "../generator/cli/commands.js";
import { repo } from "./lib/repo.js";
import { suite } from "./lib/suite.js";
import { createTestIndex } from "./lib/test-ids.js";

const test = suite("docs");

const read = (file: string): string => readFileSync(repo(file), "utf8");
const documents = ["README.md", "CHANGELOG.md", "SECURITY.md", ...readdirSync(repo("docs"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`)];

/** Fenced blocks of one language. */
function blocks(file: string, language: string): readonly string[] {
  return [...read(file).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map((match) => match[1] ?? "");
}

test("every link of a document leads to a file", () => {
  const dead: string[] = [];
  for (const file of documents) {
    for (const [, target = ""] of read(file).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (!/^[a-z]+:/.test(target) && !existsSync(repo(normalize(join(dirname(file), target))))) dead.push(`${file}: ${target}`);
    }
  }
  assert.deepEqual(dead, []);
});

/** Sections of one level (`## ` or `### `) of a page: title and text up to the next heading of that level or above. */
function sections(page: string, level: 2 | 3): readonly { readonly title: string; readonly text: string }[] {
  const marks = "#".repeat(level);
  return [...page.matchAll(new RegExp(`^${marks} (.+)\\n((?:(?!#{2,${level}} ).*\\n)*)`, "gm"))].map(([, title = "", text = ""]) => ({ title, text }));
}

/** What is wrong with a page of decisions; empty if each has a title of its own, a text and tests that exist. */
function decisionProblems(page: string, exists: (id: string) => boolean): readonly string[] {
  const decisions = sections(page, 3);
  return decisions.flatMap(({ title, text }, index) => {
    const lines = text.split("\n").filter((line) => line !== "");
    const tests = lines.filter((line) => line.startsWith("Test: ")).map((line) => line.slice("Test: ".length));
    return [
      ...(decisions.findIndex((other) => other.title === title) < index ? [`${title}: two decisions have this title`] : []),
      ...(lines[0] === undefined || lines[0].startsWith("Test: ") ? [`${title}: says nothing`] : []),
      ...(tests.length === 0 ? [`${title}: names no test`] : []),
      ...tests.filter((id) => !exists(`test/${id}`)).map((id) => `${title}: no such test: ${id}`),
    ];
  });
}

test("every decision of docs/decisions.md has a text and names tests that exist", () => {
  const page = read("docs/decisions.md");
  assert.ok(sections(page, 3).length > 200);
  assert.deepEqual(decisionProblems(page, createTestIndex().exists), []);
});

test("a decision without a text, without a test or with a test that does not exist is found", () => {
  const decision = (text: string): readonly string[] => decisionProblems(`# Decisions\n\n## Room\n\n### Title\n\n${text}\n`, createTestIndex().exists);
  assert.deepEqual(decision("What.\n\nTest: docs.test.ts: every link of a document leads to a file\n"), []);
  assert.deepEqual(decision("What.\n\nTest: docs.test.ts: this test does not exist\n"), ["Title: no such test: docs.test.ts: this test does not exist"]);
  assert.deepEqual(decision("What.\n"), ["Title: names no test"]);
  assert.deepEqual(decision("Test: docs.test.ts: every link of a document leads to a file\n"), ["Title: says nothing"]);
});

test("the table of contents of docs/decisions.md names its rooms, in their order", () => {
  const page = read("docs/decisions.md");
  const anchor = (title: string): string => title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
  const listed = page.split("\n").filter((line) => line.startsWith("- ["));
  assert.deepEqual(listed, sections(page, 2).map(({ title }) => `- [${title}](#${anchor(title)})`));
});

test("every toolsrv command that a document shows is one", () => {
  const known = new Set([...COMMANDS.map((spec) => spec.name), "COMMAND"]);
  const unknown = documents.flatMap((file) =>
    [...read(file).matchAll(/`(?:bin\/|npx )?toolsrv ([a-z][\w-]*|COMMAND)/g)].map((match) => match[1] ?? "").filter((name) => !known.has(name)).map((name) => `${file}: toolsrv ${name}`),
  );
  assert.deepEqual(unknown, []);
});

test("the README's catalog is a part of the quickstart, and its TypeScript what the compiler makes of that part", () => {
  const [catalog] = blocks("README.md", "yaml").map((block) => parse(block));
  const quickstart = parse(read("specs/examples/quickstart/tools.yaml"));
  const [tool] = catalog.tools;
  const same = quickstart.tools.find((entry: { name: string }) => entry.name === tool.name);
  assert.deepEqual(tool.static_filters, same.static_filters);
  assert.deepEqual(tool.target, same.target);
  const [plan = ""] = blocks("README.md", "ts");
  assert.ok(read("out/plans.ts").includes(plan), plan);
});

test("the README names the two commands first", () => {
  const first = blocks("README.md", "sh")[0] ?? "";
  assert.match(first, /^make demo .*\nmake test /);
});

test.run();
