/** The record of a call: its keys, its order, and which calls have one. */
import assert from "node:assert/strict";
import { BackendError } from "../../../runtime/abi/errors.js";
import { dispatch } from "../../../runtime/mcp/dispatch.js";
import { createMcpServer } from "../../../runtime/mcp/server.js";
import { createLog } from "../../../runtime/observe/log.js";
import { answered } from "../../lib/answered.js";
import { suite } from "../../lib/suite.js";
import { TestPeer } from "../../mcp/peer.js";
import { caller, nobody } from "../../call/program.js";
import { audited, ended } from "./world.js";

const test = suite("observe/audit/event");

test("a call that succeeds leaves one record with these keys in this order", async () => {
  const { engine, ended: over } = audited();
  await engine.call("find", { query: "apples", limit: 1 }, caller({ id: "ada" }, { requestId: "r7" }));
  const [record, ...more] = await over();
  assert.deepEqual(more, []);
  assert.deepEqual(Object.keys(record ?? {}), ["audit_version", "timestamp", "request_id", "principal", "tool", "connection", "collection", "status", "error_code", "args", "latency_ms", "result_count", "truncated", "search_mode", "warnings"]);
  assert.deepEqual({ ...record, latency_ms: 0 }, {
    audit_version: "1", timestamp: "2023-11-14T22:13:20Z", request_id: "r7", principal: "ada", tool: "find", connection: "main", collection: "things",
    status: "ok", error_code: null, args: { query: "apples", limit: 1 }, latency_ms: 0, result_count: 1, truncated: false, search_mode: "dense", warnings: [],
  });
  assert.ok(Number.isInteger(record?.["latency_ms"]));
});

const RBAC = { default_role: "reader", role_claim: "roles", roles: { reader: { allow: ["find", "list", "owned", "run_tool"] } }, deny_tools: [] };

test("refused calls are recorded too: by role, rate, tenant, arguments, name, deadline, store and bug", async () => {
  const cases: readonly (readonly [code: string, tool: string, args: unknown, parts: Parameters<typeof audited>[0], more?: object])[] = [
    ["auth_error", "names", {}, { settings: { security: { rbac: RBAC } } }],
    ["rate_limited", "list", {}, { settings: { security: { rate_limit: { store: "memory", on_store_error: "closed", global: {}, per_principal: {}, per_tool: { list: "1/hour" } } } } }],
    ["auth_error", "owned", {}, {}],
    ["invalid_arguments", "list", { name: 7 }, {}],
    ["invalid_arguments", "no_such_tool", {}, {}],
    ["timeout", "list", {}, { adapter: { fetch: () => new Promise(() => undefined) } }, { deadlineMs: 5 }],
    ["backend_unreachable", "list", {}, { adapter: { fetch: () => Promise.reject(new BackendError("unreachable", "sqlite", "the store is gone")) } }],
    ["internal", "list", {}, { adapter: { fetch: () => Promise.reject(new TypeError("a bug with row-secret")) } }],
  ];
  for (const [code, tool, args, parts, more = {}] of cases) {
    const { engine, ended: over } = audited(parts);
    if (code === "rate_limited") await engine.call(tool, args, nobody);
    await ended(engine, tool, args, { ...nobody, ...more });
    const records = await over();
    const last = records.at(-1);
    assert.equal(records.length, code === "rate_limited" ? 2 : 1, code);
    assert.deepEqual([last?.["status"], last?.["error_code"], last?.["tool"]], ["error", code, tool]);
    for (const key of ["result_count", "truncated", "search_mode", "warnings"]) assert.ok(!Object.hasOwn(last ?? {}, key), `${code} has ${key}`);
    assert.ok(!JSON.stringify(last).includes("row-secret"));
  }
});

test("connection and collection are those of the plan: null, '*' and '__param__' where there is no single one", async () => {
  const { engine, ended: over } = audited();
  for (const tool of ["names", "any", "piped", "nothing"]) await ended(engine, tool, { collection: "things" }, nobody);
  assert.deepEqual((await over()).map(({ connection, collection }) => [connection, collection]), [["main", "*"], ["main", "__param__"], ["main", "things"], [null, null]]);
});

test("run_tool is recorded as the tool it names, and list_available_tools not at all", async () => {
  const { engine, ended: over } = audited({ settings: { security: { rbac: { ...RBAC, roles: { reader: { allow: [...RBAC.roles.reader.allow, "list_available_tools"] } } } } } });
  const mcp = createMcpServer({ engine, info: { name: "n", title: "t", version: "1" }, log: createLog({ format: "text", level: "silent", write: () => undefined }) });
  const call = (name: string, args: object): Promise<unknown> => answered((reply) => dispatch(mcp, { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }, new TestPeer(), reply));
  await call("list_available_tools", {});
  await call("run_tool", { name: "list", arguments: {} });
  await call("run_tool", { name: "names", arguments: {} });
  assert.deepEqual((await over()).map(({ tool, error_code: code }) => [tool, code]), [["list", null], ["names", "auth_error"]], "a refused inner tool is recorded under its name");
});

test("values under names that say password, token or secret are redacted by default, and under every name of redact.arg_fields", async () => {
  const { engine, ended: over } = audited({ audit: { sink: "stdout", redact: { arg_fields: ["SSN"] } } });
  await engine.call("list", { password: "hunter22", deep: { apiToken: "t0ken", ssn: "123-45", ok: "seen" } }, nobody);
  const [record] = await over();
  assert.deepEqual(record?.["args"], { password: "[REDACTED]", deep: { apiToken: "[REDACTED]", ssn: "[REDACTED]", ok: "seen" } });
});

test("include leaves keys out, exclude_tools leaves calls out", async () => {
  const include = { args: false, result_count: false, latency_ms: false, search_mode: false, warnings: false };
  const { engine, ended: over } = audited({ audit: { sink: "stdout", include, exclude_tools: ["list"] } });
  for (const tool of ["list", "piped"]) await engine.call(tool, {}, nobody);
  assert.deepEqual((await over()).map((record) => Object.keys(record)), [["audit_version", "timestamp", "request_id", "principal", "tool", "connection", "collection", "status", "error_code"]]);
});

test("names of any length and with any character stay one line of bounded length", async () => {
  const { engine, ended: over } = audited();
  await ended(engine, `x"\n\u2028${"t".repeat(500_000)}`, { text: "\n\u0000".repeat(100_000) }, caller({ id: `eve"} \n{"tool":"forged","x":"${"p".repeat(100_000)}` }));
  const records = await over();
  assert.equal(records.length, 1, "one line");
  assert.ok(JSON.stringify(records[0]).length < 100_000);
  assert.equal(typeof records[0]?.["principal"], "string");
});

test("without observability.audit and without a flag nothing is observed", async () => {
  const { createAudit } = await import("../../../runtime/observe/audit/open.js");
  const { program } = await import("../../call/program.js");
  const audit = createAudit({ flags: null, stdout: null, log: { error: () => undefined, warn: () => undefined }, now: () => 0 });
  assert.equal(audit.observe({ program: program({ plans: {} }), settings: {}, scrub: (text) => text }), null);
});

test.run();
