/** Types of arguments and rows as TypeScript, for `client.ts` and for the signatures of a skill. */
import { membersOf, type ParamSpec } from "../../runtime/abi/params.js";
import type { Plans, RowField, RowShape } from "../ir.js";
import { jsKey, jsString } from "./helpers.js";
import { WIDTH } from "./literal.js";
import { headerView, summaryOf, type ToolView } from "./view.js";

/** Columns of `    readonly args: `. */
const MEMBER_INDENT = 4;

export function clientView(plans: Plans, tools: readonly ToolView[]) {
  const [inputs, rows] = [Object.values(plans.inputs), Object.values(plans.rows)];
  return {
    ...headerView(plans),
    tools: tools.map((tool, index) => ({
      ...tool,
      args: argsType(inputs[index]?.params ?? [], MEMBER_INDENT),
      row: rowType(rows[index] ?? null, MEMBER_INDENT, "rt.Row"),
    })),
  };
}

/** The type of a tool's arguments, one a line, each with the start of its description above. */
export function argsType(params: readonly ParamSpec[], indent: number): string {
  if (params.length === 0) return "Record<never, never>";
  const pad = " ".repeat(indent + 2);
  const lines = params.map((param) => {
    const comment = param.description === undefined ? "" : `${pad}/** ${summaryOf(param.description, WIDTH - pad.length - "/**  */".length)} */\n`;
    const start = `${pad}readonly ${jsKey(param.name)}${param.required === true ? "" : "?"}: `;
    return `${comment}${start}${valueType(param, indent + 2, start.length)};\n`;
  });
  return `{\n${lines.join("")}${" ".repeat(indent)}}`;
}

/** `column` is where the type starts in its line. A type cannot be a sum of short texts, so one with a long member is its scalar. */
function valueType(param: ParamSpec, indent: number, column: number): string {
  const list = param.list === true;
  const members = membersOf(param);
  if (members?.length === 0) return list ? "readonly never[]" : "never";
  const texts = members?.map((member) => (typeof member === "string" ? jsString(member) : String(member))) ?? [];
  const pad = " ".repeat(indent + 2);
  if (texts.length === 0 || texts.some((text) => pad.length + `| ${text};`.length > WIDTH)) return list ? `readonly ${scalarType(param.type)}[]` : scalarType(param.type);
  const flat = list ? `readonly (${texts.join(" | ")})[]` : texts.join(" | ");
  if (column + flat.length + 1 <= WIDTH) return flat;
  const lines = texts.map((text) => `\n${pad}| ${text}`).join("");
  return list ? `readonly (${lines}\n${" ".repeat(indent)})[]` : lines;
}

function scalarType(type: ParamSpec["type"]): string {
  return type === "integer" ? "number" : type;
}

/** The type of a tool's rows; `unknownRow` where nothing is known of them. */
export function rowType(shape: RowShape | null, indent: number, unknownRow: string): string {
  if (shape === null) return unknownRow;
  const pad = " ".repeat(indent + 2);
  const lines = [
    ...shape.fields.map((field) => `${pad}readonly ${jsKey(field.name)}: ${fieldType(field)};\n`),
    ...(shape.score ? [`${pad}readonly _score?: number;\n`] : []),
    ...(shape.id ? [`${pad}readonly _id?: string | number;\n`] : []),
  ];
  return lines.length === 0 ? "Record<never, never>" : `{\n${lines.join("")}${" ".repeat(indent)}}`;
}

function fieldType({ type, list, nullable }: RowField): string {
  if (type === null) return "unknown";
  const scalar = scalarType(type);
  return `${list === true ? `readonly ${scalar}[]` : scalar}${nullable === true ? " | null" : ""}`;
}
