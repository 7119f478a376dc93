/**
 * The trace service of a build: its routes spelled out with their validators, and its entry. All of it comes
 * from the OpenAPI document and none from the catalog.
 */
import type { OperationRule, ParamRule } from "../../runtime/abi/trace.js";
import { commentText, jsKey, jsString } from "./helpers.js";
import { literal, WIDTH } from "./literal.js";
import type { Render } from "./templates.js";

export interface TraceInput {
  readonly operations: readonly OperationRule[];
  /** One line for each operation, by id. */
  readonly summaries: { readonly [id: string]: string };
}

/** The two files by path, in the order of the table. */
export function traceFiles({ operations, summaries }: TraceInput, render: Render): ReadonlyMap<string, string> {
  const view = {
    operations: operations.map((operation) => ({
      id: operation.id,
      comment: commentText(`${operation.method} ${operation.path}: ${summaries[operation.id] ?? operation.id}`),
      method: jsString(operation.method),
      path: jsString(operation.path),
      public: String(operation.public),
      pathParams: JSON.stringify(operation.params.filter((rule) => rule.in === "path").map((rule) => rule.name)),
      params: paramsText(operation.params),
    })),
  };
  return new Map([
    ["trace.routes.ts", render("trace-routes", view)],
    ["trace-server.ts", render("trace-server", {})],
  ]);
}

function paramsText(params: readonly ParamRule[]): string {
  if (params.length === 0) return "z.object({})";
  return `z.object({\n${params.map((rule) => `    ${jsKey(rule.name)}: ${validatorText(rule)},\n`).join("")}  })`;
}

/** The same validator that `paramSchema` of the runtime makes. */
function validatorText(rule: ParamRule): string {
  const base = rule.type === "integer" ? `integer.pipe(z.int()${bound("min", rule.minimum)}${bound("max", rule.maximum)})` : textText(rule);
  if (rule.default !== undefined) return `${base}.default(${JSON.stringify(rule.default)})`;
  return rule.required === true ? base : `${base}.optional()`;
}

function textText(rule: ParamRule): string {
  const pattern = rule.pattern === undefined ? "" : `.regex(${patternText(rule.pattern)})`;
  const { minLength = 0, maxLength = Infinity } = rule;
  return `${minLength === 0 && maxLength === Infinity ? "z.string()" : `text(${minLength}, ${maxLength})`}${pattern}`;
}

/** A regular expression, or the text of one that does not fit on a line. */
function patternText(pattern: string): string {
  const text = String(new RegExp(pattern));
  return text.length < WIDTH / 2 ? text : `new RegExp(\n      ${literal(new RegExp(pattern).source, 6, 6)},\n    )`;
}

function bound(name: "min" | "max", value: number | undefined): string {
  return value === undefined ? "" : `.${name}(${value})`;
}
