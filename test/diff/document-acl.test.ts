/** What a change of document access is to `toolsrv diff`, and that nothing that loosens it passes as anything else. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { compile } from "../../generator/compile.js";
import { compareSurfaces, type Surface } from "../../generator/diff/compare.js";
import { isWithin } from "../../generator/diff/document-acl.js";
import type { AclRule, DocumentAclPlan } from "../../runtime/abi/plan.js";
import { suite } from "../lib/suite.js";

const test = suite("diff/document access");

const any_of = (claim: string, field: string) => ({ any_of: { claim, field } });
const equals = (claim: string, field: string) => ({ equals: { claim, field } });
const at_most = (claim: string, field: string) => ({ at_most: { claim, field } });
const [A, B, C] = [any_of("groups", "allowed"), equals("sub", "owner"), at_most("clearance", "level")] as const;

type Written = { readonly combine?: "all" | "any"; readonly rules: readonly object[] } | undefined;

function surface(acl: Written, more: readonly object[] = []): Surface {
  const tool = (name: string, extra: object = {}): object => ({ name, description: "Search documents by meaning. Use when the user asks about their content.", target: { connection: "main", collection: "docs" }, query: { required: true }, ...extra });
  const catalog = {
    tds_version: "2", connections: { main: { backend: "sqlite", path: "./a.db", builtin_tools: { list_collections: true }, builtin_defaults: { collections: ["docs"] } } }, defaults: { embedding: "local/hashing-256" },
    ...(acl === undefined ? {} : { security: { document_acl: acl } }),
    tools: [tool("search_docs"), tool("by_author", { parameters: [{ name: "author", path: "author", resolve: { kind: "directory", field: "author" } }] }), ...more],
  };
  const { value } = compile({ path: "tools.yaml", text: JSON.stringify(catalog) }, { target: "describe" });
  assert.ok(value);
  const { catalog: identity, settings, connections, embeddings, definitions, tools } = value.plans;
  return { project: "tools", file: "tools.yaml", catalog: identity, settings, connections, embeddings, definitions, plans: tools, lines: {} };
}

const W = "isolation-weakening", S = "breaking";

const TABLE: readonly (readonly [what: string, old: Written, next: Written, kind: string | null])[] = [
  ["it is removed", { rules: [A] }, undefined, W],
  ["a rule is removed under all", { rules: [A, B] }, { rules: [A] }, W],
  ["a rule is added under any", { combine: "any", rules: [A] }, { combine: "any", rules: [A, B] }, W],
  ["all becomes any", { rules: [A, B] }, { combine: "any", rules: [A, B] }, W],
  ["another field is compared", { rules: [A] }, { rules: [any_of("groups", "readers")] }, W],
  ["another claim is compared", { rules: [A] }, { rules: [any_of("teams", "allowed")] }, W],
  ["at most becomes equals", { rules: [C] }, { rules: [equals("clearance", "level")] }, W],
  ["one of two rules under any is replaced", { combine: "any", rules: [A, B] }, { combine: "any", rules: [A, C] }, W],
  ["it is added", undefined, { rules: [A] }, S],
  ["a rule is added under all", { rules: [A] }, { rules: [A, B] }, S],
  ["a rule is removed under any", { combine: "any", rules: [A, B] }, { combine: "any", rules: [A] }, S],
  ["any becomes all", { combine: "any", rules: [A, B] }, { rules: [A, B] }, S],
  ["any becomes one of its rules and more", { combine: "any", rules: [A, B] }, { rules: [B, C] }, S],
  ["rules change their order", { rules: [A, B, C] }, { rules: [C, A, B] }, null],
  ["all and any of one rule are the same", { combine: "all", rules: [A] }, { combine: "any", rules: [A] }, null],
];

for (const [what, old, next, kind] of TABLE) {
  test(`${what}: ${kind ?? "no change of who sees what"}`, () => {
    const changes = compareSurfaces(surface(old), surface(next)).map((change) => `${change.class} ${change.tool ?? "-"} ${change.subject}`);
    const want = kind === null ? [] : [`${kind} search_docs document access`, `${kind} by_author document access`, `${kind} by_author directory of author, document access`, `${kind} list_main_collections document access`];
    assert.deepEqual([...changes].sort(), [...want].sort());
  });
}

test("a new tool without the document access that every tool had weakens isolation", () => {
  const plain = surface(undefined, [{ name: "raw_docs", kind: "scroll", description: "List documents as they are stored. Use to look around.", target: { connection: "main", collection: "docs" } }]);
  const guarded = surface({ rules: [A] });
  const next: Surface = { ...guarded, plans: { ...guarded.plans, raw_docs: plain.plans["raw_docs"] as Surface["plans"][string] }, definitions: [...guarded.definitions, ...plain.definitions.filter(({ name }) => name === "raw_docs")] };
  assert.deepEqual(compareSurfaces(guarded, next).filter(({ class: kind }) => kind === W).map(({ tool, subject }) => `${tool ?? "-"} ${subject}`), ["raw_docs reach"]);
});

test("what counts as within shows no caller a row that they did not see before", () => {
  const rule = fc.constantFrom<AclRule>(...(["x", "y", "z"].map((name) => ({ match: "equals", claim: name, field: name })) as AclRule[]));
  const acl = fc.record({ combine: fc.constantFrom<"all" | "any">("all", "any"), rules: fc.array(rule, { minLength: 1, maxLength: 3 }) });
  const sees = ({ combine, rules }: DocumentAclPlan, met: readonly string[]): boolean => (combine === "all" ? rules.every(({ claim }) => met.includes(claim)) : rules.some(({ claim }) => met.includes(claim)));
  let within = 0;
  fc.assert(fc.property(acl, acl, (old, next) => {
    const subsets = Array.from({ length: 8 }, (_, bits) => ["x", "y", "z"].filter((_name, index) => (bits >> index) & 1));
    const isTrue = subsets.every((met) => !sees(next, met) || sees(old, met));
    within += isTrue ? 1 : 0;
    assert.equal(isWithin(next, old), isTrue);
  }), { numRuns: 2_000, seed: 5 });
  assert.ok(within > 100);
});

test.run();
