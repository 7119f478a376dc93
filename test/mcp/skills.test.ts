/** The skills extension: the same text that a build prints, for each caller about its own tools, and for nobody unasked. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { parse } from "yaml";
import { z } from "zod";
import { emit } from "../../generator/5-emit/files.js";
import { servedSkill } from "../../generator/5-emit/skill.js";
import { createRender } from "../../generator/5-emit/templates.js";
import { transpile } from "../../generator/5-emit/transpile.js";
import type { Program } from "../../runtime/abi/call.js";
import { skillOf } from "../../runtime/abi/skill.js";
import { createEngine } from "../../runtime/call/engine.js";
import { bodyText, dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type McpServer, type Peer } from "../../runtime/mcp/server.js";
import { dispatchStateless } from "../../runtime/mcp/stateless-protocol.js";
import { versionNamed } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { queriesOf } from "../emit/printed.js";
import { answered } from "../lib/answered.js";
import { startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { skillServer } from "./files.js";
import { skillPlans, skillProgram } from "./skill-program.js";

const test = suite("skills over MCP");

const URI = "skill://field-notes/SKILL.md";
const META = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };

function serverOf(program: Program): McpServer {
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  return createMcpServer({ engine: createEngine(program, { env: new Map(), metaTools: true }), info: { name: "t", title: "t", version: "0" }, log });
}

function peer(roles?: unknown): Peer {
  const nothing = (): void => undefined;
  return { transport: "http", session: null, principal: { id: "someone", claims: roles === undefined ? {} : { roles }, headers: {} }, version: versionNamed("2025-11-25", "handshake"), agree: nothing, begin: () => true, signal: () => new AbortController().signal, end: nothing, cancel: nothing, logLevel: null, setLogLevel: nothing, notify: nothing };
}

type Said = { readonly status: number; readonly json: ReturnType<typeof JSON.parse> };

async function ask(mcp: McpServer, method: string, params: object = {}, roles?: unknown): Promise<Said> {
  const said = await answered((reply) => dispatch(mcp, { jsonrpc: "2.0", id: 1, method, params }, peer(roles), reply));
  assert.ok(said !== null);
  return { status: said.status, json: JSON.parse(bodyText(said)) };
}

async function askStateless(mcp: McpServer, method: string, params: { readonly uri?: unknown } = {}, name = typeof params.uri === "string" ? params.uri : ""): Promise<Said> {
  const headers: { readonly [name: string]: string } = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name };
  const mirror = { header: (key: string) => headers[key] ?? "", has: (key: string) => (headers[key] ?? "") !== "" };
  const said = await answered((reply) => dispatchStateless(mcp, { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } }, mirror, peer(), reply));
  assert.ok(said !== null);
  return { status: said.status, json: JSON.parse(bodyText(said)) };
}

const textFor = async (mcp: McpServer, roles?: unknown): Promise<string> => (await ask(mcp, "resources/read", { uri: URI }, roles)).json.result.contents[0].text;

test("a caller's skill has the tools that it may call, and no word of the others", async () => {
  const mcp = serverOf(await skillProgram());
  const [reader, auditor] = [await textFor(mcp), await textFor(mcp, "auditor")];
  assert.ok(reader.includes("### `search_notes`") && reader.includes("1 read-only tool of"));
  assert.ok(!/ledger/i.test(reader), reader);
  assert.ok(auditor.includes("### `search_notes`") && auditor.includes("### `count_ledger`") && auditor.includes("LEDGER counts"));
  for (const method of ["skills/list", "skills/get", "resources/list"]) assert.ok(!/ledger/i.test(JSON.stringify((await ask(mcp, method, { uri: URI })).json)), method);
});

test("no guard, tenant, connection, path, collection or denied tool is in an answer", async () => {
  const mcp = serverOf(await skillProgram());
  for (const roles of [undefined, "auditor"]) {
    for (const method of ["initialize", "skills/list", "skills/get", "resources/list", "resources/read"]) {
      const { json } = await ask(mcp, method, { uri: URI, protocolVersion: "2025-11-25" }, roles);
      assert.deepEqual(JSON.stringify(json).match(/\w*canary\w*/gi), null, method);
    }
  }
});

test("a caller who may call no tool finds no skill", async () => {
  const mcp = serverOf(await skillProgram());
  assert.deepEqual((await ask(mcp, "skills/list", {}, "nobody")).json.result, { skills: [] });
  assert.deepEqual((await ask(mcp, "resources/list", {}, "nobody")).json.result, { resources: [] });
  assert.equal((await ask(mcp, "skills/get", { uri: URI }, "nobody")).json.error.code, -32602);
  assert.equal((await ask(mcp, "resources/read", { uri: URI }, "nobody")).json.error.code, -32002);
});

test("the entry has the digest, the size and the front matter of what is read", async () => {
  const mcp = serverOf(await skillProgram());
  for (const roles of [undefined, "auditor"]) {
    const text = await textFor(mcp, roles);
    const { skill } = (await ask(mcp, "skills/get", { uri: URI }, roles)).json.result;
    assert.deepEqual(skill.resources, [{ uri: URI, digest: `sha256:${createHash("sha256").update(text).digest("hex")}`, size: Buffer.byteLength(text) }]);
    assert.deepEqual(parse(/^---\n([^]*?)\n---\n/.exec(text)?.[1] ?? ""), skill.frontmatter);
    assert.deepEqual((await ask(mcp, "skills/list", {}, roles)).json.result.skills, [skill]);
  }
});

test("without skill in the catalog, nothing of it is declared, and its methods are unknown", async () => {
  const [plain, offering] = [serverOf(await skillProgram({ skill: undefined })), serverOf(await skillProgram())];
  const capabilities = async (mcp: McpServer): Promise<unknown> => (await ask(mcp, "initialize", { protocolVersion: "2025-11-25" })).json.result.capabilities;
  assert.deepEqual(await capabilities(plain), { tools: { listChanged: true }, logging: {} });
  assert.deepEqual(await capabilities(offering), { tools: { listChanged: true }, resources: {}, extensions: { "io.modelcontextprotocol/skills": {} }, logging: {} });
  assert.deepEqual((await askStateless(plain, "server/discover")).json.result.capabilities, { tools: { listChanged: true } });
  assert.deepEqual((await askStateless(offering, "server/discover")).json.result.capabilities.extensions, { "io.modelcontextprotocol/skills": {} });
  for (const method of ["skills/list", "skills/get", "resources/list", "resources/read", "resources/templates/list"]) {
    assert.equal((await ask(plain, method, { uri: URI })).json.error.code, -32601, method);
    const { status, json } = await askStateless(plain, method, { uri: URI }, "");
    assert.deepEqual([status, json.error.code], [404, -32601], method);
  }
});

test("the stateless protocol says how long and for whom an answer may be kept", async () => {
  const [restricted, open] = [serverOf(await skillProgram()), serverOf(await skillProgram({ security: undefined }))];
  for (const [mcp, scope] of [[restricted, "private"], [open, "public"]] as const) {
    for (const method of ["skills/list", "skills/get", "resources/list", "resources/read", "resources/templates/list"]) {
      const { result } = (await askStateless(mcp, method, { uri: URI })).json;
      assert.deepEqual([result.resultType, result.ttlMs, result.cacheScope], ["complete", 300_000, scope], method);
    }
  }
});

test("another URI, a wrong type, a long text and a foreign cursor are refused", async () => {
  const mcp = serverOf(await skillProgram());
  const uris: readonly unknown[] = [undefined, 5, null, {}, [URI], "", "skill://field-notes", `${URI}/`, "skill://field-notes/../../etc/passwd", "file:///etc/passwd", "skill://FIELD-NOTES/SKILL.md", "x".repeat(100_000)];
  for (const uri of uris) {
    for (const method of ["skills/get", "resources/read"]) {
      const { json } = await ask(mcp, method, { uri });
      assert.equal(json.error.code, method === "resources/read" && typeof uri === "string" ? -32002 : -32602, `${method} ${String(uri).slice(0, 50)}`);
      assert.ok(JSON.stringify(json).length < 2_000);
    }
  }
  assert.deepEqual([(await askStateless(mcp, "resources/read", { uri: "skill://other/SKILL.md" }))].map(({ status, json }) => [status, json.error.code, json.error.data]), [[400, -32602, { uri: "skill://other/SKILL.md" }]]);
  for (const cursor of ["", "MTAwMA", 5]) assert.equal((await ask(mcp, "skills/list", { cursor })).json.error.code, -32602);
});

test("the header Mcp-Name repeats the URI that is read", async () => {
  const mcp = serverOf(await skillProgram());
  assert.equal((await askStateless(mcp, "resources/read", { uri: URI })).status, 200);
  for (const name of ["", "skill://other/SKILL.md"]) assert.deepEqual([(await askStateless(mcp, "resources/read", { uri: URI }, name)).json.error.code], [-32020]);
});

test("what a build prints is what is served", async () => {
  const plans = skillPlans();
  const render = createRender();
  const files = emit({ plans, certificates: [], base: "../", queries: await queriesOf(plans) }, render);
  const script = (await transpile(new Map([["skill.ts", files.get("skill.ts") ?? assert.fail()]]))).get("skill.js") ?? assert.fail();
  const { skill } = (await import(`data:text/javascript,${encodeURIComponent(script)}`)) as { readonly skill: NonNullable<Program["skill"]> };
  assert.deepEqual(skill, servedSkill(plans, render));
  assert.equal(skillOf(skill, (tool) => tool === "search_notes").text, await textFor(serverOf(await skillProgram())));
  assert.match(files.get("server.ts") ?? "", /import \{ skill \} from "\.\/skill\.js";[^]*tools, skill,/);
  assert.ok(!emit({ plans: skillPlans({ skill: undefined }), certificates: [], base: "../", queries: await queriesOf(plans) }, render).has("skill.ts"));
});

test("a name that YAML would read as a number or null stays a text", async () => {
  for (const name of ["123", "null", "true", "1e3", "a"]) {
    const mcp = serverOf(await skillProgram({ skill: { name } }));
    const { text } = (await ask(mcp, "resources/read", { uri: `skill://${name}/SKILL.md` })).json.result.contents[0];
    assert.equal(parse(/^---\n([^]*?)\n---\n/.exec(text)?.[1] ?? "").name, name);
  }
});

const stdio = { command: process.execPath, args: [...process.execArgv, "--", skillServer], stderr: "ignore" as const };
const info = { name: "test", version: "1.0.0" };

const V2: { readonly [name: string]: (url: URL) => Promise<ClientV2> } = {
  "stdio, handshake": async () => connected(new ClientV2(info), new StdioV2(stdio)),
  "HTTP, handshake": async (url) => connected(new ClientV2(info), new HttpV2(url)),
  "HTTP, newest protocol": async (url) => connected(new ClientV2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), new HttpV2(url)),
};

async function connected(client: ClientV2, transport: Parameters<ClientV2["connect"]>[0]): Promise<ClientV2> {
  await client.connect(transport);
  return client;
}

for (const [name, connect] of Object.entries(V2)) {
  test(`SDK v2 over ${name}: its skills client lists, gets and verifies the skill`, async () => {
    const served = await startHttp(skillServer);
    let client: ClientV2 | null = null;
    try {
      client = await connect(new URL(served.url));
      const skills = new SkillsClient(client);
      assert.equal(skills.supported, true);
      const { skills: entries } = await skills.list();
      assert.deepEqual(entries.map(({ uri }) => uri), [URI]);
      const { skill } = await skills.get(URI);
      const file = await skills.read(skill);
      assert.deepEqual([file.verified, file.frontmatter?.["name"], file.body?.includes("### `search_notes`")], [true, "field-notes", true]);
      await assert.rejects(skills.get("skill://other/SKILL.md"), /no skill is served/);
    } finally {
      await client?.close();
      await served.kill();
    }
  }, { timeoutMs: 60_000 });
}

test("SDK v1 lists and reads the skill over stdio and HTTP", async () => {
  const served = await startHttp(skillServer);
  try {
    for (const transport of [new StdioV1(stdio), new HttpV1(new URL(served.url))]) {
      const client = new ClientV1(info);
      try {
        await client.connect(transport as Parameters<ClientV1["connect"]>[0]);
        assert.deepEqual(client.getServerCapabilities()?.resources, {});
        assert.deepEqual((await client.listResources()).resources.map(({ uri, mimeType }) => [uri, mimeType]), [[URI, "text/markdown"]]);
        assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
        const [content] = (await client.readResource({ uri: URI })).contents;
        assert.ok(content !== undefined && "text" in content && content.text.startsWith("---\n"));
        const list = await client.request({ method: "skills/list", params: {} }, z.looseObject({ skills: z.array(z.looseObject({ uri: z.string() })) }));
        assert.deepEqual(list.skills.map(({ uri }) => uri), [URI]);
      } finally {
        await client.close();
      }
    }
  } finally {
    await served.kill();
  }
}, { timeoutMs: 60_000 });

test.run();
