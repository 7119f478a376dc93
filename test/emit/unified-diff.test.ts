/** Unified diffs: `git apply` turns the one text into the other. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { unifiedDiff } from "../../generator/edit/unified-diff.js";
import { suite } from "../lib/suite.js";

const test = suite("unified diff");

const between = (before: string | null, after: string | null): string => unifiedDiff({ path: "a.txt", text: before }, { path: "a.txt", text: after });

test("equal texts have no diff", () => {
  assert.equal(between("a\nb\n", "a\nb\n"), "");
});

test("a change stands between three lines of context", () => {
  assert.equal(
    between("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
    "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
});

test("changes far apart are hunks of their own, near ones share one", () => {
  const lines = Array.from({ length: 30 }, (_, n) => `${n}\n`);
  const changed = (...at: readonly number[]): string => lines.map((line, n) => (at.includes(n) ? `x${line}` : line)).join("");
  assert.equal(between(lines.join(""), changed(2, 25)).match(/^@@/gm)?.length, 2);
  assert.equal(between(lines.join(""), changed(2, 8)).match(/^@@/gm)?.length, 1);
});

test("a missing file is /dev/null and a missing last line end is said", () => {
  assert.equal(between(null, "a"), "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
  assert.equal(between("a\n", null), "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
});

test("two texts without a line in common are compared quickly", () => {
  const before = Array.from({ length: 20_000 }, (_, n) => `a${n}\n`).join("");
  const after = Array.from({ length: 20_000 }, (_, n) => `b${n}\n`).join("");
  assert.equal(between(before, after).match(/^[-+][ab]/gm)?.length, 40_000);
}, { timeoutMs: 5000 });

test("git apply accepts every diff and arrives at the new text", () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-diff-"));
  try {
    const line = fc.oneof({ weight: 5, arbitrary: fc.constantFrom("a", "b", "c", "") }, { weight: 1, arbitrary: fc.string() });
    const text = fc.tuple(fc.array(line, { minLength: 1, maxLength: 40 }), fc.boolean()).map(([lines, ended]) => lines.join("\n") + (ended ? "\n" : "."));
    let n = 0;
    fc.assert(
      fc.property(text, text, (before, after) => {
        if (before === after || before.includes("\r") || after.includes("\r")) return;
        // A repository of its own, so that git does not look for one further up.
        const scratch = join(folder, String((n += 1)));
        mkdirSync(join(scratch, ".git"), { recursive: true });
        writeFileSync(join(scratch, "a.txt"), before);
        writeFileSync(join(scratch, "p.diff"), between(before, after));
        execFileSync("git", ["apply", "--whitespace=nowarn", "--unidiff-zero", "p.diff"], { cwd: scratch, env: { ...process.env, GIT_CEILING_DIRECTORIES: folder }, stdio: "pipe" });
        assert.equal(readFileSync(join(scratch, "a.txt"), "utf8"), after);
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 30_000 });

test.run();
