/** `validate --policy` with a real `opa`, in the forms that people write policies. `make opa` gets the program. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { nodeHost } from "../../generator/host.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("policies with opa");

const CATALOG = `tds_version: '2'
meta: { tool_catalog_version: '7' }
connections:
  store: { backend: sqlite, path: "\${STORE:-./store.db}", builtin_tools: { count: true }, builtin_defaults: { collections: [things] } }
defaults: { embedding: local/hashing-256 }
security: { tenancy: { mode: claim, claim: org, path: owner } }
tools:
  - name: find_things
    description: Find things of the store by what they are about.
    target: { connection: store, collection: things }
    query: { param: query, required: true, min_score: 0.2 }
    parameters: [{ name: colour, path: look.colour, op: in }]
    static_filters: { must: [{ path: public, value: true }], must_not: [{ path: hidden, value: true }] }
    output: { fields: [name, price], limit_max: 40, redact: [{ path: price, mode: mask }] }
  - name: rank_things
    kind: pipeline
    description: Rank the things of the store by their price.
    steps:
      - retrieve: { target: { connection: store, collection: things } }
      - sort: { by: price }
`;

interface Found {
  readonly code: string;
  readonly message: string;
  readonly tool: string | null;
  readonly path: string | null;
  readonly line: number | null;
}

async function validate(policy: string): Promise<{ readonly code: number; readonly found: readonly Found[] }> {
  const cwd = mkdtempSync(join(tmpdir(), "toolsrv-policy-"));
  try {
    writeFileSync(join(cwd, "tools.yaml"), CATALOG);
    writeFileSync(join(cwd, "p.rego"), policy);
    const io = memoryIo({ cwd });
    const code = await run(["validate", "tools.yaml", "--policy", "p.rego", "--json"], io);
    const rows = JSON.parse(io.out()) as readonly Found[];
    return { code, found: rows.filter((row) => row.code.startsWith("POL")) };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const messages = async (policy: string): Promise<readonly string[]> => (await validate(policy)).found.map(({ code, message }) => `${code} ${message}`).sort();

const CASES: readonly (readonly [name: string, body: () => Promise<void>])[] = [
  ["a policy without a denial is no diagnostic", async () => {
    const { code, found } = await validate("package tools\n\nallow := true\n\ndeny contains \"never\" if input.tds.tds_version == \"9\"\n");
    assert.deepEqual([code, found], [EXIT.OK, []]);
  }],
  ["each deny is POL001 with its tool and its place, whatever package it is in", async () => {
    const { code, found } = await validate(`package company.rules.search

deny contains denial if {
  some i, tool in input.tds.tools
  tool.output.limit_max > 30
  denial := {"msg": sprintf("%s returns up to %d rows", [tool.name, tool.output.limit_max]), "tool": tool.name, "path": sprintf("tools[%d].output.limit_max", [i])}
}
`);
    assert.equal(code, EXIT.USAGE);
    assert.deepEqual(found.filter(({ tool }) => tool === "find_things").map(({ code: id, message, tool, path, line }) => [id, message, tool, path, line]), [
      ["POL001", "find_things returns up to 40 rows", "find_things", "tools[0].output.limit_max", 14],
    ]);
  }],
  ["a set, a list, one text and several rules of one name all deny", async () => {
    assert.deepEqual(await messages('package a\n\ndeny contains "from a set" if true\n\ndeny contains "and another" if true\n'), ["POL001 and another", "POL001 from a set"]);
    assert.deepEqual(await messages('package a\n\ndeny := ["first", "second"]\n'), ["POL001 first", "POL001 second"]);
    assert.deepEqual(await messages('package a.b.c\n\ndeny := "one text"\n'), ["POL001 one text"]);
    assert.deepEqual(await messages('package a\n\ndeny[name] := true if name := input.tds.tools[_].name\n'), ["POL001 count_store", "POL001 find_things", "POL001 rank_things"]);
    assert.deepEqual(await messages('package a\n\ninner := {"x": {"deny": ["deep inside"]}}\n'), ["POL001 deep inside"]);
    assert.deepEqual(await messages("package a\n\ndeny := []\n\ndenied contains \"another name\" if true\n"), []);
  }],
  ["the input has tools with their defaults, built-ins, filters, pipelines and settings", async () => {
    const { found } = await validate(`package a

facts contains sprintf("%s %s builtin=%v guard=%v not=%v steps=%v query=%v max=%v", [t.name, t.kind, t.builtin, count(t.static_filters.must), count(t.static_filters.must_not), t.steps, is_object(t.query), t.output.limit_max]) if some t in input.tds.tools

facts contains sprintf("tenancy %s %s version %s catalog %s", [input.tds.security.tenancy.mode, input.tds.security.tenancy.path, input.tds.tds_version, input.tds.meta.tool_catalog_version]) if true

facts contains sprintf("path %s", [input.tds.connections.store.path]) if true

facts contains sprintf("redact %s %s", [r.path, r.mode]) if some r in input.tds.tools[0].output.redact

deny := facts
`);
    assert.deepEqual(found.map(({ message }) => message).sort(), [
      "count_store count builtin=true guard=0 not=0 steps=[] query=false max=50",
      "find_things search builtin=false guard=1 not=1 steps=[] query=true max=40",
      "path ${STORE:-./store.db}",
      'rank_things pipeline builtin=false guard=0 not=0 steps=["retrieve", "sort"] query=false max=50',
      "redact price mask",
      "tenancy claim owner version 2 catalog 7",
    ]);
  }],
  ["a policy that opa cannot read or finish is POL000 with what opa says", async () => {
    const table: readonly (readonly [string, RegExp])[] = [
      ["package a\n\ndeny contains {\n", /opa ended with code 2: p\.rego:4: unexpected eof token \(and 1 more\)/],
      ["deny := 1\n", /opa ended with code 2: p\.rego:1: package expected/],
      ["package a\n\ndeny := x if { x := input.nowhere; y }\n", /opa ended with code 2: p\.rego:3: rego_unsafe_var_error|var y is unsafe/],
      ['package a\n\ndeny := "one" if true\n\ndeny := "two" if true\n', /code 2: p\.rego:\d: rule data\.a\.deny produced conflicting values/],
    ];
    for (const [policy, want] of table) {
      const { code, found } = await validate(policy);
      assert.deepEqual([code, found.map((row) => row.code)], [EXIT.USAGE, ["POL000"]], policy);
      assert.match(found[0]?.message ?? "", want);
    }
  }],
];

const opa = await nodeHost().run("opa", ["version"]);
for (const [name, body] of CASES) {
  if (opa.code === 0) test(name, body, { timeoutMs: 120_000 });
  else test.skip(name, "opa is not installed; make opa gets it where there is Go");
}

test.run();
