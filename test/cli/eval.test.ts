/** `toolsrv eval`: reports, baselines, proposals and exit codes. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import type { EvalReport } from "../../generator/eval/report.js";
import { loadMovies } from "../e2e/quickstart.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("toolsrv eval");

const CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: "\${DB}" }
defaults: { embedding: local/hashing-256 }
security:
  tenancy: { mode: claim, claim: org, path: org }
  rate_limit: { enabled: true, per_principal: { requests_per_minute: 3 } }
tools:
  - name: search_bills
    kind: search
    description: Search the bills of the caller's organisation. Use when the user asks for bills.
    target: { connection: store, collection: bills }
    query: { param: query }
    parameters: [{ name: min_total, path: total, dtype: integer, op: gte }]
    output: { limit_default: 50, limit_max: 50 }
  - name: get_bill
    kind: lookup
    description: Look up one bill by its number. Use when the user names one.
    target: { connection: store, collection: bills }
    parameters: [{ name: number, path: number, dtype: keyword, op: eq, required: true }]
    output: { limit_default: 1, fields: [number, total], include_id: false }
`;

const folder = mkdtempSync(join(tmpdir(), "toolsrv-eval-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const report = (name = "toolsrv-eval.json"): EvalReport => JSON.parse(read(name)) as EvalReport;
write("tools.yaml", CATALOG);
write(".env", "DB=./store.db\nMODEL_KEY=abc\n");

async function toolsrv(...words: readonly string[]) {
  const io = memoryIo({ cwd: folder, env: { DB: "/nowhere/else.db" } });
  return { code: await run(words, io), out: io.out(), err: io.err() };
}
const evaluate = (...words: readonly string[]) => toolsrv("eval", "tools.yaml", ...words, "--experimental", "--env-file", ".env");

test.before(async () => {
  write("rows.jsonl", Array.from({ length: 20 }, (_, n) => JSON.stringify({ org: n % 2 === 0 ? "acme" : "globex", number: `b-${n}`, total: n, text: `bill ${n} for coffee` })).join("\n"));
  const { code, err } = await toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "bills", "--id", "number", "--env-file", ".env");
  assert.equal(code, EXIT.OK, err);
});

const GOOD = `scenarios:
  - name: acme sees its bills
    request: Which bills are there?
    call: { tool: search_bills, arguments: { query: coffee, min_total: null }, context: { claims: { org: acme } } }
    expected_tool: search_bills
    expect: { exact_rows: 10, row_field_equals: { org: acme }, forbidden_field_values: { org: [globex] }, min_score: 0.1 }
  - call: { tool: get_bill, arguments: { number: b-1 }, context: { tenant: acme } }
    expect: { max_rows: 0 }
  - { name: nobody, call: { tool: search_bills }, expect: { error: auth_error } }
`;
const BAD = `scenarios:
  - name: 'too <many> & "more"'
    call: { tool: search_bills, context: { tenant: acme } }
    expect: { max_rows: 3, min_rows: 11 }
  - { name: nobody, call: { tool: search_bills }, expect: { min_rows: 1 } }
  - { name: asked, request: Which?, expected_tool: get_bill }
`;

test("scenarios that hold: exit 0, the report of facts, and a readable table", async () => {
  write("good.yaml", GOOD);
  const { code, out, err } = await evaluate("good.yaml");
  assert.equal(code, EXIT.OK, out + err);
  const { results, ...head } = report();
  assert.deepEqual(head, { experimental: true, scenario_file: "good.yaml", passed: 3, failed: 0 });
  assert.deepEqual(results.map(({ name, row_count: rows }) => [name, rows]), [["acme sees its bills", 10], ["scenario-2", 0], ["nobody", 0]]);
  assert.deepEqual(results[0], { name: "acme sees its bills", request: "Which bills are there?", tool: "search_bills", arguments: { query: "coffee", min_total: null }, passed: true, failures: [], row_count: 10 });
  assert.equal(read("toolsrv-eval.json"), `${JSON.stringify(report(), null, 2)}\n`);
  assert.match(out, /^PASS {2}acme sees its bills +search_bills +10 row\(s\) +\d+ ms\n/);
  assert.match(out, /\n3 passed, 0 failed\n$/);
});

test("scenarios that fail: exit 1, and each failure in the report, the table and JUnit XML", async () => {
  write("bad.yaml", BAD);
  const { code, out } = await evaluate("bad.yaml", "--out", "bad.json", "--junit", "bad.xml");
  assert.equal(code, EXIT.FINDINGS);
  const { results, passed, failed, skipped } = report("bad.json");
  assert.deepEqual([passed, failed, skipped], [0, 2, 1]);
  assert.deepEqual(results[0]?.failures, ["min_rows: at least 11 expected, 10 found", "max_rows: at most 3 expected, 10 found"]);
  assert.match(results[1]?.failures[0] ?? "", /^execution failed: auth_error: /);
  assert.match(out, /FAIL {2}too <many> & "more".*\n {6}min_rows: at least 11 expected, 10 found\n/);
  assert.match(out, /SKIP {2}asked/);
  const xml = read("bad.xml");
  assert.match(xml, /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites tests="3" failures="2" errors="0" skipped="1" time="[\d.]+">\n {2}<testsuite name="bad.yaml"/);
  assert.match(xml, /<testcase name="too &lt;many&gt; &amp; &quot;more&quot;" classname="search_bills" time="[\d.]+">\n {6}<failure message="min_rows: at least 11 expected, 10 found">/);
});

test("--update records a baseline; later runs say what changed, and --strict fails for it", async () => {
  write("good.yaml", GOOD);
  assert.equal((await evaluate("good.yaml", "--update")).code, EXIT.OK);
  const baseline = read("good.baseline.json");
  const same = await evaluate("good.yaml", "--strict");
  assert.deepEqual([same.code, same.out.includes("changed")], [EXIT.OK, false], same.out);
  write("good.yaml", GOOD.replace("max_rows: 0", "max_rows: 1").replace("number: b-1", "number: b-2"));
  const lenient = await evaluate("good.yaml");
  assert.equal(lenient.code, EXIT.OK);
  assert.match(lenient.out, /changed since the baseline: 0 row\(s\), now 1\n[^]*3 passed, 0 failed, 1 changed\n$/);
  assert.equal(report().results[1]?.changed, "0 row(s), now 1");
  assert.equal((await evaluate("good.yaml", "--strict")).code, EXIT.FINDINGS);
  assert.equal(read("good.baseline.json"), baseline, "only --update writes it");
});

test("a scripted model chooses tools; what still holds in the baseline is not asked again", async () => {
  write("asked.yaml", "scenarios:\n  - { name: a, request: One bill, expected_tool: get_bill, expected_arguments: { number: b-1 }, forbidden_tools: [search_bills] }\n  - { name: b, request: All bills, expected_tool: search_bills }\n");
  write("script.json", '{"a": {"tool": "run_tool", "arguments": {"name": "get_bill", "arguments": {"number": "b-1"}}}, "All bills": {"tool": "get_bill"}}');
  const first = await evaluate("asked.yaml", "--model", "script:script.json", "--update");
  assert.equal(first.code, EXIT.FINDINGS);
  assert.deepEqual(report().results.map(({ failures, choice }) => [failures, choice?.tool]), [[[], "get_bill"], [["expected_tool: search_bills expected, the model chose get_bill"], "get_bill"]]);
  write("script.json", '{"b": {"tool": "search_bills"}}');
  const again = await evaluate("asked.yaml", "--model", "script:script.json");
  assert.match(again.err, /2 choice\(s\) of the baseline still hold/);
  const all = await evaluate("asked.yaml", "--model", "script:script.json", "--ask-all");
  assert.deepEqual(report().results.map(({ failures }) => failures), [["the model did not answer: the script has no line for this request"], []], all.err);
  write("changed.yaml", CATALOG.replace("Search the bills", "Find the bills"));
  await toolsrv("eval", "changed.yaml", "asked.yaml", "--experimental", "--env-file", ".env", "--model", "script:script.json");
  assert.deepEqual(report().results.map(({ choice }) => choice?.tool), [undefined, "search_bills"], "both scenarios are about the tool whose description changed");
});

test("--generate proposes a call of each tool and a probe of another tenant; what it proposes holds", async () => {
  const { code, err } = await toolsrv("eval", "tools.yaml", "--generate", "--experimental", "--env-file", ".env");
  assert.equal(code, EXIT.OK, err);
  assert.match(err, /left out: get_bill: no probe of another tenant/);
  const { scenarios } = parse(read("scenarios.generated.yaml")) as { scenarios: readonly { name: string; call: { tool: string; arguments: { query?: string }; context: object }; expect: { forbidden_field_values?: { _id: readonly string[]; org: readonly string[] } } }[] };
  assert.deepEqual(scenarios.map(({ name }) => name), ["search_bills finds what is there", "search_bills shows another tenant none of it", "get_bill finds what is there"]);
  assert.deepEqual(scenarios.map(({ call }) => call.context), [{ tenant: "acme" }, { tenant: "globex" }, { tenant: "acme" }]);
  assert.match(scenarios[0]?.call.arguments.query ?? "", /^bill \d+ for coffee$/, "words, not the organisation or the number");
  const hidden = scenarios[1]?.expect.forbidden_field_values;
  assert.deepEqual([hidden?.org, hidden?._id.length], [["acme"], 10]);
  const ran = await evaluate("scenarios.generated.yaml");
  assert.equal(ran.code, EXIT.OK, ran.out);
});

test("the probe of another tenant fails where the guard is gone", async () => {
  write("open.yaml", CATALOG.replace(/  tenancy:.*\n/, ""));
  const { code, out } = await toolsrv("eval", "open.yaml", "scenarios.generated.yaml", "--experimental", "--env-file", ".env");
  assert.equal(code, EXIT.FINDINGS, out);
  assert.match(out, /FAIL {2}search_bills shows another tenant none of it[^]*forbidden_field_values/);
});

test("proposals are never written over a file that somebody wrote", async () => {
  write("mine.yaml", GOOD);
  for (const how of ["--generate", "--confusion"]) {
    const { code, err } = await toolsrv("eval", "tools.yaml", how, "--out", "mine.yaml", "--experimental", "--env-file", ".env");
    assert.deepEqual([code, read("mine.yaml")], [EXIT.USAGE, GOOD], err);
  }
  assert.equal((await toolsrv("eval", "tools.yaml", "--generate", "--experimental", "--env-file", ".env")).code, EXIT.OK, "its own it may");
});

test("neither catalog nor scenarios are written over", async () => {
  write("good.yaml", GOOD);
  for (const out of [["--out", "tools.yaml"], ["--junit", "good.yaml"], ["--baseline", "tools.yaml", "--update"]]) {
    const { code, err } = await evaluate("good.yaml", ...out);
    assert.deepEqual([code, read("tools.yaml"), read("good.yaml")], [EXIT.USAGE, CATALOG, GOOD], err);
  }
});

const REFUSED: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [["tools.yaml", "good.yaml"], /add --experimental/],
  [["tools.yaml", "--experimental"], /missing SCENARIOS.yaml/],
  [["tools.yaml", "none.yaml", "--experimental"], /TS0002/],
  [["none.yaml", "good.yaml", "--experimental"], /TS0002/],
  [["tools.yaml", "typo.yaml", "--experimental"], /TS0112[^]*typo\.yaml:2:5/],
  [["tools.yaml", "good.yaml", "--experimental", "--baseline", "none.json"], /no such file; --update/],
  [["tools.yaml", "good.yaml", "--experimental", "--baseline", "rows.jsonl"], /is no baseline/],
  [["tools.yaml", "good.yaml", "--experimental", "--model", "m"], /needs --model-url/],
  [["tools.yaml", "good.yaml", "--experimental", "--model-url", "https://x"], /goes with --model/],
  [["tools.yaml", "good.yaml", "--experimental", "--model", "m", "--model-url", "http://far.example", "--model-key", "MODEL_KEY"], /without TLS/],
  [["tools.yaml", "good.yaml", "--experimental", "--model", "m", "--model-url", "https://x", "--model-key", "OTHER"], /does not have/],
  [["tools.yaml", "good.yaml", "--experimental", "--model", "script:none.json"], /no such file/],
  [["tools.yaml", "good.yaml", "--experimental", "--model", "script:rows.jsonl"], /no script/],
  [["tools.yaml", "good.yaml", "--experimental", "--model", "script:s", "--host-profile", "prefixd"], /did you mean 'prefixed'/],
  [["tools.yaml", "good.yaml", "--experimental", "--generate"], /give no scenarios file/],
  [["tools.yaml", "--experimental", "--generate", "--confusion"], /one after the other/],
];

for (const [words, says] of REFUSED) {
  test(`exit 2: eval ${words.join(" ")}`, async () => {
    write("good.yaml", GOOD);
    write("typo.yaml", "scenarios:\n  - nme: a\n    call: { tool: get_bill, arguments: { number: b-1 } }\n");
    const { code, err } = await toolsrv("eval", ...words, "--env-file", ".env");
    assert.equal(code, EXIT.USAGE, err);
    assert.match(err, says);
    assert.ok(!err.includes("abc"), "no key");
  });
}

test("500 scenarios take less than 10 s of processor time, with progress on a terminal", async () => {
  write("many.yaml", `scenarios:\n${Array.from({ length: 500 }, (_, n) => `  - { name: s${n}, call: { tool: search_bills, arguments: { query: "coffee ${n}" }, context: { tenant: acme } }, expect: { exact_rows: 10, row_field_equals: { org: acme } } }`).join("\n")}\n`);
  const io = memoryIo({ cwd: folder, tty: true });
  const before = process.cpuUsage();
  assert.equal(await run(["eval", "tools.yaml", "many.yaml", "--experimental", "--env-file", ".env"], io), EXIT.OK, io.err());
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1e6 < 10, `${(user + system) / 1e6} s`);
  assert.equal(report().passed, 500);
}, { timeoutMs: 60_000 });

for (const [name, load] of [["quickstart", null], ["document-access", "documents"]] as const) {
  test(`the scenarios of the example ${name} hold`, async () => {
    const home = `specs/examples/${name}`;
    const envFile = load === null ? await loadMovies(folder) : join(folder, "documents.env");
    if (load !== null) {
      write("documents.env", `DOCUMENTS_DB=${join(folder, "documents.db")}\n`);
      const words = /toolsrv (load [^`]*?documents\.jsonl)/.exec(readFileSync(repo(home, "README.md"), "utf8"))?.[1]?.replaceAll("\\\n", " ").split(/\s+/) ?? [];
      const io = memoryIo({ cwd: repo() });
      assert.equal(await run([...words, "--env-file", envFile], io), EXIT.OK, io.err());
    }
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["eval", repo(home, "tools.yaml"), repo(home, "scenarios.yaml"), "--experimental", "--env-file", envFile], io), EXIT.OK, io.out() + io.err());
    assert.ok(!existsSync(repo(home, "scenarios.baseline.json")));
  }, { timeoutMs: 60_000 });
}

test.run();
