/** `toolsrv introspect` and `toolsrv drift`, from their words to files and exit codes. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import type { SchemaExport } from "../../generator/schema/export.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv introspect and drift");

const CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: "\${DB}" }
defaults: { embedding: local/hashing-256 }
tools:
  - name: search_things
    kind: search
    description: Search the things of the store by their texts.
    target: { connection: store, collection: things }
    query: { param: query }
    parameters: [{ name: min_size, path: size, dtype: integer, op: gte }]
    output: { redact: [{ path: owner, mode: mask }] }
  - name: count_others
    kind: count
    description: Count what is in the other collection.
    target: { connection: store, collection: others }
`;

const folder = mkdtempSync(join(tmpdir(), "toolsrv-introspect-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const rows = (extra: (n: number) => object): string => Array.from({ length: 40 }, (_, n) => JSON.stringify({ title: `thing ${n}`, owner: `o${n}@x.org`, ...extra(n) })).join("\n");
write("tools.yaml", CATALOG);
write(".env", "DB=./store.db\n");

async function toolsrv(...words: readonly string[]) {
  const io = memoryIo({ cwd: folder });
  return { code: await run(words, io), out: io.out(), err: io.err() };
}

const ask = (...words: readonly string[]) => toolsrv("introspect", "tools.yaml", "--connection", "store", "--env-file", ".env", ...words);
const drift = (...words: readonly string[]) => toolsrv("drift", "tools.yaml", "schema.json", "--connection", "store", "--env-file", ".env", "--experimental", ...words);

/** With a catalog that says nothing of the type of `size`. */
async function load(collection: string, text: string, ...words: readonly string[]): Promise<void> {
  write("rows.jsonl", text);
  write("plain.yaml", CATALOG.replace(/    parameters.*\n/, ""));
  const { code, err } = await toolsrv("load", "plain.yaml", "rows.jsonl", "--connection", "store", "--collection", collection, "--id", "title", "--env-file", ".env", ...words);
  assert.equal(code, EXIT.OK, err);
}

test.before(async () => {
  await load("things", rows((n) => ({ size: n })));
  await load("others", rows(() => ({ kind: "a" })));
});

test("the export is a file of fields and types, indented by two, without a newline at its end", async () => {
  const { code, out, err } = await ask();
  assert.deepEqual([code, out, err], [EXIT.OK, "", "wrote schema.json: 2 collection(s), 6 field(s)\n"]);
  const text = read("schema.json");
  const schema = JSON.parse(text) as SchemaExport;
  assert.equal(text, JSON.stringify(schema, null, 2));
  assert.deepEqual(Object.keys(schema), ["connection", "backend", "redacted", "collections"]);
  const [others, things] = schema.collections;
  assert.deepEqual([others?.name, things?.name, things?.sampled_n, things?.introspection, things?.vector], ["others", "things", 40, "typed", { sparse: true, dim: 256 }]);
  assert.deepEqual(things?.fields.find(({ path }) => path === "size"), { path: "size", dtype: "integer", null_rate: 0, enum: null, examples: [0, 1, 10], provenance: "native", nullable: false, indexed: false });
  assert.equal(things?.native?.embedded_by, "local/hashing-256");
  assert.ok(!JSON.stringify(things).includes("@x.org"), "a redacted field shows no value");
});

test("--audit prints the same JSON and writes nothing; --redact-examples leaves out every value", async () => {
  rmSync(join(folder, "schema.json"), { force: true });
  const { code, out } = await ask("--audit", "--redact-examples");
  const schema = JSON.parse(out) as SchemaExport;
  assert.deepEqual([code, schema.redacted, existsSync(join(folder, "schema.json"))], [EXIT.OK, true, false]);
  for (const { fields } of schema.collections) for (const { examples, enum: members } of fields) assert.deepEqual([examples, members], [[], null]);
});

test("--collections names some of them, and one that does not exist is a live failure", async () => {
  const { out } = await ask("--audit", "--collections", "things, ");
  const schema = JSON.parse(out) as SchemaExport;
  assert.deepEqual([schema.collections.map(({ name }) => name), schema.partial], [["things"], true]);
  const { code, err } = await ask("--audit", "--collections", "thinks");
  assert.deepEqual([code, err], [EXIT.LIVE, "toolsrv introspect: connection 'store': there is no collection 'thinks'; it has others, things\n"]);
});

test("errors in tools do not keep anyone from looking at a store", async () => {
  write("broken.yaml", CATALOG.replace("dtype: integer", "dtype: text"));
  const { code, out } = await toolsrv("introspect", "broken.yaml", "--connection", "store", "--env-file", ".env", "--audit");
  assert.deepEqual([code, (JSON.parse(out) as SchemaExport).collections.length], [EXIT.OK, 2]);
});

const REFUSED: readonly (readonly [words: readonly string[], code: number, says: RegExp])[] = [
  [["introspect", "tools.yaml"], EXIT.USAGE, /missing --connection/],
  [["introspect", "none.yaml", "--connection", "store"], EXIT.USAGE, /TS0002/],
  [["introspect", "tools.yaml", "--connection", "stor", "--env-file", ".env"], EXIT.LIVE, /no connection 'stor'; did you mean 'store'/],
  [["introspect", "tools.yaml", "--connection", "store"], EXIT.LIVE, /\$\{DB\} has no value/],
  [["introspect", "tools.yaml", "--connection", "store", "--env-file", ".env", "--audit", "--out", "x.json"], EXIT.USAGE, /leave out --out/],
  [["introspect", "tools.yaml", "--connection", "store", "--env-file", ".env", "--out", "rows.jsonl/x.json"], EXIT.USAGE, /in the way|cannot/],
  [["drift", "tools.yaml", "schema.json", "--connection", "store"], EXIT.USAGE, /add --experimental/],
  [["drift", "tools.yaml", "none.json", "--connection", "store", "--experimental"], EXIT.USAGE, /no such file/],
  [["drift", "tools.yaml", "rows.jsonl", "--connection", "store", "--experimental"], EXIT.USAGE, /no schema export/],
];

for (const [words, want, says] of REFUSED) {
  test(`exit ${want}: ${words.join(" ")}`, async () => {
    const { code, err } = await toolsrv(...words);
    assert.equal(code, want, err);
    assert.match(err, says);
  });
}

test("a store that is not there is exit 3 for introspect and for drift, not drift", async () => {
  await ask();
  write("gone.env", "DB=./gone.db\n");
  for (const words of [["introspect", "tools.yaml"], ["drift", "tools.yaml", "schema.json", "--experimental"]]) {
    const { code, err } = await toolsrv(...words, "--connection", "store", "--env-file", "gone.env");
    assert.equal(code, EXIT.LIVE, err);
    assert.match(err, /connection 'store'/);
  }
});

test("a file that is read is never written over, also through a link", async () => {
  symlinkSync("tools.yaml", join(folder, "link.yaml"));
  const [catalog] = [read("tools.yaml"), await ask()];
  const schema = read("schema.json");
  for (const words of [["introspect", "tools.yaml", "--out", "link.yaml"], ["drift", "tools.yaml", "schema.json", "--experimental", "--out", "schema.json"], ["drift", "tools.yaml", "schema.json", "--experimental", "--out", "tools.yaml"]]) {
    const { code, err } = await toolsrv(...words, "--connection", "store", "--env-file", ".env");
    assert.deepEqual([code, read("tools.yaml"), read("schema.json")], [EXIT.USAGE, catalog, schema], err);
  }
});

test("drift is exit 0 until the store changes; then 1, and the report names the tools", async () => {
  await ask();
  const same = await drift();
  assert.deepEqual([same.code, same.out], [EXIT.OK, "No drift. Nothing to do.\n"]);
  const catalog = read("tools.yaml");
  await load("things", rows((n) => ({ size: `s${n}` })), "--replace");
  const { code, out, err } = await drift("--out", "found.json");
  assert.deepEqual([code, err, read("tools.yaml")], [EXIT.FINDINGS, "wrote found.json\n", catalog]);
  assert.match(out, /~ things\.size: integer → keyword\naffected tools:\n  search_things\n    fails: 'size' was integer and is keyword/);
  const report = JSON.parse(read("found.json")) as { has_drift: boolean; experimental: boolean; checked_schema: string; affected_tools: readonly { tool: string }[] };
  assert.deepEqual([report.experimental, report.has_drift, report.checked_schema, report.affected_tools.map(({ tool }) => tool)], [true, true, "schema.json", ["search_things"]]);
});

test.run();
