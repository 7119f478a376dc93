/**
 * Filters as Milvus boolean expressions. Pure. Expressions are text, so every literal is escaped here: quotes and
 * backslashes, line ends and control characters; names were checked against the grammar of paths, so none can be
 * anything else. `like` is case-sensitive there, and its wildcards cannot be escaped.
 */
import type { Condition, Filter, Scalar } from "../../abi/filter.js";
import { parseLike } from "../../base/like.js";
import { operandOf, operandsOf, reduceFilter, refuse, refuseInstants, type Compiled } from "../reduce.js";

/** @throws BackendError unsupported for nulls, exists, is_null, text_match, and patterns with a literal % or _. */
export function compileFilter(filter: Filter): Compiled<string> {
  const reduced = reduceFilter(filter);
  return typeof reduced === "string" ? reduced : compile(reduced);
}

function compile(filter: Filter): string {
  if ("and" in filter) return filter.and.map((part) => `(${compile(part)})`).join(" and ");
  if ("or" in filter) return filter.or.map((part) => `(${compile(part)})`).join(" or ");
  return compileCondition(filter);
}

const OPERATORS = { eq: "==", ne: "!=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

function compileCondition(condition: Condition): string {
  const { op } = condition;
  refuseInstants("milvus", condition);
  const path = field(condition.path);
  const isJson = condition.path.includes(".");
  switch (op) {
    case "eq":
    case "ne":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return `${path} ${OPERATORS[op]} ${literal(operandOf(condition))}`;
    case "in":
      return `${path} in ${list(operandsOf(condition))}`;
    case "nin":
      return `${path} not in ${list(operandsOf(condition))}`;
    case "contains_any":
      return `${isJson ? "JSON_CONTAINS_ANY" : "ARRAY_CONTAINS_ANY"}(${path}, ${list(operandsOf(condition))})`;
    case "contains_all":
      return `${isJson ? "JSON_CONTAINS_ALL" : "ARRAY_CONTAINS_ALL"}(${path}, ${list(operandsOf(condition))})`;
    case "like":
      return `${path} like ${literal(pattern(String(condition.value)))}`;
    case "exists":
    case "is_null":
    case "text_match":
      return refuse("milvus", `the operator ${op}`);
    default:
      return op satisfies never;
  }
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `a` or `a["b"]["c"]`. A path from anywhere but a checked catalog is checked against its grammar again. */
function field(path: string): string {
  const [head = "", ...keys] = path.split(".");
  if (![head, ...keys].every((name) => NAME.test(name))) return refuse("milvus", `the path '${path}'`);
  return head + keys.map((key) => `["${key}"]`).join("");
}

function list(values: readonly Scalar[]): string {
  return `[${values.map(literal).join(", ")}]`;
}

function literal(value: Scalar): string {
  if (value === null) return refuse("milvus", "comparisons with null");
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "number" ? String(value) : `'${escape(value)}'`;
}

const ESCAPES: { readonly [char: string]: string } = { "\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escape(text: string): string {
  return text.replace(/[\\'\u0000-\u001f\u007f]/g, (char) => ESCAPES[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function pattern(text: string): string {
  const tokens = parseLike(text);
  if (tokens.some((token) => typeof token !== "string" && /[%_]/.test(token.text))) return refuse("milvus", "a literal % or _ in a pattern");
  return tokens.map((token) => (token === "any" ? "%" : token === "one" ? "_" : token.text)).join("");
}
