/** `toolsrv test --isolation`: green where guards hold, red where one is gone, and never green without having looked. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { compile } from "../../generator/compile.js";
import type { Plans } from "../../generator/ir.js";
import { testIsolation, type IsolationReport } from "../../generator/isolation/run.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv test --isolation");
const folder = mkdtempSync(join(tmpdir(), "toolsrv-isolation-test-"));
test.after(() => rmSync(folder, { recursive: true }));

const EXAMPLE = "specs/examples/document-access/tools.yaml";
const EVERY_TOOL = ["search_documents", "list_documents", "newest_documents", "get_files_by_id", "count_files"];

async function isolation(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = memoryIo({ cwd: repo() });
  return { code: await run(["test", ...words, "--isolation"], io), out: io.out(), err: io.err() };
}

/** The report on a catalog whose compiled plans were changed. */
async function probed(text: string, change: (plans: Plans) => Plans = (plans) => plans): Promise<IsolationReport> {
  const { value } = compile({ path: "tools.yaml", text }, { target: "describe" });
  assert.ok(value);
  return testIsolation({ plans: change(value.plans), catalogText: text, env: new Map(), signal: new AbortController().signal });
}

const verdicts = ({ tools }: IsolationReport, verdict: string): readonly string[] => tools.filter((tool) => tool.verdict === verdict).map(({ tool }) => tool);

const examples = [...readdirSync(repo("specs/examples")).map((name) => `specs/examples/${name}/tools.yaml`), "templates/init/tools.yaml"].filter((path) => existsSync(repo(path)));

for (const path of examples) {
  test(`isolation holds in ${path}, and the probe has seen rows of every guarded tool`, async () => {
    const { code, out, err } = await isolation(path, "--json");
    assert.equal(code, EXIT.OK, out + err);
    const report = JSON.parse(out) as IsolationReport;
    assert.equal(report.outcome, "holds");
    for (const { tool, verdict, probes, rows } of report.tools) if (verdict === "holds" && tool !== "list_available_tools") assert.ok(probes > 0 && rows > 0, tool);
    assert.deepEqual(verdicts(report, "crossed"), []);
  }, { timeoutMs: 60_000 });
}

test("the callers are two tenants with two groups each, and callers who lack a claim or have it malformed", async () => {
  const { callers } = await probed(readFileSync(repo(EXAMPLE), "utf8"));
  assert.deepEqual(callers, ["probe-tenant-a, group p", "probe-tenant-b, group p",
    "probe-tenant-a, group q", "probe-tenant-b, group q", "a caller without claims", "a caller without a tenant", "a caller with a malformed tenant",
    "a caller without 'groups'", "a caller with a malformed 'groups'", "a caller without 'clearance'", "a caller with a malformed 'clearance'"]);
}, { timeoutMs: 60_000 });

type Json = { readonly [key: string]: unknown };

/** Every part called `key`, in tools, retrieves and directories; `null` takes it out. */
function changed(key: string, change: (part: Json) => Json | null, where: "anywhere" | "directories" = "anywhere") {
  const walk = (value: unknown, inside: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => walk(item, inside));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).flatMap(([name, part]) => {
      const made = name === key && inside ? change(part as Json) : walk(part, inside || name === "resolve");
      return made === null && name === key ? [] : [[name, made]];
    }));
  };
  return (plans: Plans): Plans => ({ ...plans, tools: walk(plans.tools, where === "anywhere") as Plans["tools"] });
}

const rulesOf = (part: Json): readonly unknown[] => part["rules"] as readonly unknown[];
const GUARDED = EVERY_TOOL.slice(0, 3);

const TAMPERED: readonly (readonly [what: string, change: (plans: Plans) => Plans, crossed: readonly string[]])[] = [
  ["document access is taken out of the compiled program", changed("document_acl", () => null), EVERY_TOOL],
  ["the tenant is taken out", changed("tenant", () => null), EVERY_TOOL],
  ["static filters are taken out", changed("guard", () => null), GUARDED],
  ["a static filter compares another value", changed("guard", () => ({ and: [{ path: "state", op: "ne", value: "other" }] })), GUARDED],
  ["document access is taken out of directories alone", changed("document_acl", () => null, "directories"), ["search_documents"]],
  ["the tenant is taken out of directories alone", changed("tenant", () => null, "directories"), ["search_documents"]],
  ["the first rule is gone", changed("document_acl", (part) => ({ ...part, rules: rulesOf(part).slice(1) })), EVERY_TOOL],
  ["the last rule is gone", changed("document_acl", (part) => ({ ...part, rules: rulesOf(part).slice(0, -1) })), EVERY_TOOL],
  ["all becomes any", changed("document_acl", (part) => ({ ...part, combine: "any" })), EVERY_TOOL],
];

for (const [what, change, crossed] of TAMPERED) {
  test(`red when ${what}`, async () => {
    const report = await probed(readFileSync(repo(EXAMPLE), "utf8"), change);
    assert.equal(report.outcome, "crossed");
    assert.deepEqual(verdicts(report, "crossed"), crossed);
    for (const { verdict, reasons } of report.tools) assert.equal(reasons.length > 0, verdict === "crossed");
  }, { timeoutMs: 60_000 });
}

const HEAD = 'tds_version: "2"\nconnections: { main: { backend: sqlite, path: a.db, builtin_tools: { list_collections: true }, builtin_defaults: { collections: [docs] } } }\ndefaults: { embedding: local/hashing-256 }\n';
const tool = (name: string, extra = ""): string => `  - name: ${name}\n    kind: scroll\n    description: Lists the documents of the collection, in order.\n    target: { connection: main, collection: docs }\n${extra}`;

async function written(name: string, text: string): ReturnType<typeof isolation> {
  const file = join(folder, name);
  writeFileSync(file, text);
  return isolation(file);
}

test("a catalog whose guard was taken out isolates nothing: exit 1, and it says so", async () => {
  const guarded = `${HEAD}security: { tenancy: { mode: claim, claim: org } }\ntools:\n${tool("list_docs")}`;
  assert.equal((await written("guarded.yaml", guarded)).code, EXIT.OK);
  const { code, out } = await written("open.yaml", guarded.replace("security: { tenancy: { mode: claim, claim: org } }\n", ""));
  assert.equal(code, EXIT.FINDINGS);
  assert.match(out, /list_docs .*no guard/);
  assert.match(out, /no guard: nothing isolates tenants or rows/);
}, { timeoutMs: 30_000 });

test("the tenant of a header is probed as that of a claim, in each way of enforcing it", async () => {
  for (const enforce of ["strict", "override", "warn"]) {
    const text = `${HEAD}security: { tenancy: { mode: header, header: X-Org, path: org, enforce: ${enforce} } }\ntools:\n${tool("list_docs", "    parameters: [{ name: org, path: org }, { name: title, path: title, op: like }]\n")}`;
    assert.deepEqual(verdicts(await probed(text), "holds"), ["list_docs", "list_main_collections", "list_available_tools"], enforce);
    assert.deepEqual(verdicts(await probed(text, changed("tenant", () => null)), "crossed"), ["list_docs", "list_main_collections"], enforce);
  }
}, { timeoutMs: 60_000 });

test("a list of collections that counts rows of others, or names a collection it may not, is a crossing", async () => {
  const text = `${HEAD}security: { tenancy: { mode: claim, claim: org } }\ntools:\n${tool("list_docs")}`;
  const report = await probed(text, changed("allowed", () => ["docs", "probe_other"] as unknown as Json));
  assert.deepEqual(verdicts(report, "crossed"), ["list_main_collections"]);
}, { timeoutMs: 30_000 });

test("a tool that reads another collection than the catalog says is a crossing", async () => {
  const text = `${HEAD}security: { tenancy: { mode: claim, claim: org } }\ntools:\n${tool("list_docs")}`;
  const report = await probed(text, (plans) => ({ ...plans, tools: { ...plans.tools, list_docs: { ...plans.tools["list_docs"], collection: "probe_other" } as Plans["tools"][string] } }));
  assert.deepEqual(verdicts(report, "crossed"), ["list_docs"]);
}, { timeoutMs: 30_000 });

const CONDITIONS = [
  "{ path: a, value: x }", "{ path: a, op: ne, value: x }", "{ path: a, op: gt, value: 3 }", "{ path: a, op: gte, value: 3 }", "{ path: a, op: lt, value: x }", "{ path: a, op: lte, value: 3 }",
  "{ path: a, op: in, value: [x, y] }", "{ path: a, op: nin, value: [x, 3] }", "{ path: b.c, op: exists, value: true }", "{ path: a, op: exists, value: false }", "{ path: a, op: is_null, value: true }",
  "{ path: a, op: contains_any, value: [x, y] }", "{ path: a, op: contains_all, value: [x, y] }", "{ path: a, op: like, value: 'ab%c_' }", "{ path: a, op: text_match, value: two words }", "{ path: a, value: true }",
  "{ path: at, op: gt, value: '2026-01-01' }", "{ path: at, op: lte, value: '2026-01-01T00:00:00Z' }", "{ path: at, op: in, value: ['2026-01-01'] }",
];

test("rows that fail a static filter are made for every operator, negated ones and dates too", async () => {
  const inverted = CONDITIONS.filter((_, index) => index < 8);
  const date = "    parameters: [{ name: at, path: at, dtype: datetime, op: gte }]\n";
  const text = `${HEAD.replace(/, builtin_tools.*?docs\] \}/, "")}tools:\n${[
    ...CONDITIONS.map((condition, index) => tool(`must_${index}`, `    static_filters: [${condition}]\n${condition.includes("path: at") ? date : ""}`)),
    ...inverted.map((condition, index) => tool(`not_${index}`, `    static_filters: { must_not: [${condition}] }\n`)),
  ].join("")}`;
  const names = [...CONDITIONS.map((_, index) => `must_${index}`), ...inverted.map((_, index) => `not_${index}`)];
  const whole = await probed(text);
  assert.deepEqual(verdicts(whole, "holds"), [...names, "list_available_tools"], JSON.stringify(whole.tools.filter(({ verdict }) => verdict !== "holds")));
  assert.deepEqual(verdicts(await probed(text, changed("guard", () => null)), "crossed"), names);
}, { timeoutMs: 60_000 });

const UNPROBED: readonly (readonly [what: string, text: string, reason: RegExp])[] = [
  ["isolation by address", 'tds_version: "2"\nconnections: { main: { backend: pinecone, api_key: "${KEY}", host: "${HOST}", namespace: acme } }\ndefaults: { embedding: local/hashing-256 }\ntools:\n  - name: search_docs\n    description: Searches the documents of one namespace.\n    target: { connection: main, collection: docs }\n    query: { required: true }\n', /by address/],
  ["a filter that no row passes", `${HEAD}tools:\n${tool("list_docs", "    static_filters: [{ path: size, op: gt, value: 9 }, { path: size, op: lt, value: 3 }]\n")}`, /no value passes size gt 9/],
  ["a filter on record ids", `${HEAD}tools:\n${tool("list_docs", "    static_filters: [{ path: id, op: in, value: [a, b] }]\n")}`, /no value passes id in/],
  ["a static tenancy on the field of the tenant", `${HEAD}security: { tenancy: { mode: claim, claim: org, path: org } }\ntools:\n${tool("list_docs", "    static_filters: [{ path: org, value: acme }]\n")}`, /no call returned a row/],
];

for (const [what, text, reason] of UNPROBED) {
  test(`a tool that cannot be probed is exit 2 and says why: ${what}`, async () => {
    const { code, out, err } = await written("unprobed.yaml", text);
    assert.equal(code, EXIT.USAGE, out + err);
    assert.match(out, /NOT PROBED/);
    assert.match(out, reason);
  }, { timeoutMs: 30_000 });
}

test("a pipeline is probed with rows that its own filter finds", async () => {
  const pipeline = (name: string, filter: string, rest = ""): string => `
  - name: ${name}
    kind: pipeline
    description: The records of the caller's organisation, for the users who work in it.
    steps: [{ retrieve: { target: { connection: store, collection: things }, filter: ${filter} } }]${rest}`;
  const text = `tds_version: '2'
connections: { store: { backend: sqlite, path: ./store.db } }
defaults: { embedding: local/hashing-256 }
security: { tenancy: { mode: claim, claim: org, path: org } }
tools:${pipeline("status", "{ path: status, op: in, value: [paid, sent] }")}${pipeline("both", "{ and: [{ path: n, op: gte, value: 3 }, { path: tags, op: contains_all, value: [a, b] }] }")
}${pipeline("either", "{ or: [{ path: size, op: gt, param: least }, { path: state, op: eq, value: open }] }", "\n    parameters: [{ name: least, dtype: integer }]")
}${pipeline("guarded", "{ path: n, op: gte, value: 7 }", "\n    static_filters: [{ path: n, op: gte, value: 5 }]")
}${pipeline("floor", "{ path: total, op: gte, param: floor }", "\n    parameters: [{ name: floor, dtype: float, required: true }]")}
`;
  const report = await probed(text);
  assert.deepEqual(verdicts(report, "holds"), ["status", "both", "either", "guarded", "floor", "list_available_tools"], JSON.stringify(report.tools));
  const unguarded = await probed(text, changed("tenant", () => null));
  assert.deepEqual(verdicts(unguarded, "crossed"), ["status", "both", "either", "guarded", "floor"]);
}, { timeoutMs: 60_000 });

test("a program without the tool, or whose calls all fail, is not probed rather than green", async () => {
  const text = `${HEAD}security: { tenancy: { mode: claim, claim: org } }\ntools:\n${tool("list_docs")}`;
  const without = await probed(text, (plans) => ({ ...plans, tools: Object.fromEntries(Object.entries(plans.tools).filter(([name]) => name !== "list_docs")) }));
  assert.deepEqual([without.outcome, verdicts(without, "not probed")], ["not probed", ["list_docs"]]);
  const failing = await probed(text, changed("tenant", (part) => ({ ...part, name: "another_claim" })));
  assert.deepEqual([failing.outcome, verdicts(failing, "not probed")], ["not probed", ["list_docs", "list_main_collections"]]);
}, { timeoutMs: 30_000 });

test("roles are no obstacle, and a tool that is denied to everyone is no finding", async () => {
  const text = `${HEAD}security: { tenancy: { mode: claim, claim: org }, rbac: { enabled: true, default_role: none, roles: { reader: { allow: [list_docs] } }, deny_tools: [list_main_collections] } }\ntools:\n${tool("list_docs")}`;
  const report = await probed(text);
  assert.deepEqual([verdicts(report, "holds"), verdicts(report, "denied")], [["list_docs", "list_available_tools"], ["list_main_collections"]]);
}, { timeoutMs: 30_000 });

test("values of references are made up where none are given, and the stores of the catalog are not opened", async () => {
  const text = `tds_version: "2"\nconnections:\n  main: { backend: qdrant, url: "\${URL}", api_key: "\${KEY}", builtin_tools: { count: true }, builtin_defaults: { collections: [docs], static_filters: [{ path: region, value: "\${REGION}" }] } }\ndefaults: { embedding: openai/text-embedding-3-small }\ntools: []\n`;
  const report = await probed(text);
  assert.deepEqual(verdicts(report, "holds"), ["count_main", "list_available_tools"], JSON.stringify(report));
}, { timeoutMs: 30_000 });

test("a tool, --args and --show-plan do not go with --isolation, nor --json without it", async () => {
  for (const words of [["list_documents"], ["--args", "{}"], ["--show-plan"]]) assert.equal((await isolation(EXAMPLE, ...words)).code, EXIT.USAGE, words.join(" "));
  const io = memoryIo({ cwd: repo() });
  assert.equal(await run(["test", EXAMPLE], io), EXIT.USAGE);
  assert.match(io.err(), /name the tool to call, or give --isolation/);
  assert.equal(await run(["test", EXAMPLE, "list_documents", "--json"], memoryIo({ cwd: repo() })), EXIT.USAGE);
});

test("nothing of the temporary store stays", async () => {
  const left = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith(`toolsrv-isolation-${process.pid}-`));
  await probed(`${HEAD}tools:\n${tool("list_docs", "    static_filters: [{ path: state, value: open }]\n")}`);
  assert.deepEqual(left(), []);
}, { timeoutMs: 30_000 });

test.run();
