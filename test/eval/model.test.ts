/** Models that choose tools: what is sent, what is read, and what a baseline saves asking. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { compile } from "../../generator/compile.js";
import { baselineText, changedTools, changeOf, readBaseline, withBaseline, type Audience, type Baseline } from "../../generator/eval/baseline.js";
import { HOST_PROFILES, meantTool, shownTools, type HostProfile } from "../../generator/eval/hosts.js";
import { endpointModel, readScript, scriptedModel, urlProblem } from "../../generator/eval/model.js";
import { runScenarios, type ChooseTool, type ScenarioResult } from "../../generator/eval/run.js";
import type { Scenario } from "../../generator/eval/scenarios.js";
import { programOf } from "../../generator/program.js";
import { createEngine } from "../../runtime/call/engine.js";
import { suite } from "../lib/suite.js";

const test = suite("eval/model");

const CATALOG = `tds_version: '2'
connections: { store: { backend: sqlite, path: a.db } }
defaults: { embedding: local/hashing-256 }
tools:
  - name: search_things
    kind: search
    description: "Search the things of the store by their \\"texts\\" — größte zuerst."
    target: { connection: store, collection: things }
    query: { param: query, required: true }
  - name: count_things
    kind: count
    description: Count the things of the store, all of them at once.
    target: { connection: store, collection: things }
`;
const { value: compiled } = compile({ path: "t", text: CATALOG }, { target: "describe" });
assert.ok(compiled);
const { plans } = compiled;

const profile = (name: string): HostProfile => HOST_PROFILES[name] as HostProfile;
const shown = async (name: string) => {
  const engine = createEngine(programOf(plans, { base: new URL("file:///tmp/") }), { env: new Map(), metaTools: profile(name).metaTools });
  return shownTools(engine, profile(name), "My Server");
};
const scenario = (over: Partial<Scenario> = {}): Scenario => ({ name: "s", request: "How many?", call: null, expected_tool: "count_things", expected_arguments: null, forbidden_tools: ["search_things"], expect: {}, ...over });
const signal = new AbortController().signal;

test("a host's model sees the descriptions and schemas of the wire, under the host's names", async () => {
  const { tools } = await shown("plain");
  assert.deepEqual(tools.map(({ name }) => name), ["list_available_tools", "run_tool", "search_things", "count_things"]);
  const definition = plans.definitions.find(({ name }) => name === "search_things");
  assert.equal(JSON.stringify(tools[2]?.inputSchema), JSON.stringify(definition?.inputSchema));
  assert.equal(tools[2]?.description, definition?.description);
  assert.deepEqual((await shown("prefixed")).tools.map(({ name }) => name).slice(2), ["mcp__My_Server__search_things", "mcp__My_Server__count_things"]);
  assert.deepEqual((await shown("compiled")).tools.map(({ name }) => name), ["search_things", "count_things"]);
});

test("a call through run_tool means the tool that it names, and a host's name is turned back", async () => {
  const { tools } = await shown("prefixed");
  assert.deepEqual(meantTool("run_tool", { name: "a", arguments: { n: 1 } }, []), { tool: "a", arguments: { n: 1 } });
  assert.deepEqual(meantTool("mcp__My_Server__run_tool", { name: "a" }, tools), { tool: "a", arguments: {} });
  assert.deepEqual(meantTool("mcp__My_Server__count_things", { n: 1 }, tools), { tool: "count_things", arguments: { n: 1 } });
  assert.deepEqual(meantTool("count_thinks", {}, tools), { tool: "count_thinks", arguments: {} }, "what no tool has is judged as it is");
});

/** An endpoint that answers with `answer` and keeps what it was sent. */
async function endpoint(answer: (request: IncomingMessage) => { readonly status?: number; readonly body: string; readonly location?: string }): Promise<{ readonly url: string; readonly server: Server; readonly received: { readonly headers: IncomingMessage["headers"]; readonly path: string | undefined; readonly body: string }[] }> {
  const received: { readonly headers: IncomingMessage["headers"]; readonly path: string | undefined; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      received.push({ headers: request.headers, path: request.url, body: Buffer.concat(chunks).toString() });
      const { status = 200, body, location } = answer(request);
      response.writeHead(status, { "content-type": "application/json", ...(location === undefined ? {} : { location }) }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`, server, received };
}

const message = (toolCalls: unknown): string => JSON.stringify({ choices: [{ message: { role: "assistant", tool_calls: toolCalls } }] });
const call = (name: string, args: unknown): string => message([{ type: "function", function: { name, arguments: args } }]);

test("an endpoint is sent the request and every tool, with the key in its header; its tool call is the choice", async () => {
  const { url, server, received } = await endpoint(() => ({ body: call("count_things", '{"limit": 3}') }));
  try {
    const parts = await shown("plain");
    const choice = await endpointModel({ model: "m-1", url, apiKey: "k" }, parts)(scenario(), signal);
    assert.deepEqual(choice, { tool: "count_things", arguments: { limit: 3 } });
    const [{ path, headers, body }] = received as [typeof received[number]];
    const sent = JSON.parse(body) as { readonly model: string; readonly messages: unknown; readonly tools: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[] };
    assert.deepEqual([path, headers.authorization, sent.model, sent.messages], ["/v1/chat/completions", "Bearer k", "m-1", [{ role: "user", content: "How many?" }]]);
    assert.deepEqual(sent.tools.map((tool) => tool.function.name), parts.tools.map(({ name }) => name));
    assert.ok(body.includes(JSON.stringify(plans.definitions[0]?.inputSchema)), "the schema's bytes are those of the wire");
  } finally {
    server.close();
  }
});

const ANSWERS: readonly (readonly [what: string, answer: { readonly status?: number; readonly body: string; readonly location?: string }, says: RegExp])[] = [
  ["an error", { status: 500, body: "secret trouble" }, /HTTP 500$/],
  ["no JSON", { body: "<html>" }, /not JSON/],
  ["no message", { body: "{}" }, /no message/],
  ["a call without a name", { body: message([{}]) }, /without a name/],
  ["arguments that are no object", { body: call("count_things", "[1]") }, /not a JSON object/],
  ["arguments that are no JSON", { body: call("count_things", "{") }, /not a JSON object/],
  ["an endless answer", { body: "x".repeat(1_100_000) }, /too long/],
  ["a redirect to another host", { status: 302, body: "", location: "http://127.0.0.1:1/" }, /cannot be reached/],
];

for (const [what, answer, says] of ANSWERS) {
  test(`a model that answers with ${what} fails its scenario and no other`, async () => {
    const { url, server } = await endpoint(() => answer);
    try {
      const choose = endpointModel({ model: "m", url, apiKey: "topsecret" }, await shown("plain"));
      const [result] = await runScenarios([scenario()], { call: () => Promise.reject(new Error("not called")), choose, now: () => 0, signal });
      assert.match(result?.failures[0] ?? "", says);
      assert.ok(!JSON.stringify(result?.failures).includes("secret"), "neither the key nor the body is shown");
    } finally {
      server.close();
    }
  });
}

test("an answer without a tool call chooses no tool", async () => {
  const { url, server } = await endpoint(() => ({ body: message(null) }));
  try {
    assert.deepEqual(await endpointModel({ model: "m", url, apiKey: null }, await shown("plain"))(scenario(), signal), { tool: null, arguments: {} });
  } finally {
    server.close();
  }
});

test("a key goes over TLS or to this machine only, and no address holds a password", () => {
  assert.equal(urlProblem("https://api.example.com/v1", true), null);
  assert.equal(urlProblem("http://127.0.0.1:8080/v1", true), null);
  assert.match(urlProblem("http://api.example.com/v1", true) ?? "", /without TLS/);
  assert.equal(urlProblem("http://models.internal/v1", false), null);
  assert.match(urlProblem("https://u:p@api.example.com", false) ?? "", /password/);
  assert.match(urlProblem("file:///etc/passwd", false) ?? "", /not an http/);
  assert.match(urlProblem("nowhere", false) ?? "", /not a URL/);
});

test("a script answers by the scenario's name or its request, and is a model that may fail", async () => {
  const script = readScript('{"s": {"tool": "count_things"}, "Which?": {"tool": "search_things", "arguments": {"query": "x"}}, "Hello": {"tool": null}, "odd": {"tool": "other"}}');
  assert.ok(!("problem" in script));
  const choose = scriptedModel(script, await shown("prefixed"));
  assert.deepEqual(await choose(scenario(), signal), { tool: "count_things", arguments: {} });
  assert.deepEqual(await choose(scenario({ name: "t", request: "Which?" }), signal), { tool: "search_things", arguments: { query: "x" } });
  assert.deepEqual(await choose(scenario({ name: "t", request: "Hello" }), signal), { tool: null, arguments: {} });
  await assert.rejects(async () => choose(scenario({ name: "t", request: "?" }), signal), /no line/);
  await assert.rejects(async () => choose(scenario({ name: "odd" }), signal), /does not show/);
  for (const text of ["[", "[]", '{"a": 1}', '{"a": {}}', '{"a": {"tool": "x", "arguments": 1}}']) assert.ok("problem" in readScript(text), text);
});

const audience = (over: Partial<Audience> = {}): Audience => ({ model: "m", profile: "plain", definitions: plans.definitions, ...over });
const chosen = (over: Partial<ScenarioResult> = {}): ScenarioResult => ({ scenario: scenario(), skipped: null, failures: [], rowCount: 0, ids: null, choice: { tool: "count_things", arguments: {} }, latencyMs: 1, ...over });
const changed = (name: string): Audience => audience({ definitions: plans.definitions.map((one) => (one.name === name ? { ...one, description: `${one.description}.` } : one)) });

async function asks(recorded: Audience, now: Audience, asked = scenario()): Promise<boolean> {
  const baseline = readBaseline(baselineText([chosen({ scenario: asked })], recorded.definitions, recorded, null)) as Baseline;
  let isAsked = false;
  const choose: ChooseTool = () => ((isAsked = true), Promise.resolve({ tool: null, arguments: {} }));
  await withBaseline(choose, baseline, now)(asked, signal);
  return isAsked;
}

test("a model is asked again only when a tool of the scenario, the request, the model or the host has changed", async () => {
  assert.equal(await asks(audience(), audience()), false);
  assert.equal(await asks(audience(), changed("count_things")), true, "the expected tool");
  assert.equal(await asks(audience(), changed("search_things")), true, "the forbidden tool");
  assert.equal(await asks(audience(), changed("search_things"), scenario({ forbidden_tools: [] })), false, "a tool that the scenario is not about");
  assert.equal(await asks(audience(), changed("search_things"), scenario({ forbidden_tools: [], expected_tool: null, expected_arguments: {} })), true, "without an expected tool it is about all");
  assert.equal(await asks(audience(), audience({ model: "n" })), true);
  assert.equal(await asks(audience(), audience({ profile: "prefixed" })), true);
});

test("the baseline says which tools changed, and how a result differs", () => {
  const called = scenario({ call: { tool: "count_things", arguments: {}, context: {} } });
  const before = readBaseline(baselineText([chosen({ scenario: called, rowCount: 2, ids: ["a", "b"], choice: null })], plans.definitions, null, null)) as Baseline;
  assert.deepEqual([changedTools(plans.definitions, before), changedTools(changed("count_things").definitions, before), changedTools(plans.definitions, null)], [[], ["count_things"], []]);
  const change = (over: Partial<ScenarioResult>) => changeOf(chosen({ scenario: called, rowCount: 2, ids: ["a", "b"], choice: null, ...over }), before);
  assert.deepEqual([change({}), change({ rowCount: 1, ids: ["a"] }), change({ ids: ["b", "a"] })], [null, "2 row(s), now 1", "other rows, or another order"]);
  assert.equal(changeOf(chosen({ scenario: scenario({ name: "new" }) }), before), null);
});

test("choices of a model stay in a baseline that is updated without one", () => {
  const first = readBaseline(baselineText([chosen()], plans.definitions, audience(), null)) as Baseline;
  const second = readBaseline(baselineText([chosen({ choice: null })], plans.definitions, null, first)) as Baseline;
  assert.deepEqual(second.scenarios["s"]?.choice, first.scenarios["s"]?.choice);
  for (const text of ["", "{}", '{"version": 2, "tools": {}, "scenarios": {}}']) assert.ok("problem" in readBaseline(text));
});

test.run();
