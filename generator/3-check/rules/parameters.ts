/** Rules about parameters: operators that fit the type, names, enums and defaults. */
import type { Op, Scalar } from "../../../runtime/abi/filter.js";
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
      const key = parameter.op === null ? (catalogSaysDtype(parameter) ? "dtype" : "path") : "op";
      const allowed = OPS[dtype].join(", ");
      reporter.report("VB2001", { op, dtype, allowed }, { path: [...at, key] }, {
        tool: tool.name,
        ...(allowed === "" ? { help: "give the parameter the dtype of the stored field" } : {}),
      });
    }
  }
};

function catalogSaysDtype(parameter: ResolvedParameter): boolean {
  return parameter.dtype !== "keyword";
}

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

export const values: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const parameter of tool.parameters) {
      const { dtype, at, name, max } = parameter;
      for (const [index, member] of (parameter.enum ?? []).entries()) {
        if (!fits(member, dtype)) reporter.report("TS0214", { got: show(member), dtype }, { path: [...at, "enum", index] }, { tool: tool.name });
      }
      if (parameter.default === undefined || parameter.default === null) continue;
      const given = Array.isArray(parameter.default) ? (parameter.default as readonly unknown[]) : [parameter.default];
      const where = { path: [...at, "default"] };
      const wrong = given.find((value) => !fits(value, dtype));
      const outside = given.find((value) => parameter.enum !== null && parameter.resolve?.kind !== "directory" && !parameter.enum.includes(value as Scalar));
      const detail = wrong !== undefined ? `it is not of dtype ${dtype}` : outside !== undefined ? "it is not in its enum" : given.some((value) => typeof value === "number" && max !== null && value > max) ? `it is above ${max}` : null;
      if (detail !== null) reporter.report("TS0215", { got: show(parameter.default), name, detail }, where, { tool: tool.name });
    }
  }
};

function fits(value: unknown, dtype: Dtype): boolean {
  switch (dtype) {
    case "integer":
      return Number.isInteger(value);
    case "float":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "keyword":
    case "keyword[]":
    case "datetime":
      return typeof value === "string";
    case "unknown":
      return true;
  }
}
