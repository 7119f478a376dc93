/** The documents are true where a machine can tell: their links, the tests and commands they name, and the README's code. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parse } from "yaml";
import { COMMANDS, UNAVAILABLE } from "../generator/cli/commands.js";
import { repo } from "./lib/repo.js";
import { suite } from "./lib/suite.js";
import { createTestIndex } from "./lib/test-ids.js";

const test = suite("docs");

const read = (file: string): string => readFileSync(repo(file), "utf8");
const documents = ["README.md", "CHANGELOG.md", ...readdirSync(repo("docs"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`)];

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

test("every row of docs/decisions.md has four cells and names a test that exists", () => {
  const { exists } = createTestIndex();
  const rows = read("docs/decisions.md").split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| Subject"));
  assert.ok(rows.length > 0);
  const wrong = rows.filter((row) => {
    const cells = row.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());
    return cells.length !== 4 || cells[3]?.split(/; (?=\S+\.test\.ts: )/).every((id) => exists(`test/${id}`)) !== true;
  });
  assert.deepEqual(wrong, []);
});

test("every toolsrv command that a document shows is one", () => {
  const known = new Set([...COMMANDS.map((spec) => spec.name), ...UNAVAILABLE, "COMMAND"]);
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
