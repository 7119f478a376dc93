/**
 * The agent skill of `build --skill` and of a server: what an agent that writes programs needs of a catalog. It holds what the model may know
 * anyway (names, descriptions, arguments, fields of rows), and examples; no guard, connection or setting is printed.
 * The parts are put together in runtime/abi/skill.ts, because a server leaves out the tools that its caller may not call.
 * @see https://agentskills.io/specification
 */
import type { ParamSpec } from "../../runtime/abi/params.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import { skillOf, type SkillParts, type SkillTool } from "../../runtime/abi/skill.js";
import { CompilerBug } from "../bug.js";
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

/** Where a program in the project's folder finds the catalog: module specifier of client.js, and path of the catalog. */
export interface SkillClient {
  readonly modulePath: string;
  readonly catalogPath: string;
}

export interface SkillInput {
  readonly plans: Plans;
  /** Lower-case letters, digits and single hyphens, at most 64. */
  readonly name: string;
  /** For a program in the project's folder; `null` for one that calls the server over MCP. */
  readonly client: SkillClient | null;
  readonly examples: readonly SkillExample[];
}

/** What a skill's name must be. */
export const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

const EXAMPLES_PER_TOOL = 2;

/** Columns for the first sentence of a tool in the description. */
const SENTENCE = 120;

/** Stands in a rendered template for what is put in later; commentText() lets no such character through. */
const GAP = "\u0000";

/** SKILL.md of `build --skill`. */
export function skillText(input: SkillInput, render: Render): string {
  const denied = new Set(input.plans.settings.security?.rbac?.deny_tools ?? []);
  return skillOf(skillParts(input, render), (tool) => !denied.has(tool)).text;
}

/** The skill that the catalog's server offers; undefined where the catalog asks for none. */
export function servedSkill(plans: Plans, render: Render): SkillParts | undefined {
  const { skill } = plans.settings;
  return skill === undefined ? undefined : skillParts({ plans, name: skill.name, client: null, examples: [] }, render);
}

/** What skill.ts prints. */
export function skillView(plans: Plans, parts: SkillParts) {
  return { ...headerView(plans), skill: literal(parts, 0, "export const skill = ".length) };
}

function skillParts({ plans, name, client, examples }: SkillInput, render: Render): SkillParts {
  const paths = client === null ? {} : { clientPath: jsString(client.modulePath), catalogPath: jsString(client.catalogPath) };
  const text = render(client === null ? "skill-served" : "skill", { ...headerView(plans), title: name, name: yamlName(name), ...paths, description: GAP, amount: GAP, start: GAP });
  const [description, amount, start, rest, ...more] = text.split(GAP).map((piece) => piece.split("\n"));
  if (description === undefined || amount === undefined || start === undefined || rest === undefined || more.length > 0) throw new CompilerBug("the template of a skill has three gaps");
  return { name, description, amount, start, rest, tools: Object.keys(plans.tools).map((tool) => toolPart(tool, plans, examples, render)) };
}

function toolPart(tool: string, plans: Plans, examples: readonly SkillExample[], render: Render): SkillTool {
  const args = requiredArgs(plans.inputs[tool]?.params ?? []);
  const start = "const { rows } = ";
  const section = render("skill-tool", {
    title: markdownCode(tool), description: markdownText(plans.inputs[tool]?.description ?? tool), signature: signatureOf(tool, plans),
    examples: examplesOf(tool, plans, examples).map((example) => ({ request: example.request === null ? "For example:" : markdownText(example.request), call: callText(tool, example.args, 0) })),
  });
  return {
    tool, summary: summaryOf(plans.inputs[tool]?.description ?? tool, SENTENCE),
    call: `${start}${callText(tool, args, start.length)}`.split("\n"), needs: Object.keys(args).length, section: section.split("\n"),
  };
}

/** Plain where YAML reads the same text. */
function yamlName(name: string): string {
  return /^(?!(?:null|true|false|yes|no|on|off|y|n)$)[a-z]/.test(name) ? name : jsString(name);
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
