/** Texts that want to break a reader of catalogs: too deep, too wide, too repetitive, or oddly written. */
import { HEAD, searchTool } from "../phases/source.js";

const many = (n: number, line: (i: number) => string, between = "\n"): string => Array.from({ length: n }, (_, i) => line(i)).join(between);

/** A catalog is refused above this many bytes; a text may be cut to it. */
const MAX_CATALOG = 1_000_000;

const GOOD = `${HEAD}tools:\n${searchTool("find_it")}`;

const TEXTS: { readonly [name: string]: string } = {
  "a map of 40,000 keys": `${HEAD}meta:\n${many(40_000, (i) => `  k${i}: 1`)}`,
  "one key 100,000 times": `${HEAD}meta:\n${many(100_000, () => "  k: 1")}`,
  "one tool key 50,000 times": `${GOOD}${many(50_000, () => "    kind: search")}\n`,
  "a list of 200,000 entries": `${HEAD}tools: [${"1, ".repeat(200_000)}]`,
  "20,000 empty tools": `${HEAD}tools:\n${many(20_000, () => "  - {}")}`,
  "4,000 tools": `${HEAD}tools:\n${many(4_000, (i) => searchTool(`find_${i}`), "")}`,
  "50,000 connections": `connections:\n${many(25_000, (i) => `  c${i}: { backend: nope }`)}`,
  "200,000 aliases": `${HEAD}x: &a 1\ny: [${"*a, ".repeat(200_000)}]`,
  "50,000 aliases of one anchor": `${GOOD}x: &a 1\ny: [${"*a, ".repeat(49_990)}]`,
  "25,000 anchors, each with its alias": `${GOOD}y: [${many(24_999, (i) => `&a${i} 1, *a${i}`, ", ")}]`,
  "40,000 merges of one mapping": `${GOOD}x: &a {}\ny: [${"{<<: *a},".repeat(40_000)}]`,
  "2,000 tools behind an alias": `${HEAD}x-tools: &t\n${many(2_000, (i) => searchTool(`find_${i}`), "")}\ntools: *t`,
  "200,000 anchors": `${HEAD}y: [${many(70_000, (i) => `&a${i} 1`, ", ")}]`,
  "ten levels of ten aliases": `a0: &a0 [1]\n${many(10, (i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]`)}`,
  "thirty levels of two aliases": `a0: &a0 [1]\n${many(30, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)}`,
  "a map of aliases of maps": `a0: &a0 {k: 1}\n${many(12, (i) => `a${i + 1}: &a${i + 1} {${many(9, (k) => `k${k}: *a${i}`, ", ")}}`)}`,
  "an alias of its own holder": "a: &a [*a]\nb: &b { <<: *b }\nc: &c { d: *c }\n",
  "aliases as keys": `x: &a k\n${many(10_000, () => "*a : 1")}`,
  "a chain of 5,000 merges": `m0: &m0 { k: 1 }\n${many(5_000, (i) => `m${i + 1}: &m${i + 1} { <<: *m${i}, k${i}: 1 }`)}`,
  "merges of merges, ten each": `m0: &m0 { k: 1 }\n${many(12, (i) => `m${i + 1}: &m${i + 1} { <<: [${many(10, () => `*m${i}`, ", ")}] }`)}`,
  "a merge of 100,000 sources": `m: &m { k: 1 }\nn: { <<: [${"*m, ".repeat(100_000)}] }`,
  "a merge of what is no map": `${GOOD}x: { <<: 5 }\ny: { <<: [1, { a: 1 }] }\nz: { <<: *nowhere }\n`,
  "a scalar of 900,000 characters": `${HEAD}tools:\n${searchTool("x".repeat(900_000))}`,
  "a key of 900,000 characters": `${HEAD}${"k".repeat(900_000)}: 1\n`,
  "a connection of 900,000 characters": `connections: { ${"k".repeat(900_000)}: { backend: nope } }\n`,
  "a reference to 900,000 characters": `${GOOD.replace("connection: main,", `connection: ${"m".repeat(900_000)},`)}`,
  "a path of 900,000 characters": `${GOOD}    parameters: [{ name: a, path: ${"p.".repeat(450_000)}p }]\n`,
  "a block scalar of 300,000 lines": `${HEAD}meta:\n  tool_catalog_version: |\n${"    x\n".repeat(160_000)}`,
  "a folded scalar of empty lines": `${HEAD}meta:\n  tool_catalog_version: >\n${"\n".repeat(900_000)}    x\n`,
  "a quoted scalar over 200,000 lines": `${HEAD}meta:\n  tool_catalog_version: "${"\n  a".repeat(200_000)}"\n`,
  "900,000 escapes": `${HEAD}meta: { tool_catalog_version: "${"\\x41".repeat(220_000)}" }`,
  "a quote without an end": `${HEAD}meta: { tool_catalog_version: "${"x ".repeat(450_000)}`,
  "a pattern of 900,000 digits": `${HEAD}deadline_s: ${"9".repeat(900_000)}`,
  "900,000 underscores": `${HEAD}deadline_s: 1${"_".repeat(900_000)}x`,
  "900,000 colons": `${HEAD}deadline_s: 1${":0".repeat(450_000)}x`,
  "200,000 references": `connections: { main: { backend: qdrant, url: "${"${A}".repeat(200_000)}" } }`,
  "a reference without an end": `connections: { main: { backend: qdrant, url: "${"${".repeat(400_000)}" } }`,
  "900,000 brackets": "[".repeat(900_000),
  "900,000 braces": "{".repeat(900_000),
  "400,000 dashes": "- ".repeat(400_000),
  "300,000 question marks": "? ".repeat(300_000),
  "300,000 nested keys on one line": "a: ".repeat(300_000),
  "1,200 levels of blocks": many(1_200, (i) => `${" ".repeat(i)}a:`),
  "brackets that close": `${HEAD}meta: ${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  "20 levels, 100,000 values": `${HEAD}meta: { deprecated: [${"{a: ".repeat(15)}[${"1,".repeat(100_000)}]${"}".repeat(15)}] }`,
  "tabs everywhere": `${HEAD}tools:\n${"\t- a\n".repeat(100_000)}`,
  "tabs after dashes": `${HEAD}tools:\n${"  -\t-\ta\n".repeat(50_000)}`,
  "a byte order mark": `\uFEFF${GOOD}`,
  "byte order marks everywhere": GOOD.replaceAll(" ", "\uFEFF "),
  "a byte order mark before each line": GOOD.replaceAll("\n", "\n\uFEFF"),
  "carriage returns alone": GOOD.replaceAll("\n", "\r"),
  "both line ends": GOOD.replaceAll("\n", "\r\n"),
  "line ends of four kinds": GOOD.replaceAll("\n", "\r\n\u2028\u0085\n"),
  "500,000 line ends": `${GOOD}${"\r\n".repeat(400_000)}`,
  "nul bytes": `${GOOD}\0\0\0${"\0".repeat(100_000)}`,
  "control characters": `${HEAD}meta: { tool_catalog_version: "${many(32, (i) => String.fromCharCode(i), "")}" }`,
  "marks that change the direction": GOOD.replaceAll("a", "a\u202e\u2066"),
  "combining marks": `${HEAD}tools:\n${searchTool(`e${"\u0301".repeat(200_000)}`)}`,
  "letters that look like others": GOOD.replace("tools:", "t\u043e\u043els:"),
  "emoji of many parts": `${HEAD}tools:\n${searchTool("\u{1F468}\u200D\u{1F469}\u200D\u{1F467}".repeat(50_000))}`,
  "halves of pairs": `${HEAD}tools:\n${searchTool("\ud83d".repeat(10_000))}`,
  "noncharacters": GOOD.replaceAll("e", "e\uFFFE\uFFFF"),
  "a comment of a megabyte": `# ${"x".repeat(990_000)}`,
  "a million comments": `${HEAD}${"#\n".repeat(480_000)}`,
  "tags of all kinds": `${HEAD}a: !!python/object/apply:os.system ["x"]\nb: !!binary aGk=\nc: !<tag:x> 1\nd: !!set { a, b }\ne: !!omap [ a: 1 ]\nf: !e!x 1\n`,
  "50,000 tags": `${HEAD}x: [${"!!str 1, ".repeat(50_000)}]`,
  "directives": `%YAML 9.9\n%TAG ! tag:x,2000:\n%FOO bar\n---\n${GOOD}`,
  "100,000 documents": "---\na\n".repeat(100_000),
  "names of every object": `${GOOD}__proto__: { a: 1 }\nconstructor: 1\ntoString: x\nhasOwnProperty: y\n"": 1\nnull: 1\n~: 2\n[1]: 3\n{a: 1}: 4\n`,
  "keys that are no texts": `${HEAD}meta: { 1: a, 1.5: b, true: c, null: d, 2024-01-01: e, ? [x] : f, ? {y: 1} : g }\n`,
  "an expression of 100,000 parentheses": pipelineOf(`${"(".repeat(100_000)}1${")".repeat(100_000)}`),
  "an expression of 100,000 terms": pipelineOf(`1${" + 1".repeat(100_000)} > 0`),
  "an expression of 100,000 negations": pipelineOf(`${"not ".repeat(100_000)}a`),
  "3,000 steps": `${HEAD}tools:\n  - name: rank_it\n    kind: pipeline\n    description: Rank the articles by what they are worth, for an overview.\n    steps:\n      - retrieve: { target: { connection: main, collection: c } }\n${many(3_000, () => "      - sort: { by: a }")}\n`,
  "a filter tree of 10,000 levels": pipelineFilter(`${"{ and: [".repeat(10_000)}{ path: a, value: 1 }${"] }".repeat(10_000)}`),
  "a filter tree of 10,000 leaves": pipelineFilter(`{ or: [${"{ path: a, op: eq, value: 1 }, ".repeat(10_000)}] }`),
  "a pattern that goes back": `${GOOD}    output: { redact: [{ path: a, mode: pattern, patterns: [{ regex: "(a+)+(b|a)*\\\\1{5,}${"(x+x+)+".repeat(500)}" }] }] }\n`,
  "100,000 enum members": `${GOOD}    parameters: [{ name: a, path: a, enum: [${many(100_000, (i) => `v${i}`, ", ")}] }]\n`,
};

function pipelineOf(expression: string): string {
  return `${HEAD}tools:\n  - name: rank_it\n    kind: pipeline\n    description: Rank the articles by what they are worth, for an overview.\n    steps:\n      - retrieve: { target: { connection: main, collection: c } }\n      - post_filter: { expr: ${JSON.stringify(expression)} }\n`;
}

function pipelineFilter(filter: string): string {
  return `${HEAD}tools:\n  - name: rank_it\n    kind: pipeline\n    description: Rank the articles by what they are worth, for an overview.\n    steps:\n      - retrieve: { target: { connection: main, collection: c }, filter: ${filter} }\n`;
}

/** Name → text, none longer than a catalog may be. */
export const HOSTILE_TEXTS: ReadonlyMap<string, string> = new Map(Object.entries(TEXTS).map(([name, text]) => [name, text.slice(0, MAX_CATALOG)]));
