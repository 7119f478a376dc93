/** The shape of a scenarios file, in the part of JSON Schema that checkShape reads. Unknown keys are refused. */
import type { SchemaNode } from "../1-parse/schema-node.js";

const count = { type: ["integer", "null"], minimum: 0 } as const;
const text = { type: ["string", "null"] } as const;
const texts = { type: ["array", "null"], items: { type: "string" } } as const;
const anything = { type: ["object", "null"] } as const;

const EXPECT: SchemaNode = {
  type: ["object", "null"],
  additionalProperties: false,
  properties: {
    exact_rows: count, min_rows: count, max_rows: count, count,
    row_field_equals: anything, forbidden_field_values: anything,
    min_score: { type: ["number", "null"] },
    ids: { type: ["array", "null"], items: { type: ["string", "number"] } },
    forbidden: texts,
    error: text,
  },
};

const CALL: SchemaNode = {
  type: ["object", "null"],
  additionalProperties: false,
  required: ["tool"],
  properties: {
    tool: { type: "string" },
    arguments: anything,
    context: {
      type: ["object", "null"],
      additionalProperties: false,
      properties: { principal: { type: "string" }, claims: { type: "object" }, roles: { type: "array", items: { type: "string" } }, tenant: { type: "string" } },
    },
  },
};

export const SCENARIOS_SCHEMA: SchemaNode = {
  type: "object",
  additionalProperties: false,
  required: ["scenarios"],
  definitions: {},
  properties: {
    scenarios: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        additionalProperties: false,
        properties: {
          name: { type: "string", minLength: 1, maxLength: 200 },
          request: text,
          call: CALL,
          expected_tool: text,
          expected_arguments: anything,
          forbidden_tools: texts,
          expect: EXPECT,
        },
      },
    },
  },
};
