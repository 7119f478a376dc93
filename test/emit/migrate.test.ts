/** migrate 1 → 2: only the intended bytes change, and the catalog means what it meant. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import * as fc from "fast-check";
import { compile } from "../../generator/compile.js";
import { compareSurfaces } from "../../generator/diff/compare.js";
import { surfaceOf } from "../../generator/diff/surface.js";
import { applyEdits, insertAt } from "../../generator/edit/text-edit.js";
import { migrate } from "../../generator/migrate/migrate.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("migrate");
const CASES = repo("test", "golden", "migrate");
const read = (name: string, version: string): string => readFileSync(`${CASES}/${name}/${version}.yaml`, "utf8");

function migrated(text: string): string {
  const result = migrate(text);
  assert.ok("text" in result, "because" in result ? result.because : "");
  return result.text;
}

function surface(text: string): ReturnType<typeof surfaceOf> | null {
  const { value } = compile({ path: "t.yaml", text }, { target: "describe" });
  return value === null ? null : surfaceOf("t.yaml", value.plans);
}

for (const name of readdirSync(CASES)) {
  test(`golden: ${name}`, () => {
    const result = migrated(read(name, "v1"));
    if (process.env["UPDATE"] === "1") writeFileSync(`${CASES}/${name}/v2.yaml`, result);
    assert.equal(result, read(name, "v2"));
  });

  test(`means the same: ${name}`, () => {
    const [before, after] = [surface(read(name, "v1")), surface(migrated(read(name, "v1")))];
    assert.ok(after, "the migrated catalog compiles");
    // An unquoted version is the one mistake that migrating mends.
    if (name !== "bare-version") assert.deepEqual(compareSurfaces(before ?? after, after), []);
  });

  test(`a second time changes nothing: ${name}`, () => assert.equal(migrated(migrated(read(name, "v1"))), migrated(read(name, "v1"))));
}

test("in a commented file of 200 lines only the version, its meta and the lists differ", () => {
  const [before, after] = [read("commented", "v1"), read("commented", "v2")];
  assert.ok(before.split("\n").length >= 180, String(before.split("\n").length));
  const added = after.split("\n").filter((line) => !before.split("\n").includes(line));
  const kinds = new Set(added.map((line) => line.replace(/\d+/g, "N").trim()));
  assert.deepEqual([...kinds], [
    "tds_version:   'N'      # still on the first version",
    "meta: {}",
    "must:",
    "static_filters: { must: [ { path: owner, op: eq, value: 'me' } , {path: n, op: lt, value: NxNF} ] }  # inline",
    "static_filters: { must: [",
    "] } }   # a whole tool in flow style",
  ]);
  // Taking the insertions out again gives the old bytes.
  const back = after
    .replace("'2'      #", "'1'      #").replace("meta: {}\n", "").replaceAll(/^ +must:\n/gm, "")
    .replaceAll("{ must: [ { path: owner, op: eq, value: 'me' } , {path: n, op: lt, value: 0x1F} ] }", "[ { path: owner, op: eq, value: 'me' } , {path: n, op: lt, value: 0x1F} ]")
    .replaceAll("static_filters: { must: [\n", "static_filters: [\n").replaceAll("      ] } }   # a whole", "      ] }   # a whole");
  assert.equal(back, before);
});

const comment = fc.constantFrom("", " # why", "   # ümlaut 🎬");
const list = fc.record({ style: fc.constantFrom("flow", "block", "flush", "lines", "anchored"), note: comment, blank: fc.boolean(), count: fc.integer({ min: 1, max: 3 }) });

test("any mix of styles, comments and line ends keeps its meaning and its other bytes", () => {
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 5 }), fc.constantFrom("\n", "\r\n"), fc.constantFrom("'1'", '"1"', null), comment, (lists, newline, version, note) => {
      const rows = (count: number, indent: string): string => Array.from({ length: count }, (_, n) => `${indent}- { path: f${n}, value: ${n} }\n`).join("");
      const tools = lists.map(({ style, note: why, blank, count }, n) => {
        const head = `  - name: count_${n}\n    kind: count${why}\n    description: Count the things of the store. Use for a number.\n    target: { connection: store, collection: t }\n`;
        const items = Array.from({ length: count }, (_, i) => `{ path: f${i}, value: ${i} }`).join(", ");
        const gap = blank ? "\n" : "";
        const filters: { readonly [s: string]: string } = {
          flow: `    static_filters: [ ${items} ]${why}\n`,
          block: `    static_filters:${why}\n${gap}${rows(count, "      ")}`,
          flush: `    static_filters:${why}\n${rows(count, "    ")}`,
          lines: `    static_filters: [${why}\n      ${items}\n      ]\n`,
          anchored: `    static_filters: &a${n}${why}\n${gap}${rows(count, "        ")}`,
        };
        return head + (filters[style] as string) + (blank ? "    # tail\n\n" : "");
      });
      const text = `${version === null ? "" : `tds_version: ${version}${note}\n`}connections:\n  store: { backend: sqlite, path: ./s.db }\ntools:\n${tools.join("")}`.replaceAll("\n", newline);
      const before = surface(text);
      assert.ok(before, text);
      const after = migrated(text);
      const now = surface(after);
      assert.ok(now, after);
      assert.deepEqual(compareSurfaces(before, now), []);
      assert.equal(after.includes("\r\n"), newline === "\r\n");
      if (newline === "\r\n") assert.doesNotMatch(after, /[^\r]\n/);
      assert.deepEqual(after.match(/#.*/g), text.match(/#.*/g));
    }),
    { numRuns: 150 },
  );
}, { timeoutMs: 30_000 });

test("a list that an editor of text cannot wrap is named with its line", () => {
  const text = "tds_version: '1'\nconnections: {}\ntools:\n  - name: a\n    ? static_filters\n    : - { path: a, value: 1 }\n";
  assert.deepEqual(migrate(text), { line: 5, because: "the list begins on the line of its key" });
});

test("edits are applied back to back and never overlap", () => {
  assert.equal(applyEdits("abcdef", [insertAt(6, "!"), { offset: 1, length: 2, text: "X" }, insertAt(0, "1"), insertAt(0, "2")]), "12aXdef!");
  assert.throws(() => applyEdits("abc", [{ offset: 0, length: 2, text: "" }, { offset: 1, length: 1, text: "" }]), /overlaps/);
  assert.throws(() => applyEdits("abc", [insertAt(4, "")]), /leaves the text/);
});

test.run();
