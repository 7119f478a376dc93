/** What docs/auth.md tells people to copy: its commands, catalogs and keys are understood. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { compile } from "../../generator/compile.js";
import { parseApiKeys } from "../../runtime/auth/api-keys-file.js";
import { readFlagWords } from "../../runtime/config/flags.js";
import { SERVE_FLAGS } from "../../runtime/config/serve-flags.js";
import { serveOptions } from "../../runtime/config/serve-options.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("examples of docs/auth.md");
const page = readFileSync(repo("docs/auth.md"), "utf8");
const fences = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text = ""]) => ({ language, text }));
const blocks = (language: string): readonly string[] => fences.filter((fence) => fence.language === language).map(({ text }) => text);

test("each serve command has flags that go together", () => {
  const commands = blocks("").map((block) => block.replaceAll(/\\\n\s*/g, " ").trim()).filter((text) => text.startsWith("toolsrv serve "));
  assert.ok(commands.length >= 4);
  for (const command of commands) {
    // What a page leaves out of one example is in another.
    const words = command.replace(" … ", " --jwks-url https://id/jwks --jwt-issuer https://id --jwt-audience a ").split(/\s+/).slice(2);
    const read = readFlagWords(words, SERVE_FLAGS);
    assert.ok(read.kind === "read", `${command}: ${read.kind === "problem" ? read.message : "help"}`);
    assert.doesNotThrow(() => serveOptions(Object.fromEntries(read.values)), command);
  }
});

test("each catalog compiles", () => {
  const tools = ["search_docs", "count_docs"].map((name) => `  - { name: ${name}, kind: count, description: Count the documents. Use it when the user asks how many there are., target: { connection: main, collection: docs } }\n`);
  const head = `tds_version: "2"\nconnections: { main: { backend: sqlite, path: ./d.db } }\ntools:\n${tools.join("")}`;
  assert.ok(blocks("yaml").length >= 3);
  for (const block of blocks("yaml")) {
    const { diagnostics } = compile({ path: "tools.yaml", text: `${head}${block}` });
    assert.deepEqual(diagnostics.filter(({ severity }) => severity !== "info"), [], block);
  }
});

test("the keys file can be used, and its keys are long enough", () => {
  const [text = ""] = blocks("json");
  const { keys, warnings } = parseApiKeys(text, "keys.json");
  assert.deepEqual([keys.length, warnings], [2, []]);
});

test.run();
