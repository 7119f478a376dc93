/** `toolsrv discover`: the file it writes, what it never touches, and its exit codes. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { analyze } from "../../generator/compile.js";
import { discoveryReport } from "../../generator/discover/report.js";
import { Writer } from "../../generator/load/writer.js";
import { schemaOf } from "../../generator/schema/schema-of.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { ADAPTERS } from "../../runtime/adapters/table.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv discover");

const CATALOG = `# a comment\ntds_version: '2'\nconnections:\n  store: { backend: sqlite, path: store.db }\ndefaults: { embedding: local/hashing-256 }\ntools: []\n`;
const folder = mkdtempSync(join(tmpdir(), "toolsrv-discover-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
write("tools.yaml", CATALOG);

async function toolsrv(...words: readonly string[]) {
  const io = memoryIo({ cwd: folder });
  return { code: await run(words, io), out: io.out(), err: io.err() };
}
const discover = (...words: readonly string[]) => toolsrv("discover", "tools.yaml", "--connection", "store", "--experimental", ...words);

interface Report { readonly drafts: readonly { readonly tool: { readonly name: string } }[]; readonly tenant_field_candidates: object }

test.before(async () => {
  for (const name of ["bills", "Bills-2"]) {
    write("rows.jsonl", Array.from({ length: 40 }, (_, n) => JSON.stringify({ org_id: `o${n % 3}`, total: n, state: n % 2 === 0 ? "paid" : "sent" })).join("\n"));
    const { code, err } = await toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", name);
    assert.equal(code, EXIT.OK, err);
  }
});

test("a report of pending drafts that compile; the catalog keeps its bytes and there is no drafts file", async () => {
  const { code, out, err } = await discover();
  assert.deepEqual([code, out, read("tools.yaml"), existsSync(join(folder, "tools.drafts.yaml"))], [EXIT.OK, "", CATALOG, false], err);
  assert.match(err, /^wrote tools\.discovered\.drafts\.yaml: 2 draft\(s\)\nBills-2: org_id may name the tenant/);
  const report = parse(read("tools.discovered.drafts.yaml")) as Report;
  assert.deepEqual(Object.keys(report), ["experimental", "source", "tenant_field_candidates", "drafts"]);
  assert.deepEqual([report.drafts.map(({ tool }) => tool.name), report.tenant_field_candidates], [["search_bills_2", "search_bills"], { "Bills-2": ["org_id"], bills: ["org_id"] }]);
  write("with.yaml", stringify({ ...(parse(CATALOG) as object), tools: report.drafts.map(({ tool }) => tool) }));
  const { code: valid, err: problems } = await toolsrv("validate", "with.yaml", "--strict");
  assert.deepEqual([valid, problems.includes("2 tool(s) compiled")], [EXIT.OK, true], problems);
});

test("--collections and --out", async () => {
  assert.equal((await discover("--collections", "bills", "--out", "some.yaml")).code, EXIT.OK);
  assert.deepEqual((parse(read("some.yaml")) as Report).drafts.map(({ tool }) => tool.name), ["search_bills"]);
});

test("a catalog that restricts every tool by the field gets no advice about it", async () => {
  write("guarded.yaml", CATALOG.replace("tools: []", "security: { tenancy: { mode: claim, claim: org, path: org_id } }\ntools: []"));
  const { code, err } = await toolsrv("discover", "guarded.yaml", "--connection", "store", "--experimental", "--out", "guarded.out.yaml");
  assert.deepEqual([code, err], [EXIT.OK, "wrote guarded.out.yaml: 2 draft(s)\n"]);
  assert.deepEqual((parse(read("guarded.out.yaml")) as Report).tenant_field_candidates, { "Bills-2": ["org_id"], bills: ["org_id"] });
});

test("50 collections of 200 fields take less than 5 s of processor time", async () => {
  const file = join(folder, "wide.db");
  const writer = await Writer.open({ file, collection: "wide", embedding: { embeddedBy: "local/hashing-256", dims: 256, text: "" }, replace: false, indexes: [] });
  const fields = Array.from({ length: 200 }, (_, n) => `field_${n}`);
  writer.write(Array.from({ length: 200 }, (_, row) => ({ id: `r${row}`, text: "", vector: new Float32Array(256).fill(1 / 16), record: Object.fromEntries(fields.map((field, n) => [field, n % 2 === 0 ? `v${row}` : row * n])) })));
  writer.finish();
  writer.close();
  const store = await ADAPTERS["sqlite"]?.().then(({ adapter }) => adapter.open({ path: file }, { base: folder }));
  assert.ok(store);
  // Writing fifty such collections takes minutes; reading one of them fifty times is the same work.
  const fifty: Adapter = {
    health: (signal) => store.health(signal), search: (request, signal) => store.search(request, signal), fetch: (request, signal) => store.fetch(request, signal), count: (_, filter, signal) => store.count("wide", filter, signal), close: () => store.close(),
    collections: () => Promise.resolve(Array.from({ length: 50 }, (_, n) => `c${n}`)),
    describe: (_, signal) => store.describe("wide", signal),
    sample: (_, n, signal) => store.sample("wide", n, signal),
  };
  const { resolved } = analyze({ path: "tools.yaml", text: CATALOG }, { target: "validate" });
  const connection = resolved?.connections[0];
  assert.ok(resolved && connection);
  const before = process.cpuUsage();
  const schema = await schemaOf(fifty, connection, { redacted: false, collections: null, secretOf: () => new Set() }, new AbortController().signal);
  const { drafts } = discoveryReport(schema, { catalog: resolved, connection, env: new Map() });
  const { user, system } = process.cpuUsage(before);
  await fifty.close();
  assert.deepEqual([schema.collections.length, schema.collections[49]?.fields.length, drafts.length, drafts[0]?.issues], [50, 200, 50, []]);
  assert.ok((user + system) / 1e6 < 5, `${(user + system) / 1e6} s`);
}, { timeoutMs: 60_000 });

const REFUSED: readonly (readonly [words: readonly string[], code: number, says: RegExp])[] = [
  [["tools.yaml", "--connection", "store"], EXIT.USAGE, /add --experimental/],
  [["none.yaml", "--connection", "store", "--experimental"], EXIT.USAGE, /TS0002/],
  [["tools.yaml", "--connection", "other", "--experimental"], EXIT.LIVE, /no connection 'other'/],
  [["tools.yaml", "--connection", "store", "--experimental", "--collections", "x"], EXIT.LIVE, /no collection 'x'/],
  [["tools.yaml", "--connection", "store", "--experimental", "--out", "./tools.yaml"], EXIT.USAGE, /'\.\/tools\.yaml' is read by this command/],
  [["bad.yaml", "--connection", "store", "--experimental"], EXIT.LIVE, /TS0201/],
];

for (const [words, want, says] of REFUSED) {
  test(`exit ${want}: discover ${words.join(" ")}`, async () => {
    write("bad.yaml", CATALOG.replace("tools: []", "tools: [{ name: abc, kind: count, description: Count what is not there at all., target: { connection: nope, collection: c } }]"));
    const { code, err } = await toolsrv("discover", ...words);
    assert.equal(code, want, err);
    assert.match(err, says);
    assert.equal(read("tools.yaml"), CATALOG);
  });
}

test.run();
