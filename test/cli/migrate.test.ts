/** `toolsrv migrate`, from its words to the file. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv migrate");
const V1 = repo("test", "golden", "migrate", "anchors", "v1.yaml");
const V2 = repo("test", "golden", "migrate", "anchors", "v2.yaml");

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function inProject(use: (folder: string, migrate: (...words: readonly string[]) => Promise<Ended>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-migrate-"));
  copyFileSync(V1, join(folder, "tools.yaml"));
  try {
    await use(folder, async (...words) => {
      const io = memoryIo({ cwd: folder });
      return { code: await run(["migrate", ...words], io), out: io.out(), err: io.err() };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FROM_TO = ["--from", "1", "--to", "2"];

test("--dry-run prints a unified diff and writes nothing", () =>
  inProject(async (folder, migrate) => {
    const { code, out, err } = await migrate("tools.yaml", ...FROM_TO, "--dry-run");
    assert.equal(code, EXIT.OK, err);
    assert.match(out, /^--- a\/tools\.yaml\n\+\+\+ b\/tools\.yaml\n@@ -1,4 \+1,5 @@\n-tds_version: '1'\n\+tds_version: '2'\n\+meta: \{\}\n/);
    assert.equal(err, "tools.yaml would get tds_version '2', 3 lists of static filters under must\n");
    assert.equal(readFileSync(join(folder, "tools.yaml"), "utf8"), readFileSync(V1, "utf8"));
  }));

test("--write rewrites the file, through a link and with its permissions", () =>
  inProject(async (folder, migrate) => {
    chmodSync(join(folder, "tools.yaml"), 0o640);
    symlinkSync("tools.yaml", join(folder, "link.yaml"));
    const { code, out, err } = await migrate("link.yaml", ...FROM_TO, "--write");
    assert.deepEqual({ code, out, err }, { code: EXIT.OK, out: "", err: "link.yaml rewritten: tds_version '2', 3 lists of static filters under must\n" });
    assert.equal(readFileSync(join(folder, "tools.yaml"), "utf8"), readFileSync(V2, "utf8"));
    assert.equal(statSync(join(folder, "tools.yaml")).mode & 0o777, 0o640);
    assert.ok(lstatSync(join(folder, "link.yaml")).isSymbolicLink());
    assert.deepEqual(readdirSync(folder), ["link.yaml", "tools.yaml"]);
  }));

test("git diff after --write shows the intended lines and no other, with either line end and a byte order mark", () =>
  inProject(async (folder, migrate) => {
    const git = (...words: readonly string[]): string => execFileSync("git", ["-c", "core.autocrlf=false", "-c", "core.safecrlf=false", ...words], { cwd: folder, encoding: "utf8" });
    git("init", "--quiet");
    const commented = readFileSync(repo("test", "golden", "migrate", "commented", "v1.yaml"), "utf8");
    assert.ok(commented.split("\n").length > 200 && (commented.match(/#/g) ?? []).length > 50);
    const diffs: string[] = [];
    for (const [name, text] of [["lf.yaml", commented], ["crlf.yaml", commented.replaceAll("\n", "\r\n")], ["bom.yaml", `\uFEFF${commented}`]] as const) {
      writeFileSync(join(folder, name), text);
      git("add", name);
      assert.equal((await migrate(name, ...FROM_TO, "--write")).code, EXIT.OK, name);
      diffs.push(git("diff", "--unified=0", "--no-color", "--", name).split("\n").filter((line) => /^[-+](?![-+])/.test(line)).join("\n").replaceAll("\r", ""));
    }
    assert.deepEqual([...new Set(diffs)].length, 1, "the same lines, whatever ends them");
    const [diff = ""] = diffs;
    const kinds = new Set(diff.split("\n").map((line) => `${line[0]} ${line.slice(1).replace(/\d+/g, "N").trim()}`));
    assert.deepEqual([...kinds].sort(), [
      "+ ] } }   # a whole tool in flow style", "+ meta: {}", "+ must:", "+ static_filters: { must: [",
      "+ static_filters: { must: [ { path: owner, op: eq, value: 'me' } , {path: n, op: lt, value: NxNF} ] }  # inline",
      "+ tds_version:   'N'      # still on the first version",
      "- ] }   # a whole tool in flow style", "- static_filters: [",
      "- static_filters: [ { path: owner, op: eq, value: 'me' } , {path: n, op: lt, value: NxNF} ]  # inline",
      "- tds_version:   'N'      # still on the first version",
    ]);
  }));

test("a file of version 2, or from a version to itself, is left alone", () =>
  inProject(async (folder, migrate) => {
    copyFileSync(V2, join(folder, "two.yaml"));
    assert.deepEqual(await migrate("two.yaml", ...FROM_TO, "--dry-run"), { code: EXIT.OK, out: "", err: "two.yaml is version 2 already\n" });
    assert.equal((await migrate("tools.yaml", "--from", "1", "--to", "1", "--write")).code, EXIT.OK);
    assert.equal(readFileSync(join(folder, "tools.yaml"), "utf8"), readFileSync(V1, "utf8"));
  }));

test("a catalog with mistakes of other kinds is migrated; one that is no YAML is not", () =>
  inProject(async (folder, migrate) => {
    writeFileSync(join(folder, "wrong.yaml"), readFileSync(V1, "utf8").replace("connection: store", "connection: stor"));
    assert.equal((await migrate("wrong.yaml", ...FROM_TO, "--write")).code, EXIT.OK);
    assert.match(readFileSync(join(folder, "wrong.yaml"), "utf8"), /^tds_version: '2'\nmeta: \{\}\n/);
    for (const text of ["a: [", "- a\n- b\n", "", "just text"]) {
      writeFileSync(join(folder, "no.yaml"), text);
      const { code, out, err } = await migrate("no.yaml", ...FROM_TO, "--write");
      assert.deepEqual([code, out], [EXIT.USAGE, ""], text);
      assert.match(err, /no\.yaml/);
      assert.equal(readFileSync(join(folder, "no.yaml"), "utf8"), text);
    }
    assert.equal((await migrate("absent.yaml", ...FROM_TO, "--write")).code, EXIT.USAGE);
  }));

test("words that do not fit exit 2 and write nothing", () =>
  inProject(async (folder, migrate) => {
    const table: readonly (readonly [words: readonly string[], want: RegExp])[] = [
      [["tools.yaml", ...FROM_TO], /say --dry-run to see the change or --write to make it/],
      [["tools.yaml", ...FROM_TO, "--dry-run", "--write"], /exclude each other/],
      [["tools.yaml", "--from", "2", "--to", "1", "--write"], /cannot be taken back/],
      [["tools.yaml", "--from", "1", "--to", "3", "--write"], /there is no catalog version '3'/],
      [["tools.yaml", "--write"], /--from/],
    ];
    for (const [words, want] of table) {
      const { code, err } = await migrate(...words);
      assert.equal(code, EXIT.USAGE, words.join(" "));
      assert.match(err, want);
    }
    assert.equal(readFileSync(join(folder, "tools.yaml"), "utf8"), readFileSync(V1, "utf8"));
  }));

test.run();
