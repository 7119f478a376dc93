/** Several catalogs, one output: what is printed, golden; what a second build finds; and that it serves. */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { emit, emitProjects, type ProjectInput } from "../../generator/5-emit/files.js";
import { isLock } from "../../generator/5-emit/manifest.js";
import { createRender } from "../../generator/5-emit/templates.js";
import { typecheck } from "../../generator/5-emit/typecheck.js";
import { compile } from "../../generator/compile.js";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { projectName } from "../../runtime/abi/projects.js";
import { queriesOf } from "./printed.js";
import { memoryIo } from "../lib/io.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { Lines, start, type Served } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("several catalogs");

const GOLDEN = repo("test", "golden", "projects");
const FILES = ["support.yaml", "class.yaml"];
const here = fileURLToPath(import.meta.url);
const toolsrv = join(here, `../../e2e/toolsrv${extname(here)}`);

async function inputOf(file: string): Promise<ProjectInput> {
  const { value } = compile({ path: file, text: readFileSync(join(GOLDEN, file), "utf8") }, { target: "build" });
  assert.ok(value);
  return { name: projectName(file), plans: value.plans, certificates: value.certificates, base: "../../", queries: await queriesOf(value.plans) };
}

function filesBelow(folder: string, at = ""): readonly string[] {
  return readdirSync(join(folder, at), { withFileTypes: true }).flatMap((entry) => {
    const path = at === "" ? entry.name : `${at}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}

test("each catalog has its own folder; entry, lock and manifest stand above", async () => {
  const files = emitProjects({ projects: await Promise.all(FILES.map(inputOf)) }, createRender());
  const out = join(GOLDEN, "out");
  if (process.env["UPDATE"] === "1") {
    rmSync(out, { recursive: true, force: true });
    for (const [path, text] of files) {
      mkdirSync(dirname(join(out, path)), { recursive: true });
      writeFileSync(join(out, path), text);
    }
  }
  assert.deepEqual([...filesBelow(out)].sort(), [...files.keys()].sort());
  for (const [path, text] of files) assert.equal(text, readFileSync(join(out, path), "utf8"), path);
  assert.ok((files.get("server.ts") ?? "").split("\n").length <= 20);
  assert.ok(isLock(files.get("tools.lock.json") ?? ""));
  await typecheck(files);
}, { timeoutMs: 60_000 });

test("what is printed of a catalog is the same beside others as alone, but for the way to its own folder", async () => {
  const render = createRender();
  const together = emitProjects({ projects: await Promise.all(FILES.map(inputOf)) }, render);
  for (const file of FILES) {
    const folder = file === "class.yaml" ? "class_" : "support";
    const alone = emit(await inputOf(file), render);
    for (const name of ["plans.ts", "schemas.ts", "handlers.ts", "tools.ts"]) assert.equal(together.get(`${folder}/${name}`), alone.get(name), `${folder}/${name}`);
  }
});

/** A project folder outside the repository, in which generated code finds the package. */
async function inProject(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-projects-"));
  try {
    for (const file of FILES) cpSync(join(GOLDEN, file), join(folder, file));
    mkdirSync(join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    symlinkSync(repo(), join(folder, "node_modules", "toolsrv"), "dir");
    for (const name of ["zod", "tsx"]) symlinkSync(repo("node_modules", name), join(folder, "node_modules", name), "dir");
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function command(folder: string, ...words: readonly string[]): Promise<Said> {
  const io = memoryIo({ cwd: folder });
  return { code: await run([...words], io), out: io.out(), err: io.err() };
}

test("--check, another choice of catalogs, and hand edits: the output is what the catalogs make", () =>
  inProject(async (folder) => {
    const built = await command(folder, "build", ...FILES, "--no-trace");
    assert.equal(built.code, EXIT.OK, built.err);
    assert.match(built.out, /built 2 tools of support\.yaml, class\.yaml: /);
    assert.equal((await command(folder, "build", ...FILES, "--no-trace", "--check")).code, EXIT.OK);
    const swapped = await command(folder, "build", "class.yaml", "support.yaml", "--no-trace", "--check");
    assert.equal(swapped.code, EXIT.FINDINGS);
    assert.match(swapped.out, /projects\.ts/);
    writeFileSync(join(folder, "out/class_/plans.ts"), readFileSync(join(folder, "out/class_/plans.ts"), "utf8").replace('"open"', '"any"'));
    const edited = await command(folder, "build", ...FILES, "--no-trace", "--check");
    assert.deepEqual([edited.code, /class_\/plans\.ts/.test(edited.out)], [EXIT.FINDINGS, true]);
    assert.equal((await command(folder, "build", "support.yaml", "--no-trace")).code, EXIT.OK);
    assert.deepEqual([existsSync(join(folder, "out/class_/plans.ts")), existsSync(join(folder, "out/projects.ts")), existsSync(join(folder, "out/plans.ts"))], [false, false, true]);
    const report = JSON.parse((await command(folder, "build", ...FILES, "--no-trace", "--json")).out);
    assert.deepEqual([report.ok, report.catalogs], [true, FILES]);
  }), { timeoutMs: 60_000 });

test("a tool's name that two catalogs have is reported with both places, by every command, and nothing is written", () =>
  inProject(async (folder) => {
    cpSync(join(folder, "support.yaml"), join(folder, "copy.yaml"));
    for (const words of [["build", "--no-trace"], ["validate"], ["serve"]]) {
      const { code, err } = await command(folder, ...words, "support.yaml", "copy.yaml");
      assert.equal(code, EXIT.USAGE);
      assert.match(err, /TS0220 search_articles: the tool 'search_articles' is also in support\.yaml:8:11\n {2}--> copy\.yaml:8:11\n/, words.join(" "));
    }
    assert.equal(existsSync(join(folder, "out")), false);
    const [found] = JSON.parse((await command(folder, "validate", "support.yaml", "copy.yaml", "--json")).out).filter(({ code }: { code: string }) => code === "TS0220");
    assert.deepEqual([found.file, found.line, found.column, found.tool], ["copy.yaml", 8, 11, "search_articles"]);
  }));

test("files of one name cannot be served together, whatever their folders and case", () =>
  inProject(async (folder) => {
    mkdirSync(join(folder, "x"));
    cpSync(join(folder, "class.yaml"), join(folder, "x/Support.yml"));
    for (const words of [["build"], ["validate"], ["serve"]]) {
      const { code, err } = await command(folder, ...words, "support.yaml", "x/Support.yml");
      assert.equal(code, EXIT.USAGE);
      assert.match(err, /support\.yaml and x\/Support\.yml would both be the project 'Support'/);
    }
  }));

test("validate reports each catalog's problems under its own name, and sums up", () =>
  inProject(async (folder) => {
    writeFileSync(join(folder, "class.yaml"), readFileSync(join(folder, "class.yaml"), "utf8").replace("kind: count", "kind: cuont"));
    const { code, err } = await command(folder, "validate", ...FILES);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /--> class\.yaml:\d+:\d+/);
    assert.match(err, /support\.yaml: tools\/list costs about \d+ tokens for role 'viewer' \(1 tool\)\n1 tool\(s\) compiled\n$/);
  }));

test("diff compares builds and catalogs of a server by name", () =>
  inProject(async (folder) => {
    assert.equal((await command(folder, "build", ...FILES, "--no-trace", "--out", "old")).code, EXIT.OK);
    writeFileSync(join(folder, "class.yaml"), readFileSync(join(folder, "class.yaml"), "utf8").replace("    static_filters: [{ path: state, value: open }]\n", ""));
    assert.equal((await command(folder, "build", ...FILES, "--no-trace", "--out", "new")).code, EXIT.OK);
    assert.equal((await command(folder, "diff", "old/manifest.json", "old/manifest.json")).out, "no difference\n");
    const weaker = await command(folder, "diff", "old/manifest.json", "new/manifest.json", "--fail-on", "isolation-weakening");
    assert.equal(weaker.code, EXIT.FINDINGS);
    assert.match(weaker.out, /isolation-weakening\n {2}count_orders · guard: state eq "open" is no longer always ANDed \(class\.yaml:9\)/);
    const fewer = await command(folder, "diff", "old/manifest.json", "support.yaml");
    assert.match(fewer.out, /breaking\n {2}catalog class · catalog: the catalog 'class' is gone\n {2}count_orders · tool: the tool is gone\n/);
    const changes = JSON.parse((await command(folder, "diff", "class.yaml", "old/manifest.json", "--format", "json")).out);
    assert.deepEqual(changes.map((change: { class: string; project: string; tool: string | null }) => [change.class, change.project, change.tool]), [
      ["isolation-weakening", "support", null], ["behavioural", "class", "count_orders"], ["additive", "support", null], ["additive", "support", "search_articles"],
    ]);
  }), { timeoutMs: 60_000 });

// ---- serving -----------------------------------------------------------------------------------------------------

const post = (method: string, params: object = {}, headers: { readonly [name: string]: string } = {}): string =>
  rawPost("/mcp", JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), { "mcp-protocol-version": "2025-11-25", ...headers });

async function portOf(served: Served): Promise<number> {
  return Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]);
}

test("from catalogs or built, a caller sees the default catalog and none of the others, and /readyz asks them all", () =>
  inProject(async (folder) => {
    assert.equal((await command(folder, "build", ...FILES, "--no-trace")).code, EXIT.OK);
    const http = ["--http", "127.0.0.1:0", "--auth", "none"];
    const ways: readonly (readonly [string, readonly string[]])[] = [[toolsrv, ["serve", ...FILES]], [join(folder, "out/server.js"), []]];
    for (const [file, words] of ways) {
      for (const [flags, want, hidden] of [[[], "search_articles", "count_orders"], [["--default-project", "class"], "count_orders", "search_articles"]] as const) {
        const served = start(file, [...words, ...http, ...flags], { cwd: folder });
        try {
          const port = await portOf(served);
          assert.match(served.stderr(), /— 2 tools of 2 catalogs on http/);
          const { tools } = JSON.parse((await rawHttp(port, post("tools/list"))).body).result;
          assert.deepEqual(tools.map(({ name }: { name: string }) => name), ["list_available_tools", "run_tool", want]);
          const other = await rawHttp(port, post("tools/call", { name: hidden, arguments: { query: "x" } }, { "x-tenant-id": "acme" }));
          assert.match(JSON.parse(other.body).result.content[0].text, new RegExp(`unknown tool '${hidden}'`));
          const ready = await rawHttp(port, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
          const body = JSON.parse(ready.body);
          assert.deepEqual([ready.status, body.compiled_tools, Object.keys(body.connections), body.embed], [503, 2, ["support.main", "class.main"], { ok: true, provider: "support:local" }]);
          // A tenant of one catalog's own: the header is read, and the missing file of its store is what fails.
          if (want === "count_orders") {
            assert.equal((await rawHttp(port, post("tools/call", { name: want }))).status, 403);
            assert.match((await rawHttp(port, post("tools/call", { name: want }, { "x-tenant-id": "acme" }))).body, /sales\.db|backend_unreachable/);
          }
          served.child.kill("SIGTERM");
          assert.equal(await served.ended, 0);
        } finally {
          await served.kill();
        }
      }
    }
  }), { timeoutMs: 60_000 });

test("on stdio the default catalog is served; one that is not there is exit 2, and routing by claim is refused", () =>
  inProject(async (folder) => {
    const served = start(toolsrv, ["serve", ...FILES, "--default-project", "class", "--no-watch"], { cwd: folder });
    try {
      const lines = new Lines(served);
      await lines.initialize();
      const { tools } = (await lines.ask(1, "tools/list"))["result"] as { readonly tools: readonly { readonly name: string }[] };
      assert.deepEqual(tools.map(({ name }) => name), ["list_available_tools", "run_tool", "count_orders"]);
      assert.match(served.stderr(), /— 1 tool of class, one of 2 catalogs, on stdio/);
    } finally {
      await served.kill();
    }
    const wrong = await command(folder, "serve", ...FILES, "--default-project", "clas");
    assert.deepEqual([wrong.code, /'clas'; there are support, class/.test(wrong.err)], [EXIT.USAGE, true]);
    const claim = await command(folder, "serve", ...FILES, "--route-by-claim", "org");
    assert.deepEqual([claim.code, /--route-by-claim/.test(claim.err)], [EXIT.USAGE, true]);
  }), { timeoutMs: 20_000 });

test("generated code is type-checked wherever the command is run", () =>
  inProject(async (folder) => {
    const built = start(toolsrv, ["build", ...FILES, "--no-trace", "--typecheck"], { cwd: folder });
    assert.equal(await built.ended, 0, built.stderr());
  }), { timeoutMs: 60_000 });

test.run();
