/** One changed thing each: the class that `toolsrv diff` gives it. */
import assert from "node:assert/strict";
import { compile } from "../../generator/compile.js";
import { locateAll } from "../../generator/diagnostics.js";
import { compareServers, compareSurfaces, type Surface } from "../../generator/diff/compare.js";
import type { ChangeClass } from "../../generator/diff/change.js";
import { suite } from "../lib/suite.js";

const test = suite("diff classes");

/** A catalog that has something of everything. */
const CATALOG = {
  tds_version: "2",
  deadline_s: 20,
  connections: {
    main: { backend: "qdrant", url: "http://qdrant:6333", api_key: "${KEY}" },
    pine: { backend: "pinecone", api_key: "${PINE}", host: "${HOST}", namespace: "eu" },
    built: { backend: "sqlite", path: "./b.db", builtin_tools: { count: true, list_collections: true }, builtin_defaults: { collections: ["a", "b"], static_filters: [{ path: "public", value: true }] } },
  },
  defaults: { embedding: { provider: "http", model: "m1", dims: 8, config: { base_url: "http://embed" } } },
  security: {
    tenancy: { mode: "claim", claim: "org", path: "org_id", enforce: "strict" },
    auth: { mode: "jwt", jwt: { issuer: "https://id", audience: "a", jwks_url: "https://id/jwks" } },
    rbac: { enabled: true, default_role: "viewer", roles: { viewer: { allow: ["search_docs"] }, admin: { allow: ["*"] } }, deny_tools: ["raw_docs"] },
    rate_limit: { enabled: true, global: { requests_per_minute: 100 }, per_tool: { search_docs: "10/minute" } },
  },
  observability: { audit: { enabled: true, sink: "file", path: "./audit.jsonl", chain: true, redact: { arg_fields: ["password", "token"] } }, metrics: { enabled: true, require_auth: true } },
  profiles: { enterprise: { security: { hardening: { max_limit_max: 50, allowed_backends: ["qdrant", "pinecone", "sqlite"] } } } },
  tools: [
    {
      name: "search_docs", description: "Search documents by meaning. Use when the user asks about their content.",
      target: { connection: "main", collection: "docs" }, query: { required: true, min_score: 0.3, ef: 64 }, quality: { min_recall: 0.9 },
      static_filters: { must: [{ path: "state", op: "in", value: ["open", "done"] }, { path: "year", op: "gte", value: 2020 }], must_not: [{ path: "hidden", value: true }] },
      parameters: [
        { name: "kind", path: "kind", op: "in", enum: ["note", "mail"], description: "Any of these." },
        { name: "size", path: "size", dtype: "integer", op: "lte", max: 100 },
        { name: "lang", path: "lang", default: "en" },
        { name: "author", path: "author", resolve: { kind: "directory", collection: "people" } },
      ],
      output: { fields: ["title", "owner", "email"], limit_default: 5, limit_max: 20, max_field_length: 100, redact: [{ path: "email", mode: "omit" }, { path: "owner", mode: "pattern", patterns: [{ regex: "\\d+" }] }] },
    },
    { name: "get_doc", kind: "lookup", description: "Get one document by its id. Use when the id is known.", target: { connection: "main", collection: "docs" }, static_filters: [{ path: "hidden", op: "ne", value: true }], parameters: [{ name: "id", path: "id", required: true }], output: { limit_default: 1, limit_max: 1, redact: [{ path: "email", mode: "hash" }] } },
    { name: "raw_docs", kind: "scroll", description: "List documents as they are stored. Use to look around.", target: { connection: "main", collection: "docs" }, static_filters: { must_not: [{ path: "hidden", value: true }] }, output: { fields: ["title"], limit_default: 10, limit_max: 10 } },
    {
      name: "top_docs", kind: "pipeline", description: "Rank documents by their votes. Use for questions after the best.",
      static_filters: [{ path: "hidden", op: "ne", value: true }],
      parameters: [{ name: "votes", dtype: "integer" }],
      steps: [
        { retrieve: { target: { connection: "main", collection: "docs" }, filter: { and: [{ path: "lang", op: "eq", value: "en" }, { path: "votes", op: "gte", param: "votes" }] } } },
        { post_filter: { expr: "votes > 3 and kind == 'note'" } }, { sort: { by: "votes" } }, { project: { fields: ["title"] } },
      ],
      output: { fields: ["title", "votes"], limit_default: 5, limit_max: 20 },
    },
    { name: "search_pine", description: "Search the other store by meaning. Use when the first has nothing.", target: { connection: "pine", collection: "docs" }, query: { required: true }, output: { limit_max: 20 } },
  ],
};

function surface(catalog: unknown): Surface {
  const { value, diagnostics, source } = compile({ path: "tools.yaml", text: JSON.stringify(catalog) }, { target: "describe" });
  assert.ok(value, JSON.stringify(locateAll(diagnostics, source).filter(({ severity }) => severity === "error"), null, 1));
  const { catalog: identity, settings, connections, embeddings, definitions, tools } = value.plans;
  return { project: "tools", file: "tools.yaml", catalog: identity, settings, connections, embeddings, definitions, plans: tools, lines: {} };
}

type Node = { [key: string]: unknown };

/** A copy of the catalog to edit. Paths are dotted; members of lists go by index or by their name. */
class Draft {
  readonly tree = structuredClone(CATALOG) as unknown as Node;

  at(path: string): unknown {
    return path.split(".").reduce<unknown>((node, key) => {
      if (Array.isArray(node)) return /^\d+$/.test(key) ? node[Number(key)] : node.find((each) => (each as Node)["name"] === key);
      return (node as Node)[key];
    }, this.tree);
  }

  /** The holder of the last key of a path. */
  #holder(path: string): readonly [Node, string] {
    const cut = path.lastIndexOf(".");
    return [(cut < 0 ? this.tree : this.at(path.slice(0, cut))) as Node, path.slice(cut + 1)];
  }

  set(path: string, value: unknown): void {
    const [holder, key] = this.#holder(path);
    holder[key] = value;
  }

  remove(path: string): void {
    const [holder, key] = this.#holder(path);
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  }

  push(path: string, value: unknown): void {
    (this.at(path) as unknown[]).push(value);
  }
}

/** `class tool subject` of every change. */
function changesOf(edit: (draft: Draft) => void): readonly string[] {
  const draft = new Draft();
  edit(draft);
  return compareSurfaces(surface(CATALOG), surface(draft.tree)).map((change) => `${change.class} ${change.tool ?? "-"} ${change.subject}`);
}

const W = "isolation-weakening", Q = "quality-weakening", B = "breaking", H = "behavioural", A = "additive";

type Row = readonly [what: string, edit: (draft: Draft) => void, want: readonly string[]];

const WEAKENING: readonly Row[] = [
  ["a must entry is removed", (c) => c.remove("tools.search_docs.static_filters.must.1"), [`${W} search_docs guard`]],
  ["a must_not entry is removed", (c) => c.set("tools.search_docs.static_filters.must_not", []), [`${W} search_docs guard`]],
  ["an in list grows", (c) => c.push("tools.search_docs.static_filters.must.0.value", "draft"), [`${W} search_docs guard`]],
  ["a bound is lowered", (c) => c.set("tools.search_docs.static_filters.must.1.value", 2010), [`${W} search_docs guard`]],
  ["a guard compares another value", (c) => c.set("tools.get_doc.static_filters.0.value", false), [`${W} get_doc guard`, `${H} get_doc guard`]],
  ["a pipeline loses its guard", (c) => c.remove("tools.top_docs.static_filters"), [`${W} top_docs guard`]],
  ["a pipeline's retrieve loses its constant filter", (c) => c.remove("tools.top_docs.steps.0.retrieve.filter.and.0"), [`${W} top_docs retrieve filter`, `${H} top_docs retrieve filter`]],
  ["default filters of built-ins are removed", (c) => c.set("connections.built.builtin_defaults.static_filters", []), [`${W} count_built guard`, `${W} list_built_collections guard`]],
  ["built-ins reach another collection", (c) => c.push("connections.built.builtin_defaults.collections", "c"), [`${W} count_built collection`, `${W} list_built_collections collection`, `${A} count_built argument collection`]],
  ["built-ins reach any collection", (c) => c.remove("connections.built.builtin_defaults.collections"), [`${W} count_built collection`, `${W} list_built_collections collection`, `${A} count_built argument collection`]],
  ["tenancy is switched off", (c) => c.set("security.tenancy.mode", "none"), ["search_docs", "get_doc", "raw_docs", "top_docs", "search_pine", "count_built", "list_built_collections"].map((name) => `${W} ${name} tenancy`)],
  ["the tenant is another field", (c) => c.set("security.tenancy.path", "team_id"), ["search_docs", "get_doc", "raw_docs", "top_docs", "search_pine", "count_built", "list_built_collections"].map((name) => `${W} ${name} tenancy`)],
  ["conflicts with the tenant are overridden", (c) => c.set("security.tenancy.enforce", "override"), ["search_docs", "get_doc", "raw_docs", "top_docs", "search_pine", "count_built", "list_built_collections"].map((name) => `${W} ${name} tenancy`)],
  ["the tenant comes from another claim", (c) => c.set("security.tenancy.claim", "team"), ["search_docs", "get_doc", "raw_docs", "top_docs", "search_pine", "count_built", "list_built_collections"].map((name) => `${W} ${name} tenancy`)],
  ["the tenant comes from another place, a header", (c) => c.set("security.tenancy.mode", "header"), ["search_docs", "get_doc", "raw_docs", "top_docs", "search_pine", "count_built", "list_built_collections"].map((name) => `${W} ${name} tenancy`)],
  ["credentials, and with them perhaps the address, come from another secret", (c) => c.set("connections.built.credentials", { provider: "vault", vault: { path: "secret/data/other" } }), [`${W} - connection built`]],
  ["roles come from another claim", (c) => c.set("security.rbac.role_claim", "groups"), [`${W} - security.rbac`]],
  ["a role may call everything", (c) => c.set("security.rbac.roles.viewer.allow", ["*"]), [`${W} - security.rbac`]],
  ["callers may bring another proof, a key", (c) => c.set("security.auth.api_key", { keys_file: "keys.json" }), [`${W} - security.auth`]],
  ["tokens of another algorithm are accepted", (c) => c.set("security.auth.jwt.algorithms", ["RS256", "ES256", "PS256"]), [`${W} - security.auth`]],
  ["callers are authenticated by another mode", (c) => c.set("security.auth.mode", "api_key"), [`${W} - security.auth`]],
  ["the hardening profile takes tools without a tenant", (c) => c.set("profiles.enterprise.security.hardening.require_tenancy", false), [`${W} - profiles.enterprise`]],
  ["a must entry tests another field", (c) => c.set("tools.search_docs.static_filters.must.1.path", "month"), [`${W} search_docs guard`, `${H} search_docs guard`]],
  ["a guard tests another thing, the opposite", (c) => c.set("tools.raw_docs.static_filters.must_not.0.value", false), [`${W} raw_docs guard`, `${H} raw_docs guard`]],
  ["a namespace is another one", (c) => c.set("connections.pine.namespace", "us"), [`${W} - connection pine`, `${W} search_pine route`]],
  ["a redaction is removed", (c) => c.remove("tools.search_docs.output.redact.0"), [`${W} search_docs redaction`]],
  ["a redaction says more", (c) => c.set("tools.search_docs.output.redact.0.mode", "hash"), [`${W} search_docs redaction`]],
  ["a pattern is another one", (c) => c.set("tools.search_docs.output.redact.1.patterns.0.regex", "x"), [`${W} search_docs redaction`]],
  ["the projection is removed", (c) => c.remove("tools.raw_docs.output.fields"), [`${W} raw_docs output`]],
  ["the maximum limit is raised", (c) => c.set("tools.search_docs.output.limit_max", 50), [`${W} search_docs limit`]],
  ["a lookup may return more", (c) => Object.assign(c.at("tools.get_doc.output") as Node, { limit_default: 3, limit_max: 3 }), [`${W} get_doc limit`]],
  ["texts are cut later", (c) => c.remove("tools.search_docs.output.max_field_length"), [`${W} search_docs output`]],
  ["callers are not authenticated", (c) => c.set("security.auth.mode", "none"), [`${W} - security.auth`]],
  ["the catalog no longer says how callers are authenticated", (c) => c.remove("security.auth.mode"), [`${W} - security.auth`]],
  ["roles are not checked", (c) => c.set("security.rbac.enabled", false), [`${W} - security.rbac`]],
  ["a role may call more", (c) => c.push("security.rbac.roles.viewer.allow", "get_doc"), [`${W} - security.rbac`]],
  ["a role is added", (c) => c.set("security.rbac.roles.guest", { allow: ["get_doc"] }), [`${W} - security.rbac`]],
  ["the default role is another one", (c) => c.set("security.rbac.default_role", "admin"), [`${W} - security.rbac`]],
  ["a denied tool is allowed", (c) => c.set("security.rbac.deny_tools", []), [`${W} - security.rbac`]],
  ["a rate limit is raised", (c) => c.set("security.rate_limit.per_tool.search_docs", "2/second"), [`${W} - security.rate_limit`]],
  ["a rate limit is removed", (c) => c.set("security.rate_limit.global", {}), [`${W} - security.rate_limit`]],
  ["rate limits are off", (c) => c.set("security.rate_limit.enabled", false), [`${W} - security.rate_limit`]],
  ["limits fail open", (c) => c.set("security.rate_limit.on_store_error", "open"), [`${W} - security.rate_limit`]],
  ["tokens of another issuer are accepted", (c) => c.set("security.auth.jwt.issuer", "https://other"), [`${W} - security.auth`]],
  ["the audit log redacts less", (c) => c.set("observability.audit.redact.arg_fields", ["token"]), [`${W} - observability.audit`]],
  ["metrics are served to everybody", (c) => c.set("observability.metrics.require_auth", false), [`${W} - observability.metrics`]],
  ["the hardening profile is off", (c) => c.remove("profiles"), [`${W} - profiles.enterprise`]],
  ["the hardening profile allows more rows", (c) => c.set("profiles.enterprise.security.hardening.max_limit_max", 500), [`${W} - profiles.enterprise`]],
  ["a new tool goes around what fenced all others", (c) => c.push("tools", { name: "all_docs", kind: "count", description: "Count all documents there are. Use for questions after a number.", target: { connection: "main", collection: "docs" } }), [`${W} all_docs guard`, `${A} all_docs tool`]],
  ["a tool named by deny_tools is renamed", (c) => c.set("tools.raw_docs.name", "see_docs"), [`${W} see_docs reach`, `${B} raw_docs tool`, `${A} see_docs tool`]],
  ["a second connection reaches the same store without the guard", (c) => {
    c.set("connections.copy", { backend: "qdrant", url: "HTTP://Qdrant:6333/", api_key: "${OTHER}" });
    c.push("tools", { name: "all_docs", kind: "count", description: "Count all documents there are. Use for questions after a number.", target: { connection: "copy", collection: "docs" } });
  }, [`${W} all_docs guard`, `${A} - connection copy`, `${A} all_docs tool`]],
  ["a tool reads by another connection", (c) => c.set("tools.get_doc.target.connection", "built"), [`${W} get_doc store`, `${H} get_doc collection`]],
  ["a tool reads another collection of its store", (c) => c.set("tools.get_doc.target.collection", "papers"), [`${W} get_doc collection`, `${H} get_doc collection`]],
  ["a store moves to another address", (c) => c.set("connections.main.url", "http://elsewhere:6333"), [`${W} - connection main`]],
  ["a store is read with another key", (c) => c.set("connections.main.api_key", "${ADMIN_KEY}"), [`${W} - connection main`]],
  ["a store is another backend", (c) => c.set("connections.main", { backend: "chroma", url: "http://qdrant:6333" }), [`${W} - connection main`]],
  ["a pipeline's project is removed", (c) => c.remove("tools.top_docs.steps.3"), [`${W} top_docs project`, `${H} top_docs steps`]],
  ["a pipeline's project is widened", (c) => c.push("tools.top_docs.steps.3.project.fields", "votes"), [`${W} top_docs project`, `${H} top_docs steps`]],
  ["a pipeline's post_filter is removed", (c) => c.remove("tools.top_docs.steps.1"), [`${W} top_docs post_filter`, `${W} top_docs post_filter`, `${H} top_docs steps`]],
  ["a pipeline's post_filter loses one condition", (c) => c.set("tools.top_docs.steps.1.post_filter.expr", "votes > 3"), [`${W} top_docs post_filter`, `${H} top_docs steps`]],
  ["a pipeline's post_filter passes more, by or", (c) => c.set("tools.top_docs.steps.1.post_filter.expr", "votes > 3 or kind == 'note'"), [`${W} top_docs post_filter`, `${W} top_docs post_filter`, `${H} top_docs steps`]],
  ["a pipeline's post_filter has a lower bound", (c) => c.set("tools.top_docs.steps.1.post_filter.expr", "votes > 1 and kind == 'note'"), [`${W} top_docs post_filter`, `${H} top_docs steps`]],
  ["a directory offers another collection's names", (c) => c.set("tools.search_docs.parameters.3.resolve.collection", "staff"), [`${W} search_docs directory of author`, `${H} search_docs argument author`]],
  ["a directory offers another field", (c) => c.set("tools.search_docs.parameters.3.resolve.field", "salary"), [`${W} search_docs directory of author`, `${H} search_docs argument author`]],
  ["a new tool returns what all others redact", (c) => c.push("tools", { name: "doc_mails", kind: "scroll", description: "List the addresses of documents. Use to write to someone.", target: { connection: "main", collection: "docs" }, static_filters: [{ path: "hidden", op: "ne", value: true }], output: { fields: ["email"], limit_max: 10 } }), [`${W} doc_mails redaction`, `${A} doc_mails tool`]],
];

const OTHERS: readonly Row[] = [
  ["nothing", () => undefined, []],
  ["a default is written out", (c) => c.set("tools.get_doc.static_filters.0.op", "ne"), []],
  ["a tool is removed", (c) => c.remove("tools.4"), [`${B} search_pine tool`]],
  ["a tool is of another kind", (c) => c.set("tools.raw_docs.kind", "search"), [`${B} raw_docs kind`]],
  ["an argument is removed", (c) => c.remove("tools.search_docs.parameters.2"), [`${B} search_docs argument lang`]],
  ["an argument is required", (c) => c.set("tools.search_docs.parameters.0.required", true), [`${B} search_docs argument kind`]],
  ["a new argument is required", (c) => c.push("tools.search_docs.parameters", { name: "who", path: "writer", required: true }), [`${B} search_docs argument who`]],
  ["an argument is of another type", (c) => c.set("tools.search_docs.parameters.2", { name: "lang", path: "lang", dtype: "integer" }), [`${B} search_docs argument lang`, `${H} search_docs argument lang`]],
  ["an enum loses a member", (c) => c.remove("tools.search_docs.parameters.0.enum.1"), [`${B} search_docs argument kind`]],
  ["a maximum is lowered", (c) => c.set("tools.search_docs.parameters.1.max", 50), [`${B} search_docs argument size`]],
  ["the maximum limit is lowered", (c) => c.set("tools.search_docs.output.limit_max", 10), [`${B} search_docs limit`]],
  ["an output field is removed", (c) => c.remove("tools.search_docs.output.fields.2"), [`${B} search_docs output`]],
  ["record ids are left out", (c) => c.set("tools.search_docs.output.include_id", false), [`${B} search_docs output`]],
  ["a role may call less", (c) => c.set("security.rbac.roles.viewer.allow", []), [`${B} - security.rbac`]],
  ["another tool is denied", (c) => c.push("security.rbac.deny_tools", "get_doc"), [`${B} - security.rbac`]],
  ["a rate limit is lowered", (c) => c.set("security.rate_limit.per_tool.search_docs", "10/hour"), [`${B} - security.rate_limit`]],
  ["a guard is added", (c) => c.push("tools.search_docs.static_filters.must", { path: "lang", value: "en" }), [`${H} search_docs guard`]],
  ["a guard is tightened", (c) => c.set("tools.search_docs.static_filters.must.1.value", 2024), [`${H} search_docs guard`]],
  ["an in list is narrowed to one value", (c) => c.set("tools.search_docs.static_filters.must.0", { path: "state", op: "eq", value: "open" }), [`${H} search_docs guard`]],
  ["a redaction is added", (c) => c.push("tools.search_docs.output.redact", { path: "title", mode: "hash" }), [`${H} search_docs redaction`]],
  ["a description is rewritten", (c) => c.set("tools.search_docs.description", "Find documents by meaning. Use whenever content is asked for."), [`${H} search_docs description`]],
  ["an argument is explained otherwise", (c) => c.set("tools.search_docs.parameters.0.description", "One of these."), [`${H} search_docs argument kind`]],
  ["a default is another one", (c) => c.set("tools.search_docs.parameters.2.default", "de"), [`${H} search_docs argument lang`]],
  ["the default limit is another one", (c) => c.set("tools.search_docs.output.limit_default", 7), [`${H} search_docs limit`]],
  ["the embedding model is another one", (c) => c.set("defaults.embedding.model", "m2"), [`${H} search_docs embedding`, `${H} search_pine embedding`]],
  ["a recall that is required is lowered", (c) => c.set("tools.search_docs.quality.min_recall", 0.8), [`${Q} search_docs quality`]],
  ["a recall is no longer required", (c) => c.remove("tools.search_docs.quality"), [`${Q} search_docs quality`]],
  ["a recall that is required is raised", (c) => c.set("tools.search_docs.quality.min_recall", 0.95), [`${A} search_docs quality`]],
  ["a recall is required now", (c) => c.set("tools.search_pine.quality", { min_recall: 0.9 }), [`${A} search_pine quality`]],
  ["a score threshold is lowered", (c) => c.set("tools.search_docs.query.min_score", 0.1), [`${H} search_docs query`]],
  ["an argument filters by another field", (c) => c.set("tools.search_docs.parameters.1.path", "bytes"), [`${H} search_docs argument size`]],
  ["a tool reads another collection", (c) => c.set("tools.raw_docs.target.collection", "papers"), [`${H} raw_docs collection`]],
  ["the steps of a pipeline are others", (c) => c.set("tools.top_docs.steps.1.post_filter.expr", "votes > 5 and kind == 'note'"), [`${H} top_docs steps`]],
  ["tools stand in another order", (c) => c.set("tools", (c.at("tools") as unknown[]).reverse()), [`${H} - order`]],
  ["access evidence is off", (c) => c.set("observability.audit.chain", false), [`${W} - observability.audit.chain`]],
  ["the audit log is off, and access evidence with it", (c) => c.set("observability.audit.enabled", false), [`${W} - observability.audit.chain`]],
  ["the audit log is another file", (c) => c.set("observability.audit.path", "./other.jsonl"), [`${H} - observability.audit`]],
  ["the deadline is another one", (c) => c.set("deadline_s", 5), [`${H} - deadline_s`]],
  ["a tool gets a deadline of its own", (c) => c.set("tools.raw_docs.deadline_s", 2), [`${H} raw_docs deadline_s`]],
  ["an optional argument is new", (c) => c.push("tools.search_docs.parameters", { name: "who", path: "writer" }), [`${A} search_docs argument who`]],
  ["an enum gains a member", (c) => c.push("tools.search_docs.parameters.0.enum", "chat"), [`${A} search_docs argument kind`]],
  ["a maximum is raised", (c) => c.set("tools.search_docs.parameters.1.max", 500), [`${A} search_docs argument size`]],
  ["an output field is new", (c) => c.push("tools.search_docs.output.fields", "year"), [`${A} search_docs output`]],
  ["a new tool is fenced like its elders", (c) => c.push("tools", { name: "count_docs", kind: "count", description: "Count the documents one may see. Use for questions after a number.", target: { connection: "main", collection: "docs" }, static_filters: { must_not: [{ path: "hidden", value: true }] } }), [`${A} count_docs tool`]],
  ["a new tool reads a new collection", (c) => c.push("tools", { name: "count_other", kind: "count", description: "Count what else there is in the store. Use for questions after a number.", target: { connection: "main", collection: "other" } }), [`${A} count_other tool`]],
  ["a connection is new", (c) => c.set("connections.more", { backend: "sqlite", path: "./m.db" }), [`${A} - connection more`]],
];

for (const [what, edit, want] of [...WEAKENING, ...OTHERS]) {
  test(what, () => assert.deepEqual(changesOf(edit), want));
}

/** Changes between two variants of a small catalog. */
function between(old: object, next: object): readonly string[] {
  const base = { tds_version: "2", connections: { main: { backend: "sqlite", path: "./a.db" } }, defaults: { embedding: "local/hashing-256" } };
  return compareSurfaces(surface({ ...base, ...old }), surface({ ...base, ...next })).map((change) => `${change.class} ${change.tool ?? "-"} ${change.subject}`);
}

const COUNT = { name: "count_it", kind: "count", description: "Count all documents there are. Use for questions after a number.", target: { connection: "main", collection: "docs" }, static_filters: [{ path: "lang", value: "en" }] };

test("a tool that only counted and now returns rows weakens isolation", () => {
  assert.ok(between({ tools: [COUNT] }, { tools: [{ ...COUNT, kind: "scroll" }] }).includes(`${W} count_it kind`));
});

test("a required argument's choices are a guard: one more member weakens isolation", () => {
  const tool = (members: readonly string[], required = true): object => ({ tools: [{ ...COUNT, parameters: [{ name: "dept", path: "dept", enum: members, required }] }] });
  assert.deepEqual(between(tool(["sales"]), tool(["sales", "hr"])), [`${W} count_it argument`, `${A} count_it argument dept`]);
  assert.ok(between(tool(["sales"]), tool(["sales"], false)).includes(`${W} count_it argument`));
  assert.deepEqual(between(tool(["sales", "hr"]), tool(["sales"])), [`${B} count_it argument dept`]);
});

test("a guard that compared texts and compares dates, or the reverse, is another guard; other spellings of its dates are not", () => {
  const tool = (dtypes: object, value: string, op = "gte"): object => ({ tools: [{ ...COUNT, kind: "scroll", static_filters: [{ path: "due", op, value }], dtypes }] });
  const dates = { due: "datetime" };
  const weakened = (old: object, next: object): boolean => between(old, next).includes(`${W} count_it guard`);
  assert.ok(weakened(tool({}, "2026-04-13"), tool(dates, "2026-04-13")));
  assert.ok(weakened(tool(dates, "2026-04-13"), tool({}, "2026-04-13")));
  assert.ok(weakened(tool(dates, "2026-04-13"), tool(dates, "2026-04-13T00:00:00+02:00")));
  assert.ok(!weakened(tool(dates, "2026-04-13"), tool(dates, "2026-04-13T00:00:00Z")));
  assert.ok(!weakened(tool(dates, "2026-04-13T00:00:00+02:00"), tool(dates, "2026-04-13")));
});

test("an expression or a sort that compares dates where it compared texts is reported", () => {
  const pipeline = (dtypes: object): object => ({
    tools: [{ name: "top_docs", kind: "pipeline", description: COUNT.description, dtypes, steps: [{ retrieve: { target: COUNT.target } }, { post_filter: { expr: "due > '2026-04-13'" } }, { sort: { by: "made" } }] }],
  });
  assert.deepEqual(between(pipeline({}), pipeline({ due: "datetime" })), [`${W} top_docs post_filter`, `${H} top_docs steps`]);
  assert.deepEqual(between(pipeline({}), pipeline({ made: "datetime" })), [`${H} top_docs steps`]);
  assert.deepEqual(between(pipeline({}), pipeline({ other: "integer" })), []);
});

test("another name for a connection, a tool or a path is no weakening where nothing more is reached", () => {
  const renamed = { connections: { other: { backend: "sqlite", path: "a.db" } }, tools: [{ ...COUNT, target: { connection: "other", collection: "docs" } }] };
  assert.ok(!between({ tools: [COUNT] }, renamed).some((change) => change.startsWith(`${W} count_it`)));
  const rbac = (name: string): object => ({ security: { rbac: { enabled: true, roles: { viewer: { allow: [name] } } } }, tools: [{ ...COUNT, name }] });
  assert.deepEqual(between(rbac("count_it"), rbac("tell_it")).filter((change) => change.startsWith(W)), []);
});

test("an address that only the environment knows may be the same store", () => {
  const next = { connections: { main: { backend: "sqlite", path: "./a.db" }, copy: { backend: "sqlite", path: "${DB}" } }, tools: [COUNT, { ...COUNT, name: "all_it", target: { connection: "copy", collection: "docs" }, static_filters: [] }] };
  assert.ok(between({ tools: [COUNT] }, next).includes(`${W} all_it guard`));
  const other = { ...next, connections: { main: { backend: "sqlite", path: "./a.db" }, copy: { backend: "sqlite", path: "./b.db" } } };
  assert.deepEqual(between({ tools: [COUNT] }, other), [`${A} - connection copy`, `${A} all_it tool`]);
});

test("a role that may call a new tool is compared with what that role reached, not with what others did", () => {
  const rbac = { security: { rbac: { enabled: true, default_role: "viewer", roles: { viewer: { allow: ["count_it", "more_it"] }, admin: { allow: ["*"] } } } } };
  const all = { ...COUNT, name: "all_it", static_filters: [] };
  const before = { ...rbac, tools: [COUNT, all] };
  const after = { ...rbac, tools: [COUNT, all, { ...all, name: "more_it", kind: "scroll" }] };
  assert.ok(between(before, after).includes(`${W} more_it guard`));
});

test("alternatives that arguments fill in count as a restriction", () => {
  const tool = (filter: object): object => ({ tools: [{ name: "top_it", kind: "pipeline", description: "Rank documents by their votes. Use for questions after the best.", parameters: [{ name: "team" }], steps: [{ retrieve: { target: { connection: "main", collection: "docs" }, filter } }] }] });
  const choice = { or: [{ path: "team", param: "team" }, { path: "public", value: true }] };
  assert.ok(between(tool(choice), tool({})).includes(`${W} top_it retrieve filter`));
  assert.ok(!between(tool({}), tool(choice)).some((change) => change.startsWith(W)));
});

test("a skill that is offered is an addition; one that goes or has another name breaks who reads it", () => {
  const catalog = (skill: object | undefined): object => ({ tds_version: "2", connections: { main: { backend: "sqlite", path: "./a.db" } }, skill, tools: [COUNT] });
  const changes = (old: object | undefined, next: object | undefined): readonly string[] => compareSurfaces(surface(catalog(old)), surface(catalog(next))).map((change) => `${change.class} ${change.subject}`);
  assert.deepEqual(changes(undefined, { name: "a" }), [`${A} skill`]);
  assert.deepEqual(changes({ name: "a" }, { name: "b" }), [`${B} skill`]);
  assert.deepEqual(changes({ name: "a" }, undefined), [`${B} skill`]);
  assert.deepEqual(changes({ name: "a" }, { name: "a" }), []);
});

test("a catalog that is new beside others is compared with all of them", () => {
  const one = surface({ tds_version: "2", connections: { main: { backend: "sqlite", path: "./a.db" } }, tools: [COUNT] });
  const two = { ...surface({ tds_version: "2", connections: { side: { backend: "sqlite", path: "a.db" } }, tools: [{ ...COUNT, name: "all_it", target: { connection: "side", collection: "docs" }, static_filters: [] }] }), project: "side" };
  assert.ok(compareServers([one], [one, two]).some((change) => change.class === W && change.tool === "all_it"));
});

test("every weakening edit taken back is no weakening", () => {
  for (const [what, edit] of WEAKENING) {
    const draft = new Draft();
    edit(draft);
    const kinds: readonly ChangeClass[] = compareSurfaces(surface(draft.tree), surface(CATALOG)).map((change) => change.class);
    const symmetric = /another|other|is off|says more|renamed/.test(what);
    assert.ok(kinds.length > 0, what);
    if (!symmetric) assert.ok(!kinds.includes("isolation-weakening"), `${what}: ${kinds.join(", ")}`);
  }
});

test.run();
