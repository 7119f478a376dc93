/**
 * Tool inputs: one neutral description from which the advertised JSON Schema and the zod validator are both made,
 * so that what a model sees and what is enforced cannot drift apart.
 */
import type { Scalar } from "./filter.js";
import type { Json } from "./plan.js";

/** Bounds of arguments whose parameter sets none: characters of the query, of any other text, and entries of a list. */
export const ARGUMENT_BOUNDS = { queryLength: 8_192, textLength: 1_024, listItems: 256 } as const;

/** One argument of a tool, in the order it is advertised. */
export interface ParamSpec {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean";
  /** The argument is a list of `type`. */
  readonly list?: true;
  readonly format?: "date-time";
  readonly enum?: readonly Scalar[];
  readonly description?: string;
  readonly default?: Json;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Longest text, or longest text of a list; not for enums. */
  readonly maxLength?: number;
  /** Most entries of a list. */
  readonly maxItems?: number;
  readonly required?: true;
  /** Enforced but not advertised: a required query must not be the empty string. */
  readonly nonEmpty?: true;
}

/** Everything the model may know of a tool. */
export interface ToolInput {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly params: readonly ParamSpec[];
}

/** A tool as tools/list sends it; which keys are sent depends on the protocol version. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Json;
}

/** The part of a zod schema that the runtime uses; structural, so that the call path never imports zod. */
export interface Validator {
  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: { issues: readonly ValidationIssue[] } };
}

export interface ValidationIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What the schema says of the arguments; an argument that is not given is absent, whatever objects inherit by its name. */
export function checkArgs(validator: Validator, args: unknown): ReturnType<Validator["safeParse"]> {
  return validator.safeParse(ownOnly(args));
}

/** A copy of an object that inherits nothing: an argument may be called `constructor`, a name that every other object knows. */
export function ownOnly(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.assign(new Own(), value);
}

/** Instances know no name but their own. Unlike those of Object.create(null) the engine lays them out as it does other objects. */
const Own = function () {} as unknown as new () => object;
Own.prototype = Object.freeze(Object.create(null) as object);

/**
 * The JSON Schema of one argument. Bounds of the automatic limit come before its default, as clients of existing
 * catalogs know it; `maximum` of a list is advertised on the list, where JSON Schema gives it no effect.
 */
function propertyOf(param: ParamSpec): Json {
  const bounded = param.minimum !== undefined;
  const members = param.enum === undefined ? {} : { enum: param.enum };
  const maximum = param.maximum === undefined ? {} : { maximum: param.maximum };
  const format = param.format === undefined ? {} : { format: param.format };
  const length = param.maxLength === undefined || param.enum !== undefined ? {} : { maxLength: param.maxLength };
  const item = { type: param.type, ...format, ...members, ...length };
  const shape = param.list === true ? { type: "array", items: item, ...(param.maxItems === undefined ? {} : { maxItems: param.maxItems }) } : item;
  return {
    ...shape,
    ...(param.description === undefined ? {} : { description: param.description }),
    ...(bounded ? { minimum: param.minimum, ...maximum } : {}),
    ...(param.default === undefined ? {} : { default: param.default }),
    ...(bounded ? {} : maximum),
  };
}

/** The advertised JSON Schema: `type`, `properties` in order, and `required`, which is always present. */
export function inputSchemaOf(params: readonly ParamSpec[]): Json {
  return {
    type: "object",
    properties: Object.fromEntries(params.map((param) => [param.name, propertyOf(param)])),
    required: params.filter((param) => param.required === true).map((param) => param.name),
  };
}

/** Members of an enum that a value of the argument's type can equal; a JSON Schema with `type` and `enum` accepts only these. */
export function membersOf(param: ParamSpec): readonly Scalar[] | null {
  if (param.enum === undefined) return null;
  return param.enum.filter((member) => {
    if (param.type === "integer") return Number.isSafeInteger(member);
    return typeof member === param.type;
  });
}
