/** What claims decide, over HTTP, on a real store: tenant, roles and catalog; the same for a token and for a key. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { compile } from "../../generator/compile.js";
import { programOf } from "../../generator/program.js";
import type { Program } from "../../runtime/abi/call.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { Issuer } from "./issuer.js";
import { authServer, type AuthServer, type AuthServerOptions, type Said } from "./server.js";

const test = suite("claims");
const folder = mkdtempSync(join(tmpdir(), "toolsrv-claims-"));
test.after(() => rmSync(folder, { recursive: true }));

const catalog = (security: string): string => `tds_version: "2"
connections:
  main:
    backend: sqlite
    path: ./notes.db
    builtin_tools: { semantic_search: true, get_by_id: true, count: true, list_collections: true }
    builtin_defaults: { collections: [notes] }
defaults: { embedding: local/hashing-256 }
security: ${security}
tools:
  - name: search_notes
    description: Search notes by their words. Use when the user looks for a note.
    target: { connection: main, collection: notes }
    query: { required: true }
    parameters: [{ name: org, path: org }, { name: company, path: org }, { name: companies, path: org, op: in }]
  - name: list_notes
    kind: scroll
    description: List notes in the order of their ids. Use when the user wants to browse.
    target: { connection: main, collection: notes }
  - name: best_notes
    kind: pipeline
    description: The newest notes, for an overview of all of them at once.
    steps:
      - retrieve: { target: { connection: main, collection: notes } }
      - sort: { by: _id }
`;
const TENANCY = (enforce: string): string => catalog(`{ tenancy: { mode: claim, claim: org, path: org, enforce: ${enforce} } }`);
const ROLES = catalog("{ rbac: { enabled: true, default_role: guest, role_claim: roles, roles: { guest: { allow: [list_notes] }, admin: { allow: ['*'] } }, deny_tools: [count_main] } }");
const ROWS = [["a", "acme"], ["b", "acme"], ["c", "other"], ["d", "5"], ["e", "third"]].map(([id, org]) => JSON.stringify({ id, text: `apples ${id}`, org }));

function programFor(text: string, file = "tools.yaml"): Program {
  const { value, diagnostics } = compile({ path: file, text });
  assert.ok(value !== null, JSON.stringify(diagnostics.filter(({ severity }) => severity === "error")));
  return programOf(value.plans, { base: pathToFileURL(`${folder}/`) });
}

test.before(async () => {
  writeFileSync(join(folder, "tools.yaml"), catalog("{}"));
  writeFileSync(join(folder, "rows.jsonl"), `${ROWS.join("\n")}\n`);
  const io = memoryIo({ cwd: folder });
  assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "notes", "--id", "id"], io), EXIT.OK, io.err());
});

type Call = (tool: string, args?: object, headers?: { readonly [name: string]: string }) => Promise<Said>;
/** Calls of a caller with these claims. */
type As = (claims: object) => { readonly call: Call; readonly ask: AuthServer["ask"] };

/** Runs `use` twice: callers bring a token, and callers bring a key. `claims` are all the sets that it uses with keys. */
function inBothModes(name: string, programs: AuthServerOptions["programs"] & object, claims: readonly object[], use: (as: As) => Promise<void>, options: AuthServerOptions = {}): void {
  const serve = async (server: AuthServer, credential: (claims: object) => Promise<string>): Promise<void> => {
    const as: As = (own) => {
      const ask: AuthServer["ask"] = async (method, params, headers = {}) => server.ask(method, params, { authorization: `Bearer ${await credential(own)}`, ...headers });
      return { ask, call: (tool, args = {}, headers = {}) => ask("tools/call", { name: tool, arguments: args }, headers) };
    };
    try {
      await use(as);
    } finally {
      await server.close();
    }
  };
  test(`by token: ${name}`, async () => {
    const issuer = await Issuer.start();
    try {
      const mode = { mode: "jwt", issuer: issuer.url, audience: "tools", jwksUrl: issuer.url, algorithms: ["RS256"], principalClaim: "sub", claimsPrefix: "", publicUrl: null } as const;
      await serve(await authServer(mode, { programs, ...options }), (own) => issuer.token({ ...own }));
    } finally {
      await issuer.close();
    }
  }, { timeoutMs: 60_000 });
  test(`by key: ${name}`, async () => {
    const keyOf = (own: object): string => `key-of-these-claims-${Buffer.from(JSON.stringify(own)).toString("hex").slice(0, 4000)}`;
    const keysFile = join(folder, "keys.json");
    writeFileSync(keysFile, JSON.stringify(Object.fromEntries(claims.map((own) => [keyOf(own), { principal: "ada", claims: own }]))));
    await serve(await authServer({ mode: "api_key", keysFile, header: "authorization", scheme: "Bearer", publicUrl: null }, { programs, ...options }), async (own) => keyOf(own));
  }, { timeoutMs: 60_000 });
}

const ids = ({ json }: Said): readonly unknown[] => json.result.structuredContent.rows.map((row: { readonly _id: unknown }) => row._id).sort();
const refusalOf = ({ status, json }: Said): unknown => [status, json.error?.code, json.error?.data?.code];
const REFUSED = [403, -32001, "auth_error"];
const errorOf = ({ json }: Said): string => JSON.parse(json.result.content[0].text).error.code;
const ACME = { org: "acme" };
const READS: readonly (readonly [tool: string, args: object, own: readonly string[]])[] = [
  ["search_notes", { query: "apples" }, ["a", "b"]], ["list_notes", {}, ["a", "b"]], ["best_notes", {}, ["a", "b"]], ["search_main", { query: "apples" }, ["a", "b"]], ["get_main_by_id", { id: "a" }, ["a"]], ["get_main_by_id", { id: "c" }, []],
];

// ---- tenancy -------------------------------------------------------------------------------------------------------

inBothModes("the tenant of the claim is the only one whose rows any tool returns, directly or inside run_tool", { tools: programFor(TENANCY("strict")) }, [ACME], async (as) => {
  const { call } = as(ACME);
  for (const [tool, args, own] of READS) {
    assert.deepEqual(ids(await call(tool, args)), own, tool);
    assert.deepEqual(ids(await call("run_tool", { name: tool, arguments: args })), own, `run_tool ${tool}`);
  }
  assert.deepEqual((await call("count_main")).json.result.structuredContent.rows, [{ count: 2 }]);
  assert.deepEqual((await call("list_main_collections")).json.result.structuredContent.rows, [{ collection: "notes", approx_count: 2 }]);
});

const WITHOUT: readonly object[] = [
  {}, { org: "" }, { org: null }, { org: [] }, { org: {} }, { org: { id: "acme" } }, { org: [["acme"]] }, { org: ["acme", {}] }, { org: ["acme", ""] }, { org: ["acme", null] }, { ORG: "acme" }, { "org ": "acme" },
  { org: Array.from({ length: 257 }, () => "acme") },
];
inBothModes("a claim that is missing, empty or names no tenant refuses every call, directly and inside run_tool", { tools: programFor(TENANCY("strict")) }, WITHOUT, async (as) => {
  for (const claims of WITHOUT) {
    const { call } = as(claims);
    for (const [tool, args] of READS) assert.deepEqual(refusalOf(await call(tool, args)), REFUSED, `${JSON.stringify(claims).slice(0, 60)} ${tool}`);
    assert.deepEqual(refusalOf(await call("run_tool", { name: "list_notes" })), REFUSED);
    assert.deepEqual(refusalOf(await call("count_main")), REFUSED);
  }
});

const SETS: readonly (readonly [object, readonly string[]])[] = [
  [{ org: ["acme"] }, ["a", "b"]], [{ org: ["acme", "other"] }, ["a", "b", "c"]], [{ org: 5 }, ["d"]], [{ org: "5" }, ["d"]], [{ org: [5] }, ["d"]], [{ org: "acme, other" }, []], [{ org: "acm%" }, []], [{ org: "ACME" }, []],
  [{ org: "acme\u0000" }, []], [{ org: "\u0430cme" }, []], [{ org: 5.5 }, []], [{ org: true }, []], [{ org: "acme' OR 1=1 --" }, []],
];
inBothModes("a list admits each tenant in it, a number is its text, and nothing else is the same tenant", { tools: programFor(TENANCY("strict")) }, SETS.map(([claims]) => claims), async (as) => {
  for (const [claims, want] of SETS) assert.deepEqual(ids(await as(claims).call("list_notes")), want, JSON.stringify(claims));
});

inBothModes("headers name no tenant in this mode, whatever they are called", { tools: programFor(TENANCY("strict")) }, [ACME, {}], async (as) => {
  const spoofed = { "x-tenant-id": "other", org: "other", "x-org": "other", "x-claims": '{"org":"other"}' };
  assert.deepEqual(ids(await as(ACME).call("list_notes", {}, spoofed)), ["a", "b"]);
  assert.deepEqual(refusalOf(await as({}).call("list_notes", {}, spoofed)), REFUSED);
});

const BY_HEADER = catalog("{ tenancy: { mode: header, header: X-Org, path: org } }");
inBothModes("with tenancy by header the header names the tenant in every mode, and a claim does not", { tools: programFor(BY_HEADER) }, [{ org: "other", "x-org": "other" }], async (as) => {
  const { call } = as({ org: "other", "x-org": "other" });
  // The first call waits for the token's verification, the second is answered from the cache.
  for (const tenant of ["acme", "third"]) assert.deepEqual(ids(await call("list_notes", {}, { "x-org": tenant })), tenant === "acme" ? ["a", "b"] : ["e"]);
  assert.deepEqual(refusalOf(await call("list_notes")), REFUSED);
  assert.equal((await call("list_notes", {}, { "x-org": "ac\tme" })).status, 400);
  assert.equal((await call("list_notes", {}, { "x-org": "acme", authorization: "Bearer wrong" })).status, 401, "a tenant is no credential");
});

const ARGUMENTS: readonly object[] = [{ org: "other" }, { company: "other" }, { companies: ["acme", "other"] }, { companies: ["other"] }];
inBothModes("strict: an argument that names another tenant is VB4010, by any name and inside run_tool; the own tenant may be named", { tools: programFor(TENANCY("strict")) }, [ACME], async (as) => {
  const { call } = as(ACME);
  for (const args of ARGUMENTS) {
    assert.equal(errorOf(await call("search_notes", { query: "apples", ...args })), "VB4010", JSON.stringify(args));
    assert.equal(errorOf(await call("run_tool", { name: "search_notes", arguments: { query: "apples", ...args } })), "VB4010", JSON.stringify(args));
  }
  assert.deepEqual(ids(await call("search_notes", { query: "apples", company: "acme" })), ["a", "b"]);
});

inBothModes("override and warn: the argument is replaced by the own tenant, and warn says so", { override: programFor(TENANCY("override")), warn: programFor(TENANCY("warn")) }, ["override", "warn"].map((app) => ({ ...ACME, app })), async (as) => {
  for (const app of ["override", "warn"]) {
    for (const args of ARGUMENTS) {
      for (const [tool, sent] of [["search_notes", { query: "apples", ...args }], ["run_tool", { name: "search_notes", arguments: { query: "apples", ...args } }]] as const) {
        const said = await as({ ...ACME, app }).call(tool, sent);
        assert.deepEqual([ids(said), said.json.result.structuredContent.warnings], [["a", "b"], app === "warn" ? ["VB4010"] : []], `${app} ${JSON.stringify(args)}`);
      }
    }
  }
}, { routeByClaim: "app" });

// ---- roles ---------------------------------------------------------------------------------------------------------

const NO_ADMIN: readonly object[] = ["Admin", "ADMIN", "admin ", " admin", "admin viewer", "admin,guest", "\u0430dmin", "\uff41dmin", "admin\u0000", "admin\u200b", "*", "constructor", "__proto__", { admin: true }, ["Admin"], [["admin"]], [{ name: "admin" }], 1, true].map((roles) => ({ roles }));
inBothModes("a role is its exact name: no other case, spelling, script or shape of the claim is it", { tools: programFor(ROLES) }, [{ roles: "admin" }, { roles: ["x", "admin"] }, ...NO_ADMIN], async (as) => {
  for (const roles of ["admin", ["x", "admin"]]) assert.equal((await as({ roles }).call("search_notes", { query: "apples" })).status, 200);
  for (const claims of NO_ADMIN) {
    const { call } = as(claims);
    assert.deepEqual(refusalOf(await call("search_notes", { query: "apples" })), REFUSED, JSON.stringify(claims));
    assert.deepEqual(refusalOf(await call("run_tool", { name: "search_notes", arguments: { query: "apples" } })), REFUSED, JSON.stringify(claims));
  }
});

inBothModes("callers without the claim have the default role; both lists show what they may call, and deny_tools wins over '*'", { tools: programFor(ROLES) }, [{}, { roles: [] }, { roles: "admin" }], async (as) => {
  const listed = async (claims: object): Promise<readonly string[]> => (await as(claims).ask("tools/list")).json.result.tools.map(({ name }: { name: string }) => name).filter((name: string) => name !== "run_tool" && name !== "list_available_tools");
  const available = async (claims: object): Promise<readonly string[]> => (await as(claims).call("list_available_tools")).json.result.structuredContent.rows.map(({ name }: { name: string }) => name);
  for (const [claims, want] of [[{}, ["list_notes"]], [{ roles: [] }, []]] as const) {
    assert.deepEqual([await listed(claims), await available(claims)], [want, want], JSON.stringify(claims));
  }
  const all = await listed({ roles: "admin" });
  assert.deepEqual([all.includes("search_notes"), all.includes("count_main"), await available({ roles: "admin" })], [true, false, all]);
  for (const said of [await as({ roles: "admin" }).call("count_main"), await as({ roles: "admin" }).call("run_tool", { name: "count_main" })]) assert.deepEqual(refusalOf(said), REFUSED);
});

inBothModes("a tool is its exact name: another case or script is no tool at all", { tools: programFor(ROLES) }, [{}], async (as) => {
  for (const name of ["LIST_NOTES", "list_notes ", "list_not\u0435s", "count_Main", "Search_notes"]) {
    const said = await as({}).call(name);
    assert.deepEqual([said.status, said.json.result.isError], [200, true], name);
    assert.match(said.json.result.content[0].text, /unknown tool/);
  }
});

// ---- routing -------------------------------------------------------------------------------------------------------

const APPS = { support: programFor(catalog("{}"), "support.yaml"), sales: programFor(ROLES, "sales.yaml") };
const ROUTES: readonly (readonly [object, number, string | null])[] = [
  [{ app: "sales" }, 200, "sales"], [{ app: "support" }, 200, "support"], [{}, 200, "support"], [{ app: "" }, 200, "support"], [{ app: null }, 200, "support"],
  [{ app: "nope" }, 403, null], [{ app: "Sales" }, 403, null], [{ app: ["sales"] }, 403, null], [{ app: { name: "sales" } }, 403, null], [{ app: "__proto__" }, 403, null],
];
inBothModes("--route-by-claim: the claim names the catalog, without it the default is served, and an unknown one is 403", APPS, ROUTES.map(([claims]) => claims), async (as) => {
  for (const [claims, status, app] of ROUTES) {
    const said = await as(claims).ask("tools/list");
    assert.equal(said.status, status, JSON.stringify(claims));
    if (app !== null) assert.equal(said.json.result.tools.some(({ name }: { name: string }) => name === "search_notes"), app === "support", JSON.stringify(claims));
    else assert.deepEqual([said.json.error.code, said.json.error.data.code], [-32001, "auth_error"]);
  }
  const other = await as({ app: "support" }).call("search_notes", { query: "apples" });
  assert.equal(other.status, 200);
  assert.deepEqual(refusalOf(await as({ app: "sales" }).call("search_notes", { query: "apples" })), REFUSED, "the other catalog's rules hold");
}, { routeByClaim: "app" });

test.run();
