/** Phase 1: what YAML is read as, what is refused, and where. */
import assert from "node:assert/strict";
import { parse } from "../../generator/1-parse/index.js";
import { plainScalar } from "../../generator/1-parse/scalars.js";
import { locate, locateAll } from "../../generator/diagnostics.js";
import { nearestName } from "../../runtime/base/nearest.js";
import { suite } from "../lib/suite.js";
import { codesOf, diagnosed, HEAD, searchTool } from "./source.js";

const test = suite("parse");

const value = (text: string): unknown => parse({ path: "tools.yaml", text: `connections: {}\nx:\n${text.replace(/^/gm, "  ")}\n` }).value?.value["x"];

test("plain scalars mean what a YAML 1.1 reader takes them for", () => {
  const table: readonly (readonly [string, unknown])[] = [
    ["on", true], ["off", false], ["yes", true], ["No", false], ["TRUE", true], ["false", false],
    ["y", "y"], ["n", "n"], ["Y", "Y"], ["oN", true],
    ["0144", 100], ["010", 8], ["-0144", -100], ["08", "08"], ["0", 0], ["-0", 0], ["0x1F", 31], ["0b101", 5],
    ["1:30", 90], ["1:30:00", 5400], ["-1:30", -90], ["190:20:30.15", 685230.15], ["0:30", "0:30"],
    ["2_000", 2000], ["1_2.5_0", 12.5], ["1e3", "1e3"], ["1.0e3", "1.0e3"], ["1.0e+3", 1000], [".5", 0.5], ["5.", 5], ["+7", 7],
    ["2024-01-01", "2024-01-01"], ["2024-1-1", "2024-1-1"], ["2024-01-01 10:30:00", "2024-01-01T10:30:00"],
    ["2024-1-2T3:04:05.5Z", "2024-01-02T03:04:05.5Z"], ["2024-01-02 03:04:05 +1", "2024-01-02T03:04:05+01:00"], ["2024-01-02 03:04:05 -08:30", "2024-01-02T03:04:05-08:30"],
    ["~", null], ["null", null], ["Null", null], ["nULL", "nULL"], ["", null],
    ["1.2.3", "1.2.3"], ["-", "-"], ["10.0.0.1", "10.0.0.1"], ["text", "text"], ["9007199254740991", 9007199254740991],
  ];
  for (const [text, want] of table) assert.deepEqual(plainScalar(text), { value: want }, text);
  assert.deepEqual(plainScalar("9007199254740993"), { problem: "inexact" });
  assert.deepEqual(plainScalar(".inf"), { problem: "infinite" });
  assert.deepEqual(plainScalar(".nan"), { problem: "infinite" });
});

test("quotes and explicit tags overrule the look of a scalar", () => {
  assert.deepEqual(value(`a: "on"\nb: '0144'\nc: !!str 12\nd: !!int 0144\ne: |\n  yes\nf: ! on\ng: !!float 1.5\nh: !!bool yes`), {
    a: "on", b: "0144", c: "12", d: 100, e: "yes\n", f: "on", g: 1.5, h: true,
  });
});

test("merge keys, aliases and anchors give plain values", () => {
  assert.deepEqual(value(`base: &b { a: 1, b: 2 }\nover: { <<: *b, b: 3 }\nmany: { <<: [{ c: 1 }, *b, { c: 9, d: 4 }] }\nlist: [*b, &s text, *s]\nquoted: { "<<": 1 }`), {
    base: { a: 1, b: 2 }, over: { b: 3, a: 1 }, many: { c: 1, a: 1, b: 2, d: 4 }, list: [{ a: 1, b: 2 }, "text", "text"], quoted: { "<<": 1 },
  });
});

test("a redefined anchor counts from where it stands", () => {
  assert.deepEqual(value("a: &x 1\nb: *x\nc: &x 2\nd: *x"), { a: 1, b: 1, c: 2, d: 2 });
});

test("keys are texts, also __proto__ and numbers", () => {
  const read = value(`__proto__: { polluted: yes }\n7: seven\non: switch`) as { [key: string]: unknown };
  assert.deepEqual(Object.keys(read).sort(), ["7", "__proto__", "on"]);
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test("BOM, CRLF and odd Unicode do not shift positions", () => {
  const [found] = diagnosed(`\uFEFF${HEAD}tools:\n${searchTool("find_it")}`.replaceAll("\n", "\r\n").replace("collection: articles", "collection: [\u{1F600}]"));
  assert.equal(found?.code, "VB2015");
  assert.deepEqual([found?.line, found?.column], [8, 45]);
});

test("of duplicate keys the last counts, with a warning at its key", () => {
  const text = `${HEAD}meta: { tool_catalog_version: "1" }\nmeta: { tool_catalog_version: "2" }\n`;
  const { value: parsed } = parse({ path: "tools.yaml", text });
  assert.equal(parsed?.value.meta?.tool_catalog_version, "2");
  assert.deepEqual(diagnosed(text).map(({ code, severity, line, column }) => [code, severity, line, column]), [["TS0008", "warning", 6, 1]]);
});

test("a key given twice is an error where a protection would be lost with the first one", () => {
  const guard = (value: string): string => `    static_filters: { must: [{ path: org, op: eq, value: ${value} }] }\n`;
  const output = (what: string): string => `    output: { ${what} }\n`;
  const severities = (text: string): readonly unknown[] => diagnosed(text).filter(({ code }) => code === "TS0008").map(({ severity, path }) => [severity, path]);
  const tool = `${HEAD}tools:\n${searchTool("find_it")}`;
  assert.deepEqual(severities(`${tool}${guard("acme")}${guard("globex")}`), [["error", "tools[0].static_filters"]]);
  assert.deepEqual(severities(`${tool}    static_filters:\n      must: [{ path: org, op: eq, value: acme }]\n      must: [{ path: state, op: eq, value: x }]\n`), [["error", "tools[0].static_filters.must"]]);
  assert.deepEqual(severities(`${tool}${output("redact: [{ path: email, mode: omit }]")}${output("limit_max: 3")}`), [["error", "tools[0].output"]]);
  assert.deepEqual(severities(`${tool}security: { tenancy: { mode: claim, claim: org, path: org } }\nsecurity: { rbac: { enabled: false } }\n`), [["error", "security"]]);
  assert.deepEqual(severities(`${tool}${output("limit_max: 2")}${output("limit_max: 3")}`), [["warning", "tools[0].output"]]);
});

test("a catalog over a million bytes is refused", () => {
  const limit = 1_000_000;
  const text = `${HEAD}# ${"x".repeat(limit)}`;
  assert.deepEqual(codesOf(text), ["TS0004"]);
  assert.deepEqual(codesOf(text.slice(0, limit)), []);
  assert.deepEqual(codesOf(`${HEAD}# ${"é".repeat(limit / 2)}`), ["TS0004"], "bytes count, not characters");
});

test("values may be 20 levels deep and no more", () => {
  const nested = (depth: number): string => `${HEAD}meta: { deprecated: [${"{a: ".repeat(depth)}1${"}".repeat(depth)}] }\n`;
  assert.deepEqual(codesOf(nested(17)), []);
  assert.deepEqual(codesOf(nested(18)), ["TS0005"]);
  assert.deepEqual(codesOf(nested(30)), ["TS0005"]);
});

test("nesting that would exhaust the stack is refused quickly", () => {
  const bombs = ["[".repeat(500_000), "{a: ".repeat(200_000), "- ".repeat(400_000), "? ".repeat(400_000), "[{".repeat(250_000), "a: [".repeat(200_000)];
  bombs.push(Array.from({ length: 900 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"));
  for (const bomb of bombs) {
    const found = diagnosed(bomb);
    assert.ok(found.some(({ severity }) => severity === "error"), bomb.slice(0, 10));
    assert.ok(found.every(({ line }) => line !== null), "a position");
  }
});

test("aliases may expand to 100,000 nodes and no more", () => {
  const bomb = (levels: number): string => {
    const lines = Array.from({ length: levels }, (_, i) => `  a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(", ")}]`);
    return `connections: {}\nx:\n  a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n${lines.join("\n")}\n`;
  };
  assert.deepEqual(codesOf(bomb(3)), ["VB0002", "VB0001"]);
  assert.deepEqual(codesOf(bomb(9)), ["TS0006"]);
  const many = `connections: {}\nx: &x [1, 2]\ny: [${Array(150).fill("*x").join(", ")}]\n`;
  assert.deepEqual(codesOf(many).filter((code) => code !== "VB0001" && code !== "VB0002"), [], "the number of aliases does not matter");
});

test("a file of half a million lexical parts is refused before it costs memory", () => {
  assert.deepEqual(codesOf(`${HEAD}tools: [${"1, ".repeat(200_000)}]`), ["TS0013"]);
  assert.deepEqual(codesOf(`${HEAD}meta: |\n${"\n".repeat(500_000)}  x`), ["TS0013"], "lines inside a scalar are parts too");
  assert.deepEqual(codesOf(`${HEAD}x: &a 1\ny: [${"*a, ".repeat(50_001)}]`), ["TS0006"], "as many aliases are refused before they are read");
});

test("an alias inside its own anchor is refused, not followed", () => {
  assert.deepEqual(codesOf("x: &a [*a]\nconnections: {}\n"), ["TS0009"]);
  assert.deepEqual(codesOf("x: &a { b: { <<: *a } }\nconnections: {}\n"), ["TS0009"]);
});

test("empty texts are empty catalogs", () => {
  for (const text of ["", "\n\n", "# only a comment\n", "---\n", "\uFEFF"]) assert.deepEqual(codesOf(text), ["TS0003"], JSON.stringify(text));
});

test("booleans, integers and numbers are read as leniently as they were", () => {
  const read = (tool: string): unknown => parse({ path: "t", text: `${HEAD}tools:\n${searchTool("find_it", tool)}` }).value?.value.tools?.[0];
  assert.deepEqual((read(`    output: { include_id: "yes", include_score: 0, limit_max: "7", limit_default: 5.0 }\n`) as { output: unknown }).output, {
    include_id: true, include_score: false, limit_max: 7, limit_default: 5,
  });
  assert.deepEqual(codesOf(`${HEAD}tools:\n${searchTool("find_it", "    output: { limit_max: 7.5, limit_default: true, include_id: maybe }\n")}`), ["TS0102", "TS0102", "TS0102"]);
});

test("lengths count characters, not UTF-16 units", () => {
  const tool = (description: string): string => `${HEAD}tools:\n${searchTool("find_it").replace(/description: .*/, `description: ${description}`)}`;
  assert.deepEqual(codesOf(tool("\u{1F600}".repeat(1024))), []);
  assert.deepEqual(codesOf(tool("\u{1F600}".repeat(1025))), ["TS0105"]);
});

test("unknown keys below open maps are nobody's business", () => {
  assert.deepEqual(codesOf(`${HEAD}tools:\n${searchTool("find_it").replace("required: true", "required: true, embedding: { provider: local, model: hashing-256, config: { a: { b: 1 } } }")}`), []);
});

test("a broken part does not hide the problems of others", () => {
  const text = `${HEAD}tools:\n${searchTool("first_one", "    output: { limit_max: lots }\n    parameters: [{ name: year, path: year, dtype: integer, op: like }]\n")}${searchTool("second_one").replace("main", "mian")}`;
  assert.deepEqual(codesOf(text), ["TS0102", "VB2001", "TS0201"]);
});

test("of one code a thousand are shown, and that there are more", () => {
  const found = diagnosed(`${HEAD}meta:\n${Array.from({ length: 1_500 }, (_, i) => `  k${i}: 1\n`).join("")}`);
  assert.equal(found.filter(({ code }) => code === "VB0001").length, 1_000);
  assert.deepEqual(found.filter(({ code }) => code !== "VB0001").map(({ code, severity, line }) => [code, severity, line]), [["TS0012", "info", 1_006]]);
});

test("a path is found through aliases, merges and missing keys", () => {
  const text = "a: &a\n  b: 1\nc: *a\nd:\n  <<: *a\n  e: {}\n";
  const parsed = parse({ path: "t", text: `${text}connections: {}\n` });
  assert.ok(parsed.source);
  const at = (path: readonly (string | number)[], on?: "key"): readonly unknown[] => {
    const found = locate(parsed.source as NonNullable<typeof parsed.source>, { path, ...(on === undefined ? {} : { on }) });
    return [found?.line, found?.column];
  };
  assert.deepEqual(at(["c", "b"]), [2, 6]);
  assert.deepEqual(at(["d", "b"], "key"), [2, 3]);
  assert.deepEqual(at(["d", "e", "missing"]), [6, 3]);
  assert.deepEqual(at(["nothing"]), [1, 1]);
});

test("diagnostics come sorted by place", () => {
  const text = `tools:\n${searchTool("find_it", "    limit: 5\n")}connections: { main: { backend: sqlite, path: ./a.db, pth: 1 } }\ntds_version: "2"\n`;
  const { diagnostics, source } = parse({ path: "t", text });
  const lines = locateAll([...diagnostics].reverse(), source).map(({ line }) => line);
  assert.deepEqual(lines, [...lines].sort((a, b) => Number(a) - Number(b)));
});

test("did you mean: one or two edits away, never a different word", () => {
  assert.equal(nearestName("limt_max", ["limit_max", "limit_default"]), "limit_max");
  assert.equal(nearestName("outptu", ["output", "query"]), "output");
  assert.equal(nearestName("color", ["output", "query"]), null);
  assert.equal(nearestName("a".repeat(100), ["output"]), null);
});

test("a catalog that is wrong everywhere is refused in bounded time", () => {
  const many = (make: (index: number) => string): string => Array.from({ length: 20_000 }, (_, index) => make(index)).join("\n");
  // CPU time: how busy the machine is does not matter. Work that grows with the square of the keys takes minutes.
  const started = process.cpuUsage();
  for (const text of [
    `connections: {}\nsecurity:\n  rate_limit:\n    per_tool:\n${many((n) => `      t${n}: ${n}`)}\n`,
    `connections: {}\n${many((n) => `k${n}: { redact: 1 }`)}\n`,
  ]) {
    const { diagnostics } = parse({ path: "tools.yaml", text });
    assert.ok(diagnostics.some(({ code }) => code === "TS0012"));
  }
  const { user, system } = process.cpuUsage(started);
  assert.ok((user + system) / 1000 < 9_000, `${Math.round((user + system) / 1000)} ms`);
}, { timeoutMs: 60_000 });

test.run();
