/** Who may import whom: the table of docs/architecture.md, held against every import of the repository. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import ts from "typescript";
import { repo } from "./lib/repo.js";
import { BACKENDS } from "../runtime/abi/plan.js";
import { suite } from "./lib/suite.js";

const test = suite("layout");

interface Rule {
  /** Files the rule is about; of several that match, the first one counts. */
  readonly files: string;
  /** Folder whose files they may import too, as a number of path segments; 0 means no other file. */
  readonly room: 0 | 1 | 2 | 3;
  /** Files of other rooms that they may import. */
  readonly may: readonly string[];
  /** Files that they may import as types only. */
  readonly mayTypes?: readonly string[];
  /** Files that they may import by `await import()`, or as types. */
  readonly mayLater?: readonly string[];
  /** Packages they may import; Node's own modules are free. */
  readonly packages: readonly string[] | "any";
  readonly because: string;
}

const DOOR = "runtime/abi/index.ts";
/** The abi, and the pure helpers below it, which every room may use. */
const ABI = "runtime/{abi,base}/*.ts";
/** Compiler files that belong to no phase. */
const SHARED = "generator/{ir,diagnostics,host,bug,expression,literal-reader}.ts";

const RULES: readonly Rule[] = [
  {
    files: DOOR, room: 2, may: ["runtime/call/**", "runtime/serve/**"], packages: ["zod"],
    because: "the door re-exports, by an explicit list, what generated code may use",
  },
  {
    files: "runtime/base/*.ts", room: 2, may: [], packages: ["re2js"],
    because: "base holds pure helpers that know nothing of ours",
  },
  {
    files: "runtime/abi/*.ts", room: 2, may: ["runtime/base/*.ts"], mayTypes: ["runtime/adapters/adapter.ts", "runtime/embed/embedder.ts"], packages: ["zod"],
    because: "the abi is what both sides know: zod, itself, base, and the types of the two interfaces",
  },
  {
    files: "runtime/config/*.ts", room: 2, may: [ABI, "runtime/observe/log.ts"], packages: ["smol-toml", "yaml"],
    because: "flags, env files and settings are read in one place, for both servers and the command line; yaml only by a lazy import, for a settings file",
  },
  {
    files: "runtime/auth/*.ts", room: 2, may: [ABI, "runtime/transport/types.ts"], packages: [],
    because: "authentication decides on the head of a request and knows no route",
  },
  {
    files: "runtime/http/*.ts", room: 2, may: [ABI, "runtime/transport/types.ts", "runtime/auth/*.ts"], packages: [],
    because: "what both servers do before their own routes knows neither tools nor traces",
  },
  {
    files: "runtime/adapters/*.ts", room: 0, may: [ABI, "runtime/adapters/*.ts", "runtime/adapters/*/descriptor.ts"], mayLater: ["runtime/adapters/*/index.ts"], packages: [],
    because: "what all backends share loads a backend only when a catalog names it",
  },
  {
    files: "runtime/adapters/*/**", room: 3, may: [ABI, "runtime/adapters/*.ts"], packages: "any",
    because: "a backend knows the abi and its interface, never another backend, call or mcp",
  },
  {
    files: "runtime/embed/*.ts", room: 0, may: [ABI, "runtime/embed/*.ts"], mayLater: ["runtime/embed/*/*.ts"], packages: [],
    because: "what all embedders share loads an embedder only when a catalog names it",
  },
  {
    files: "runtime/embed/*/**", room: 3, may: [ABI, "runtime/embed/*.ts"], packages: "any",
    because: "an embedder knows the abi and its interface, never another embedder, call or mcp",
  },
  {
    files: "runtime/{access,limits,observe,secrets}/**", room: 2, may: [ABI], packages: "any",
    because: "these rooms know the abi and nothing else of ours",
  },
  {
    files: "runtime/call/**", room: 2,
    may: [ABI, "runtime/adapters/{adapter,capabilities}.ts", "runtime/embed/embedder.ts", "runtime/{access,limits,observe}/**"],
    mayLater: ["runtime/embed/table.ts"],
    packages: ["zod"],
    because: "a call knows the interfaces of adapters and embedders, never a concrete backend, transport or mcp",
  },
  {
    files: "runtime/mcp/**", room: 2, may: [ABI, "runtime/call/**", "runtime/observe/**"], packages: ["zod"],
    because: "the protocol is the same on every transport and knows none",
  },
  { files: "runtime/transport/**", room: 2, may: [], packages: "any", because: "a transport moves bytes and knows only its own types" },
  {
    files: "runtime/trace-ui/**", room: 2, may: ["runtime/trace/messages/*.ts"], mayTypes: ["runtime/trace/api.types.gen.ts"], packages: ["preact", "preact/hooks", "@preact/signals", "vite", "micromark", "uplot", "uplot/dist/uPlot.min.css", "@dagrejs/dagre"],
    because: "the pages run in a browser: they know the types of the API, the pure message normaliser and nothing else of the service",
  },
  {
    files: "runtime/trace/**", room: 2, may: [ABI, "runtime/transport/types.ts", "runtime/{observe,http,auth,config}/**"], mayTypes: ["runtime/tracer/sink.ts"], packages: ["better-sqlite3", "pg", "pg-copy-streams", "zod"],
    because: "the trace service knows the abi, the transport's types, the rooms it shares with the tool server and the sink that it can be, never call or mcp",
  },
  {
    files: "runtime/tracer/**", room: 2, may: [ABI, "runtime/observe/arguments.ts"], packages: [],
    because: "the tracer is a client library: it sends events to a service and imports no part of it",
  },
  {
    files: "runtime/serve/**", room: 2, may: ["runtime/**"], packages: ["zod", "smol-toml"],
    because: "serve puts the runtime together; nothing in it knows the generator",
  },
  {
    files: SHARED, room: 0, may: [ABI, SHARED], mayTypes: ["generator/1-parse/tds.gen.ts"], packages: ["yaml"],
    because: "what all phases share knows the abi and no phase, but for the generated types of the catalog",
  },
  {
    files: "generator/3-check/**", room: 2, may: [ABI, SHARED, "runtime/adapters/{capabilities,descriptors}.ts"],
    mayTypes: ["runtime/adapters/adapter.ts"], packages: ["yaml", "zod"],
    because: "a phase knows no other phase; check runs the adapters' own pure filter compilers",
  },
  {
    files: "generator/5-emit/**", room: 2, may: [ABI, SHARED, "generator/edit/unified-diff.ts"], packages: ["handlebars", "esbuild", "ts-morph", "typescript"],
    because: "a phase knows no other phase",
  },
  {
    files: "generator/1-parse/gen-types.ts", room: 2, may: [SHARED, "generator/cli/exit.ts"], packages: ["json-schema-to-typescript"],
    because: "this script of `make gen` is no part of the phase",
  },
  {
    files: "generator/trace-cli/gen-*.ts", room: 2, may: [SHARED, "generator/1-parse/openapi.ts", "generator/cli/exit.ts"], packages: ["openapi-typescript", "typescript", "yaml", "zod"],
    because: "this script of `make gen` is no part of a command",
  },
  {
    files: "generator/trace-cli/**", room: 2, may: [ABI, "generator/cli/{command,exit}.ts", "runtime/trace/**", "runtime/serve/**"], packages: ["better-sqlite3"],
    because: "the trace commands work on the trace service's own store",
  },
  {
    files: "generator/{1-parse,2-resolve,4-plan}/**", room: 2, may: [ABI, SHARED, "runtime/adapters/descriptors.ts"], packages: ["yaml", "zod"],
    because: "a phase knows no other phase",
  },
  {
    files: "generator/proof/**", room: 2, may: [ABI, "generator/literal-reader.ts", "generator/1-parse/schema.gen.ts", "runtime/adapters/capabilities.ts"], mayTypes: ["generator/ir.ts"], packages: ["yaml"],
    because: "the proof shares no code with the phases whose work it judges: it knows the schema of catalogs, the capabilities and the stock YAML library",
  },
  {
    files: "generator/compile.ts", room: 0, may: [ABI, SHARED, "runtime/config/env-file.ts", "generator/{1-parse,2-resolve,3-check,4-plan,proof}/**"], packages: [],
    because: "compile is the table of contents of phases 1 to 4 and the proof; only build emits",
  },
  {
    files: "generator/projects.ts", room: 0, may: [ABI, SHARED], mayTypes: ["generator/compile.ts"], packages: [],
    because: "what holds between catalogs is said of what was compiled; it compiles nothing itself",
  },
  {
    files: "generator/{connect,index}.ts", room: 0,
    may: [ABI, SHARED, "generator/{compile,program,connect}.ts"], mayLater: ["runtime/call/engine.ts"], packages: [],
    because: "the library door compiles and calls; it knows no command and no transport",
  },
  {
    files: "generator/program.ts", room: 0, may: [ABI, SHARED], mayLater: ["runtime/call/handlers.ts", "runtime/adapters/table.ts"], packages: [],
    because: "the in-memory carrier takes plans as they are and loads the runtime when code is needed",
  },
  {
    files: "generator/{diff,edit,explain,load,migrate,printers,schema,trace-cli}/**", room: 2,
    may: [ABI, SHARED, "generator/compile.ts", "generator/edit/**", "generator/cli/{command,exit}.ts", "runtime/adapters/*.ts", "runtime/adapters/sqlite/**", "runtime/embed/**"],
    packages: ["yaml", "better-sqlite3", "sqlite-vec"],
    because: "a feature room is pure logic beside the phases; it knows no command and no other room",
  },
  {
    files: "generator/reference/**", room: 2,
    may: [ABI, SHARED, "generator/1-parse/{schema.gen,shape}.ts", "generator/cli/{command,commands,exit,usage}.ts", "runtime/adapters/{capabilities,descriptors}.ts"], packages: [],
    because: "docs/reference/ is written from the tables that the code itself uses",
  },
  {
    files: "generator/cli/commands/**", room: 0,
    may: [ABI, SHARED, "generator/cli/*.ts", "generator/{compile,program,projects}.ts", "generator/{diff,edit,explain,load,migrate,printers,schema,trace-cli}/**"],
    mayLater: ["generator/{5-emit,proof}/**", "generator/3-check/**", "generator/1-parse/openapi.ts", "generator/trace-cli/**", "runtime/**"],
    packages: [],
    because: "a command loads what is heavy by await import(), and no other command",
  },
  {
    files: "generator/cli/*.ts", room: 0, may: [ABI, "runtime/config/*.ts", "generator/host.ts", "generator/cli/*.ts"], mayLater: ["generator/cli/commands/*.ts"], packages: ["sade"],
    because: "the shell knows commands by their table and loads the one that runs",
  },
  {
    files: "out/**", room: 1, may: [], packages: ["zod", "toolsrv/runtime/v1", "toolsrv/runtime/v1/adapters/*"],
    because: "generated code knows the published runtime, zod and its siblings",
  },
];

/** Packages that a running server must never load, whatever a room's own rule says. */
const COMPILER_PACKAGES = ["yaml", "handlebars", "ts-morph", "typescript", "esbuild", "sade", "json-schema-to-typescript"];

/** Loads yaml when, and only when, the trace service is given a settings file of that kind. */
const YAML_SETTINGS = "runtime/config/settings-file.ts";

/** Files that may touch the process, the console and the clock. */
const EDGES = ["generator/cli/{main,io}.ts", "generator/*/gen-*.ts", "generator/host.ts", "runtime/observe/log.ts", "runtime/serve/*.ts", "runtime/trace/**/*-thread.ts", "runtime/tracer/host.ts", "runtime/trace-ui/data/browser.ts", "runtime/transport/**"];

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

test("no code asks for a backend by its name", () => {
  const literal = new RegExp(`["'\`](?:${BACKENDS.join("|")})["'\`]`);
  // The trace service has a store of its own that is called sqlite.
  const files = sources("runtime", "generator").filter((file) => !file.startsWith("runtime/trace/") && !NAMES_BACKENDS.some((glob) => matches(glob, file)));
  const code = (file: string): string => readFileSync(repo(file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  assert.deepEqual(files.flatMap((file) => code(file).split("\n").filter((line) => literal.test(line)).map((line) => `${file}: ${line.trim()}`)), []);
  assert.ok(literal.test('if (backend === "qdrant")'));
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
  if (to === DOOR) return refuse("inside the repository the door is for nobody; import the file that has the name");
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
      const constant = /^process\.(version|versions|platform|arch|execPath|pid)$/.test(use);
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

/** Globs of the table: `*` within a name, `**` at any depth, `{a,b}`. */
function matches(glob: string, path: string): boolean {
  const source = glob
    .replace(/[.+^$]/g, "\\$&")
    .replace(/\{([^}]+)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`)
    .replace(/\*\*|\*/g, (stars) => (stars === "**" ? ".*" : "[^/]*"));
  return new RegExp(`^${source}$`).test(path);
}

test.run();
