/** loadTools: what a model may call, as whom, and what it gets; without a framework. */
import assert from "node:assert/strict";
import { connect, isToolError, loadTools, type BoundTool, type CallContext, type CatalogSource } from "../../generator/index.js";
import { suite } from "../lib/suite.js";
import { peer } from "../../generator/frameworks/toolset.js";
import { CALLS, CATALOG, idsOf, NORTH, NotesProject, overMcp, SOUTH, steady } from "./notes.js";

const test = suite("frameworks: toolset");
const project = new NotesProject();
test.before(() => project.fill());
test.after(() => project.remove());

const toolOf = <Run>(tools: readonly BoundTool<Run>[], name: string): BoundTool<Run> => tools.find(({ definition }) => definition.name === name) ?? assert.fail(name);
const hardened = (change: object = {}): CatalogSource => ({ ...CATALOG, profiles: { enterprise: {} }, ...change });

test("names, descriptions and schemas are those of tools/list for the same caller; there are no meta tools", async () => {
  const mcp = await overMcp(project);
  for (const [context, claims] of [[NORTH, { org: "north" }], [{ ...NORTH, roles: ["owner"] }, { org: "north", groups: ["owner"] }]] as const) {
    const { tools, close } = await loadTools(project.catalog, { context });
    assert.deepEqual(tools.map(({ definition }) => definition), await mcp.list(claims));
    await close();
  }
  await mcp.close();
});

test("where each call has its own caller, every tool that is not denied to all is loaded, and roles decide the call", async () => {
  const { tools, close } = await loadTools(project.catalog, { context: () => NORTH });
  assert.deepEqual(tools.map(({ definition }) => definition.name), ["search_notes", "count_notes", "list_notes"]);
  const outcome = await toolOf(tools, "list_notes").run({}, undefined);
  assert.ok(outcome.isError && outcome.failure.code === "auth_error", outcome.text);
  await close();
});

test("results and errors are the texts that an MCP client reads", async () => {
  const mcp = await overMcp(project);
  const { tools, close } = await loadTools(project.catalog, { context: NORTH });
  for (const [name, args] of CALLS) {
    const ours = await toolOf(tools, name).run(args, undefined);
    // A client of the protocol leaves out what it does not give.
    const given = Object.fromEntries(Object.entries(args as object).filter(([, value]) => value !== null));
    const theirs = await mcp.call(name, given, { org: "north" });
    assert.deepEqual([ours.isError, steady(ours.text)], [theirs.isError, steady(theirs.text)], JSON.stringify(args).slice(0, 80));
  }
  await close();
  await mcp.close();
});

test("without a tenant in the context a tool with tenancy is refused, as over MCP", async () => {
  const mcp = await overMcp(project);
  for (const context of [undefined, {}, { principal: "ann" }, { principal: "ann", tenant: "" }, { principal: "ann", claims: { Org: "north" } }]) {
    const { tools, close } = await loadTools(project.catalog, context === undefined ? {} : { context });
    const outcome = await toolOf(tools, "search_notes").run({ query: "apples" }, undefined);
    assert.deepEqual(outcome.text, (await mcp.call("search_notes", { query: "apples" }, {})).text);
    assert.match(outcome.text, /"code":"auth_error"/);
    await close();
  }
  await mcp.close();
});

test("a model cannot name another tenant, caller or role in its arguments", async () => {
  const { tools, close } = await loadTools(project.catalog, { context: NORTH });
  for (const args of [{ org: "south" }, { tenant: "south" }, { context: SOUTH }, { principal: "sam", claims: { org: "south" } }, { __proto__: { org: "south" } }, JSON.parse('{"__proto__": {"org": "south"}}')]) {
    const outcome = await toolOf(tools, "search_notes").run({ query: "apples", ...args }, SOUTH as unknown as undefined);
    assert.ok(outcome.isError || !outcome.text.includes("southern"), outcome.text);
  }
  await close();
});

test("two callers of one connection at the same time each see their own rows", async () => {
  const connection = await connect(project.catalog);
  const loads = await Promise.all([NORTH, SOUTH].map((context) => loadTools(connection, { context })));
  const calls = Array.from({ length: 40 }, (_, n) => toolOf(loads[n % 2]?.tools ?? [], "search_notes").run({ query: "apples" }, undefined));
  for (const [n, outcome] of (await Promise.all(calls)).entries()) assert.deepEqual(idsOf(outcome.text), n % 2 === 0 ? ["a", "b"] : ["d"]);
  await Promise.all(loads.map(({ close }) => close()));
  assert.equal((await connection.call("count_notes", {}, NORTH)).count, 3, "the application's connection stays open");
  await connection.close();
});

test("under the enterprise profile loadTools without a caller is refused, and a call never runs as nobody", async () => {
  const options = { base: project.folder };
  for (const context of [undefined, {}, { tenant: "north" }, { principal: "", tenant: "north" }]) {
    await assert.rejects(loadTools(hardened(), context === undefined ? options : { ...options, context }), /enterprise hardening: .*context/);
  }
  const problems: unknown[] = [];
  let caller: CallContext | undefined;
  const { tools, close } = await loadTools(hardened(), { ...options, context: () => caller as CallContext, onError: (error) => problems.push(error) });
  for (caller of [undefined, {}, { tenant: "north" }]) {
    const outcome = await toolOf(tools, "search_notes").run({ query: "apples" }, undefined);
    assert.ok(outcome.isError && outcome.failure.code === "auth_error", outcome.text);
  }
  assert.equal(problems.length, 3);
  caller = NORTH;
  assert.deepEqual(idsOf((await toolOf(tools, "search_notes").run({ query: "apples" }, undefined)).text), ["a", "b"]);
  await close();
});

test("under the enterprise profile a catalog that breaks it is not loaded", async () => {
  const broken = hardened({ security: { tenancy: { mode: "none" } } });
  await assert.rejects(loadTools(broken, { base: project.folder, context: NORTH }), /enterprise hardening: profiles\.enterprise\.require_tenancy/);
});

test("a context that cannot be understood is an error that names the member and not its value", async () => {
  const table: readonly (readonly [object, RegExp])[] = [
    [{ tenantId: "north" }, /no 'tenantId'/],
    [{ Tenant: "north" }, /did you mean 'tenant'/],
    [{ tenant: 5 }, /^tenant of the call context is a text$/],
    [{ roles: "owner" }, /^roles of the call context is a list of texts$/],
    [{ claims: ["org"] }, /^claims of the call context is an object$/],
    [{ deadlineS: Number.NaN }, /^deadlineS /],
    [{ signal: {} }, /^signal /],
    [{ requestId: "a\nb" }, /^requestId of the call context is 1 to 128 characters of ASCII without spaces$/],
    [{ requestId: "x".repeat(129) }, /^requestId /],
  ];
  const connection = await connect(project.catalog);
  for (const [context, message] of table) {
    await assert.rejects(loadTools(connection, { context: context as CallContext }), { name: "TypeError", message });
    await assert.rejects(connection.call("count_notes", {}, context as CallContext), { name: "TypeError", message });
    const { tools } = await loadTools(connection, { context: () => context as CallContext, onError: () => undefined });
    const outcome = await toolOf(tools, "count_notes").run({}, undefined);
    assert.ok(outcome.isError && outcome.failure.message === "the application named no caller for this call");
  }
  await connection.close();
});

test("arguments that are no object are refused in the words of MCP", async () => {
  const { tools, close } = await loadTools(project.catalog, { context: NORTH });
  for (const args of ["apples", 5, ["apples"], true]) {
    const outcome = await toolOf(tools, "search_notes").run(args, undefined);
    assert.ok(outcome.isError && outcome.failure.code === "invalid_arguments", outcome.text);
  }
  await close();
});

test("a bug reaches the application and not the model", async () => {
  const seen: unknown[] = [];
  const bug = new Error("key=s3cret");
  const connection = await connect(project.catalog);
  const broken = { ...connection, call: () => Promise.reject(bug) };
  const { tools } = await loadTools(broken, { context: NORTH, onError: (error, tool) => seen.push([error, tool]) });
  assert.equal((await toolOf(tools, "search_notes").run({ query: "apples" }, undefined)).text, '{"error":{"code":"internal","message":"internal error","retryable":false,"tool":"search_notes"}}');
  assert.deepEqual(seen, [[bug, "search_notes"]]);
  await connection.close();
});

test("a store that is missing is a retryable error for the model, without its path", async () => {
  const { tools, close } = await loadTools({ ...CATALOG, connections: { store: { backend: "sqlite", path: "./nowhere.db" } } }, { base: project.folder, context: NORTH });
  const outcome = await toolOf(tools, "count_notes").run({}, undefined);
  assert.ok(outcome.isError && outcome.failure.code === "backend_unreachable", outcome.text);
  assert.ok(!outcome.text.includes(project.folder));
  await close();
});

test("a call ends when its signal aborts, with the signal's reason", async () => {
  const controller = new AbortController();
  const context = (): CallContext => {
    controller.abort(new Error("enough"));
    return NORTH;
  };
  const { tools, close } = await loadTools(project.catalog, { context });
  await assert.rejects(toolOf(tools, "search_notes").run({ query: "apples" }, undefined, controller.signal), /^Error: enough$/);
  await close();
});

test("after close nothing is opened again: the application has the error, the model none of it", async () => {
  const seen: unknown[] = [];
  const { tools, close } = await loadTools(project.catalog, { context: NORTH, onError: (error) => seen.push(String(error)) });
  await close();
  const outcome = await toolOf(tools, "count_notes").run({}, undefined);
  assert.ok(outcome.isError && outcome.failure.code === "internal", outcome.text);
  assert.deepEqual(seen, ["Error: the connection is closed"]);
});

test("a package that is not installed is named with the command that installs it", async () => {
  const name = "toolsrv-no-such-package";
  await assert.rejects(peer(name, () => import(name)), /needs the package toolsrv-no-such-package, which is not installed; run: npm i toolsrv-no-such-package/);
  await assert.rejects(peer(name, () => Promise.reject(new Error("boom"))), /cannot be loaded on Node/);
});

test("an error of a call is a ToolError for an application that calls by itself", async () => {
  const connection = await connect(project.catalog);
  await assert.rejects(connection.call("search_notes", { query: "apples" }), (error) => isToolError(error) && error.code === "auth_error");
  await connection.close();
});

test.run();
