/** What each host profile makes of a tool list: names, limits, cut descriptions, schemas that are refused. */
import assert from "node:assert/strict";
import { HOST_PROFILES, meantTool, shownTools, type HostProfile, type ShownList } from "../../generator/eval/hosts.js";
import type { Program } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "../mcp/program.js";

const test = suite("eval/hosts");

type Definition = Program["tools"][number];
const tool = (name: string, more: Partial<Definition> = {}): Definition => ({ name, title: name, description: `About ${name}.`, inputSchema: { type: "object", properties: {}, required: [] }, ...more } as Definition);

async function shown(profile: string, tools: readonly Definition[], server = "My Server"): Promise<ShownList> {
  const fixture = fixtureProgram();
  const [plan] = Object.values(fixture.plans);
  const engine = createEngine({ ...fixture, tools, plans: Object.fromEntries(tools.map(({ name }) => [name, plan])) as Program["plans"] }, { env: new Map(), metaTools: false });
  return shownTools(engine, HOST_PROFILES[profile] as HostProfile, server);
}
const names = ({ tools }: ShownList): readonly string[] => tools.map(({ name }) => name);
const left = ({ leftOut }: ShownList): readonly string[] => leftOut.map((one) => one.tool);

test("claude-code: a name of 64 characters is shown, one of 65 is not", async () => {
  const room = 64 - "mcp__My_Server__".length;
  const list = await shown("claude-code", [tool("a".repeat(room)), tool("b".repeat(room + 1))]);
  assert.deepEqual([names(list), left(list)], [[`mcp__My_Server__${"a".repeat(room)}`], ["b".repeat(room + 1)]]);
  assert.match(list.leftOut[0]?.why ?? "", /has 65 characters, and the host takes 64/);
});

test("claude-code: a description is cut at 2,048 characters", async () => {
  const { tools } = await shown("claude-code", [tool("long", { description: "x".repeat(3000) }), tool("short")]);
  assert.deepEqual(tools.map(({ description }) => description.length), [2048, "About short.".length]);
  assert.equal((await shown("plain", [tool("long", { description: "x".repeat(3000) })])).tools[0]?.description.length, 3000);
});

test("cursor: server and tool have 59 characters together at most", async () => {
  const room = 59 - "My Server".length;
  const list = await shown("cursor", [tool("a".repeat(room)), tool("b".repeat(room + 1))]);
  assert.deepEqual([names(list), left(list)], [[`mcp_My_Server_${"a".repeat(room)}`], ["b".repeat(room + 1)]]);
});

test("cursor shows the first 40 tools, vscode the first 128, others all", async () => {
  const tools = Array.from({ length: 130 }, (_, n) => tool(`tool_${n}`));
  const counts = await Promise.all(["cursor", "vscode", "plain"].map(async (profile) => (await shown(profile, tools)).tools.length));
  assert.deepEqual(counts, [40, 128, 130]);
  const { leftOut } = await shown("cursor", tools);
  assert.deepEqual([leftOut.length, leftOut[0]], [90, { tool: "tool_40", why: "the host takes 40 tools" }]);
});

test("vscode: the server's part of a name has 18 characters at most, and a long name is cut, so that two can become one", async () => {
  assert.deepEqual(names(await shown("vscode", [tool("find")], "The Movies of the World")), ["mcp_the_movies_of_find"]);
  const list = await shown("vscode", [tool(`${"a".repeat(61)}_one`), tool(`${"a".repeat(61)}_two`)], "s");
  assert.deepEqual([names(list).map(({ length }) => length), left(list)], [[64], [`${"a".repeat(61)}_two`]]);
  assert.match(list.leftOut[0]?.why ?? "", /as a+_one$/);
});

test("gemini: the middle of a long name is left out, and a call by that name means the tool", async () => {
  const long = `${"a".repeat(40)}${"b".repeat(24)}`;
  const { tools } = await shown("gemini", [tool("ok_name"), tool(long)]);
  assert.deepEqual(tools.map(({ name }) => name), ["ok_name", `${"a".repeat(28)}___${"a".repeat(8)}${"b".repeat(24)}`]);
  assert.equal(meantTool(tools[1]?.name ?? "", {}, tools).tool, long);
});

test("gemini: a schema with an enum of numbers is refused, one of texts is not", async () => {
  const withEnum = (name: string, members: readonly unknown[]): Definition => tool(name, { inputSchema: { type: "object", properties: { year: { type: "array", items: { enum: members } } }, required: [] } as unknown as Definition["inputSchema"] });
  const list = await shown("gemini", [withEnum("numbers", [1, 2]), withEnum("texts", ["a", "b"])]);
  assert.deepEqual([names(list), left(list)], [["texts"], ["numbers"]]);
});

test("every profile shows the schema of the wire as it is", async () => {
  const definition = tool("find", { inputSchema: { type: "object", properties: { q: { type: "string", description: "é" } }, required: ["q"] } as Definition["inputSchema"] });
  for (const profile of Object.keys(HOST_PROFILES)) assert.equal(JSON.stringify((await shown(profile, [definition])).tools[0]?.inputSchema), JSON.stringify(definition.inputSchema), profile);
});

test.run();
