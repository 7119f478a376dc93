/**
 * SKILL.md of `build --skill`: what an agent that writes programs needs of a catalog. It holds what the model may know
 * anyway (names, descriptions, arguments, fields of rows), and examples; no guard, connection or setting is printed.
 * @see https://agentskills.io/specification
 */
import type { ParamSpec } from "../../runtime/abi/params.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import type { Plans } from "../ir.js";
import { argsType, rowType } from "./client-view.js";
import { commentText, jsString, showUnseen } from "./helpers.js";
import { literal } from "./literal.js";
import { markdownCode, markdownText } from "./queries.js";
import type { Render } from "./templates.js";
import { headerView, summaryOf } from "./view.js";

/** A call that is known to make sense. */
export interface SkillExample {
  /** What a user asked for. */
  readonly request: string | null;
  readonly tool: string;
  readonly args: { readonly [arg: string]: unknown };
}

export interface SkillInput {
  readonly plans: Plans;
  /** Lower-case letters, digits and single hyphens, at most 64. */
  readonly name: string;
  /** Module specifier of client.js, and path of the catalog, for a program in the project's folder. */
  readonly clientPath: string;
  readonly catalogPath: string;
  readonly examples: readonly SkillExample[];
}

/** What a skill's name must be. */
export const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

const MAX_DESCRIPTION = 1024;
const EXAMPLES_PER_TOOL = 2;

/** Columns for the first sentence of a tool in the description. */
const SENTENCE = 120;

export function skillText({ plans, name, clientPath, catalogPath, examples }: SkillInput, render: Render): string {
  const denied = new Set(plans.settings.security?.rbac?.deny_tools ?? []);
  const names = Object.keys(plans.tools).filter((tool) => !denied.has(tool));
  const first = names.map((tool) => ({ tool, args: requiredArgs(plans.inputs[tool]?.params ?? []) })).sort((a, b) => Object.keys(a.args).length - Object.keys(b.args).length)[0];
  return render("skill", {
    ...headerView(plans), name, clientPath: jsString(clientPath), catalogPath: jsString(catalogPath),
    description: jsString(descriptionOf(names, plans)),
    count: names.length, noun: names.length === 1 ? "tool" : "tools",
    start: first === undefined ? "" : `const { rows } = ${callText(first.tool, first.args, "const { rows } = ".length)}`,
    tools: names.map((tool) => ({
      title: markdownCode(tool), description: markdownText(plans.inputs[tool]?.description ?? tool), signature: signatureOf(tool, plans),
      examples: examplesOf(tool, plans, examples).map(({ request, args }) => ({ request: request === null ? "For example:" : markdownText(request), call: callText(tool, args, 0) })),
    })),
  });
}

/** What the skill is for and when to use it: the first sentences of the tools, as many as fit. */
function descriptionOf(names: readonly string[], plans: Plans): string {
  const end = " Use when a question is about these data and a program can combine or count rows.";
  let text = "";
  for (const tool of names) {
    const sentence = summaryOf(plans.inputs[tool]?.description ?? tool, SENTENCE);
    if (text.length + sentence.length + 1 + end.length > MAX_DESCRIPTION) break;
    text += `${text === "" ? "" : " "}${sentence}`;
  }
  return `${text}${end}`;
}

function signatureOf(tool: string, plans: Plans): string {
  const params = plans.inputs[tool]?.params ?? [];
  const optional = params.some(({ required }) => required === true) ? "" : "?";
  return `call(name: ${jsString(tool)}, args${optional}: ${argsType(params, 0)}): Promise<Result<${rowType(plans.rows[tool] ?? null, 0, "{ readonly [field: string]: unknown }")}>>`;
}

function callText(tool: string, args: SkillExample["args"], column: number): string {
  const start = `await tools.call(${jsString(tool)}`;
  return Object.keys(args).length === 0 ? `${start});` : `${start}, ${literal(args, 0, column + start.length + 4)});`;
}

/** Examples of a tool, without those that would show a value of its guard. */
function examplesOf(tool: string, plans: Plans, examples: readonly SkillExample[]): readonly SkillExample[] {
  const hidden = guardTexts(plans.tools[tool]);
  const shows = ({ request, args }: SkillExample): boolean => hidden.some((value) => `${request ?? ""} ${JSON.stringify(args)}`.toLowerCase().includes(value.toLowerCase()));
  return examples.filter((example) => example.tool === tool && !shows(example)).slice(0, EXAMPLES_PER_TOOL);
}

/** Texts and numbers in the filters that the catalog applies by itself. */
function guardTexts(plan: ToolPlan | undefined): readonly string[] {
  const guard = plan === undefined ? undefined : plan.kind === "pipeline" ? [plan.retrieve.guard, plan.retrieve.filter] : plan.guard;
  const texts: string[] = [];
  const visit = (value: unknown, key: string): void => {
    if (typeof value === "object" && value !== null) for (const [name, inside] of Object.entries(value)) visit(inside, Array.isArray(value) ? key : name);
    // Names of fields and operators are no secret, and a single character is in every text.
    else if (key !== "path" && key !== "op" && key !== "dtype" && key !== "param" && typeof value !== "boolean" && String(value).length > 1) texts.push(String(value));
  };
  visit(guard, "");
  return texts;
}

/** Arguments that a call needs at least, with values that fit their schema. */
function requiredArgs(params: readonly ParamSpec[]): SkillExample["args"] {
  return Object.fromEntries(params.filter(({ required }) => required === true).map((param) => [param.name, param.list === true ? [sampleOf(param)] : sampleOf(param)]));
}

function sampleOf(param: ParamSpec): unknown {
  if (param.enum !== undefined) return param.enum[0];
  if (param.format !== undefined) return "2024-01-31";
  if (param.type === "boolean") return true;
  return param.type === "string" ? showUnseen(commentText(param.name.replaceAll("_", " "))) : (param.minimum ?? 1);
}
