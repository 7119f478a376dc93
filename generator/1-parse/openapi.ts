/**
 * Reads specs/trace.openapi.yaml into the rules that routes are made of. The document is part of this package, so a
 * fault in it is a bug of ours, not a diagnostic.
 */
import { parse } from "yaml";
import type { OperationRule, ParamRule, TraceMethod } from "../../runtime/abi/trace.js";
import { CompilerBug } from "../bug.js";

type Json = { readonly [key: string]: unknown };

export interface TraceApi {
  /** The document as plain data, for `/openapi.json`. */
  readonly document: Json;
  /** In the order of the document. */
  readonly operations: readonly OperationRule[];
  /** One-line descriptions by operation id. */
  readonly summaries: { readonly [id: string]: string };
}

const METHODS: readonly (readonly [string, TraceMethod])[] = [["get", "GET"], ["post", "POST"], ["delete", "DELETE"]];

/** @throws CompilerBug when the document uses what the routes can't express. */
export function parseTraceApi(text: string): TraceApi {
  return traceApiOf(parse(text));
}

/** The same of a document that has been read already, such as the runtime's own copy. */
export function traceApiOf(value: unknown): TraceApi {
  const document = object(value, "document");
  const operations: OperationRule[] = [];
  const summaries: { [id: string]: string } = {};
  for (const [path, item] of Object.entries(object(document["paths"], "paths"))) {
    const shared = list(object(item, path)["parameters"] ?? []);
    for (const [key, method] of METHODS) {
      const found = object(item, path)[key];
      if (found === undefined) continue;
      const operation = object(found, `${path} ${key}`);
      const id = text_(operation["operationId"], `${path} ${key} operationId`);
      const params = [...shared, ...list(operation["parameters"] ?? [])].map((param) => paramRule(resolve(document, param), id));
      operations.push({ id, method, path, public: isPublic(operation), params: [...params.filter((p) => p.in === "path"), ...params.filter((p) => p.in === "query")] });
      summaries[id] = text_(operation["summary"], `${id} summary`);
    }
  }
  return { document, operations, summaries };
}

function isPublic(operation: Json): boolean {
  const security = operation["security"];
  return Array.isArray(security) && security.length === 0;
}

function paramRule(param: Json, id: string): ParamRule {
  const name = text_(param["name"], `${id} parameter name`);
  const where = param["in"];
  const schema = object(param["schema"], `${id} ${name} schema`);
  const type = schema["type"];
  if (where !== "path" && where !== "query") throw new CompilerBug(`${id}: parameter ${name} is in ${String(where)}`);
  if (type !== "string" && type !== "integer") throw new CompilerBug(`${id}: parameter ${name} has the type ${String(type)}`);
  const { pattern, minLength, maxLength, minimum, maximum, default: fallback } = schema;
  return {
    name, in: where, type,
    ...(param["required"] === true ? { required: true } : {}),
    ...(typeof pattern === "string" ? { pattern } : {}),
    ...(typeof minLength === "number" ? { minLength } : {}),
    ...(typeof maxLength === "number" ? { maxLength } : {}),
    ...(typeof minimum === "number" ? { minimum } : {}),
    ...(typeof maximum === "number" ? { maximum } : {}),
    ...(typeof fallback === "string" || typeof fallback === "number" ? { default: fallback } : {}),
  };
}

function resolve(document: Json, value: unknown): Json {
  const found = object(value, "parameter");
  const ref = found["$ref"];
  if (typeof ref !== "string") return found;
  return ref.slice(2).split("/").reduce((at, key) => object(at[key], ref), document);
}

function object(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new CompilerBug(`trace.openapi.yaml: ${what} is not an object`);
  return value as Json;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text_(value: unknown, what: string): string {
  if (typeof value !== "string") throw new CompilerBug(`trace.openapi.yaml: ${what} is missing`);
  return value;
}
