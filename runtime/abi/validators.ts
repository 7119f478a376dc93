/**
 * ParamSpec → zod, for programs that were compiled in memory. `build` prints the same validators as text; a test
 * compares both. Apart from params.ts, so that nothing on the way to the first answer has to load zod.
 */
import { z, type ZodObject, type ZodType } from "zod";
import { membersOf, type ParamSpec } from "./params.js";

/** One value of the argument's type. Points in time are checked after zod, by the call path. */
function itemOf(param: ParamSpec): ZodType {
  const members = membersOf(param);
  if (members?.length === 0) return z.never();
  if (members !== null) return param.type === "string" ? z.enum(members as string[]) : z.literal(members as number[]);
  switch (param.type) {
    case "string":
      return bounded(param.nonEmpty === true ? z.string().min(1) : z.string(), param.maxLength);
    case "boolean":
      return z.boolean();
    case "integer":
    case "number": {
      let number = param.type === "integer" ? z.int() : z.number();
      if (param.list === true) return number;
      if (param.minimum !== undefined) number = number.min(param.minimum);
      if (param.maximum !== undefined) number = number.max(param.maximum);
      return number;
    }
    default: {
      const never: never = param.type;
      return never;
    }
  }
}

function bounded<T extends { max(length: number): T }>(schema: T, most: number | undefined): T {
  return most === undefined ? schema : schema.max(most);
}

function argumentOf(param: ParamSpec): ZodType {
  const value = param.list === true ? bounded(z.array(itemOf(param)), param.maxItems) : itemOf(param);
  if (param.required === true) return value;
  return param.default === undefined ? value.optional() : value.default(param.default);
}

/**
 * Checks the arguments of a call: required ones present, types and members right (2.0 is an integer, `null` is
 * nothing's value), defaults filled in for optional ones. Arguments that are not declared are dropped.
 */
export function validatorOf(params: readonly ParamSpec[]): ZodObject {
  return z.object(Object.fromEntries(params.map((param) => [param.name, argumentOf(param)])));
}
