/** `toolsrv build`, from its words to what stands on the disk. */
import assert from "node:assert/strict";
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { nodeHost } from "../../generator/host.js";
import { memoryIo, type MemoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv build");

const CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: ./store.db }
tools:
  - name: count_things
    kind: count
    description: Count the things of the store. Use for questions after a number.
    target: { connection: store, collection: things }
    static_filters: [{ path: owner, value: me }]
`;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function inProject(use: (folder: string, build: (...words: readonly string[]) => Promise<Ended>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-build-"));
  writeFileSync(join(folder, "tools.yaml"), CATALOG);
  try {
    await use(folder, async (...words) => {
      const io = memoryIo({ cwd: folder });
      return { code: await run(["build", ...words], io), out: io.out(), err: io.err() };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the defaults are tools.yaml and out/, one line a file and a summary with the time", () =>
  inProject(async (folder, build) => {
    const first = await build();
    assert.equal(first.code, EXIT.OK, first.err);
    assert.match(first.out, /^written {3}out\/server\.ts\nwritten {3}out\/server\.js\n/);
    assert.match(first.out, /\nbuilt 1 tool of tools\.yaml: 26 files changed, \d+ ms\n$/);
    assert.equal(first.err, "");
    assert.deepEqual(readdirSync(join(folder, "out")).filter((name) => !/\.js(\.map)?$/.test(name)), [
      "handlers.ts", "manifest.json", "plans.ts", "schemas.ts", "server.ts", "tools.lock.json", "tools.ts", "trace-server.ts", "trace.routes.ts", "trace.types.ts",
    ]);
    const second = await build("tools.yaml", "--out", "out");
    assert.match(second.out, /^unchanged out\/server\.ts\n/);
    assert.match(second.out, /: nothing changed, \d+ ms\n$/);
  }));

test("the manifest names the catalog, a digest of every file and the guards of every tool", () =>
  inProject(async (folder, build) => {
    await build();
    const manifest = JSON.parse(readFileSync(join(folder, "out", "manifest.json"), "utf8")) as { readonly [key: string]: unknown };
    assert.deepEqual(Object.keys(manifest), ["abi", "catalog", "files", "guards"]);
    assert.deepEqual(Object.keys(manifest["files"] as object), ["server.ts", "plans.ts", "schemas.ts", "handlers.ts", "tools.ts", "trace.routes.ts", "trace.types.ts", "trace-server.ts", "tools.lock.json"]);
    assert.deepEqual(manifest["guards"], { count_things: [{ branch: "count", guards: ['owner eq "me"'], tenancy: "none" }] });
  }));

test("two builds in different places give the same bytes", async () => {
  const read = async (): Promise<readonly string[]> => {
    const texts: string[] = [];
    await inProject(async (folder, build) => {
      await build();
      for (const name of readdirSync(join(folder, "out")).sort()) texts.push(name, readFileSync(join(folder, "out", name), "utf8"));
    });
    return texts;
  };
  assert.deepEqual(await read(), await read());
});

test("--check is silent on stdout and exits 0 when nothing drifted, with or without JavaScript", () =>
  inProject(async (folder, build) => {
    await build();
    assert.deepEqual(await build("--check"), { code: EXIT.OK, out: "", err: "out is up to date with tools.yaml\n" });
    for (const name of readdirSync(join(folder, "out"))) if (/\.js(\.map)?$/.test(name)) rmSync(join(folder, "out", name));
    assert.equal((await build("--check")).code, EXIT.OK);
  }), { timeoutMs: 60_000 });

test("--check prints a unified diff, exits 1 and writes nothing after each kind of drift", () =>
  inProject(async (folder, build) => {
    const out = join(folder, "out");
    const drifts: readonly (readonly [what: string, change: () => void, want: RegExp])[] = [
      ["a hand edit", () => appendFileSync(join(out, "plans.ts"), "// loosened\n"), /^--- a\/plans\.ts\n\+\+\+ b\/plans\.ts\n@@ .* @@\n(?: .*\n){3}-\/\/ loosened\n$/],
      ["a missing file", () => rmSync(join(out, "tools.ts")), /^--- \/dev\/null\n\+\+\+ b\/tools\.ts\n/],
      ["an edited script", () => appendFileSync(join(out, "handlers.js"), "steal();\n"), /-steal\(\);/],
      ["a changed guard", () => writeFileSync(join(folder, "tools.yaml"), CATALOG.replace("value: me", "value: you")), /-.*value: "me".*\n\+.*value: "you"/],
      ["a stale file of an earlier build", () => {
        const path = join(out, "manifest.json");
        writeFileSync(path, readFileSync(path, "utf8").replace('"files": {', '"files": {\n    "old.ts": "sha256:0",'));
        writeFileSync(join(out, "old.ts"), "// Code generated by toolsrv from tools.yaml; DO NOT EDIT.\n");
      }, /--- a\/old\.ts\n\+\+\+ \/dev\/null\n/],
    ];
    for (const [what, change, want] of drifts) {
      writeFileSync(join(folder, "tools.yaml"), CATALOG);
      await build();
      rmSync(join(out, "old.ts"), { force: true });
      change();
      const before = readdirSync(out).map((name) => readFileSync(join(out, name), "utf8"));
      const { code, out: printed, err } = await build("--check");
      assert.equal(code, EXIT.FINDINGS, what);
      assert.match(printed, want, what);
      assert.match(err, /^out is out of date: \d+ files? differs?; run: toolsrv build tools\.yaml --out out\n$/);
      assert.deepEqual(readdirSync(out).map((name) => readFileSync(join(out, name), "utf8")), before, what);
    }
  }), { timeoutMs: 120_000 });

test("a catalog with errors exits 2 with diagnostics, and the old output stays as it was", () =>
  inProject(async (folder, build) => {
    await build();
    const before = readFileSync(join(folder, "out", "plans.ts"), "utf8");
    writeFileSync(join(folder, "tools.yaml"), CATALOG.replace("connection: store", "connection: stor"));
    const { code, out, err } = await build();
    assert.equal(code, EXIT.USAGE);
    assert.equal(out, "");
    assert.match(err, /ERROR TS\d{4} count_things: .*stor/);
    assert.match(err, /tools\.yaml:8:\d+/);
    assert.equal(readFileSync(join(folder, "out", "plans.ts"), "utf8"), before);
    rmSync(join(folder, "out"), { recursive: true });
    await build();
    assert.equal(existsSync(join(folder, "out")), false);
  }));

test("a catalog that is not there exits 2 with its name", () =>
  inProject(async (_folder, build) => {
    const { code, err } = await build("nope.yaml");
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /nope\.yaml/);
  }));

test("--json prints one object, whatever the end", () =>
  inProject(async (folder, build) => {
    const report = (ended: Ended): { readonly [key: string]: unknown } => JSON.parse(ended.out) as { readonly [key: string]: unknown };
    const built = await build("--json");
    assert.deepEqual([report(built)["ok"], (report(built)["files"] as readonly unknown[]).length, built.err], [true, 26, ""]);
    appendFileSync(join(folder, "out", "plans.ts"), "// edited\n");
    const checked = await build("--json", "--check");
    assert.deepEqual([checked.code, report(checked)["ok"], report(checked)["drift"]], [EXIT.FINDINGS, false, ["plans.ts"]]);
    writeFileSync(join(folder, "tools.yaml"), "a: [");
    const broken = await build("--json");
    assert.deepEqual([broken.code, report(broken)["ok"], (report(broken)["diagnostics"] as readonly unknown[]).length > 0, broken.err], [EXIT.USAGE, false, true, ""]);
    const missing = await build("--json", "nope.yaml");
    assert.deepEqual([missing.code, report(missing)["ok"]], [EXIT.USAGE, false]);
  }), { timeoutMs: 60_000 });

test("--emit ir prints the plans as JSON and writes nothing", () =>
  inProject(async (folder, build) => {
    const { code, out } = await build("--emit", "ir");
    assert.equal(code, EXIT.OK);
    const ir = JSON.parse(out) as { readonly tools: { readonly count_things: { readonly kind: string } } };
    assert.equal(ir.tools.count_things.kind, "count");
    assert.deepEqual(readdirSync(folder), ["tools.yaml"]);
  }));

test("--emit ts and --emit js write one language", () =>
  inProject(async (folder, build) => {
    await build("--emit", "ts");
    assert.deepEqual(readdirSync(join(folder, "out")).filter((name) => name.includes(".js") && !name.endsWith(".json")), []);
    await build("--emit", "js");
    assert.deepEqual(readdirSync(join(folder, "out")).filter((name) => name.endsWith(".ts")), []);
  }));

test("relative paths of connections start at the catalog's folder, wherever the output is", () =>
  inProject(async (folder, build) => {
    mkdirSync(join(folder, "cat alog#1", "deep"), { recursive: true });
    writeFileSync(join(folder, "cat alog#1", "c.yaml"), CATALOG);
    const base = async (...words: readonly string[]): Promise<string | undefined> => {
      assert.equal((await build(...words)).code, EXIT.OK);
      return /base: new URL\("(.*)", import\.meta\.url\)/.exec(readFileSync(join(folder, words[2] ?? "out", "server.ts"), "utf8"))?.[1];
    };
    assert.equal(await base("tools.yaml", "--out", "out"), "../");
    assert.equal(await base("cat alog#1/c.yaml", "--out", "o/p"), "../../cat%20alog%231/");
    assert.equal(await base("cat alog#1/c.yaml", "--out", "cat alog#1/deep"), "../");
  }));

test("words that do not fit exit 2 with one line and the usage", () =>
  inProject(async (folder, build) => {
    const table: readonly (readonly [words: readonly string[], want: RegExp])[] = [
      [["a.yaml", "a.yaml"], /a\.yaml is given twice/],
    [["a.yaml", "x/a.yaml"], /a\.yaml and x\/a\.yaml would both be the project 'a'/],
      [["--emit", "cobol"], /--emit takes ts, js or ir, not 'cobol'/],
      [["--check", "--emit", "ts"], /--check compares the whole output/],
      [["--out", "."], /--out needs a folder of its own, and '\.' holds the current directory/],
      [["--out", ".."], /--out needs a folder of its own/],
      [["--out", folder], /--out needs a folder of its own/],
    ];
    for (const [words, want] of table) {
      const { code, err } = await build(...words);
      assert.equal(code, EXIT.USAGE, words.join(" "));
      assert.match(err, want);
      assert.match(err, /Usage/i);
    }
    assert.deepEqual(readdirSync(folder), ["tools.yaml"]);
  }));

test("Ctrl-C before the swap exits 130 and leaves the old output without debris", () =>
  inProject(async (folder, build) => {
    await build();
    const before = readFileSync(join(folder, "out", "plans.ts"), "utf8");
    writeFileSync(join(folder, "tools.yaml"), CATALOG.replace("value: me", "value: you"));
    const real = nodeHost();
    const io: MemoryIo = memoryIo({
      cwd: folder,
      host: { ...real, adopt: async (from, to, keep) => { await real.adopt(from, to, keep); io.interrupt(); } },
    });
    assert.equal(await run(["build"], io), EXIT.INTERRUPTED, io.err());
    assert.equal(readFileSync(join(folder, "out", "plans.ts"), "utf8"), before);
    assert.deepEqual(readdirSync(folder), ["out", "tools.yaml"]);
  }));

test("an output folder with a file of someone else under our name is refused", () =>
  inProject(async (folder, build) => {
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src", "server.ts"), "export const mine = true;\n");
    const { code, err } = await build("--out", "src");
    assert.equal(code, EXIT.USAGE);
    assert.equal(err, "toolsrv build: src/server.ts was not written by a build; move it away or choose another --out\n");
    assert.deepEqual(readdirSync(join(folder, "src")), ["server.ts"]);
  }));

test("no secret of the environment or of --env-file gets into the output", () =>
  inProject(async (folder, build) => {
    writeFileSync(join(folder, "tools.yaml"), CATALOG.replace("./store.db", "'./${TOKEN}/store.db'"));
    process.env["TOKEN"] = "s3cr3t-value";
    try {
      assert.equal((await build()).code, EXIT.OK);
    } finally {
      delete process.env["TOKEN"];
    }
    for (const name of readdirSync(join(folder, "out"))) assert.equal(readFileSync(join(folder, "out", name), "utf8").includes("s3cr3t"), false, name);
    assert.match(readFileSync(join(folder, "out", "plans.ts"), "utf8"), /concat: \["\.\/", \{ env: "TOKEN" \}, "\/store\.db"\]/);
  }));

test("the committed output of the quickstart is up to date", async () => {
  const io = memoryIo({ cwd: repo() });
  assert.equal(await run(["build", "specs/examples/quickstart/tools.yaml", "--check"], io), EXIT.OK, io.out() + io.err());
}, { timeoutMs: 60_000 });

test("--check works from any folder, wherever the types of Node are", () =>
  inProject(async (folder, build) => {
    await build();
    const here = process.cwd();
    process.chdir(folder);
    try {
      const { code, err } = await build("--check");
      assert.deepEqual([code, err], [EXIT.OK, "out is up to date with tools.yaml\n"]);
    } finally {
      process.chdir(here);
    }
  }), { timeoutMs: 60_000 });

test("the quickstart can be copied anywhere and built", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-copy-"));
  try {
    cpSync(repo("specs", "examples", "quickstart", "tools.yaml"), join(folder, "tools.yaml"));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["build"], io), EXIT.OK, io.err());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
