/** Judges a call, its result, and a model's choice. Pure: each function returns what failed, in plain words. */
import { isDeepStrictEqual } from "node:util";
import type { Row } from "../../runtime/abi/filter.js";
import type { Envelope } from "../../runtime/abi/call.js";
import type { Expectations, JsonMap, Scenario } from "./scenarios.js";

/** What the scenario says of its own call, before it runs. */
export function checkCall({ call, expected_tool: tool, expected_arguments: args, forbidden_tools: forbidden }: Scenario): readonly string[] {
  if (call === null) return [];
  return [
    ...(tool !== null && tool !== call.tool ? [`expected_tool: ${tool} expected, the call is of ${call.tool}`] : []),
    ...(args !== null && !isDeepStrictEqual(args, call.arguments) ? [`expected_arguments: ${show(args)} expected, the call has ${show(call.arguments)}`] : []),
    ...(forbidden.includes(call.tool) ? [`forbidden_tools: the call is of ${call.tool}`] : []),
  ];
}

/** What a model chose; `tool` is null where it called none. */
export interface Choice {
  readonly tool: string | null;
  readonly arguments: JsonMap;
}

/** A model may add arguments that the scenario does not state; those that it states must be as stated. */
export function checkChoice({ expected_tool: tool, expected_arguments: args, forbidden_tools: forbidden }: Scenario, choice: Choice): readonly string[] {
  const chosen = choice.tool ?? "no tool";
  const wrong = Object.entries(args ?? {}).filter(([name, value]) => !isDeepStrictEqual(choice.arguments[name], value));
  return [
    ...(tool !== null && choice.tool !== tool ? [`expected_tool: ${tool} expected, the model chose ${chosen}`] : []),
    ...(choice.tool !== null && forbidden.includes(choice.tool) ? [`forbidden_tools: the model chose ${chosen}`] : []),
    ...(tool === null || choice.tool === tool ? wrong.map(([name, value]) => `expected_arguments: ${name} = ${show(value)} expected, the model gave ${show(choice.arguments[name])}`) : []),
  ];
}

/** What the rows of a result fail. Checks of rows pass where there are none. */
export function checkResult(expect: Expectations, result: Envelope): readonly string[] {
  return [...checkCounts(expect, result), ...checkRows(expect, result.rows), ...checkTexts(expect, result)];
}

function checkCounts({ exact_rows: exact, min_rows: min, max_rows: max, count, error }: Expectations, result: Envelope): readonly string[] {
  const found = result.rows.length;
  return [
    ...(error !== undefined && error !== null ? [`error: ${error} expected, the call succeeded`] : []),
    ...(isGiven(exact) && found !== exact ? [`exact_rows: ${exact} expected, ${found} found`] : []),
    ...(isGiven(min) && found < min ? [`min_rows: at least ${min} expected, ${found} found`] : []),
    ...(isGiven(max) && found > max ? [`max_rows: at most ${max} expected, ${found} found`] : []),
    ...(isGiven(count) && result.count !== count ? [`count: ${count} expected, ${result.count} found`] : []),
  ];
}

function checkRows({ row_field_equals: equals, forbidden_field_values: forbidden, min_score: score }: Expectations, rows: readonly Row[]): readonly string[] {
  const first = (check: string, test: (row: Row) => string | null): readonly string[] => {
    const wrong = rows.flatMap((row, index) => {
      const why = test(row);
      return why === null ? [] : [`row ${index + 1} ${why}`];
    });
    return wrong.length === 0 ? [] : [`${check}: ${wrong[0] ?? ""}${wrong.length === 1 ? "" : `, and ${wrong.length - 1} more`}`];
  };
  return [
    ...Object.entries(equals ?? {}).flatMap(([field, value]) => first("row_field_equals", (row) => (isDeepStrictEqual(row[field] ?? null, value) ? null : `has ${field} = ${show(row[field])}, not ${show(value)}`))),
    ...Object.entries(forbidden ?? {}).flatMap(([field, value]) => {
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      return first("forbidden_field_values", (row) => (Object.hasOwn(row, field) && values.some((one) => isDeepStrictEqual(row[field], one)) ? `has ${field} = ${show(row[field])}` : null));
    }),
    ...(isGiven(score) ? first("min_score", (row) => (typeof row["_score"] === "number" && row["_score"] >= score ? null : `has _score = ${show(row["_score"])}, below ${score}`)) : []),
  ];
}

function checkTexts({ ids, forbidden }: Expectations, result: Envelope): readonly string[] {
  const found = result.rows.map((row) => String(row["_id"])).sort();
  const wanted = ids?.map(String).sort();
  const text = forbidden === undefined || forbidden === null || forbidden.length === 0 ? "" : JSON.stringify(result);
  return [
    ...(wanted !== undefined && !isDeepStrictEqual(found, wanted) ? [`ids: ${show(wanted)} expected, ${show(found)} found`] : []),
    ...(forbidden ?? []).filter((one) => text.includes(JSON.stringify(one).slice(1, -1))).map((one) => `forbidden: ${show(one)} is in the result`),
  ];
}

function isGiven(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}

/** JSON that fits on a line. */
function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 157)}…` : text;
}
