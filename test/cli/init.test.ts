/** `toolsrv init`: what it writes, what it leaves alone, and that the result works as it is. */
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "yaml";
import { type Installation, nextSteps, packageJson } from "../../generator/cli/init-package.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("cli: init");

const FILES = [".env.example", ".gitattributes", ".github/workflows/tools.yml", ".gitignore", "data/articles.jsonl", "package.json", "tools.yaml"];

const scratch = mkdtempSync(join(tmpdir(), "toolsrv-init-"));
test.after(() => rmSync(scratch, { recursive: true }));

let made = 0;
function emptyFolder(): string {
  const folder = join(scratch, `project-${++made}`);
  mkdirSync(folder);
  return folder;
}

async function init(cwd: string, ...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const io = memoryIo({ cwd });
  const code = await run(["init", ...words], io);
  return { code, out: io.out(), err: io.err() };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1).split(sep).join("/"))
    .sort();
}

test("init writes a project and names each file on stdout", async () => {
  const cwd = emptyFolder();
  const { code, out, err } = await init(cwd, "support");
  assert.equal(code, 0);
  assert.deepEqual(filesIn(join(cwd, "support")), FILES);
  assert.deepEqual(out.trimEnd().split("\n").sort(), FILES.map((file) => `Wrote support/${file}`).sort());
  assert.match(err, /^\nNext:\n {2}cd support\n/);
});

test("init without a directory writes into the current one", async () => {
  const cwd = emptyFolder();
  const { code, out } = await init(cwd);
  assert.equal(code, 0);
  assert.deepEqual(filesIn(cwd), FILES);
  assert.match(out, /^Wrote tools\.yaml$/m);
  assert.equal(JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")).name, basename(cwd));
});

test("init never overwrites", async () => {
  const cwd = emptyFolder();
  for (const file of FILES) {
    mkdirSync(join(cwd, file, ".."), { recursive: true });
    writeFileSync(join(cwd, file), `mine: ${file}\n`);
  }
  const { code, out } = await init(cwd);
  assert.equal(code, 0);
  for (const file of FILES) assert.equal(readFileSync(join(cwd, file), "utf8"), `mine: ${file}\n`);
  assert.doesNotMatch(out, /Wrote/);
});

test("init adds what is missing, and no sample rows to a catalog of the user's own", async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "tools.yaml"), "mine: true\n");
  const { code, out } = await init(cwd);
  assert.equal(code, 0);
  assert.deepEqual(filesIn(cwd), FILES.filter((file) => file !== "data/articles.jsonl"));
  assert.match(out, /^Kept tools\.yaml$/m);
  assert.match(out, /^Wrote \.env\.example$/m);
});

test("the desktop block is JSON on stdout, whatever the name holds", async () => {
  for (const name of ["support", `say "hi"`, "C:\\tools", "naïve ${x}"]) {
    const cwd = emptyFolder();
    const { code, out, err } = await init(cwd, "--print-desktop-config", "--name", name);
    assert.equal(code, 0);
    const { mcpServers } = JSON.parse(out);
    assert.deepEqual(Object.keys(mcpServers), [name, "filesystem"]);
    const { command, args } = mcpServers[name];
    assert.equal(command, process.execPath);
    assert.deepEqual(args, ["--", repo("bin/toolsrv"), "serve", join(cwd, "tools.yaml"), "--env-file", join(cwd, ".env.example"), "--name", name]);
    assert.deepEqual(mcpServers["filesystem"].args, ["-y", "@modelcontextprotocol/server-filesystem", cwd]);
    assert.match(err, /^Wrote tools\.yaml$/m);
  }
});

test("the desktop block names .env once there is one", async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, ".env"), "");
  const { out } = await init(cwd, "--print-desktop-config");
  assert.ok(JSON.parse(out).mcpServers[basename(cwd)].args.includes(join(cwd, ".env")));
});

test("a file where the directory should be is a clear error, exit 2", async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "support"), "");
  const { code, out, err } = await init(cwd, "support");
  assert.equal(code, 2);
  assert.equal(out, "");
  assert.equal(err, `toolsrv init: cannot make the folder '${join(cwd, "support")}': a file is in the way of the folder\n`);
});

test("the name of the package is one that npm takes", async () => {
  for (const [name, want] of [["My Tools", "my-tools"], ["@@@", "tools"], [".hidden_", "hidden_"], ["Ünï", "n"]] as const) {
    const cwd = emptyFolder();
    await init(cwd, "--name", name);
    assert.equal(JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")).name, want);
  }
});

const zodVersion = "4.6.7";
const installed = (resolved: string | undefined, root = "/app/node_modules/toolsrv"): Installation => ({
  root, version: "0.1.0", zodVersion,
  lock: resolved === undefined ? null : { packages: { "node_modules/toolsrv": { version: "0.1.0", resolved } } },
});

test("package.json takes toolsrv from where this one came, and asks the registry only if it was there", () => {
  const table: readonly (readonly [what: string, installation: Installation, directory: string, want: string])[] = [
    ["the registry", installed("https://registry.npmjs.org/toolsrv/-/toolsrv-0.1.0.tgz"), "/app/demo", "^0.1.0"],
    ["another registry", installed("https://npm.example.com/toolsrv/-/toolsrv-0.1.0.tgz"), "/app/demo", "^0.1.0"],
    ["a tarball", installed("file:toolsrv-0.1.0.tgz"), "/app", "file:toolsrv-0.1.0.tgz"],
    ["a tarball beside", installed("file:../toolsrv-0.1.0.tgz"), "/app/demo", "file:../../toolsrv-0.1.0.tgz"],
    ["a tarball on the web", installed("https://example.com/t.tgz"), "/app/demo", "https://example.com/t.tgz"],
    ["git", installed("git+ssh://git@example.com/toolsrv.git#abc"), "/app/demo", "git+ssh://git@example.com/toolsrv.git#abc"],
    ["a link, or a global one", installed(undefined), "/home/me/demo", "file:../../../app/node_modules/toolsrv"],
    ["a checkout", installed(undefined, "/src/toolsrv"), "/src/demo", "file:../toolsrv"],
    ["a lock that is none", { ...installed(undefined), lock: { packages: [1] } }, "/app/demo", "file:../node_modules/toolsrv"],
  ];
  for (const [what, installation, directory, want] of table) {
    const { dependencies } = packageJson({ directory, name: "demo", hadCatalog: false, ownPackage: null }, installation);
    assert.equal((dependencies as { toolsrv: string }).toolsrv, want, what);
  }
});

test("beside a package.json of the user's own the next steps are commands that exist there", () => {
  const state = { directory: "/app", name: "app", hadCatalog: false };
  const tarball = installed("file:../it's/toolsrv-0.1.0.tgz");
  const bare = nextSteps(".", { ...state, ownPackage: '{"name":"mine","type":"commonjs"}' }, tarball);
  assert.equal(bare, [
    "", "Next:", `  npm install '../it'\\''s/toolsrv-0.1.0.tgz' zod@^${zodVersion}`, "  npm pkg set type=module",
    "  npx toolsrv load tools.yaml data/articles.jsonl --connection main --collection articles --id id --text title,body --types updated_at:datetime",
    "  npx toolsrv build && node out/server.js", "", "package.json takes toolsrv from /it's/toolsrv-0.1.0.tgz; on another machine or in CI, name a place that is there.", "",
  ].join("\n"));
  const ready = nextSteps(".", { ...state, hadCatalog: true, ownPackage: '{"type":"module","dependencies":{"toolsrv":"1"},"devDependencies":{"zod":"4"}}' }, installed("https://registry.npmjs.org/toolsrv/-/toolsrv-0.1.0.tgz"));
  assert.equal(ready, "\nNext:\n  npx toolsrv build && node out/server.js\n");
  assert.match(nextSteps("x y", { ...state, ownPackage: "no json" }, tarball), /^\nNext:\n {2}cd 'x y'\n {2}npm install /);
  for (const step of bare.matchAll(/npm run (\S+)/g)) assert.fail(`${step[0]}: there is no such script`);
});

test("without sample rows there is no script that loads them", async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "tools.yaml"), "mine: true\n");
  const { err } = await init(cwd);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")).scripts), ["validate", "build", "start"]);
  assert.match(err, /^\nNext:\n {2}npm install\n {2}npm run build && npm start\n/);
});

test("the sample rows have the fields that the catalog uses", () => {
  const rows = readFileSync(repo("templates/init/articles.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(rows.length, 60);
  assert.equal(new Set(rows.map((row) => row.id)).size, 60);
  const catalog = parse(readFileSync(repo("templates/init/tools.yaml"), "utf8"));
  const categories = new Set(catalog.tools[0].parameters[0].enum);
  for (const row of rows) {
    assert.ok(categories.has(row.category), row.id);
    assert.ok(["public", "staff"].includes(row.audience), row.id);
    assert.match(row.updated_at, /^20\d\d-\d\d-\d\d$/);
    for (const tool of catalog.tools) for (const field of tool.output?.fields ?? []) assert.ok(field in row, `${row.id} has ${field}`);
  }
});

test("the catalog shows how each other store is connected, and where its schema is", () => {
  const text = readFileSync(repo("templates/init/tools.yaml"), "utf8");
  assert.match(text, /^# yaml-language-server: \$schema=\.\/node_modules\/toolsrv\/specs\/tds\.schema\.json\n/);
  const shown = text.split("\n").filter((line) => line.startsWith("  # ")).map((line) => line.slice(4)).join("\n");
  const connections = parse(shown.slice(shown.indexOf("qdrant:"), shown.indexOf("Built in")));
  assert.deepEqual(Object.values(connections).map((connection) => (connection as { backend: string }).backend), ["qdrant", "pgvector", "chroma", "pinecone", "weaviate", "milvus"]);
});

test("the workflow checks the committed output", () => {
  const workflow = parse(readFileSync(repo("templates/init/workflow.yml"), "utf8"));
  const commands = workflow.jobs.check.steps.map((step: { run?: string }) => step.run);
  assert.ok(commands.includes("npx toolsrv build --check"));
});

test("the workflow refuses a pull request that breaks callers or weakens isolation, and no other", async () => {
  const cwd = emptyFolder();
  await init(cwd);
  const workflow = parse(readFileSync(join(cwd, ".github/workflows/tools.yml"), "utf8"));
  const step = workflow.jobs.check.steps.find((each: { run?: string }) => each.run?.includes("toolsrv diff") === true);
  assert.deepEqual([step.if, step.env.BASE], ["github.event_name == 'pull_request'", "${{ github.event.pull_request.base.sha }}"]);
  const git = (...words: readonly string[]): string => execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], { cwd, encoding: "utf8" });
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "-m", "nothing yet");
  const first = git("rev-parse", "HEAD").trim();
  git("add", "tools.yaml");
  git("commit", "--quiet", "-m", "the catalog");
  const second = git("rev-parse", "HEAD").trim();
  const before = readFileSync(join(cwd, "tools.yaml"), "utf8");
  const fence = /^ +static_filters:\n(?: +- .*\n| +must:.*\n)+/m;
  assert.match(before, fence);
  const table: readonly (readonly [what: string, base: string, edit: (text: string) => string, code: number, told: RegExp])[] = [
    ["the first catalog", first, (text) => text, 0, /^$/],
    ["no change", second, (text) => text, 0, /^$/],
    ["a comment", second, (text) => `${text}# a note\n`, 0, /^$/],
    ["a guard less", second, (text) => text.replace(fence, ""), 1, /^::error file=tools\.yaml,line=\d+.*isolation-weakening/m],
    ["a tool less", second, (text) => text.replace("name: search_help", "name: find_help"), 1, /^::error file=tools\.yaml.*breaking/m],
  ];
  for (const [what, base, edit, code, told] of table) {
    writeFileSync(join(cwd, "tools.yaml"), edit(before));
    const ended = await shell(step.run.replaceAll("npx toolsrv", JSON.stringify(repo("bin/toolsrv"))), cwd, { BASE: base });
    assert.equal(ended.code, code, `${what}: ${ended.output}`);
    assert.match(ended.output, told, what);
  }
}, { timeoutMs: 60_000 });

/** Runs a step as the runner of a workflow does. */
function shell(script: string, cwd: string, env: { readonly [name: string]: string }): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    execFile("bash", ["-e", "-o", "pipefail", "-c", script], { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }));
  });
}

test("the catalog passes its own validator without a word", async () => {
  const cwd = emptyFolder();
  await init(cwd);
  const io = memoryIo({ cwd });
  const code = await run(["validate", "tools.yaml", "--strict", "--json", "--env-file", ".env.example"], io);
  assert.deepEqual(JSON.parse(io.out()), []);
  assert.equal(code, 0);
});

test("init, load, build and node out/server.js work offline with no edits", async () => {
  const cwd = emptyFolder();
  await init(cwd);
  // What `npm install` makes of the two file: dependencies.
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(repo(), join(cwd, "node_modules/toolsrv"));
  symlinkSync(repo("node_modules/zod"), join(cwd, "node_modules/zod"));
  const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
  for (const name of ["load", "validate", "build"]) {
    const [program, ...words] = scripts[name].split(" ");
    assert.equal(program, "toolsrv");
    const { code, stderr } = await launch(repo("bin/toolsrv"), words, cwd);
    assert.equal(code, 0, `${name}: ${stderr}`);
  }
  assert.equal(scripts.start, "node out/server.js");
  const search = { name: "search_help", arguments: { query: "flat tyre", limit: 3 } };
  const count = { name: "count_articles", arguments: { audience: "staff" } };
  // kb-009 is for staff; the fence of get_article hides it.
  const fenced = { name: "get_article", arguments: { id: "kb-009" } };
  const results = await talk(join(cwd, "out/server.js"), [
    ["initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }],
    ["tools/call", search],
    ["tools/call", count],
    ["tools/call", fenced],
  ]);
  assert.equal(results[0]?.protocolVersion, "2025-06-18");
  assert.equal(results[1]?.structuredContent?.rows[0]?.title, "Report a flat tyre");
  assert.equal(results[2]?.structuredContent?.count, 13);
  assert.equal(results[3]?.structuredContent?.count, 0);
}, { timeoutMs: 60_000 });

function launch(program: string, args: readonly string[], cwd: string): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile(program, [...args], { cwd }, (error, _, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stderr }));
  });
}

interface Result {
  readonly protocolVersion?: string;
  readonly structuredContent?: { readonly rows: readonly { readonly title: string }[]; readonly count: number };
}

/** Sends requests to a server over stdio, one after the other, and returns the results in their order. */
async function talk(server: string, requests: readonly (readonly [method: string, params: unknown])[]): Promise<readonly Result[]> {
  const child = spawn(process.execPath, [server], { stdio: ["pipe", "pipe", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const results: Result[] = [];
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    for (const [id, [method, params]] of requests.entries()) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error(`the server ended: ${log}`);
      const answer: { readonly id: number; readonly result: Result } = JSON.parse(line.value);
      assert.equal(answer.id, id);
      results.push(answer.result);
    }
  } finally {
    child.stdin.end();
    child.kill("SIGTERM");
  }
  return results;
}

test.run();
