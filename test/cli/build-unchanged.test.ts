/** A build in which nothing has changed: recognised without compiling, and never believed where anything has. */
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { COUNT_CATALOG, type Ended } from "../lib/count-catalog.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("unchanged build");

interface Built extends Ended {
  /** Whether the catalog was compiled and compared with the disk. */
  readonly compiled: boolean;
}

type Build = (words?: readonly string[], host?: Partial<Host>, env?: { readonly [name: string]: string }) => Promise<Built>;

interface Project {
  readonly folder: string;
  readonly catalog: string;
  readonly out: string;
  readonly records: string;
  readonly build: Build;
}

async function inProject(use: (project: Project) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "toolsrv-home-"));
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-unchanged-"));
  const catalog = join(folder, "tools.yaml");
  writeFileSync(catalog, COUNT_CATALOG);
  const build: Build = async (words = [], host = {}, env = { HOME: home }) => {
    const real = { ...nodeHost(), ...host };
    let compiled = false;
    // Only a build that has compiled looks for what killed builds have left beside the output.
    const list: Host["list"] = (path) => {
      compiled ||= path === folder;
      return real.list(path);
    };
    const io = memoryIo({ cwd: folder, env, host: { ...real, list } });
    const code = await run(["build", ...words], io);
    return { code, out: io.out(), err: io.err(), compiled };
  };
  try {
    await use({ folder, catalog, out: join(folder, "out"), records: join(home, ".toolsrv", "builds"), build });
  } finally {
    for (const each of [home, folder]) rmSync(each, { recursive: true, force: true });
  }
}

const untimed = (text: string): string => text.replace(/\d+ ms|"duration_ms": \d+/g, "TIME");

test("the second build compiles nothing and says what a compiled one would", () =>
  inProject(async ({ build }) => {
    assert.equal((await build()).compiled, true);
    const again = await build();
    assert.equal(again.compiled, false);
    const compiled = await build([], {}, {});
    assert.equal(compiled.compiled, true, "without a home folder there are no records");
    assert.deepEqual([again.code, untimed(again.out), again.err], [compiled.code, untimed(compiled.out), compiled.err]);
    assert.match(again.out, /^unchanged out\/server\.ts\n(.*\n)*built 1 tool of tools\.yaml: nothing changed, \d+ ms\n$/);
    const [json, compiledJson] = [await build(["--json"]), await build(["--json"], {}, {})];
    assert.deepEqual([json.compiled, untimed(json.out)], [false, untimed(compiledJson.out)]);
  }), { timeoutMs: 60_000 });

test("a changed byte of the catalog, of the output or of its place is seen", () =>
  inProject(async ({ folder, catalog, out, build }) => {
    const other = join(folder, "other");
    const table: readonly (readonly [what: string, change: () => void, words?: readonly string[]])[] = [
      ["a comment in the catalog", () => appendFileSync(catalog, "# a note\n")],
      ["a guard", () => writeFileSync(catalog, COUNT_CATALOG.replace("value: me", "value: you"))],
      ["a hand edit", () => appendFileSync(join(out, "plans.ts"), "// loosened\n")],
      ["a byte order mark", () => writeFileSync(join(out, "plans.ts"), `\uFEFF${readFileSync(join(out, "plans.ts"), "utf8")}`)],
      ["an edited script", () => appendFileSync(join(out, "handlers.js"), "steal();\n")],
      ["an edited source map", () => writeFileSync(join(out, "handlers.js.map"), "{}")],
      ["an edited manifest", () => writeFileSync(join(out, "manifest.json"), readFileSync(join(out, "manifest.json"), "utf8").replace("owner eq", "owner ne"))],
      ["a deleted file", () => rmSync(join(out, "tools.lock.json"))],
      ["a deleted script", () => rmSync(join(out, "server.js"))],
      ["a deleted folder", () => rmSync(out, { recursive: true })],
      ["nothing", () => undefined],
      ["another output folder", () => undefined, ["--out", other]],
      ["no trace service", () => undefined, ["--no-trace"]],
      ["one language only", () => undefined, ["--emit", "ts"]],
      ["another catalog file of the same bytes", () => writeFileSync(join(folder, "two.yaml"), COUNT_CATALOG), ["two.yaml"]],
      ["a folder in the place of a file", () => { rmSync(join(out, "plans.ts")); mkdirSync(join(out, "plans.ts")); }],
    ];
    for (const [what, change, words] of table) {
      if (readFileSync(catalog, "utf8") !== COUNT_CATALOG) writeFileSync(catalog, COUNT_CATALOG);
      await build();
      change();
      const ended = await build(words).catch(() => null);
      assert.equal(ended?.compiled ?? true, what !== "nothing", what);
    }
  }), { timeoutMs: 60_000 });

test("what a hand changed is written anew, and the build after it is unchanged", () =>
  inProject(async ({ out, build }) => {
    await build();
    const want = readFileSync(join(out, "plans.ts"), "utf8");
    appendFileSync(join(out, "plans.ts"), "// loosened\n");
    assert.match((await build()).out, /^written {3}out\/plans\.ts$/m);
    assert.equal(readFileSync(join(out, "plans.ts"), "utf8"), want);
    assert.equal((await build()).compiled, false);
  }), { timeoutMs: 60_000 });

test("--check, --typecheck and --emit ir always do their work", () =>
  inProject(async ({ out, build }) => {
    await build();
    assert.equal((await build(["--typecheck"])).compiled, true);
    assert.match((await build(["--emit", "ir"])).out, /"count_things"/);
    appendFileSync(join(out, "plans.ts"), "// loosened\n");
    const checked = await build(["--check"]);
    assert.deepEqual([checked.code, /-\/\/ loosened/.test(checked.out)], [EXIT.FINDINGS, true]);
  }), { timeoutMs: 60_000 });

test("another template, other code of the compiler and another installed package are seen", () =>
  inProject(async ({ build }) => {
    await build();
    const edited = (ending: string): Partial<Host> => ({
      digests: (paths) => nodeHost().digests(paths).map((digest, index) => (paths[index]?.endsWith(ending) === true ? "edited" : digest)),
    });
    for (const ending of ["templates/plans.ts.hbs", "/generator/4-plan/tools.ts", "/generator/4-plan/tools.js", "/runtime/adapters/sqlite/filter.ts", "/runtime/adapters/sqlite/filter.js"]) {
      const source = import.meta.url.endsWith(".ts");
      const applies = ending.endsWith(".hbs") || ending.endsWith(source ? ".ts" : ".js");
      assert.equal((await build([], edited(ending))).compiled, applies, ending);
      await build();
    }
    const withPackage = (there: boolean): Partial<Host> => ({
      exists: (path) => (/node_modules[\\/]pg[\\/]package\.json$/.test(path) ? Promise.resolve(there) : nodeHost().exists(path)),
    });
    await build([], withPackage(false));
    assert.equal((await build([], withPackage(false))).compiled, false);
    assert.equal((await build([], withPackage(true))).compiled, true, "an optional package");
  }), { timeoutMs: 60_000 });

test("a record that is cut, changed or of another shape is none", () =>
  inProject(async ({ records, build }) => {
    await build();
    const [name = ""] = readdirSync(records);
    const whole = readFileSync(join(records, name), "utf8");
    const table: readonly (readonly [string, string | null])[] = [
      ["cut", whole.slice(0, whole.length - 10)], ["cut at a line", whole.slice(0, whole.indexOf("\n") + 1)], ["empty", ""], ["changed", whole.replace('"tools":1', '"tools":2')],
      ["another", "{}"], ["bytes", "\u0000\u0001"], ["gone", null],
    ];
    for (const [what, text] of table) {
      if (text === null) rmSync(join(records, name));
      else writeFileSync(join(records, name), text);
      const ended = await build();
      assert.deepEqual([ended.code, ended.compiled], [EXIT.OK, true], what);
      assert.equal((await build()).compiled, false, what);
    }
  }), { timeoutMs: 60_000 });

test("a folder that cannot hold records costs time and nothing else", () =>
  inProject(async ({ records, build }) => {
    mkdirSync(join(records, ".."), { recursive: true });
    writeFileSync(records, "a file");
    for (let round = 0; round < 2; round += 1) {
      const ended = await build();
      assert.deepEqual([ended.code, ended.compiled], [EXIT.OK, true]);
      assert.doesNotMatch(ended.err, /record|a file/);
    }
  }), { timeoutMs: 60_000 });

test("warnings of an unchanged catalog are said again, with place and frame", () =>
  inProject(async ({ catalog, build }) => {
    appendFileSync(catalog, "    output: { limit: 3 }\n");
    const first = await build();
    assert.match(first.err, /WARNING VB0001[^\n]*\n {2}--> tools\.yaml:10:15\n/);
    const again = await build();
    assert.deepEqual([again.compiled, again.err], [false, first.err]);
    const rows = (JSON.parse((await build(["--json"])).out) as { readonly diagnostics: readonly { readonly code: string }[] }).diagnostics;
    assert.deepEqual(rows.map(({ code }) => code), ["VB0001"]);
  }), { timeoutMs: 60_000 });

test("a catalog that has errors leaves no record", () =>
  inProject(async ({ catalog, records, build }) => {
    writeFileSync(catalog, COUNT_CATALOG.replace("connection: store", "connection: stor"));
    assert.equal((await build()).code, EXIT.USAGE);
    assert.equal((await build()).code, EXIT.USAGE);
    assert.deepEqual(readdirSync(join(records, "..", "..")), []);
  }), { timeoutMs: 60_000 });

test("records whose output is gone are dropped when there are many", () =>
  inProject(async ({ folder, records, build }) => {
    await build(["--out", "kept"]);
    await build(["--out", "gone"]);
    rmSync(join(folder, "gone"), { recursive: true });
    const [text] = readdirSync(records).map((name) => readFileSync(join(records, name), "utf8")).filter((each) => each.includes('"out":"') && each.includes("/gone"));
    for (let n = 0; n < 98; n += 1) writeFileSync(join(records, `${n}.json`), text ?? "");
    assert.equal(readdirSync(records).length, 100);
    await build();
    assert.equal(readdirSync(records).length, 2);
    assert.equal((await build(["--out", "kept"])).compiled, false);
  }), { timeoutMs: 60_000 });

test.run();
