/** `toolsrv build --python DIR`: a second output folder with the same protections as the first. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "../../generator/cli/exit.js";
import { inProject } from "../lib/count-catalog.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv build --python");
/** Whole builds, on a machine that may be busy. */
const SLOW = { timeoutMs: 180_000 };

const bytesBelow = (folder: string): readonly string[] => (readdirSync(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort().flatMap((path) => [path.slice(folder.length), readFileSync(path, "utf8")]);

test("the package is written beside out/, and reported file by file; a second build changes nothing", () =>
  inProject(async (folder, build) => {
    const first = await build("--python", "py");
    assert.equal(first.code, EXIT.OK, first.err);
    assert.match(first.out, /\nwritten {3}py\/pyproject\.toml\nwritten {3}py\/toolsrv_catalog\/__init__\.py\n/);
    assert.ok(existsSync(join(folder, "out", "server.js")));
    assert.match(readFileSync(join(folder, "py", "toolsrv_catalog", "definitions.py"), "utf8"), /^SERVER = "\.\.\/\.\.\/out\/server\.js"$/m);
    const second = await build("--python", "py");
    assert.match(second.out, /\nunchanged py\/toolsrv_catalog\/tools\.py\n/);
    assert.match(second.out, /: nothing changed, \d+ ms\n$/);
  }), SLOW);

test("the same catalog gives the same package in any folder", async () => {
  const read = async (): Promise<readonly string[]> => {
    let texts: readonly string[] = [];
    await inProject(async (folder, build) => {
      await build("--python", "py");
      texts = bytesBelow(join(folder, "py"));
    });
    return texts;
  };
  assert.deepEqual(await read(), await read());
}, SLOW);

test("--check compares the package too: an edit, a missing file and a module that no build wrote are exit 1", () =>
  inProject(async (folder, build) => {
    const module = join(folder, "py", "toolsrv_catalog");
    await build("--python", "py");
    assert.deepEqual(await build("--python", "py", "--check"), { code: EXIT.OK, out: "", err: "out is up to date with tools.yaml\npy is up to date with tools.yaml\n" });
    // An output that differs is not type-checked, which takes seconds.
    appendFileSync(join(folder, "out", "queries.md"), "edited\n");
    appendFileSync(join(module, "stdio.py"), "steal()\n");
    rmSync(join(module, "tools.py"));
    // A stub hides a module from the type checker, and a compiled module is found before the one in Python.
    writeFileSync(join(module, "models.pyi"), "");
    writeFileSync(join(module, "stdio.abi3.so"), "");
    writeFileSync(join(folder, "py", "conftest.py"), "");
    const { code, out, err } = await build("--python", "py", "--check");
    assert.equal(code, EXIT.FINDINGS);
    assert.match(out, /^--- a\/toolsrv_catalog\/stdio\.py$[^]*^-steal\(\)$/m);
    assert.match(out, /^\+\+\+ b\/toolsrv_catalog\/tools\.py$/m);
    assert.equal(err.replace(/^out is.*\n/m, ""), [
      "py/toolsrv_catalog/models.pyi: not of this build, but imports of the package can reach it; remove it",
      "py/toolsrv_catalog/stdio.abi3.so: not of this build, but imports of the package can reach it; remove it",
      "py is out of date: 2 files differ; run the build with --python py", "",
    ].join("\n"));
  }), SLOW);

test("a file that no build wrote is never overwritten, and then nothing is written at all", () =>
  inProject(async (folder, build) => {
    mkdirSync(join(folder, "py"));
    writeFileSync(join(folder, "py", "pyproject.toml"), "[project]\nname = \"mine\"\n");
    const { code, err } = await build("--python", "py");
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /py\/pyproject\.toml was not written by a build; move it away or choose another --python/);
    assert.deepEqual([readdirSync(join(folder, "py")), existsSync(join(folder, "out"))], [["pyproject.toml"], false]);
  }), SLOW);

test("files of the user beside the package stay, and those of an earlier package with another name go", () =>
  inProject(async (folder, build) => {
    await build("--python", "py");
    writeFileSync(join(folder, "py", "notes.txt"), "mine");
    const { code, out } = await build("--python", "py", "--python-name", "shop_tools");
    assert.equal(code, EXIT.OK);
    assert.match(out, /removed {3}py\/toolsrv_catalog\/tools\.py/);
    assert.deepEqual(readdirSync(join(folder, "py")).filter((name) => name !== "toolsrv_catalog"), ["manifest.json", "notes.txt", "pyproject.toml", "shop_tools"]);
    assert.match(readFileSync(join(folder, "py", "pyproject.toml"), "utf8"), /^name = "shop-tools"$/m);
  }), SLOW);

test("--json reports the package under python", () =>
  inProject(async (_, build) => {
    const report = JSON.parse((await build("--python", "py", "--json")).out) as { readonly python: { readonly out: string; readonly files: readonly { readonly path: string }[] } };
    assert.equal(report.python.out, "py");
    assert.ok(report.python.files.some(({ path }) => path === "toolsrv_catalog/tools.py"));
  }));

const REFUSED: readonly (readonly [what: string, words: readonly string[], message: RegExp])[] = [
  ["the folder of the project", ["--python", "."], /--python needs a folder of its own, and '\.' holds/],
  ["a file", ["--python", "tools.yaml"], /--python needs a folder, and 'tools\.yaml' is a file/],
  ["out/ itself", ["--python", "out"], /--python needs a folder outside of --out/],
  ["a folder within out/", ["--python", "out/py"], /--python needs a folder outside of --out/],
  ["a folder around out/", ["--out", "gen/out", "--python", "gen"], /--python needs a folder outside of --out/],
  ["a name that Python cannot import", ["--python", "py", "--python-name", "a-b"], /--python-name takes a name that Python can import, such as movie_tools, not 'a-b'/],
  ["a word of the language", ["--python", "py", "--python-name", "import"], /not 'import'/],
  ["a name that leaves the folder", ["--python", "py", "--python-name", "../x"], /not '\.\.\/x'/],
  ["a name without a folder", ["--python-name", "shop"], /--python-name names the package of --python DIR/],
  ["--emit ir", ["--python", "py", "--emit", "ir"], /--emit ir writes no files/],
];

for (const [what, words, message] of REFUSED) {
  test(`${what} is refused, and nothing is written`, () =>
    inProject(async (folder, build) => {
      const { code, err } = await build(...words);
      assert.equal(code, EXIT.USAGE, err);
      assert.match(err, message);
      assert.deepEqual(readdirSync(folder), ["tools.yaml"]);
    }), SLOW);
}

test.run();
