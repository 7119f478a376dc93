/**
 * Evals: scenarios that a catalog's tools must keep passing. A scenario calls a tool as an application would, puts a
 * request to a model that chooses a tool, or both. This room knows no command; what runs calls and what asks a model is
 * handed in, so that everything else is plain data.
 */
import { checkShape } from "../1-parse/shape.js";
import { readYaml } from "../1-parse/yaml.js";
import type { SchemaNode } from "../1-parse/schema-node.js";
import { nearestName } from "../../runtime/base/nearest.js";
import { isRecord } from "../../runtime/base/paths.js";
import { createReporter, type Locatable, type Reporter } from "../diagnostics.js";
import type { Diagnostic, SourceFile } from "../ir.js";
import { SCENARIOS_SCHEMA } from "./schema.js";

export interface JsonMap {
  readonly [key: string]: unknown;
}

/** Who makes the call; absent for a caller without an identity. */
export interface ScenarioContext {
  readonly principal?: string;
  readonly claims?: JsonMap;
  readonly roles?: readonly string[];
  readonly tenant?: string;
}

export interface Expectations {
  readonly exact_rows?: number | null;
  readonly min_rows?: number | null;
  readonly max_rows?: number | null;
  readonly row_field_equals?: JsonMap | null;
  readonly forbidden_field_values?: JsonMap | null;
  readonly min_score?: number | null;
  /** Record ids of the rows, in any order. */
  readonly ids?: readonly (string | number)[] | null;
  /** The `count` of the result. */
  readonly count?: number | null;
  /** Texts that occur nowhere in the result. */
  readonly forbidden?: readonly string[] | null;
  /** Code of the error that the call must end in. */
  readonly error?: string | null;
}

export interface Scenario {
  readonly name: string;
  readonly request: string | null;
  readonly call: { readonly tool: string; readonly arguments: JsonMap; readonly context: ScenarioContext } | null;
  readonly expected_tool: string | null;
  readonly expected_arguments: JsonMap | null;
  readonly forbidden_tools: readonly string[];
  readonly expect: Expectations;
}

export interface ReadScenarios {
  /** Null after an error. */
  readonly scenarios: readonly Scenario[] | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly source: Locatable | null;
}

/** Reads a scenarios file; every problem is a diagnostic with its line. `tools` are the names of the catalog `catalog`. */
export function readScenarios(file: SourceFile, tools: readonly string[], catalog: string): ReadScenarios {
  const reporter = createReporter(file.path);
  if (file.text.trim() === "") {
    reporter.report("TS0101", { where: "the scenarios file", key: "scenarios" }, null);
    return { scenarios: null, diagnostics: reporter.diagnostics, source: null };
  }
  const yaml = readYaml(file, reporter);
  if (yaml === null || yaml.value === undefined) return { scenarios: null, diagnostics: reporter.diagnostics, source: yaml };
  const { value } = checkShape(SCENARIOS_SCHEMA as SchemaNode & { readonly definitions: { readonly [name: string]: SchemaNode } }, yaml.value, reporter, undefined, "the scenarios file");
  const failed = (): ReadScenarios => ({ scenarios: null, diagnostics: reporter.diagnostics, source: yaml });
  if (reporter.diagnostics.some(({ severity }) => severity === "error") || !isRecord(value)) return failed();
  const scenarios = (value["scenarios"] as readonly JsonMap[]).map(scenarioOf);
  checkNames(scenarios, value["scenarios"] as readonly JsonMap[], reporter);
  scenarios.forEach((scenario, index) => checkScenario(scenario, index, new Set(tools), catalog, reporter));
  return reporter.diagnostics.some(({ severity }) => severity === "error") ? failed() : { scenarios, diagnostics: reporter.diagnostics, source: yaml };
}

function scenarioOf(written: JsonMap, index: number): Scenario {
  const call = isRecord(written["call"]) ? written["call"] : null;
  return {
    name: typeof written["name"] === "string" ? written["name"] : `scenario-${index + 1}`,
    request: typeof written["request"] === "string" ? written["request"] : null,
    call: call === null ? null : { tool: String(call["tool"]), arguments: mapOf(call["arguments"]), context: mapOf(call["context"]) },
    expected_tool: typeof written["expected_tool"] === "string" ? written["expected_tool"] : null,
    expected_arguments: isRecord(written["expected_arguments"]) ? written["expected_arguments"] : null,
    forbidden_tools: Array.isArray(written["forbidden_tools"]) ? (written["forbidden_tools"] as readonly string[]) : [],
    expect: mapOf(written["expect"]),
  };
}

function mapOf(value: unknown): JsonMap {
  return isRecord(value) ? value : {};
}

function checkNames(scenarios: readonly Scenario[], written: readonly JsonMap[], reporter: Reporter): void {
  const seen = new Set<string>();
  for (const [index, { name }] of scenarios.entries()) {
    if (seen.has(name)) reporter.report("TS0703", { name }, { path: written[index]?.["name"] === undefined ? ["scenarios", index] : ["scenarios", index, "name"] });
    seen.add(name);
  }
}

/** What the shape cannot say: names that exist, and something to test. */
function checkScenario({ request, call, expected_tool: expected, expected_arguments: args, forbidden_tools: forbidden, expect }: Scenario, index: number, tools: ReadonlySet<string>, catalog: string, reporter: Reporter): void {
  const at = ["scenarios", index];
  const check = (name: string, path: readonly (string | number)[]): void => {
    if (tools.has(name)) return;
    const meant = nearestName(name, tools);
    reporter.report("TS0701", { name: name.slice(0, 200), catalog }, { path: [...at, ...path] }, meant === null ? {} : { help: `did you mean '${meant}'?` });
  };
  if (call !== null) check(call.tool, ["call", "tool"]);
  if (expected !== null) check(expected, ["expected_tool"]);
  forbidden.forEach((name, entry) => check(name, ["forbidden_tools", entry]));
  if (call !== null) return;
  if (request === null) reporter.report("TS0702", { what: "the scenario has neither a call nor a request" }, { path: at });
  else if (expected === null && args === null && forbidden.length === 0) reporter.report("TS0702", { what: "the request has no expected_tool, expected_arguments or forbidden_tools" }, { path: [...at, "request"] });
  if (Object.keys(expect).length > 0) reporter.report("TS0702", { what: "expect is about the result of a call, and there is none" }, { path: [...at, "expect"], on: "key" });
}

/** Whether a model can be asked which tool it would take. */
export function asksModel({ request, expected_tool: expected, expected_arguments: args, forbidden_tools: forbidden }: Scenario): boolean {
  return request !== null && (expected !== null || args !== null || forbidden.length > 0);
}
