/**
 * Fields that tools of the catalog redact, and a draft that asks about them. A tool that returns no such field but filters,
 * sorts or groups by it, or offers its values as a directory, tells them one guess at a time.
 */
import { isRecord } from "../../runtime/base/paths.js";
import { connectionOf, targetOf, type Target } from "./guardrails.js";
import type { JsonMap } from "./record.js";
import { textsOf } from "./untrusted.js";

/** A place of a draft that uses a redacted field. */
export interface RedactedInput {
  /** Dotted path in the tool. */
  readonly path: string;
  readonly field: string;
}

/** Every use of a field that a tool on a collection of this name, or the connection's built-ins, redact. */
export function redactedInputs(tool: JsonMap, catalog: JsonMap): readonly RedactedInput[] {
  const target = targetOf(tool);
  const fields = target === null ? [] : redactedFields(catalog, target);
  return fields.flatMap((field) => inputsOf(tool).filter(([, text]) => names(text, field)).map(([path]) => ({ path, field })));
}

function redactedFields(catalog: JsonMap, target: Target): readonly string[] {
  // Whatever the connection is called: two of them may lead to one store.
  const tools = listOf(catalog["tools"]).filter((other) => isRecord(other) && targetOf(other)?.collection === target.collection);
  const defaults = connectionOf(catalog, target.connection)?.["builtin_defaults"];
  const outputs = [...tools, defaults].map((one) => (isRecord(one) && isRecord(one["output"]) ? one["output"] : {}));
  const rules = outputs.flatMap((output) => listOf(output["redact"]));
  return [...new Set(rules.flatMap((rule) => (isRecord(rule) && typeof rule["path"] === "string" ? [rule["path"]] : [])))];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** Keys whose texts name no field. */
const OTHER_KEYS = /(?:^|\.)(?:description|dtype|op|kind|connection|collection|param|order|nulls|enum\.\d+)$/;

/** Texts that may name a field; the name of a parameter does where it has no path. */
function inputsOf({ parameters, steps }: JsonMap): readonly (readonly [path: string, text: string])[] {
  const ofParameters = listOf(parameters).flatMap((parameter, index) => {
    const texts = textsOf(parameter, `parameters.${index}`);
    return isRecord(parameter) && parameter["path"] !== undefined ? texts.filter(([path]) => !path.endsWith(".name")) : texts;
  });
  return [...ofParameters, ...textsOf(steps, "steps")].filter(([path]) => !OTHER_KEYS.test(path));
}

/** Whether a path, or an expression, names the field, a part of it or what it is a part of. */
function names(text: string, field: string): boolean {
  const words = text.match(/[A-Za-z_][\w.]*/g) ?? [];
  return words.some((word) => word === field || word.startsWith(`${field}.`) || field.startsWith(`${word}.`));
}
