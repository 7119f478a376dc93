/** The guard checker: what it certifies, and that no loss of a guard passes it. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { analyze, compile } from "../../generator/compile.js";
import { certifyRoles } from "../../generator/3-check/guard-roles.js";
import { certify } from "../../generator/3-check/guard.js";
import type { Checked, Plans } from "../../generator/ir.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { compiled, HEAD, searchTool } from "./source.js";

const test = suite("guard");

type Mutable = { [key: string]: Mutable } & Mutable[] & string;

const GUARDED = `tds_version: "2"
connections:
  main:
    backend: sqlite
    path: a.db
    builtin_tools: { semantic_search: true, get_by_id: true, count: true, list_collections: true }
    builtin_defaults: { collections: [articles, news], static_filters: { must: [{ path: org, value: acme }], must_not: [{ path: state, op: in, value: [draft, gone] }] } }
  vectors: { backend: pinecone, api_key: "\${KEY}", host: h, namespace: acme }
  classes: { backend: weaviate, url: u, tenant: acme }
defaults: { embedding: local/hashing-256 }
security: { tenancy: { mode: claim, claim: org_id, path: org } }
tools:
  - name: search_it
    description: Search the articles by meaning, for any question at all.
    target: { connection: main, collection: articles }
    query: { param: q }
    static_filters: { must: [{ path: lang, value: en }, { path: size, op: gt, value: 3 }], must_not: [{ path: state, op: eq, value: draft }, { path: year, op: lt, value: 2020 }] }
    parameters: [{ name: author, path: author, resolve: { kind: directory, field: author } }]
  - name: get_it
    kind: lookup
    description: Look up one article by its slug, when it was named before.
    target: { connection: main, collection: articles }
    static_filters: [{ path: lang, op: in, value: [en, de] }]
    parameters: [{ name: slug, path: slug, required: true }]
    output: { limit_default: 1 }
  - name: count_it
    kind: count
    description: Count the articles of one author, or all of them together.
    target: { connection: main, collection: articles }
    static_filters: [{ path: lang, value: en }]
  - name: list_it
    kind: scroll
    description: List the articles in the order of their ids, for browsing.
    target: { connection: main, collection: articles }
    static_filters: [{ path: note, op: exists, value: true }]
  - name: group_it
    kind: pipeline
    description: The best articles of each author, for an overview of all.
    static_filters: [{ path: lang, value: en }]
    steps:
      - retrieve: { target: { connection: main, collection: articles }, query: { param: q, required: true }, filter: { or: [{ path: a, value: 1 }, { path: b, value: 2 }] } }
      - sort: { by: year }
  - name: search_vectors
    description: Search the vectors by meaning, for any question at all.
    target: { connection: vectors, collection: articles }
    query: { required: true }
  - name: search_classes
    description: Search the classes by meaning, for any question at all.
    target: { connection: classes, collection: Article }
    query: { required: true }
`;

interface Fixture {
  readonly name: string;
  readonly plans: Plans;
  readonly checked: Checked;
}

/** Every catalog of the examples and of the golden cases that compiles, and one that has every kind of guard. */
function fixtures(): readonly Fixture[] {
  const folders = ["specs/examples", "test/golden/diagnostics"].flatMap((home) => readdirSync(repo(home)).map((folder) => `${home}/${folder}/tools.yaml`));
  const texts = folders.filter((path) => existsSync(repo(path))).map((path) => [path, readFileSync(repo(path), "utf8")] as const);
  return [["guarded", GUARDED] as const, ...texts].flatMap(([name, text]) => {
    const { value } = compiled(text, { env: { KEY: "k", DSN: "d", TENANT: "t", URL: "u" } });
    return value === null ? [] : [{ name, plans: value.plans, checked: value.checked }];
  });
}

test("every branch of every kind is certified with its guards", () => {
  const { value } = compiled(GUARDED, { env: { KEY: "k" } });
  assert.ok(value);
  const text = value.certificates.map(({ tool, branches }) => `${tool}: ${branches.map(({ branch, guards, tenancy }) => `${branch}[${guards.join("; ")}] ${tenancy}`).join(" | ")}`);
  const lang = 'lang eq "en"; size gt 3; state ne "draft"; year gte 2020';
  const org = 'org eq "acme"; state nin ["draft","gone"]';
  assert.deepEqual(text, [
    `search_it: search[${lang}] filter | filter-only[${lang}] filter | directory:author[${lang}] filter`,
    'get_it: lookup[lang in ["en","de"]] filter',
    'count_it: count[lang eq "en"] filter',
    "list_it: scroll[note exists true] filter",
    'group_it: retrieve:search[lang eq "en"] filter',
    "search_vectors: search[namespace of the connection] filter",
    "search_classes: search[tenant of the connection] filter",
    `search_main: search[${org}] filter`,
    `get_main_by_id: lookup[${org}] filter`,
    `count_main: count[${org}] filter`,
    `list_main_collections: count-each[${org}] filter`,
  ]);
});

/** Each way to lose what isolates one place of a plan. */
function* mutations(plan: Mutable, path: string): Iterable<readonly [string, (copy: Mutable) => void]> {
  for (const key of ["guard", "tenant"]) {
    if (plan[key] !== undefined) yield [`${path}.${key} deleted`, (copy) => void delete copy[key]];
  }
  for (const key of Object.keys(plan["route"] ?? {})) {
    yield [`${path}.route.${key} deleted`, (copy) => void delete copy["route"]?.[key]];
    yield [`${path}.route.${key} changed`, (copy) => Object.assign(copy["route"] as object, { [key]: "other" })];
  }
  for (const key of Object.keys(plan["tenant"] ?? {})) yield [`${path}.tenant.${key} changed`, (copy) => Object.assign(copy["tenant"] as object, { [key]: "other" })];
  for (const key of ["connection", "collection"]) {
    if (plan[key] !== undefined) yield [`${path}.${key} changed`, (copy) => Object.assign(copy, { [key]: "elsewhere" })];
  }
  const conditions = (plan["guard"]?.["and"] ?? []) as Mutable[];
  if (conditions.length > 0) yield [`${path}.guard emptied`, (copy) => Object.assign(copy, { guard: { and: [] } })];
  if (conditions.length > 1) yield [`${path}.guard weakened to or`, (copy) => Object.assign(copy, { guard: { or: copy["guard"]?.["and"] } })];
  for (const [index, condition] of conditions.entries()) {
    const each = (copy: Mutable): Mutable => copy["guard"]?.["and"] as Mutable;
    yield [`${path}.guard[${index}] deleted`, (copy) => void each(copy).splice(index, 1)];
    yield [`${path}.guard[${index}] made optional`, (copy) => void each(copy).splice(index, 1, { or: [condition, { path: "x", op: "exists", value: false }] } as unknown as Mutable)];
    yield [`${path}.guard[${index}].op changed`, (copy) => Object.assign(each(copy)[index] as object, { op: String(condition["op"]) === "eq" ? "ne" : "eq" })];
    yield [`${path}.guard[${index}].path changed`, (copy) => Object.assign(each(copy)[index] as object, { path: "other" })];
    yield [`${path}.guard[${index}].value changed`, (copy) => Object.assign(each(copy)[index] as object, { value: "other" })];
    if (Array.isArray(condition["value"])) {
      yield [`${path}.guard[${index}].value widened`, (copy) => void ((each(copy)[index] as Mutable)["value"] as Mutable).push("more" as Mutable)];
    }
  }
}

/** Places of a plan that carry guards: the plan, a pipeline's retrieve, and each directory. */
function placesOf(plan: Mutable): readonly (readonly [string, (plan: Mutable) => Mutable])[] {
  const read = (from: Mutable): Mutable => (from["retrieve"] as Mutable | undefined) ?? from;
  const directories = ((read(plan)["bind"] as Mutable | undefined) ?? []).flatMap((binding, index) =>
    binding["resolve"] === undefined ? [] : [[`bind[${index}].resolve`, (from: Mutable) => (read(from)["bind"] as Mutable)[index]?.["resolve"] as Mutable] as const]);
  return [["plan", read], ...directories];
}

test("no lost, weakened or changed guard passes, in any catalog of the repository", () => {
  let tried = 0;
  for (const { name, plans, checked } of fixtures()) {
    assert.ok(certify(plans.tools, checked).value, `${name} as planned`);
    for (const [tool, plan] of Object.entries(plans.tools)) {
      for (const [place, select] of placesOf(plan as unknown as Mutable)) {
        for (const [what, mutate] of mutations(select(plan as unknown as Mutable), `${name} ${tool} ${place}`)) {
          const copy = JSON.parse(JSON.stringify(plans.tools)) as Mutable;
          mutate(select(copy[tool] as Mutable));
          const { value, diagnostics } = certify(copy as unknown as Plans["tools"], checked);
          assert.equal(value, null, `${what} was not noticed`);
          assert.ok(diagnostics.every(({ code, tool: blamed }) => code === "TS0401" && blamed === tool), what);
          tried += 1;
        }
      }
    }
  }
  assert.ok(tried > 150, `${tried} mutations`);
});

test("a plan that is missing, extra or of another kind is noticed", () => {
  const { value } = compiled(GUARDED, { env: { KEY: "k" } });
  assert.ok(value);
  const { tools } = value.plans;
  const { count_it: _, ...fewer } = tools;
  assert.equal(certify(fewer, value.checked).value, null);
  assert.equal(certify({ ...tools, back_door: tools["count_it"] as (typeof tools)[string] }, value.checked).value, null);
  assert.equal(certify({ ...tools, count_it: tools["list_it"] as (typeof tools)[string] }, value.checked).value, null);
});

test("the same condition written differently is still the same, a stronger guard too", () => {
  const { value } = compiled(`${HEAD}tools:\n${searchTool("find_it", "    static_filters: [{ path: lang, value: en }]\n")}`);
  assert.ok(value);
  const plan = value.plans.tools["find_it"] as { guard: unknown };
  const guards = [
    { path: "lang", op: "eq", value: "en" },
    { and: [{ and: [{ value: "en", op: "eq", path: "lang" }] }] },
    { and: [{ path: "x", op: "eq", value: 1 }, { path: "lang", op: "eq", value: "en" }] },
    { or: [{ path: "lang", op: "eq", value: "en" }] },
    { or: [{ and: [{ path: "lang", op: "eq", value: "en" }, { path: "a", op: "eq", value: 1 }] }, { path: "lang", op: "eq", value: "en" }] },
  ];
  for (const guard of guards) assert.ok(certify({ find_it: { ...plan, guard } as Plans["tools"][string] }, value.checked).value, JSON.stringify(guard));
});

const ROLES = `${HEAD}security:
  rbac: { enabled: true, default_role: reader, role_claim: groups, roles: { reader: { allow: [find_it] }, owner: { allow: ["*"] }, idle: {} }, deny_tools: [deny_it, run_tool] }
tools:
${searchTool("find_it")}${searchTool("keep_it")}${searchTool("deny_it")}`;

test("who may call a tool is certified, and no change of roles passes", () => {
  const { value } = compiled(ROLES);
  assert.ok(value);
  assert.deepEqual(value.certificates.map(({ tool, callers }) => [tool, callers]), [["find_it", ["reader", "owner"]], ["keep_it", ["owner"]], ["deny_it", []]]);
  const { checked, plans: { settings } } = value;
  const rbac = settings.security?.rbac;
  assert.ok(rbac);
  assert.deepEqual(certifyRoles(settings, checked).diagnostics, []);
  const changed: readonly (typeof rbac | undefined)[] = [
    undefined,
    { ...rbac, default_role: "owner" }, { ...rbac, role_claim: "roles" }, { ...rbac, deny_tools: ["deny_it"] }, { ...rbac, deny_tools: [] }, { ...rbac, roles: {} },
    { ...rbac, roles: { ...rbac.roles, reader: { allow: ["find_it", "keep_it"] } } }, { ...rbac, roles: { ...rbac.roles, reader: { allow: ["*"] } } },
    { ...rbac, roles: { ...rbac.roles, reader: { allow: [] } } }, { ...rbac, roles: { ...rbac.roles, guest: { allow: ["keep_it"] } } },
  ];
  for (const each of changed) {
    const { diagnostics } = certifyRoles(each === undefined ? {} : { security: { rbac: each } }, checked);
    assert.ok(diagnostics.length > 0 && diagnostics.every(({ code }) => code === "TS0401"), JSON.stringify(each));
  }
  const open = compiled(`${HEAD}tools:\n${searchTool("find_it")}`).value;
  assert.ok(open);
  assert.equal(open.certificates[0]?.callers, undefined);
  assert.equal(certifyRoles({ security: { rbac } }, open.checked).diagnostics.length, 1);
});

test("a catalog whose guard can't be shown does not compile", () => {
  const source = { path: "tools.yaml", text: GUARDED };
  const options = { env: new Map([["KEY", "k"]]), target: "describe" } as const;
  assert.ok(compile(source, options).value);
  const { value } = analyze(source, options);
  assert.ok(value);
  assert.equal(certify({}, value).diagnostics.length, value.tools.length);
});

test.run();
