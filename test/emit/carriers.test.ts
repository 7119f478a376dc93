/** One plan, two carriers: what is printed says exactly what is kept in memory. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { z, type ZodType } from "zod";
import { plan } from "../../generator/4-plan/index.js";
import { validatorText } from "../../generator/5-emit/view.js";
import type { ParamSpec } from "../../runtime/abi/params.js";
import { validatorOf } from "../../runtime/abi/validators.js";
import { suite } from "../lib/suite.js";
import { CATALOGS } from "./catalogs.js";
import { importPrinted, printed } from "./printed.js";

const test = suite("both carriers");

for (const [name, make] of Object.entries(CATALOGS)) {
  test(`plans, tables, tools and validators are equal: ${name}`, async () => {
    const plans = plan(make());
    const modules = await importPrinted(await printed(plans));
    const { plans: tools, catalog, settings, connections, embeddings } = modules["plans.js"] ?? {};
    assert.deepEqual({ tools, catalog, settings, connections, embeddings }, {
      tools: plans.tools, catalog: plans.catalog, settings: plans.settings, connections: plans.connections, embeddings: plans.embeddings,
    });
    assert.deepEqual(Object.keys(tools as object), Object.keys(plans.tools));
    assert.deepEqual(modules["tools.js"]?.["tools"], plans.definitions);
    const validators = modules["schemas.js"]?.["validators"] as { readonly [tool: string]: ZodType };
    assert.deepEqual(Object.keys(validators), Object.keys(plans.tools));
    for (const [tool, input] of Object.entries(plans.inputs)) {
      assert.deepEqual(z.toJSONSchema(validators[tool] as ZodType, { io: "input" }), z.toJSONSchema(validatorOf(input.params), { io: "input" }), tool);
    }
  });
}

const scalar = fc.oneof(fc.string(), fc.integer({ min: -1000, max: 1000 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }));
const spec: fc.Arbitrary<ParamSpec> = fc
  .record(
    {
      name: fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/),
      type: fc.constantFrom("string", "integer", "number", "boolean"),
      list: fc.constant(true),
      enum: fc.array(scalar, { minLength: 1, maxLength: 12 }),
      default: fc.oneof(fc.string(), fc.integer(), fc.array(fc.string())),
      minimum: fc.integer({ min: -5, max: 5 }),
      maximum: fc.integer({ min: 6, max: 90 }),
      required: fc.constant(true),
      nonEmpty: fc.constant(true),
    },
    { requiredKeys: ["name", "type"] },
  )
  .map((each) => each as ParamSpec);
const value = fc.oneof(scalar, fc.boolean(), fc.constant(null), fc.constant(undefined), fc.constant(""), fc.array(scalar, { maxLength: 4 }));

test("the printed validator of any argument decides as the one in memory", () => {
  fc.assert(
    fc.property(spec, fc.array(value, { minLength: 1, maxLength: 8 }), (param, values) => {
      const text = validatorText(param, 0);
      const fromText = (new Function("z", `return z.object({ ${param.name}: ${text} })`) as (zod: typeof z) => ZodType)(z);
      const inMemory = validatorOf([param]);
      assert.deepEqual(z.toJSONSchema(fromText, { io: "input", unrepresentable: "any" }), z.toJSONSchema(inMemory, { io: "input", unrepresentable: "any" }));
      for (const each of [...values, ...(param.enum ?? [])]) {
        for (const args of [{ [param.name]: each }, { [param.name]: [each] }, {}]) {
          assert.deepEqual(fromText.safeParse(args), inMemory.safeParse(args), `${text} on ${JSON.stringify(args)}`);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
