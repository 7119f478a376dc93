/** What an eval found, for programs, for CI and for people. Pure. */
import { visible } from "../drafts/untrusted.js";
import { argumentsOf, type ScenarioResult } from "./run.js";

/** The JSON report; keys in this order. Optional keys are there only when they say something. */
export interface EvalReport {
  readonly experimental: true;
  readonly scenario_file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped?: number;
  readonly results: readonly EvalResult[];
}

interface EvalResult {
  readonly name: string;
  readonly request: string | null;
  readonly tool: string | null;
  readonly arguments: { readonly [name: string]: unknown };
  readonly passed: boolean;
  readonly failures: readonly string[];
  readonly row_count: number;
  readonly skipped?: string;
  /** What a model chose. */
  readonly choice?: { readonly tool: string | null; readonly arguments: { readonly [name: string]: unknown } };
  /** How it differs from the baseline. */
  readonly changed?: string;
}

/** A result with what the baseline says of it. */
export interface JudgedResult extends ScenarioResult {
  readonly changed: string | null;
}

export function evalReport(scenarioFile: string, results: readonly JudgedResult[]): EvalReport {
  const ran = results.filter(({ skipped }) => skipped === null);
  const failed = ran.filter(({ failures }) => failures.length > 0).length;
  const skipped = results.length - ran.length;
  return {
    experimental: true, scenario_file: scenarioFile, passed: ran.length - failed, failed, ...(skipped === 0 ? {} : { skipped }),
    results: results.map((result): EvalResult => ({
      name: result.scenario.name,
      request: result.scenario.request,
      tool: toolOf(result),
      arguments: argumentsOf(result),
      passed: result.failures.length === 0,
      failures: result.failures,
      row_count: result.rowCount,
      ...(result.skipped === null ? {} : { skipped: result.skipped }),
      ...(result.choice === null ? {} : { choice: result.choice }),
      ...(result.changed === null ? {} : { changed: result.changed }),
    })),
  };
}

function toolOf({ scenario: { call, expected_tool: expected } }: ScenarioResult): string | null {
  return call?.tool ?? expected;
}

/** JUnit XML: one suite, a case for each scenario in the class of its tool. */
export function junitText(report: EvalReport, results: readonly JudgedResult[]): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  const cases = results.map((result) => {
    const head = `    <testcase name="${xml(result.scenario.name)}" classname="${xml(toolOf(result) ?? "request")}" time="${seconds(result.latencyMs)}"`;
    if (result.skipped !== null) return `${head}>\n      <skipped message="${xml(result.skipped)}"/>\n    </testcase>`;
    if (result.failures.length === 0) return `${head}/>`;
    return `${head}>\n      <failure message="${xml(result.failures[0] ?? "")}">${xml(result.failures.join("\n"))}</failure>\n    </testcase>`;
  });
  const total = seconds(results.reduce((sum, { latencyMs }) => sum + latencyMs, 0));
  const counts = `tests="${results.length}" failures="${report.failed}" errors="0" skipped="${report.skipped ?? 0}" time="${total}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="${xml(report.scenario_file)}" ${counts}>\n${cases.join("\n")}\n  </testsuite>\n</testsuites>\n`;
}

/** XML 1.0 has no way to write most control characters, or half of a surrogate pair. */
function xml(text: string): string {
  const entities: { readonly [char: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;" };
  return text.replace(/\p{Cs}/gu, "\ufffd").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"\n\t\r]/g, (char) => entities[char] ?? char);
}

const MAX_NAME = 48;

/** A line a scenario, the failures below it, and the sum. Rows and requests are text from outside: nothing of them controls the terminal. */
export function tableText(report: EvalReport, results: readonly JudgedResult[]): string {
  const names = results.map(({ scenario }) => cut(visible(scenario.name), MAX_NAME));
  const tools = results.map((result) => toolOf(result) ?? "-");
  const [nameWidth, toolWidth] = [Math.max(...names.map((name) => name.length)), Math.max(...tools.map((tool) => tool.length))];
  const lines = results.map((result, index) => {
    const verdict = result.skipped !== null ? "SKIP" : result.failures.length === 0 ? "PASS" : "FAIL";
    const rows = result.scenario.call === null ? "" : `${result.rowCount} row(s)`;
    const head = `${verdict}  ${(names[index] ?? "").padEnd(nameWidth)}  ${(tools[index] ?? "").padEnd(toolWidth)}  ${rows.padStart(10)}  ${result.latencyMs.toFixed(0).padStart(5)} ms`;
    const notes = [...(result.skipped === null ? [] : [result.skipped]), ...result.failures, ...(result.changed === null ? [] : [`changed since the baseline: ${result.changed}`])];
    return [head, ...notes.map((note) => `      ${visible(note)}`)].join("\n");
  });
  const changed = results.filter((result) => result.changed !== null).length;
  const sums = [`${report.passed} passed`, `${report.failed} failed`, ...(report.skipped === undefined ? [] : [`${report.skipped} skipped`]), ...(changed === 0 ? [] : [`${changed} changed`])];
  return `${[...lines, sums.join(", ")].join("\n")}\n`;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
