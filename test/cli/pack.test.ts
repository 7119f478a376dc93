/** What `npm pack` takes: all that an installed toolsrv reads, and what its README points at. `make pack` installs it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("cli: pack");

let files: ReadonlySet<string> = new Set();
test.before(() => {
  files = packed();
});

function packed(): ReadonlySet<string> {
  const printed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"], { cwd: repo(), encoding: "utf8" });
  const [{ files }] = JSON.parse(printed) as readonly [{ readonly files: readonly { readonly path: string }[] }];
  return new Set(files.map(({ path }) => path));
}

test("every link of a packed README leads to a packed file or a full address", () => {
  const dead: string[] = [];
  for (const file of [...files].filter((path) => path.endsWith("README.md"))) {
    for (const [, target = ""] of readFileSync(repo(file), "utf8").matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (!/^[a-z]+:/.test(target) && !files.has(normalize(join(dirname(file), target)))) dead.push(`${file}: ${target}`);
    }
  }
  assert.deepEqual(dead, []);
  assert.ok(files.has("README.md"));
}, { timeoutMs: 60_000 });

test("the package holds what commands read, and no test, bench or source", () => {
  for (const file of ["bin/toolsrv", "LICENSE", "CHANGELOG.md", "specs/tds.schema.json", "templates/init/gitignore", "templates/init/tools.yaml", "dist/generator/cli/main.js", "dist/runtime/abi/index.d.ts"]) assert.ok(files.has(file), file);
  assert.deepEqual([...files].filter((path) => /^(dist\/)?(test|bench)\/|^(generator|runtime)\/|\.db$|\.env$/.test(path)), []);
}, { timeoutMs: 60_000 });

test("types that the published declarations use come with the package", () => {
  const { dependencies } = JSON.parse(readFileSync(repo("package.json"), "utf8"));
  // NodeJS and Buffer stand in the declarations of runtime/v1, so a user's type-check needs them.
  assert.ok("@types/node" in dependencies);
});

test.run();
