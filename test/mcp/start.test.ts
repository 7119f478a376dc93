/** What a compiled server loads: the runtime and the store of its catalog, nothing of the compiler. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repo } from "../lib/repo.js";
import { Lines, start } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("start");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-start-"));
const record = join(folder, "modules");
test.after(() => rmSync(folder, { recursive: true }));

/** Writes the address of every module that is loaded, imported or required, to a file, in that order. */
const RECORDER = `
import { appendFileSync } from "node:fs";
import Module, { register } from "node:module";
const file = ${JSON.stringify(record)};
const hooks = \`import { appendFileSync } from "node:fs";
export async function load(url, context, next) { appendFileSync(${JSON.stringify(record)}, url + "\\\\n"); return next(url, context); }\`;
register("data:text/javascript," + encodeURIComponent(hooks));
const inner = Module._load;
Module._load = function (request, parent, isMain) {
  try { appendFileSync(file, Module._resolveFilename(request, parent, isMain) + "\\n"); } catch {}
  return inner.call(this, request, parent, isMain);
};`;

const COMPILER = ["yaml", "handlebars", "ts-morph", "typescript", "sade", "esbuild", "json-schema-to-typescript", "openapi-typescript"];
const UNUSED = ["@qdrant", "chromadb", "@pinecone-database", "weaviate-client", "@zilliz", "pg", "ioredis", "redis", "jose", "prom-client"];

test("a server on stdio loads no compiler, no transport it does not use, and no store or record that its catalog does not name", async () => {
  const server = start(repo("out/server.js"), [], { nodeArgs: ["--import", `data:text/javascript,${encodeURIComponent(RECORDER)}`] });
  try {
    const lines = new Lines(server);
    await lines.initialize();
    const listed = (await lines.ask(2, "tools/list"))["result"] as { readonly tools: readonly unknown[] };
    assert.ok(listed.tools.length > 2);
    await lines.ask(3, "tools/call", { name: "count_movies", arguments: {} });
    lines.end();
    assert.equal(await server.ended, 0);
  } finally {
    await server.kill();
  }
  const loaded = readFileSync(record, "utf8").split("\n");
  const named = (part: string): readonly string[] => loaded.filter((module) => module.includes(part));
  assert.ok(named("/dist/runtime/adapters/sqlite/index.js").length > 0, "the recorder sees what is imported");
  assert.ok(named("/node_modules/zod/").length > 0, "the recorder sees packages");
  for (const name of [...COMPILER, ...UNUSED]) assert.deepEqual(named(`/node_modules/${name}/`), [], name);
  assert.deepEqual(named("uws"), []);
  assert.deepEqual(named("/dist/generator/"), []);
  assert.deepEqual(named("/dist/runtime/trace/"), []);
  assert.deepEqual([...named("/dist/runtime/observe/spans/"), ...named("/dist/runtime/observe/metrics.js")], [], "the catalog asks for neither");
  assert.deepEqual(loaded.filter((module) => /\/runtime\/adapters\/(?!sqlite\/)\w+\/index\./.test(module)), []);
}, { timeoutMs: 30_000 });

/** The modules that are loaded with a file, by their imports that are neither of types nor late. */
function loadedWith(path: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(path)) return seen;
  const text = readFileSync(repo(path), "utf8");
  seen.set(path, text);
  for (const [, name = ""] of text.matchAll(/^(?:import|export) (?!type )(?:[^"';]*? from )?"(\.[^"]+)";/gm)) loadedWith(join(dirname(path), name).replace(/\.js$/, ".ts"), seen);
  return seen;
}

test("what a server loads before its first call has none of Node's modules that are large and not needed then", () => {
  for (const entry of ["runtime/abi/index.ts", "runtime/serve/mcp-http/server.ts", "runtime/transport/uws.ts"]) {
    const loaded = loadedWith(entry);
    assert.ok(loaded.size > 5, entry);
    for (const [path, text] of loaded) assert.doesNotMatch(text, /^import (?!type ).* from "node:(?:http|https|http2|tls|crypto|worker_threads|child_process)"/m, `${path}, by ${entry}`);
  }
});

test.run();
