/** Arguments that clients repeat in HTTP headers (x-mcp-header), as protocol 2026-07-28 has them checked. */
import * as assert from "node:assert/strict";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Program } from "../../runtime/abi/call.js";
import { isToolError } from "../../runtime/abi/errors.js";
import type { ExtraTool } from "../../runtime/abi/extra-tools.js";
import type { Json } from "../../runtime/abi/plan.js";
import { createEngine } from "../../runtime/call/engine.js";
import { bodyText } from "../../runtime/mcp/dispatch.js";
import { dispatchStateless } from "../../runtime/mcp/stateless-protocol.js";
import { createParamHeaders } from "../../runtime/mcp/param-headers.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { createLog } from "../../runtime/observe/log.js";
import { fixtureProgram } from "../mcp/program.js";
import { TestPeer } from "../mcp/peer.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";
import { startHttp } from "../lib/served.js";
import { answered } from "../lib/answered.js";
import { suite } from "../lib/suite.js";

const test = suite("arguments in headers");

const server = fileURLToPath(new URL(`../conformance/server${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
const VERSION = "2026-07-28";
const META = { "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {} };
const TOOL = "test_mirrored_arguments";

let port = 0;
let stop: () => Promise<void> = () => Promise.resolve();
test.before(async () => {
  const served = await startHttp(server);
  port = served.port;
  stop = served.kill;
});
test.after(() => stop());

type Headers = { readonly [name: string]: string };

function call(args: unknown, headers: Headers, name = TOOL, version = VERSION): Promise<RawAnswer> {
  const body = { jsonrpc: "2.0", id: "p", method: "tools/call", params: { name, arguments: args, _meta: version === VERSION ? META : {} } };
  const standard = { accept: "application/json", "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name };
  return rawHttp(port, rawPost("/mcp", JSON.stringify(body), { ...standard, ...headers }));
}

test("a header that says what its argument says lets the call through, in every form that a value may have", async () => {
  const table: readonly (readonly [args: object, headers: Headers])[] = [
    [{ region: "us-west1" }, { "Mcp-Param-Region": "us-west1" }],
    [{ region: "us-west1" }, { "MCP-PARAM-REGION": "=?base64?dXMtd2VzdDE=?=" }],
    [{ region: "Zürich" }, { "Mcp-Param-Region": "=?base64?WsO8cmljaA==?=" }],
    [{ region: " padded " }, { "Mcp-Param-Region": "=?base64?IHBhZGRlZCA=?=" }],
    [{ region: "=?base64?SGVsbG8=" }, { "Mcp-Param-Region": "=?base64?SGVsbG8=" }],
    [{ region: "" }, { "Mcp-Param-Region": "" }],
    [{ region: null }, {}],
    [{}, {}],
    [{ limit: 42 }, { "Mcp-Param-Limit": "42" }],
    [{ limit: 42 }, { "Mcp-Param-Limit": "42.0" }],
    [{ limit: -7, dry_run: false }, { "Mcp-Param-Limit": "-7", "Mcp-Param-Dry-Run": "false" }],
    [{ options: { tenant: "a" } }, { "Mcp-Param-Tenant": "a" }],
    [{ options: {} }, {}],
    [{ other: 1 }, { "Mcp-Param-Other": "2" }],
  ];
  for (const [args, headers] of table) {
    const answer = await call(args, headers);
    assert.equal(answer.status, 200, `${JSON.stringify([args, headers])}: ${answer.body}`);
    assert.deepEqual(JSON.parse(JSON.parse(answer.body).result.content[0].text), args);
  }
});

test("a header that is missing, differs, or holds what no header may hold is 400 with -32020", async () => {
  const table: readonly (readonly [args: object, headers: Headers, says: RegExp])[] = [
    [{ region: "a" }, {}, /header Mcp-Param-Region is missing/],
    [{ region: "a" }, { "Mcp-Param-Region": "b" }, /header Mcp-Param-Region 'b' does not match 'a'/],
    [{ region: "a" }, { "Mcp-Param-Region": "A" }, /does not match/],
    [{ region: "Hello" }, { "Mcp-Param-Region": "=?base64?SGVsbG8?=" }, /valid base64/],
    [{ region: "Hello" }, { "Mcp-Param-Region": "=?base64?SGVs!!!bG8=?=" }, /valid base64/],
    [{ region: "\uFFFD" }, { "Mcp-Param-Region": "=?base64?/w==?=" }, /valid base64 of UTF-8/],
    [{ region: "Zürich" }, { "Mcp-Param-Region": "Zürich" }, /visible ASCII/],
    [{ region: null }, { "Mcp-Param-Region": "a" }, /'region', which is not in the arguments/],
    [{}, { "Mcp-Param-Tenant": "a" }, /'options.tenant', which is not in the arguments/],
    [{ options: { tenant: "a" } }, { "Mcp-Param-Tenant": "b" }, /Mcp-Param-Tenant/],
    [{ limit: 42 }, { "Mcp-Param-Limit": "42.5" }, /does not match '42'/],
    [{ limit: 42 }, { "Mcp-Param-Limit": "0x2a" }, /does not match '42'/],
    [{ limit: 1.5 }, { "Mcp-Param-Limit": "1.5" }, /'limit' cannot be repeated in a header/],
    [{ limit: 2 ** 53 }, { "Mcp-Param-Limit": "9007199254740993" }, /'limit' cannot be repeated in a header/],
    [{ dry_run: true }, { "Mcp-Param-Dry-Run": "TRUE" }, /does not match 'true'/],
    [{ region: "" }, {}, /header Mcp-Param-Region is missing/],
    [{}, { "Mcp-Param-Region": "" }, /'region', which is not in the arguments/],
    [{ region: "a" }, { "Mcp-Param-Region": "" }, /header Mcp-Param-Region '' does not match 'a'/],
    [{ limit: 0 }, { "Mcp-Param-Limit": "" }, /header Mcp-Param-Limit '' does not match '0'/],
    [{ region: { deep: 1 } }, { "Mcp-Param-Region": "[object Object]" }, /'region' cannot be repeated in a header/],
  ];
  for (const [args, headers, says] of table) {
    const answer = await call(args, headers);
    const { id, error } = JSON.parse(answer.body);
    assert.deepEqual([answer.status, error?.code, id], [400, -32020, "p"], JSON.stringify([args, headers]));
    assert.match(error.message, says);
  }
});

test("the tool that the request names decides: other tools, run_tool and older protocols have no such headers", async () => {
  assert.equal((await call({}, { "Mcp-Param-Region": "a" }, "test_simple_text")).status, 200);
  const inner = await call({ name: TOOL, arguments: { region: "a" } }, {}, "run_tool");
  assert.deepEqual([inner.status, JSON.parse(inner.body).result.content[0].text], [200, '{"region":"a"}']);
  assert.equal((await call({ region: "a" }, { "Mcp-Param-Region": "b" }, TOOL, "2025-11-25")).status, 200);
});

test("pages of an allowed origin may send the headers", async () => {
  const { headers } = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "OPTIONS", headers: { origin: "http://localhost:3000" } });
  assert.match(headers.get("access-control-allow-headers") ?? "", /mcp-param-region, mcp-param-limit, mcp-param-dry-run, mcp-param-tenant/);
});

const tool = (inputSchema: Json, name = "odd"): ExtraTool => ({ name, title: name, description: name, inputSchema });
const property = (schema: Json): Json => ({ type: "object", properties: { a: schema } });
const annotated = (name: Json, type: Json = "string"): Json => property({ type, "x-mcp-header": name });

/** A program with fixture tools and one list of extra tools, which can be replaced. */
function programWith(...first: readonly ExtraTool[]): { readonly program: Program; readonly replace: (...next: readonly ExtraTool[]) => void } {
  let definitions = first;
  const extra = {
    get definitions() {
      return definitions;
    },
    call: () => Promise.resolve({ content: [] }),
  };
  return { program: { ...fixtureProgram(), extra }, replace: (...next) => void (definitions = next) };
}

test("a schema that asks for a header that cannot be is refused at the start, with tool and place", () => {
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const startWith = (schema: Json): unknown =>
    createMcpServer({ engine: createEngine(programWith(tool(schema)).program, { env: new Map(), metaTools: true }), info: { name: "n", title: "t", version: "1" }, log });
  const mark: Json = { type: "string", "x-mcp-header": "A" };
  const table: readonly (readonly [schema: Json, says: string])[] = [
    [annotated(""), "inputSchema.properties.a.x-mcp-header names a header"],
    [annotated("My Region"), "inputSchema.properties.a.x-mcp-header names a header"],
    [annotated("a\r\nb"), "names a header"],
    [annotated("Zürich"), "names a header"],
    [annotated(5), "names a header"],
    [annotated("A", "object"), "type string, integer or boolean"],
    [annotated("A", "number"), "type string, integer or boolean"],
    [annotated("A", ["string", "null"]), "type string, integer or boolean"],
    [{ type: "object", properties: { a: mark, b: { type: "object", properties: { c: { ...mark, "x-mcp-header": "a" } } } } }, "inputSchema.properties.b.properties.c.x-mcp-header is 'a' a second time"],
    [mark, "inputSchema.x-mcp-header belongs to a property"],
    [property({ type: "array", items: mark }), "inputSchema.properties.a.items.x-mcp-header belongs to a property"],
    [{ ...Object(property({})), anyOf: [property(mark)] }, "inputSchema.anyOf.properties.a.x-mcp-header belongs to a property"],
    [{ type: "object", $defs: { region: mark }, properties: { a: { $ref: "#/$defs/region" } } }, "inputSchema.$defs.region.x-mcp-header belongs to a property"],
    [{ type: "object", if: property(mark) }, "belongs to a property"],
    [{ type: "object", additionalProperties: mark }, "belongs to a property"],
  ];
  for (const [schema, says] of table) {
    assert.throws(() => startWith(schema), (error) => isToolError(error) && error.code === "tds_invalid" && error.message.startsWith("tool 'odd': ") && error.message.includes(says), `${JSON.stringify(schema)}: ${says}`);
  }
});

test("a property or a value that is called like the keyword is no annotation", () => {
  const { program } = programWith(tool({ type: "object", properties: { "x-mcp-header": { type: "object", default: { "x-mcp-header": "A" }, enum: [{ "x-mcp-header": "A" }] } } }));
  assert.deepEqual(createParamHeaders(program).keys, []);
  assert.deepEqual(createParamHeaders(fixtureProgram()).keys, []);
});

test("tools that come later are checked by the headers that the server reads, and refused where they need another one", () => {
  const { program, replace } = programWith(tool(annotated("A")));
  const headers = createParamHeaders(program);
  assert.deepEqual(headers.keys, ["mcp-param-a"]);
  replace(tool(annotated("A")), tool(annotated("a", "integer"), "later"));
  assert.deepEqual(headers.of("later"), [{ header: "Mcp-Param-a", key: "mcp-param-a", path: ["a"] }]);
  assert.deepEqual(headers.of("echo"), []);
  replace(tool(annotated("B"), "unread"));
  assert.throws(() => headers.of("unread"), /tool 'unread' needs header Mcp-Param-B, which no tool had when the server started/);
  assert.throws(() => headers.of("unread"), /restart the server/, "the refusal lasts");
});

test("a caller who may not call a tool is refused, whatever its headers say", async () => {
  const { program } = programWith(tool(annotated("A")));
  const settings: Program["settings"] = { security: { rbac: { default_role: "viewer", roles: { viewer: { allow: ["echo"] } }, deny_tools: [], role_claim: "roles" } } };
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const mcp = createMcpServer({ engine: createEngine({ ...program, settings }, { env: new Map(), metaTools: true }), info: { name: "n", title: "t", version: "1" }, log });
  const sent = new Map([["mcp-protocol-version", VERSION], ["mcp-method", "tools/call"], ["mcp-name", "odd"]]);
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "odd", arguments: { a: "x" }, _meta: META } };
  const answer = await answered((reply) => void dispatchStateless(mcp, message, { header: (name) => sent.get(name) ?? "", has: (name) => sent.has(name) }, new TestPeer(null), reply));
  assert.ok(answer !== null);
  assert.doesNotMatch(bodyText(answer), /Mcp-Param|-32020/);
  assert.match(bodyText(answer), /auth_error/);
});

test.run();
