/** The compiled parts of this backend: better-sqlite3 and the extension of sqlite-vec. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { BackendError } from "../../abi/errors.js";
import { nativeModuleProblem } from "../../base/native-module.js";

/** Loads better-sqlite3's compiled part, without the package around it (some 3 ms), and looks for sqlite-vec's extension. */
export function checkNativeModules(require: NodeJS.Require = createRequire(import.meta.url)): void {
  try {
    loadBinding(require);
  } catch (error) {
    throw new BackendError("setup", "sqlite", nativeModuleProblem(error, "better-sqlite3") ?? "better-sqlite3 is not installed; run: npm install", { cause: error });
  }
  try {
    (require("sqlite-vec") as { getLoadablePath(): string }).getLoadablePath();
  } catch (error) {
    throw extensionProblem(error);
  }
}

/** sqlite-vec is an extension of SQLite: it depends on the machine, not on Node. */
export function extensionProblem(cause: unknown): BackendError {
  return new BackendError("setup", "sqlite", `sqlite-vec cannot be loaded on ${process.platform}-${process.arch}; install toolsrv with its optional packages`, { cause });
}

function loadBinding(require: NodeJS.Require): void {
  const manifest = require.resolve("better-sqlite3/package.json");
  const built = join(dirname(manifest), "build", "Release", "better_sqlite3.node");
  if (existsSync(built)) require(built);
  // Another place: the package's own search knows them all, and says so when there is none.
  else (createRequire(manifest)("bindings") as (what: object) => unknown)({ bindings: "better_sqlite3.node", module_root: dirname(manifest) });
}
