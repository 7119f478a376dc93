/** The guard checker: what it certifies, and that no loss of a guard passes it. */
import assert from "node:assert/strict";
import { certify, type Proof } from "../../generator/proof/certify.js";
import { readStockYaml } from "../../generator/proof/stock-yaml.js";
import type { Plans } from "../../generator/ir.js";
import { suite } from "../lib/suite.js";
import { compiled, HEAD, searchTool } from "../phases/source.js";
import { ACCESS_GUARDED, GUARDED } from "./guarded.js";

const test = suite("guard");

/** A proof of compiled plans with other tables in their place. */
function prove(text: string, plans: Plans, change: { readonly tools?: unknown; readonly settings?: unknown; readonly connections?: unknown } = {}): Proof {
  const { settings = plans.settings, connections = plans.connections, tools = plans.tools } = change;
  return certify({ settings, connections, plans: tools }, readStockYaml(text));
}

test("every branch of every kind is certified with its guards", () => {
  const { value } = compiled(GUARDED, { unfilled: true });
  assert.ok(value);
  const text = value.certificates.map(({ tool, branches }) => `${tool}: ${branches.map(({ branch, guards, tenancy }) => `${branch}[${guards.join("; ")}] ${tenancy}`).join(" | ")}`);
  const lang = 'lang eq "en"; size gt 3; state ne "draft"; year gte 2020';
  const org = 'org eq "acme"; state nin ["draft","gone"]';
  assert.deepEqual(text, [
    `search_it: search[${lang}] filter | filter-only[${lang}] filter | directory:author[${lang}] filter | directory:editor[${lang}; active eq true] filter | directory:owner[role eq "owner"; state ne "gone"] filter`,
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

test("document access is certified in every branch of every kind", () => {
  const { value } = compiled(ACCESS_GUARDED, { unfilled: true });
  assert.ok(value);
  const branches = value.certificates.flatMap(({ branches: shown }) => shown);
  assert.deepEqual(branches.length, 15);
  for (const { access } of branches) {
    assert.deepEqual(access, { combine: "any", rules: ["allowed has one of claim 'groups'", "owner equals claim 'sub'", "level is at most claim 'clearance'"] });
  }
});

test("plans with document access are no proof of a catalog without it, nor the other way round", () => {
  for (const [text, other] of [[GUARDED, ACCESS_GUARDED], [ACCESS_GUARDED, GUARDED], [ACCESS_GUARDED, ACCESS_GUARDED.replace("combine: any", "combine: all")], [ACCESS_GUARDED, ACCESS_GUARDED.replace("claim: sub", "claim: email")]] as const) {
    const { value } = compiled(text, { unfilled: true });
    assert.ok(value);
    const { problems } = prove(other, value.plans);
    assert.equal(problems.filter(({ guard }) => guard.includes("document access")).length, 15, other.slice(0, 400));
  }
});

test("what document access says and the proof does not understand is never taken for nothing", () => {
  const { value } = compiled(ACCESS_GUARDED, { unfilled: true });
  assert.ok(value);
  const edits = [
    ["{ equals: { claim: sub, field: owner } }", "{ equals: { claim: sub, field: owner, op: ne } }"], ["{ equals: { claim: sub, field: owner } }", "{ equals: { claim: sub, field: owner }, at_most: { claim: a, field: b } }"],
    ["{ equals: { claim: sub, field: owner } }", "{ equals: sub }"], ["{ equals: { claim: sub, field: owner } }", "null"], ["combine: any", "combine: any, unless: { role: admin }"], ["combine: any", "combine: [any]"],
  ] as const;
  for (const [from, to] of edits) {
    const text = ACCESS_GUARDED.replace(from, to);
    assert.notEqual(text, ACCESS_GUARDED);
    assert.equal(prove(text, value.plans).certificates, null, to);
  }
  for (const written of ["null", "[]", "{}", "{ rules: [] }", "yes"]) {
    const bare = compiled(GUARDED, { unfilled: true }).value;
    assert.ok(bare);
    assert.equal(prove(GUARDED.replace("security: { ", `security: { document_acl: ${written}, `), bare.plans).certificates, null, written);
  }
});

test("document access in another place than security is a problem", () => {
  const { value } = compiled(GUARDED, { unfilled: true });
  assert.ok(value);
  const text = GUARDED.replace("  - name: get_it\n", "  - name: get_it\n    document_acl: { rules: [{ equals: { claim: sub, field: owner } }] }\n");
  assert.notEqual(text, GUARDED);
  assert.equal(prove(text, value.plans).certificates, null);
});

test("a plan that is missing, extra or of another kind is noticed", () => {
  const { value } = compiled(GUARDED, { unfilled: true });
  assert.ok(value);
  const { tools } = value.plans;
  const { count_it: _, ...fewer } = tools;
  assert.equal(prove(GUARDED, value.plans, { tools: fewer }).certificates, null);
  assert.equal(prove(GUARDED, value.plans, { tools: { ...tools, back_door: tools["count_it"] } }).certificates, null);
  assert.equal(prove(GUARDED, value.plans, { tools: { ...tools, count_it: tools["list_it"] } }).certificates, null);
});

test("the same condition written differently is still the same, a stronger guard too", () => {
  const text = `${HEAD}tools:\n${searchTool("find_it", "    static_filters: [{ path: lang, value: en }]\n")}`;
  const { value } = compiled(text);
  assert.ok(value);
  const plan = value.plans.tools["find_it"] as { guard: unknown };
  const guards = [
    { path: "lang", op: "eq", value: "en" },
    { and: [{ and: [{ value: "en", op: "eq", path: "lang" }] }] },
    { and: [{ path: "x", op: "eq", value: 1 }, { path: "lang", op: "eq", value: "en" }] },
    { or: [{ path: "lang", op: "eq", value: "en" }] },
    { or: [{ and: [{ path: "lang", op: "eq", value: "en" }, { path: "a", op: "eq", value: 1 }] }, { path: "lang", op: "eq", value: "en" }] },
  ];
  for (const guard of guards) assert.ok(prove(text, value.plans, { tools: { find_it: { ...plan, guard } } }).certificates, JSON.stringify(guard));
});

/** A reference as the compiler leaves it open. */
function openReference(name: string, fallback?: string): object {
  const { value } = compiled(`${HEAD.replace("./main.db", `"\${${name}${fallback === undefined ? "" : `:-${fallback}`}}"`)}tools:\n${searchTool("find_it")}`, { unfilled: true });
  return value?.plans.connections["main"]?.settings["path"] as object;
}

const ROLES = `${HEAD}security:
  rbac: { enabled: true, default_role: reader, role_claim: groups, roles: { reader: { allow: [find_it] }, owner: { allow: ["*"] }, idle: {} }, deny_tools: [deny_it, run_tool] }
tools:
${searchTool("find_it")}${searchTool("keep_it")}${searchTool("deny_it")}`;

test("who may call a tool is certified, and no change of roles passes", () => {
  const { value } = compiled(ROLES);
  assert.ok(value);
  assert.deepEqual(value.certificates.map(({ tool, callers }) => [tool, callers]), [["find_it", ["reader", "owner"]], ["keep_it", ["owner"]], ["deny_it", []]]);
  const rbac = value.plans.settings.security?.rbac;
  assert.ok(rbac);
  assert.deepEqual(prove(ROLES, value.plans).problems, []);
  const changed: readonly (typeof rbac | undefined)[] = [
    undefined,
    { ...rbac, default_role: "owner" }, { ...rbac, role_claim: "roles" }, { ...rbac, deny_tools: ["deny_it"] }, { ...rbac, deny_tools: [] }, { ...rbac, roles: {} },
    { ...rbac, roles: { ...rbac.roles, reader: { allow: ["find_it", "keep_it"] } } }, { ...rbac, roles: { ...rbac.roles, reader: { allow: ["*"] } } },
    { ...rbac, roles: { ...rbac.roles, reader: { allow: [] } } }, { ...rbac, roles: { ...rbac.roles, guest: { allow: ["keep_it"] } } },
  ];
  for (const each of changed) {
    const { problems } = prove(ROLES, value.plans, { settings: each === undefined ? {} : { security: { rbac: each } } });
    assert.ok(problems.length > 0 && problems.every(({ branch }) => branch === "security.rbac"), JSON.stringify(each));
  }
  const openText = `${HEAD}tools:\n${searchTool("find_it")}`;
  const open = compiled(openText).value;
  assert.ok(open);
  assert.equal(open.certificates[0]?.callers, undefined);
  assert.equal(prove(openText, open.plans, { settings: { security: { rbac } } }).problems.length, 1);
});

const LIMITED = `${HEAD}security:
  rate_limit: { enabled: true, store: redis, redis_url: "redis://\${HOST:-h}", global_limits: { requests_per_minute: 10, llm_requests_per_minute: null }, per_principal: { embed_requests_per_minute: 3 }, per_tool: { find_it: 5/hour } }
tools:
${searchTool("find_it")}`;

test("limits are certified as they are written, and no change of them passes", () => {
  const { value } = compiled(LIMITED, { unfilled: true });
  assert.ok(value);
  const limit = value.plans.settings.security?.rate_limit;
  assert.ok(limit);
  assert.deepEqual(prove(LIMITED, value.plans).problems, []);
  const changed: readonly object[] = [
    { ...limit, store: "memory" }, { ...limit, on_store_error: "open" }, { ...limit, redis_url: "redis://h" }, { ...limit, global: {} }, { ...limit, global: { requests_per_minute: 11 } },
    { ...limit, per_principal: {} }, { ...limit, per_principal: { embed_requests_per_minute: 3, requests_per_minute: 1 } }, { ...limit, per_tool: {} }, { ...limit, per_tool: { find_it: "6/hour" } }, { ...limit, off: true }, {},
  ];
  for (const each of changed) {
    const { problems } = prove(LIMITED, value.plans, { settings: { security: { rate_limit: each as never } } });
    assert.ok(problems.length > 0 && problems.every(({ branch }) => branch === "security.rate_limit"), JSON.stringify(each));
  }
  assert.ok(prove(LIMITED, value.plans, { settings: {} }).problems.length > 0, "left out");
  const openText = `${HEAD}tools:\n${searchTool("find_it")}`;
  const open = compiled(openText).value;
  assert.ok(open);
  assert.equal(prove(openText, open.plans, { settings: { security: { rate_limit: limit } } }).problems.length, 1, "limits that nobody wrote");
});

test("merge keys, aliases and defaults are read by the stock library, not by the compiler's reader", () => {
  const text = `${HEAD}x-guards: &guards { static_filters: [{ path: lang, value: &lang en }] }
x-more: &more { static_filters: [{ path: lang, value: de }], output: { limit_max: 7 } }
tools:
  - <<: [*guards, *more]
    name: find_it
    description: Search the articles by meaning. Use it for questions about the product.
    target: { connection: main, collection: articles }
    query: { param: query, required: true }
  - <<: *more
    name: keep_it
    description: Search the articles by meaning. Use it for questions about the product.
    target: { connection: main, collection: articles }
    query: { param: query, required: true }
    static_filters: { must: [{ path: lang, value: *lang }], must_not: [{ path: state, op: in, value: [yes, 010, 1:30, 2024-1-2 3:04:05, "no"] }] }
`;
  const { value, diagnostics } = compiled(text);
  assert.ok(value, JSON.stringify(diagnostics));
  assert.deepEqual(value.certificates.map(({ branches }) => branches[0]?.guards), [
    ['lang eq "en"'], ['lang eq "en"', 'state nin [true,8,90,"2024-01-02T03:04:05","no"]'],
  ]);
  const { find_it: find } = value.plans.tools;
  assert.equal(prove(text, value.plans, { tools: { ...value.plans.tools, find_it: { ...find, guard: { and: [{ path: "lang", op: "eq", value: "de" }] } } } }).certificates, null);
});

test("what the proof cannot place is a problem: unknown keys of a plan, a filter of another form, a guard where none is read", () => {
  const { value } = compiled(GUARDED, { unfilled: true });
  assert.ok(value);
  const { tools } = value.plans;
  const changed = (tool: string, more: object): Proof => prove(GUARDED, value.plans, { tools: { ...tools, [tool]: { ...tools[tool], ...more } } });
  const unplaced: readonly Proof[] = [
    changed("count_it", { fallback: { connection: "main", collection: "other" } }),
    changed("count_it", { guard: { not: { path: "lang", op: "ne", value: "en" } } }),
    changed("count_it", { guard: { and: [{ path: "lang", op: "eq", value: "en" }], or: [] } }),
    changed("count_it", { guard: { path: "lang", op: "eq", value: "en", unless: true } }),
    changed("group_it", { steps: [{ kind: "fetch_more", collection: "other" }] }),
    changed("count_it", { bind: null }),
    changed("list_it", { output: { ...(tools["list_it"] as { output: object }).output, raw: true } }),
    changed("count_it", { kind: "delete" }),
    prove(GUARDED.replace("    query: { required: true }\n", "    query: { required: true, static_filters: [{ path: a, value: 1 }] }\n"), value.plans),
    prove(GUARDED.replace("    output: { limit_default: 1 }", "    output: { limit_default: 1 }\n    redact: [{ path: a }]"), value.plans),
  ];
  for (const [index, { certificates, problems }] of unplaced.entries()) assert.ok(certificates === null && problems.length > 0, String(index));
});

test("a reference in the guard of a built-in is certified as the reference it is", () => {
  const text = GUARDED.replace("value: acme }], must_not", 'value: "${ORG:-acme}" }], must_not');
  const { value } = compiled(text, { unfilled: true });
  assert.ok(value);
  const open = value.plans;
  assert.ok(JSON.stringify(open).includes(`{"path":"org","op":"eq","value":${JSON.stringify(openReference("ORG", "acme"))}}`));
  for (const other of [openReference("ORG"), openReference("ORG", "other"), openReference("OTHER", "acme"), "acme", "${ORG:-acme}", { ...openReference("ORG", "acme"), x: 1 }]) {
    const changed = JSON.parse(JSON.stringify(open).replaceAll(JSON.stringify(openReference("ORG", "acme")), JSON.stringify(other))) as Plans;
    assert.equal(prove(text, changed).certificates, null, JSON.stringify(other));
  }
});

test("an argument of dtype datetime in a retrieve filter is compared as an instant, and only that one", () => {
  const text = `${HEAD}tools:
  - name: find_it
    kind: pipeline
    description: The newest articles about a topic. Use it for questions about the product.
    parameters: [{ name: since, dtype: datetime }, { name: size, dtype: integer }]
    steps: [{ retrieve: { target: { connection: main, collection: articles }, filter: { and: [{ path: day, op: gte, param: since }, { path: size, op: gte, param: size }, { path: day, op: exists, param: since }] } } }]
`;
  const { value, diagnostics } = compiled(text, { unfilled: true });
  assert.ok(value, JSON.stringify(diagnostics));
  const planned = JSON.stringify(value.plans.tools);
  assert.ok(planned.includes('"param":"since","dtype":"datetime"'));
  for (const changed of [planned.replace(',"dtype":"datetime"', ""), planned.replace('"param":"size"', '"param":"size","dtype":"datetime"')]) {
    assert.equal(prove(text, value.plans, { tools: JSON.parse(changed) as unknown }).certificates, null);
  }
});

test("a route counts only where the backend's requests carry it out", () => {
  const { value } = compiled(GUARDED, { unfilled: true });
  assert.ok(value);
  const { tools } = value.plans;
  const { problems } = prove(GUARDED, value.plans, { tools: { ...tools, count_it: { ...tools["count_it"], route: { namespace: "acme" } } } });
  assert.match(problems[0]?.guard ?? "", /the route 'namespace', which no request of this backend carries out/);
});

test("the native tenant of a connection is demanded of every read: directories and the counts of a list of collections too", () => {
  const text = [
    'tds_version: "2"', "connections:", "  main: { backend: weaviate, url: \"${KEY}\", tenant: eu, builtin_tools: { list_collections: true } }",
    "  names: { backend: weaviate, url: \"${KEY}\", tenant: people }", "defaults: { embedding: local/hashing-256 }", "tools:",
    "  - name: count_them", "    kind: count", "    description: Count the records of an owner. Use it for questions about numbers.", "    target: { connection: main, collection: things }",
    "    parameters:", "      - { name: owner, dtype: keyword, path: owner, op: eq, description: Whose records, resolve: { kind: directory, connection: names, collection: people, field: name } }", "",
  ].join("\n");
  const { value, diagnostics } = compiled(text, { unfilled: true });
  assert.ok(value, JSON.stringify(diagnostics));
  const planned = JSON.stringify(value.plans.tools);
  assert.equal(prove(text, value.plans, { tools: JSON.parse(planned) as unknown }).problems.length, 0);
  const routes = [...planned.matchAll(/,"route":\{[^}]*\}/g)].map((found) => ({ at: found.index, text: found[0] }));
  assert.deepEqual(routes.map((route) => route.text).sort(), [',"route":{"tenant":"eu"}', ',"route":{"tenant":"eu"}', ',"route":{"tenant":"people"}']);
  for (const { at, text: route } of routes) {
    const changed = planned.slice(0, at) + planned.slice(at + route.length);
    assert.match(prove(text, value.plans, { tools: JSON.parse(changed) as unknown }).problems[0]?.guard ?? "", /the tenant of the connection/);
  }
});

test.run();
