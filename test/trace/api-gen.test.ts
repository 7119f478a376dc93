/** What the runtime knows of the OpenAPI document is what the document says. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { traceApiFiles } from "../../generator/trace-cli/gen-trace-api.js";
import { parseTraceApi } from "../../generator/1-parse/openapi.js";
import { traceRoutes } from "../../runtime/abi/trace.js";
import { DOCUMENT, OPERATIONS } from "../../runtime/trace/api.gen.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("trace api.gen");
const source = () => readFile(repo("specs/trace.openapi.yaml"), "utf8");

test("the generated files are up to date", async () => {
  for (const [path, text] of Object.entries(await traceApiFiles(await source()))) assert.equal(await readFile(repo(path), "utf8"), text, `${path}: run gen-trace-api`);
});

test("every operation documents its errors: 401 and 403 where a token is asked for, 422 where there are parameters", async () => {
  const { document, operations } = parseTraceApi(await source());
  const paths = document["paths"] as { readonly [path: string]: { readonly [method: string]: { readonly responses: object } } };
  for (const { id, path, method, public: open, params } of operations) {
    const statuses = Object.keys(paths[path]?.[method.toLowerCase()]?.responses ?? {});
    assert.ok(statuses.includes("403"), id === "getDocs" ? "" : id);
    assert.equal(statuses.includes("401"), !open, id);
    if (params.length > 0) assert.ok(statuses.includes("422"), id);
  }
});

test("every reference of the document leads somewhere", () => {
  const document = JSON.parse(DOCUMENT) as { readonly [key: string]: unknown };
  for (const [, ref] of DOCUMENT.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = (ref ?? "").split("/").reduce<unknown>((at, key) => (at as { [key: string]: unknown } | undefined)?.[key], document);
    assert.notEqual(found, undefined, ref);
  }
});

test("routes made in memory validate as the rules say", () => {
  const routes = traceRoutes(OPERATIONS);
  const list = routes["listRuns"];
  assert.deepEqual(list?.params.parse({}), { status: "all", limit: 50, offset: 0, sort: "started", extended: "0" });
  assert.deepEqual(z.safeParse(list?.params as z.ZodType, { limit: "7" }).data, { status: "all", limit: 7, offset: 0, sort: "started", extended: "0" });
});

test.run();
