/** Prints JSON values as the literals a person would write: on one line where it fits, else one member a line. */
import { jsKey, jsString } from "./helpers.js";

/** No generated line is longer than this, in columns. */
export const WIDTH = 108;
const STEP = 2;

/** Comments by dotted path (`guard`, `retrieve.guard`). An object with a commented member is printed on several lines. */
export type Comments = ReadonlyMap<string, string>;

const NONE: Comments = new Map();

interface Place {
  /** Spaces before the line the literal starts on. */
  readonly indent: number;
  /** Columns that stand before the literal on its first line. */
  readonly before: number;
  readonly path: string;
  readonly comments: Comments;
}

/**
 * The value as a JavaScript literal to stand `before` columns into a line that is indented by `indent`.
 * Lines after the first are indented; the first is not.
 */
export function literal(value: unknown, indent: number, before: number, comments: Comments = NONE): string {
  return print(value, { indent, before, path: "", comments });
}

/** `key: value,` and a line end, with its comment above; for members of an object that a template opens and closes. */
export function member(key: string, value: unknown, indent: number, comments: Comments = NONE): string {
  return printMember(key, value, { indent, before: 0, path: "", comments });
}

function print(value: unknown, place: Place): string {
  if (!hasComments(value, place)) {
    // One column for the comma.
    const flat = flatLiteral(value, WIDTH - place.before - 1);
    if (flat !== null) return flat;
  }
  if (typeof value === "string") return printText(value, place);
  const close = " ".repeat(place.indent);
  const inner = { ...place, indent: place.indent + STEP };
  if (Array.isArray(value)) {
    const pad = " ".repeat(inner.indent);
    const lines = value.map((item) => `${pad}${print(item, { ...inner, before: inner.indent, comments: NONE })},\n`);
    return `[\n${lines.join("")}${close}]`;
  }
  if (typeof value === "object" && value !== null) {
    const lines = Object.entries(value).map(([key, inside]) => printMember(key, inside, inner));
    return `{\n${lines.join("")}${close}}`;
  }
  return scalarLiteral(value);
}

function printMember(key: string, value: unknown, place: Place): string {
  const pad = " ".repeat(place.indent);
  const path = place.path === "" ? key : `${place.path}.${key}`;
  const comment = Array.isArray(value) && value.length === 0 ? undefined : place.comments.get(path);
  const start = `${pad}${jsKey(key)}: `;
  const text = print(value, { ...place, path, before: start.length });
  return `${comment === undefined ? "" : `${pad}// ${comment}\n`}${text.startsWith("\n") ? start.trimEnd() : start}${text},\n`;
}

function hasComments(value: unknown, { path, comments }: Place): boolean {
  if (typeof value !== "object" || value === null || comments.size === 0) return false;
  return [...comments.keys()].some((each) => path === "" || each.startsWith(`${path}.`)) && Object.entries(value).some(([key, inside]) => {
    const below = path === "" ? key : `${path}.${key}`;
    return comments.has(below) || hasComments(inside, { indent: 0, before: 0, path: below, comments });
  });
}

/** Several objects in a list are read as rows of a table, one a line: adding one is a one-line diff. */
function isTable(list: readonly unknown[]): boolean {
  return list.length > 1 && list.every((item) => typeof item === "object" && item !== null);
}

/** On one line; null where it needs more columns than `room` or has a table in it. It stops there, so that a large value is not printed once for each of its levels. */
function flatLiteral(value: unknown, room: number): string | null {
  if (typeof value !== "object" || value === null) {
    const text = scalarLiteral(value);
    return text.length <= room ? text : null;
  }
  const isList = Array.isArray(value);
  if (isList && isTable(value)) return null;
  const members = Object.entries(value);
  if (members.length === 0) return room < 2 ? null : isList ? "[]" : "{}";
  const [open, close] = isList ? ["[", "]"] : ["{ ", " }"];
  let text = open;
  for (const [index, [key, inside]] of members.entries()) {
    text += `${index === 0 ? "" : ", "}${isList ? "" : `${jsKey(key)}: `}`;
    const flat = flatLiteral(inside, room - text.length - close.length);
    if (flat === null) return null;
    text += flat;
  }
  return text + close;
}

function scalarLiteral(value: unknown): string {
  if (typeof value === "string") return jsString(value);
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}

/** Whether a character is one column of a string literal. */
function isAsPrinted(char: string): boolean {
  return char >= " " && char <= "~" && char !== '"' && char !== "\\";
}

/** A long text as a sum of short ones, cut after spaces where there are any, never inside a character. */
function printText(text: string, place: Place): string {
  const afterKey = place.before > place.indent;
  const indent = afterKey ? place.indent + STEP : place.indent;
  const room = Math.max(WIDTH - indent - `"" +,`.length, 20);
  const parts: string[] = [];
  let part = "";
  let width = 0;
  let cut = 0;
  for (const char of text) {
    const charWidth = isAsPrinted(char) ? 1 : jsString(char).length - 2;
    if (width + charWidth > room) {
      const end = cut > 0 ? cut : part.length;
      parts.push(part.slice(0, end));
      part = part.slice(end);
      width = jsString(part).length - 2;
      cut = 0;
    }
    part += char;
    width += charWidth;
    if (char === " ") cut = part.length;
  }
  parts.push(part);
  const sum = parts.map(jsString).join(` +\n${" ".repeat(indent)}`);
  return afterKey ? `\n${" ".repeat(indent)}${sum}` : sum;
}
