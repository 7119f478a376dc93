/**
 * specs/trace.openapi.yaml as a judge: what an operation takes, and whether an answer is one that it documents. It is
 * read here again, apart from the generator, so that a mistake of the generator is no mistake of the judge. Objects
 * are closed: a property that the document does not name is an error.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020 as Ajv, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { repo } from "../../lib/repo.js";

type Node = { readonly [key: string]: unknown };

export interface Param {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly type: "string" | "integer";
  readonly pattern: string | null;
  readonly minLength: number;
  readonly maxLength: number;
  readonly minimum: number;
  readonly maximum: number;
}

export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** `/api/runs/{run_id}` */
  readonly path: string;
  readonly isPublic: boolean;
  readonly params: readonly Param[];
  /** Media types of its request body; empty when it takes none. */
  readonly bodyTypes: readonly string[];
  /** Statuses that it documents. */
  readonly statuses: readonly number[];
}

/** An answer as it came over the wire. */
export interface Received {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: Buffer;
}

export interface Contract {
  readonly operations: readonly Operation[];
  /** Throws when the operation does not document the answer, whole. */
  judge(operation: Operation, answer: Received): void;
  /** Throws when the value is not of the named schema. */
  matches(schema: string, value: unknown): void;
  isOf(schema: string, value: unknown): boolean;
}

const METHODS = { get: "GET", post: "POST", delete: "DELETE" } as const;
const INTEGER = /^[+-]?\d{1,15}$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

export function readContract(): Contract {
  const document = parse(readFileSync(repo("specs", "trace.openapi.yaml"), "utf8")) as Node;
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false, allErrors: false });
  ajv.addFormat("date-time", { validate: (text: string) => RFC3339.test(text) && !Number.isNaN(Date.parse(text)) });
  ajv.addFormat("binary", true);
  const schemas = at(document, "components", "schemas");
  const $defs = Object.fromEntries(Object.entries(schemas).flatMap(([name, schema]) => [[name, closed(schema)], [`${name}~open`, open(schema)]]));
  const compile = (schema: unknown): ValidateFunction => ajv.compile({ ...(closed(schema) as Node), $defs });
  const named = new Map(Object.keys(schemas).map((name) => [name, compile({ $ref: `#/components/schemas/${name}` })]));
  const bodies = new Map<unknown, ValidateFunction>();

  const operations: Operation[] = [];
  const responses = new Map<string, Node>();
  for (const [path, item] of Object.entries(at(document, "paths"))) {
    for (const [key, method] of Object.entries(METHODS)) {
      const operation = (item as Node)[key] as Node | undefined;
      if (operation === undefined) continue;
      const id = String(operation["operationId"]);
      const params = [...((item as Node)["parameters"] ?? []) as Node[], ...((operation["parameters"] ?? []) as Node[])].map((param) => paramOf(resolve(document, param)));
      const content = operation["requestBody"] === undefined ? {} : at(operation, "requestBody", "content");
      const documented = at(operation, "responses");
      responses.set(id, documented);
      operations.push({
        id, method, path, params,
        isPublic: Array.isArray(operation["security"]) && operation["security"].length === 0,
        bodyTypes: Object.keys(content), statuses: Object.keys(documented).map(Number),
      });
    }
  }
  const validator = (schema: unknown): ValidateFunction => {
    const known = bodies.get(schema) ?? compile(schema);
    bodies.set(schema, known);
    return known;
  };
  return {
    operations,
    judge({ id }, { status, headers, body }) {
      const documented = responses.get(id)?.[String(status)];
      assert.ok(documented !== undefined, `${id} does not document the status ${status}: ${body.toString("utf8").slice(0, 200)}`);
      const response = resolve(document, documented as Node);
      for (const name of Object.keys((response["headers"] ?? {}) as Node)) assert.ok(headers[name.toLowerCase()] !== undefined, `${id} ${status} lacks the header ${name}`);
      const contents = (response["content"] ?? {}) as Node;
      const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
      const content = contents[type] as Node | undefined;
      assert.ok(content !== undefined, `${id} ${status} does not document the type ${type}`);
      if (type === "application/json") valid(validator(content["schema"]), JSON.parse(body.toString("utf8")), `${id} ${status}`);
      if (type === "application/x-ndjson") for (const line of body.toString("utf8").trimEnd().split("\n")) valid(validator(content["schema"]), JSON.parse(line), `${id} ${status}`);
    },
    matches: (schema, value) => valid(named.get(schema), value, schema),
    isOf: (schema, value) => named.get(schema)?.(value) === true,
  };
}

/** What the rule says of a text, apart from the service's own validators. Lengths are in characters. */
export function obeys(param: Param, text: string): boolean {
  if (param.type === "integer") return INTEGER.test(text) && Number(text) >= param.minimum && Number(text) <= param.maximum;
  const length = [...text].length;
  return length >= param.minLength && length <= param.maxLength && (param.pattern === null || new RegExp(param.pattern, "u").test(text));
}

function valid(validate: ValidateFunction | undefined, value: unknown, what: string): void {
  assert.ok(validate !== undefined, `${what} is no schema`);
  if (validate(value)) return;
  const [first] = validate.errors ?? [];
  assert.fail(`${what} ${first?.instancePath ?? ""} ${first?.message ?? ""} ${JSON.stringify(first?.params)}: ${JSON.stringify(value).slice(0, 400)}`);
}

function at(node: Node, ...path: readonly string[]): Node {
  return path.reduce<Node>((value, key) => value[key] as Node, node);
}

function resolve(document: Node, node: Node): Node {
  const { $ref } = node;
  return typeof $ref === "string" ? at(document, ...$ref.slice(2).split("/")) : node;
}

function paramOf(node: Node): Param {
  const schema = node["schema"] as Node;
  const number = (key: string, fallback: number): number => (typeof schema[key] === "number" ? schema[key] : fallback);
  return {
    name: String(node["name"]), in: node["in"] as Param["in"], required: node["required"] === true, type: schema["type"] as Param["type"],
    pattern: typeof schema["pattern"] === "string" ? schema["pattern"] : null,
    minLength: number("minLength", 0), maxLength: number("maxLength", Infinity), minimum: number("minimum", -Infinity), maximum: number("maximum", Infinity),
  };
}

/** A schema whose objects take no property that it does not name; `allOf` is closed as a whole. */
function closed(schema: unknown): unknown {
  const shape = rewritten(schema, "", closed);
  const isObject = typeof shape === "object" && shape !== null && !Array.isArray(shape);
  return isObject && ("allOf" in shape || ("properties" in shape && !("additionalProperties" in shape))) ? { ...shape, unevaluatedProperties: false } : shape;
}

/** The same as a part of an `allOf`, where other parts name further properties. */
function open(schema: unknown): unknown {
  return rewritten(schema, "~open", closed);
}

function rewritten(schema: unknown, suffix: string, inner: (schema: unknown) => unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => {
    if (key === "$ref") return [key, `${String(value).replace("#/components/schemas/", "#/$defs/")}${suffix}`];
    if (key === "allOf") return [key, (value as unknown[]).map(open)];
    if (key === "anyOf" || key === "oneOf") return [key, (value as unknown[]).map(inner)];
    if (key === "items") return [key, inner(value)];
    if (key === "properties") return [key, Object.fromEntries(Object.entries(value as Node).map(([name, property]) => [name, inner(property)]))];
    return [key, value];
  }));
}
