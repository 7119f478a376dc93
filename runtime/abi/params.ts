/**
 * Tool inputs: one neutral description from which the advertised JSON Schema and the zod validator are both made,
 * so that what a model is told and what is enforced cannot drift apart.
 */
import type { Scalar } from "./filter.js";
import type { Json } from "./plan.js";

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
