/** Rules about parameters: operators that fit the type, names, enums and defaults. */
import type { Op, Scalar } from "../../../runtime/abi/filter.js";
import { ARGUMENT_BOUNDS } from "../../../runtime/abi/params.js";
import { INSTANT_FORM, parseInstant } from "../../../runtime/base/instant.js";
import { show } from "../../diagnostics.js";
import type { Dtype, ResolvedParameter } from "../../ir.js";
import type { Rule } from "../rule.js";

const ORDERED: readonly Op[] = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"];
/** Operators of each type; `exists` and `is_null` take a boolean argument. */
const OPS: { readonly [D in Dtype]: readonly Op[] } = {
  keyword: ["eq", "ne", "in", "nin", "like", "text_match"],
  integer: ORDERED,
  float: ORDERED,
  datetime: ORDERED,
  boolean: ["eq", "ne", "exists", "is_null"],
  "keyword[]": ["in", "nin", "contains_any", "contains_all"],
  unknown: [],
};
const MATCHING: ReadonlySet<Op> = new Set(["eq", "ne", "in", "nin"]);

/** Whether the parameter becomes a condition; without path and operator it is a plain argument. */
function filters(parameter: ResolvedParameter): boolean {
  return parameter.path !== null || parameter.op !== null;
}

export const operators: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const parameter of tool.parameters) {
      const { dtype, at } = parameter;
      const op = parameter.op ?? "eq";
      if (!filters(parameter) || OPS[dtype].includes(op)) continue;
      // Without an op it is eq, which only a dtype that is stated can refuse.
      const key = parameter.op === null ? "dtype" : "op";
      const allowed = OPS[dtype].join(", ");
      reporter.report("VB2001", { op, dtype, allowed }, { path: [...at, key] }, {
        tool: tool.name,
        ...(allowed === "" ? { help: "give the parameter the dtype of the stored field" } : {}),
      });
    }
  }
};

export const duplicates: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    const seen = new Set<string>();
    for (const { name, at } of tool.parameters) {
      if (seen.has(name)) reporter.report("VB2002", { name }, { path: [...at, "name"] }, { tool: tool.name });
      seen.add(name);
    }
  }
};

export const enumOperators: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const { name, op, at, enum: members } of tool.parameters) {
      if (members === null || op === null || MATCHING.has(op)) continue;
      reporter.report("VB2005", { name, op }, { path: [...at, "enum"], on: "key" }, { tool: tool.name });
    }
  }
};

/** A parameter named like the query or limit argument takes its place; rarely meant. */
export const hiddenArguments: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const { name, at } of tool.parameters) {
      const what = name === tool.query?.param ? "query" : name === "limit" && tool.kind !== "lookup" && tool.kind !== "count" ? "limit" : null;
      if (what !== null) reporter.report("TS0212", { name, what }, { path: [...at, "name"] }, { tool: tool.name });
    }
  }
};

export const enums: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const { dtype, at, enum: members } of tool.parameters) {
      for (const [index, member] of (members ?? []).entries()) {
        if (!fits(member, dtype)) reporter.report("TS0214", { got: show(member), dtype }, { path: [...at, "enum", index] }, { tool: tool.name });
      }
    }
  }
};

/** A default that the tool's own schema refuses would fail every call that relies on it. */
export const defaults: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const parameter of tool.parameters) {
      const detail = defaultProblem(parameter);
      if (detail !== null) reporter.report("TS0215", { got: show(parameter.default), name: parameter.name, detail }, { path: [...parameter.at, "default"] }, { tool: tool.name });
    }
  }
};

function defaultProblem(parameter: ResolvedParameter): string | null {
  const { default: given, dtype, op, enum: members, max, maxLength, resolve } = parameter;
  if (given === undefined || given === null) return null;
  const list = takesList(parameter);
  if (list !== Array.isArray(given)) return list ? `${op ?? dtype} takes a list` : `${op ?? "eq"} takes a single value`;
  for (const value of Array.isArray(given) ? (given as readonly unknown[]) : [given]) {
    if (!fits(value, dtype)) return dtype === "datetime" ? `it is not ${INSTANT_FORM}` : `it is not of dtype ${dtype}`;
    if (members !== null && resolve?.kind !== "directory" && !members.includes(value as Scalar)) return "it is not in its enum";
    if (typeof value === "number" && max !== null && value > max) return `it is above ${max}`;
    const longest = maxLength ?? ARGUMENT_BOUNDS.textLength;
    if (typeof value === "string" && [...value].length > longest) return `it is longer than ${longest} characters`;
  }
  return null;
}

/** Whether the argument is a list of its type. */
function takesList({ dtype, op }: ResolvedParameter): boolean {
  return dtype === "keyword[]" || op === "in" || op === "nin" || op === "contains_any" || op === "contains_all";
}

const NO_TEXTS: ReadonlySet<Dtype> = new Set(["integer", "float", "boolean"]);

export const lengths: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const { name, dtype, maxLength, at } of tool.parameters) {
      if (maxLength !== null && NO_TEXTS.has(dtype)) reporter.report("TS0228", { name, dtype }, { path: [...at, "max_length"], on: "key" }, { tool: tool.name });
    }
  }
};

/** Whether a call may give the value for the type; numbers within what a double keeps. */
function fits(value: unknown, dtype: Dtype): boolean {
  switch (dtype) {
    case "integer":
      return Number.isSafeInteger(value);
    case "float":
      return typeof value === "number" && Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "keyword":
    case "keyword[]":
    case "unknown":
      return typeof value === "string";
    case "datetime":
      return typeof value === "string" && parseInstant(value) !== null;
  }
}
