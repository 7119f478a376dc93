/** `toolsrv test`, from its words to the envelope. */
import * as assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv test");

const CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: "\${DB}" }
defaults: { embedding: local/hashing-256 }
tools:
  - name: search_things
    kind: search
    description: Search the things of the store by their texts. Use for anything.
    target: { connection: store, collection: things }
    query: { param: query }
    static_filters: [{ path: owner, value: me }]
    parameters:
      - { name: min_size, path: size, dtype: integer, op: gte }
    output: { limit_default: 200, limit_max: 200 }
`;

const folder = mkdtempSync(join(tmpdir(), "toolsrv-test-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "tools.yaml"), CATALOG);
writeFileSync(join(folder, ".env"), "DB=./store.db\n");
writeFileSync(join(folder, "none.env"), "DB=./none.db\n");
writeFileSync(join(folder, "rows.jsonl"), Array.from({ length: 200 }, (_, n) => JSON.stringify({ owner: n % 2 === 0 ? "me" : "you", size: n, text: `${"x".repeat(150)} ${n} 😀` })).join("\n"));

async function toolsrv(...words: readonly string[]) {
  const io = memoryIo({ cwd: folder });
  return { code: await run(words, io), out: io.out(), err: io.err() };
}

test.before(async () => {
  const { code, err } = await toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "things", "--env-file", ".env");
  assert.equal(code, EXIT.OK, err);
});

const one = (...words: readonly string[]) => toolsrv("test", "tools.yaml", "search_things", "--env-file", ".env", ...words);

test("stdout is the envelope, indented by two, and nothing else", async () => {
  const { code, out, err } = await one("--args", '{"min_size": 195}');
  assert.deepEqual([code, err], [EXIT.OK, ""]);
  const envelope = JSON.parse(out) as { rows: { size: number; owner: string }[] };
  assert.equal(out, `${JSON.stringify(envelope, null, 2)}\n`);
  assert.deepEqual(envelope.rows.map(({ size, owner }) => [size, owner]), [[196, "me"], [198, "me"]]);
});

test("--show-plan prints schema and plan on stderr and the native query in the envelope", async () => {
  const { out, err } = await one("--args", '{"min_size": 195}', "--show-plan");
  const lines = err.trimEnd().split("\n");
  assert.deepEqual(JSON.parse(lines.at(-1) ?? ""), { kind: "search", collection: "things", mode: "dense" });
  const shown = JSON.parse(lines.slice(0, -1).join("\n")) as { name: string; inputSchema: { properties: object } };
  assert.deepEqual([shown.name, Object.keys(shown.inputSchema.properties)], ["search_things", ["query", "min_size", "limit"]]);
  assert.ok(!err.includes("owner"), "guards are not shown to the model");
  const envelope = JSON.parse(out) as { compiled_query: { sql: string; params: unknown[] } };
  assert.deepEqual(envelope.compiled_query.params, ["me", 195, 200, 0]);
  assert.match(envelope.compiled_query.sql, / AND \(\(f\."owner" = \?\) AND \(f\."size" >= \? AND f\."size" < ''\)\)\n/);
});

test("the result is cut at 20,000 characters, never within one, and a line says so", async () => {
  const { code, out, err } = await one();
  assert.equal(code, EXIT.OK);
  assert.match(err, /^toolsrv test: the result has \d\d,\d{3} characters, printed are the first (20,000|19,999); ask for fewer rows or fields\n$/);
  assert.ok(out.length === 20_001 || out.length === 20_000, String(out.length));
  assert.ok(out.endsWith("\n") && !/\p{Surrogate}/u.test(out));
});

test("exit codes: 2 for what was asked wrongly, 3 for a call that failed", async () => {
  const table: readonly (readonly [words: readonly string[], code: number, message: RegExp])[] = [
    [["test", "tools.yaml", "search_thing", "--env-file", ".env"], EXIT.USAGE, /^toolsrv test: tools\.yaml has no tool 'search_thing'; did you mean 'search_things'\?\nits tools: search_things(, \w+)*\n$/],
    [["test", "tools.yaml", "run_tool", "--env-file", ".env"], EXIT.USAGE, /^toolsrv test: tools\.yaml has no tool 'run_tool'\nits tools: search_things/],
    [["test", "tools.yaml", "search_things", "--env-file", ".env", "--args", '{"min_size":"x"}'], EXIT.USAGE, /^invalid_arguments: min_size: expected .*, received string\n$/],
    [["test", "tools.yaml", "search_things", "--env-file", ".env", "--args", "[1]"], EXIT.USAGE, /arguments: expected object, received array/],
    [["test", "tools.yaml", "search_things", "--env-file", ".env", "--args", "{"], EXIT.USAGE, /--args is not JSON/],
    [["test", "none.yaml", "search_things"], EXIT.USAGE, /none\.yaml/],
    [["test", "tools.yaml", "search_things"], EXIT.USAGE, /DB/],
    [["test", "tools.yaml", "search_things", "--env-file", "none.env"], EXIT.LIVE, /^backend_unreachable: the database does not exist; create it with: toolsrv load tools\.yaml FILE --connection \w+ --collection NAME$/m],
  ];
  for (const [words, code, message] of table) {
    const ended = await toolsrv(...words);
    assert.equal(ended.code, code, words.join(" "));
    assert.match(ended.err, message);
    assert.equal(ended.out, "");
  }
});

test.run();
