/**
 * Who may import whom: the rules of lib/import-rules.ts checked against every import of the repository, and the page
 * docs/architecture.md checked against the rules and the folders. UPDATE=1 (`make golden`) rewrites the page's table.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import ts from "typescript";
import { repo } from "./lib/repo.js";
import { BACKENDS, SECRET_PROVIDERS } from "../runtime/abi/plan.js";
import { providerNames } from "./lib/provider-names.js";
import { PUBLIC_ABI, RULES, rulesTable } from "./lib/import-rules.js";
import { suite } from "./lib/suite.js";

const test = suite("layout");

const PAGE = "docs/architecture.md";

/** Packages that a running server must never load, whatever a room's own rule says. */
const COMPILER_PACKAGES = ["yaml", "handlebars", "handlebars/runtime.js", "ts-morph", "typescript", "esbuild", "sade", "json-schema-to-typescript"];

/** Loads yaml when, and only when, the trace service is given a settings file of that kind. */
const YAML_SETTINGS = "runtime/config/settings-file.ts";

/** Files that may touch the process, the console and the clock. */
const EDGES = ["generator/cli/{main,io}.ts", "generator/*/gen-*.ts", "generator/host.ts", "runtime/observe/log.ts", "runtime/adapters/pgvector/folder-lock.ts", "runtime/serve/*.ts", "runtime/trace/**/*-thread.ts", "runtime/tracer/host.ts", "runtime/trace-ui/data/browser.ts", "runtime/transport/**"];

interface Import {
  readonly from: string;
  /** Path in the repository, or a package name. */
  readonly to: string;
  readonly how: "value" | "type" | "later";
  readonly line: number;
}

test("every import keeps the rules", () => {
  const problems = sources("runtime", "generator", "out").flatMap((file) => importsOf(file).map(checkImport)).filter((problem) => problem !== null);
  assert.deepEqual(problems, []);
});

/** Names of backends, as string literals, belong to the backend's own folder and to the two tables. */
const NAMES_BACKENDS = ["runtime/adapters/*/**", "runtime/abi/plan.ts", "generator/1-parse/*.gen.ts"];

const OWN_STORES = ["runtime/trace/**", "runtime/auth/**", "runtime/config/auth-*.ts"];

test("no code asks for a backend by its name", () => {
  const literal = new RegExp(`["'\`](?:${BACKENDS.join("|")})["'\`]`);
  // The trace service and builtin OAuth have stores of their own that are called sqlite.
  const files = sources("runtime", "generator").filter((file) => !OWN_STORES.some((glob) => matches(glob, file)) && !NAMES_BACKENDS.some((glob) => matches(glob, file)));
  const code = (file: string): string => readFileSync(repo(file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  assert.deepEqual(files.flatMap((file) => code(file).split("\n").filter((line) => literal.test(line)).map((line) => `${file}: ${line.trim()}`)), []);
  assert.ok(literal.test('if (backend === "qdrant")'));
});

test("no code asks for a provider of credentials by its name", () => {
  const literal = new RegExp(`["'\`](?:${SECRET_PROVIDERS.filter((name) => name !== "env").join("|")})["'\`]`);
  const allowed = ["runtime/secrets/*/**", "runtime/abi/plan.ts", "generator/1-parse/*.gen.ts"];
  const files = sources("runtime", "generator").filter((file) => !allowed.some((glob) => matches(glob, file)));
  assert.deepEqual(files.filter((file) => literal.test(readFileSync(repo(file), "utf8"))), []);
  assert.ok(literal.test('if (provider === "vault")'));
});

/** Names, models and packages of providers belong to the provider's own folder and to the list of names. */
const NAMES_PROVIDERS = ["runtime/{embed,rerank,expand}/*/**", "runtime/abi/plan.ts", "generator/1-parse/*.gen.ts"];

test("no code asks for a provider of embeddings, reranking or expansion by its name", () => {
  // Traces show providers of other programs: the trace service knows them from its own tables.
  const files = sources("runtime", "generator").filter((file) => !/^(runtime\/(trace|trace-ui|tracer)|generator\/trace-cli)\//.test(file) && !NAMES_PROVIDERS.some((glob) => matches(glob, file)));
  assert.deepEqual(files.flatMap((file) => providerNames(file, readFileSync(repo(file), "utf8"))), []);
});

test("the name of a provider is found in each way of asking for it", () => {
  const table: readonly (readonly [string, string | null])[] = [
    [`if (name === "openai") go();`, "openai"],
    [`const known = ["hosted_cloud"];`, "hosted_cloud"],
    [`const isLocal = embedding.provider === "local";`, "local"],
    [`const provider = written ?? "local";`, "local"],
    [`const chosen = rerank.provider ?? "http";`, "http"],
    [`switch (expand.provider) { case "none": break; }`, "none"],
    [`const plan = { provider: "local" };`, "local"],
    [`type Plan = { provider: "http" | "cross_encoder" };`, "http"],
    [`["http", "hosted"].includes(provider);`, "hosted"],
    ["const BUILT_IN = /^hashing-(?:256|512)$/;", "hashing-"],
    ["const help = `run npm i @huggingface/transformers`;", "@huggingface/transformers"],
    [`const fallback = "BAAI/bge-small-en-v1.5";`, "BAAI/bge-small-en-v1.5"],
    [`const transport = "http"; const mode = tenancy.mode === "none"; readStored("local", "theme");`, null],
    [`import { a } from "openai";`, null],
  ];
  for (const [text, name] of table) assert.equal(providerNames("a.ts", text)[0] ?? null, name === null ? null : `a.ts:1 names ${name}`, text);
});

test("every file has its rule", () => {
  const without = sources("runtime", "generator", "out").filter((file) => !RULES.some((rule) => matches(rule.files, file)));
  assert.deepEqual(without, []);
});

test("the process, the console and the clock are touched only at the edges", () => {
  const found = sources("runtime", "generator")
    .filter((file) => !EDGES.some((glob) => matches(glob, file)))
    .flatMap((file) => touches(file, readFileSync(repo(file), "utf8")));
  assert.deepEqual(found, []);
  assert.deepEqual(touches("a.ts", "// process.exit(1)\nconst x = { process: 1 };\nprocess.exit(1); x.process;"), ["a.ts:3 uses process.exit"]);
});

test("packages are pinned, and the MCP SDK is of major version 2", () => {
  const manifest: { readonly [kind: string]: { readonly [name: string]: string } } = JSON.parse(readFileSync(repo("package.json"), "utf8"));
  const needed = { ...manifest["dependencies"], ...manifest["optionalDependencies"], ...manifest["devDependencies"] };
  const loose = Object.entries(needed).filter(([name, version]) => !name.startsWith("@types/") && !/^(\d+\.\d+\.\d+\S*|npm:\S+@\d+\.\d+\.\d+)$/.test(version));
  assert.deepEqual(loose, []);
  for (const name of ["@modelcontextprotocol/core", "@modelcontextprotocol/client"]) assert.match(needed[name] ?? "", /^2\./, name);
});

test("every rule is the first match of some file", () => {
  const used = new Set(sources("runtime", "generator", "out").map((file) => RULES.find((rule) => matches(rule.files, file))));
  assert.deepEqual(RULES.filter((rule) => !used.has(rule)).map((rule) => rule.files), []);
});

test("the table of docs/architecture.md is made of the rules", () => {
  const page = readFileSync(repo(PAGE), "utf8");
  const [table = ""] = /^\| Files \|[^]*?(?=\n\n)/m.exec(page) ?? [];
  if (process.env["UPDATE"] === "1" && table !== "") writeFileSync(repo(PAGE), page.replace(table, () => rulesTable()));
  else assert.equal(table, rulesTable(), `${PAGE} has another table than test/lib/import-rules.ts; run make golden`);
});

test("every folder is in the tree of docs/architecture.md, and everything in the tree exists", () => {
  const named = treeOf(readFileSync(repo(PAGE), "utf8"));
  const missing = foldersOf(sources("runtime", "generator")).filter((folder) => !named.includes(folder));
  assert.deepEqual(missing, [], `add a line for each of these folders to the tree of ${PAGE}`);
  assert.deepEqual(named.filter((path) => !existsSync(repo(path))), [], `these lines of the tree of ${PAGE} name nothing; remove them`);
});

test("the tree is read by indentation, several names a line", () => {
  const tree = "```\nruntime/    knows plans\n  abi/ base/   shared/ is prose\n  call/\n    steps/   one file a step\n  a.ts       a file\ntest/ bench/  tests\n```";
  assert.deepEqual(treeOf(tree), ["runtime", "runtime/abi", "runtime/base", "runtime/call", "runtime/call/steps", "runtime/a.ts", "test", "bench"]);
  assert.deepEqual(foldersOf(["runtime/call/call.ts", "runtime/call/steps/bind.ts", "runtime/call/steps/deep/a.ts", "generator/ir.ts"]), ["runtime/call", "runtime/call/steps"]);
});

test("no rule names a folder or file that does not exist", () => {
  const files = sources("runtime", "generator", "out");
  const packages = (glob: string): boolean => glob.startsWith("toolsrv/");
  const globs = RULES.flatMap((rule) => [rule.files, ...rule.may, ...(rule.mayTypes ?? []), ...(rule.mayLater ?? [])]).filter((glob) => !packages(glob));
  const stale = [...new Set(globs.flatMap(alternatives))].filter((glob) => !files.some((file) => matches(glob, file)));
  assert.deepEqual(stale, []);
});

test("files with JSX are checked too", () => {
  const files = sources("runtime");
  assert.ok(files.some((file) => file.endsWith(".tsx")));
  const [problem] = scan("runtime/trace-ui/view/app.tsx", `import { a } from "../../abi/codes.js";\nexport const A = () => <p>{a}</p>;`).map(checkImport);
  assert.match(problem ?? "", /^runtime\/trace-ui\/view\/app\.tsx:1 may not import runtime\/abi\/codes\.ts/);
});

test("an import against a rule is found, in each of its forms", () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ["runtime/mcp/list.ts", `import { a } from "../transport/types.js";`, false],
    ["runtime/mcp/list.ts", `import type { A } from "../transport/types.js";`, false],
    ["runtime/mcp/list.ts", `export { a } from "../transport/types.js";`, false],
    ["runtime/mcp/list.ts", `type A = import("../transport/types.js").A;`, false],
    ["runtime/mcp/list.ts", `const a = async () => import("../transport/types.js");`, false],
    ["runtime/mcp/list.ts", `import { a } from "../abi/codes.js";`, true],
    ["runtime/mcp/list.ts", `import { a } from "../abi/index.js";`, false],
    ["runtime/mcp/list.ts", `import { parse } from "yaml";`, false],
    ["runtime/mcp/list.ts", `import { join } from "node:path";`, true],
    ["runtime/abi/call.ts", `import type { Adapter } from "../adapters/adapter.js";`, true],
    ["runtime/abi/call.ts", `import { Adapter } from "../adapters/adapter.js";`, false],
    ["runtime/abi/index.ts", `export { serve } from "../serve/main.js";`, true],
    ["runtime/serve/main.ts", `import { compile } from "../../generator/compile.js";`, false],
    ["runtime/adapters/sqlite/index.ts", `import { a } from "../qdrant/filter.js";`, false],
    ["runtime/adapters/table.ts", `const load = () => import("./sqlite/index.js");`, true],
    ["runtime/adapters/table.ts", `import { a } from "./sqlite/index.js";`, false],
    ["generator/4-plan/tools.ts", `import { a } from "../3-check/index.js";`, false],
    ["generator/cli/commands/build.ts", `const emit = await import("../../5-emit/index.js");`, true],
    ["generator/cli/commands/build.ts", `import { emit } from "../../5-emit/index.js";`, false],
    ["generator/cli/commands/build.ts", `import { run } from "./validate.js";`, false],
    ["generator/cli/commands/build.ts", `import { compile } from "../../compile.js";`, true],
    ["out/server.ts", `import { a } from "toolsrv/runtime/v1/call/bind";`, false],
    ["out/server.ts", `import { a } from "../runtime/abi/plan.js";`, false],
    ["out/server.ts", `import { plans } from "./plans.js";`, true],
  ];
  for (const [file, text, fine] of table) {
    const problem = scan(file, text).map(checkImport).find((found) => found !== null) ?? null;
    assert.equal(problem === null, fine, `${file}: ${text} → ${problem ?? "allowed"}`);
  }
});

/** The rule's text if the import breaks one, else `null`. */
function checkImport({ from, to, how, line }: Import): string | null {
  const refuse = (because: string): string => `${from}:${line} may not import ${to}: ${because}`;
  if (to.startsWith("node:")) return null;
  if (to === PUBLIC_ABI) return refuse("only generated code imports the public module; import the file that has the name");
  const rule = RULES.find((entry) => matches(entry.files, from));
  if (rule === undefined) return null;
  const among = (globs: readonly string[] = []): boolean => globs.some((glob) => matches(glob, to));
  if (!isFile(to)) {
    if (from.startsWith("runtime/") && COMPILER_PACKAGES.includes(to) && !(from === YAML_SETTINGS && to === "yaml")) return refuse("a running server loads no part of the compiler");
    return rule.packages === "any" || among(rule.packages) ? null : refuse(rule.because);
  }
  const folder = (file: string): string => file.split("/").slice(0, rule.room).join("/");
  if (rule.room > 0 && folder(from) === folder(to)) return null;
  if (among(rule.may)) return null;
  if (how === "type" && (among(rule.mayTypes) || among(rule.mayLater))) return null;
  if (how === "later" && among(rule.mayLater)) return null;
  return refuse(rule.because);
}

function isFile(target: string): boolean {
  return /^(\.\.?\/)*(runtime|generator|test|bench|out|templates|specs|dist)\//.test(target);
}

function importsOf(file: string): readonly Import[] {
  return scan(file, readFileSync(repo(file), "utf8"));
}

function scan(from: string, text: string): readonly Import[] {
  const found: Import[] = [];
  const source = ts.createSourceFile(from, text, ts.ScriptTarget.Latest, false);
  const add = (node: ts.Node | undefined, how: Import["how"]): void => {
    if (node === undefined || !ts.isStringLiteralLike(node)) return;
    const line = source.getLineAndCharacterOfPosition(node.pos).line + 1;
    found.push({ from, to: resolve(from, node.text), how, line });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly === true ? "type" : "value");
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? "type" : "value");
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, "type");
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], "later");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Uses of `console.*`, `Date.now` and of `process` but for what cannot vary within a run. */
function touches(file: string, text: string): readonly string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const use = `${node.expression.text}.${node.name.text}`;
      const constant = /^process\.(version|versions|platform|arch|execPath|pid|constrainedMemory)$/.test(use);
      if (/^(process|console)\.|^Date\.now$/.test(use) && !constant) {
        found.push(`${file}:${source.getLineAndCharacterOfPosition(node.expression.end).line + 1} uses ${use}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return normalize(join(dirname(from), specifier)).split(sep).join("/").replace(/\.js$/, ".ts");
}

/** TypeScript files of some folders, as paths in the repository. */
function sources(...folders: readonly string[]): readonly string[] {
  return folders
    .filter((folder) => existsSync(repo(folder)))
    .flatMap((folder) => readdirSync(repo(folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file.split(sep).join("/")}`))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
    .sort();
}

/** Paths that the first fenced block of a page names, as an indented tree: a line has one or more names, then prose. */
function treeOf(page: string): readonly string[] {
  const [, block = ""] = /^```\n([^]*?)^```/m.exec(page) ?? [];
  const parents: string[] = [];
  return block.split("\n").flatMap((line) => {
    const [, indent = "", names = ""] = /^( *)(\S+(?: \S+)*)/.exec(line) ?? [];
    if (names === "") return [];
    const depth = indent.length / 2;
    const paths = names.split(" ").map((name) => [...parents.slice(0, depth), name.replace(/\/$/, "")].join("/"));
    parents[depth] = names.split(" ").at(-1)?.replace(/\/$/, "") ?? "";
    return paths;
  });
}

/** Folders of some files, at most two below runtime/ or generator/. */
function foldersOf(files: readonly string[]): readonly string[] {
  const folders = files.flatMap((file) => {
    const parts = file.split("/").slice(0, -1);
    return [2, 3].filter((length) => length <= parts.length).map((length) => parts.slice(0, length).join("/"));
  });
  return [...new Set(folders)];
}

/** A glob without `{a,b}`: one for each combination of its members. */
function alternatives(glob: string): readonly string[] {
  const [group, members = ""] = /\{([^}]+)\}/.exec(glob) ?? [];
  return group === undefined ? [glob] : members.split(",").flatMap((member) => alternatives(glob.replace(group, member)));
}

/** Globs of the table: `*` within a name, `**` at any depth, `{a,b}`. */
function matches(glob: string, path: string): boolean {
  const source = glob
    .replace(/[.+^$]/g, "\\$&")
    .replace(/\{([^}]+)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`)
    .replace(/\*\*|\*/g, (stars) => (stars === "**" ? ".*" : "[^/]*"));
  return new RegExp(`^${source}$`).test(path);
}

test.run();
