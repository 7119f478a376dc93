/**
 * Document access on a real store: whatever rows there are and whatever claims a caller has, each way of reading
 * returns exactly the rows that a naive reading of the catalog's words admits.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { compile } from "../../generator/compile.js";
import { Writer } from "../../generator/load/writer.js";
import { programOf } from "../../generator/program.js";
import type { Engine } from "../../runtime/abi/call.js";
import { isToolError } from "../../runtime/abi/errors.js";
import { createEngine } from "../../runtime/call/engine.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { suite } from "../lib/suite.js";

const test = suite("e2e/document access");
const folder = mkdtempSync(join(tmpdir(), "toolsrv-access-"));
test.after(() => rmSync(folder, { recursive: true }));

type Json = { readonly [key: string]: unknown };

interface Access {
  readonly combine: "all" | "any";
  readonly rules: readonly { readonly [match: string]: { readonly claim: string; readonly field: string } }[];
}

const GROUPS = { any_of: { claim: "groups", field: "allowed" } };
const OWNER = { equals: { claim: "sub", field: "meta.owner" } };
const LEVEL = { at_most: { claim: "clearance", field: "level" } };
const ACCESS: readonly Access[] = [
  { combine: "all", rules: [GROUPS] }, { combine: "all", rules: [OWNER] }, { combine: "all", rules: [LEVEL] },
  { combine: "all", rules: [GROUPS, LEVEL] }, { combine: "any", rules: [GROUPS, OWNER] }, { combine: "any", rules: [GROUPS, OWNER, LEVEL] },
];

const ROWS = 120;
const OUTPUT = { limit_default: 200, limit_max: 200 };
const target = { connection: "main", collection: "docs" };

function catalogOf(access: Access): Json {
  const described = { description: "Reads the documents that the caller may see, one way of several.", output: OUTPUT };
  const state = { name: "state", path: "state" };
  return {
    tds_version: "2",
    connections: {
      main: {
        backend: "sqlite", path: "./docs.db", builtin_tools: { semantic_search: true, get_by_id: true, count: true, list_collections: true },
        builtin_defaults: { collections: ["docs"], output: OUTPUT },
      },
    },
    defaults: { embedding: "local/hashing-256" },
    security: { tenancy: { mode: "claim", claim: "org", path: "org" }, document_acl: access },
    tools: [
      { name: "search_it", ...described, target, query: {}, parameters: [state] },
      { name: "hybrid_it", ...described, target, query: { mode: "hybrid" } },
      { name: "look_up", kind: "lookup", ...described, target, parameters: [state] },
      { name: "count_it", kind: "count", description: described.description, target, parameters: [state] },
      { name: "list_it", kind: "scroll", ...described, target, static_filters: [{ path: "state", op: "ne", value: "gone" }] },
      { name: "pipe_it", kind: "pipeline", ...described, steps: [{ retrieve: { target, query: { param: "q" } } }, { sort: { by: "level" } }] },
      { name: "by_title", ...described, target, query: {}, parameters: [{ name: "title", path: "title", resolve: { kind: "directory", field: "title", cache_ttl_s: 3600, min_confidence: 1 } }] },
    ],
  };
}

// ---- what the catalog's words mean, written down a second time ---------------------------------------------------------

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isPlain = (value: unknown): boolean => isText(value) || typeof value === "number";
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : value === undefined || value === null ? [] : [value]);

/** `null` where the claim cannot be used. */
function meets(rule: Access["rules"][number], claims: Json, row: Json): boolean | null {
  if ("any_of" in rule) {
    const groups = listOf(claims["groups"]);
    if (groups.length === 0 || !groups.every(isPlain)) return null;
    return listOf(row["allowed"]).some((one) => groups.includes(one));
  }
  if ("equals" in rule) {
    const { sub } = claims;
    if (!isPlain(sub) && typeof sub !== "boolean") return null;
    return (row["meta"] as Json)["owner"] === sub;
  }
  const { clearance } = claims;
  return typeof clearance !== "number" ? null : typeof row["level"] === "number" && row["level"] <= clearance;
}

/** Whether the caller sees the row; `null` where they are refused. */
function sees({ combine, rules }: Access, claims: Json, row: Json): boolean | null {
  const met = rules.map((rule) => meets(rule, claims, row));
  const isRefused = combine === "all" ? met.includes(null) : met.every((one) => one === null);
  if (isRefused) return null;
  return row["org"] === claims["org"] && (combine === "all" ? !met.includes(false) : met.includes(true));
}

// ---- rows and claims ------------------------------------------------------------------------------------------------------

const group = fc.constantFrom<unknown>("a", "b", "c", "A", "aa", 1, 7);
const odd = fc.constantFrom<unknown>(null, true, false, "", "1", 1, 0, 3.5, { a: "a" }, [["a"]], ["a"], [1], []);
const ROW = fc.record({
  org: fc.constantFrom("x", "y"),
  state: fc.constantFrom("open", "gone"),
  allowed: fc.oneof({ weight: 4, arbitrary: fc.array(group, { maxLength: 3 }) }, { weight: 2, arbitrary: group }, odd),
  owner: fc.oneof({ weight: 4, arbitrary: fc.constantFrom<unknown>("ann", "bob", 1) }, odd),
  level: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -1, max: 4 }) }, odd),
  missing: fc.subarray(["allowed", "owner", "level"], { maxLength: 1 }),
});
const CLAIMS = fc.record({
  org: fc.constantFrom("x", "y"),
  groups: fc.oneof({ weight: 4, arbitrary: fc.array(group, { minLength: 1, maxLength: 3 }) }, { weight: 1, arbitrary: group }, odd),
  sub: fc.oneof({ weight: 4, arbitrary: fc.constantFrom<unknown>("ann", "bob", "eve", 1, true) }, odd),
  clearance: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -2, max: 5 }) }, odd),
}, { requiredKeys: ["org"] });

const rows: readonly Json[] = fc.sample(ROW, { numRuns: ROWS, seed: 20261122 }).map(({ allowed, owner, level, missing, ...row }, index) => {
  const { owner: kept, ...fields } = Object.fromEntries(Object.entries({ allowed, owner, level }).filter(([key]) => !(missing as readonly string[]).includes(key)));
  return { _id: `r${String(index).padStart(3, "0")}`, ...row, ...fields, title: `document number ${index} of many`, meta: kept === undefined ? {} : { owner: kept } };
});

const engines: { readonly access: Access; readonly engine: Engine }[] = [];

test.before(async () => {
  const writer = await Writer.open({ file: join(folder, "docs.db"), collection: "docs", embedding: { embeddedBy: "local/hashing-256", dims: 256, text: "title" }, replace: false, indexes: [["org"]] });
  writer.write(rows.map(({ _id, ...record }) => ({ id: String(_id), record, text: String(record["title"]), vector: hashText(String(record["title"]), 256) })));
  writer.finish();
  writer.close();
  for (const access of ACCESS) {
    const { value, diagnostics } = compile({ path: "tools.yaml", text: JSON.stringify(catalogOf(access)) }, { env: new Map(), target: "serve" });
    assert.ok(value, JSON.stringify(diagnostics.filter(({ severity }) => severity === "error")));
    engines.push({ access, engine: createEngine(programOf(value.plans, { base: pathToFileURL(`${folder}/`) }), { env: new Map(), metaTools: true }) });
  }
});
test.after(async () => void (await Promise.all(engines.map(({ engine }) => engine.close()))));

/** Ids of the rows, or the code of the refusal. */
async function idsOf(engine: Engine, tool: string, args: object, claims: Json): Promise<readonly unknown[] | string> {
  try {
    const { rows: found } = await engine.call(tool, args, { requestId: "r", principal: { id: "p", claims, headers: {} } });
    return found.map((row) => row["_id"] ?? row["count"] ?? row["approx_count"]).sort();
  } catch (error) {
    if (isToolError(error)) return error.code;
    throw error;
  }
}

/** Names that a directory offers for one that it does not have. */
async function suggestionsOf(engine: Engine, title: string, claims: Json): Promise<readonly string[]> {
  const { message } = await engine.call("by_title", { title }, { requestId: "r", principal: { id: "p", claims, headers: {} } });
  return [...(message?.split("did you mean")[1] ?? "").matchAll(/'([^']*)'/g)].map(([, name]) => name ?? "");
}

/** Each way to read everything, and what may be left out of it. */
const READS: readonly (readonly [tool: string, args: object, keep: (row: Json) => boolean])[] = [
  ["search_it", { query: "document of many" }, () => true],
  ["search_it", {}, () => true],
  ["search_it", { query: "number", state: "open" }, ({ state }) => state === "open"],
  ["hybrid_it", { query: "document" }, () => true],
  ["look_up", {}, () => true],
  ["list_it", {}, ({ state }) => state !== "gone"],
  ["pipe_it", { q: "document of many" }, () => true],
  ["pipe_it", {}, () => true],
  ["search_main", { query: "document of many" }, () => true],
];

test("every way of reading returns the rows that the claims admit, and refuses callers without usable claims", async () => {
  await fc.assert(fc.asyncProperty(CLAIMS, fc.constantFrom(...ACCESS.keys()), async (claims, which) => {
    const { access, engine } = engines[which] as (typeof engines)[number];
    const refused = sees(access, claims, rows[0] as Json) === null;
    const admitted = rows.filter((row) => sees(access, claims, row) === true);
    for (const [tool, args, keep] of READS) {
      const want = refused ? "auth_error" : admitted.filter(keep).map(({ _id }) => _id);
      assert.deepEqual(await idsOf(engine, tool, args, claims), want, `${tool} ${JSON.stringify(args)}`);
    }
    const counted = refused ? "auth_error" : [admitted.length];
    for (const [tool, args] of [["count_it", {}], ["count_main", {}], ["list_main_collections", {}]] as const) {
      assert.deepEqual(await idsOf(engine, tool, args, claims), counted, tool);
    }
  }), { numRuns: 150, seed: 7 });
}, { timeoutMs: 60_000 });

test("a record id and a name of a directory give away no row that the claims do not admit", async () => {
  await fc.assert(fc.asyncProperty(CLAIMS, fc.constantFrom(...ACCESS.keys()), fc.constantFrom(...rows), async (claims, which, row) => {
    const { access, engine } = engines[which] as (typeof engines)[number];
    const seen = sees(access, claims, row);
    const want = seen === null ? "auth_error" : seen ? [row["_id"]] : [];
    assert.deepEqual(await idsOf(engine, "get_main_by_id", { id: row["_id"] }, claims), want, "get_main_by_id");
    if (seen === null) return assert.equal(await idsOf(engine, "by_title", { title: row["title"] }, claims), "auth_error");
    assert.deepEqual(await idsOf(engine, "by_title", { title: row["title"] }, claims), want, "by_title");
    const hidden = rows.filter((other) => sees(access, claims, other) !== true).map(({ title }) => String(title));
    const suggested = await suggestionsOf(engine, `${String(row["title"])}!`, claims);
    assert.deepEqual(suggested.filter((name) => hidden.includes(name)), [], "suggestions");
    return undefined;
  }), { numRuns: 200, seed: 11 });
}, { timeoutMs: 60_000 });

test("a directory that one caller has filled offers nothing of it to another", async () => {
  const { engine } = engines.find(({ access }) => access.combine === "all" && access.rules.length === 1 && access.rules[0] === GROUPS) as (typeof engines)[number];
  const [onlyA] = rows.filter(({ org, allowed }) => org === "x" && listOf(allowed).includes("a") && !listOf(allowed).includes("c")) as [Json];
  const title = String(onlyA["title"]);
  assert.ok((await suggestionsOf(engine, `${title}!`, { org: "x", groups: ["a"] })).includes(title));
  const others = await suggestionsOf(engine, `${title}!`, { org: "x", groups: ["c"] });
  assert.ok(others.length > 0 && !others.includes(title), others.join());
});

test("the test sees something: each access admits some rows to some callers and refuses others", () => {
  for (const access of ACCESS) {
    const made = fc.sample(CLAIMS, { numRuns: 60, seed: 3 }).map((claims) => rows.filter((row) => sees(access, claims, row) === true).length);
    assert.ok(made.some((count) => count > 3) && made.some((count) => count === 0), JSON.stringify(access));
  }
});

test.run();
