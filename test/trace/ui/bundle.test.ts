/** What the built pages weigh, and what they ask for. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scriptBytes } from "../../../bench/lib/browser.js";
import { repo } from "../../lib/repo.js";
import { suite } from "../../lib/suite.js";

const test = suite("trace ui: bundle");
const PAGES = repo("dist", "runtime", "trace-ui", "static");
const LIMIT_BYTES = 150_000;

function files(ending: string): readonly string[] {
  assert.ok(existsSync(join(PAGES, "index.html")), "the pages are not built: make ui");
  return readdirSync(PAGES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(ending));
}

test("JavaScript is at most 150 KB, compressed", () => {
  files(".js");
  const bytes = scriptBytes().all;
  process.stdout.write(`  JavaScript: ${bytes} bytes compressed\n`);
  assert.ok(bytes > 5000 && bytes <= LIMIT_BYTES, `${bytes} bytes`);
});

test("what the first view loads is at most 60 KB, compressed", () => {
  files(".js");
  const bytes = scriptBytes().first;
  process.stdout.write(`  first view: ${bytes} bytes compressed\n`);
  assert.ok(bytes > 5000 && bytes <= 60_000, `${bytes} bytes`);
});

test("the page has no inline script, no inline style and only relative addresses", () => {
  const html = readFileSync(join(PAGES, "index.html"), "utf8");
  files(".html");
  for (const script of html.matchAll(/<script[^>]*>([^]*?)<\/script>/g)) assert.equal(script[1], "", "an inline script");
  assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=/);
  const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1] ?? "");
  assert.ok(addresses.length >= 4);
  assert.deepEqual(addresses.filter((address) => !address.startsWith("./")), []);
  for (const address of addresses) assert.ok(existsSync(join(PAGES, address)), address);
});

test("styles load nothing, fonts included", () => {
  for (const file of files(".css")) assert.doesNotMatch(readFileSync(join(PAGES, file), "utf8"), /url\(|@import|@font-face/);
});

test("the scripts of the first view ask to be compiled while they are read, and no other does", () => {
  const html = readFileSync(join(PAGES, "index.html"), "utf8");
  const hinted = files(".js").filter((file) => /^\/\/# allFunctionsCalledOnLoad$/m.test(readFileSync(join(PAGES, file), "utf8").slice(0, 5_000)));
  assert.deepEqual(hinted, files(".js").filter((file) => file.startsWith("assets/") && html.includes(`./${file}`)));
  assert.equal(hinted.length, 2);
});

test("nothing in the bundle evaluates text", () => {
  for (const file of files(".js")) assert.doesNotMatch(readFileSync(join(PAGES, file), "utf8"), /\beval\(|new Function\(|dangerouslySetInnerHTML:|document\.write/);
});

test.run();
