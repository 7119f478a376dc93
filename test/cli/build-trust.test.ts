/** What `build` and `build --check` believe of an output folder: its bytes, and nothing that it says of itself. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "../../generator/cli/exit.js";
import { sha256Hex } from "../../runtime/abi/fingerprint.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { run } from "../../generator/cli/main.js";
import { COUNT_CATALOG, inProject, type Ended } from "../lib/count-catalog.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("trust in out/");

test("--check fails on whatever takes part in module resolution and is not of the build", () =>
  inProject(async (folder, build) => {
    assert.equal((await build()).code, EXIT.OK);
    const out = join(folder, "out");
    const planted: readonly (readonly [path: string, plant: (path: string) => void])[] = [
      ["node_modules", (path) => (mkdirSync(join(path, "toolsrv"), { recursive: true }), writeFileSync(join(path, "toolsrv", "index.js"), ""))],
      ["node_modules", (path) => mkdirSync(path)],
      ["handlers/node_modules", (path) => mkdirSync(path, { recursive: true })],
      ["package.json", (path) => writeFileSync(path, "{}")],
      ["deep/er/package.json", (path) => (mkdirSync(join(path, ".."), { recursive: true }), writeFileSync(path, "{}"))],
      ...["x.js", "x.mjs", "x.cjs", "x.ts", "x.mts", "x.cts", "x.tsx", "x.jsx", "x.json", "x.node", "x.wasm", "Plans.JS", "tsconfig.json"].map((name) => [name, (path: string) => writeFileSync(path, "")] as const),
      ["link", (path) => symlinkSync(folder, path)],
    ];
    for (const [path, plant] of planted) {
      plant(join(out, path));
      const checked = await build("--check");
      assert.equal(checked.code, EXIT.FINDINGS, path);
      assert.match(checked.err, new RegExp(`^out/${path}: not of this build, but imports of out/ can reach it; remove it$`, "m"), checked.err);
      rmSync(join(out, path.split("/")[0] as string), { recursive: true });
    }
    writeFileSync(join(out, "package.json"), "{}");
    // A build leaves what is not its own, and says so.
    const built = await build();
    assert.equal(built.code, EXIT.OK);
    assert.match(built.err, /^toolsrv build: out\/package\.json is not of this build/m);
    const json = JSON.parse((await build("--check", "--json")).out) as { readonly ok: boolean; readonly foreign: readonly string[] };
    assert.deepEqual([json.ok, json.foreign], [false, ["package.json"]]);
    rmSync(join(out, "package.json"));
    for (const name of ["NOTES.md", "data.txt", ".gitkeep"]) writeFileSync(join(out, name), "");
    const clean = await build("--check");
    assert.deepEqual([clean.code, clean.out], [EXIT.OK, ""]);
  }), { timeoutMs: 120_000 });

test("a file of ours that became a link fails --check, whatever it leads to", () =>
  inProject(async (folder, build) => {
    await build();
    const plans = join(folder, "out", "plans.ts");
    cpSync(plans, join(folder, "elsewhere.ts"));
    rmSync(plans);
    symlinkSync(join(folder, "elsewhere.ts"), plans);
    const { code, err } = await build("--check");
    assert.equal(code, EXIT.FINDINGS);
    assert.match(err, /^out\/plans\.ts: not of this build/m);
  }), { timeoutMs: 60_000 });

/** The script with the digest that it may carry of itself made good. */
function restamped(script: string): string {
  const line = /^\/\/ from (\w{16}) to \w{16}$/m.exec(script);
  if (line === null) return script;
  const pending = script.replace(line[0], `// from ${line[1]} to ${"0".repeat(16)}`);
  return script.replace(line[0], `// from ${line[1]} to ${sha256Hex(pending).slice(0, 16)}`);
}

test("build makes an edited script again, whatever the script says of itself", () =>
  inProject(async (folder, build) => {
    await build();
    const path = join(folder, "out", "plans.js");
    const script = readFileSync(path, "utf8");
    const edited = restamped(script.replace('value: "me"', 'value: "you"'));
    assert.notEqual(edited, script);
    writeFileSync(path, edited);
    assert.equal((await build("--check")).code, EXIT.FINDINGS);
    const { out } = await build();
    assert.match(out, /^written {3}out\/plans\.js$/m);
    assert.equal(readFileSync(path, "utf8"), script);
  }), { timeoutMs: 60_000 });

test("--check says which guard the plans on the disk do not show", () =>
  inProject(async (folder, build) => {
    await build();
    const path = join(folder, "out", "plans.ts");
    const plans = readFileSync(path, "utf8");
    writeFileSync(path, plans.replace('value: "me"', 'value: "you"'));
    const { code, err } = await build("--check");
    assert.equal(code, EXIT.FINDINGS);
    assert.match(err, /^out\/plans\.ts: count_things, count: does not show that owner eq "me" always applies$/m);
    const manifest = JSON.parse(readFileSync(join(folder, "out", "manifest.json"), "utf8")) as { readonly certified: object };
    assert.deepEqual(manifest.certified, { "plans.ts": `sha256:${sha256Hex(plans)}` });
  }));

/** The build with a host that answers otherwise. */
async function buildWith(folder: string, change: (host: Host) => Partial<Host>, ...words: readonly string[]): Promise<Ended> {
  const real = nodeHost();
  const io = memoryIo({ cwd: folder, host: { ...real, ...change(real) } });
  return { code: await run(["build", ...words], io), out: io.out(), err: io.err() };
}

const leftovers = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.startsWith(".out."));

test("an output of another user is refused with one line before anything moves", () =>
  inProject(async (folder, build) => {
    await build();
    const before = readFileSync(join(folder, "out", "plans.ts"), "utf8");
    writeFileSync(join(folder, "tools.yaml"), COUNT_CATALOG.replace("value: me", "value: you"));
    mkdirSync(join(folder, "out", "mine"));
    for (const [closed, shown] of [["out", "out"], ["out/mine", "out/mine"]] as const) {
      const { code, err } = await buildWith(folder, (real) => ({ mayChange: async (path) => path !== join(folder, closed) && real.mayChange(path) }));
      assert.equal(code, EXIT.USAGE);
      assert.equal(err, `toolsrv build: cannot write in ${shown}: it is read-only or belongs to another user; change its owner or choose another --out\n`);
      assert.deepEqual([readFileSync(join(folder, "out", "plans.ts"), "utf8"), leftovers(folder)], [before, []]);
    }
  }), { timeoutMs: 60_000 });

test("a read-only folder and --out on a file are exit 2 with one line, nothing left behind", () =>
  inProject(async (folder) => {
    const refuse = async (path: string): Promise<never> => {
      throw Object.assign(new Error(`EACCES: permission denied, mkdir '${path}'`), { code: "EACCES", syscall: "mkdir", path });
    };
    const closed = await buildWith(folder, () => ({ write: refuse }));
    assert.equal(closed.code, EXIT.USAGE);
    assert.match(closed.err, /^toolsrv build: cannot make the folder '.*': permission denied\n$/);
    const json = await buildWith(folder, () => ({ write: refuse }), "--json");
    assert.deepEqual([json.code, (JSON.parse(json.out) as { ok: boolean }).ok], [EXIT.USAGE, false]);
    writeFileSync(join(folder, "file"), "mine");
    const onFile = await buildWith(folder, () => ({}), "--out", "file");
    assert.equal(onFile.code, EXIT.USAGE);
    assert.match(onFile.err, /^toolsrv build: --out needs a folder, and 'file' is a file\n/);
    assert.deepEqual([readFileSync(join(folder, "file"), "utf8"), leftovers(folder)], ["mine", []]);
  }), { timeoutMs: 60_000 });

test.run();
