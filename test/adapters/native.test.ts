/** Compiled parts that do not load: said when a server starts, with what to do. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBackendError } from "../../runtime/abi/errors.js";
import { checkNativeModules } from "../../runtime/adapters/sqlite/native.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("native modules");
const folder = mkdtempSync(join(tmpdir(), "toolsrv-native-"));
test.after(() => rmSync(folder, { recursive: true }));

/** What the check says in a folder with these files under node_modules. */
function problemWith(files: { readonly [path: string]: string }): string {
  const home = mkdtempSync(join(folder, "x-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(home, "node_modules", path, ".."), { recursive: true });
    writeFileSync(join(home, "node_modules", path), text);
  }
  try {
    checkNativeModules(createRequire(join(home, "x.js")));
    return "none";
  } catch (error) {
    assert.ok(isBackendError(error) && error.kind === "setup", String(error));
    return error.message;
  }
}

const SQLITE = { "better-sqlite3/package.json": "{}" };
const REBUILD = `the compiled part of better-sqlite3 does not load on Node ${process.versions.node}; run: npm rebuild better-sqlite3`;

test("this installation loads", () => checkNativeModules());

test("a part that was not built, was built for another machine, or is not installed says what to do", () => {
  const bindings = 'module.exports = () => { throw new Error("Could not locate the bindings file. Tried: /a/b") };';
  assert.equal(problemWith({ ...SQLITE, "bindings/index.js": bindings }), REBUILD);
  assert.equal(problemWith({ ...SQLITE, "better-sqlite3/build/Release/better_sqlite3.node": "no ELF" }), REBUILD);
  assert.equal(problemWith({}), "better-sqlite3 is not installed; run: npm install");
  const found = { ...SQLITE, "bindings/index.js": "module.exports = () => ({});" };
  assert.match(problemWith(found), /^sqlite-vec cannot be loaded on \S+; install toolsrv with its optional packages$/);
  assert.equal(problemWith({ ...found, "sqlite-vec/index.js": 'exports.getLoadablePath = () => "vec0";' }), "none");
});

/** Exit code and standard error of the built quickstart on a Node for which better-sqlite3 was not built. */
function startWith(hook: string): Promise<readonly [number | null, string]> {
  const child = spawn(process.execPath, ["--require", hook, "--", repo("out/server.js")], { stdio: ["pipe", "ignore", "pipe"] });
  let err = "";
  child.stderr.on("data", (chunk) => (err += String(chunk)));
  child.stdin.end();
  return new Promise((resolve) => child.on("close", (code) => resolve([code, err])));
}

test("a server whose store's compiled part does not load does not start: exit code 2", async () => {
  const hook = join(folder, "hook.cjs");
  writeFileSync(hook, `const { dlopen } = process;
process.dlopen = (module, file, ...rest) => {
  if (!file.endsWith("better_sqlite3.node")) return dlopen(module, file, ...rest);
  throw Object.assign(new Error("The module '" + file + "' was compiled against a different Node.js version using NODE_MODULE_VERSION 108."), { code: "ERR_DLOPEN_FAILED" });
};`);
  assert.deepEqual(await startWith(hook), [2, `toolsrv: ${REBUILD}\n`]);
});

test.run();
