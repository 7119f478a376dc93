/** Every tool runs in the engine: compiled, meta and extra ones have the same access check, deadline and observers. */
import assert from "node:assert/strict";
import * as z from "zod";
import type { Program } from "../../runtime/abi/call.js";
import { ToolError } from "../../runtime/abi/errors.js";
import type { ExtraCall, ExtraTool, ExtraTools } from "../../runtime/abi/extra-tools.js";
import type { CallObserver } from "../../runtime/abi/observer.js";
import type { Validator } from "../../runtime/abi/params.js";
import { createEngine } from "../../runtime/call/engine.js";
import { bodyText, dispatch } from "../../runtime/mcp/dispatch.js";
import { createMcpServer, type McpServer } from "../../runtime/mcp/server.js";
import { dispatchStateless } from "../../runtime/mcp/stateless-protocol.js";
import { createLog } from "../../runtime/observe/log.js";
import { answered } from "../lib/answered.js";
import { suite } from "../lib/suite.js";
import { TestPeer } from "./peer.js";
import { fixtureProgram } from "./program.js";

const test = suite("mcp/one-path");

interface Observed {
  readonly mcp: McpServer;
  /** `tool status` of each call, in the order of their ends. */
  readonly ends: string[];
  /** The calls of extra tools that reached them. */
  readonly reached: { readonly tool: string; readonly args: unknown; readonly call: ExtraCall }[];
}

const definition = (name: string, more: Partial<ExtraTool> = {}): ExtraTool => ({ name, title: name, description: name, inputSchema: { type: "object" }, ...more });

function observed(settings: Program["settings"] = {}): Observed {
  const ends: string[] = [];
  const reached: { tool: string; args: unknown; call: ExtraCall }[] = [];
  const extra: ExtraTools = {
    definitions: [
      definition("draft"), definition("needy", { needs: ["sampling"] }), definition("hang"), definition("down"),
      definition("strict", { validator: z.object({ n: z.int(), unit: z.string().default("cm") }) as Validator }),
    ],
    async call(tool, args, call) {
      reached.push({ tool, args, call });
      if (tool === "hang") await new Promise(() => undefined);
      if (tool === "down") throw new ToolError("backend_unreachable", "no compiler");
      return { payload: { rows: [], count: 3 } };
    },
  };
  const observer: CallObserver = { end: ({ tool, outcome }) => void ends.push(`${tool} ${outcome?.kind === "ok" ? `ok ${outcome.count}` : outcome?.code}`) };
  const engine = createEngine({ ...fixtureProgram(settings), extra }, { env: new Map(), metaTools: true, observing: { observer, wallNow: () => 0 } });
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  return { ends, reached, mcp: createMcpServer({ engine, info: { name: "n", title: "t", version: "1" }, log }) };
}

type Body = ReturnType<typeof JSON.parse>;

async function call(mcp: McpServer, name: string, args: object = {}, peer = new TestPeer()): Promise<Body> {
  const answer = await answered((reply) => dispatch(mcp, { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }, peer, reply));
  return answer === null ? null : JSON.parse(bodyText(answer));
}

async function stateless(mcp: McpServer, name: string, capabilities: object = {}): Promise<Body> {
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities };
  const headers = new Map([["mcp-protocol-version", "2026-07-28"], ["mcp-method", "tools/call"], ["mcp-name", name]]);
  const answer = await answered((reply) => void dispatchStateless(mcp, { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {}, _meta } }, { header: (key) => headers.get(key) ?? "", has: (key) => headers.has(key) }, new TestPeer("2026-07-28", "http"), reply));
  return answer === null ? null : JSON.parse(bodyText(answer));
}

const errorOf = ({ result }: Body): Body => JSON.parse(result.content[0].text).error;

test("calls of meta tools and of extra tools are observed, run_tool as the tool that it names", async () => {
  const { mcp, ends } = observed();
  const { length } = (await call(mcp, "list_available_tools")).result.structuredContent.rows;
  await call(mcp, "draft");
  await call(mcp, "run_tool", { name: "draft" });
  await call(mcp, "run_tool", { name: " echo ", arguments: '{"text":"x"}' });
  await call(mcp, "run_tool", { name: "list_available_tools" });
  await call(mcp, "run_tool", { name: "run_tool" });
  assert.deepEqual(ends, [`list_available_tools ok ${length}`, "draft ok 3", "draft ok 3", "echo ok 1", `list_available_tools ok ${length}`, "run_tool ok 0"]);
});

test("refusals are observed whatever refuses: no such tool, no permission, a denied meta tool, a missing capability, arguments", async () => {
  const rbac = { default_role: "viewer", role_claim: "roles", deny_tools: ["list_available_tools"], roles: { viewer: { allow: ["echo", "needy", "strict"] } } };
  const { mcp, ends, reached } = observed({ security: { rbac } });
  await call(mcp, "nope");
  await call(mcp, "run_tool", { name: "nope" });
  await call(mcp, "draft");
  await call(mcp, "list_available_tools");
  await call(mcp, "run_tool", { name: "list_available_tools" });
  await call(mcp, "echo", { text: 7 });
  await call(mcp, "strict", { n: "seven" });
  assert.equal((await stateless(mcp, "nope")).error.code, -32602);
  assert.equal((await stateless(mcp, "needy")).error.code, -32021);
  assert.equal((await stateless(mcp, "draft")).error.code, 403);
  assert.deepEqual(ends, [
    "nope invalid_arguments", "nope invalid_arguments", "draft auth_error", "list_available_tools auth_error", "list_available_tools auth_error",
    "echo invalid_arguments", "strict invalid_arguments", "nope invalid_arguments", "needy invalid_arguments", "draft auth_error",
  ]);
  assert.deepEqual(reached, []);
});

test("run_tool that is denied is refused for every tool that it could name", async () => {
  const rbac = { default_role: "viewer", role_claim: "roles", deny_tools: ["run_tool"], roles: { viewer: { allow: ["*"] } } };
  const { mcp, ends, reached } = observed({ security: { rbac } });
  for (const name of ["draft", "echo", "list_available_tools", "run_tool", "nope"]) assert.equal(errorOf(await call(mcp, "run_tool", { name, arguments: { text: "x" } })).code, "auth_error", name);
  assert.equal(errorOf(await call(mcp, "run_tool", {})).code, "auth_error");
  assert.equal(ends.filter((end) => end.endsWith("auth_error")).length, 6);
  assert.deepEqual(reached, []);
});

test("an extra tool that never ends is ended by the deadline, and its signal aborts", async () => {
  const { mcp, ends, reached } = observed({ deadline_s: 0.02 });
  const error = errorOf(await call(mcp, "hang"));
  assert.deepEqual([error.code, error.tool, error.retryable], ["timeout", "hang", true]);
  assert.equal(reached[0]?.call.signal.aborted, true);
  assert.deepEqual(ends, ["hang timeout"]);
});

test("an extra tool that is cancelled has no answer, even where it does not listen", async () => {
  const { mcp, ends } = observed();
  const peer = new TestPeer();
  const ending = call(mcp, "hang", {}, peer);
  setImmediate(() => peer.cancel(1));
  assert.equal(await ending, null);
  assert.deepEqual(ends, ["hang cancelled"]);
});

test("arguments of an extra tool are validated as those of compiled ones: the argument is named, defaults are applied", async () => {
  const { mcp, reached } = observed();
  assert.match(errorOf(await call(mcp, "strict", { n: "x".repeat(100_000) })).message, /^n: expected number/);
  await call(mcp, "strict", { n: 7, other: true });
  await call(mcp, "draft", { constructor: 1, other: true });
  await call(mcp, "run_tool", { name: "strict", arguments: { n: 8 } });
  assert.deepEqual(reached.map(({ tool, args }) => [tool, { ...(args as object) }]), [["strict", { n: 7, unit: "cm" }], ["draft", { constructor: 1, other: true }], ["strict", { n: 8, unit: "cm" }]]);
});

test("a failure of an extra tool is the failure of a call", async () => {
  const { mcp, ends } = observed();
  assert.deepEqual(errorOf(await call(mcp, "down")), { code: "backend_unreachable", message: "no compiler", retryable: true, tool: "down" });
  assert.deepEqual(ends, ["down backend_unreachable"]);
});

test("with the capability it needs an extra tool runs, and with a handshake nothing is asked", async () => {
  const { mcp, ends } = observed();
  assert.equal((await stateless(mcp, "needy", { sampling: {} })).result.isError, false);
  assert.equal((await call(mcp, "needy")).result.isError, false);
  assert.deepEqual(ends, ["needy ok 3", "needy ok 3"]);
});

test("in this process no meta tool is a way round the roles: an engine without them knows no run_tool", async () => {
  const engine = createEngine(fixtureProgram(), { env: new Map() });
  await assert.rejects(engine.call("run_tool", { name: "echo", arguments: { text: "x" } }, { requestId: "r", principal: { id: null, claims: {}, headers: {} } }), /unknown tool 'run_tool'/);
});

test.run();
