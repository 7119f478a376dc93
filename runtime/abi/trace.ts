/**
 * The trace service's routes as generated code hands them over, and as the runtime makes them in memory from the
 * same rules. Parameters arrive as text; validators turn them into values or into issues that become a 422 body.
 */
import { z } from "zod";

/** A parameter of an operation, as the OpenAPI document states it. */
export interface ParamRule {
  readonly name: string;
  readonly in: "path" | "query";
  readonly type: "string" | "integer";
  readonly required?: boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number;
}

export type TraceMethod = "GET" | "POST" | "DELETE";

/** An operation, as the OpenAPI document states it. */
export interface OperationRule {
  readonly id: string;
  readonly method: TraceMethod;
  /** `/api/runs/{run_id}` */
  readonly path: string;
  /** No bearer token is asked for. */
  readonly public: boolean;
  /** In the order of the document: path parameters first. */
  readonly params: readonly ParamRule[];
}

/** Parameter values of an operation of the generated types; what may be absent may be undefined. */
export type ParamsOf<Operation> = Operation extends { parameters: { query?: infer Query; path?: infer Path } } ? Given<Path> & Given<Query> : unknown;

type Given<Group> = [Group] extends [never] ? unknown : [Group] extends [undefined] ? unknown : Loose<NonNullable<Group>>;
type Loose<Group> = { [Name in keyof Group]: object extends Pick<Group, Name> ? Group[Name] | undefined : Group[Name] };

/** An operation that can be served: its parameters are validated together and failures come in their order. */
export interface TraceRoute<Operation = unknown> {
  readonly method: TraceMethod;
  readonly path: string;
  readonly public: boolean;
  /** Names of the path parameters, in the order of the path; every other one is a query parameter. */
  readonly pathParams: readonly string[];
  /** Takes `{name: text}` of path and query; yields typed values with defaults filled in. */
  readonly params: z.ZodType<ParamsOf<Operation>>;
}

export type TraceRoutes = { readonly [operationId: string]: TraceRoute };

/** How a whole number is written in a query. */
export const INTEGER = /^\s*[+-]?\d{1,15}\s*$/;

/** The validator of one parameter, the same that generated routes spell out. */
export function paramSchema(rule: ParamRule): z.ZodType {
  const base: z.ZodType = rule.type === "integer" ? intSchema(rule) : textSchema(rule);
  if (rule.default !== undefined) return base.default(rule.default);
  return rule.required === true ? base : base.optional();
}

function intSchema(rule: ParamRule): z.ZodType<number, string> {
  let range = z.int();
  if (rule.minimum !== undefined) range = range.min(rule.minimum);
  if (rule.maximum !== undefined) range = range.max(rule.maximum);
  return z.string().regex(INTEGER).transform(Number).pipe(range);
}

function textSchema(rule: ParamRule): z.ZodType<string, string> {
  const { minLength = 0, maxLength = Infinity, pattern } = rule;
  const text = minLength === 0 && maxLength === Infinity ? z.string() : characters(minLength, maxLength);
  return pattern === undefined ? text : text.regex(new RegExp(pattern));
}

/** A text of so many characters: code points, as JSON Schema counts them, where zod's own bounds count code units. */
function characters(minimum: number, maximum: number): z.ZodString {
  return z.string().check(({ value, issues }) => {
    const count = [...value].length;
    if (count < minimum) issues.push({ code: "too_small", origin: "string", minimum, inclusive: true, input: value });
    if (count > maximum) issues.push({ code: "too_big", origin: "string", maximum, inclusive: true, input: value });
  });
}

/** Routes made in memory; `trace.routes.ts` holds the same ones as code. */
export function traceRoutes(operations: readonly OperationRule[]): TraceRoutes {
  return Object.fromEntries(operations.map((operation) => [operation.id, {
    method: operation.method,
    path: operation.path,
    public: operation.public,
    params: z.object(Object.fromEntries(operation.params.map((rule) => [rule.name, paramSchema(rule)]))),
    pathParams: operation.params.filter((rule) => rule.in === "path").map((rule) => rule.name),
  }]));
}
