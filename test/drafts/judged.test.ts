/** What approve makes of the catalog that a draft is to be added to: it is judged as it is now. */
import assert from "node:assert/strict";
import { compile } from "../../generator/compile.js";
import { EXIT } from "../../generator/cli/exit.js";
import { suite } from "../lib/suite.js";
import { CATALOG, goodSpec, inProject } from "./catalog.js";

const test = suite("a draft in its catalog");
const NAME = "movies_by_genre";

test("a catalog with errors of its own takes no tool", () =>
  inProject(async (project) => {
    await project.define();
    const broken = CATALOG.replace("collection: movies", "collction: movies");
    project.write("tools.yaml", broken);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /tools\.yaml:15:\d+[\s\S]*the catalog has errors of its own/);
    assert.equal(project.read("tools.yaml"), broken);
  }));

test("a catalog that changed since the proposal is judged as it is now", () =>
  inProject(async (project) => {
    await project.define();
    const taken = CATALOG.replace("name: search_movies", `name: ${NAME}`);
    project.write("tools.yaml", taken);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /ERROR TS0202 name: the tool 'movies_by_genre' is declared twice/);
    assert.equal(project.read("tools.yaml"), taken);
  }));

const WITH_COUNT = CATALOG.replace("    builtin_defaults:", "    builtin_tools: { count: true }\n    builtin_defaults:");

test("a draft that would take the place of a built-in tool is refused, also where the catalog got the built-in after the proposal", () =>
  inProject(async (project) => {
    const listed = compile({ path: "tools.yaml", text: WITH_COUNT }, { target: "describe" }).value?.plans.definitions.map(({ name }) => name) ?? [];
    const builtIn = listed.find((name) => name !== "search_movies") ?? "";
    assert.match(builtIn, /count/);
    assert.equal((await project.define({ name: builtIn })).count, 0);
    project.write("tools.yaml", WITH_COUNT);
    const { code, err } = await project.toolsrv("approve", builtIn);
    assert.equal(code, EXIT.USAGE, err);
    assert.match(err, /ERROR VB2010 name: the tool name 'count_main' is the name of a built-in of connection 'main'/);
    assert.equal(project.read("tools.yaml"), WITH_COUNT);
  }));

test("approve reads no values of the environment: references stay as they are written", () =>
  inProject(async (project) => {
    await project.define();
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.match(project.read("tools.yaml"), /path: "\$\{MOVIES_DB\}"/);
    assert.doesNotMatch(err, /\/secret\/place/);
  }, { catalog: CATALOG.replace("path: ./data.db", 'path: "${MOVIES_DB}"'), env: { USER: "ana", MOVIES_DB: "/secret/place.db" } }));

test("a version 1 catalog takes a draft too", () =>
  inProject(async (project) => {
    assert.deepEqual((await project.define()).rows, []);
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.match(project.read("tools.yaml"), /static_filters:\n {6}- path: status\n {8}op: eq\n {8}value: live\n/);
    assert.equal((await project.toolsrv("validate", "tools.yaml")).code, EXIT.OK);
  }, { catalog: CATALOG.replace("tds_version: '2'\n", "").replaceAll(/\{ must: (\[[^\]]*\]), must_not: \[[^\]]*\] \}/g, "$1") }));

test("a collection that nothing in the catalog reads is shown to the approver", () =>
  inProject(async (project) => {
    const { count } = await project.define({ name: "people_by_name", spec: goodSpec({ target: { connection: "other", collection: "people" } }) });
    assert.equal(count, 0);
    const { code, err } = await project.toolsrv("approve", "people_by_name", "--dry-run");
    assert.equal(code, EXIT.OK, err);
    assert.match(err, /a collection that nothing in the catalog reads: \{\\"connection\\":\\"other\\",\\"collection\\":\\"people\\"\}/);
  }));

test.run();
