/** What the machine refuses: full disks, read-only folders, native parts of another Node. Never a bug of ours, never exit 0. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import fs, { copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { makeFolder } from "../../runtime/base/make-folder.js";
import { systemProblem } from "../../runtime/base/system-error.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("cli: machine");

const scratch = mkdtempSync(join(tmpdir(), "toolsrv-machine-"));
test.after(() => rmSync(scratch, { recursive: true }));

const CATALOG = `tds_version: '1'
connections:
  store: { backend: sqlite, path: "\${DB:-./store.db}" }
defaults: { embedding: local/hashing-256 }
tools:
  - name: count_things
    kind: count
    description: Count the things of the store. Use for "how many" questions.
    target: { connection: store, collection: things }
`;

function project(): string {
  const folder = mkdtempSync(join(scratch, "p-"));
  writeFileSync(join(folder, "tools.yaml"), CATALOG);
  writeFileSync(join(folder, "rows.jsonl"), '{"name":"one"}\n');
  return folder;
}

function systemError(code: string, syscall: string, path: string): Error {
  return Object.assign(new Error(`${code}: whatever libuv says, ${syscall} '${path}'`), { code, syscall, path });
}

test("a folder that the file system refuses is an error at once, and is named", () => {
  assert.throws(() => makeFolder("/proc/nope/deep"), { code: "ENOENT" });
  const dangling = join(scratch, "dangling");
  symlinkSync(join(scratch, "nowhere"), dangling);
  assert.throws(() => makeFolder(join(dangling, "x")), { code: "EEXIST" });
  writeFileSync(join(scratch, "file"), "");
  assert.throws(() => makeFolder(join(scratch, "file", "x")), { code: "ENOTDIR" });
  makeFolder(join(scratch, "a/b/c"));
  makeFolder(join(scratch, "a/b/c"));
});

test("init into a place that takes no folders ends at once, exit 2, one line", async () => {
  for (const [place, want] of [["/proc/nope", "cannot make the folder '/proc/nope': the file system refuses it"], ["/dev/null/x", "cannot make the folder '/dev/null/x': a file is in the way of the folder"]] as const) {
    const io = memoryIo({ cwd: scratch });
    assert.equal(await run(["init", place], io), EXIT.USAGE);
    assert.equal(io.err(), `toolsrv init: ${want}\n`);
  }
});

test("load into a place that takes no folders ends at once, exit 2", async () => {
  const cwd = project();
  writeFileSync(join(cwd, ".env"), "DB=/proc/nope/store.db\n");
  const io = memoryIo({ cwd });
  assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "things", "--env-file", ".env"], io), EXIT.USAGE);
  assert.match(io.err(), /^toolsrv load: cannot make the folder '\/proc\/nope': the file system refuses it\n$/m);
});

test("what the machine refuses is exit 2 in every command, never a bug", async () => {
  const refusing = (code: string): Host => ({ ...nodeHost(), write: () => Promise.reject(systemError(code, "open", "/full/x")), replace: () => Promise.reject(systemError(code, "open", "/full/x")) });
  const table: readonly (readonly [words: readonly string[], code: string, reason: string])[] = [
    [["init", "new"], "ENOSPC", "no space left on the device"],
    [["init", "new"], "EROFS", "the file system is read-only"],
    [["init", "new"], "EDQUOT", "the disk quota is used up"],
    [["init", "new"], "EACCES", "permission denied"],
    [["init", "new"], "ENOTSUP", "whatever libuv says"],
    [["migrate", "tools.yaml", "--from", "1", "--to", "2", "--write"], "EROFS", "the file system is read-only"],
  ];
  for (const [words, code, reason] of table) {
    const io = memoryIo({ cwd: project(), host: refusing(code) });
    assert.equal(await run(words, io), EXIT.USAGE, `${words.join(" ")}: ${io.err()}`);
    assert.equal(io.err(), `toolsrv ${words[0]}: cannot open '/full/x': ${reason}\n`);
  }
});

test("a folder where a file should be is exit 2 in every command", async () => {
  const cwd = project();
  mkdirSync(join(cwd, "folder.yaml"));
  mkdirSync(join(cwd, "rows.json"));
  const table: readonly (readonly string[])[] = [
    ["validate", "folder.yaml"], ["validate", "tools.yaml", "--env-file", "folder.yaml"], ["build", "folder.yaml"], ["test", "folder.yaml", "t"], ["serve", "folder.yaml"],
    ["explain", "folder.yaml", "t"], ["diff", "folder.yaml", "tools.yaml"], ["migrate", "folder.yaml", "--from", "1", "--to", "2", "--write"],
    ["load", "folder.yaml", "rows.jsonl", "--connection", "store", "--collection", "things"], ["load", "tools.yaml", "rows.json", "--connection", "store", "--collection", "things"],
    ["trace", "import", "rows.json", "--data-dir", join(cwd, "traces")],
  ];
  for (const words of table) {
    const io = memoryIo({ cwd });
    assert.equal(await run(words, io), EXIT.USAGE, `${words.join(" ")}: ${io.err()}`);
    assert.doesNotMatch(io.err(), /internal error/, words.join(" "));
    assert.notEqual(io.err(), "", words.join(" "));
  }
});

test("a native part of another Node, or one that is not built, says what to run", async () => {
  const file = "/p/node_modules/better-sqlite3/build/Release/better_sqlite3.node";
  const otherNode = Object.assign(new Error(`The module '${file}'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 108. This version of Node.js requires\nNODE_MODULE_VERSION 115.`), { code: "ERR_DLOPEN_FAILED" });
  const otherMachine = Object.assign(new Error(`${file}: invalid ELF header`), { code: "ERR_DLOPEN_FAILED" });
  const unbuilt = new Error(`Could not locate the bindings file. Tried:\n → /p/node_modules/better-sqlite3/build/better_sqlite3.node\n → ${file}`);
  const absent = Object.assign(new Error("Cannot find package 'sade' imported from /p/dist/main.js"), { code: "ERR_MODULE_NOT_FOUND" });
  const native = `the compiled part of better-sqlite3 does not load on Node ${process.versions.node}; run: npm rebuild better-sqlite3`;
  const table: readonly (readonly [Error, string])[] = [
    [otherNode, native],
    [otherMachine, native],
    [unbuilt, native],
    [absent, "the package sade is not installed; run: npm install"],
  ];
  for (const [error, want] of table) {
    assert.equal(systemProblem(error), want);
    const io = memoryIo({ cwd: project(), host: { ...nodeHost(), write: () => Promise.reject(error) } });
    assert.equal(await run(["init", "new"], io), EXIT.USAGE);
    assert.equal(io.err(), `toolsrv init: ${want}\n`);
  }
  for (const error of [new Error("a bug"), Object.assign(new Error("x"), { code: "ERR_INVALID_ARG_TYPE" }), "text", null, Object.assign(new Error("Cannot find module '/p/dist/gone.js'"), { code: "ERR_MODULE_NOT_FOUND" })]) assert.equal(systemProblem(error), null);
});

test("a result that could not be written is no success, in any command", async () => {
  const cwd = project();
  const full = openSync("/dev/full", "w");
  const table: readonly (readonly string[])[] = [
    ["--help"], ["--version"], ["schema"], ["init", "new"], ["validate", "tools.yaml", "--json"], ["build", "tools.yaml"], ["diff", "tools.yaml", "tools.yaml", "--format", "json"], ["explain", "tools.yaml", "count_things"],
    ["load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "things"], ["test", "tools.yaml", "count_things"], ["migrate", "tools.yaml", "--from", "1", "--to", "2", "--dry-run"],
    ["trace", "stats", "--data-dir", join(cwd, "traces"), "--json"],
  ];
  for (const words of table) {
    const { code, errors } = await launch(words, cwd, ["ignore", full, "pipe"]);
    assert.equal(code, EXIT.USAGE, `${words.join(" ")}: ${errors}`);
    assert.match(errors, /toolsrv: the result is lost: standard output: cannot write: no space left on the device\n$/, words.join(" "));
  }
}, { timeoutMs: 180_000 });

test("messages that could not be written change no exit code", async () => {
  const full = openSync("/dev/full", "w");
  assert.equal((await launch(["validate", "nowhere.yaml"], scratch, ["ignore", "pipe", full])).code, EXIT.USAGE);
  assert.equal((await launch(["schema"], scratch, ["ignore", "pipe", full])).code, EXIT.OK);
});

test("a command that writes something finishes after its reader went away; any other ends quietly", async () => {
  const cwd = project();
  const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" });
  const slow = (io: ReturnType<typeof memoryIo>): Host => ({ ...nodeHost(), read: async (path) => { io.failOutput(gone); return nodeHost().read(path); } });
  for (const [words, finished] of [[["load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "things"], true], [["validate", "tools.yaml", "--json"], false]] as const) {
    const io = memoryIo({ cwd });
    assert.equal(await run(words, { ...io, host: slow(io) }), EXIT.OK, io.err());
    assert.equal(io.out() !== "", finished, words.join(" "));
  }
});

function launch(words: readonly string[], cwd: string, stdio: readonly ("ignore" | "pipe" | number)[]): Promise<{ readonly code: number | null; readonly errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(repo("bin/toolsrv"), [...words], { cwd, stdio: [...stdio] });
    let errors = "";
    child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    child.on("close", (code) => resolve({ code, errors }));
  });
}

test("the launcher says which Node it needs, and that packages are missing, in one line", async () => {
  const folder = mkdtempSync(join(scratch, "launcher-"));
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "dist/generator/cli"), { recursive: true });
  symlinkSync(repo("bin/toolsrv"), join(folder, "bin/linked"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "dist/generator/cli/main.js"), 'import "no-such-package";\n');
  copyFileSync(repo("bin/toolsrv"), join(folder, "bin/toolsrv"));
  const ended = await new Promise<{ code: number; stderr: string }>((resolve) => {
    execFile(process.execPath, ["--", join(folder, "bin/toolsrv"), "--help"], (error, _, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stderr }));
  });
  assert.deepEqual(ended, { code: 2, stderr: "toolsrv: the package no-such-package is not installed; run: npm install\n" });
  const old = await new Promise<{ code: number; stderr: string }>((resolve) => {
    const fake = "Object.defineProperty(process, 'version', { value: 'v18.20.0' })";
    writeFileSync(join(folder, "old.cjs"), fake);
    execFile(process.execPath, ["--require", join(folder, "old.cjs"), "--", repo("bin/toolsrv"), "--help"], (error, _, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stderr }));
  });
  assert.deepEqual(old, { code: 2, stderr: "toolsrv needs Node 20.19 or newer; this is v18.20.0\n" });
});

test("a new file whose write fails is not left half-written, and the error names it", async () => {
  const path = join(scratch, "new.json");
  // As a disk fills up: some of the text, then the error of a write, which knows no path.
  const writeWhole = fs.writeFileSync;
  fs.writeFileSync = (file) => {
    writeWhole(file, '{"half": ');
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  };
  syncBuiltinESMExports();
  try {
    const failed = await nodeHost().write(path, "{}").then(() => null, (error: unknown) => error);
    assert.equal(systemProblem(failed), `cannot write '${path}': no space left on the device`);
    assert.equal(existsSync(path), false);
    writeWhole(path, "old");
    await assert.rejects(nodeHost().write(path, "{}"), { code: "ENOSPC" });
    assert.equal(existsSync(path), true, "what was there may be another's");
  } finally {
    fs.writeFileSync = writeWhole;
    syncBuiltinESMExports();
  }
});

test.run();
