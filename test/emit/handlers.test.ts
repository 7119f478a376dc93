/** Printed handlers and the ones in memory, over a real store: the same envelopes, the same refusals. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { emit } from "../../generator/5-emit/files.js";
import { createRender } from "../../generator/5-emit/templates.js";
import { transpile } from "../../generator/5-emit/transpile.js";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { compile } from "../../generator/compile.js";
import { programOf } from "../../generator/program.js";
import type { Engine, Program, ToolCode } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { memoryAdapter } from "../call/program.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { inScratch } from "./printed.js";

const test = suite("printed handlers");

const ROWS = Array.from({ length: 30 }, (_, n) => ({
  id: `a${n}`, name: `article ${n} ${n % 2 === 0 ? "red" : "blue"} shoe`, details: { colour: n % 2 === 0 ? "red" : "blue" }, price: n * 10, size: 38 + (n % 3) * 2,
  stocked: n % 4 !== 0, tags: n % 5 === 0 ? ["new", "sale"] : ["sale"], added: `2020-01-${String((n % 28) + 1).padStart(2, "0")}`, supplier: "s", note: `call 55512${n}`,
}));

const CALLS: readonly (readonly [tool: string, args: object])[] = [
  ["search_all", { query: "red shoe" }], ["search_all", {}], ["search_all", { limit: 3 }], ["search_all", { limit: 51 }], ["search_all", { query: 5 }],
  ["search_some", { about: "shoe", name: "%1%" }], ["search_some", { about: "blue", name: "%", colour: ["blue"], max_price: 200, sizes: [40], in_stock: false }],
  ["search_some", { about: "shoe", name: "%", tags: ["new", "sale"], since: "2020-01-05", limit: 9 }], ["search_some", { about: "", name: "x" }], ["search_some", { name: "x" }],
  ["get_article", { number: "a7" }], ["get_article", { number: "none" }], ["get_article", {}], ["count_articles", {}], ["count_articles", { colour: "red" }],
  ["list_articles", { limit: 4 }], ["list_articles", { limit: null }],
];

/** What a call ends in, without the time it took. */
async function ended(engine: Engine, tool: string, args: object): Promise<unknown> {
  try {
    const { latency_ms: _, ...envelope } = await engine.call(tool, args, { requestId: "t", principal: { id: null, claims: {}, headers: {} }, debug: true });
    return envelope;
  } catch (error) {
    return String(error);
  }
}

/** The program of a catalog in memory, and the one whose plans, validators and handlers are printed. */
async function onBothCarriers(text: string, folder: string, use: (programs: readonly [Program, Program]) => Promise<void>): Promise<void> {
  const { value } = compile({ path: "tools.yaml", text });
  assert.ok(value);
  const { plans, certificates } = value;
  const files = emit({ plans, certificates, base: "./", queries: new Map() }, createRender());
  await inScratch(async (scratch) => {
    const door = JSON.stringify(new URL("../../runtime/abi/index.js", import.meta.url).href);
    writeFileSync(join(scratch, "package.json"), '{"type":"module"}');
    for (const [path, script] of await transpile(files)) writeFileSync(join(scratch, path), script.replaceAll('"toolsrv/runtime/v1"', door));
    const load = async (path: string): Promise<unknown> => import(pathToFileURL(join(scratch, path)).href);
    const memory = programOf(plans, { base: pathToFileURL(`${folder}/`) });
    const { plans: printedPlans, settings } = (await load("plans.js")) as Pick<Program, "plans" | "settings">;
    await use([memory, { ...memory, plans: printedPlans, settings, code: async () => (await load("handlers.js")) as ToolCode }]);
  });
}

test("every kind answers alike from memory and from print, refusals included", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-handlers-"));
  try {
    const text = readFileSync(repo("test", "golden", "emit", "kinds", "tools.yaml"), "utf8");
    writeFileSync(join(folder, "tools.yaml"), text);
    writeFileSync(join(folder, "rows.jsonl"), ROWS.map((row) => JSON.stringify(row)).join("\n"));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "shop", "--collection", "articles", "--id", "id", "--text", "name"], io), EXIT.OK, io.err());
    await onBothCarriers(text, folder, async (programs) => {
      const engines = programs.map((program) => createEngine(program, { env: new Map() }));
      const answers = new Set<string>();
      for (const [tool, args] of CALLS) {
        const [a, b] = await Promise.all(engines.map((engine) => ended(engine, tool, args)));
        assert.deepEqual(b, a, `${tool} ${JSON.stringify(args)}`);
        answers.add(JSON.stringify(a));
      }
      assert.ok(answers.size > CALLS.length / 2, "the calls differ from each other");
      await Promise.all(engines.map((engine) => engine.close()));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 30_000 });

test("a deadline of the tool, and that of the catalog, end a call alike", async () => {
  const text = `tds_version: '2'
connections: { shop: { backend: sqlite, path: ./shop.db } }
deadline_s: 0.03
tools:
  - name: count_quickly
    kind: count
    description: Count the articles of the shop, or give up at once.
    target: { connection: shop, collection: articles }
    deadline_s: 0.02
  - name: count_patiently
    kind: count
    description: Count the articles of the shop, or give up a bit later.
    target: { connection: shop, collection: articles }
`;
  const signals: AbortSignal[] = [];
  const adapter = memoryAdapter([], { count: (_collection, _filter, signal) => (signals.push(signal), new Promise(() => undefined)) });
  await onBothCarriers(text, tmpdir(), async (programs) => {
    for (const program of programs) {
      const engine = createEngine({ ...program, adapters: { sqlite: async () => ({ adapter }) } }, { env: new Map() });
      assert.equal(await ended(engine, "count_quickly", {}), "ToolError: tool 'count_quickly' did not finish within 0.02 s (QueryTimeout)");
      assert.equal(await ended(engine, "count_patiently", {}), "ToolError: tool 'count_patiently' did not finish within 0.03 s (QueryTimeout)");
    }
    assert.deepEqual(signals.map((signal) => signal.aborted), [true, true, true, true], "the store is told");
  });
});

test.run();
