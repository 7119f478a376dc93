/** Which catalog a caller sees: one pure decision. */
import assert from "node:assert/strict";
import { projectName } from "../../runtime/abi/projects.js";
import { projectOf, type Routing } from "../../runtime/access/project.js";
import { routingOf } from "../../runtime/serve/projects.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "../mcp/program.js";

const test = suite("projects of callers");

const ROUTING: Routing = { projects: ["support", "sales", "5"], fallback: "support", claim: "org" };

test("the claim names the project; without one it is the default", () => {
  const table: readonly (readonly [object, string | null])[] = [
    [{}, "support"], [{ org: null }, "support"], [{ org: "" }, "support"], [{ other: "sales" }, "support"], [{ org: "sales" }, "sales"], [{ org: 5 }, "5"],
  ];
  for (const [claims, want] of table) assert.equal(projectOf(ROUTING, { ...claims }), want, JSON.stringify(claims));
  assert.equal(projectOf({ ...ROUTING, fallback: "sales" }, {}), "sales");
});

test("a claim that names no project shows nothing, never the default", () => {
  for (const org of ["nope", "Sales", "sales ", ["sales"], { name: "sales" }, true, "constructor", "__proto__"]) assert.equal(projectOf(ROUTING, { org }), null, JSON.stringify(org));
});

test("without a routing claim every caller sees the default, whatever its claims hold", () => {
  for (const claims of [{}, { org: "sales" }, { null: "sales" }]) assert.equal(projectOf({ ...ROUTING, claim: null }, claims), "support");
  assert.equal(projectOf({ ...ROUTING, claim: "constructor" }, {}), "support");
});

test("the default is the first project, or the one that is asked for; another one is refused", () => {
  const projects = ["b", "a"].map((name) => ({ name, program: fixtureProgram() }));
  assert.equal(routingOf(projects, null).fallback, "b");
  assert.equal(routingOf(projects, "a").fallback, "a");
  assert.throws(() => routingOf(projects, "c"), /--default-project names no catalog of this server: 'c'; there are b, a/);
});

test("a project is named by its file, without folders and ending", () => {
  const table: readonly (readonly [string, string])[] = [["a/b/sales.yaml", "sales"], ["sales", "sales"], ["x\\tools.v2.yml", "tools.v2"], [".hidden", ".hidden"], ["../.yaml", ".yaml"]];
  for (const [file, want] of table) assert.equal(projectName(file), want);
});

test.run();
