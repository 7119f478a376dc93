/** Arguments as the call path takes them in, whichever carrier the validators came by. */
import * as assert from "node:assert/strict";
import { z } from "zod";
import { validatorText } from "../../generator/5-emit/view.js";
import { isToolError } from "../../runtime/abi/errors.js";
import type { ParamSpec, Validator } from "../../runtime/abi/params.js";
import type { SearchPlan } from "../../runtime/abi/plan.js";
import { validatorOf } from "../../runtime/abi/validators.js";
import { createEngine } from "../../runtime/call/engine.js";
import { validateArgs } from "../../runtime/call/steps/validate.js";
import { suite } from "../lib/suite.js";
import { memoryAdapter, nobody, program } from "./program.js";

const test = suite("call/validate");

/** Names that every object inherits, and that a catalog may give to an argument. */
const INHERITED: readonly ParamSpec[] = [
  { name: "constructor", type: "string" },
  { name: "toString", type: "string" },
  { name: "hasOwnProperty", type: "boolean" },
  { name: "size", type: "integer", default: 3 },
];

/** What a build prints, as a value. */
function printedValidator(params: readonly ParamSpec[]): Validator {
  const shape = params.map((param) => `${param.name}: ${validatorText(param, 0)}`).join(", ");
  return (new Function("z", `return z.object({ ${shape} })`) as (zod: typeof z) => Validator)(z);
}

for (const [carrier, validator] of [["in memory", validatorOf(INHERITED) as Validator], ["printed", printedValidator(INHERITED)]] as const) {
  test(`an argument named like an inherited member may be left out: ${carrier}`, () => {
    const args = validateArgs(validator, {});
    assert.deepEqual(Object.entries(args), [["size", 3]]);
    for (const { name } of INHERITED) assert.equal(args[name], name === "size" ? 3 : undefined, name);
  });

  test(`and arrives when it is given: ${carrier}`, () => {
    const given = { constructor: "a", toString: "b", hasOwnProperty: true, size: 1 };
    assert.deepEqual({ ...validateArgs(validator, given) }, given);
  });

  test(`__proto__ in JSON gives no argument a value: ${carrier}`, () => {
    assert.deepEqual(Object.entries(validateArgs(validator, JSON.parse('{"__proto__":{"size":9,"toString":"x"}}'))), [["size", 3]]);
  });

  test(`what is no object stays refused: ${carrier}`, () => {
    for (const args of ["text", 1, [], ["a"], true]) assert.throws(() => validateArgs(validator, args), (error) => isToolError(error) && error.code === "invalid_arguments", JSON.stringify(args));
  });
}

const rows = [{ name: "a", maker: "Ann" }, { name: "b", maker: "Bob" }];
const plan = (binding: object): SearchPlan => ({
  kind: "search", connection: "main", collection: "things", bind: [{ arg: "constructor", path: "maker", op: "eq", ...binding }],
  limit: { arg: "limit", default: 5, max: 5 }, output: { fields: ["name"], id: false, score: false },
});

test("a call without such an argument has no filter on it, and with it has one", async () => {
  const resolve = { connection: "main", collection: "things", field: "maker", min_confidence: 0.7, max_candidates: 10, cache_ttl_s: 60 };
  for (const binding of [{}, { resolve }]) {
    const engine = createEngine(program({ plans: { find: plan(binding) }, validators: { find: validatorOf(INHERITED) }, adapter: memoryAdapter(rows) }), { env: new Map(), now: () => 0 });
    assert.deepEqual((await engine.call("find", {}, nobody)).rows, [{ name: "a" }, { name: "b" }]);
    assert.deepEqual((await engine.call("find", { constructor: "Bob" }, nobody)).rows, [{ name: "b" }]);
  }
});

test.run();
